//! Traces of the database with known content, read back packet by packet.

use super::*;
use crate::engine::tests::fixture::engine;
use crate::export::cursor::Cursor;
use crate::export::tests::ingested;
use crate::require::Requirements;
use crate::varint::tests::take;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The value of a field.
#[derive(Debug, Clone, Copy)]
enum Field<'a> {
    Int(u64),
    Bytes(&'a [u8]),
}

/// Fields of a message, as the documentation of Protocol Buffers describes them.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = take(&mut bytes);
        let value = match key & 7 {
            0 => Field::Int(take(&mut bytes)),
            1 => {
                let (eight, rest) = bytes.split_first_chunk::<8>().unwrap();
                bytes = rest;
                Field::Int(u64::from_le_bytes(*eight))
            }
            2 => {
                let length = take(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(value)
            }
            kind => panic!("wire type {kind}"),
        };
        found.push((key >> 3, value));
    }
    found
}

fn int(message: &[u8], number: u64) -> Option<u64> {
    fields(message).into_iter().find_map(|(n, field)| match field {
        Field::Int(value) if n == number => Some(value),
        _ => None,
    })
}

fn all(message: &[u8], number: u64) -> Vec<&[u8]> {
    let of = |(n, field)| match field {
        Field::Bytes(value) if n == number => Some(value),
        _ => None,
    };
    fields(message).into_iter().filter_map(of).collect()
}

fn text(message: &[u8], number: u64) -> Option<String> {
    all(message, number).first().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

/// A slice or an instant; the duration of an instant is −1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Slice {
    track: String,
    name: String,
    begin: u64,
    duration: i64,
    depth: usize,
    instance: Option<u64>,
    flow: Option<u64>,
}

/// A trace as the trace processor sees it.
#[derive(Debug, Default)]
struct Trace {
    slices: Vec<Slice>,
    counters: Vec<(String, u64, i64)>,
}

impl Trace {
    fn read(bytes: &[u8]) -> Self {
        let mut trace = Self::default();
        let mut tracks: HashMap<u64, (String, Option<u64>)> = HashMap::new();
        let (mut names, mut keys) = (HashMap::new(), HashMap::new());
        let mut events = Vec::new();
        for (n, packet) in all(bytes, 1).into_iter().enumerate() {
            assert_eq!(int(packet, 10), Some(1), "every packet is of the one sequence");
            if n == 0 {
                assert_eq!(int(packet, 13), Some(1), "the state of names begins empty");
            }
            for track in all(packet, 60) {
                let uuid = int(track, 1).unwrap();
                let parent = int(track, 5);
                assert!(parent.is_none_or(|p| tracks.contains_key(&p)), "parents come first");
                assert!(
                    tracks.insert(uuid, (text(track, 2).unwrap(), parent)).is_none(),
                    "one track of a number"
                );
                for thread in all(track, 4) {
                    assert_eq!(text(thread, 5), text(track, 2));
                    assert_ne!(int(thread, 2), int(thread, 1), "no thread is the main one");
                }
            }
            for data in all(packet, 12) {
                for (field, table) in [(2, &mut names), (3, &mut keys)] {
                    for entry in all(data, field) {
                        let known = table.insert(int(entry, 1).unwrap(), text(entry, 2).unwrap());
                        assert_eq!(known, None, "a number is given once");
                    }
                }
            }
            for event in all(packet, 11) {
                assert_eq!(int(packet, 13), Some(2));
                let name = int(event, 10).map(|iid| names[&iid].clone());
                let instance = all(event, 4).into_iter().find(|a| keys[&int(a, 1).unwrap()] == "instance");
                let instance = instance.and_then(|a| int(a, 4));
                let value = int(event, 30).map(|v| v as i64);
                assert!(tracks.contains_key(&int(event, 11).unwrap()), "tracks come before what is on them");
                events.push((
                    int(packet, 8).unwrap(),
                    int(event, 9).unwrap(),
                    int(event, 11).unwrap(),
                    name,
                    (instance, int(event, 47).or(int(event, 48)), value),
                ));
            }
        }
        let path = |mut uuid: u64| {
            let mut path = Vec::new();
            while let Some((name, Some(parent))) = tracks.get(&uuid) {
                path.insert(0, name.as_str());
                uuid = *parent;
            }
            path.join("/")
        };
        // Stable: equal times keep the order of the file.
        events.sort_by_key(|e| e.0);
        let mut open: BTreeMap<u64, Vec<Slice>> = BTreeMap::new();
        for (at, ty, track, name, (instance, flow, value)) in events {
            let stack = open.entry(track).or_default();
            let slice = |duration, depth| Slice {
                track: path(track),
                name: name.clone().unwrap(),
                begin: at,
                duration,
                depth,
                instance,
                flow,
            };
            match ty {
                1 => stack.push(slice(0, stack.len())),
                2 => {
                    let begun = stack.pop().expect("a slice that ends has begun");
                    trace.slices.push(Slice { duration: (at - begun.begin) as i64, ..begun });
                }
                3 => trace.slices.push(slice(-1, stack.len())),
                4 => trace.counters.push((path(track), at, value.unwrap())),
                other => panic!("type {other}"),
            }
        }
        assert!(open.values().all(Vec::is_empty), "every slice ends");
        trace.slices.sort();
        trace
    }

    /// Name, begin, duration and instance of the slices of a track.
    fn on(&self, track: &str) -> Vec<(&str, u64, i64, Option<u64>)> {
        let on = self.slices.iter().filter(|s| s.track == track);
        let mut on: Vec<_> = on.map(|s| (s.name.as_str(), s.begin, s.duration, s.instance)).collect();
        on.sort_by_key(|s| (s.1, s.2));
        on
    }
}

fn exported(session: &Session, selection: &Selection) -> (Trace, Counts) {
    let mut out = Vec::new();
    let (done, shifted_by) = export_perfetto(session, selection, &mut out).unwrap();
    assert_eq!(shifted_by, 0);
    let trace = Trace::read(&out);
    let instants = trace.slices.iter().filter(|s| s.duration < 0).count() as u64;
    assert_eq!((done.slices + done.instants, done.instants), (trace.slices.len() as u64, instants));
    assert_eq!(done.counters, trace.counters.len() as u64);
    (trace, done)
}

/// Lines of a query, fields between bars.
fn rows(session: &Session, sql: &str) -> Vec<String> {
    let mut rows = Cursor::new(session.sql(sql, &[]).unwrap());
    let mut lines = Vec::new();
    while rows.next().unwrap() {
        let cell = |n| rows.int(n).map(|i| i.to_string()).or(rows.text(n).map(str::to_owned));
        lines.push((0..).map_while(cell).collect::<Vec<_>>().join("|"));
    }
    lines
}

#[test]
fn everything_is_where_it_belongs() {
    let (_dir, session) = engine(&["r"]);
    let (trace, done) = exported(&session, &Selection::default());
    let states = trace.slices.iter().filter(|s| s.track.ends_with("/state"));
    let mut states: Vec<_> = states
        .map(|s| {
            format!(
                "{}|{}|{}|{}|{}",
                s.track.split('/').next().unwrap(),
                s.name,
                s.begin,
                s.duration,
                s.instance.unwrap()
            )
        })
        .collect();
    states.sort();
    let sql = "SELECT process, state, begin_at, end_at - begin_at, instance FROM process_state";
    let mut expected = rows(&session, sql);
    expected.sort();
    assert_eq!(states, expected);
    let core: Vec<_> = trace.on("Cores/Core_1");
    assert_eq!(core[..3], [("T_1", 10, 10, Some(0)), ("I_1", 20, 10, Some(0)), ("T_1", 30, 20, Some(0))]);
    assert_eq!(trace.on("Cores/Core_2"), [("T_1", 240, 10, Some(2))]);
    // What T_1 does: a runnable, and a write in it.
    let own: Vec<_> = trace.slices.iter().filter(|s| s.track == "T_1" && s.begin < 60).collect();
    assert!(own.iter().any(|s| s.name == "R_1" && s.depth == 0 && s.duration >= 0), "{own:?}");
    assert!(own.iter().any(|s| s.name == "write SIG_1" && s.duration == -1 && s.depth == 1), "{own:?}");
    assert_eq!(trace.counters, []);
    assert_eq!(done.rounded, 0);
}

#[test]
fn activations_flow_to_starts() {
    let (_dir, session) = engine(&["r"]);
    let (trace, _) = exported(&session, &Selection::default());
    let mut flows: BTreeMap<u64, Vec<&Slice>> = BTreeMap::new();
    for slice in &trace.slices {
        flows.entry(slice.flow.unwrap_or(0)).or_default().push(slice);
    }
    flows.remove(&0);
    let mut arrows: Vec<_> = flows
        .values()
        .filter(|ends| ends.len() == 2)
        .map(|ends| {
            let (from, to) =
                if ends[0].begin <= ends[1].begin { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
            (from.begin, from.name.as_str(), to.begin, to.track.as_str(), to.name.as_str())
        })
        .collect();
    arrows.sort_unstable();
    // The third and fourth instance have no events, the ISR has a start 0 ticks later.
    assert_eq!(arrows[0], (0, "activate T_1", 10, "T_1/state", "running"));
    assert!(arrows.contains(&(20, "activate I_1", 20, "I_1/state", "running")), "{arrows:?}");
    assert!(arrows.contains(&(100, "activate T_1", 105, "T_1/state", "running")), "{arrows:?}");
    assert_eq!(arrows.len(), 3);
}

#[test]
fn windows_cut_what_reaches_into_them() {
    let (_dir, session) = engine(&["r"]);
    let window = Selection { from: Some(15), to: Some(40), ..Selection::default() };
    let (trace, _) = exported(&session, &window);
    assert_eq!(
        trace.on("T_1/state"),
        [("running", 15, 5, Some(0)), ("ready", 20, 10, Some(0)), ("running", 30, 10, Some(0))]
    );
    assert!(trace.slices.iter().all(|s| s.begin >= 15 && s.begin as i64 + s.duration <= 40), "{trace:?}");
    let types = Selection { types: vec!["I".into()], ..Selection::default() };
    let (trace, _) = exported(&session, &types);
    assert_eq!(trace.on("I_1/state").len(), 1);
    assert!(trace.slices.iter().all(|s| !s.track.starts_with("T_1")), "{trace:?}");
    let entity = Selection { entities: vec!["Core_2".into()], ..Selection::default() };
    assert_eq!(exported(&session, &entity).0.on("T_1/state"), [("running", 240, 10, Some(2))]);
    let nothing = Selection { from: Some(10_000), ..Selection::default() };
    let Counts { slices, instants, counters, .. } = exported(&session, &nothing).1;
    assert_eq!((slices, instants, counters), (0, 0, 0));
}

/// One of the recordings of the tests.
fn recorded(file: &str) -> (tempfile::TempDir, Session) {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/btf").join(file));
    ingested(file, &[(file, text.unwrap().as_str())])
}

/// The texts that `say` returns for slices, sorted.
fn listed(trace: &Trace, say: impl Fn(&Slice) -> Option<String>) -> Vec<String> {
    let mut lines: Vec<_> = trace.slices.iter().filter_map(say).collect();
    lines.sort();
    assert!(!lines.is_empty());
    lines
}

fn sorted(session: &Session, sql: &str) -> Vec<String> {
    let mut lines = rows(session, sql);
    lines.sort();
    lines
}

#[test]
fn runnables_are_in_each_other() {
    let (_dir, session) = recorded("metrics.btf");
    let (trace, _) = exported(&session, &Selection::default());
    let names = rows(&session, "SELECT DISTINCT runnable FROM runnable_instance");
    let runnables = listed(&trace, |s| {
        let process = s.track.split('/').next()?;
        let is = names.contains(&s.name) && s.duration >= 0;
        is.then(|| {
            format!("{process}|{}|{}|{}|{}|{}", s.name, s.instance.unwrap(), s.begin, s.duration, s.depth)
        })
    });
    let sql = "SELECT process, runnable, instance, coalesce(start_at, 0) AS begin_at, \
               coalesce(terminate_at, 0) - coalesce(start_at, 0), depth FROM runnable_instance \
               WHERE process IS NOT NULL AND complete";
    let complete = sorted(&session, sql);
    assert!(
        !complete.is_empty() && complete.iter().all(|line| runnables.contains(line)),
        "{runnables:#?}\n{complete:#?}"
    );
    let all = rows(&session, "SELECT runnable FROM runnable_instance WHERE process IS NOT NULL");
    assert_eq!(runnables.len(), all.len());
    assert!(trace.slices.iter().any(|s| s.depth > 0 && s.duration > 0), "some are called by others");
    // What is suspended is so once, in the innermost runnable.
    let suspended = listed(&trace, |s| {
        let process = s.track.split('/').next()?;
        (s.name == "suspended").then(|| format!("{process}|{}|{}", s.begin, s.duration))
    });
    let sql = "SELECT process, begin_at, length FROM (\
               SELECT DISTINCT process, process_instance, begin_at, end_at - begin_at AS length FROM runnable_state \
               WHERE state = 'suspended' AND process IS NOT NULL) AS s";
    assert_eq!(suspended, sorted(&session, sql));
    assert!(!suspended.is_empty());
}

#[test]
fn semaphores_signals_and_chains_agree_with_the_library() {
    let (_dir, session) = recorded("library.btf");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/btf/library_chains.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let session = session.with_chains(&Requirements::parse_chains(&text, &file).unwrap()).unwrap();
    let (trace, _) = exported(&session, &Selection::default());
    let holds = listed(&trace, |s| {
        let semaphore =
            s.track.strip_prefix("Semaphores/").filter(|t| !t.contains('/') && s.duration >= 0)?;
        Some(format!("{semaphore}|{}|{}|{}", s.name, s.begin, s.duration))
    });
    assert_eq!(
        holds,
        sorted(
            &session,
            "SELECT semaphore, process, assigned_at, held FROM semaphore_hold WHERE held IS NOT NULL"
        )
    );
    let waits = listed(&trace, |s| {
        let semaphore = s.track.strip_prefix("Semaphores/")?.strip_suffix("/waiting")?;
        Some(format!("{semaphore}|{}|{}|{}", s.name, s.begin, s.duration))
    });
    assert_eq!(
        waits,
        sorted(
            &session,
            "SELECT semaphore, process, request_at, waited FROM semaphore_wait WHERE waited > 0"
        )
    );
    let chains = listed(&trace, |s| {
        let chain = s.track.strip_prefix("Event chains/")?;
        (s.name == chain && s.duration >= 0).then(|| format!("{chain}|{}|{}", s.begin, s.duration))
    });
    assert_eq!(
        chains,
        sorted(&session, "SELECT chain, begin_at, age FROM chain_instance WHERE age IS NOT NULL")
    );
    let values: Vec<_> =
        trace.counters.iter().map(|(track, at, value)| format!("{track}|{at}|{value}")).collect();
    let sql = "SELECT 'Signals/' || target, time, CAST(note AS BIGINT) FROM btf_event \
               WHERE target_type = 'SIG' AND action = 'write' AND regexp_like(note, '^-?[0-9]+$') ORDER BY time, seq";
    assert!(!values.is_empty());
    assert_eq!(values, rows(&session, sql));
}

/// ISRs of one name that are another process on each core: activations, causes and states are of that
/// process.
#[test]
fn shared_handlers_have_tracks_of_their_own() {
    let text = "#version 2.2.1\n#timescale ns\n# on each core another handler: I\n\
                0,S,0,I,I,0,activate\n1,Core_0,0,I,I,0,start\n2,I,0,T,A,0,activate\n\
                3,S,0,I,I,1,activate\n4,Core_1,0,I,I,1,start\n5,I,1,SIG,X,0,write,7\n5,I,0,SIG,X,0,write,8\n\
                6,Core_0,0,I,I,0,terminate\n7,Core_1,0,I,I,1,terminate\n7,Core_0,0,T,A,0,start\n\
                8,S,0,I,I,2,activate\n8,Core_1,0,I,I,2,start\n9,Core_1,0,I,I,2,terminate\n\
                9,Core_0,0,T,A,0,terminate\n";
    let (_dir, session) = ingested("shared.btf", &[("shared.btf", text)]);
    let (trace, _) = exported(&session, &Selection::default());
    assert!(!trace.slices.iter().any(|s| s.track == "I" || s.name == "activate I"), "{trace:?}");
    let running: Vec<_> = trace.on("Core_1.I/state").into_iter().filter(|s| s.0 == "running").collect();
    assert_eq!(running, [("running", 4, 3, Some(0)), ("running", 8, 1, Some(1))]);
    let on = |track: &str, name: &str| trace.on(track).iter().filter(|s| s.0 == name).count();
    assert_eq!([on("Core_0.I", "activate A"), on("Core_0.I", "write X"), on("Core_1.I", "write X")], [1; 3]);
    let of = |wanted: &dyn Fn(&Slice) -> bool| {
        let mut flows: Vec<_> = trace.slices.iter().filter(|s| wanted(s)).map(|s| s.flow.unwrap()).collect();
        flows.sort_unstable();
        flows
    };
    let activated = of(&|s| s.name.starts_with("activate Core_"));
    let started = of(&|s| s.track.ends_with(".I/state") && s.name == "running");
    assert_eq!((activated.len(), activated), (3, started));
    // A name selects its processes, and a window those in it.
    let window = Selection { entities: vec!["I".into()], from: Some(5), ..Selection::default() };
    let window = window.with_handlers(&session, "shared").unwrap();
    let (trace, _) = exported(&session, &window);
    assert_eq!(trace.on("Core_0.I/state"), [("running", 5, 1, Some(0))]);
    assert_eq!(trace.on("Core_1.I").iter().filter(|s| s.0 == "write X").count(), 1);
}
