//! The rules of the mapping of Grasp traces, each on a trace of some lines.

use super::faults::Rule;
use super::{Clocks, Directory, Fault, FaultChecker, Occurrence, Rules};
use crate::btf::{EntityType, Names};
use crate::diagnostics::Log;
use crate::formats::grasp::CommandReader;
use crate::map::Output;

/// Calls `take` for every command of a trace, in the order of time.
fn each(text: &str, mut take: impl FnMut(&Occurrence<'_>)) {
    let mut order: Vec<(i64, usize)> = Vec::new();
    let mut now = 0;
    read(text, |_, o| {
        if let Some(time) = o {
            now = time;
        }
        order.push((now, order.len()));
    });
    order.sort();
    for (time, n) in order {
        let mut place = 0;
        read_all(text, |o| {
            if place == n {
                take(&Occurrence { effect_at: time, ..*o });
            }
            place += 1;
        });
    }
}

fn read(text: &str, mut take: impl FnMut(u64, Option<i64>)) {
    let mut reader = CommandReader::new("t", 1);
    let taken: Result<(), ()> = reader.chunk(text.as_bytes(), true, &mut |place, c| {
        take(place.line, c.time);
        Ok(())
    });
    taken.unwrap();
}

fn read_all(text: &str, mut take: impl FnMut(&Occurrence<'_>)) {
    let mut reader = CommandReader::new("t", 1);
    let taken: Result<(), ()> = reader.chunk(text.as_bytes(), true, &mut |place, c| {
        assert!(c.status.as_str() == "ok" || c.status.as_str() == "blank", "{}", place.text);
        take(&Occurrence {
            effect_at: 0,
            line: place.line as i64,
            command: c.command,
            event: c.event.unwrap_or_default(),
            processor: c.processor,
            task: c.task,
            job: c.job,
            server: c.server,
            mutex: c.mutex,
            semaphore: c.semaphore,
            target: c.target,
            name: c.name,
            kind: c.kind,
            budget: c.budget,
            message: c.message,
        });
        Ok(())
    });
    taken.unwrap();
}

fn mapped(text: &str) -> (Vec<String>, Log) {
    let mut directory = Directory::default();
    each(text, |o| directory.declaration(o));
    each(text, |o| directory.usage(o));
    let mut counting = Rules::new(directory.clone(), Names::default());
    each(text, |o| counting.occurrence(o));
    directory.note_unarrived(counting.tasks.iter().map(|task| task.unarrived));
    let mut mapper = Rules::new(directory, Names::default());
    each(text, |o| mapper.occurrence(o));
    mapper.finish(1000);
    let (outputs, log, _) = mapper.take_rest();
    let line = |output: &Output| match output {
        Output::Event(e) if e.target_type == EntityType::Stimulus => None,
        Output::Event(e) => {
            let (source, target) = (mapper.names.text(e.source), mapper.names.text(e.target));
            Some(format!("{} {source} {} {target}/{} {}", e.time, e.target_type, e.target_instance, e.action))
        }
        _ => None,
    };
    (outputs.iter().filter_map(line).collect(), log)
}

/// Compares events of tasks and semaphores, without their common prefix.
#[track_caller]
fn is(text: &str, expected: &[&str]) {
    let (events, log) = mapped(text);
    assert_eq!(events, expected, "{:?}", log.entries());
}

fn codes(text: &str) -> Vec<&'static str> {
    mapped(text).1.counts().map(|(_, code, ..)| code).collect()
}

#[test]
fn a_job_is_an_instance_from_its_arrival_to_its_completion() {
    is(
        "newTask a -name A\nnewTask b -name B\nplot 0 jobArrived b.1 b\nplot 1 jobResumed b.1\nplot 2 jobArrived a.1 a\nplot 3 jobPreempted b.1 -target a.1\nplot 3 jobResumed a.1\nplot 5 jobCompleted a.1 -target b.1\nplot 5 jobResumed b.1\nplot 9 jobCompleted b.1\n",
        &[
            "0 B.arrival T B/0 activate",
            "1 main T B/0 start",
            "2 A.arrival T A/0 activate",
            "3 main T B/0 preempt",
            "3 main T A/0 start",
            "5 main T A/0 terminate",
            "5 main T B/0 resume",
            "9 main T B/0 terminate",
        ],
    );
}

#[test]
fn a_new_job_takes_the_oldest_arrival_of_its_task() {
    is(
        "newTask a\nplot 1 taskArrived a\nplot 2 taskArrived a\nplot 3 nop\nnewJob x a\nplot 3 jobResumed x\nplot 4 jobCompleted x\nnewJob y a\nplot 4 jobResumed y\nplot 5 jobCompleted y\n",
        &[
            "1 a.arrival T a/0 activate",
            "2 a.arrival T a/1 activate",
            "3 main T a/0 start",
            "4 main T a/0 terminate",
            "4 main T a/1 start",
            "5 main T a/1 terminate",
        ],
    );
}

#[test]
fn jobs_that_never_arrive_are_numbered_before_the_others() {
    is(
        "newTask a\nnewJob x a\nplot 0 jobResumed x\nplot 1 jobCompleted x\nplot 2 taskArrived a\nnewJob y a\nplot 3 jobResumed y\nplot 4 jobCompleted y\nnewJob z a\nplot 5 jobResumed z\nplot 6 jobCompleted z\n",
        &[
            "0 main T a/0 start",
            "1 main T a/0 terminate",
            "2 a.arrival T a/2 activate",
            "3 main T a/2 start",
            "4 main T a/2 terminate",
            "5 main T a/1 start",
            "6 main T a/1 terminate",
        ],
    );
}

#[test]
fn arrivals_of_a_task_are_none_of_its_jobs_where_these_arrive_themselves() {
    is(
        "newTask a\nplot 1 taskArrived a\nplot 1 jobArrived x a\nplot 2 jobResumed x\nplot 3 jobCompleted x\nplot 4 taskArrivedAndIgnored a\n",
        &[
            "1 a.arrival T a/0 activate",
            "2 main T a/0 start",
            "3 main T a/0 terminate",
            "4 a.arrival T a/1 mtalimitexceeded",
        ],
    );
}

#[test]
fn what_a_task_does_between_jobs_is_none_of_the_completed_one() {
    is(
        "newTask a\nplot 0 jobArrived x a\nplot 0 jobResumed x\nplot 2 jobCompleted x\nplot 3 jobResumed x\nplot 4 jobPreempted x -target y\nplot 4 jobCompleted x\n",
        &["0 a.arrival T a/0 activate", "0 main T a/0 start", "2 main T a/0 terminate"],
    );
}

#[test]
fn a_job_that_arrives_again_is_another_instance() {
    let text = "newTask a\nplot 0 jobArrived x a\nplot 0 jobResumed x\nplot 2 jobCompleted x\nplot 3 jobArrived x a\nplot 3 jobResumed x\nplot 4 jobArrived x a\nplot 5 jobResumed x\nplot 6 jobCompleted x\n";
    is(
        text,
        &[
            "0 a.arrival T a/0 activate",
            "0 main T a/0 start",
            "2 main T a/0 terminate",
            "3 a.arrival T a/1 activate",
            "3 main T a/1 start",
            "4 main T a/1 preempt",
            "4 a.arrival T a/2 activate",
            "5 main T a/2 start",
            "6 main T a/2 terminate",
        ],
    );
    assert_eq!(codes(text), ["arrived-again"]);
}

#[test]
fn a_job_is_known_by_the_task_in_its_id() {
    is(
        "newTask a.b\nplot 1 jobResumed a.b.7\nplot 2 jobCompleted a.b.7\n",
        &["1 main T a.b/0 start", "2 main T a.b/0 terminate"],
    );
    assert_eq!(codes("newTask a\nplot 1 jobResumed b.1\n"), ["undefined-job"]);
}

#[test]
fn the_processor_is_that_of_the_event_or_the_job_or_the_task() {
    is(
        "newProcessor p -name P\nnewTask a -processor q\nplot 0 jobArrived x a\nplot 0 jobResumed x\nplot 1 jobPreempted x -processor p\nplot 2 jobResumed x\nplot 3 jobResumed x -processor r\nplot 4 jobCompleted x\nnewJob y a -processor r\nplot 5 jobResumed y\n",
        &[
            "0 a.arrival T a/1 activate",
            "0 q T a/1 start",
            "1 q T a/1 preempt",
            "2 P T a/1 resume",
            "3 P T a/1 preempt",
            "3 r T a/1 resume",
            "4 r T a/1 terminate",
            "5 r T a/0 start",
        ],
    );
}

#[test]
fn processors_that_are_listed_one_after_the_other_are_merged() {
    is(
        "newTask a -processor p\nnewTask b -processor q\nplot 5 jobArrived a.1 a\nplot 6 jobResumed a.1\nplot 5 jobArrived b.1 b\nplot 5 jobResumed b.1\n",
        &["5 a.arrival T a/0 activate", "5 b.arrival T b/0 activate", "5 q T b/0 start", "6 p T a/0 start"],
    );
}

#[test]
fn one_job_is_on_a_core() {
    is(
        "newTask a\nnewTask b\nplot 0 jobArrived a.1 a\nplot 0 jobArrived b.1 b\nplot 0 jobResumed a.1\nplot 1 jobResumed b.1\nplot 2 jobPreempted a.1\nplot 3 jobCompleted a.1\nplot 4 jobCompleted b.1\n",
        &[
            "0 a.arrival T a/0 activate",
            "0 b.arrival T b/0 activate",
            "0 main T a/0 start",
            "1 main T a/0 preempt",
            "1 main T b/0 start",
            "3 main T b/0 preempt",
            "3 main T a/0 resume",
            "3 main T a/0 terminate",
            "3 main T b/0 resume",
            "4 main T b/0 terminate",
        ],
    );
}

#[test]
fn who_is_preempted_first_has_run_since_the_begin() {
    is(
        "newTask a\nnewJob x a\nplot 5 jobPreempted x\nplot 6 jobResumed x\n",
        &["5 main T a/0 preempt", "6 main T a/0 resume"],
    );
}

#[test]
fn mutexes_and_semaphores_are_used_by_who_runs() {
    is(
        "newTask a -name A\nnewMutex m -name M\nnewSemaphore s -name S\nplot 0 jobArrived a.1 a\nplot 1 jobAcquiredMutex a.1 m\nplot 2 jobReleasedMutex a.1 m\nplot 3 jobSuspendedOnSemaphore a.1 s\nplot 4 jobAcquiredSemaphore a.1 s -state 0\nplot 5 jobReleasedSemaphore a.1 s\nplot 6 jobBlocked a.1\nplot 7 jobResumed a.1\n",
        &[
            "0 A.arrival T A/0 activate",
            "1 main T A/0 start",
            "1 M SEM M/0 ready",
            "1 A SEM M/0 requestsemaphore",
            "1 M SEM M/0 lock",
            "1 A SEM M/0 assigned",
            "2 A SEM M/0 released",
            "2 M SEM M/0 unlock",
            "3 A SEM S/0 requestsemaphore",
            "3 A SEM S/0 waiting",
            "3 main T A/0 wait",
            "4 main T A/0 release",
            "4 main T A/0 resume",
            "4 A SEM S/0 assigned",
            "5 A SEM S/0 released",
            "6 main T A/0 wait",
            "7 main T A/0 release",
            "7 main T A/0 resume",
        ],
    );
}

#[test]
fn names_are_of_one_entity_each() {
    is(
        "newTask a -name \"X,1\"\nnewTask b -name \"X,1\" -kind isr\nnewProcessor main -name X_1\nplot 0 jobResumed a.1\nplot 1 jobResumed b.1\nplot 2 jobArrived c.1 c\n",
        &[
            "0 X_1 (main) T X_1/0 start",
            "1 X_1 (main) T X_1/0 preempt",
            "1 X_1 (main) I X_1 (b)/0 start",
            "2 c.arrival T c/0 activate",
        ],
    );
}

fn faults(text: &str) -> Vec<(i64, Rule)> {
    let mut checker = FaultChecker::default();
    let mut faults: Vec<Fault> = Vec::new();
    each(text, |o| faults.extend(checker.occurrence(o)));
    faults.extend(checker.finish(100));
    faults.into_iter().map(|f| (f.time, f.rule)).collect()
}

#[test]
fn budgets_fall_by_those_who_use_them() {
    let head = "newServer s -budget 10\nplot 0 serverResumed s\n";
    assert_eq!(faults(&format!("{head}plot 10 serverPreempted s\n")), []);
    assert_eq!(faults(&format!("{head}plot 11 serverPreempted s\n")), [(11, Rule::BudgetNegative)]);
    assert_eq!(faults(&format!("{head}plot 10 serverReplenished s 90\n")), []);
    assert_eq!(faults(&format!("{head}plot 10 serverReplenished s 89\n")), [(100, Rule::BudgetNegative)]);
    // Twice as fast on two processors; reported once until it is set again.
    let two = "plot 4 serverResumed s\nplot 7 serverPreempted s\nplot 8 serverPreempted s\n";
    assert_eq!(faults(&format!("{head}{two}")), [(8, Rule::BudgetNegative)]);
    // Depleted means 0, and the server continues to be used.
    assert_eq!(faults(&format!("{head}plot 5 serverDepleted s\nplot 5 serverPreempted s\n")), []);
    assert_eq!(
        faults(&format!("{head}plot 5 serverDepleted s\nplot 6 serverPreempted s\n")),
        [(6, Rule::BudgetNegative)]
    );
}

#[test]
fn mutexes_are_given_back_in_order_by_who_has_them() {
    let take = |m: &str, job: &str| format!("plot 1 jobAcquiredMutex {job} {m}\n");
    let give = |m: &str, job: &str| format!("plot 2 jobReleasedMutex {job} {m}\n");
    let nested = take("m", "x") + &take("n", "x") + &give("n", "x") + &give("m", "x");
    assert_eq!(faults(&nested), []);
    let crossed = take("m", "x") + &take("n", "x") + &give("m", "x") + &give("n", "x");
    assert_eq!(faults(&crossed), [(2, Rule::MutexNotNested)]);
    assert_eq!(faults(&give("m", "x")), [(2, Rule::MutexNotHeld)]);
    assert_eq!(faults(&(take("m", "x") + &take("m", "y"))), [(1, Rule::MutexTaken)]);
}

/// Times of processor q, converted to the clock of p.
fn fitted(points: &[(i64, i64)], times: &[i64]) -> Vec<i64> {
    let mut text = String::new();
    for (n, (p, q)) in points.iter().enumerate() {
        text += &format!("plot {p} syncSent p q {n}\nplot {q} syncReceived p q {n}\n");
    }
    let mut clocks = Clocks::default();
    each(&text, |o| clocks.occurrence(o));
    let clocks = clocks.fit();
    assert_eq!(clocks.keys().collect::<Vec<_>>(), ["q"]);
    times.iter().map(|t| clocks["q"].at(*t)).collect()
}

#[test]
fn clocks_are_put_onto_one_by_least_squares() {
    assert_eq!(fitted(&[(100, 110), (200, 210)], &[110, 160, 1010]), [100, 150, 1000]);
    // q is twice as fast as p, from 10 on.
    assert_eq!(fitted(&[(0, 10), (100, 210), (200, 410)], &[10, 110, 1010]), [0, 50, 500]);
    // The line is between the points: the mean of the differences is −10.
    assert_eq!(fitted(&[(0, 8), (0, 12)], &[8, 12]), [-2, 2]);
    // One message, or several at one time, determine the offset only.
    assert_eq!(fitted(&[(5, 25)], &[0, 25, 1025]), [-20, 5, 1005]);
    assert_eq!(fitted(&[(5, 25), (9, 25)], &[25]), [7]);
}
