//! That a process runs for as long as its steps say, whoever takes its core away in between. Not when (see
//! the other tests), nor what services cost.

use super::super::Handlers;
use super::super::Kernel;
use super::super::access::Unrecorded;
use super::super::effect::{Change, Effect, Observer, Process};
use super::{run, task};
use crate::simulate::model::{Distribution, Model, Signal, Step};
use crate::simulate::random::{self, Features, Options};
use std::collections::HashMap;

/// How long each instance that ended ran, and how often it wrote each signal.
#[derive(Default)]
struct Runs {
    /// Of those that have begun: since when they run, how long before, and what they wrote.
    open: HashMap<Process, (Option<i64>, i64, Vec<usize>)>,
    ended: Vec<(Process, i64, Vec<usize>)>,
}

impl Runs {
    fn begins(&mut self, process: Process, time: i64) {
        self.open.insert(process, (Some(time), 0, Vec::new()));
    }

    fn leaves(&mut self, process: Process, time: i64) {
        if let Some((since, total, _)) = self.open.get_mut(&process)
            && let Some(since) = since.take()
        {
            *total += time - since;
        }
    }
}

impl Observer for Runs {
    fn effect(&mut self, _: usize, time: i64, effect: Effect) {
        match effect {
            Effect::Enter(handler) => self.begins(Process::Handler(handler), time),
            Effect::Change(process, Change::Start) => self.begins(process, time),
            Effect::Change(process, Change::Resume | Change::PollParking) => {
                let (since, ..) = self.open.get_mut(&process).unwrap();
                assert_eq!(since.replace(time), None, "{process:?} had its core already");
            }
            Effect::Change(process, Change::Preempt | Change::Park | Change::Wait) => {
                self.leaves(process, time);
            }
            Effect::Change(process, Change::Terminate) => {
                self.leaves(process, time);
                let (_, total, written) = self.open.remove(&process).unwrap();
                self.ended.push((process, total, written));
            }
            Effect::Write { by, signal, .. } => self.open.get_mut(&by).unwrap().2.push(signal),
            _ => {}
        }
    }
}

/// Each execution takes the same time whenever it is done, and is followed by a write of a signal of its
/// own. Returns the times by signal.
fn count_executions(model: &mut Model) -> Vec<i64> {
    fn count(steps: &mut [Step], times: &mut Vec<i64>) {
        for step in steps {
            match step {
                Step::Execute(_) => {
                    let time = 1_000 + 7_919 * (times.len() as i64 % 17);
                    let signal = times.len();
                    times.push(time);
                    let execute = Step::Execute(Distribution::Constant(time));
                    let steps = vec![execute, Step::Write { signal, value: None }];
                    *step = Step::Repeat { times: 1, steps };
                }
                Step::Write { .. } | Step::Read { .. } => {
                    *step = Step::Repeat { times: 0, steps: Vec::new() }
                }
                other => other.inside_mut().into_iter().for_each(|steps| count(steps, times)),
            }
        }
    }
    let mut times = Vec::new();
    model.tasks.iter_mut().for_each(|task| count(&mut task.steps, &mut times));
    model.isrs.iter_mut().for_each(|isr| count(&mut isr.steps, &mut times));
    model.runnables.iter_mut().for_each(|runnable| count(&mut runnable.steps, &mut times));
    let signal = |n: usize| Signal { name: format!("S_{n}"), initial: 0 };
    model.signals = (0..times.len()).map(signal).collect();
    times
}

/// One core, or several that never wait for each other, where only executions take time.
fn without_overheads(number: u64) -> Model {
    let (cores, features) = match number % 2 {
        0 => (Some(1), Features::all()),
        _ => (Some(2), Features { across_cores: false, spinlocks: false, ..Features::all() }),
    };
    let options = Options { cores, duration: Some(60_000_000), features, ..Options::default() };
    let mut model = random::model(number, &options);
    let os = &mut model.os;
    (os.access, os.dispatch, os.service, os.interrupt, os.remote_call) = (0, 0, 0, 0, 0);
    model
}

#[test]
fn every_instance_runs_as_long_as_its_executions_take() {
    let (mut instances, mut interrupted) = (0, 0);
    for number in 0..60 {
        let mut model = without_overheads(number);
        let times = count_executions(&mut model);
        let handlers = Handlers::of(&model);
        let kernel = Kernel::new(&model, &handlers, Unrecorded, Runs::default());
        let runs = kernel.run(|_| Ok::<(), ()>(())).unwrap().1;
        for (process, total, written) in &runs.ended {
            let expected: i64 = written.iter().map(|signal| times[*signal]).sum();
            assert_eq!(*total, expected, "{}: {process:?}", model.name);
            instances += 1;
        }
        interrupted += usize::from(!model.isrs.is_empty());
    }
    assert!(instances > 5_000 && interrupted > 15, "{instances} instances, {interrupted} models with ISRs");
}

/// What is left of the execution was lost when a second handler came before the task went on.
#[test]
fn handlers_that_follow_each_other_take_nothing_from_a_task() {
    let isr = |name: &str, priority: u32, at: &str| {
        format!(
            "[[isr]]\nname = \"{name}\"\ncore = \"C_0\"\npriority = {priority}\nat = [\"{at}\"]\n\
             steps = [{{ execute = \"1ms\" }}]\n"
        )
    };
    // The second one waits for the end of the first one, which the third one interrupts.
    let isrs = isr("I_1", 1, "11ms") + &isr("I_2", 1, "11.5ms") + &isr("I_3", 2, "11.2ms");
    let steps = r#"{ execute = "5ms" }, { write = "END" }"#;
    let events = run(&(task("T_1", 0, 1, "10ms", "100ms", steps) + &isrs));
    let ends = super::writes(&events, super::END);
    assert_eq!(ends.first().map(|(_, time, _)| *time), Some(18_000));
}
