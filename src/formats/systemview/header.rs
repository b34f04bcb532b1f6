//! The lines of text before the packets of a file, and where the packets of each core begin. Not the packets.

use std::collections::BTreeSet;

/// The bytes in front of the first packet of a core.
pub(super) const SYNC: [u8; 10] = [0; 10];
/// No header is longer; a longer one is none.
const MOST_LINES: usize = 1000;

/// What a file says before its packets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// The program that wrote it, with its version.
    pub creator: Option<String>,
    /// Its length in bytes.
    pub length: usize,
    /// The cores by name, each with the offset of its packets behind the header, in bytes, ascending.
    pub cores: Vec<(String, u64)>,
    /// Names that more than one core has; all but the first have a number behind it here.
    pub repeated: BTreeSet<String>,
}

impl Header {
    /// Reads the begin of a file: lines that begin with `;`, the last of which has nothing behind it, as the
    /// first. A file may have no header, and begin with its packets. `None`: it is of another format.
    pub fn read(head: &[u8]) -> Option<Self> {
        if head.starts_with(&SYNC) {
            return Some(Self::default());
        }
        let mut header = Self::default();
        let mut length = 0;
        for (n, line) in head.split_inclusive(|b| *b == b'\n').take(MOST_LINES).enumerate() {
            length += line.len();
            let text = String::from_utf8_lossy(line.strip_prefix(b";")?);
            let text = text.trim();
            if text.is_empty() && n > 0 && line.ends_with(b"\n") {
                header.length = length;
                return header.creator.is_some().then_some(header);
            }
            if !text.is_empty() && n == 0 {
                return None;
            }
            if let Some(version) = text.strip_prefix("Version") {
                header.creator = Some(version.trim().to_owned()).filter(|by| by.contains("SystemView"));
            }
            if let Some((name, offset)) = text.strip_prefix("Offset").and_then(core) {
                header.add_core(name, offset);
            }
        }
        None
    }

    /// A core has a clock and packets of its own, so that no two can have one name.
    fn add_core(&mut self, name: String, offset: u64) {
        let is_new = |name: &str| self.cores.iter().all(|(other, _)| other != name);
        if is_new(&name) {
            return self.cores.push((name, offset));
        }
        let numbered = (2..).map(|n: u32| format!("{name} ({n})")).find(|numbered| is_new(numbered));
        self.cores.extend(numbered.map(|numbered| (numbered, offset)));
        self.repeated.insert(name);
    }

    /// The first byte behind the packets of the core of this number, in the file; `None`: they end with it.
    pub fn end_of(&self, core: usize) -> Option<u64> {
        self.cores.get(core + 1).map(|(_, offset)| offset.saturating_add(self.length as u64))
    }
}

/// ` Core1 12262`
fn core(text: &str) -> Option<(String, u64)> {
    let (name, offset) = text.trim().rsplit_once(char::is_whitespace)?;
    Some((name.trim().to_owned(), offset.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_one_core_and_of_two() {
        let one = b";\n; Version     SEGGER SystemViewer V2.42\n; Author      A\n;\n\0\0";
        let header = Header::read(one).unwrap();
        assert_eq!((header.length, header.end_of(0)), (one.len() - 2, None));
        assert_eq!(header.creator.as_deref(), Some("SEGGER SystemViewer V2.42"));
        let two =
            b";\r\n; Version SEGGER SystemView V3.60\r\n; Offset Core0 0\r\n; Offset Core1 700\r\n;\r\n";
        let header = Header::read(two).unwrap();
        assert_eq!(header.cores, [("Core0".to_owned(), 0), ("Core1".to_owned(), 700)]);
        assert_eq!((header.end_of(0), header.end_of(1)), (Some(two.len() as u64 + 700), None));
        assert_eq!(Header::read(&[0; 11]).map(|h| h.length), Some(0), "no header");
    }

    #[test]
    fn cores_of_one_name_and_offsets_that_do_not_fit() {
        let head = format!(
            ";\n; Version SystemView 3\n; Offset Core0 0\n; Offset Core0 (2) 1\n; Offset Core0 2\n; Offset Core0 {}\n;\n",
            u64::MAX
        );
        let header = Header::read(head.as_bytes()).unwrap();
        let names: Vec<&str> = header.cores.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Core0", "Core0 (2)", "Core0 (3)", "Core0 (4)"]);
        assert_eq!(Vec::from_iter(&header.repeated), ["Core0"]);
        assert_eq!(header.end_of(2), Some(u64::MAX));
    }

    #[test]
    fn other_files_have_none() {
        for head in
            [&b";\n; Version 1\n;\n"[..], b"; a comment\n;\n", b"time,x\n", b"", b";\n; Version SystemView\n"]
        {
            assert_eq!(Header::read(head), None, "{}", String::from_utf8_lossy(head));
        }
    }
}
