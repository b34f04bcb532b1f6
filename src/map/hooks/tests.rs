//! Words of hook variables against the events that follow from them, by hand.

use super::*;
use crate::description::StoredSetup;
use crate::map::printed;
use crate::time::TimeScale;

/// Two cores, tasks `T` and `U` of `A`, an ISR `I` of `A`, an idle task; ids as below.
const IDS: &str = "kind,id,name,core\ntask,0,T,A\ntask,1,U,A\nisr,2,I,A\nidle,3,Idle,A\nnone,4,NOBODY,\n";

/// States of the variable `w`, whose words are 0xSSII: state and id; 0x8000 is the second core.
const STATES: &str = "states = { 1 = \"activate\", 2 = \"start\", 3 = \"run\", 4 = \"resume\", 5 = \"preempt\", 6 = \"ready\", \
    7 = \"wait\", 8 = \"release\", 9 = \"terminate\", 10 = \"queue\" }";

fn mapper() -> HookMapper {
    mapper_of("core_mask = 0x8000")
}

fn mapper_of(core: &str) -> HookMapper {
    let text = format!("name = \"w\"\nid_mask = 0xFF\nstate_mask = 0xF00\n{core}\nids = \"i\"\n{STATES}\n");
    let file = serde_json::json!({ "path": "i", "text": IDS });
    let setup = serde_json::json!({
        "os": "hooks", "runnables": [], "signals": [], "category1_isrs": [], "task_functions": {}, "aliases": {}, "oil": [],
        "hook_variables": [serde_json::to_value(toml::from_str::<toml::Value>(&text).unwrap()).unwrap()],
        "hook_ids": [file],
        "cores": [{ "name": "A", "oil": [] }, { "name": "B", "oil": [] }],
    });
    let setup: StoredSetup = serde_json::from_value(setup).unwrap();
    let recording = Recording { begin: 0, end: 1000, time_scale: TimeScale::Ns, gaps: &[] };
    HookMapper::new(setup, &recording).unwrap()
}

/// What words at their times become, see `printed`.
fn mapped(words: &[(i64, u64)]) -> String {
    let mut mapper = mapper();
    for (time, value) in words {
        mapper.event(&Word { time: *time, export: 0, variable: 0, value: *value });
    }
    let finished = mapper.finish();
    text(&mapper, &finished)
}

fn text(mapper: &HookMapper, finished: &Finished<HookMapper>) -> String {
    printed::lines(mapper.names(), finished).iter().map(|line| format!("{line}\n")).collect()
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn activations_number_the_instances_and_the_oldest_one_runs() {
    let found = mapped(&[(1, 0x100), (2, 0x300), (3, 0x100), (4, 0x900), (5, 0x200), (6, 0x900)]);
    let expected = [
        "1 STI_T T0 activate",
        "2 A T0 start",
        "3 STI_T T1 activate",
        "4 A T0 terminate",
        "5 A T1 start",
        "6 A T1 terminate",
    ];
    assert_eq!(found, lines(&expected));
}

#[test]
fn what_gets_the_core_starts_or_goes_on() {
    let found =
        mapped(&[(1, 0x100), (2, 0x300), (3, 0x600), (4, 0x300), (5, 0x700), (6, 0x600), (7, 0x8300)]);
    let expected = [
        "1 STI_T T0 activate",
        "2 A T0 start",
        "3 A T0 preempt",
        "4 A T0 resume",
        "5 A T0 wait",
        "6 A T0 release",
        "7 B T0 resume",
    ];
    assert_eq!(found, lines(&expected));
}

#[test]
fn what_leaves_the_core_at_an_instant_does_so_first() {
    let found = mapped(&[(1, 0x100), (1, 0x200), (2, 0x302), (2, 0x500), (3, 0x902), (3, 0x400)]);
    let expected = [
        "1 STI_T T0 activate",
        "1 A T0 start",
        "2 A T0 preempt",
        "2 A I0 start",
        "3 A I0 terminate",
        "3 A T0 resume",
    ];
    assert_eq!(found, lines(&expected));
}

#[test]
fn what_has_begun_before_is_said_to_be_so() {
    // Whether it starts or goes on is not known; that it runs is.
    let run = lines(&["?1 STI_T T0 activate", "!1 A T0 start", "=1 T0 running", "2 A T0 terminate"]);
    assert_eq!(mapped(&[(1, 0x300), (2, 0x900)]), run);
    let resume = lines(&["?1 STI_T T0 activate", "!1 A T0 start", "!1 A T0 preempt", "1 A T0 resume"]);
    assert_eq!(mapped(&[(1, 0x400)]), resume);
    let ready = lines(&["?1 STI_T T0 activate", "!1 A T0 start", "!1 A T0 preempt", "=1 T0 ready"]);
    assert_eq!(mapped(&[(1, 0x600)]), ready);
    // The activation of an ISR is not written.
    assert_eq!(mapped(&[(1, 0x302), (2, 0x902)]), lines(&["1 A I0 start", "2 A I0 terminate"]));
}

#[test]
fn lost_writes_are_counted_and_nothing_is_said_in_between() {
    let found = mapped(&[(1, 0x100), (2, 0x200), (5, 0x400), (6, 0x100), (7, 0x200)]);
    let expected = [
        "1 STI_T T0 activate",
        "2 A T0 start",
        "-2 T0",
        "!5 A T0 preempt",
        "5 A T0 resume",
        "6 STI_T T1 activate",
        "-5 T0",
        "!7 A T0 terminate",
        "7 A T1 start",
        "lost-writes: 2 writes of hook variables do not follow from what was written before: others were lost, and nothing is \
         said of their processes in between",
    ];
    assert_eq!(found, lines(&expected));
}

#[test]
fn behind_a_gap_all_is_as_at_the_begin() {
    let mut mapper = mapper();
    let word = |time, value| Word { time, export: 0, variable: 0, value };
    for word in [word(1, 0x100), word(2, 0x200), word(3, 0x500), word(4, 0x101)] {
        mapper.event(&word);
    }
    mapper.gap(&Gap { core: Some("A".into()), begin: 10, end: 20 });
    mapper.event(&word(30, 0x300));
    let finished = mapper.finish();
    let expected = [
        "1 STI_T T0 activate",
        "2 A T0 start",
        "3 A T0 preempt",
        "4 STI_U U0 activate",
        "-10 T0",
        "!10 A T0 resume",
        "!10 A T0 terminate",
        "-10 U0",
        "!10 A U0 start",
        "!10 A U0 terminate",
        "gap A 10 20",
        "?30 STI_T T1 activate",
        "!30 A T1 start",
        "=30 T1 running",
    ];
    assert_eq!(text(&mapper, &finished), lines(&expected));
}

#[test]
fn idle_tasks_and_nobody_have_no_events_and_what_is_unknown_is_counted() {
    let found = mapped(&[(1, 0x303), (2, 0x304), (3, 0), (4, 0x307), (5, 0xF00), (6, 0xF00)]);
    let expected = [
        "hook-cleared: 1 writes clear 'w': they say nothing",
        "hook-state: 2 writes of 'w' have state 15, which has no meaning: see 'states'",
        "hook-id: 1 writes of 'w' have id 7, which is not in the list of ids",
    ];
    assert_eq!(found, lines(&expected));
}

#[test]
fn a_variable_without_writes_and_very_many_cores_are_reported() {
    let none = "unknown-name: the recording has no writes of the hook variable 'w'";
    assert!(mapped(&[]).contains(none), "{}", mapped(&[]));
    let mut mapper = mapper_of("core_mask = 0xFFFF0000");
    for core in 0..300 {
        mapper.event(&Word { time: 0, export: 0, variable: 0, value: core << 16 | 0x100 });
    }
    let finished = mapper.finish();
    let found = text(&mapper, &finished);
    // Two of them are described.
    assert!(found.contains("198 writes of 'w' name yet other cores"), "{found}");
}

/// Task `T` of `A` and `U` of `B` by the variable `w`; runnables, spinlocks and services by others. The words
/// are 0xSSII; 0x8000 is the second core.
fn mapper_of_objects() -> HookMapper {
    let variable = |name: &str, states: &str, ids: &str| {
        let text = format!(
            "name = \"{name}\"\nid_mask = 0xFF\nstate_mask = 0xF00\ncore_mask = 0x8000\nids = \"{ids}\"\nstates = {{ {states} }}\n"
        );
        serde_json::to_value(toml::from_str::<toml::Value>(&text).unwrap()).unwrap()
    };
    let file = |path: &str, rows: &str| serde_json::json!({ "path": path, "text": format!("kind,id,name,core\n{rows}") });
    let steps = "1 = \"start\", 2 = \"preempt\", 3 = \"resume\", 4 = \"terminate\"";
    let setup = serde_json::json!({
        "os": "hooks", "runnables": [], "signals": [], "category1_isrs": [], "task_functions": {}, "aliases": {}, "oil": [],
        "hook_variables": [
            variable("w", steps, "p"),
            variable("r", "1 = \"start\", 2 = \"terminate\", 3 = \"return\"", "r"),
            variable("s", "1 = \"lock\", 2 = \"unlock\", 3 = \"request\"", "s"),
            variable("c", "1 = \"enter\", 2 = \"exit\"", "c"),
        ],
        "hook_ids": [
            file("p", "task,0,T,A\ntask,1,U,B\nidle,2,I,A\n"),
            file("r", "runnable,0,R,\nrunnable,1,Q,\n"),
            file("s", "spinlock,0,S,\n"),
            file("c", "service,0,Get,\n"),
        ],
        "cores": [{ "name": "A", "oil": [] }, { "name": "B", "oil": [] }],
    });
    let setup: StoredSetup = serde_json::from_value(setup).unwrap();
    let recording = Recording { begin: 0, end: 1000, time_scale: TimeScale::Ns, gaps: &[] };
    HookMapper::new(setup, &recording).unwrap()
}

/// What words become: time, variable, value.
fn mapped_objects(words: &[(i64, usize, u64)]) -> (String, Finished<HookMapper>) {
    let mut mapper = mapper_of_objects();
    for (time, variable, value) in words {
        mapper.event(&Word { time: *time, export: 0, variable: *variable, value: *value });
    }
    let finished = mapper.finish();
    let unwritten = |line: &&str| !line.starts_with("unknown-name");
    let text = text(&mapper, &finished);
    (text.lines().filter(unwritten).map(|line| format!("{line}\n")).collect(), finished)
}

#[test]
fn runnables_run_in_the_process_of_their_core() {
    let words = [
        (1, 1, 0x100),
        (2, 0, 0x100),
        (3, 1, 0x100),
        (4, 1, 0x101),
        (5, 0, 0x200),
        (6, 0, 0x300),
        (7, 1, 0x200),
        (8, 1, 0x200),
        (9, 0, 0x400),
    ];
    let expected = [
        "0 S S0 ready",
        "?2 STI_T T0 activate",
        "2 A T0 start",
        "3 T R0 start",
        "4 T Q0 start",
        "5 T Q0 suspend",
        "5 T R0 suspend",
        "5 A T0 preempt",
        "6 A T0 resume",
        "6 T R0 resume",
        "6 T Q0 resume",
        "7 T Q0 terminate",
        "7 T R0 terminate",
        "9 A T0 terminate",
        "runnable-of-nobody: 2 runnables start or stop where no process runs, or did not start",
    ];
    assert_eq!(mapped_objects(&words).0, lines(&expected));
}

#[test]
fn spinlocks_have_one_owner() {
    let words = [
        (1, 0, 0x100),
        (2, 0, 0x8101),
        (3, 2, 0x8200),
        (4, 2, 0x100),
        (5, 2, 0x200),
        (6, 2, 0x100),
        (7, 2, 0x8100),
        (8, 2, 0x8200),
    ];
    let expected = [
        "0 S S0 ready",
        "?1 STI_T T0 activate",
        "1 A T0 start",
        "?2 STI_U U0 activate",
        "2 B U0 start",
        // Nothing was known of it.
        "!3 U S0 requestsemaphore",
        "!3 S S0 lock",
        "!3 U S0 assigned",
        "3 U S0 released",
        "3 S S0 unlock",
        "4 T S0 requestsemaphore",
        "4 S S0 lock",
        "4 T S0 assigned",
        "5 T S0 released",
        "5 S S0 unlock",
        "6 T S0 requestsemaphore",
        "6 S S0 lock",
        "6 T S0 assigned",
        // That it was given back was lost.
        "!7 T S0 released",
        "!7 S S0 unlock",
        "7 U S0 requestsemaphore",
        "7 S S0 lock",
        "7 U S0 assigned",
        "8 U S0 released",
        "8 S S0 unlock",
        "lost-locks: 1 steps of spinlocks do not follow from those before: others were lost",
    ];
    assert_eq!(mapped_objects(&words).0, lines(&expected));
}

#[test]
fn calls_are_inside_each_other() {
    let words = [
        (1, 0, 0x100),
        (2, 3, 0x100),
        (3, 3, 0x105),
        (4, 0, 0x8101),
        // Of the other core: no call of its own.
        (5, 3, 0x8200),
        (6, 3, 0x205),
        (7, 3, 0x200),
        (8, 3, 0x100),
        (9, 0, 0x400),
        (10, 3, 0x107),
    ];
    let (text, mut finished) = mapped_objects(&words);
    assert!(text.contains("call-without-begin: 1 services"), "{text}");
    let batch = super::super::NativeRows::take_batches(&mut finished.rows).unwrap().remove(0);
    let rows = crate::schema::OsCallView::of(&batch).unwrap();
    let line = |row: crate::schema::OsCallRow<'_>| {
        let text =
            |name: Option<crate::names::Name<'_>>| name.map_or("-".to_owned(), |name| name.text().to_owned());
        let (process, name) = (text(row.process), text(row.name));
        format!("{process} {} {name} {} {} {:?}", row.service, row.depth, row.enter_at, row.exit_at)
    };
    let found: Vec<String> = rows.rows().map(line).collect();
    let expected = ["T 5 - 1 3 Some(6)", "T 0 Get 0 2 Some(7)", "T 0 Get 0 8 None", "- 7 - 0 10 None"];
    assert_eq!(found, expected);
}

#[test]
fn who_asks_for_a_spinlock_waits_for_it() {
    let words = [
        (1, 0, 0x100),
        (2, 0, 0x8101),
        (3, 2, 0x300),
        (4, 2, 0x100),
        (5, 2, 0x8300),
        // Once more: it has asked.
        (6, 2, 0x8300),
        (7, 2, 0x200),
        (8, 2, 0x8100),
        (9, 2, 0x8200),
    ];
    let expected = [
        "0 S S0 ready",
        "?1 STI_T T0 activate",
        "1 A T0 start",
        "?2 STI_U U0 activate",
        "2 B U0 start",
        // Whether another one has it is not known.
        "3 T S0 requestsemaphore",
        "4 S S0 lock",
        "4 T S0 assigned",
        "5 U S0 requestsemaphore",
        "5 S S0 overfull",
        "5 U S0 waiting",
        "7 T S0 released",
        "7 S S0 full",
        "7 S S0 unlock",
        "8 S S0 lock",
        "8 U S0 assigned",
        "9 U S0 released",
        "9 S S0 unlock",
    ];
    assert_eq!(mapped_objects(&words).0, lines(&expected));
}

#[test]
fn who_waits_for_a_spinlock_in_a_gap_does_not_wait_behind_it() {
    let mut mapper = mapper_of_objects();
    let words = [(1, 0, 0x100), (2, 0, 0x8101), (4, 2, 0x100), (5, 2, 0x8300)];
    for (time, variable, value) in words {
        mapper.event(&Word { time, export: 0, variable, value });
    }
    mapper.gap(&Gap { core: Some("B".into()), begin: 10, end: 20 });
    mapper.event(&Word { time: 30, export: 0, variable: 2, value: 0x200 });
    let finished = mapper.finish();
    let found = text(&mapper, &finished);
    assert!(
        found.contains("!10 S S0 full\n") && found.contains("30 T S0 released\n30 S S0 unlock\n"),
        "{found}"
    );
}

#[test]
fn a_word_may_end_the_runnable_that_was_called_last() {
    let words = [(2, 0, 0x100), (3, 1, 0x100), (4, 1, 0x101), (5, 1, 0x300), (6, 1, 0x300), (7, 1, 0x300)];
    let expected = [
        "0 S S0 ready",
        "?2 STI_T T0 activate",
        "2 A T0 start",
        "3 T R0 start",
        "4 T Q0 start",
        "5 T Q0 terminate",
        "6 T R0 terminate",
        "runnable-of-nobody: 1 runnables start or stop where no process runs, or did not start",
    ];
    assert_eq!(mapped_objects(&words).0, lines(&expected));
}

#[test]
fn what_is_ready_behind_its_end_is_activated() {
    let found = mapped(&[
        (1, 0xA00),
        (2, 0x300),
        (3, 0xA00),
        (4, 0x300),
        (5, 0x900),
        (6, 0xA00),
        (7, 0xA00),
        (8, 0x300),
    ]);
    let expected = [
        // Nothing was known of it.
        "?1 STI_T T0 activate",
        "!1 A T0 start",
        "!1 A T0 preempt",
        "=1 T0 ready",
        "2 A T0 resume",
        "3 A T0 preempt",
        "4 A T0 resume",
        "5 A T0 terminate",
        "6 STI_T T1 activate",
        "8 A T1 start",
    ];
    assert_eq!(found, lines(&expected));
    // Behind a gap, whether it has ended is not known.
    let mut mapper = mapper();
    let word = |time, value| Word { time, export: 0, variable: 0, value };
    [word(1, 0x100), word(2, 0x200), word(3, 0x900)].iter().for_each(|word| mapper.event(word));
    mapper.gap(&Gap { core: Some("A".into()), begin: 10, end: 20 });
    mapper.event(&word(30, 0xA00));
    let finished = mapper.finish();
    let found = text(&mapper, &finished);
    assert!(found.contains("=30 T1 ready") && !found.contains("\n30 STI_T T1 activate"), "{found}");
}

/// A core of EB tresos AutoCore: task `T` is 1, ISRs `I` and `J` are 0 and 1.
fn mapped_autocore(words: &[(i64, usize, u64)]) -> String {
    let orti = "VERSION { KOIL = \"2.2\"; OSSEMANTICS = \"ORTI\", \"2.2\"; };\nIMPLEMENTATION x { OS { TOTRACE ENUM \
        \"unsigned char\" [ \"NO_TASK\" = 255, \"T\" = 1 ] vs_SIGNAL_RUNNINGTASK, \"r\"; TOTRACE ENUM \
        \"unsigned char\" [ \"I\" = 0, \"J\" = 1, \"NO_ISR\" = 255 ] vs_SIGNAL_RUNNINGISR2, \"r\"; }, \"OS\"; };\nOS o { };\n";
    let variable = |name: &str| serde_json::json!({ "name": name });
    let setup = serde_json::json!({
        "os": "hooks", "runnables": [], "signals": [], "category1_isrs": [], "task_functions": {}, "aliases": {}, "oil": [],
        "hook_variables": [variable("winidea_os_task"), variable("winidea_os_isr")],
        "cores": [{ "name": "A", "oil": [], "orti": { "path": "o", "text": orti } }],
    });
    let setup: StoredSetup = serde_json::from_value(setup).unwrap();
    let recording = Recording { begin: 0, end: 1000, time_scale: TimeScale::Ns, gaps: &[] };
    let mut mapper = HookMapper::new(setup, &recording).unwrap();
    for (time, variable, value) in words {
        mapper.event(&Word { time: *time, export: 0, variable: *variable, value: *value });
    }
    let finished = mapper.finish();
    let text = text(&mapper, &finished);
    text.lines().filter(|line| !line.starts_with("unknown-name")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_an_isr_interrupts_goes_on_behind_it() {
    let words = [
        (100, 0, 0x201),
        (110, 0, 0x501),
        (200, 1, 0x500),
        (210, 1, 0x501),
        (220, 1, 0x001),
        (230, 1, 0x000),
        // What the ISR has done makes the task ready, which it was when it was interrupted.
        (300, 1, 0x500),
        (310, 0, 0x401),
        (320, 1, 0x000),
        (330, 0, 0x501),
        (500, 0, 0x001),
    ];
    let expected = [
        "100 STI_T T0 activate",
        "110 A T0 start",
        "200 A T0 preempt",
        "200 A I0 start",
        "210 A I0 preempt",
        "210 A J0 start",
        "220 A J0 terminate",
        "220 A I0 resume",
        "230 A I0 terminate",
        "230 A T0 resume",
        "300 A T0 preempt",
        "300 A I1 start",
        "320 A I1 terminate",
        "330 A T0 resume",
        "500 A T0 terminate",
    ];
    assert_eq!(mapped_autocore(&words), lines(&expected));
}

#[test]
fn a_pending_activation_follows_the_end_of_what_runs() {
    let words = [(100, 0, 0x201), (110, 0, 0x501), (200, 0, 0x201), (202, 0, 0x501), (300, 0, 0x001)];
    let expected = [
        "100 STI_T T0 activate",
        "110 A T0 start",
        "200 A T0 terminate",
        "200 STI_T T1 activate",
        "202 A T1 start",
        "300 A T1 terminate",
    ];
    assert_eq!(mapped_autocore(&words), lines(&expected));
}

#[test]
fn a_spinlock_is_given_back_at_an_instant_before_another_core_gets_it() {
    // The words of core 0 come first.
    let words = [(1, 0, 0x100), (2, 0, 0x8101), (3, 2, 0x8100), (5, 2, 0x100), (5, 2, 0x8200), (6, 2, 0x200)];
    let (text, _) = mapped_objects(&words);
    let of_lock: Vec<&str> = text.lines().skip(8).collect();
    let expected = [
        "5 U S0 released",
        "5 S S0 unlock",
        "5 T S0 requestsemaphore",
        "5 S S0 lock",
        "5 T S0 assigned",
        "6 T S0 released",
        "6 S S0 unlock",
    ];
    assert_eq!(of_lock, expected, "{text}");
}

#[test]
fn who_ends_waits_for_no_spinlock() {
    let words = [
        (1, 0, 0x100),
        (2, 0, 0x8101),
        (3, 2, 0x100),
        (4, 2, 0x8300),
        (5, 0, 0x8401),
        (6, 2, 0x200),
        (7, 0, 0x8101),
        (8, 2, 0x8100),
        (9, 2, 0x8200),
    ];
    let (text, _) = mapped_objects(&words);
    let of_lock: Vec<&str> = text.lines().filter(|line| line.contains(" S0 ")).skip(4).collect();
    let expected = [
        "4 U S0 requestsemaphore",
        "4 S S0 overfull",
        "4 U S0 waiting",
        "!5 S S0 full",
        "6 T S0 released",
        "6 S S0 unlock",
        "8 U S0 requestsemaphore",
        "8 S S0 lock",
        "8 U S0 assigned",
        "9 U S0 released",
        "9 S S0 unlock",
    ];
    assert_eq!(of_lock, expected, "{text}");
}
