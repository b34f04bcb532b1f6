//! A picture → one self-contained HTML file: the data, the script that draws it, and the rows as a table for
//! screen readers. Not for what is drawn (see [`crate::picture`]); `page/` draws it.

mod encode;

use std::io::{self, BufWriter, Write};

use base64::engine::{Engine, general_purpose::STANDARD};
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

use super::markup::escaped;
use super::unwritable;
use crate::error::{Error, ErrorKind, Result};
use crate::picture::{Picture, Row, State};
use crate::time::format_duration;

/// The page; names in double braces are placeholders.
const PAGE: &str = include_str!("page/page.html");

const STYLE: &str = include_str!("page/style.css");

/// Characters of a line of data: editors cannot handle a line of megabytes.
const LINE: usize = 1 << 10;

/// The script in pieces, in the order of their dependencies.
const SCRIPTS: [&str; 20] = [
    include_str!("page/begin.js"),
    include_str!("page/time.js"),
    include_str!("page/data.js"),
    include_str!("page/levels.js"),
    include_str!("page/colours.js"),
    include_str!("page/view.js"),
    include_str!("page/layout.js"),
    include_str!("page/draw.js"),
    include_str!("page/marks.js"),
    include_str!("page/axis.js"),
    include_str!("page/pick.js"),
    include_str!("page/describe.js"),
    include_str!("page/search.js"),
    include_str!("page/worst.js"),
    include_str!("page/measure.js"),
    include_str!("page/why.js"),
    include_str!("page/panels.js"),
    include_str!("page/input.js"),
    include_str!("page/export.js"),
    include_str!("page/main.js"),
];

/// Writes `picture` as a page, without copying it; the same picture gives the same bytes. Does not flush
/// `out`.
///
/// # Errors
/// [`ErrorKind::Limit`] when the window is longer than a page can represent, 2^52 ticks; [`ErrorKind::Io`]
/// when `out` fails.
pub fn write(picture: &Picture, out: &mut dyn Write) -> Result<()> {
    let length = i128::from(picture.to) - i128::from(picture.from);
    if length > i128::from(encode::FAR) {
        let message = format!("a page cannot show {length} {} at once: it counts up to 2^52", picture.scale);
        return Err(
            Error::new(ErrorKind::Limit, message).hint("ask for a shorter window, with --from and --to")
        );
    }
    let script = SCRIPTS.concat();
    for piece in PAGE.split("{{") {
        let text = match piece.split_once("}}") {
            Some((part, text)) => {
                write_part(part, picture, &script, out)?;
                text
            }
            None => piece,
        };
        out.write_all(text.as_bytes()).map_err(unwritable)?;
    }
    Ok(())
}

/// Writes the content of one placeholder of the page.
fn write_part(part: &str, picture: &Picture, script: &str, out: &mut dyn Write) -> Result<()> {
    let written = match part {
        "policy" => out.write_all(policy(script).as_bytes()),
        "title" => out.write_all(escaped(&picture.title).as_bytes()),
        "description" => out.write_all(escaped(&picture.description).as_bytes()),
        "style" => out.write_all(STYLE.as_bytes()),
        "script" => out.write_all(script.as_bytes()),
        "notes" => picture.notes.iter().try_for_each(|note| element("li", note, out)),
        "rows" => picture.rows.iter().try_for_each(|row| table_row(row, picture, out)),
        "data" => data(picture, out),
        _ => return Err(Error::new(ErrorKind::Bug, format!("the page has no part '{part}'"))),
    };
    written.map_err(unwritable)
}

/// The content security policy: this style and this script run, and nothing else is fetched or sent.
fn policy(script: &str) -> String {
    let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let (script, style) = (source(script), source(STYLE));
    format!("default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'")
}

/// The picture itself, deflated (zlib) and in base64.
fn data(picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    let base64 = EncoderWriter::new(Wrapped { out, column: 0 }, &STANDARD);
    let deflated = ZlibEncoder::new(base64, Compression::default());
    let mut buffered = BufWriter::with_capacity(1 << 16, deflated);
    encode::encode(picture, &mut buffered)?;
    let deflated = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
    deflated.finish()?.finish()?;
    Ok(())
}

/// A row of the table: what the row is, what is in it, and its longest span.
fn table_row(row: &Row, picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    let runs: u64 = row.runs.iter().map(|run| u64::from(run.count)).sum();
    let marks: u64 = row.marks.iter().map(|mark| u64::from(mark.count)).sum();
    let occupied = row.runs.iter().filter(|run| run.state.is_occupied()).max_by_key(|run| run.longest);
    let longest = occupied
        .or_else(|| row.runs.iter().filter(|run| run.state != State::Gap).max_by_key(|run| run.longest));
    write!(out, "<tr>")?;
    element("th", &row.label, out)?;
    element("td", row.kind.as_str(), out)?;
    element("td", &runs.to_string(), out)?;
    element("td", &marks.to_string(), out)?;
    let (what, length, at) = match longest {
        Some(run) => (
            run.state.as_str().to_owned(),
            format_duration(run.longest, picture.scale),
            format!("{} {}", run.longest_at, picture.scale),
        ),
        None => Default::default(),
    };
    for text in [what, length, at] {
        element("td", &text, out)?;
    }
    writeln!(out, "</tr>")
}

fn element(tag: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<{tag}>{}</{tag}>", escaped(text))
}

/// Wraps the output into lines.
struct Wrapped<W> {
    out: W,
    column: usize,
}

impl<W: Write> Write for Wrapped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = bytes;
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(LINE - self.column));
            self.out.write_all(now)?;
            (left, self.column) = (later, self.column + now.len());
            if self.column == LINE {
                self.out.write_all(b"\n")?;
                self.column = 0;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests;
