//! Invariants of a simulated machine, and that all kinds of events occur in a trace.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::codes::state;
use super::super::{ByteOrder, ExpectedEvent, Faults};
use super::*;

fn options(release: Release, cpus: u8, wide: bool, seed: u64) -> Options {
    let target = Target { release, cpus, ..Target::default() };
    Options { target, seed, wide, bytes: 1 << 20, ..Options::default() }
}

/// Machines of all kinds.
fn machines() -> Vec<Options> {
    let mut all = Vec::new();
    for (seed, release) in [Release::R6, Release::R7, Release::R8].into_iter().enumerate() {
        for cpus in [1, 2, 4, 9] {
            all.push(options(release, cpus, cpus % 4 == 0, seed as u64 * 10 + u64::from(cpus)));
        }
    }
    all
}

fn truth_of(options: &Options) -> Truth {
    simulate(Vec::new(), options).unwrap().1
}

#[test]
fn the_scheduler_keeps_priorities_at_every_step() {
    for options in machines() {
        let mut machine = Machine::new(io::sink(), &options).unwrap();
        machine.populate();
        machine.start();
        for _ in 0..8_000 {
            assert!(machine.advance(u64::MAX));
            let mut running = HashSet::new();
            for cpu in &machine.cpus {
                let current = cpu.current.expect("a CPU always has a thread");
                assert!(running.insert(current), "a thread on two CPUs");
                assert_eq!(machine.threads[current].state, state::RUNNING);
                assert!(cpu.effects.is_empty() && cpu.handoff.is_none() && cpu.depth == 0);
                let priority = machine.threads[current].priority;
                for ready in &machine.ready {
                    assert!(machine.threads[*ready].priority <= priority);
                }
            }
            let on_cpu = machine.threads.iter().filter(|t| t.alive && t.state == state::RUNNING).count();
            assert_eq!(on_cpu, machine.cpus.len());
            assert!(machine.ready.iter().all(|r| machine.threads[*r].state == state::READY));
        }
    }
}

#[test]
fn a_cpu_has_one_thread_and_a_thread_one_state() {
    for options in machines() {
        let truth = truth_of(&options);
        let mut threads: HashMap<_, Vec<&StateInterval>> = HashMap::new();
        let mut cpus: BTreeMap<u8, Vec<&StateInterval>> = BTreeMap::new();
        for interval in &truth.states {
            threads.entry(interval.thread).or_default().push(interval);
            if interval.state == state::RUNNING {
                cpus.entry(interval.cpu).or_default().push(interval);
            }
        }
        assert_eq!(cpus.len(), usize::from(options.target.cpus));
        for states in threads.values() {
            for pair in states.windows(2) {
                let ends = pair[0].to.expect("another state follows");
                assert!(pair[0].from <= ends && ends <= pair[1].from, "{pair:?}");
            }
        }
        for running in cpus.values() {
            for pair in running.windows(2) {
                let ends = pair[0].to.expect("another thread runs");
                if ends > pair[1].from {
                    // As in the kernel: RUNNING of the new one, then READY of the old one, at the same time.
                    let next =
                        threads[&pair[0].thread].iter().find(|s| s.from == ends).expect("a next state");
                    assert_eq!((next.state, next.cpu), (state::READY, pair[0].cpu));
                    assert!(ends - pair[1].from < 100_000, "{pair:?}");
                } else {
                    assert!(pair[1].from - ends < 1_000_000, "a CPU without a thread: {pair:?}");
                }
            }
        }
    }
}

#[test]
fn messages_mutexes_and_interrupts_have_their_order() {
    for options in machines() {
        let truth = truth_of(&options);
        let answered = truth.messages.iter().filter(|m| m.replied.is_some()).count();
        assert!(answered > 100 && answered * 10 > truth.messages.len() * 9);
        assert!(truth.messages.iter().any(|m| m.error));
        for message in &truth.messages {
            assert!(message.received.is_none_or(|r| r >= message.sent));
            assert!(message.replied.is_none_or(|r| message.received.is_some_and(|s| s < r)));
            assert_eq!(message.received.is_some(), message.server_tid.is_some());
        }
        // A thread does not send again before it has an answer.
        let mut open: HashMap<_, &Message> = HashMap::new();
        for message in &truth.messages {
            if let Some(last) = open.insert(message.client, message) {
                assert!(last.replied.is_some_and(|r| r <= message.sent), "{last:?} {message:?}");
            }
        }
        for wait in &truth.mutex_waits {
            assert!(wait.called < wait.from && wait.to.is_none_or(|t| t >= wait.from));
            assert!(wait.returned.is_none_or(|r| wait.to.is_some_and(|t| t < r)));
        }
        assert!(!truth.mutex_waits.is_empty());
        for interrupt in &truth.interrupts {
            let at_once = options.target.release == Release::R8;
            assert!(if at_once {
                interrupt.entered == interrupt.left
            } else {
                interrupt.entered < interrupt.left
            });
        }
        if options.target.release != Release::R8 {
            assert!(truth.interrupts.iter().any(|i| i.depth > 0), "interrupts interrupt each other");
        }
    }
}

#[test]
fn what_makes_traces_hard_is_there() {
    for options in machines() {
        let truth = truth_of(&options);
        let has = |class: &str, event: u16| {
            truth.written.events.iter().any(|e| e.class == class && e.event == event)
        };
        for (class, event) in [
            ("CONTROL", 1),
            ("KER_CALL", 11),
            ("KER_EXIT", 80),
            ("INT_CALL", 75),
            ("PROCESS", 2),
            ("PROCESS", 3),
            ("PROCESS", 5),
            ("THREAD", 0),
            ("THREAD", 25),
            ("THREAD", 4),
            ("COMM", 4),
            ("COMM", 9),
            ("COMM", 11),
            ("SYSTEM", 2),
            ("USER", 7),
        ] {
            let there =
                has(class, event) || (options.target.release, class, event) == (Release::R8, "COMM", 4);
            assert!(there, "no {class} {event}: {options:?}");
        }
        assert!(truth.states.iter().any(|s| s.incarnation > 1), "ids come again");
        assert_eq!(
            truth.written.events.iter().any(|e| e.is64),
            options.target.release != Release::R6 && {
                options.wide || options.target.release == Release::R7
            }
        );
        let failed = |e: &&ExpectedEvent| e.class == "KER_EXIT" && e.words[0] == u32::MAX;
        assert!(truth.written.events.iter().any(|e| failed(&e)));
        let injected = truth.written.events.iter().filter(|e| e.flags == 1).count();
        assert_eq!(injected > 50, options.target.release == Release::R8);
        if options.target.cpus > 1 {
            let mut places: HashMap<_, HashSet<u8>> = HashMap::new();
            let mut stamps: HashMap<u64, HashSet<u8>> = HashMap::new();
            for interval in truth.states.iter().filter(|s| s.state == state::RUNNING) {
                places.entry((interval.thread, interval.incarnation)).or_default().insert(interval.cpu);
            }
            for event in &truth.written.events {
                stamps.entry(event.cycles).or_default().insert(event.cpu);
            }
            assert!(places.values().filter(|p| p.len() > 1).count() > 5, "threads migrate");
            assert!(stamps.values().filter(|s| s.len() > 1).count() > 5, "two CPUs at the same time");
        }
        // From RECEIVE to RUNNING directly, and through READY.
        let mut last: HashMap<_, u16> = HashMap::new();
        let mut wakes = HashSet::new();
        for interval in &truth.states {
            let before = last.insert(interval.thread, interval.state);
            wakes.insert((before, interval.state));
        }
        assert!(wakes.contains(&(Some(state::RECEIVE), state::RUNNING)), "direct");
        assert!(wakes.contains(&(Some(state::RECEIVE), state::READY)), "by the queue");
    }
}

/// Header, timeoff and words of each record.
fn records(file: &[u8], options: &Options) -> Vec<[u32; 4]> {
    let end = b"TRACE_HEADER_END::";
    let at = file.windows(end.len()).position(|w| w == end).unwrap() + end.len();
    let records = &file[at + usize::from(options.target.syspage_length)..];
    assert_eq!(records.len() % 16, 0);
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().unwrap();
        if options.target.order == ByteOrder::Big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    };
    records.chunks(16).map(|r| [word(&r[..4]), word(&r[4..8]), word(&r[8..12]), word(&r[12..])]).collect()
}

#[test]
fn the_expected_events_are_those_of_the_file() {
    let mut machines = machines();
    machines.push(Options {
        target: Target { order: ByteOrder::Big, release: Release::R6, ..Target::default() },
        wide: true,
        ..machines[0].clone()
    });
    let mut interlaced = 0;
    for (n, options) in machines.iter_mut().enumerate() {
        options.faults.lost_buffer = if n % 2 == 0 { 20 } else { 0 };
        options.faults.wrong_cpu = 50;
        let (file, truth) = simulate(Vec::new(), options).unwrap();
        let records = records(&file, options);
        let mut seen = vec![false; records.len()];
        let mut times: HashMap<u8, u64> = HashMap::new();
        for event in &truth.written.events {
            // The parts of an event are the next ones of its time and code, with the right or (8.0) a wrong
            // CPU.
            let mut at = event.record as usize;
            let [header, timeoff, ..] = records[at];
            assert_eq!(event.cycles as u32, timeoff);
            let wrong = options.target.release == Release::R8;
            assert!(wrong || (header >> 24 & 0x3f) as u8 == event.cpu);
            assert_eq!((header >> 16) as u8, event.flags);
            for (part, words) in event.words.chunks(2).enumerate() {
                let continues = |at: usize| {
                    let [other, time, ..] = records[at];
                    let same_cpu = wrong || (other >> 24 & 0x3f) as u8 == event.cpu;
                    let same_code = other >> 31 == 1 && other & 0xffff == header & 0xffff;
                    !seen[at] && time == timeoff && same_cpu && same_code && records[at][2..] == *words
                };
                if part > 0 {
                    let next =
                        (at + 1..records.len()).find(|n| continues(*n)).expect("all parts of an event");
                    interlaced += next - at - 1;
                    at = next;
                }
                assert_eq!(records[at][2..], *words);
                assert!(!std::mem::replace(&mut seen[at], true), "a record of two events");
            }
            let last = times.insert(event.cpu, event.cycles).unwrap_or(0);
            if event.status == ExpectedEvent::OK {
                assert!(last <= event.cycles || last - event.cycles < 200_000, "{last:x} {event:?}");
            } else {
                assert!(options.faults.lost_buffer > 0);
            }
            if (event.class, event.event) == ("CONTROL", 1) {
                let read = u64::from(event.words[0]) << 32 | u64::from(event.words[1]);
                assert_eq!(read + u64::from(timeoff.wrapping_sub(event.words[1])), event.cycles);
            }
        }
        assert!(seen.iter().all(|s| *s), "a record of no event: {options:?}");
        assert_eq!(truth.written.lost_buffers.is_empty(), options.faults.lost_buffer == 0);
        // The lower bits wrapped, and a later record is a part of an event from before.
        assert!(truth.written.events.last().unwrap().cycles >> 32 > options.start >> 32);
    }
    assert!(interlaced > 1000, "{interlaced}");
}

#[test]
fn the_same_options_give_the_same_bytes() {
    for options in machines().iter().step_by(3) {
        let with = simulate(Vec::new(), options).unwrap().0;
        let without = simulate(Vec::new(), &Options { truth: false, ..options.clone() }).unwrap().0;
        assert!(with == without);
        let other = simulate(Vec::new(), &Options { seed: options.seed + 1, ..options.clone() }).unwrap().0;
        assert!(with != other);
        let skewed = Options { skew: 5_000_000, ..options.clone() };
        assert!(simulate(Vec::new(), &skewed).is_ok());
        let short = Options { cycles: 2_000_000, ..options.clone() };
        assert!(simulate(Vec::new(), &short).unwrap().0.len() < with.len());
    }
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let faults = Faults { no_time: true, ..Faults::default() };
    for room in [10, 100_000] {
        let failure = simulate(Full(room), &Options { faults, ..Options::default() }).err();
        assert_eq!(failure.map(|f| f.kind()), (room < 60_000).then_some(io::ErrorKind::StorageFull));
    }
    let long = Options { bytes: 1 << 20, ..Options::default() };
    assert!(simulate(Full(100_000), &long).is_err());
}
