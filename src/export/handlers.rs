//! Names of ISRs that stand for another process on each core (rule I9 of docs/mapping.md): which there are,
//! and which process an event is about. Not for how a format says it.

use super::cursor::Cursor;
use crate::btf::remark;
use crate::engine::{Param, ResultStream, Session};
use crate::error::Result;
use crate::schema::tables;
use crate::selection::{Selection, pattern};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The processes of each name that stands for several, or for one whose core is in front of the name.
type Shared = BTreeMap<String, Vec<String>>;

fn shared(session: &Session, recording: &str) -> Result<Shared> {
    let (database, mut shared) = (session.database(), Shared::new());
    if !database.has(tables::ENTITY, recording)? || !database.has(tables::PROCESS_INSTANCE, recording)? {
        return Ok(shared);
    }
    let of = |sql: &str| session.names(sql, &[("recording", recording.into())]);
    let names =
        of("SELECT DISTINCT entity FROM entity WHERE recording = $recording AND type = 'I' AND occurs")?;
    let processes =
        of("SELECT DISTINCT process FROM process_instance WHERE recording = $recording AND type = 'I' \
         ORDER BY process")?;
    let (plain, of_cores): (Vec<String>, Vec<String>) =
        processes.into_iter().partition(|process| names.contains(process));
    for process in of_cores {
        // The longest name: of `Core_0.a.b`, the core is rather `Core_0` than `Core_0.a`.
        let name = names.iter().filter(|name| pattern::fits_on_core(name, &process)).max_by_key(|n| n.len());
        if let Some(name) = name {
            shared.entry(name.clone()).or_default().push(process);
        }
    }
    // The process of one image may have the name as it is, and so have instances whose core was not seen.
    for process in plain {
        if let Some(processes) = shared.get_mut(&process) {
            processes.push(process);
        }
    }
    Ok(shared)
}

/// The names. System events have them, and tables of instances `CORE.NAME`, at least of one core.
pub(super) fn names(session: &Session, recording: &str) -> Result<Vec<String>> {
    Ok(shared(session, recording)?.into_keys().collect())
}

/// A comment for each, without its `# `: BTF has one name for them.
pub(super) fn remarks(session: &Session, recording: &str) -> Result<Vec<String>> {
    Ok(names(session, recording)?.iter().map(|name| remark::handlers(name)).collect())
}

/// The processes that such names stand for, in the order of time.
#[derive(Default)]
pub(super) struct Handlers {
    /// The instances that are still to come; `None` if no name is shared.
    rows: Option<Cursor<ResultStream>>,
    /// The instances of each name that may not be over.
    open: HashMap<String, VecDeque<Instance>>,
}

/// An instance of an ISR.
struct Instance {
    /// Its number in system events.
    number: i64,
    process: String,
    /// Its number in tables of instances.
    instance: i64,
    /// It has no events behind that instant; `None`: it may have some up to the end of the recording.
    end: Option<i64>,
}

impl Handlers {
    /// Those with instances in the window.
    pub fn read(session: &Session, recording: &str, selection: &Selection) -> Result<Self> {
        let shared = shared(session, recording)?;
        if shared.is_empty() {
            return Ok(Self::default());
        }
        // Names and processes are parameters.
        let mut values: Vec<(String, &str)> = Vec::new();
        let mut place = |value| {
            let key = format!("value{}", values.len());
            let place = format!("${key}");
            values.push((key, value));
            place
        };
        let (mut names, mut processes, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for (name, of_name) in &shared {
            let name = place(name.as_str());
            let own: Vec<String> = of_name.iter().map(|process| place(process.as_str())).collect();
            pairs.push(format!("(target = {name} AND process IN ({}))", own.join(", ")));
            names.push(name);
            processes.extend(own);
        }
        let [names, processes] = [names, processes].map(|places| places.join(", "));
        let pairs = pairs.join(" OR ");
        let (from, to) = (selection.from.unwrap_or(i64::MIN), selection.to.unwrap_or(i64::MAX));
        let mut params =
            vec![("recording", Param::from(recording)), ("from", from.into()), ("to", to.into())];
        params.extend(values.iter().map(|(key, value)| (key.as_str(), Param::from(*value))));
        // The core is in the sources of starts only: an image of several cores has one process for all of
        // them. Several instances may start at one instant. One without an end lasts to the end, but to the
        // next such one of its process on its core at most, so that few are open at any time.
        let sql = format!(
            "WITH start AS (
                SELECT time, source, target, target_instance,
                    row_number() OVER (PARTITION BY source, target, time ORDER BY seq) AS n
                FROM btf_event
                WHERE recording = $recording AND is_type(target_type, 'I') AND is_action(action, 'start')
                    AND target IN ({names})
            ),
            own AS (
                SELECT process, core, instance, start_at,
                    least(coalesce(activate_at, start_at), start_at) AS at,
                    coalesce(terminate_at, lead(start_at) OVER (
                        PARTITION BY process, core, terminate_at IS NULL ORDER BY start_at, instance)) AS until,
                    row_number() OVER (PARTITION BY process, core, start_at ORDER BY instance) AS n
                FROM process_instance
                WHERE recording = $recording AND type = 'I' AND start_at IS NOT NULL
                    AND process IN ({processes})
            )
            SELECT at, target, target_instance, process, instance, until
            FROM own JOIN start ON core = source AND start_at = time AND own.n = start.n
            WHERE ({pairs}) AND at < $to AND (until IS NULL OR until >= $from) AND target_instance IS NOT NULL
            ORDER BY at, target, target_instance"
        );
        let mut rows = Cursor::new(session.sql(&sql, &params)?);
        Ok(Self { rows: rows.next()?.then_some(rows), open: HashMap::new() })
    }

    /// The process and its instance that an event at `time` means by a name and a number. Times do not go
    /// back.
    pub fn process(&mut self, time: i64, name: &str, number: Option<i64>) -> Result<Option<(&str, i64)>> {
        while let Some(rows) = self.rows.as_mut().filter(|rows| rows.int(0).is_some_and(|at| at <= time)) {
            let open = self.open.entry(rows.name(1).to_owned()).or_default();
            open.retain(|instance| instance.end.is_none_or(|end| end >= time));
            open.push_back(Instance {
                number: rows.int(2).unwrap_or(0),
                process: rows.name(3).to_owned(),
                instance: rows.int(4).unwrap_or(0),
                end: rows.int(5),
            });
            if !rows.next()? {
                self.rows = None;
            }
        }
        let open = self.open.get(name).into_iter().flatten();
        let found = open.rev().find(|instance| Some(instance.number) == number);
        Ok(found.map(|found| (found.process.as_str(), found.instance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tests::ingested;

    /// What `I` with these numbers is at these times.
    fn found(session: &Session, selection: &Selection, asked: &[(i64, i64)]) -> Vec<String> {
        let recording = selection.recording(session).unwrap();
        let mut handlers = Handlers::read(session, &recording, selection).unwrap();
        let say = |(time, number): &(i64, i64)| match handlers.process(*time, "I", Some(*number)).unwrap() {
            Some((process, instance)) => format!("{process} {instance}"),
            None => "-".to_owned(),
        };
        asked.iter().map(say).collect()
    }

    /// The recording of a file of BTF in which `I` is another handler on each core.
    fn shared_in(events: &str) -> (tempfile::TempDir, Session) {
        let text = format!("#version 2.2.1\n#timescale ns\n# on each core another handler: I\n{events}");
        ingested("r.btf", &[("r.btf", text.as_str())])
    }

    #[test]
    fn instances_whose_core_was_not_seen_leave_the_others_theirs() {
        // The first one starts before the trace, the last one behind it.
        let (_dir, session) = shared_in(
            "0,Core_1,0,I,I,0,terminate\n1,S,0,I,I,1,activate\n1,Core_0,0,I,I,1,start\n\
             3,Core_0,0,I,I,1,terminate\n4,S,0,I,I,2,activate\n",
        );
        assert_eq!(names(&session, "r").unwrap(), ["I"]);
        let asked = [(0, 0), (1, 1), (2, 1), (4, 2)];
        assert_eq!(found(&session, &Selection::default(), &asked), ["-", "Core_0.I 0", "Core_0.I 0", "-"]);
    }

    #[test]
    fn an_instance_without_an_end_reaches_into_windows_behind_its_start() {
        let (_dir, session) = shared_in(
            "3,S,0,I,I,0,activate\n3,Core_0,0,I,I,0,start\n6,I,0,SIG,X,0,write,1\n10,S,0,T,A,0,activate\n",
        );
        let window = |from| Selection { from: Some(from), ..Selection::default() };
        for from in [3, 4, 6] {
            assert_eq!(found(&session, &window(from), &[(6, 0)]), ["Core_0.I 0"], "{from}");
        }
    }

    /// A writer that leaves out all ends: what has to be kept does not grow with the recording.
    #[test]
    fn few_instances_without_an_end_are_kept() {
        let starts: String = (0..100).map(|n| format!("{n},Core_0,0,I,I,{n},start\n")).collect();
        let (_dir, session) = shared_in(&starts);
        let mut handlers = Handlers::read(&session, "r", &Selection::default()).unwrap();
        for n in 0..100 {
            assert_eq!(handlers.process(n, "I", Some(n)).unwrap(), Some(("Core_0.I", n)));
            assert!(handlers.open["I"].len() <= 2, "{n}");
        }
    }

    /// Core_2 has an image of its own, and uses the name first. The other cores have one image together.
    #[test]
    fn an_image_may_keep_the_name_and_have_several_cores() {
        let orti = r#"VERSION { KOIL = "2.2"; OSSEMANTICS = "ORTI", "2.2"; };
            IMPLEMENTATION Both {
                OS { TOTRACE ENUM "unsigned char" [ "StartOS" = 0 ] SERVICETRACE[], "Service"; }, "OS";
            };
            OS Both { SERVICETRACE[0] = "svc[0]"; SERVICETRACE[1] = "svc[1]"; };"#;
        let core = |n, orti| format!("[[core]]\nname = \"Core_{n}\"\nfunctions = \"{n}.csv\"\n{orti}");
        let [both, own] = ["orti = \"both.orti\"\n", ""];
        let cores = [core(0, both), core(1, both), core(2, own)].concat();
        let description = format!("name = \"r\"\nos = \"osek\"\ncategory1_isrs = [\"I\"]\n{cores}");
        let (_dir, session) = ingested(
            "r",
            &[
                ("r/recording.toml", description.as_str()),
                ("r/both.orti", orti),
                ("r/0.csv", "+4000; I; ientry\n+4200; I; iexit\n"),
                ("r/1.csv", "+3000; I; ientry\n+3500; I; iexit\n+4000; I; ientry\n"),
                ("r/2.csv", "+2000; I; ientry\n+2500; I; iexit\n"),
            ],
        );
        assert_eq!(names(&session, "r").unwrap(), ["I"]);
        // The names and numbers of the tables: that of Core_2, then those of Core_1, Core_0 and Core_1.
        let asked = [(2000, 0), (3000, 1), (4000, 2), (4000, 3)];
        let expected = ["I 0", "Core_0.I 0", "Core_0.I 1", "Core_0.I 2"];
        assert_eq!(found(&session, &Selection::default(), &asked), expected);
    }
}
