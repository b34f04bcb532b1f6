//! What a recording as a generic OSEK system has. That it is mapped to what happened, the tests of the whole
//! program show.

use crate::simulate::{Model, ProbeOptions, TracedOs, simulate};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

/// Files in memory, by name.
type Files = Rc<RefCell<BTreeMap<String, Vec<u8>>>>;

struct File(String, Files);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1.borrow_mut().entry(self.0.clone()).or_default().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The outputs of a model.
fn outputs(model: &str, os: TracedOs) -> BTreeMap<String, String> {
    simulated(model, os).0
}

/// The outputs of a model, and how many events crossed calls.
fn simulated(model: &str, os: TracedOs) -> (BTreeMap<String, String>, u64) {
    let (model, _) = Model::parse(model, Path::new("m.toml")).unwrap();
    let files = Files::default();
    let open = |name: &Path| Ok(File(name.to_str().unwrap().to_owned(), Rc::clone(&files)));
    let options = ProbeOptions { os, ..ProbeOptions::default() };
    let crossed = simulate(&model, &options, false, open, |_| Ok(())).unwrap().recorded.unwrap().crossed;
    let text = |(name, text): (&String, &Vec<u8>)| (name.clone(), String::from_utf8(text.clone()).unwrap());
    let outputs = files.borrow().iter().map(text).collect();
    (outputs, crossed)
}

/// A row of a data export: time in ns, variable, whether it is written, value.
type Row = (i64, String, bool, u32);

fn rows(outputs: &BTreeMap<String, String>, core: usize) -> Vec<Row> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').map(|field| field.trim_matches('"')).collect();
        let (seconds, fraction) = fields[1].split_once('.').unwrap();
        let time = seconds.parse::<i64>().unwrap() * 1_000_000_000 + fraction.parse::<i64>().unwrap() / 10;
        (time, fields[2].to_owned(), fields[3] == "wr-data", u32::from_str_radix(fields[4], 16).unwrap())
    };
    outputs[&format!("recording/core{core}_data.csv")].lines().map(row).collect()
}

/// The values that are written to a variable.
fn writes(rows: &[Row], variable: &str) -> Vec<u32> {
    rows.iter().filter(|row| row.1 == variable && row.2).map(|row| row.3).collect()
}

/// Two cores: a task of the first one calls the other, and waits for a lock that a task there has.
const TWO_CORES: &str = r#"duration = "4ms"
core = [{ name = "C_0" }, { name = "C_1" }]
resource = [{ name = "OWN" }, { name = "SHARED" }]
spinlock = [{ name = "SPIN" }]
signal = [{ name = "SIG" }]
[[task]]
name = "A"
core = "C_0"
priority = 1
steps = [
  { activate = "B" }, { activate = "B" }, { activate = "B" }, { set_event = "E", task = "W" },
  { execute = "200us" }, { get_spinlock = "SPIN" }, { write = "SIG", value = 7 },
  { release_spinlock = "SPIN" }, { get_resource = "OWN" }, { release_resource = "OWN" },
]
[[task]]
name = "B"
core = "C_1"
priority = 2
activations = 2
steps = [
  { get_resource = "SHARED" }, { release_resource = "SHARED" }, { get_spinlock = "SPIN" }, { execute = "400us" },
  { release_spinlock = "SPIN" },
]
[[task]]
name = "W"
core = "C_1"
priority = 9
autostart = true
events = ["E"]
steps = [{ wait_event = "E" }, { clear_event = "E" }]
[[task]]
name = "S"
core = "C_0"
priority = 2
steps = [{ get_resource = "SHARED" }, { release_resource = "SHARED" }]
[[alarm]]
name = "AL"
activate = "A"
offset = "2ms"
once = true
[[alarm]]
name = "AL_W"
activate = "W"
offset = "3ms"
once = true
"#;

#[test]
fn an_alarm_counts_down_to_zero_and_is_reloaded() {
    let model = r#"duration = "8500us"
core = [{ name = "C" }]
[[task]]
name = "T"
core = "C"
priority = 1
[[alarm]]
name = "ONCE"
activate = "T"
offset = "3ms"
once = true
[[alarm]]
name = "AGAIN"
activate = "T"
offset = "2ms"
period = "3ms"
"#;
    let outputs = outputs(model, TracedOs::Osek);
    let rows = rows(&outputs, 0);
    assert_eq!(writes(&rows, "osAlarmTime[0]"), [3, 2, 1, 0]);
    assert_eq!(writes(&rows, "osAlarmTime[1]"), [2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3]);
    // It expires at the instant of its stimulus.
    let zero = rows.iter().find(|row| row.1 == "osAlarmTime[0]" && row.3 == 0).unwrap().0;
    assert!(outputs["reference.btf"].contains(&format!("{zero},SIM,-1,STI,ONCE,0,trigger")));
}

#[test]
fn all_variables_are_those_of_the_orti_file_or_signals() {
    let outputs = outputs(TWO_CORES, TracedOs::Osek);
    let orti = &outputs["recording/os.orti"];
    let mut names: Vec<String> = (0..2).flat_map(|core| rows(&outputs, core)).map(|row| row.1).collect();
    names.sort();
    names.dedup();
    assert!(names.len() > 12, "{names:?}");
    for name in names.iter().filter(|name| *name != "SIG") {
        assert!(orti.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn what_happens_does_not_depend_on_how_it_is_recorded() {
    let of = |os| outputs(TWO_CORES, os).remove("reference.btf").unwrap();
    assert_eq!(of(TracedOs::Osek), of(TracedOs::Erika2));
}

#[test]
fn the_caller_changes_a_task_of_another_core_and_gets_the_error() {
    let outputs = outputs(TWO_CORES, TracedOs::Osek);
    let (caller, server) = (rows(&outputs, 0), rows(&outputs, 1));
    assert_eq!(writes(&caller, "osTask[1].activations"), [1, 2]);
    assert_eq!(writes(&server, "osTask[1].activations"), [1, 0]);
    assert_eq!(writes(&caller, "osTask[2].events"), [1]);
    // E_OS_LIMIT once, right after the look at the count.
    let error = caller.iter().position(|row| row.1 == "osLastError[0]" && row.3 == 4).unwrap();
    assert_eq!((caller[error - 1].1.as_str(), caller[error - 1].2), ("osTask[1].activations", false));
    let errors = caller.iter().chain(&server).filter(|row| row.1.starts_with("osLastError") && row.3 == 4);
    assert_eq!(errors.count(), 1);
    // The other core is in no service for it.
    assert!(writes(&server, "osServiceTrace[1]").iter().all(|code| *code != 3));
}

#[test]
fn who_waits_for_a_lock_asks_twice_at_the_instant_from_which_on_it_polls() {
    let outputs = outputs(TWO_CORES, TracedOs::Osek);
    let reference = &outputs["reference.btf"];
    let poll = reference.lines().find(|line| line.contains(",T,A,0,poll")).unwrap();
    let poll: i64 = poll.split(',').next().unwrap().parse().unwrap();
    let caller = rows(&outputs, 0);
    let at_once = caller.iter().filter(|row| row.0 == poll);
    let at_once: Vec<_> = at_once.map(|row| (row.1.as_str(), row.2, row.3)).collect();
    let look = ("osResLocker[1]", false, 1);
    let refused = ("osLastError[0]", true, 1);
    let (leave, enter) = (("osServiceTrace[0]", true, 10), ("osServiceTrace[0]", true, 11));
    assert_eq!(at_once, [look, refused, leave, enter, look, refused]);
    // It goes on with one access of the loop after the other, and ends in a call.
    let after: Vec<_> = caller.iter().skip_while(|row| row.0 <= poll).take(4).collect();
    assert!(after[0].0 < after[1].0 && after[1].0 < after[2].0, "{after:?}");
    let locked = caller.iter().position(|row| row.1 == "osResLocker[1]" && row.2 && row.3 == 0).unwrap();
    assert_eq!((caller[locked - 1].1.as_str(), caller[locked - 1].3), ("osResLocker[1]", u32::MAX));
    let service = caller[..locked].iter().rev().find(|row| row.1 == "osServiceTrace[0]").unwrap();
    assert_eq!(service.3, 11);
    let calls = |odd: u32| {
        let of = caller.iter().filter(|row| row.1 == "osServiceTrace[0]" && row.3 == 10 + odd);
        of.count()
    };
    assert_eq!(calls(0), calls(1));
}

#[test]
fn an_isr_is_a_locker_without_a_label() {
    let model = r#"duration = "2ms"
core = [{ name = "C" }]
spinlock = [{ name = "SPIN" }]
[[isr]]
name = "I"
core = "C"
priority = 3
at = ["1ms"]
steps = [{ get_spinlock = "SPIN" }, { release_spinlock = "SPIN" }]
"#;
    let outputs = outputs(model, TracedOs::Osek);
    assert_eq!(writes(&rows(&outputs, 0), "osResLocker[0]"), [0x8000_0000, u32::MAX]);
    // The attributes of a system of one core have no index.
    assert!(outputs["recording/os.orti"].contains("RUNNINGISR2 = \"osRunningIsr2[0]\""));
}

#[test]
fn events_that_cross_calls_are_counted() {
    let model = include_str!("../../../../tests/data/models/crossing_calls.toml");
    assert_eq!(simulated(model, TracedOs::Osek).1, 2);
    assert_eq!(simulated(model, TracedOs::Erika2).1, 0);
    assert_eq!(simulated(TWO_CORES, TracedOs::Osek).1, 0);
}

#[test]
fn functions_are_those_of_each_core_and_none_within_the_kernel() {
    let outputs = outputs(TWO_CORES, TracedOs::Osek);
    let names = |core: usize| {
        let lines = outputs[&format!("recording/core{core}_func.csv")].lines();
        let mut names: Vec<&str> = lines.map(|line| line.split("; ").nth(1).unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let of_first = [
        "ActivateTask",
        "EE_tc_system_timer_handler",
        "GetResource",
        "ReleaseResource",
        "SetEvent",
        "StartOS",
        "osTask_A",
    ];
    assert_eq!(names(0), of_first);
    let of_second = [
        "ClearEvent",
        "EE_TC_iirq_handler",
        "EE_tc_system_timer_1_handler",
        "GetResource",
        "ReleaseResource",
        "StartOS",
        "WaitEvent",
    ];
    assert_eq!(names(1), [&of_second[..], &["osTask_B", "osTask_W"]].concat());
}
