//! Lines and fields as kernels, trace-cmd and perf print them. What becomes of whole texts:
//! `tests/it/ftrace.rs`.

use super::fields::Writer;
use super::line::{Kind, event, kind};
use serde_json::{Value, json};

fn payload(line: &str) -> Value {
    let event = event(line.as_bytes()).unwrap_or_else(|| panic!("an event: {line}"));
    let mut payload: Value = serde_json::from_str(Writer::default().payload(&event)).unwrap();
    payload.as_object_mut().unwrap().remove("context");
    payload
}

fn context(line: &str) -> Value {
    let event = event(line.as_bytes()).unwrap_or_else(|| panic!("an event: {line}"));
    let payload: Value = serde_json::from_str(Writer::default().payload(&event)).unwrap();
    payload["context"].clone()
}

#[test]
fn the_writer_of_an_event_is_its_context() {
    for (begin, context_of) in [
        ("          <idle>-0       [001] d..2.   ", json!({"comm": "<idle>", "pid": 0, "flags": "d..2."})),
        ("            bash-1977    [000] .... ", json!({"comm": "bash", "pid": 1977, "flags": "...."})),
        ("            bash-1977  [000] ", json!({"comm": "bash", "pid": 1977})),
        (
            "     my task [1]-12      (   10) [003] d..2. ",
            json!({"comm": "my task [1]", "pid": 12, "tgid": 10, "flags": "d..2."}),
        ),
        (
            "            <...>-12      (-------) [003] d..2. ",
            json!({"comm": "<...>", "pid": 12, "flags": "d..2."}),
        ),
        ("kworker/0:1-ev-7     [000] ", json!({"comm": "kworker/0:1-ev", "pid": 7})),
        ("swapper     0 [001] ", json!({"comm": "swapper", "pid": 0})),
        ("Web Content 10/12 [001] ", json!({"comm": "Web Content", "pid": 12, "tgid": 10})),
    ] {
        assert_eq!(context(&format!("{begin}12.345678: tick_stop: success=1")), context_of, "{begin}");
    }
}

/// `trace-cmd report -l`.
#[test]
fn the_cpu_and_the_flags_can_be_one_word() {
    for (line, comm, cpu, flags) in [
        ("   tasks-21637   0dN.3. 5.454466: x: a=1", "tasks", 0, "dN.3."),
        ("net=0 pi-21641   1d..2. 5.454506: x: a=1", "net=0 pi", 1, "d..2."),
        ("log writ-21641  13.... 5.454506: x: a=1", "log writ", 13, "...."),
    ] {
        let Kind::Event(event) = kind(line.as_bytes()) else { panic!("an event: {line}") };
        assert_eq!((event.comm, event.cpu, event.flags), (comm.as_bytes(), cpu, flags.as_bytes()), "{line}");
        assert_eq!((event.name, event.text), (&b"x"[..], &b"a=1"[..]), "{line}");
    }
    for line in
        ["tasks-21637 0 d..2. 5.4: x: a=1", "tasks-21637 d..2. 5.4: x: a=1", "tasks 0d..2. 5.4: x: a=1"]
    {
        assert_eq!(kind(line.as_bytes()), Kind::Unknown, "{line}");
    }
}

#[test]
fn fields_are_values_up_to_the_next_field() {
    for (text, fields) in [
        (
            "sched_wakeup: comm=bash pid=12 prio=120 target_cpu=002",
            json!({"comm": "bash", "pid": 12, "prio": 120, "target_cpu": 2}),
        ),
        (
            "irq_handler_entry: irq=26 name=ahci[0000:00:1f.2]",
            json!({"irq": 26, "name": "ahci[0000:00:1f.2]"}),
        ),
        ("softirq_raise: vec=1 [action=TIMER]", json!({"vec": 1, "action": "TIMER"})),
        (
            "x: a=0x1f b=-3 c=00000000ffff8881 d=012 e= dest_cpu=012",
            json!({"a": "0x1f", "b": -3, "c": "00000000ffff8881", "d": "012", "e": "", "dest_cpu": 12}),
        ),
        ("x: a=1, b=two words, c=3", json!({"a": 1, "b": "two words", "c": 3})),
        ("x: state==3", json!({"text": "state==3"})),
        ("x: at 5 a=1", json!({"text": "at 5 a=1", "a": 1})),
        ("x: a=1 a=2", json!({"text": "a=1 a=2", "a": 1})),
        ("sys_enter: NR 1 (1, 7ffe, 2)", json!({"text": "NR 1 (1, 7ffe, 2)"})),
        ("timer_tick:", json!({})),
        (
            "sched_process_fork: comm=a pid=1 b pid=1 child_comm=c pid=2 child_pid=9",
            json!({"comm": "a pid=1 b", "pid": 1, "child_comm": "c pid=2", "child_pid": 9}),
        ),
    ] {
        assert_eq!(payload(&format!("bash-1 [000] .... 1.000000: {text}")), fields, "{text}");
    }
    assert_eq!(
        payload("bash-1 [000] .... 1.000000: schedule <-do_nanosleep"),
        json!({"ip": "schedule", "parent_ip": "do_nanosleep"})
    );
}

#[test]
fn a_switch_is_the_same_whoever_prints_it() {
    let fields = |state: &str, number: u64| {
        json!({"prev_comm": "a b", "prev_pid": 5, "prev_prio": 98, "prev_state": state, "prev_state.value": number,
               "next_comm": "swapper/1", "next_pid": 0, "next_prio": 120})
    };
    for (state, number) in [
        ("R", 0),
        ("R+", 256),
        ("S", 1),
        ("D", 2),
        ("D|K", 0x82),
        ("X", 16),
        ("Z", 32),
        ("I", 128),
        ("P", 64),
        ("W", 128),
    ] {
        let kernel = format!(
            "prev_comm=a b prev_pid=5 prev_prio=98 prev_state={state} ==> next_comm=swapper/1 next_pid=0 next_prio=120"
        );
        let trace_cmd = format!("a b:5 [98] {state} ==> swapper/1:0 [120]");
        for name in ["sched_switch", "sched:sched_switch"] {
            for text in [&kernel, &trace_cmd] {
                assert_eq!(
                    payload(&format!("a b-5 [001] d..2. 1.5: {name}: {text}")),
                    fields(state, number),
                    "{text}"
                );
            }
        }
    }
    let unknown = payload("a-5 [001] 1.5: sched_switch: a:5 [98] Q ==> b:0 [120]");
    assert!(unknown["prev_state"] == "Q" && unknown.get("prev_state.value").is_none());
    let woken = json!({"comm": "a:b", "pid": 5, "prio": -1, "target_cpu": 3});
    assert_eq!(payload("a-5 [001] 1.5: sched_wakeup: a:b:5 [-1] CPU:003"), woken);
    let with_success = payload("a-5 [001] 1.5: sched_wakeup_new: a:b:5 [-1] success=1 CPU:003");
    assert_eq!(with_success["success"], 1);
    assert_eq!(payload("a-5 [001] 1.5: sched_wakeup: a:b:5 [-1] CPU")["text"], "a:b:5 [-1] CPU");
}

#[test]
fn lines_without_an_event_are_distinguished() {
    for (line, expected) in [
        ("CPU:2 [LOST 12 EVENTS]", Kind::Lost(2)),
        ("CPU:2 [LOST EVENTS]", Kind::Lost(2)),
        ("CPU:13 [4 EVENTS DROPPED]", Kind::Lost(13)),
        ("CPU:13 [EVENTS DROPPED]", Kind::Lost(13)),
        ("CPU:9999 [EVENTS DROPPED]", Kind::Unknown),
        ("# tracer: nop", Kind::NoEvent),
        ("##### CPU 1 buffer started ####", Kind::Started(1)),
        ("##### CPU one buffer started ####", Kind::NoEvent),
        (" => do_syscall_64", Kind::NoEvent),
        ("cpus=4", Kind::NoEvent),
        ("CPU 3 is empty", Kind::NoEvent),
        ("", Kind::NoEvent),
        ("cpus=four", Kind::Unknown),
        (" 0)   0.541 us    |  mutex_lock();", Kind::Unknown),
        ("bash-1977 [000] .... 12: x: a=1", Kind::Unknown),
        ("bash-1977 [000] .... 12.5: ", Kind::Unknown),
        ("bash-1977 [9000] .... 12.5: x: a=1", Kind::Unknown),
        ("bash [000] .... 12.5: x: a=1", Kind::Unknown),
    ] {
        assert_eq!(kind(line.as_bytes()), expected, "{line}");
    }
}

/// Each in one pass: one that looks at the rest of the line for each bracket or field would take minutes.
#[test]
fn long_lines_of_brackets_and_of_fields_are_read_in_time() {
    let blanks = " ".repeat(400_000);
    for line in [
        "[".repeat(1_000_000),
        format!("{}]", "[".repeat(1_000_000)),
        "[1]".repeat(300_000),
        format!("{}{blanks}", "[1] 1.1: x ".repeat(50_000)),
        format!("({}{}", "1".repeat(400_000), ")[1] 1.1: x: ".repeat(40_000)),
    ] {
        assert_eq!(kind(line.as_bytes()), Kind::Unknown, "{}", &line[..20]);
    }
    let fields: String = (0..100_000).map(|n| format!(" a{n}={n}")).collect();
    let of = payload(&format!("bash-1977 [000] 1.1: x:{fields}"));
    assert_eq!((of.as_object().unwrap().len(), &of["a99999"]), (100_000, &json!(99_999)));
    let twice = payload(&format!("bash-1977 [000] 1.1: x:{fields} a40000=7"));
    assert_eq!((&twice["a40000"], twice["text"].is_string()), (&json!(40_000), true));
}
