//! A sum over all that a btfdb is built of: two builds with the same one do the same. Not the version.

use std::fs;
use std::path::{Path, PathBuf};

use super::Result;

const OF: [&str; 5] = ["Cargo.lock", "build", "queries", "schemas", "src"];

/// FNV-1a over names and contents.
pub(crate) fn sum(root: &Path) -> Result<u64> {
    let mut files: Vec<PathBuf> = Vec::new();
    for input in OF {
        println!("cargo::rerun-if-changed={input}");
        collect(&root.join(input), &mut files)?;
    }
    files.sort();
    let mut sum = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0xff]) {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for file in files {
        let name = file.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
        add(name.as_bytes());
        add(&fs::read(&file)?);
    }
    Ok(sum)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
