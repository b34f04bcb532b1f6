//! Samples of several recordings as those of one: the worst of a fleet, percentiles over all of it, by label.
//! Not the samples of one recording (see `samples`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::samples::Key;
use super::statistics::Samples;

/// How recordings are taken together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Across {
    /// All of them.
    All,
    /// Those with the same value of a label, by recording. Recordings without the label are left out.
    Label(HashMap<String, String>),
}

/// The samples of one line, and which recordings they are of.
#[derive(Debug, Clone, Default)]
pub(super) struct Together {
    pub samples: Samples,
    pub origin: Origin,
}

/// Which recordings the samples of a line are of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The recordings with samples, or with instances that the trace cuts off.
    pub recordings: BTreeSet<String>,
    /// That of the least sample, and that of the greatest; of equals, the first by name.
    pub least: Option<String>,
    pub greatest: Option<String>,
}

impl Together {
    fn add(&mut self, recording: String, samples: Samples) {
        let (before, of) = (self.samples.extremes(), samples.extremes());
        self.samples.join(samples);
        if let Some((least, greatest)) = of {
            if before.is_none_or(|(known, _)| least < known) {
                self.origin.least = Some(recording.clone());
            }
            if before.is_none_or(|(_, known)| greatest > known) {
                self.origin.greatest = Some(recording.clone());
            }
        }
        self.origin.recordings.insert(recording);
    }
}

/// Lines of single recordings, as lines of several: the name of the recording becomes the value of the label,
/// or is empty. A core is kept if it is the same in all of them.
pub(super) fn taken_together(
    lines: impl IntoIterator<Item = (Key, Samples)>,
    across: &Across,
    per_core: bool,
) -> Vec<(Key, Together)> {
    let mut cores: BTreeMap<Key, Option<Arc<str>>> = BTreeMap::new();
    let mut all: BTreeMap<Key, Together> = BTreeMap::new();
    for (key, samples) in lines {
        let group = match across {
            Across::All => Arc::from(""),
            Across::Label(values) => match values.get(&*key.recording) {
                Some(value) => Arc::from(value.as_str()),
                None => continue,
            },
        };
        let core = if per_core { key.core.clone() } else { None };
        let joined = Key { recording: group, core, ..key.clone() };
        let known = cores.entry(joined.clone()).or_insert_with(|| key.core.clone());
        if *known != key.core {
            *known = None;
        }
        all.entry(joined).or_default().add(key.recording.to_string(), samples);
    }
    all.into_iter()
        .map(|(key, together)| {
            let core = cores.remove(&key).flatten();
            (Key { core, ..key }, together)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(recording: &str, core: &str, values: &[i64]) -> (Key, Samples) {
        let mut samples = Samples::default();
        for (n, value) in values.iter().enumerate() {
            samples.push_integer(*value, Some(n as i64));
        }
        let core = Some(core.into());
        (Key { recording: recording.into(), entity: "T".into(), ty: "T".into(), core, window: None }, samples)
    }

    #[test]
    fn samples_of_recordings_are_those_of_one() {
        let lines = [line("a", "C0", &[5, 9]), line("b", "C0", &[1, 9, 7]), line("c", "C1", &[])];
        let lines = Vec::from(lines);
        let all = taken_together(lines.clone(), &Across::All, false);
        let (key, together) = all.into_iter().next().unwrap();
        assert_eq!((&*key.recording, key.core), ("", None), "on two cores");
        let Together { samples, origin } = together;
        assert_eq!(origin.recordings.len(), 3);
        assert_eq!((origin.least.as_deref(), origin.greatest.as_deref()), (Some("b"), Some("a")));
        let statistics = samples.finish();
        assert_eq!((statistics.count, statistics.min, statistics.max), (5, Some(1.0), Some(9.0)));
        assert_eq!((statistics.min_at, statistics.max_at, statistics.p50), (Some(0), Some(1), Some(7.0)));

        let values = [("a", "1"), ("b", "1")].map(|(r, v)| (r.to_owned(), v.to_owned())).into();
        let by_label = taken_together(lines, &Across::Label(values), false);
        let (key, together) = by_label.into_iter().next().unwrap();
        assert_eq!((&*key.recording, key.core.as_deref()), ("1", Some("C0")));
        assert_eq!(together.origin.recordings.len(), 2);
    }
}
