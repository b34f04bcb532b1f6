//! The release of Neutrino that wrote a trace, as far as events differ between releases.

use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;

words! {
    /// A release of Neutrino, as far as traces differ between them, oldest first. `as_str` gives what people
    /// write.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
    pub enum Version {
        /// 6.0 to 6.5.
        #[serde(rename = "6.5")]
        V6_5 = "6.5",
        /// 6.6.
        #[serde(rename = "6.6")]
        V6_6 = "6.6",
        /// 7.0.
        #[serde(rename = "7.0")]
        V7_0 = "7.0",
        /// 7.1 and later 7.
        #[default]
        #[serde(rename = "7.1")]
        V7_1 = "7.1",
        /// 8.0 and later: buffers of one CPU each, other thread states, no VTHREAD.
        #[serde(rename = "8.0")]
        V8_0 = "8.0",
    }
}

impl Version {
    /// The version of a release as `TRACE_SYS_RELEASE` or a user says it: `6.4.1`, `7.1.0`, `8`. `None` for
    /// what is no release of Neutrino 6 or later.
    pub fn of_release(release: &str) -> Option<Self> {
        let mut parts = release.trim().split('.');
        let major: u32 = parts.next()?.parse().ok()?;
        // "7" alone is the newest 7.
        let minor: Option<u32> = parts.next().and_then(|m| m.parse().ok());
        match (major, minor) {
            (6, Some(0..=5)) => Some(Self::V6_5),
            (6, _) => Some(Self::V6_6),
            (7, Some(0)) => Some(Self::V7_0),
            (7, _) => Some(Self::V7_1),
            (8.., _) => Some(Self::V8_0),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the words of events depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flavour {
    /// The release that wrote it.
    pub version: Version,
    /// The target is big endian: readers swapped the bytes of words, so the bytes of strings have to be
    /// swapped back.
    pub big_endian: bool,
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn releases_become_versions() {
        let of = |release| Version::of_release(release).map(Version::as_str);
        assert_eq!(of("6.4.1"), Some("6.5"));
        assert_eq!(of("6.6.0"), Some("6.6"));
        assert_eq!(of("7.0.0"), Some("7.0"));
        assert_eq!(of("7.1.0"), Some("7.1"));
        assert_eq!(of("7"), Some("7.1"));
        assert_eq!(of("8.0.2"), Some("8.0"));
        assert_eq!(of("5.0"), None);
        assert_eq!(of("synth"), None);
    }
}
