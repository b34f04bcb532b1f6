//! Tests of reading the text of a model. Not of its checks.

use proptest::prelude::*;

use super::*;
use crate::simulate::model::{Arrivals, Distribution, Runs, Step};

fn parse(text: &str) -> Result<Model> {
    Model::parse(text, Path::new("models/engine.toml")).map(|(model, _)| model)
}

/// A model with everything.
const FULL: &str = r#"
seed = 7
duration = "200ms"

[os]
timer_drift = "0.6us"

[[core]]
name = "Core_0"

[[core]]
name = "Core_1"

[[task]]
name = "T_1"
core = "Core_0"
priority = 3
activations = 2
preemption = "non"
group = "G"
steps = [
  { activate = "T_2" },
  { call = "R_1" },
  { execute = "1ms" },
  { execute = { uniform = ["1ms", "2ms"] } },
  { execute = { normal = { mean = "1ms", deviation = "50.5ns", min = "0.8ms", max = "1.2ms" } } },
  { read = "SIG_1" }, { write = "SIG_1" }, { write = "SIG_1", value = 7 },
  { set_event = "E_1", task = "T_2" },
  { get_resource = "RES" }, { release_resource = "RES" },
  { try_to_get_spinlock = "SPIN", every = "5us" }, { release_spinlock = "SPIN" },
  { branch = 0.3, then = [{ execute = 5 }], else = [{ schedule = true }] },
  { repeat = 3, steps = [
    { execute = { log_normal = { mean = "1ms", deviation = 0, max = "2ms" } } },
  ] },
  { terminate = true },
]

[[task]]
name = "T_2"
core = "Core_1"
priority = 1
autostart = true
events = ["E_1", "E_2"]
steps = [{ wait_event = ["E_1", "E_2"] }, { clear_event = "E_1" }]

[[isr]]
name = "ISR_1"
core = "Core_1"
priority = 2
curve = { offset = "1ms", limits = [[1, "1ms"], [5, "20ms"]] }
steps = [{ execute = "10us" }]

[[runnable]]
name = "R_1"
steps = [
  { execute = { weibull = { shape = 2, scale = "1ms", max = "3ms" } } },
  { execute = { in_turn = ["1.1ms", "1.1ms", { value = "1.3ms", times = 40 }, 900] } },
  { execute = { one_of = [{ value = "7us" }, "8us"] } },
  { turns = [
    { times = 3, steps = [{ execute = 6 }] },
    { steps = [] },
  ] },
]

[[signal]]
name = "SIG_1"
initial = 4

[[event]]
name = "E_2"
mask = 0x4

[[resource]]
name = "RES"

[[spinlock]]
name = "SPIN"

[[alarm]]
name = "A_1"
activate = "T_1"
period = "10ms"

[[alarm]]
name = "A_2"
set_event = "E_1"
task = "T_2"
offset = "2ms"
once = true

[[schedule_table]]
name = "S_1"
core = "Core_0"
length = "10ms"
points = [
  { at = "0ms", activate = "T_1" },
  { at = "2ms", activate = "T_1" },
  { at = "2000us", activate = "T_1" },
]
"#;

#[test]
fn everything_is_read() {
    let model = parse(FULL).unwrap();
    assert_eq!((model.name.as_str(), model.seed, model.duration), ("engine", 7, 200_000_000));
    assert_eq!((model.os.timer_drift, model.os.access), (600, 10));
    let task = &model.tasks[0];
    assert_eq!((task.activations, task.preemptable, task.group), (2, false, Some(1)));
    assert!(model.resources[1].internal && model.resources[1].name == "G");
    let normal = Distribution::Normal { mean: 1e6, deviation: 50.5, min: 800_000, max: 1_200_000 };
    assert_eq!(task.steps[4], Step::Execute(normal));
    assert_eq!(task.steps[7], Step::Write { signal: 0, value: Some(7) });
    let Step::Repeat { times: 3, steps } = &task.steps[14] else { panic!("{:?}", task.steps[14]) };
    let Step::Execute(Distribution::LogNormal { mu, sigma, .. }) = steps[0] else { panic!("{steps:?}") };
    assert!((mu - 1e6f64.ln()).abs() < 1e-9 && sigma == 0.0);
    let observed = |values: &[(u32, i64)], in_turn| {
        Step::Execute(Distribution::Observed { values: values.iter().copied().collect(), in_turn })
    };
    let steps = &model.runnables[0].steps;
    assert_eq!(steps[1], observed(&[(2, 1_100_000), (40, 1_300_000), (1, 900)], true));
    assert_eq!(steps[2], observed(&[(1, 7_000), (1, 8_000)], false));
    let of: Runs<Vec<Step>> =
        [(3, vec![Step::Execute(Distribution::Constant(6))]), (1, Vec::new())].into_iter().collect();
    assert_eq!(steps[3], Step::Turns { of });
    // The text names E_2 first, and gives its mask.
    assert_eq!((model.events[0].name.as_str(), model.events[0].mask), ("E_2", 4));
    assert_eq!((model.events[1].name.as_str(), model.events[1].mask), ("E_1", 1));
    assert_eq!(model.tasks[1].events, [1, 0]);
    let limits = vec![(1, 1_000_000), (5, 20_000_000)];
    assert_eq!(model.isrs[0].arrivals, Arrivals::Curve { offset: 1_000_000, limits });
    assert_eq!((model.alarms[0].first, model.alarms[0].cycle, model.alarms[0].core), (10, 10, 0));
    assert_eq!((model.alarms[1].first, model.alarms[1].cycle, model.alarms[1].core), (2, 0, 1));
    let table = &model.schedule_tables[0];
    assert_eq!((table.first, table.length, table.repeats), (1, 10, true));
    assert_eq!(table.points.iter().map(|(at, a)| (*at, a.len())).collect::<Vec<_>>(), [(0, 1), (2, 2)]);
}

/// The line and message of the error of [`FULL`] with one text in the place of another, and its hints.
fn mistake(from: &str, to: &str) -> (String, String) {
    assert_eq!(FULL.matches(from).count(), 1, "{from}");
    let error = parse(&FULL.replace(from, to)).expect_err(to);
    (error.to_string(), error.hints().join("; "))
}

/// The line in [`FULL`] on which a text is.
fn line_of(text: &str) -> usize {
    FULL.split_once(text).unwrap().0.lines().count() + usize::from(FULL.contains(&format!("\n{text}")))
}

#[test]
fn every_mistake_has_a_line_plain_words_and_a_hint() {
    for (from, to, message, hint) in [
        ("duration = ", "durration = ", "unknown field `durration`", "did you mean 'duration'?"),
        ("[os]", "[oss]", "unknown field `oss`", "did you mean 'os'?"),
        (
            "{ execute = \"1ms\" }",
            "{ exekute = \"1ms\" }",
            "unknown field `exekute`",
            "did you mean 'execute'?",
        ),
        ("mean = \"1ms\", deviation = \"50.5ns\"", "meen = \"1ms\"", "unknown field `meen`", "'mean'"),
        ("preemption = \"non\"", "preemption = \"half\"", "preemption is 'half'", "one of full, non"),
        ("{ activate = \"T_2\" }", "{ activate = \"T2\" }", "there is no task 'T2'", "did you mean 'T_2'?"),
        ("{ activate = \"T_2\" }", "{ activate = \"Other\" }", "there is no task 'Other'", "known: T_1, T_2"),
        (
            "{ call = \"R_1\" }",
            "{ call = \"T_2\" }",
            "'T_2' is a task, not a runnable",
            "the name of a runnable",
        ),
        ("{ read = \"SIG_1\" }", "{ read = \"SIG1\" }", "there is no signal 'SIG1'", "'SIG_1'"),
        ("{ get_resource = \"RES\" }", "{ get_resource = \"REZ\" }", "no resource 'REZ'", "'RES'"),
        (
            "wait_event = [\"E_1\", \"E_2\"]",
            "wait_event = [\"E_1\", \"E_9\"]",
            "no event 'E_9'",
            "mean 'E_1'",
        ),
        (
            "{ release_spinlock = \"SPIN\" }",
            "{ release_spinlock = \"LOCK\" }",
            "no spinlock 'LOCK'",
            "known: SPIN",
        ),
        ("core = \"Core_0\"\npriority = 3", "priority = 3", "task 'T_1' has no core", "core = \"Core_0\""),
        ("core = \"Core_1\"\npriority = 1", "core = \"Cor_1\"\npriority = 1", "no core 'Cor_1'", "'Core_1'"),
        (
            "{ schedule = true }",
            "{ schedule = false }",
            "schedule = false does nothing",
            "leave the step out",
        ),
        ("{ schedule = true }", "{}", "a step does nothing", "execute, call"),
        (
            "{ schedule = true }",
            "{ schedule = true, call = \"R_1\" }",
            "two things: call and schedule",
            "two steps",
        ),
        (
            "{ schedule = true }",
            "{ schedule = true, value = 1 }",
            "schedule takes no value",
            "belongs to write",
        ),
        ("{ schedule = true }", "{ branch = 0.5 }", "a branch has no steps", "then ="),
        ("{ schedule = true }", "{ repeat = 2 }", "repeat does not say what", "steps ="),
        ("{ set_event = \"E_1\", task = \"T_2\" }", "{ set_event = \"E_1\" }", "for which task", "task ="),
        (", every = \"5us\"", "", "how often it tries", "every ="),
        ("{ uniform = [\"1ms\", \"2ms\"] }", "{}", "exactly one key", "log_normal"),
        ("one_of = [", "in_turn = [\"5us\"], one_of = [", "exactly one key", "in_turn, one_of"),
        (
            "{ in_turn = [\"1.1ms\",",
            "{ in_turns = [\"1.1ms\",",
            "unknown field `in_turns`",
            "mean 'in_turn'?",
        ),
        ("{ value = \"7us\" }", "{ valu = \"7us\" }", "unknown field `valu`", "mean 'value'?"),
        ("[{ value = \"7us\" }, \"8us\"]", "[]", "one_of has no time", "one_of = ["),
        ("{ turns = [", "{ turn = [", "unknown field `turn`", "mean 'turns'?"),
        ("{ times = 3, steps", "{ time = 3, steps", "unknown field `time`", "mean 'times'?"),
        (
            "{ steps = [] },\n  ] },",
            "{ steps = [] },\n  ], steps = [] },",
            "turns takes no steps",
            "to repeat",
        ),
        ("{ schedule = true }", "{ turns = [] }", "turns has no entry", "times = 3"),
        ("{ execute = 6 }", "{ call = \"R_9\" }", "there is no runnable 'R_9'", "'R_1'"),
        ("deviation = 0, ", "", "log_normal takes mean and deviation, or mu and sigma", "e.g."),
        ("mask = 0x4", "mask = 6", "the mask of event 'E_2' is not one bit", "0x4"),
        ("activate = \"T_1\"\nperiod", "period", "alarm 'A_1' needs either activate, or set_event", "TASK"),
        ("period = \"10ms\"", "once = true", "alarm 'A_1' does not say when", "offset ="),
        ("period = \"10ms\"", "offset = \"1ms\"", "alarm 'A_1' has no period", "once = true"),
        (
            "period = \"10ms\"",
            "period = \"10ms\"\nonce = true",
            "a period, and expires only once",
            "leave out",
        ),
        ("period = \"10ms\"", "period = 0", "the period of alarm 'A_1' is 0", "once = true"),
        (
            "period = \"10ms\"",
            "period = \"1.5ms\"",
            "1500000 ns, which is no multiple of the tick",
            "in [os]",
        ),
        ("{ at = \"0ms\"", "{ at = \"9ms\"", "this point is before the one above it", "the order"),
        ("length = \"10ms\"", "length = \"0.1us\"", "length is 100 ns, which is no multiple", "in [os]"),
        ("timer_drift = ", "tick = 0\ntimer_drift = ", "tick is 0", "tick = \"1ms\""),
        ("priority = 2", "priority = 2\ncategory = 3", "no ISRs of category 3", "category = 2"),
        ("duration = \"200ms\"", "duration = 0", "the duration is 0", "200ms"),
    ] {
        let (shown, hints) = mistake(from, to);
        let is_located =
            shown.strip_prefix("models/engine.toml:").is_some_and(|rest| rest.starts_with(char::is_numeric));
        assert!(is_located && shown.contains(message) && hints.contains(hint), "{to}\n{shown}\n{hints}");
    }
}

#[test]
fn values_that_are_none_say_so() {
    for (from, to, message) in [
        ("duration = \"200ms\"", "duration = \"-1ms\"", "'-1ms' is less than 0"),
        ("duration = \"200ms\"", "duration = 1.5", "1.5 has no unit"),
        ("duration = \"200ms\"", "duration = \"0.5ns\"", "no whole number of ns"),
        ("duration = \"200ms\"", "duration = \"1 day\"", "unknown unit 'day'"),
        ("duration = \"200ms\"", "duration = \"2000000000s\"", "is longer than 1152921504 s"),
        ("duration = \"200ms\"", "duration = true", "expected a number, or a time with a unit"),
        ("{ execute = \"1ms\" }", "{ execute = -5 }", "-5 is less than 0"),
        ("{ execute = \"1ms\" }", "{ execute = true }", "expected a time such as"),
        ("{ uniform = [\"1ms\", \"2ms\"] }", "{ uniform = [\"1ms\", \"-2ms\"] }", "'-2ms' is less than 0"),
        ("mean = \"1ms\", deviation = \"50.5ns\"", "mean = -1, deviation = 0", "-1 is less than 0"),
        ("shape = 2", "shape = \"2\"", "'2' is no number"),
        ("900]", "-900]", "-900 is less than 0"),
        ("900]", "0.5]", "expected a time such as \"1.5ms\", or { value"),
        ("900]", "true]", "expected a time such as \"1.5ms\", or { value"),
        ("{ value = \"7us\" }", "{ value = \"-7us\" }", "'-7us' is less than 0"),
        ("{ value = \"7us\" }", "{ times = 7 }", "missing field `value`"),
        ("[{ value = \"7us\" }, \"8us\"]", "\"8us\"", "expected a sequence"),
        ("times = 40", "times = 0", "0 times is never; write 1 or more"),
        ("times = 40", "times = -1", "-1 is no whole number"),
        ("times = 3", "times = 0", "0 times is never; write 1 or more"),
        ("{ steps = [] },", "{ times = 2 },", "missing field `steps`"),
        ("{ steps = [] },", "5,", "expected a turn such as"),
        ("branch = 0.3", "branch = \"often\"", "'often' is no number"),
        ("repeat = 3", "repeat = 0.5", "0.5 is no whole number from 0 to 4294967295"),
        ("value = 7", "value = -7", "-7 is no whole number"),
        ("seed = 7", "seed = -7", "-7 is no seed"),
        ("clear_event = \"E_1\"", "clear_event = []", "the list names nothing"),
        ("clear_event = \"E_1\"", "clear_event = 7", "expected a name, or a list of names"),
        ("priority = 3", "", "missing field `priority`"),
        ("[[1, \"1ms\"], [5, \"20ms\"]]", "[[1]]", "invalid length 1"),
        ("{ schedule = true }", "\"schedule\"", "expected a step such as"),
    ] {
        let (shown, _) = mistake(from, to);
        assert!(shown.contains(message), "{to}\n{shown}");
        let plain = ["f64", "u32", "i64", "struct", "variant"].iter().all(|word| !shown.contains(word));
        assert!(plain && shown.split(':').nth(1).unwrap().parse::<u64>().is_ok(), "{shown}");
    }
}

#[test]
fn the_line_is_that_of_the_mistake() {
    for (from, to) in [
        ("{ release_resource = \"RES\" }", "{ release_resource = \"NO\" }"),
        ("{ execute = { weibull", "{ execute = { waybull"),
        ("mask = 0x4", "mask = 0x5"),
        ("{ at = \"2000us\"", "{ at = \"2.5ms\""),
        ("{ steps = [] }", "{ steps = [{}] }"),
        ("{ times = 3,", "{ times = 0,"),
        ("{ execute = { one_of", "{ execute = { one_off"),
        ("{ execute = { in_turn = [\"1.1ms\"", "{ execute = { in_turn = [\"1.1\""),
    ] {
        let (shown, _) = mistake(from, to);
        assert_eq!(shown.split(':').nth(1).unwrap(), line_of(from).to_string(), "{shown}");
    }
}

#[test]
fn seeds_have_64_bits() {
    let seed = |text: &str| parse(&FULL.replace("seed = 7", text)).map(|model| model.seed);
    assert_eq!(seed("seed = \"18446744073709551615\"").unwrap(), u64::MAX);
    assert_eq!(seed("").unwrap(), 0);
}

#[test]
fn a_model_that_is_no_file_is_an_error() {
    let error = Model::read(Path::new("no/such.toml")).unwrap_err();
    assert!(error.to_string().contains("cannot read 'no/such.toml'"), "{error}");
}

proptest! {
    #[test]
    fn damaged_texts_never_panic(begin in 0..FULL.len(), length in 0usize..60, other in "[ -~\n]{0,6}") {
        let damaged = [FULL.get(..begin).unwrap(), &other, FULL.get(begin + length..).unwrap_or("")].concat();
        let _ = parse(&damaged);
    }
}

/// The page of documentation: its blocks are one model, and it has every key.
#[test]
fn the_documentation_is_a_model_and_has_every_key() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/model.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap());
    let text = blocks.collect::<String>();
    let (_, log) = Model::parse(&text, Path::new("docs.toml")).unwrap();
    assert!(log.is_empty(), "{:?}", log.entries());
    for key in KEYS.split_whitespace() {
        let shown = [format!("`{key}"), format!("{{ {key} ="), format!("[[{key}]]"), format!("[{key}]")];
        assert!(shown.iter().any(|shown| page.contains(shown)), "the page has no '{key}'");
    }
}
