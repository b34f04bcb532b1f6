//! The SQL that ships in the binary: metrics (`queries/metrics`), and the views that every session has (all other folders of
//! `queries`), each with a header that says what it is. Not for running them.

use crate::error::{Error, Result, did_you_mean};

/// One file of `queries/`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    /// `metrics`, or the area of a view; `prelude` for what others are built on.
    pub folder: &'static str,
    /// Name of the view or metric: the file name without `.sql`.
    pub name: &'static str,
    /// The whole file.
    pub text: &'static str,
}

macro_rules! library {
    ($($folder:literal { $($name:literal)* })*) => {
        &[$($(Source {
            folder: $folder,
            name: $name,
            text: include_str!(concat!("../../queries/", $folder, "/", $name, ".sql")),
        },)*)*]
    };
}

/// Every file of `queries/`; views come after the views they read, metrics in the order in which they are listed.
pub(super) const LIBRARY: &[Source] = library! {
    "prelude" {
        "process_metric_base"
        "process_pair"
    }
    "cores" {
        "core_slice"
        "core_load"
        "core_peak"
    }
    "processes" {
        "interference"
        "preemption"
        "worst_response"
        "worst_interference"
    }
    "runnables" {
        "runnable_self"
    }
    "signals" {
        "signal_read"
        "signal_lost"
    }
    "semaphores" {
        "semaphore_hold"
        "semaphore_wait"
    }
    "events" {
        "event_wait"
        "event_set"
    }
    "stimuli" {
        "stimulus"
    }
    "os" {
        "os_service"
    }
    "metrics" {
        "ActivateToActivate"
        "StartToStart"
        "EndToEnd"
        "EndToStart"
        "StartDelay"
        "ResponseTime"
        "GrossExecutionTime"
        "NetExecutionTime"
        "ReadyTime"
        "WaitingTime"
        "PollingTime"
        "ParkingTime"
        "Activations"
        "Preemptions"
        "MtaLimitExceeding"
        "FullMigrations"
        "BoundedMigrations"
        "CPULoad"
        "RunnableNetExecutionTime"
        "RunnableGrossExecutionTime"
        "RunnableSelfExecutionTime"
    }
};

/// What the value of a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A length of time, in ticks of the database's time scale.
    Duration,
    /// How many.
    Count,
    /// A share of 100.
    Percent,
}

impl Unit {
    /// The word in the header of the SQL file and in the `unit` column of a result.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Duration => "duration",
            Self::Count => "count",
            Self::Percent => "percent",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Duration, Self::Count, Self::Percent].into_iter().find(|u| u.as_str() == word)
    }
}

/// A column or parameter that a header describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Documented {
    /// Name in SQL; a parameter is written `$NAME`.
    pub name: &'static str,
    /// `text`, `integer`, `time`, `duration`, `percent` or `boolean`.
    pub ty: &'static str,
    /// What it is.
    pub doc: &'static str,
}

/// A metric: one `SELECT` with the columns [`METRIC_COLUMNS`], one row per sample.
#[derive(Debug, Clone)]
pub struct Metric {
    /// AMALTHEA's name.
    pub name: &'static str,
    /// What it measures, from the header.
    pub doc: String,
    /// What a value is.
    pub unit: Unit,
    /// True when an entity has one result per core, false when one for all its cores.
    pub per_core: bool,
    /// `$from` and `$to`, where the SQL needs them: counts and loads cannot be cut to a window afterwards.
    pub params: Vec<Documented>,
    /// The file, header included.
    pub sql: &'static str,
}

/// A view that every session has.
#[derive(Debug, Clone)]
pub struct View {
    /// Name in SQL.
    pub name: &'static str,
    /// What it is about: the folder of its file.
    pub area: &'static str,
    /// What a row is, from the header.
    pub doc: String,
    /// What `$NAME` in it stands for, given by whoever queries it.
    pub params: Vec<Documented>,
    /// Its columns, in order.
    pub columns: Vec<Documented>,
    /// The file, header included.
    pub sql: &'static str,
}

/// The columns of every metric. `value` is NULL for an instance that is cut off: it is counted and enters nothing
/// else.
pub const METRIC_COLUMNS: [&str; 7] = ["recording", "entity", "type", "core", "instance", "value", "at"];

/// All metrics, in the order in which they are listed.
pub fn metrics() -> Vec<Metric> {
    let files = LIBRARY.iter().filter(|s| s.folder == "metrics");
    files.map(|s| metric_of(s.name, s.text)).collect()
}

/// All views, each after the views it reads.
pub fn views() -> Vec<View> {
    let files = LIBRARY.iter().filter(|s| s.folder != "metrics");
    let view = |s: &Source| {
        let header = Header::parse(s.text);
        View {
            name: s.name,
            area: s.folder,
            doc: header.doc,
            params: header.params,
            columns: header.columns,
            sql: s.text,
        }
    };
    files.map(view).collect()
}

/// The metric of that name, upper and lower case being the same.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] with a suggestion when there is none.
pub fn metric(name: &str) -> Result<Metric> {
    let file = LIBRARY.iter().find(|s| s.folder == "metrics" && s.name.eq_ignore_ascii_case(name));
    file.map(|s| metric_of(s.name, s.text)).ok_or_else(|| {
        let names = LIBRARY.iter().filter(|s| s.folder == "metrics").map(|s| s.name);
        let near = did_you_mean(name, names).map(|near| format!("did you mean '{near}'?"));
        Error::usage(format!("there is no metric '{name}'"))
            .hint(near.unwrap_or_else(|| "`btfdb metrics --list` shows all metrics".into()))
    })
}

/// The SQL of a metric, header included.
///
/// # Errors
/// As [`metric`].
pub fn metric_sql(name: &str) -> Result<&'static str> {
    metric(name).map(|m| m.sql)
}

fn metric_of(name: &'static str, sql: &'static str) -> Metric {
    let header = Header::parse(sql);
    let unit = header.unit.and_then(Unit::parse).unwrap_or(Unit::Count);
    let per_core = header.group == Some("core");
    Metric { name, doc: header.doc, unit, per_core, params: header.params, sql }
}

/// The comment lines at the top of a file: `-- KEY: VALUE`, and text.
#[derive(Debug, Default, PartialEq)]
struct Header {
    doc: String,
    unit: Option<&'static str>,
    group: Option<&'static str>,
    params: Vec<Documented>,
    columns: Vec<Documented>,
}

impl Header {
    fn parse(text: &'static str) -> Self {
        let mut header = Self::default();
        for line in text.lines().map_while(|l| l.strip_prefix("--")).map(str::trim) {
            match line.split_once(": ") {
                Some(("unit", unit)) => header.unit = Some(unit.trim()),
                Some(("group", group)) => header.group = Some(group.trim()),
                Some(("param", rest)) => header.params.extend(documented(rest)),
                Some(("column", rest)) => header.columns.extend(documented(rest)),
                _ => {
                    header.doc.push_str(line);
                    header.doc.push(if line.is_empty() { '\n' } else { ' ' });
                }
            }
        }
        header.doc =
            header.doc.split('\n').map(str::trim).filter(|p| !p.is_empty()).collect::<Vec<_>>().join("\n");
        header
    }
}

/// `NAME TYPE TEXT`.
fn documented(rest: &'static str) -> Option<Documented> {
    let (name, rest) = rest.split_once(' ')?;
    let (ty, doc) = rest.split_once(' ')?;
    Some(Documented { name, ty, doc })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_in_the_list_and_the_other_way_round() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("queries");
        let mut found = BTreeSet::new();
        for folder in std::fs::read_dir(&root).unwrap() {
            let folder = folder.unwrap().file_name().into_string().unwrap();
            for file in std::fs::read_dir(root.join(&folder)).unwrap() {
                let file = file.unwrap().path();
                assert_eq!(file.extension().unwrap(), "sql");
                found.insert(format!("{folder}/{}", file.file_stem().unwrap().to_str().unwrap()));
            }
        }
        let listed: BTreeSet<_> = LIBRARY.iter().map(|s| format!("{}/{}", s.folder, s.name)).collect();
        assert_eq!(found, listed);
    }

    #[test]
    fn every_header_is_complete() {
        for s in LIBRARY {
            let h = Header::parse(s.text);
            assert!(h.doc.ends_with('.') && h.doc.len() > 20, "{}: {:?}", s.name, h.doc);
            if s.folder == "metrics" {
                assert!(h.unit.and_then(Unit::parse).is_some(), "{}: unit", s.name);
                assert!(h.group.is_none_or(|g| g == "core"), "{}: group", s.name);
                assert_eq!(s.text.contains('$'), !h.params.is_empty(), "{}: params", s.name);
            } else {
                assert!(!h.columns.is_empty() && h.unit.is_none(), "{}: columns", s.name);
                // A view that reads such a one has its parameters.
                let own = s.text.lines().any(|line| !line.starts_with("--") && line.contains('$'));
                assert!(!own || !h.params.is_empty(), "{}: params", s.name);
            }
        }
    }

    #[test]
    fn headers_are_parsed() {
        let h = Header::parse(
            "-- One\n-- two.\n--\n-- Three.\n-- unit: count\n-- param: from time Start: now.\nSELECT 1",
        );
        assert_eq!(h.doc, "One two.\nThree.");
        assert_eq!(h.unit, Some("count"));
        assert_eq!(h.params, [Documented { name: "from", ty: "time", doc: "Start: now." }]);
    }

    #[test]
    fn metrics_are_found_whatever_the_case() {
        assert_eq!(metric("responsetime").unwrap().name, "ResponseTime");
        assert!(metric_sql("CPULOAD").unwrap().contains("polling"));
        let e = metric("ResponceTime").unwrap_err();
        assert_eq!(
            (e.kind(), e.hints()),
            (ErrorKind::Usage, &["did you mean 'ResponseTime'?".to_owned()][..])
        );
        assert_eq!(metrics().len(), 21);
    }
}
