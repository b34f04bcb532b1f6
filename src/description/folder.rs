//! The files of a folder, and those beside a file: names only. Not what the names mean (see `detect`).

use crate::error::{Error, ErrorKind, Result};
use std::path::Path;

/// So many folders may lie within each other.
const MOST_DEEP: usize = 8;
/// A folder with more files is no recording.
const MOST_FILES: usize = 100_000;

/// All files of a folder by their paths in it, sorted, with `/` between folders. Folders deeper than
/// [`MOST_DEEP`] are not looked into, because traces do not lie there. Files and folders whose
/// names begin with a dot are left out, and folders that are links.
pub(super) fn files_of(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(folder, "", MOST_DEEP, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<String>) -> Result<()> {
    let failed = |e| Error::io("list", folder, e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned).filter(|name| !name.starts_with('.'))
        else {
            continue;
        };
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            if depth > 0 {
                collect(&entry.path(), &format!("{path}/"), depth - 1, files)?;
            }
        } else {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            return Err(Error::new(ErrorKind::Limit, format!("the folder has more than {MOST_FILES} files"))
                .at(folder));
        }
    }
    Ok(())
}

/// The names of the files in the folder of a file, sorted, but for its own; none if the folder cannot be
/// read.
pub(super) fn siblings(file: &Path) -> Vec<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| file.file_name().is_none_or(|own| own != name.as_str()));
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_within_folders_have_paths() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["b", "a/c", "a/.d/e", ".f", "a/b/g"] {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(files_of(dir.path()).unwrap(), ["a/b/g", "a/c", "b"]);
        assert_eq!(siblings(&dir.path().join("b")), [".f"]);
        assert!(siblings(&dir.path().join("none/x")).is_empty());
    }
}
