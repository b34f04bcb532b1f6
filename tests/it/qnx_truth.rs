//! The native tables of QNX kernel traces against what really happened in a simulated machine. Not what BTF
//! makes of it.

use crate::neutrino::machine::Truth;
use crate::neutrino::{ByteOrder, Release};
use crate::qnx::{RELEASES, csv, trace};
use crate::support::Bench;
use std::collections::BTreeMap;

const RUNNING: u16 = 1;
const READY: u16 = 2;
/// Between a thread's last words and its end.
const DESTROY: u16 = 25;

const STATES: [(u16, &str); 10] = [
    (RUNNING, "RUNNING"),
    (READY, "READY"),
    (4, "SEND"),
    (5, "RECEIVE"),
    (6, "REPLY"),
    (12, "NANOSLEEP"),
    (13, "MUTEX"),
    (16, "INTR"),
    (24, "CREATE"),
    (DESTROY, "DESTROY"),
];

/// A database of a trace without losses, and the truth in its ticks.
struct Machine {
    bench: Bench,
    truth: Truth,
    /// Count of the clock at the first event; a tick is a count.
    base: u64,
    end: i64,
}

fn machine(release: Release, wide: bool) -> Machine {
    let (file, truth) = trace(release, 192 << 10, |o| {
        o.wide = wide;
        // Most traces of big-endian targets are old.
        o.target.order = if release == Release::R6 { ByteOrder::Big } else { ByteOrder::Little };
    });
    let bench = Bench::new();
    bench.write("t.kev", file);
    bench.ok(&["ingest", "t.db", "t.kev", "--strict", "-q"]);
    let base = truth.written.events[0].cycles;
    let last = truth.written.events.iter().map(|e| e.cycles).max().unwrap();
    Machine { bench, base, end: (last - base) as i64, truth }
}

impl Machine {
    fn ticks(&self, cycles: u64) -> i64 {
        cycles as i64 - self.base as i64
    }

    fn time(&self, cycles: Option<u64>) -> String {
        cycles.map_or(String::new(), |c| self.ticks(c).to_string())
    }

    /// Lines of an answer, sorted.
    fn rows(&self, sql: &str) -> Vec<String> {
        let mut rows: Vec<String> =
            csv(&self.bench, "t.db", sql).lines().skip(1).map(str::to_owned).collect();
        rows.sort();
        rows
    }

    #[track_caller]
    fn same(&self, what: &str, sql: &str, mut expected: Vec<String>) {
        expected.sort();
        assert!(!expected.is_empty(), "{what}: nothing to compare");
        let found = self.rows(sql);
        let missing: Vec<_> = expected.iter().filter(|e| found.binary_search(e).is_err()).take(10).collect();
        let more: Vec<_> = found.iter().filter(|f| expected.binary_search(f).is_err()).take(10).collect();
        assert!(
            missing.is_empty() && more.is_empty() && found.len() == expected.len(),
            "{what}: {} rows, {} expected\nmissing {missing:#?}\nnot expected {more:#?}",
            found.len(),
            expected.len()
        );
    }
}

type Thread = (u32, u32);

/// State, begin and end, one after the other.
type Stretches = Vec<(u16, i64, i64)>;

/// The states of each thread as the tables have them. A thread loses its CPU when another one gets it,
/// although the kernel says so a little later. An event that repeats the state begins no other one.
fn states(machine: &Machine) -> BTreeMap<(Thread, u32), Stretches> {
    let mut begins: BTreeMap<u8, Vec<i64>> = BTreeMap::new();
    for s in machine.truth.states.iter().filter(|s| s.state == RUNNING) {
        begins.entry(s.cpu).or_default().push(machine.ticks(s.from));
    }
    begins.values_mut().for_each(|b| b.sort_unstable());
    let mut threads: BTreeMap<_, Vec<(u16, i64, i64)>> = BTreeMap::new();
    for s in &machine.truth.states {
        if s.state == DESTROY || s.state == 24 && s.snapshot {
            continue;
        }
        let (from, to) = (machine.ticks(s.from), s.to.map_or(machine.end, |to| machine.ticks(to)));
        let states = threads.entry((s.thread, s.incarnation)).or_default();
        let to = match begins.get(&s.cpu).filter(|_| s.state == RUNNING) {
            Some(begins) => {
                let next = begins.get(begins.partition_point(|b| *b <= from)).copied();
                next.map_or(to, |next| to.min(next))
            }
            None => to,
        };
        let from = match states.last() {
            Some((RUNNING, _, left)) if s.state == READY => *left,
            _ => from,
        };
        states.push((s.state, from, to));
    }
    for states in threads.values_mut() {
        // Events of two CPUs at one instant have no order.
        states.retain(|(_, from, to)| from < to);
        states.dedup_by(|next, last| {
            let goes_on = next.0 == last.0 && next.1 == last.2;
            if goes_on {
                last.2 = next.2;
            }
            goes_on
        });
    }
    threads
}

#[test]
fn threads_are_in_the_states_that_they_were_in() {
    for release in RELEASES {
        for wide in [false, true] {
            let machine = machine(release, wide);
            let name = |state: u16| STATES.iter().find(|s| s.0 == state).unwrap().1;
            let mut expected = Vec::new();
            for (((pid, tid), incarnation), states) in states(&machine) {
                expected.extend(states.iter().map(|(state, from, to)| {
                    format!("{pid},{tid},{},{},{from},{to}", incarnation - 1, name(*state))
                }));
            }
            // Another priority begins another row.
            let sql = "WITH begun AS (
                    SELECT *, coalesce(lag(state) OVER w = state AND lag(end_at) OVER w = begin_at, FALSE) AS goes_on
                    FROM kernel_state WHERE begin_at < end_at WINDOW w AS (PARTITION BY pid, tid, incarnation ORDER BY begin_at, end_at)),
                numbered AS (
                    SELECT *, sum(CASE WHEN goes_on THEN 0 ELSE 1 END)
                        OVER (PARTITION BY pid, tid, incarnation ORDER BY begin_at, end_at) AS nth
                    FROM begun)
                SELECT pid, tid, incarnation, min(state) AS state, min(begin_at) AS begin_at, max(end_at) AS end_at
                FROM numbered GROUP BY pid, tid, incarnation, nth";
            machine.same(&format!("{release:?} wide {wide}"), sql, expected);
        }
    }
}

#[test]
fn messages_are_those_that_were_sent() {
    for release in RELEASES {
        for wide in [false, true] {
            let machine = machine(release, wide);
            let expected = machine.truth.messages.iter().map(|m| {
                let server = m.server_tid.map_or(String::new(), |tid| tid.to_string());
                let times = [Some(m.sent), m.received, m.replied].map(|t| machine.time(t));
                let (pid, tid) = m.client;
                format!("{pid},{tid},{},{server},{},{},{}", m.server, m.rcvid, times.join(","), m.error)
            });
            let expected = expected.collect();
            let sql = "SELECT client_pid, client_tid, server_pid, server_tid, rcvid, send_at, receive_at, reply_at, \
                       outcome = 'error' FROM kernel_message WHERE kind = 'message'";
            machine.same(&format!("{release:?} wide {wide}"), sql, expected);
        }
    }
}

#[test]
fn waits_for_mutexes_name_the_mutex() {
    for release in RELEASES {
        let machine = machine(release, true);
        let expected = machine.truth.mutex_waits.iter().map(|w| {
            let (pid, tid) = w.thread;
            let to = w.to.map_or(machine.end, |to| machine.ticks(to));
            format!("{pid},{tid},S_{pid}_{:x},{},{to}", w.address, machine.ticks(w.from))
        });
        let sql = "SELECT pid, tid, object, begin_at, end_at FROM kernel_state WHERE state = 'MUTEX'";
        machine.same(&format!("{release:?}"), sql, expected.collect());
    }
}

#[test]
fn interrupts_are_those_that_came() {
    for release in RELEASES {
        let machine = machine(release, true);
        let at_once = release == Release::R8;
        let expected = machine.truth.interrupts.iter().map(|i| match at_once {
            true => format!("{},{},{}", i.cpu, i.vector, machine.ticks(i.entered)),
            false => {
                let (from, to) = (machine.ticks(i.entered), machine.ticks(i.left));
                format!("{},{},{},{from},{to}", i.cpu, i.vector, i.depth)
            }
        });
        let sql = match at_once {
            // 8.0 records that they came, and nothing else.
            true => {
                "SELECT cpu, d0, time FROM kernel_event WHERE class_name = 'INT' AND event_name = 'DELIVER'"
            }
            false => "SELECT cpu, vector, depth, begin_at, end_at FROM kernel_interrupt",
        };
        machine.same(&format!("{release:?}"), sql, expected.collect());
        // None in 8.0. Before, all are in the kernel of the simulated machine, on machines of 64 bits as
        // well.
        let elsewhere = if at_once { "" } else { " WHERE ip < 4027072512 OR ip >= 4027076608" };
        assert_eq!(machine.rows(&format!("SELECT * FROM kernel_interrupt{elsewhere}")), [""; 0]);
    }
}

#[test]
fn events_are_those_that_were_written() {
    for release in RELEASES {
        let machine = machine(release, true);
        let expected = machine.truth.written.events.iter().map(|e| {
            let rest: Vec<String> = e.words.iter().skip(2).map(|w| format!("{w:08x}")).collect();
            let words = [0, 1].map(|n| e.words.get(n).copied().unwrap_or(0));
            format!(
                "{},{},{},{},{},{},{},{},{},{},{}",
                e.record,
                e.cycles,
                e.cpu,
                e.flags,
                e.class,
                e.event,
                e.is64,
                e.status,
                words[0],
                words[1],
                rest.join(" ")
            )
        });
        let sql = "SELECT record, cycles, cpu, flags, class_name, event, is64, status, d0, d1, rest FROM kernel_event";
        machine.same(&format!("{release:?}"), sql, expected.collect());
    }
}
