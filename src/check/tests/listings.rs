//! Every listing that a specification prints keeps its rules; with one line changed it breaks exactly one.

use super::{check, check_with, ids};
use crate::btf::spec::Version;
use crate::check::CheckOptions;
use crate::diagnostics::Severity;
use std::path::{Path, PathBuf};

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/btf/spec").join(version)
}

fn listings(version: &str) -> Vec<(String, String)> {
    let mut all: Vec<_> = std::fs::read_dir(folder(version))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    assert!(all.len() >= 15, "the listings of {version} are there");
    all
}

#[test]
fn listings_keep_the_rules_of_their_version() {
    for folder in ["2.1.5", "2.3.0"] {
        for (name, text) in listings(folder) {
            let report = check(&text);
            assert_eq!(report.violations(Severity::Warning), 0, "{folder}/{name}: {:#?}", report.findings);
            if folder == "2.3.0" {
                let options = CheckOptions { version: Some(Version::V2_2_1), header: true };
                let report = check_with(options, &text);
                assert_eq!(
                    report.violations(Severity::Warning),
                    0,
                    "{name} as 2.2.1: {:#?}",
                    report.findings
                );
            }
        }
    }
}

/// Listing, the line to change (by its beginning, blanks removed), what it becomes, the rule it breaks then.
#[rustfmt::skip]
const MUTATIONS: &[(&str, &str, &str, &str, &str)] = &[
    ("2.1.5", "header", "#-TT_Slow", "#-T", "table-syntax"),
    ("2.1.5", "header", "#-RR_Load", "#-R R_Lode", "table-reference"),
    ("2.1.5", "header", "#timeScale", "#timeScale minutes", "timescale-unit"),
    ("2.1.5", "example", "4050,Core_0,0,T,Low,0,preempt", "4050,Core_0,0,T,Low,0,wait", "process-transition"),
    ("2.1.5", "stimuli", "3100,High,0,STI,Sti_Ask,1", "3100,High,0,STI,Sti_Ask,2,trigger", "stimulus-instance"),
    ("2.1.5", "processes", "810,Core_0,0,T,Input,4,preempt", "810,Core_1,0,T,Input,4,preempt", "core-changed"),
    ("2.1.5", "runnables", "9100,Low", "9100,Low,0,R,Output,0,suspend", "runnable-transition"),
    ("2.1.5", "scheduler_preempts", "175,Os", "175,Os,-2,SCHED,Os,-1,schedule", "negative-instance"),
    ("2.1.5", "schedule_point", "170,High", "170,High,0,SCHED,Os,-1,schedule_point", "unknown-action"),
    ("2.1.5", "scheduler_polling", "171,Core_0", "171,Core_0,0,T,Low,0,resume", "process-transition"),
    ("2.1.5", "os_events", "120,High", "120,High,0,EVENT,Go,0,set_event", "note-missing"),
    ("2.1.5", "signals", "450,Actuator", "450,Actuator,2,SIG,Valve,0,write", "note-missing"),
    ("2.1.5", "semaphore", "40,Bus,0,SEM,Bus,0,overfull", "40,Bus,0,SEM,Bus,0,used,2", "semaphore-transition"),
    ("2.1.5", "tag", "0,Low", "0,Low,0,SIM,Simulation,0,tag", "note-missing"),
    ("2.1.5", "hardware", "0,Chip_1", "0,Chip_1,-1,SIM,SIM,-1,tac,PROCESSOR_INIT", "unknown-action"),
    ("2.1.5", "signal_init", "0,Speed", "-1,Speed,-1,SIM,SIM,-1,tag,SIG_INIT_VALUE,12", "negative-time"),
    ("2.1.5", "overhead", "0,osIsr", "0,osIsr,-1,SIM,,-1,tag,OSOverhead_Process", "empty-field"),
    ("2.1.5", "system", "900,SIM", "9,SIM,-1,SYS,SYSTEM,0,stop", "time-decreases"),
    ("2.1.5", "parking", "50,Core_1", "50,Core_0,0,T,Low,0,release_parking", "core-changed"),
    ("2.1.5", "limit", "10,Sti_Low", "10,Sti_Low,1,T,Low,1,mtalimitexceded", "action-alias"),
    ("2.1.5", "counting", "3,Pool", "3,Pool,0,SEM,Pool,0,lock,3", "semaphore-transition"),

    ("2.3.0", "snippet", "#version", "# nothing", "version-missing"),
    ("2.3.0", "snippet", "50,Low", "50,Core_0,0,R,Filter,0,start", "source-kind"),
    ("2.3.0", "example", "9050,Core_0", "9050,Core_1,0,T,High,0,terminate", "core-changed"),
    ("2.3.0", "example", "9050,High", "9050,High,0,SIG,Level,0,write,1", "runnable-open"),
    ("2.3.0", "stimuli", "0,Sti_Low,0,STI", "0,Sti_Low,1,STI,Sti_Low,0,trigger", "source-not-self"),
    ("2.3.0", "stimulus_sets_event", "4000,Clock", "4000,Clock,2,EVENT,Tick,0,set_event,Low", "stimulus-order"),
    ("2.3.0", "stimulus_writes", "4000,Clock", "4000,Clock,1,SIG,Mode,0,write,five", "note-not-number"),
    ("2.3.0", "mapping", "#entityMapping1", "#entityMapping 0 R_Load", "table-id-repeated"),
    ("2.3.0", "mapping", "#typeMapping0", "#typeTable", "parameter-of-other-version"),
    ("2.3.0", "mapping_numeric", "#entityTypeMapping23", "#entityTypeMapping 2 4", "table-reference"),
    ("2.3.0", "mapping_numeric", "20,0", "20,0,0,3,3,0,read", "unknown-type"),
    ("2.3.0", "processes", "700,Every2", "700,Every2,4,T,Input,,activate", "empty-instance"),
    ("2.3.0", "processes", "810,Core_0,0,T,Input", "820,Core_0,0,T,Input,4,preempt", "time-decreases"),
    ("2.3.0", "runnables", "480,Low", "# nothing", "runnable-transition"),
    ("2.3.0", "sub_runnables", "41,Low", "# nothing", "runnable-terminate-order"),
    ("2.3.0", "schedule_point", "175,Os", "175,Core_0,0,SCHED,Os,0,schedule", "source-kind"),
    ("2.3.0", "os_events", "121,Low", "121,High,0,EVENT,Go,1,clear_event", "instance-not-zero"),
    ("2.3.0", "signals", "560,Fast", "560,Fast,0,SIG,Slow,0,read,0", "source-kind"),
    ("2.3.0", "semaphore", "95,Right,0,SEM,Bus,0,increment", "95,Right,0,SEM,Bus,0,released,2", "semaphore-order"),
    ("2.3.0", "spinlock", "30,Spin,0,SEM,Spin,0,unlock", "30,Spin,0,SEM,Spin,0,overfull", "semaphore-transition"),
    ("2.3.0", "spinlock", "30,Left", "30,Left,0,SEM,Spin,0,released,1", "semaphore-note"),
    ("2.3.0", "parking", "90,Core_0", "90,Core_0,0,T,Low,0,release", "process-transition"),
    ("2.3.0", "limit", "10,Sti_Low", "10,Sti_Low,1,T,Low,2,mtalimitexceeded", "process-instance"),
    ("2.3.0", "interrupt", "5,Os", "5,Core_0,0,I,Pin,0,interrupt_suspended", "source-kind"),
    ("2.3.0", "counting", "6,Pool", "6,Pool,0,SEM,Pool,0,unlock,0", "semaphore-transition"),
];

#[test]
fn a_changed_line_breaks_exactly_its_rule() {
    let mut wrong = Vec::new();
    for (version, name, line, changed, rule) in MUTATIONS {
        let text = std::fs::read_to_string(folder(version).join(format!("{name}.btf"))).unwrap();
        let is_it = |known: &str| known.replace(char::is_whitespace, "").starts_with(line);
        assert_eq!(text.lines().filter(|known| is_it(known)).count(), 1, "{name}: {line}");
        let mutated: Vec<_> = text.lines().map(|known| if is_it(known) { changed } else { known }).collect();
        let report = check(&mutated.join("\n"));
        let found = ids(&report, Severity::Warning);
        if found != [*rule] {
            wrong.push(format!("{version}/{name}: '{changed}' breaks {found:?}, not {rule}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_listing_has_a_changed_copy() {
    for version in ["2.1.5", "2.3.0"] {
        for (name, _) in listings(version) {
            let changed = MUTATIONS.iter().any(|(v, n, ..)| *v == version && *n == name);
            assert!(changed, "{version}/{name}");
        }
    }
}
