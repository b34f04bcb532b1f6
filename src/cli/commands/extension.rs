//! What the extension of a file to write promises, and which command keeps it. Not for inputs, whose content
//! tells their format.

use crate::error::{Error, Result};
use crate::export::{EXPORTERS, Exporter};
use crate::ops::plot::PictureFormat;
use crate::render;
use std::path::Path;

/// What an extension stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// A result, e.g. of `btfdb query`.
    Result(render::Format),
    /// A slice of a trace in another format than tables.
    Trace,
    Picture,
    Spreadsheet,
    /// A picture in a format that btfdb does not have.
    OtherPicture,
    Compressed,
    Database,
    /// Text and pictures in pages.
    Document,
    /// Tables or traces in a format that btfdb does not write.
    OtherData(Instead),
}

/// What is written in place of a format that btfdb does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instead {
    Arrow,
    Parquet,
    Csv,
    Perfetto,
}

/// The extension in small letters; empty without one.
fn extension(path: &Path) -> String {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// `None` for what can be anything, such as `.txt`.
fn content(extension: &str) -> Option<Content> {
    if let Some(format) = render::Format::of_extension(extension) {
        return Some(Content::Result(format));
    }
    let is_exported = |exporter: &&dyn Exporter| exporter.info().extensions.contains(&extension);
    match extension {
        "txt" => None,
        "gz" | "tgz" | "zst" | "zstd" | "xz" | "bz2" | "lz4" | "br" | "zip" | "7z" | "tar" => {
            Some(Content::Compressed)
        }
        "db" | "duckdb" | "sqlite" | "sqlite3" => Some(Content::Database),
        "feather" | "ipc" | "arrows" => Some(Content::OtherData(Instead::Arrow)),
        "pq" | "parq" | "orc" | "avro" => Some(Content::OtherData(Instead::Parquet)),
        "xml" | "yaml" | "yml" | "toml" | "h5" | "hdf5" | "mat" | "mf4" | "mdf" | "npy" | "pkl" => {
            Some(Content::OtherData(Instead::Csv))
        }
        "pb" | "proto" | "perfetto" | "vcd" | "ctf" => Some(Content::OtherData(Instead::Perfetto)),
        "doc" | "docx" | "odt" | "rtf" | "ppt" | "pptx" | "odp" | "tex" => Some(Content::Document),
        "xls" | "xlsx" | "ods" => Some(Content::Spreadsheet),
        "jpg" | "jpeg" | "gif" | "bmp" | "webp" | "tif" | "tiff" | "eps" | "ps" | "pdf"
            if PictureFormat::of_file(Path::new(&format!("a.{extension}"))).is_none() =>
        {
            Some(Content::OtherPicture)
        }
        _ if PictureFormat::of_file(Path::new(&format!("a.{extension}"))).is_some() => Some(Content::Picture),
        _ if EXPORTERS.iter().any(is_exported) => Some(Content::Trace),
        _ => None,
    }
}

/// The format of a result in a file; `None` when the extension leaves it open.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for an extension of something that is no result.
pub(in crate::cli) fn of_result(path: &Path) -> Result<Option<render::Format>> {
    match content(&extension(path)) {
        Some(Content::Result(format)) => Ok(Some(format)),
        Some(other) => Err(refused(
            path,
            other,
            "a result is written as .csv, .tsv, .json, .jsonl, .md, .parquet or .arrow",
        )),
        None => Ok(None),
    }
}

/// The export format of a file; `None` when the extension leaves it open.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for an extension of something that is not exported.
pub(in crate::cli) fn of_export(path: &Path) -> Result<Option<&'static dyn Exporter>> {
    let extension = extension(path);
    let found = EXPORTERS.iter().find(|exporter| exporter.info().extensions.contains(&extension.as_str()));
    match (found, content(&extension)) {
        (Some(exporter), _) => Ok(Some(*exporter)),
        (None, None) => Ok(None),
        (None, Some(other)) => {
            let names: Vec<_> =
                EXPORTERS.iter().flat_map(|e| e.info().extensions).map(|e| format!(".{e}")).collect();
            Err(refused(path, other, &format!("`btfdb export` writes {}", names.join(", "))))
        }
    }
}

/// Whether a name is that of a file in TOML.
pub(in crate::cli) fn is_toml(path: &Path) -> bool {
    extension(path) == "toml"
}

/// Whether a model can have this name.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for an extension of something else.
pub(in crate::cli) fn of_model(path: &Path) -> Result<()> {
    match (extension(path).as_str(), content(&extension(path))) {
        ("toml", _) | (_, None) => Ok(()),
        (_, Some(other)) => Err(refused(path, other, "`btfdb model` writes .toml")),
    }
}

fn refused(path: &Path, content: Content, here: &str) -> Error {
    let hint = match content {
        Content::Result(format) => format!(
            "`btfdb query` and `btfdb metrics` write {}: e.g. btfdb query DB \"SELECT * FROM btf_event\" -o {}",
            format.name(),
            path.display()
        ),
        Content::Trace => "`btfdb export` writes traces".into(),
        Content::Picture => "`btfdb plot` draws pictures, also of metrics (--chart)".into(),
        Content::Spreadsheet => "spreadsheets open .csv".into(),
        Content::OtherPicture => {
            let names: Vec<_> = PictureFormat::ALL.map(PictureFormat::as_str).into();
            format!("`btfdb plot` draws pictures as {}", names.join(", "))
        }
        Content::Compressed => {
            let plain = path.with_extension("");
            format!("files are written uncompressed: -o {}, then compress it", plain.display())
        }
        Content::Document => {
            "documents take in pictures (`btfdb plot`) and tables (.md and .csv of `btfdb query`)".into()
        }
        Content::Database => "only `btfdb ingest` makes databases".into(),
        Content::OtherData(Instead::Arrow) => {
            "an Arrow IPC file (Feather version 2) is written as .arrow".into()
        }
        Content::OtherData(Instead::Parquet) => "`btfdb query` and `btfdb export` write .parquet".into(),
        Content::OtherData(Instead::Csv) => "`btfdb query` writes .csv, .json and .parquet".into(),
        Content::OtherData(Instead::Perfetto) => {
            "traces are written by `btfdb export`: .btf, and .pftrace for Perfetto".into()
        }
    };
    Error::usage(format!("'{}' would not be what its name says", path.display()))
        .hint(hint)
        .hint(format!("{here}; --format and another name write something else"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_name_says_or_refused() {
        let result = |name: &str| of_result(Path::new(name)).map_err(|e| e.hints().join(" "));
        assert_eq!(result("q.parquet"), Ok(Some(render::Format::Parquet)));
        assert_eq!(result("a.b.JSON"), Ok(Some(render::Format::Json)));
        assert_eq!(result("q.md"), Ok(Some(render::Format::Markdown)));
        assert_eq!((result("q.txt"), result("q"), result("q.out")), (Ok(None), Ok(None), Ok(None)));
        for (name, word) in [
            ("q.svg", "plot"),
            ("q.SVG", "plot"),
            ("q.xlsx", ".csv"),
            ("q.jpg", "plot"),
            ("q.btf", "export"),
            ("q.csv.gz", "q.csv,"),
            ("q.json.ZST", "q.json,"),
            ("q.feather", ".arrow"),
            ("q.db", "ingest"),
            ("q.pb", ".pftrace"),
            ("q.h5", ".csv"),
            ("q.docx", "documents"),
        ] {
            assert!(result(name).unwrap_err().contains(word), "{name}");
        }
        let export = |name: &str| {
            of_export(Path::new(name)).map(|e| e.map(|e| e.info().name)).map_err(|e| e.hints().join(" "))
        };
        assert_eq!(export("a.btf"), Ok(Some("btf")));
        assert_eq!(export("a.csv"), Ok(Some("csv")));
        assert_eq!(export("a.trace"), Ok(None));
        for (name, word) in [
            ("y.svg", "plot"),
            ("y.json", "query"),
            ("y.xlsx", ".csv"),
            ("y.png", "plot"),
            ("y.btf.gz", "y.btf,"),
            ("y.pb", ".pftrace"),
            ("y.db", "ingest"),
            ("y.feather", ".arrow"),
        ] {
            assert!(export(name).unwrap_err().contains(word), "{name}");
        }
        let model = |name: &str| of_model(Path::new(name)).map_err(|e| e.hints().join(" "));
        assert_eq!((model("m.toml"), model("m"), model("m.txt")), (Ok(()), Ok(()), Ok(())));
        for (name, word) in [("m.svg", "plot"), ("m.json", "query"), ("m.yaml", ".toml"), ("m.btf", "export")]
        {
            assert!(model(name).unwrap_err().contains(word), "{name}");
        }
    }
}
