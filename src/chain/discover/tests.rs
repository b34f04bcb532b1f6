//! Chains by hand, by looking back over whole lists, as `follow` finds them, and as TOML.

use std::collections::BTreeMap;

use super::super::{Cause, ChainStep, Event, Follower, Instance, Outcome, file_text};
use super::*;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Happened {
    Write(&'static str, Option<Actor<'static>>),
    Read(&'static str, Actor<'static>),
    Trigger(Actor<'static>, Option<Actor<'static>>),
    Activate(Actor<'static>, Actor<'static>),
}

use Happened::{Activate, Read, Trigger, Write};

fn discover(limits: Limits, all: &[Happened]) -> Discovery {
    let mut discovery = Discovery::new(limits);
    for (time, happened) in all.iter().enumerate() {
        let time = time as i64;
        match *happened {
            Write(signal, by) => discovery.write(signal, by),
            Read(signal, by) => discovery.read(time, signal, by),
            Trigger(stimulus, by) => discovery.trigger(stimulus, by),
            Activate(stimulus, process) => discovery.activate(time, stimulus, process),
        }
    }
    discovery
}

/// An alarm activates a sensor task, whose value a filter reads, whose result an actuator reads; it is
/// activated by the filter.
fn three_tasks() -> Vec<Happened> {
    let mut all = Vec::new();
    for n in 0..3 {
        all.extend([
            Trigger(("AL", n), None),
            Activate(("AL", n), ("Sense", n)),
            Write("Raw", Some(("Sense", n))),
            Read("Raw", ("Filter", n)),
            Write("Clean", Some(("Filter", n))),
            Trigger(("IPA", n), Some(("Filter", n))),
            Activate(("IPA", n), ("Act", n)),
        ]);
        if n > 0 {
            all.push(Read("Clean", ("Act", n)));
        }
    }
    all
}

fn toml(found: &Found) -> String {
    file_text(&[("demo".to_owned(), found.clone())])
}

fn names(found: &Found) -> Vec<(&str, u64)> {
    found.chains.iter().map(|chain| (chain.name.as_str(), chain.count)).collect()
}

#[test]
fn chains_are_found_and_counted() {
    let found = discover(Limits::default(), &three_tasks()).found(1);
    let expected =
        [("AL > Sense > Raw > Filter > IPA > Act", 3), ("AL > Sense > Raw > Filter > Clean > Act", 2)];
    assert_eq!(names(&found), expected);
    assert_eq!((found.chains[1].first, found.chains[1].last), (14, 22));
    let links: Vec<_> = found.links.iter().map(|l| (l.from.as_deref(), &*l.via, &*l.to, l.count)).collect();
    let expected = [
        (None, "AL", "Sense", 3),
        (Some("Filter"), "IPA", "Act", 3),
        (Some("Sense"), "Raw", "Filter", 3),
        (Some("Filter"), "Clean", "Act", 2),
    ];
    assert_eq!(links, expected);
    assert_eq!(discover(Limits::default(), &three_tasks()).found(3).chains.len(), 1);
}

#[test]
fn the_text_is_a_file_of_chains() {
    let text = toml(&discover(Limits::default(), &three_tasks()).found(1));
    let expected = r#"# Chains that a recording shows: 2. Times are ticks. A last step counts each time that it
# follows from all others, also from what it has followed from before.

# 3 last steps, at 6 to 21.
[[chain]]
name = "AL > Sense > Raw > Filter > IPA > Act"
steps = [
    { entity = "AL", action = "trigger" },
    { entity = "Sense", action = "activate", source = "AL" },
    { entity = "Raw", action = "write", source = "Sense", instance = "same" },
    { entity = "Raw", action = "read", source = "Filter" },
    { entity = "IPA", action = "trigger", source = "Filter", instance = "same" },
    { entity = "Act", action = "activate", source = "IPA" },
]
"#;
    assert!(text.starts_with(expected), "{text}");
}

/// The fields of the format, and no others.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    chain: Vec<Entry>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    steps: Vec<EntryStep>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryStep {
    entity: String,
    action: String,
    source: Option<String>,
    instance: Option<String>,
}

#[test]
fn any_name_comes_back_from_the_text() {
    let all = [
        Write("S\"1\\\n\u{7f}\u{0}", Some(("T > S", 0))),
        Read("S\"1\\\n\u{7f}\u{0}", ("Ü # [", 0)),
        Write("X", Some(("Ü # [", 0))),
        Read("X", ("", 3)),
        Write("a", Some(("b > c", 0))),
        Read("a", ("d", 0)),
        Write("c > a", Some(("b", 0))),
        Read("c > a", ("d", 1)),
        Write("e", None),
        Read("e", ("d", 2)),
    ];
    let found = discover(Limits::default(), &all).found(1);
    let file: File = toml::from_str(&toml(&found)).unwrap();
    assert_eq!(file.chain.len(), found.chains.len());
    for (entry, chain) in file.chain.iter().zip(&found.chains) {
        assert_eq!(entry.name, chain.name);
        let steps = entry.steps.iter().map(|step| ChainStep {
            entity: step.entity.clone(),
            action: step.action.clone(),
            source: step.source.clone(),
            instance: match step.instance.as_deref() {
                None => Instance::Any,
                Some("same") => Instance::Same,
                Some(other) => panic!("{other}"),
            },
        });
        assert_eq!(steps.collect::<Vec<_>>(), chain.steps);
    }
    let named: Vec<_> = found.chains.iter().map(|chain| chain.name.as_str()).collect();
    assert!(named.contains(&"b > c > a > d") && named.contains(&"b > c > a > d (2)"), "{named:?}");
    assert!(named.contains(&"e > d"));
}

#[test]
fn cycles_and_long_ways_are_cut_and_it_is_said() {
    let mut all = Vec::new();
    for n in 0..4 {
        all.extend([
            Write("Set", Some(("Control", n))),
            Read("Set", ("Motor", n)),
            Write("Speed", Some(("Motor", n))),
            Read("Speed", ("Control", n + 1)),
        ]);
    }
    let found = discover(Limits::default(), &all).found(1);
    assert_eq!(names(&found), [("Control > Set > Motor > Speed > Control", 4)]);
    assert!(found.chains[0].is_cycle && found.cut.sentences(&found.limits).is_empty());
    assert!(toml(&found).contains("# A cycle: its last process is on it before.\n[[chain]]"));

    let short = discover(Limits { links: 1, ..Limits::default() }, &all).found(1);
    // What was cut off begins on its own.
    assert_eq!(names(&short), [("Control > Set > Motor", 4)]);
    assert!(short.chains[0].is_cut && short.cut.long == 4);
    let text = toml(&short);
    assert!(text.contains("# It may go on: it was cut here.\n"), "{text}");
    assert!(
        text.contains("\n# Limit: 4 times a chain was cut where it would have more links than 1.\n"),
        "{text}"
    );
    let few = discover(Limits { all: 1, ..Limits::default() }, &all).found(1);
    assert_eq!((names(&few), few.cut.all), (vec![("Control > Set > Motor", 4)], 4));
}

#[test]
fn memory_is_bounded_and_nothing_follows_across_a_cut() {
    let mut discovery = Discovery::new(Limits { ways: 3, ..Limits::default() });
    let senders = ["A", "B", "C", "D", "E"];
    for n in 0..10_000 {
        for (signal, sender) in ["a", "b", "c", "d", "e"].iter().zip(senders) {
            discovery.write(signal, Some((sender, n)));
            discovery.read(n, signal, ("Sink", n));
        }
        discovery.trigger(("AL", n), None);
        discovery.write("out", Some(("Sink", n)));
        discovery.read(n, "out", ("Last", n));
    }
    let instances = |of: &HashMap<u32, BTreeMap<i64, Reached>>| of.values().map(BTreeMap::len).max();
    assert_eq!(instances(&discovery.reached), Some(MAX_INSTANCES));
    assert_eq!(discovery.triggered.values().map(BTreeMap::len).max(), Some(MAX_INSTANCES));
    let found = discovery.found(1);
    assert_eq!((found.chains.len(), found.cut.ways), (5, 20_000));
    discovery.gap(0);
    discovery.read(0, "out", ("Last", 0));
    assert_eq!(discovery.found(1), found);
}

#[test]
fn an_activation_without_a_trigger_is_a_first_step() {
    let all = [
        Activate(("Timer", 0), ("A", 0)),
        Activate(("Timer", 1), ("B", 0)),
        Write("S", Some(("A", 0))),
        Read("S", ("C", 0)),
        Trigger(("AL", 0), None),
        Activate(("AL", 0), ("D", 0)),
    ];
    let found = discover(Limits::default(), &all).found(1);
    // B is activated, and nothing follows from that.
    assert_eq!(names(&found), [("AL > D", 1), ("Timer > A > S > C", 1)]);
    let steps: Vec<_> = found.chains[1].steps.iter().map(|step| (&*step.entity, &*step.action)).collect();
    assert_eq!(steps, [("A", "activate"), ("S", "write"), ("S", "read")]);
    let entry = found.chains[1].entry();
    assert!(entry.contains("{ entity = \"A\", action = \"activate\", source = \"Timer\" },"), "{entry}");
    assert_eq!(found.links.len(), 4);
}

#[test]
fn an_instance_that_is_over_has_nothing_to_do_with_a_later_one_of_its_number() {
    let mut discovery = Discovery::new(Limits::default());
    discovery.write("a", Some(("Sense", 0)));
    discovery.read(1, "a", ("Work", 0));
    discovery.terminate(("Work", 0));
    discovery.write("b", Some(("Work", 0)));
    discovery.read(2, "b", ("Act", 0));
    assert_eq!(names(&discovery.found(1)), [("Sense > a > Work", 1), ("Work > b > Act", 1)]);
}

#[test]
fn chains_of_several_recordings_are_one_entry_each() {
    let found = discover(Limits::default(), &three_tasks()).found(1);
    let fewer = discover(Limits::default(), &three_tasks()[..7]).found(1);
    let text = file_text(&[("one".to_owned(), found), ("\"two\"\n".to_owned(), fewer)]);
    let expected = "# Chains that recordings show: 2. Times are ticks. A last step counts each time that it\n\
                    # follows from all others, also from what it has followed from before.\n\n\
                    # 3 last steps in \"one\", at 6 to 21.\n# 1 last step in \"\\\"two\\\"\\u000A\", at 6.\n[[chain]]\n";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(toml::from_str::<File>(&text).unwrap().chain.len(), 2);
}

const PROCESSES: [&str; 4] = ["A", "B", "C", "D"];

/// Signals with one writer each, or with any; stimuli of processes and alarms.
fn random(seed: u64, one_writer: bool) -> Vec<Happened> {
    let mut random = Random(seed);
    let (mut instances, mut all) = ([0; 4], Vec::new());
    for _ in 0..random.below(60) {
        let process = random.below(4);
        instances[process] += i64::from(random.below(4) == 0);
        let by = (PROCESSES[process], instances[process]);
        let signal = ["r", "s", "t", "u"][if one_writer { process } else { random.below(4) }];
        match random.below(if one_writer { 6 } else { 8 }) {
            0..=2 => all.push(Read(["r", "s", "t", "u"][random.below(4)], by)),
            3..=5 => all.push(Write(signal, Some(by).filter(|_| one_writer || random.below(8) > 0))),
            6 => all.push(Trigger((["IPA", "AL"][random.below(2)], all.len() as i64), Some(by))),
            _ => {
                let trigger = all.iter().rev().find_map(|happened| match happened {
                    Trigger(stimulus, _) => Some(*stimulus),
                    _ => None,
                });
                all.push(Activate(trigger.unwrap_or(("AL", -1)), by));
            }
        }
    }
    all
}

/// From, via, whether that is a signal, to, and whether the write or trigger is known.
type Links = Vec<(Option<&'static str>, &'static str, bool, &'static str, bool)>;

/// All ways that end with the read or activation `at`.
fn ways(all: &[Happened], at: usize) -> Vec<Links> {
    let (via, is_signal, to) = match all[at] {
        Read(signal, to) => (signal, true, to),
        Activate(stimulus, to) => (stimulus.0, false, to),
        _ => return vec![],
    };
    let begin = all[..at].iter().rposition(|happened| match (*happened, all[at]) {
        (Write(written, _), Read(read, _)) => written == read,
        (Trigger(triggered, _), Activate(stimulus, _)) => triggered == stimulus,
        _ => false,
    });
    let by = match begin.map(|begin| all[begin]) {
        Some(Write(_, by) | Trigger(_, by)) => by,
        _ if is_signal => return vec![],
        _ => None,
    };
    let link = (by.map(|by| by.0), via, is_signal, to.0, begin.is_some());
    let is_written =
        |signal, before| all[..before].iter().any(|happened| matches!(happened, Write(s, _) if *s == signal));
    // The latest of each signal and stimulus that the origin got.
    let mut got = BTreeMap::new();
    for (before, happened) in all[..begin.unwrap_or(0)].iter().enumerate() {
        match *happened {
            Read(signal, to) if Some(to) == by && is_written(signal, before) => {
                got.insert((true, signal), before);
            }
            Activate(stimulus, to) if Some(to) == by => drop(got.insert((false, stimulus.0), before)),
            _ => {}
        }
    }
    let is_cycle = |way: &Links| {
        let last = way[way.len() - 1].3;
        way.iter().any(|link| link.0 == Some(last)) || way[..way.len() - 1].iter().any(|link| link.3 == last)
    };
    let before: Vec<Links> = got.values().flat_map(|before| ways(all, *before)).collect();
    let mut before: Vec<Links> = before.into_iter().filter(|way| !is_cycle(way)).collect();
    before.sort();
    before.dedup();
    if before.is_empty() {
        return vec![vec![link]];
    }
    before.into_iter().map(|way| [way, vec![link]].concat()).collect()
}

#[test]
fn it_finds_what_looking_back_finds() {
    let (mut chains, mut longest) = (0, 0);
    let unbounded = Limits { links: 100, ways: 100_000, all: usize::MAX };
    for seed in 0..2000 {
        let all = random(seed, false);
        let mut counts = BTreeMap::<Links, (u64, i64, i64)>::new();
        for at in 0..all.len() {
            for way in ways(&all, at) {
                let seen = counts.entry(way).or_insert((0, at as i64, 0));
                *seen = (seen.0 + 1, seen.1, at as i64);
            }
        }
        let goes_on =
            |way: &Links| counts.keys().any(|other| other.len() > way.len() && other.starts_with(way));
        let name = |way: &Links| {
            let first = way[0].0.into_iter();
            first.chain(way.iter().flat_map(|link| [link.1, link.3])).collect::<Vec<_>>().join(" > ")
        };
        let is_chain = |way: &Links| !goes_on(way) && (way.len() > 1 || way[0].4);
        let mut expected: Vec<_> =
            counts.iter().filter(|(way, _)| is_chain(way)).map(|(way, seen)| (name(way), *seen)).collect();
        let found = discover(unbounded, &all).found(1);
        assert!(found.chains.iter().all(|chain| chain.steps.len() > 1), "seed {seed}");
        // A chain whose first trigger is not known has the name of one with it.
        let plain = |name: &str| name.strip_suffix(" (2)").unwrap_or(name).to_owned();
        let mut found: Vec<_> =
            found.chains.into_iter().map(|c| (plain(&c.name), (c.count, c.first, c.last))).collect();
        longest = found.iter().map(|(name, _)| name.split(" > ").count()).max().unwrap_or(0).max(longest);
        chains += found.len();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "seed {seed}: {all:?}");
    }
    assert!(chains > 10_000 && longest >= 9, "{chains} {longest}");
}

/// A chain that is found is one for `follow`, which completes it as often.
#[test]
fn follow_completes_what_is_found() {
    let mut compared = 0;
    for seed in 0..2000 {
        let all = random(seed, true);
        for chain in discover(Limits::default(), &all).found(1).chains {
            let mut follower = Follower::new(chain.steps.iter().map(|step| step.instance).collect());
            let mut out = Vec::new();
            for (time, happened) in all.iter().enumerate() {
                let (entity, action, by) = match *happened {
                    Write(signal, Some(by)) => (signal, "write", by),
                    Read(signal, by) => (signal, "read", by),
                    other => panic!("{other:?}"),
                };
                for (step, wanted) in chain.steps.iter().enumerate().rev() {
                    if wanted.entity == entity
                        && wanted.action == action
                        && wanted.source.as_deref() == Some(by.0)
                    {
                        let event = Event {
                            step,
                            time: time as i64,
                            process: Some(by),
                            instance: None,
                            overlaps: false,
                            cause: Cause::Latest,
                        };
                        follower.push(event, &mut out);
                    }
                }
            }
            let ended = out.iter().filter(|o| matches!(o.outcome, Outcome::Used | Outcome::Repeated)).count();
            assert!(ended as u64 >= chain.count, "seed {seed}: {chain:?} {ended}");
            // `follow` does not mind what the first process got before, which here makes a longer chain.
            compared += u64::from(ended as u64 == chain.count);
        }
    }
    assert!(compared > 1000, "{compared}");
}
