//! What takes turns when a model runs: observed times, and lists of steps. Not the services, which the
//! recordings of whole models show.

mod causes;
mod conservation;

use super::access::Unrecorded;
use super::effect::{Effect, Observer, Process};
use super::{Handlers, Kernel, Model};
use std::path::Path;

/// Two cores on which nothing but steps takes time.
const BASE: &str = r#"
duration = "200ms"
core = [{ name = "C_0" }, { name = "C_1" }]
signal = [{ name = "BEGIN" }, { name = "END" }]
[os]
access = 0
remote_call = 0
timer_isr = false
"#;

/// The number of the signal that a body writes at its end.
const END: usize = 1;

#[derive(Default)]
struct Events(Vec<(i64, Effect)>);

impl Observer for Events {
    fn effect(&mut self, _: usize, time: i64, effect: Effect) {
        self.0.push((time, effect));
    }
}

/// What happens in a model with these lines after [`BASE`].
fn run(lines: &str) -> Vec<(i64, Effect)> {
    let (model, _) = Model::parse(&format!("{BASE}{lines}"), Path::new("m.toml")).unwrap();
    let handlers = Handlers::of(&model);
    let run = Kernel::new(&model, &handlers, Unrecorded, Events::default()).run(|_| Ok::<(), ()>(()));
    run.unwrap().1.0
}

fn task(name: &str, core: usize, priority: u32, offset: &str, period: &str, steps: &str) -> String {
    format!(
        "[[task]]\nname = \"{name}\"\ncore = \"C_{core}\"\npriority = {priority}\nsteps = [{steps}]\n\
         [[alarm]]\nname = \"A_{name}\"\nactivate = \"{name}\"\noffset = \"{offset}\"\nperiod = \"{period}\"\n"
    )
}

fn runnable(name: &str, steps: &str) -> String {
    format!("[[runnable]]\nname = \"{name}\"\nsteps = [{steps}]\n")
}

/// The writes of a signal: who, when in µs, and the value.
fn writes(events: &[(i64, Effect)], of: usize) -> Vec<(usize, i64, u32)> {
    let write = |(time, effect): &(i64, Effect)| match effect {
        Effect::Write { by: Process::Task(task), signal, value } if *signal == of => {
            Some((*task, time / 1000, *value))
        }
        _ => None,
    };
    events.iter().filter_map(write).collect()
}

/// How long it was from each write of the first signal to that of the second by the same task, in µs.
fn lengths(events: &[(i64, Effect)]) -> Vec<(usize, i64)> {
    let ends = writes(events, END);
    let length = |(by, begin, _): (usize, i64, u32)| {
        let end = ends.iter().find(|(other, end, _)| *other == by && *end >= begin);
        end.map(|(_, end, _)| (by, end - begin))
    };
    writes(events, 0).into_iter().filter_map(length).collect()
}

#[test]
fn a_task_computes_for_the_times_in_turn() {
    let time = r#"{ in_turn = ["1.5ms", { value = "2.25ms", times = 2 }, "0.5ms"] }"#;
    let steps = format!("{{ write = \"BEGIN\" }}, {{ execute = {time} }}, {{ write = \"END\" }}");
    let lengths = lengths(&run(&task("T_1", 0, 1, "10ms", "20ms", &steps)));
    let expected = [1500, 2250, 2250, 500, 1500, 2250, 2250, 500, 1500, 2250].map(|us| (0, us));
    assert_eq!(lengths, expected);
}

#[test]
fn any_of_observed_times_is_drawn() {
    let time = r#"{ one_of = ["1ms", { value = "2ms", times = 3 }] }"#;
    let steps = format!("{{ write = \"BEGIN\" }}, {{ execute = {time} }}, {{ write = \"END\" }}");
    let lengths = lengths(&run(&task("T_1", 0, 1, "1ms", "4ms", &steps)));
    let count = |us: i64| lengths.iter().filter(|(_, length)| *length == us).count();
    assert_eq!((lengths.len(), count(1000) + count(2000)), (50, 50), "{lengths:?}");
    assert!((5..=22).contains(&count(1000)), "{lengths:?}");
}

#[test]
fn all_callers_of_a_runnable_share_its_position() {
    let steps =
        r#"{ write = "BEGIN" }, { execute = { in_turn = ["1ms", "2ms", "3ms"] } }, { write = "END" }"#;
    let call = r#"{ call = "R_1" }"#;
    let model = runnable("R_1", steps)
        + &task("T_1", 0, 1, "10ms", "40ms", call)
        + &task("T_2", 1, 1, "20ms", "40ms", call)
        // Another place with the same times begins on its own.
        + &task("T_3", 1, 1, "30ms", "40ms", steps);
    let lengths = lengths(&run(&model));
    let expected = [(0, 1), (1, 2), (2, 1), (0, 3), (1, 1), (2, 2), (0, 2), (1, 3), (2, 3), (0, 1), (1, 2)];
    assert_eq!(lengths.get(..11).unwrap(), expected.map(|(by, ms)| (by, ms * 1000)));
}

#[test]
fn steps_take_turns() {
    let turns = r#"{ turns = [
      { times = 3, steps = [{ write = "END", value = 1 }] },
      { steps = [] },
      { times = 2, steps = [
        { turns = [{ steps = [{ write = "END", value = 2 }] }, { steps = [{ write = "END", value = 3 }] }] },
      ] },
    ] }"#;
    let turns = turns.replace('\n', "");
    let steps = format!("{{ repeat = 2, steps = [{turns}] }}, {{ write = \"END\", value = 9 }}");
    let writes = writes(&run(&task("T_1", 0, 1, "10ms", "10ms", &steps)), END);
    let values: Vec<u32> = writes.into_iter().map(|(_, _, value)| value).collect();
    // Turns of 1 1 1 - 2 3, two of them each time.
    let round = [1, 1, 9, 1, 9, 2, 3, 9];
    assert_eq!(values.get(..24).unwrap(), [round, round, round].concat());
}

#[test]
fn who_was_preempted_goes_on_with_its_own_turn() {
    let turns = r#"{ turns = [
      { steps = [{ execute = { in_turn = ["4ms", "5ms"] } }, { write = "END", value = 1 }] },
      { steps = [{ execute = "1ms" }, { write = "END", value = 2 }] },
    ] }"#;
    let model = runnable("R_1", &turns.replace('\n', ""))
        + &task("T_1", 0, 1, "10ms", "50ms", r#"{ call = "R_1" }"#)
        + &task("T_2", 0, 2, "12ms", "50ms", r#"{ call = "R_1" }"#);
    let writes = writes(&run(&model), END);
    // 2 ms of its 4 ms, then 1 ms of the other task, then the rest.
    let round = |begin: i64, more: i64| [(1, begin + 13_000, 2), (0, begin + 15_000 + more, 1)];
    let expected = [round(0, 0), round(50_000, 1000), round(100_000, 0), round(150_000, 1000)];
    assert_eq!(writes, expected.concat());
}

#[test]
fn arrivals_take_turns() {
    let isr = |more: &str| {
        format!(
            "[[isr]]\nname = \"I\"\ncore = \"C_0\"\npriority = 1\n\
             sporadic = {{ offset = \"1ms\", distance = \"10ms\", more = {more} }}\nsteps = [{{ execute = 5 }}]\n"
        )
    };
    let gaps = |more: &str| -> Vec<i64> {
        let enters = run(&isr(more)).into_iter();
        let enters = enters.filter(|(_, effect)| matches!(effect, Effect::Enter(0))).map(|(time, _)| time);
        let enters: Vec<i64> = enters.collect();
        assert_eq!(enters[0], 1_000_000);
        enters.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).collect()
    };
    let in_turn = gaps(r#"{ in_turn = ["5ms", "0ms", { value = "2ms", times = 2 }] }"#);
    assert_eq!(in_turn.get(..9).unwrap(), [15, 10, 12, 12, 15, 10, 12, 12, 15]);
    let one_of = gaps(r#"{ one_of = ["5ms", "0ms"] }"#);
    assert!(one_of.iter().all(|gap| [10, 15].contains(gap)), "{one_of:?}");
    assert!(one_of.contains(&10) && one_of.contains(&15), "{one_of:?}");
}

/// Runnables that each call the next one twice, so that there are 2⁶⁰ ways through them.
#[test]
fn a_runnable_is_followed_once_for_its_resources() {
    let call = |n: usize| format!("{{ call = \"R_{}\" }}", n + 1);
    let mut model: String =
        (0..60).map(|n| runnable(&format!("R_{n}"), &format!("{}, {}", call(n), call(n)))).collect();
    let section = r#"{ get_resource = "RES" }, { execute = "1ms" }, { release_resource = "RES" }"#;
    model += &runnable("R_60", &format!("{{ turns = [{{ steps = [] }}, {{ steps = [{section}] }}] }}"));
    model += "[[resource]]\nname = \"RES\"\n";
    model += &task("T_1", 0, 1, "10ms", "50ms", r#"{ call = "R_0" }"#);
    let events = run(&model);
    assert!(events.iter().any(|(_, effect)| matches!(effect, Effect::Lock { .. })));
}
