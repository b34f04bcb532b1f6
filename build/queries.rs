//! Emits the list of the SQL files in `queries/`, each with its text.

use std::fs;
use std::path::Path;

use crate::Result;

/// A `&[Source]` of all files: those that `order.txt` names, in its order; the others behind them, by folder and name.
pub fn generate(root: &Path) -> Result<String> {
    let order = fs::read_to_string(root.join("order.txt"))?;
    let order: Vec<&str> = order.lines().filter(|line| !line.starts_with('#')).collect();
    let mut files = Vec::new();
    for folder in fs::read_dir(root)? {
        let folder = folder?.path();
        if folder.is_dir() {
            for file in fs::read_dir(&folder)? {
                files.push(name_of(root, &file?.path())?);
            }
        }
    }
    if let Some(missing) = order.iter().find(|name| !files.iter().any(|file| file == *name)) {
        return Err(format!("queries/order.txt names '{missing}', which is not there").into());
    }
    let folder_of = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let place = |name: &str| order.iter().position(|o| *o == name);
    let folder_place = |name: &str| order.iter().position(|o| folder_of(o) == folder_of(name));
    let last = |place: Option<usize>| place.unwrap_or(usize::MAX);
    files.sort_by_key(|name| (last(folder_place(name)), folder_of(name), last(place(name)), name.clone()));
    let sources: String = files.iter().map(|name| source(root, name)).collect();
    Ok(format!("&[\n{sources}]\n"))
}

/// `FOLDER/NAME` of `FOLDER/NAME.sql`.
fn name_of(root: &Path, file: &Path) -> Result<String> {
    let name = file.strip_prefix(root)?.to_str().and_then(|name| name.strip_suffix(".sql"));
    let name = name.ok_or_else(|| format!("{} is no SQL file", file.display()))?;
    Ok(name.replace('\\', "/"))
}

fn source(root: &Path, name: &str) -> String {
    let (folder, file) = name.split_once('/').unwrap_or_default();
    let path = root.join(folder).join(format!("{file}.sql"));
    format!("    Source {{ folder: {folder:?}, name: {file:?}, text: include_str!({path:?}) }},\n")
}
