//! Published listings, re-encoded, against events that were mapped by a prototype.

use std::path::PathBuf;

use super::*;
use crate::qnx::{Flavour, Version, event_number, text};

/// A file of the corpus; `None`, with a note, if there is no corpus.
fn corpus(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS is not set");
        return None;
    };
    Some(PathBuf::from(root).join("qnx").join(name))
}

/// A reader as simple as possible: little endian, every part of an event after the previous one of the same
/// CPU, class and time, CPUs in the order of the file.
fn read(name: &str, version: Version) -> Option<(Vec<Ev>, u32)> {
    let bytes = std::fs::read(corpus(name)?).unwrap();
    let end_mark = b"TRACE_HEADER_END::";
    let end = bytes.windows(end_mark.len()).position(|w| w == end_mark).unwrap() + end_mark.len();
    let header = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let value = |key: &str| {
        let rest = header.split(&format!("{key}::")).nth(1).unwrap();
        rest.split("TRACE_").next().unwrap().parse::<u64>().unwrap()
    };
    let (cycles, cpus) = (value("CYCLES_PER_SEC"), value("CPU_NUM") as u32);
    let flavour = Flavour { version, big_endian: false };
    let mut msb = [(0, 0); 64];
    let start = end + value("SYSPAGE_LEN") as usize;
    for record in bytes[start..].chunks_exact(16).rev() {
        let word = |n: usize| u32::from_le_bytes(record[4 * n..4 * n + 4].try_into().unwrap());
        if word(0) & 0xc000_7fff == 0x401 {
            // Events before the first full time of a CPU are near it.
            msb[(word(0) >> 24 & 0x3f) as usize] = (u64::from(word(2)), word(3));
        }
    }
    let mut open: Vec<(u32, u32, Ev)> = Vec::new();
    let mut events: Vec<Ev> = Vec::new();
    for record in bytes[start..].chunks_exact(16) {
        let word = |n: usize| u32::from_le_bytes(record[4 * n..4 * n + 4].try_into().unwrap());
        let (head, offset) = (word(0), word(1));
        let cpu = (head >> 24 & 0x3f) as usize;
        let (class, event, is64) = Class::of_header(head as u16 & 0x7fff, version);
        if (class, event) == (Class::Control, 1) {
            msb[cpu] = (u64::from(word(2)), word(3));
        }
        let (high, last) = msb[cpu];
        let near = (high << 32 | u64::from(last)) as i64;
        let time = near + i64::from(offset.wrapping_sub(last) as i32);
        let key = (head & 0x3f00_7fff, offset);
        let mut fresh = ev(time, cpu as u8, class, event, &[word(2), word(3)]);
        (fresh.is64, fresh.flags) = (is64, (head >> 16) as u8);
        match head >> 30 {
            0 => events.push(fresh),
            1 => open.push((key.0, key.1, fresh)),
            part => {
                let Some(n) = open.iter().position(|o| (o.0, o.1) == key) else { continue };
                open[n].2.words.extend([word(2), word(3)]);
                if part == 3 {
                    events.push(open.remove(n).2);
                }
            }
        }
    }
    events.sort_by_key(|e| e.time);
    let first = events.first().map_or(0, |e| e.time);
    for e in &mut events {
        e.time = (i128::from(e.time - first) * 1_000_000_000 / i128::from(cycles)) as i64;
        let event = Event {
            record: 0,
            cpu: e.cpu,
            flags: e.flags,
            class: e.class,
            event: e.event,
            is64: e.is64,
            status: e.status,
            cycles: 0,
            words: &e.words,
        };
        e.text = text(flavour, &event);
    }
    Some((events, cpus))
}

/// One of our lines in the form of the prototype; `None` for lines that it does not write.
fn as_prototype(line: &str, version: Version, destroyed: &[i64]) -> Option<String> {
    // It has no handlers and no events of users, and does not end the threads of a destroyed process.
    let time: i64 = line.split(',').next()?.parse().ok()?;
    if line.contains(", R, ISR_") || line.contains(", SIG, USR_") || destroyed.contains(&time) {
        return None;
    }
    // The list of what exists is not an event; calls have names, and runnables have instances.
    let mut fields: Vec<String> = line.split(", ").map(str::to_owned).collect();
    if fields[1] == "STI_initial" {
        fields[1] = "STI_create".to_owned();
    }
    if let Some(call) = fields[4].strip_prefix("K_") {
        let number = event_number(version, Class::KerCall, call).unwrap();
        (fields[4], fields[5]) = (format!("KER_{number}"), "0".to_owned());
    }
    Some(fields.join(", "))
}

/// A line without what BTF does not allow, and the prototype writes: a core as the source of OS events, their
/// ids instead of their owners, and notes on requests.
fn event_only(line: &str) -> String {
    let mut fields: Vec<&str> = line.split(", ").collect();
    if fields.get(3) == Some(&"EVENT") {
        fields.truncate(7);
        if fields[1].starts_with("Core_") || fields[1] == "STI_kernel" {
            fields[1] = "kernel";
        }
    }
    if fields.get(3) == Some(&"SEM") {
        fields.truncate(7);
    }
    fields.join(", ")
}

fn setup(version: Version, cpus: u32) -> Settings {
    let flavour = Flavour { version, big_endian: false };
    Settings { flavour, cpus, idle: true, ..Settings::default() }
}

#[test]
fn listings_map_as_the_prototype_maps_them() {
    for (name, version) in [
        ("golden_datainterpretation_Using_traceprinter", Version::V6_5),
        ("golden_tutorial-intro_FIVE_EVENTS_C", Version::V6_5),
        ("synth_smp_le", Version::V7_1),
    ] {
        let Some((mut events, cpus)) = read(&format!("{name}.kev"), version) else { return };
        if name == "synth_smp_le" {
            // An event without its end, which the simple reader drops.
            events.retain(|e| e.status == Status::Ok);
        }
        let ours = run(&setup(version, cpus), &events);
        assert_eq!(ours.violations, Violations::default());
        let destroyed: Vec<i64> =
            events.iter().filter(|e| e.class == Class::Process && e.event == 2).map(|e| e.time).collect();
        let ours: Vec<String> =
            ours.lines.iter().filter_map(|l| as_prototype(l, version, &destroyed)).collect();
        let expected = std::fs::read_to_string(corpus(&format!("{name}.expected.btf")).unwrap()).unwrap();
        let expected: Vec<&str> = expected.lines().filter(|l| !l.starts_with('#')).collect();
        assert!(expected.len() > 10);
        let events =
            |lines: &mut dyn Iterator<Item = &str>| lines.map(event_only).collect::<Vec<_>>().join("\n");
        let ours = events(&mut ours.iter().map(String::as_str));
        assert_eq!(ours, events(&mut expected.into_iter()), "{name}");
    }
}

#[test]
fn every_listing_gives_legal_events() {
    for name in [
        "golden_datainterpretation_Using_traceprinter",
        "golden_tutorial-intro_ALL_CLASSES_C",
        "golden_tutorial-intro_FIVE_EVENTS_C",
        "golden_tutorial-intro_KER_CALLS_C_0",
        "synth_smp_le",
    ] {
        for idle in [false, true] {
            let Some((events, cpus)) = read(&format!("{name}.kev"), Version::V6_5) else { return };
            let setup = Settings { idle, ..setup(Version::V6_5, cpus) };
            let run = run(&setup, &events);
            random::assert_sound(&run);
            assert!(run.rows.states.len() > 3, "{name}");
            assert_eq!(
                run.lines.iter().any(|l| l.contains("T, procnto-smp-instr_1_T1,")),
                idle && name != "golden_tutorial-intro_KER_CALLS_C_0"
            );
        }
    }
}
