//! Files of the log with a content of which somebody else thought, for tests of what reads them: no writer of
//! this program has such a content, and without its sums no reader looks at it. Not used by a database.

use serde::de::DeserializeOwned;

use super::checkpoint;
use super::entry::{Commit, Head};
use super::tip::note;
use crate::store::layout::{self, LogFile};
use crate::store::recording::Recording;

/// The file of the log of that name with `content`, as a writer writes it: with its sums. The content of a
/// commit is its JSON, that of a checkpoint a list of JSON: the number of the commit before it, the head, the
/// recordings and the names that it drops. `None` for what is no content of such a file.
pub fn as_written(name: &str, content: &[u8]) -> Option<Vec<u8>> {
    if layout::TIP.strip_prefix(layout::LOG)?.strip_prefix('/') == Some(name) {
        return std::str::from_utf8(content).ok()?.trim().parse().ok().map(note);
    }
    match LogFile::named(name)?.level {
        None => json::<Commit>(content)?.to_json().ok(),
        Some(_) => {
            let (after, head, puts, drops) = json::<(u64, Head, Vec<Recording>, Vec<String>)>(content)?;
            checkpoint::to_bytes(after, head, &puts, drops).ok()
        }
    }
}

fn json<T: DeserializeOwned>(content: &[u8]) -> Option<T> {
    serde_json::from_slice(content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::log::noted;

    #[test]
    fn what_is_written_can_be_read() {
        let head = r#"{"number":8,"creator":"x","time_scale":"ns","recordings":0,"rows":{},"next_ordinal":0,"next_part":0}"#;
        let commit = format!(r#"{{"head":{head},"puts":[]}}"#);
        let name = |end: &str| format!("{:020}.{end}", 8);
        let written = as_written(&name("json"), commit.as_bytes()).unwrap();
        let read = Commit::parse(&written, std::path::Path::new("8.json")).unwrap();
        assert_eq!((read.head.number, read.puts.len()), (8, 0));
        assert_eq!(noted(&as_written("tip", b"8\n").unwrap()), Some(8));
        let checkpoint = format!("[0,{head},[],[]]");
        assert!(as_written(&name("1.checkpoint"), checkpoint.as_bytes()).unwrap().ends_with(b"btfdbck\n"));
        for (name, content) in
            [(name("json"), "{}"), (name("1.checkpoint"), "[]"), ("8.json".into(), commit.as_str())]
        {
            assert_eq!(as_written(&name, content.as_bytes()), None, "{name}");
        }
    }
}
