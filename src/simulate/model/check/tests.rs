//! Tests of the checks, with the text of models. Not of reading it.

use std::path::Path;

use super::*;
use crate::simulate::model::{Distribution, Runs};

/// Two cores, two tasks, an ISR of each category, and one of everything else. `{}` are the steps of `T_1`.
const BASE: &str = r#"duration = "1s"
core = [{ name = "C_0" }, { name = "C_1" }]
signal = [{ name = "SIG" }]
resource = [{ name = "RES" }, { name = "RES_2" }]
spinlock = [{ name = "SPIN" }]
alarm = [{ name = "A_1", activate = "T_1", period = "10ms" }, { name = "A_2", activate = "T_2", period = "10ms" }]
[[task]]
name = "T_2"
core = "C_1"
priority = 1
events = ["E_1"]
[[task]]
name = "T_1"
core = "C_0"
priority = 1
"#;

/// The error of a model with these lines after [`BASE`], and its line there.
fn mistake(lines: &str) -> (i64, String, String) {
    let text = format!("{BASE}{lines}");
    let error = Model::parse(&text, Path::new("m.toml")).expect_err(&text);
    let shown = error.to_string();
    let line = shown.split(':').nth(1).and_then(|line| line.parse::<i64>().ok());
    let line = line.map_or(-1, |line| line - BASE.lines().count() as i64);
    (line, shown, error.hints().join("; "))
}

fn warnings(lines: &str) -> Vec<(&'static str, Option<u64>, String)> {
    let text = format!("{BASE}{lines}");
    let (_, log) = Model::parse(&text, Path::new("m.toml")).unwrap();
    log.entries().iter().map(|entry| (entry.code, entry.line, entry.message.clone())).collect()
}

fn runnable(name: &str, steps: &str) -> String {
    format!("[[runnable]]\nname = \"{name}\"\nsteps = [{steps}]\n")
}

fn isr(category: u32, arrivals: &str, steps: &str) -> String {
    format!(
        "[[isr]]\nname = \"I\"\ncore = \"C_0\"\npriority = 1\ncategory = {category}\n{arrivals}\nsteps = [{steps}]\n"
    )
}

#[test]
fn mistakes_of_steps_have_their_line() {
    for (step, message) in [
        (r#"{ release_resource = "RES" }"#, "task 'T_1' releases resource 'RES', which it has not taken"),
        (r#"{ get_resource = "RES" }, { get_resource = "RES" }"#, "'RES', which it holds already"),
        (
            r#"{ get_spinlock = "SPIN" }, { terminate = true }"#,
            "terminate while task 'T_1' holds spinlock 'SPIN'",
        ),
        (r#"{ get_resource = "RES" }, { schedule = true }"#, "schedule while task 'T_1' holds"),
        (
            r#"{ get_resource = "RES" }, { get_resource = "RES_2" }, { release_resource = "RES" }"#,
            "releases resource 'RES' before resource 'RES_2'",
        ),
        (
            r#"{ branch = 0.5, then = [{ get_resource = "RES" }] }, { release_resource = "RES" }"#,
            "after this branch task 'T_1' holds resource 'RES' one way, and nothing the other",
        ),
        (
            r#"{ repeat = 2, steps = [{ get_resource = "RES" }] }"#,
            "begins with nothing held, and ends with resource 'RES'",
        ),
        ("{ repeat = 2, steps = [{ terminate = true }] }", "ends in what is repeated"),
        (r#"{ terminate = true }, { execute = "1ms" }"#, "execute never comes after the end of task 'T_1'"),
        (
            r#"{ branch = 1, then = [{ chain = "T_1" }], else = [{ terminate = true }] }, { schedule = true }"#,
            "schedule never comes after the end",
        ),
        (r#"{ wait_event = "E_1" }"#, "wait_event of 'E_1' by task 'T_1', which is a basic task"),
        (r#"{ set_event = "E_1", task = "T_1" }"#, "sets event 'E_1' for task 'T_1', which does not list it"),
        ("{ branch = 1.5, then = [{ schedule = true }] }", "the probability of a branch is 1.5"),
        ("{ repeat = 0, steps = [] }", "repeat = 0 does nothing"),
        (r#"{ try_to_get_spinlock = "SPIN", every = 0 }"#, "tries every 0 ns"),
        (r#"{ execute = { uniform = ["2ms", "1ms"] } }"#, "2000000 ns, exceeds the greatest one, 1000000 ns"),
        (
            r#"{ execute = { weibull = { shape = 0, scale = "1ms", max = "2ms" } } }"#,
            "shape of a distribution is 0",
        ),
        (
            r#"{ turns = [{ steps = [{ get_resource = "RES" }] }, { times = 2, steps = [] }] }"#,
            "after these turns task 'T_1' holds resource 'RES' one way, and nothing the other",
        ),
        (
            r#"{ turns = [{ steps = [{ terminate = true }] }, { steps = [{ chain = "T_1" }] }] }, { schedule = true }"#,
            "schedule never comes after the end",
        ),
        (
            r#"{ repeat = 2, steps = [{ turns = [{ steps = [{ terminate = true }] }] }] }"#,
            "ends in what is repeated",
        ),
        (
            r#"{ get_resource = "RES" }, { turns = [{ steps = [] }, { steps = [{ terminate = true }] }] }"#,
            "terminate while task 'T_1' holds resource 'RES'",
        ),
        (r#"{ turns = [{ steps = [{ chain = "T_2" }] }] }"#, "task 'T_1' chains a task of another core"),
        (r#"{ execute = { beta = { alpha = 1, beta = -2, max = "2ms" } } }"#, "beta of a distribution is -2"),
    ] {
        let lines = format!("steps = [\n{step}\n]\n");
        let (line, shown, hints) = mistake(&lines);
        assert!(line == 2 && shown.contains(message) && !hints.is_empty(), "{step}\n{line}: {shown}");
    }
}

#[test]
fn calls_are_followed() {
    let (line, shown, hints) = mistake(&format!(
        "steps = [{{ get_resource = \"RES\" }}, {{ call = \"R_1\" }}]\n{}{}",
        runnable("R_1", r#"{ call = "R_2" }, { release_resource = "RES" }"#),
        runnable("R_2", r#"{ get_resource = "RES" }, { release_resource = "RES" }"#),
    ));
    assert!(line == 7 && shown.contains("which it holds already"), "{shown}");
    assert!(hints.contains("called by task 'T_1' → R_1 → R_2"), "{hints}");
    // What a runnable takes, another one or the task may release.
    let text = format!(
        "{BASE}steps = [{{ call = \"R_1\" }}, {{ release_resource = \"RES\" }}]\n{}",
        runnable("R_1", r#"{ get_resource = "RES" }"#),
    );
    assert!(Model::parse(&text, Path::new("m.toml")).is_ok());
    let (line, shown, _) = mistake("steps = [{ get_resource = \"RES\" }]\n");
    assert!(line < 0 && shown.contains("task 'T_1' ends and still holds resource 'RES'"), "{shown}");
}

#[test]
fn a_cycle_of_calls_is_named() {
    let (line, shown, _) = mistake(&format!(
        "{}{}{}",
        runnable("R_1", r#"{ call = "R_2" }"#),
        runnable("R_2", r#"{ branch = 0.1, then = [{ call = "R_3" }] }"#),
        runnable("R_3", r#"{ call = "R_2" }"#),
    ));
    assert!(line == 9 && shown.ends_with("in a cycle: R_2 → R_3 → R_2"), "{shown}");
    let deep = |count: usize| -> String {
        let call = |n: usize| runnable(&format!("R_{n}"), &format!("{{ call = \"R_{}\" }}", n + 1));
        (0..count).map(call).collect::<String>() + &runnable(&format!("R_{count}"), "{ execute = 1 }")
    };
    assert!(mistake(&deep(500)).1.contains("calls are too deep"));
    assert!(Model::parse(&format!("{BASE}{}", deep(90)), Path::new("m.toml")).is_ok());
}

#[test]
fn steps_nest_to_a_depth_that_the_stack_can_take() {
    let nested = |depth: usize, inner: &str| {
        format!("{}{inner}{}", "{ repeat = 1, steps = [".repeat(depth), "] }".repeat(depth))
    };
    let deepest = nested(31, r#"{ call = "R_0" }"#);
    let mut text = format!("{BASE}steps = [{deepest}]\n");
    for n in 0..3 {
        text += &runnable(&format!("R_{n}"), &nested(30, &format!("{{ call = \"R_{}\" }}", n + 1)));
    }
    text += &runnable("R_3", "{ execute = 1 }");
    let deeper =
        |n: usize| runnable(&format!("X_{n}"), &nested(30, &format!("{{ call = \"X_{}\" }}", n + 1)));
    let deeper = (0..200).map(deeper).collect::<String>() + &runnable("X_200", "");
    assert!(mistake(&deeper).1.contains("calls are too deep"));
    Model::parse(&text, Path::new("m.toml")).unwrap();
    let (line, shown, _) = mistake(&format!("steps = [{}]\n", nested(32, "{ execute = 1 }")));
    assert!(line == 1 && shown.contains("nested deeper than 32"), "{shown}");
    let (line, shown, _) = mistake(&format!("steps = [{}]\n", nested(500, "{ execute = 1 }")));
    assert!(line == 1, "{shown}");
    // Turns are two levels, so that the reader of TOML can take as many as the checks allow.
    let turns = |depth: usize| {
        let inner = "{ execute = { in_turn = [{ value = 1 }] } }";
        format!("{}{inner}{}", "{ turns = [{ steps = [".repeat(depth), "] }] }".repeat(depth))
    };
    Model::parse(&format!("{BASE}steps = [{}]\n", turns(15)), Path::new("m.toml")).unwrap();
    let (line, shown, _) = mistake(&format!("steps = [{}]\n", turns(16)));
    assert!(line == 1 && shown.contains("nested deeper than 32"), "{shown}");
}

#[test]
fn isrs_call_only_what_they_may() {
    let periodic = "periodic = { period = \"1ms\" }";
    for (category, step, message) in [
        (2, r#"{ wait_event = "E_1" }"#, "ISR 'I' cannot wait_event, as it is no task"),
        (2, r#"{ get_resource = "RES" }"#, "ISR 'I' cannot get_resource"),
        (2, "{ terminate = true }", "ISR 'I' cannot terminate"),
        (2, r#"{ chain = "T_1" }"#, "ISR 'I' cannot chain"),
        (1, r#"{ activate = "T_1" }"#, "ISR 'I' of category 1 cannot activate"),
        (1, r#"{ call = "R" }"#, "ISR 'I' of category 1 cannot set_event"),
    ] {
        let called = runnable("R", r#"{ set_event = "E_1", task = "T_2" }"#);
        let (_, shown, _) = mistake(&(called + &isr(category, periodic, step)));
        assert!(shown.contains(message), "{step}\n{shown}");
    }
    let fine =
        isr(2, periodic, r#"{ activate = "T_1" }, { get_spinlock = "SPIN" }, { release_spinlock = "SPIN" }"#);
    assert!(warnings(&fine).is_empty());
}

#[test]
fn arrivals_have_to_be_possible() {
    for (arrivals, message) in [
        ("periodic = { period = 0 }", "has a period of 0"),
        ("periodic = { period = 5, jitter = 6 }", "a jitter that is longer than its period"),
        ("sporadic = { distance = 0 }", "has a distance of 0"),
        ("sporadic = { distance = 1, more = { uniform = [2, 1] } }", "exceeds the greatest one"),
        ("at = []", "has no instant"),
        ("at = [2, 1]", "instants that do not rise"),
        ("curve = { limits = [] }", "a curve without limits"),
        ("curve = { limits = [[0, 5]] }", "a curve that cannot be kept"),
        ("curve = { limits = [[1, 5], [2, 5]] }", "two limits contradict each other"),
        ("at = [1]\nperiodic = { period = 5 }", "needs one of periodic, sporadic, at and curve"),
        ("", "needs one of periodic, sporadic, at and curve"),
    ] {
        let (line, shown, _) = mistake(&isr(2, arrivals, ""));
        assert!(line == 2 && shown.contains(message), "{arrivals}\n{shown}");
    }
}

#[test]
fn names_are_used_once() {
    for (lines, message) in [
        (runnable("T_1", ""), "'T_1' is the name of a task and of a runnable"),
        (runnable("E_1", ""), "'E_1' is the name of an event and of a runnable"),
        (runnable("A", "") + &runnable("A", ""), "'A' is the name of a runnable twice"),
        (runnable("1,2", ""), "'1,2' cannot be the name of a runnable"),
        (runnable("", ""), "'' cannot be the name of a runnable"),
    ] {
        let (line, shown, _) = mistake(&lines);
        assert!(
            line > 0 && shown.contains(message),
            "{lines}
{shown}"
        );
    }
}

#[test]
fn tasks_alarms_and_tables_have_to_be_possible() {
    let task = |keys: &str| format!("[[task]]\nname = \"T_3\"\ncore = \"C_1\"\npriority = 0\n{keys}\n");
    let alarm = |keys: &str| BASE.replace("alarm = [", &format!("alarm = [{{ name = \"A_3\", {keys} }}, "));
    let table = |keys: &str| format!("[[schedule_table]]\nname = \"S\"\ncore = \"C_0\"\n{keys}\n");
    let many = (0..33).map(|n| format!("\"X_{n}\"")).collect::<Vec<_>>().join(", ");
    for (text, message) in [
        (task("activations = 0"), "task 'T_3' allows no activation"),
        (task("activations = 2\nevents = [\"E_1\"]"), "task 'T_3' has events, and 2 activations"),
        (task(&format!("events = [{many}]")), "no bit is left"),
        (task("events = [\"E_1\", \"E_1\"]"), "lists event 'E_1' twice"),
        (task("group = \"RES\""), "the group of task 'T_3' is resource 'RES'"),
        (
            "group = \"G\"\n".to_owned() + &task("group = \"G\""),
            "the tasks of group 'G' are on several cores",
        ),
        (
            task("events = [\"E_3\", \"E_4\"]")
                + "[[event]]\nname = \"E_3\"\nmask = 1\n[[event]]\nname = \"E_4\"\nmask = 1\n",
            "is that of another event of task 'T_3'",
        ),
        (table("length = \"10ms\"\npoints = []"), "has no points"),
        (
            table("length = \"10ms\"\npoints = [{ at = \"10ms\", activate = \"T_1\" }]"),
            "outside of its length",
        ),
        (
            table("length = \"10ms\"\noffset = 0\npoints = [{ at = 0, activate = \"T_1\" }]"),
            "before the first tick",
        ),
        (
            table("length = \"10ms\"\npoints = [{ at = 0, set_event = \"E_1\", task = \"T_1\" }]"),
            "for task 'T_1', which does not list it",
        ),
    ] {
        let (_, shown, _) = mistake(&text);
        assert!(shown.contains(message), "{text}\n{shown}");
    }
    for (keys, message) in [
        ("activate = \"T_1\", period = \"10ms\", offset = 0", "before the first tick of the timer"),
        ("set_event = \"E_1\", task = \"T_1\", period = \"10ms\"", "which does not list it"),
    ] {
        let error = Model::parse(&alarm(keys), Path::new("m.toml")).unwrap_err().to_string();
        assert!(error.starts_with("m.toml:6: ") && error.contains(message), "{error}");
    }
}

#[test]
fn what_is_strange_is_a_warning() {
    let lines = format!(
        "steps = [{{ execute = \"6ms\" }}, {{ call = \"R_1\" }}, {{ branch = 0.5, then = [{{ activate = \"T_3\" }}] }}]\n{}{}\
         [[task]]\nname = \"T_3\"\ncore = \"C_0\"\npriority = 1\nsteps = [{{ repeat = 2, steps = [{{ execute = \"2ms\" }}] }}]\n\
         [[task]]\nname = \"T_4\"\ncore = \"C_0\"\npriority = 1\nsteps = [{{ chain = \"T_4\" }}]\n",
        runnable("R_1", "{ execute = { uniform = [\"1ms\", \"2ms\"] } }"),
        runnable("R_2", ""),
    );
    let base = BASE.lines().count() as u64;
    let expected = [
        ("never-activated", Some(base + 14), "nothing activates task 'T_4'"),
        ("never-called", Some(base + 6), "nothing calls runnable 'R_2'"),
    ];
    // 6 + 1.5 + 0.5 × 4 ms of 10 ms.
    let found = warnings(&lines);
    assert_eq!(found.len(), 2, "{found:?}");
    for ((code, line, message), (of, at, says)) in found.iter().zip(expected) {
        assert!((*code, *line) == (of, at) && message.starts_with(says), "{message}");
    }
    let more = lines.replace("6ms", "6.6ms");
    let found = warnings(&more);
    assert_eq!((found[2].0, found[2].1), ("over-utilisation", Some(2)));
    assert!(found[2].2.contains("core 'C_0' take 101.0 % of its time"), "{}", found[2].2);
}

/// A task that waits in its loop goes round as often as its events are set, not a million times at once.
#[test]
fn rounds_that_wait_for_events_are_no_load() {
    let steps = "{ repeat = 1000000, steps = [{ wait_event = \"E_2\" }, { execute = \"1ms\" }] }";
    let lines = format!("events = [\"E_2\"]\nsteps = [{steps}, {{ execute = \"1ms\" }}]\n");
    assert_eq!(warnings(&lines), []);
}

#[test]
fn turns_and_observed_times_count_with_their_share() {
    // (3 × 6 + 2) / 4 + (8 + 3 × 4) / 4 = 5 + 5 ms of 10 ms: exactly full.
    let steps = |first: &str| {
        format!(
            "steps = [{{ turns = [{{ times = 3, steps = [{{ execute = \"{first}\" }}] }}, \
             {{ steps = [{{ execute = \"2ms\" }}, {{ call = \"R_1\" }}] }}] }}, \
             {{ execute = {{ in_turn = [\"8ms\", {{ value = \"4ms\", times = 3 }}] }} }}]\n{}",
            runnable("R_1", "{ execute = 0 }"),
        )
    };
    assert_eq!(warnings(&steps("6ms")), []);
    let found = warnings(&steps("6.4ms"));
    assert!(found.len() == 1 && found[0].2.contains("take 103.0 % of its time"), "{found:?}");
    // One of four turns ends before the rest.
    let ends = "steps = [{ turns = [{ steps = [{ terminate = true }] }, { times = 3, steps = [] }] }, { execute = \"13ms\" }]\n";
    assert_eq!(warnings(ends), []);
    assert!(warnings(&ends.replace("13ms", "14ms"))[0].2.contains("take 105.0 % of its time"));
    // What turns activate is activated.
    let activates = "steps = [{ turns = [{ steps = [] }, { steps = [{ activate = \"T_3\" }] }] }]\n\
        [[task]]\nname = \"T_3\"\ncore = \"C_0\"\npriority = 1\nsteps = [{ execute = \"21ms\" }]\n";
    let found = warnings(activates);
    assert!(found.len() == 1 && found[0].2.contains("take 105.0 % of its time"), "{found:?}");
}

#[test]
fn turns_of_an_isr_do_what_an_isr_may() {
    let periodic = "periodic = { period = \"1ms\" }";
    let turns =
        |step: &str| isr(2, periodic, &format!("{{ turns = [{{ steps = [] }}, {{ steps = [{step}] }}] }}"));
    assert!(warnings(&turns(r#"{ activate = "T_1" }"#)).is_empty());
    assert!(mistake(&turns("{ terminate = true }")).1.contains("ISR 'I' cannot terminate"));
    let sporadic = |more: &str| isr(2, &format!("sporadic = {{ distance = 1, more = {more} }}"), "");
    assert!(warnings(&sporadic("{ in_turn = [0, 5] }")).is_empty());
    let (line, shown, _) = mistake(&sporadic("{ one_of = [] }"));
    assert!(line == 6 && shown.contains("one_of has no time"), "{shown}");
}

#[test]
fn lists_of_a_program_have_entries() {
    let (model, _) = Model::parse(BASE, Path::new("m.toml")).unwrap();
    let error = |step: Step| {
        let mut model = model.clone();
        model.tasks[0].steps.push(step);
        model.check().unwrap_err().to_string()
    };
    let observed = |values: Runs<i64>| Step::Execute(Distribution::Observed { values, in_turn: true });
    assert!(error(Step::Turns { of: Runs::default() }).contains("turns: the list has no entry"));
    let never = [(1, Vec::new()), (0, Vec::new())].into_iter().collect();
    assert!(error(Step::Turns { of: never }).contains("turns: an entry is there 0 times"));
    assert!(error(observed(Runs::default())).contains("observed times: the list has no entry"));
    assert!(error(observed([(1, 5), (0, 6)].into_iter().collect())).contains("an entry is there 0 times"));
    assert!(error(observed([(1, 5), (1, -6)].into_iter().collect())).contains("a time is -6 ns"));
    let many = |count: i64| (0..count).map(|time| (1, time)).collect();
    assert!(error(observed(many(100_001))).contains("more than 100000 observed times"));
    let mut model = model.clone();
    model.tasks[0].steps.push(observed(many(100_000)));
    assert!(model.check().is_ok());
    let (back, _) = Model::parse(&model.to_toml(), Path::new("m.toml")).unwrap();
    assert_eq!(back.tasks, model.tasks);
}

#[test]
fn a_model_of_a_program_is_checked_without_places() {
    let (mut model, _) = Model::parse(BASE, Path::new("m.toml")).unwrap();
    assert!(model.check().unwrap().is_empty());
    model.tasks[0].core = 7;
    let error = model.check().unwrap_err().to_string();
    assert_eq!(error, "task 'T_2' names core 7, but the model has 2");
    model.tasks[0].core = 1;
    model.tasks[0].steps.push(Step::Call { runnable: 0 });
    assert!(model.check().unwrap_err().to_string().contains("names runnable 0"));
}

#[test]
fn what_the_kernel_cannot_do_is_said() {
    let parse = |text: &str| Model::parse(text, Path::new("m.toml")).unwrap_err().to_string();
    let task = |n: u32, core: &str, steps: &str| {
        format!("[[task]]\nname = \"T_{n}\"\ncore = \"{core}\"\npriority = {n}\nsteps = [{steps}]\n")
    };
    let head = "duration = \"1s\"\ncore = [{ name = \"C_0\" }, { name = \"C_1\" }]\n";
    let chain = format!("{head}{}{}", task(1, "C_0", "{ chain = \"T_2\" }"), task(2, "C_1", ""));
    assert!(parse(&chain).contains("m.toml:7") && parse(&chain).contains("chains a task of another core"));
    let many: String = (1..=33).map(|n| task(n, "C_0", "")).collect();
    assert!(parse(&format!("{head}{many}")).contains("33 priorities, more than 32"));
    let isr = "[[isr]]\nname = \"I\"\ncore = \"C_0\"\npriority = 0\nat = [\"1ms\"]\nsteps = []\n";
    assert!(parse(&format!("{head}{isr}")).contains("ISR 'I' has priority 0"));
    let table = "[[schedule_table]]\nname = \"S\"\ncore = \"C_1\"\nlength = \"5ms\"\n\
        points = [{ at = \"0ms\", activate = \"T_1\" }]\n";
    let table = format!("{head}{}{table}", task(1, "C_0", ""));
    assert!(parse(&table).contains("of another core than task 'T_1'"));
}

/// The kernel has memory for each activation, and counts ticks in 32 bits.
#[test]
fn more_than_the_kernel_has_room_for_is_said() {
    let parse = |text: &str| Model::parse(text, Path::new("m.toml")).map(|_| ()).map_err(|e| e.to_string());
    let task = |n: u32, activations: u32| {
        format!(
            "[[task]]\nname = \"T_{n}\"\ncore = \"C_0\"\npriority = 1\nactivations = {activations}\nautostart = true\n"
        )
    };
    let head = "duration = \"3s\"\ncore = [{ name = \"C_0\" }]\nos = { tick = 1 }\n";
    assert_eq!(parse(&format!("{head}{}{}", task(1, 1 << 19), task(2, 1 << 19))), Ok(()));
    let many = parse(&format!("{head}{}{}", task(1, 1 << 19), task(2, u32::MAX))).unwrap_err();
    assert!(many.starts_with("m.toml:11: with task 'T_2' there may be 4295491583 activations"), "{many}");
    let start = format!("{head}{}", task(1, 1));
    let alarm = |offset: &str, period: &str| {
        format!(
            "{start}[[alarm]]\nname = \"A\"\nactivate = \"T_1\"\noffset = \"{offset}\"\nperiod = \"{period}\"\n"
        )
    };
    assert_eq!(parse(&alarm("4294967295ns", "4294967295ns")), Ok(()));
    let table = |offset: &str, at: &str| {
        format!(
            "{start}[[schedule_table]]\nname = \"S\"\ncore = \"C_0\"\noffset = \"{offset}\"\nlength = \"4s\"\n\
             points = [{{ at = \"{at}\", activate = \"T_1\" }}]\n"
        )
    };
    assert_eq!(parse(&table("1s", "3s")), Ok(()));
    for (text, ticks) in [
        (alarm("4294967296ns", "1s"), "alarm 'A' waits for 4294967296 ticks"),
        (alarm("1s", "5s"), "alarm 'A' waits for 5000000000 ticks"),
        (table("2s", "3s"), "schedule table 'S' waits for 5000000000 ticks"),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.starts_with("m.toml:11: ") && error.contains(ticks), "{error}");
    }
}
