//! Events of a scheduler against the system events that follow from them, by hand.

use super::occurrences::{ISR, IsrSaid, Leaves, Named, Said, What};
use super::*;
use crate::btf::Action;
use crate::description::Side;
use crate::map::printed;
use crate::time::TimeScale;
use What::{
    Addresses, Block, Create, End, Idle, IsrBegin, IsrEnd, IsrEndToScheduler, Mark, Ready, Reorder, Run, Stop,
};

/// Either an event on a CPU, or a gap of the first CPU.
enum At {
    Event(i64, i64, What),
    Gap(i64, i64),
}

fn on(time: i64, what: What) -> At {
    At::Event(time, 0, what)
}

fn task(task: u64) -> Said {
    Said { task, ..Said::default() }
}

fn isr(number: u64) -> IsrSaid {
    IsrSaid { key: (ISR.into(), Some(number)), name: None }
}

fn named(task: u64, name: &str) -> At {
    At::Event(0, 0, What::Task { task, name: name.into(), priority: Some(5) })
}

/// A switch of task to task, 0 being none.
fn switch(time: i64, from: u64, leaves: Leaves, to: u64) -> At {
    let said = |number: u64| (number != 0).then(|| task(number));
    on(time, What::Switch { from: said(from), leaves, to: said(to) })
}

/// What events become, see `printed`.
fn mapped(events: &[At], endless: &[&str]) -> Vec<String> {
    mapped_by("systemview", events, endless)
}

fn mapper_by(profile: &str, endless: &[&str]) -> SchedulerMapper {
    let settings = Settings {
        profiles: vec![profile.into()],
        endless: endless.iter().map(|pattern| (*pattern).to_owned()).collect(),
    };
    let recording = Recording { begin: 0, end: 100, time_scale: TimeScale::Ns, gaps: &[] };
    SchedulerMapper::new(settings, &recording).unwrap()
}

fn mapped_by(profile: &str, events: &[At], endless: &[&str]) -> Vec<String> {
    let mut mapper = mapper_by(profile, endless);
    for pass in 0..=SchedulerMapper::LOOK_AHEADS {
        for at in events {
            match at {
                At::Event(time, cpu, what) => {
                    let occurrence = Occurrence { time: *time, cpu: *cpu, what: what.clone() };
                    match pass < SchedulerMapper::LOOK_AHEADS {
                        true => drop(mapper.look_ahead(pass, &occurrence)),
                        false => mapper.event(&occurrence),
                    }
                }
                At::Gap(begin, end) => {
                    let gap = Gap { core: Some("Core_0".into()), begin: *begin, end: *end };
                    match pass < SchedulerMapper::LOOK_AHEADS {
                        true => mapper.look_ahead_gap(pass, &gap),
                        false => mapper.gap(&gap),
                    }
                }
            }
        }
        if pass < SchedulerMapper::LOOK_AHEADS {
            mapper.end_look_ahead(pass);
        }
    }
    let finished = mapper.finish();
    printed::lines(mapper.names(), &finished)
}

/// Without what BTF alone needs, and what is known.
fn events(all: &[At], endless: &[&str]) -> Vec<String> {
    let mut lines = mapped(all, endless);
    lines.retain(|line| !line.starts_with(['!', '?', '=']));
    lines
}

#[test]
fn a_task_that_loses_its_cpu_waits_if_it_becomes_ready_next() {
    let all = [
        on(1, Create(task(1))),
        on(2, Create(task(2))),
        on(3, Run(task(1))),
        on(4, Run(task(2))),
        on(5, Run(task(1))),
        on(6, Run(task(2))),
        on(7, Ready(task(1))),
        on(8, Run(task(1))),
        on(9, Idle),
        on(10, End(2)),
    ];
    let expected = [
        "1 STI_task_1 task_10 activate",
        "2 STI_task_2 task_20 activate",
        "3 Core_0 task_10 start",
        "4 Core_0 task_10 preempt",
        "4 Core_0 task_20 start",
        "5 Core_0 task_20 preempt",
        "5 Core_0 task_10 resume",
        "6 Core_0 task_10 wait",
        "6 Core_0 task_20 resume",
        "7 Core_0 task_10 release",
        "8 Core_0 task_20 preempt",
        "-8 task_20",
        "8 Core_0 task_10 resume",
        "9 Core_0 task_10 wait",
        "-10 task_20",
    ];
    assert_eq!(events(&all, &[]), expected, "nothing is told of task 2 after it lost its CPU but its end");
}

#[test]
fn names_are_those_of_their_time_and_of_one_task_each() {
    let all = [
        on(1, Ready(task(1))),
        on(2, Run(task(1))),
        named(1, "A b"),
        named(2, "A b"),
        on(3, Run(task(2))),
        on(4, End(2)),
        named(2, "C"),
        on(5, Run(task(2))),
        At::Event(6, 1, IsrBegin(isr(3))),
        At::Event(7, 1, IsrEnd),
        on(8, IsrBegin(isr(3))),
        on(9, What::IsrNames(vec![(3, "Tick".into())])),
    ];
    let found = mapped(&all, &[]).join("\n");
    for line in
        ["=1 A_b0 ready", "=3 A_b_20", "=5 C0 running", "6 Core_1 Tick_10 start", "8 Core_0 Tick_00 start"]
    {
        assert!(found.contains(line), "{line}\n{found}");
    }
}

#[test]
fn a_job_of_an_endless_task_ends_where_it_waits() {
    let all = [
        named(1, "Main"),
        on(1, Ready(task(1))),
        on(2, Run(task(1))),
        on(3, Idle),
        on(4, Ready(task(1))),
        on(5, Ready(task(1))),
        on(6, Run(task(1))),
        on(7, Block(1)),
        on(8, Run(task(2))),
    ];
    let expected = [
        "1 STI_Main Main0 activate",
        "2 Core_0 Main0 start",
        "3 Core_0 Main0 terminate",
        "4 STI_Main Main1 activate",
        "6 Core_0 Main1 start",
        "7 Core_0 Main1 terminate",
    ];
    assert_eq!(events(&all, &["*"]), expected);
    let lives = events(&all, &["*", "!Main"]).join("\n");
    assert!(lives.contains("3 Core_0 Main0 wait\n4 Core_0 Main0 release\n6 Core_0 Main0 resume"), "{lives}");
}

#[test]
fn a_change_of_priority_is_no_release() {
    let address = |ready_is| Reorder { task: Named::Address(0x104), ready_is };
    let inherits = [
        on(0, Addresses { base: 0x100, shift: 2 }),
        on(1, Create(task(1))),
        on(2, Run(task(1))),
        on(3, Run(task(2))),
        on(4, Ready(task(1))),
        on(4, address(Side::Before)),
        on(5, Run(task(1))),
        on(6, Run(task(2))),
        on(7, address(Side::Behind)),
        on(8, Ready(task(1))),
        on(9, Run(task(1))),
    ];
    let found = events(&inherits, &[]).join("\n");
    assert!(
        found.contains("3 Core_0 task_10 preempt") && found.contains("6 Core_0 task_10 preempt"),
        "{found}"
    );
    assert!(!found.contains("wait"), "{found}");
    // Elsewhere, it is one.
    let mut others = inherits;
    others[5] = At::Event(4, 1, address(Side::Before));
    others[8] = on(7, Reorder { task: Named::Number(2), ready_is: Side::Behind });
    let found = events(&others, &[]).join("\n");
    assert!(found.contains("3 Core_0 task_10 wait") && found.contains("6 Core_0 task_10 wait"), "{found}");
}

#[test]
fn isrs_interrupt_nest_and_give_the_cpu_back() {
    let all = [
        on(1, Create(task(1))),
        on(2, Run(task(1))),
        on(3, IsrBegin(isr(1))),
        on(4, IsrBegin(isr(2))),
        on(5, IsrEnd),
        on(6, IsrEnd),
        on(7, IsrBegin(isr(1))),
        on(8, IsrEndToScheduler),
        on(9, Run(task(1))),
        on(10, IsrBegin(isr(1))),
        on(11, IsrEndToScheduler),
        on(12, Idle),
        on(13, Ready(task(1))),
        on(14, Run(task(1))),
        on(15, IsrBegin(isr(1))),
        on(16, Ready(task(1))),
        on(17, Run(task(1))),
        on(18, IsrEnd),
    ];
    let expected = [
        "1 STI_task_1 task_10 activate",
        "2 Core_0 task_10 start",
        "3 Core_0 task_10 preempt",
        "3 Core_0 ISR_10 start",
        "4 Core_0 ISR_10 preempt",
        "4 Core_0 ISR_20 start",
        "5 Core_0 ISR_20 terminate",
        "5 Core_0 ISR_10 resume",
        "6 Core_0 ISR_10 terminate",
        "6 Core_0 task_10 resume",
        "7 Core_0 task_10 preempt",
        "7 Core_0 ISR_11 start",
        "8 Core_0 ISR_11 terminate",
        "9 Core_0 task_10 resume",
        // It waits: the ISR is the one by which it gives its CPU back.
        "10 Core_0 task_10 wait",
        "10 Core_0 ISR_12 start",
        "11 Core_0 ISR_12 terminate",
        "13 Core_0 task_10 release",
        "14 Core_0 task_10 resume",
        // It has its CPU still: it did not wait.
        "15 Core_0 task_10 preempt",
        "15 Core_0 ISR_13 start",
        "17 Core_0 ISR_13 terminate",
        "17 Core_0 task_10 resume",
        "isr-without-begin: 1 ISRs end that did not begin",
        "isr-without-end: 1 ISRs do not end: they are over when the scheduler acts",
    ];
    assert_eq!(events(&all, &[]), expected);
}

#[test]
fn what_appears_where_another_process_runs_does_not_cut_it_off() {
    let all = [on(1, IsrBegin(isr(1))), on(2, Ready(task(1))), on(3, IsrEnd), on(4, Run(task(1)))];
    let found = mapped(&all, &[]).join("\n");
    assert!(found.contains("=2 task_10 ready") && found.contains("3 Core_0 ISR_10 terminate"), "{found}");
    assert!(!found.contains("lost-events") && !found.contains("-1 ISR_10"), "{found}");
}

#[test]
fn tasks_move_from_cpu_to_cpu() {
    let all = [
        on(1, Create(task(1))),
        on(2, Run(task(1))),
        At::Event(3, 1, Run(task(1))),
        on(4, Run(task(2))),
        At::Event(5, 1, Stop),
        on(6, Ready(task(1))),
        on(7, Run(task(1))),
    ];
    let found = mapped(&all, &[]).join("\n");
    let expected = [
        "2 Core_0 task_10 start\n3 Core_0 task_10 preempt\n3 Core_1 task_10 resume",
        "5 Core_1 task_10 wait\n6 Core_1 task_10 release",
        "7 Core_0 task_10 resume",
    ];
    for lines in expected {
        assert!(found.contains(lines), "{lines}\n{found}");
    }
    assert!(!found.contains("lost-events"), "{found}");
}

#[test]
fn a_waiting_task_that_runs_was_released() {
    let all = [on(1, Create(task(1))), on(2, Run(task(1))), on(3, Block(1)), on(4, Run(task(1)))];
    let found = events(&all, &[]);
    assert_eq!(found[2..], ["3 Core_0 task_10 wait", "4 Core_0 task_10 release", "4 Core_0 task_10 resume"]);
}

#[test]
fn behind_a_gap_all_is_as_at_the_begin() {
    let all = [
        on(1, Create(task(1))),
        on(2, Run(task(1))),
        on(3, IsrBegin(isr(1))),
        At::Gap(3, 9),
        on(9, Ready(task(1))),
        on(10, Run(task(1))),
        on(11, Run(task(2))),
        At::Gap(11, 12),
        on(13, Ready(task(2))),
    ];
    let found = mapped(&all, &[]).join("\n");
    assert!(found.contains("-3 task_10") && found.contains("gap Core_0 3 9"), "{found}");
    assert!(found.contains("=9 task_11 ready\n10 Core_0 task_11 resume"), "{found}");
    assert!(
        found.contains("11 Core_0 task_11 preempt\n-11 task_11"),
        "what became of it was not seen: {found}"
    );
    assert!(!found.contains("isr-without"), "{found}");
}

#[test]
fn a_gap_of_one_cpu_hides_what_no_other_cpu_runs() {
    use Leaves::Waits;
    let switch = |time: i64, from: u64, to: u64| {
        let said = |number: u64| (number != 0).then(|| task(number));
        At::Event(time, 1, What::Switch { from: said(from), leaves: Waits, to: said(to) })
    };
    let wakes = |time: i64| At::Event(time, 2, Ready(Said { cpu: Some(0), ..task(7) }));
    // In the gap, it has run on CPU 0, and waits behind it.
    let all =
        [switch(90, 7, 0), At::Gap(100, 200), wakes(110), wakes(250), switch(255, 0, 7), switch(270, 7, 0)];
    let expected = [
        "90 Core_1 task_70 terminate",
        "110 STI_task_7 task_71 activate",
        "-110 task_71",
        "-200 task_71",
        "250 STI_task_7 task_72 activate",
        "255 Core_1 task_72 start",
        "270 Core_1 task_72 terminate",
    ];
    assert_eq!(events(&all, &["*"]), expected);
}

#[test]
fn in_a_gap_of_one_cpu_what_others_run_goes_on() {
    let on = |time: i64, what: What| At::Event(time, 1, what);
    let all = [
        on(1, Run(task(1))),
        on(2, Run(task(2))),
        At::Gap(5, 20),
        on(8, IsrBegin(isr(1))),
        on(9, IsrEnd),
        At::Event(12, 2, Ready(task(1))),
        on(14, Run(task(3))),
        on(16, Run(task(2))),
        on(25, Run(task(1))),
    ];
    let found = mapped(&all, &[]).join("\n");
    let expected = [
        // Whether it waits, the event at 12 does not say: it may have run and waited in the gap.
        "2 Core_1 task_10 preempt\n-2 task_10",
        "8 Core_1 task_20 preempt\n8 Core_1 ISR_10 start\n9 Core_1 ISR_10 terminate\n9 Core_1 task_20 resume",
        "=12 task_11 ready\n-12 task_11",
        "14 Core_1 task_20 preempt\n-14 task_20",
        "16 Core_1 task_20 resume\n-16 task_30",
        "-20 task_11",
        "=25 task_12 running",
    ];
    for lines in expected {
        assert!(found.contains(lines), "{lines}\n{found}");
    }
    assert!(!found.contains("-8 task_20") && !found.contains("-20 task_20"), "it has its CPU: {found}");
}

#[test]
fn an_isr_before_the_first_switch_shifts_no_answers() {
    let all = [
        on(10, IsrBegin(isr(1))),
        on(12, IsrEnd),
        switch(20, 1, Leaves::Waits, 2),
        on(22, IsrBegin(isr(1))),
        on(24, IsrEnd),
        on(30, IsrBegin(isr(1))),
    ];
    let found = mapped(&all, &[]);
    let lost: Vec<&String> = found.iter().filter(|line| line.starts_with('-')).collect();
    assert_eq!(lost, ["-30 task_20"], "what became of the others is known: {found:?}");
}

#[test]
fn marks_are_signals_of_what_runs() {
    let mark = |time, value| on(time, Mark { mark: 7, value });
    let all = [
        mark(1, 1),
        on(2, Run(task(1))),
        mark(3, 1),
        on(4, IsrBegin(isr(1))),
        mark(5, 0),
        on(6, IsrEndToScheduler),
        mark(7, 1),
        on(8, What::MarkName { mark: 7, name: "here".into() }),
    ];
    let found = mapped(&all, &[]).join("\n");
    assert!(found.contains("3 task_1 here0 write") && found.contains("5 ISR_1 here0 write"), "{found}");
    assert!(found.contains("mark-of-nobody: 2 marks"), "{found}");
}

#[test]
fn what_does_not_run_can_be_suspended_and_ended() {
    let all = [
        on(1, Create(task(1))),
        on(2, Run(task(1))),
        on(3, Run(task(2))),
        on(4, Block(1)),
        on(5, End(1)),
        on(6, Create(task(1))),
        on(7, What::Unread),
    ];
    let found = mapped(&all, &[]).join("\n");
    assert!(found.contains("-4 task_10"), "its state is not known from then on: {found}");
    assert!(
        found.contains("!5 Core_0 task_10 terminate") && found.contains("6 STI_task_1 task_11 activate"),
        "{found}"
    );
    assert!(found.contains("missing-parameter: 1 events lack a parameter"), "{found}");
}

#[test]
fn what_waits_and_is_ended_has_waited_until_then() {
    let all =
        [on(1, Create(task(1))), on(2, Run(task(1))), on(3, Block(1)), on(4, Run(task(2))), on(5, End(1))];
    let found = mapped(&all, &[]).join("\n");
    assert!(found.contains("3 Core_0 task_10 wait"), "{found}");
    assert!(found.contains("-5 task_10\n!5 Core_0 task_20 preempt\n!5 Core_0 task_10 release"), "{found}");
}

#[test]
fn a_switch_says_what_becomes_of_who_leaves() {
    use Leaves::{Ends, MayEnd, Ready as CanRun, Waits};
    let all = [
        on(0, Create(task(1))),
        switch(1, 0, CanRun, 1),
        switch(2, 1, CanRun, 2),
        switch(3, 2, Waits, 1),
        on(4, IsrBegin(isr(1))),
        on(5, Ready(task(2))),
        on(6, IsrEnd),
        switch(7, 1, Waits, 2),
        switch(8, 2, Ends, 0),
        on(9, Ready(task(1))),
        switch(10, 0, CanRun, 1),
        switch(11, 1, MayEnd, 0),
        on(12, Ready(task(1))),
        switch(13, 0, CanRun, 1),
        switch(14, 1, MayEnd, 0),
        on(15, Create(task(1))),
    ];
    let expected = [
        "0 STI_task_1 task_10 activate",
        "1 Core_0 task_10 start",
        "2 Core_0 task_10 preempt",
        // Of task 2, nothing is known before.
        "2 Core_0 task_20 resume",
        "3 Core_0 task_20 wait",
        "3 Core_0 task_10 resume",
        "4 Core_0 task_10 preempt",
        "4 Core_0 ISR_10 start",
        "5 Core_0 task_20 release",
        "6 Core_0 ISR_10 terminate",
        "6 Core_0 task_10 resume",
        "7 Core_0 task_10 wait",
        "7 Core_0 task_20 resume",
        "8 Core_0 task_20 terminate",
        "9 Core_0 task_10 release",
        "10 Core_0 task_10 resume",
        "11 Core_0 task_10 wait",
        "12 Core_0 task_10 release",
        "13 Core_0 task_10 resume",
        "14 Core_0 task_10 terminate",
        "15 STI_task_1 task_11 activate",
    ];
    let mut found = mapped_by("linux", &all, &[]);
    let known = found.iter().position(|line| line == "=2 task_20 running").expect("it runs from then on");
    found[known] = expected[3].to_owned();
    found.retain(|line| !line.starts_with(['!', '?', '=']));
    assert_eq!(found, expected);
}

#[test]
fn a_task_is_called_by_its_last_name_until_it_ends() {
    let said = |name: &str| Said { task: 7, name: Some(name.into()), ..Said::default() };
    let all = [
        on(1, Create(said("sh"))),
        on(2, Run(said("sh"))),
        on(3, Run(said("ls"))),
        switch(4, 7, Leaves::Ends, 0),
        on(5, Create(said("cat"))),
        on(6, Create(Said { task: 8, ..said("cat") })),
    ];
    let found = mapped_by("linux", &all, &[]).join("\n");
    for line in [
        "1 STI_ls ls0 activate",
        "4 Core_0 ls0 terminate",
        "5 STI_cat cat0 activate",
        "STI_cat_8 cat_80 activate",
    ] {
        assert!(found.contains(line), "{line}\n{found}");
    }
    assert!(!found.contains("sh0"), "{found}");
}

#[test]
fn isrs_of_classes_have_names() {
    let begin = |class: &str, number: Option<u64>, name: Option<&str>| {
        IsrBegin(IsrSaid { key: (class.into(), number), name: name.map(Arc::from) })
    };
    let all = [
        on(1, begin("irq", Some(1), Some("eth 0"))),
        on(2, begin("softirq", Some(1), None)),
        on(3, IsrEnd),
        on(4, IsrEnd),
        on(5, begin("irq", Some(2), Some("eth 0"))),
        on(6, IsrEnd),
        on(7, begin("timer", None, None)),
        on(8, begin("timer", None, None)),
        on(9, IsrEnd),
        on(9, IsrEnd),
    ];
    let expected = [
        "1 Core_0 eth_00 start",
        "2 Core_0 eth_00 preempt",
        "2 Core_0 softirq_10 start",
        "3 Core_0 softirq_10 terminate",
        "3 Core_0 eth_00 resume",
        "4 Core_0 eth_00 terminate",
        "5 Core_0 eth_0_20 start",
        "6 Core_0 eth_0_20 terminate",
        "7 Core_0 timer0 start",
        "8 Core_0 timer0 preempt",
        "8 Core_0 timer_nested_10 start",
        "9 Core_0 timer_nested_10 terminate",
        "9 Core_0 timer0 resume",
        "9 Core_0 timer0 terminate",
    ];
    assert_eq!(events(&all, &[]), expected);
}

#[test]
fn semaphores_are_used_by_what_runs_and_step_by_step() {
    let step = |time: i64, action: Action| on(time, What::Semaphore { action, name: "SEM_1".into() });
    let all = [
        step(0, Action::Released),
        on(1, Create(task(1))),
        on(2, Run(task(1))),
        step(3, Action::Assigned),
        step(4, Action::RequestSemaphore),
        step(5, Action::Waiting),
        step(6, Action::Released),
        step(7, Action::Assigned),
        step(8, Action::Released),
        step(9, Action::RequestSemaphore),
        step(9, Action::RequestSemaphore),
        step(10, Action::Waiting),
        step(11, Action::Waiting),
        step(12, Action::RequestSemaphore),
        step(13, Action::Waiting),
    ];
    let found = events(&all, &[]);
    let expected = [
        "4 task_1 SEM_10 requestsemaphore",
        "5 task_1 SEM_10 waiting",
        "7 task_1 SEM_10 assigned",
        "8 task_1 SEM_10 released",
        "9 task_1 SEM_10 requestsemaphore",
        "10 task_1 SEM_10 waiting",
        // It did not get it.
        "12 task_1 SEM_10 requestsemaphore",
        "13 task_1 SEM_10 waiting",
        "semaphore-of-nobody: 1 steps of semaphores were taken where nothing runs: they are in trace_event only",
        "semaphore-without-request: 4 steps of semaphores do not follow from the ones before: they are in trace_event only",
    ];
    assert_eq!(found[2..], expected, "no step without its request, and no release of what is wanted");
}

#[test]
fn callbacks_are_runnables_of_their_threads() {
    let begin = |time: i64, thread: u64| {
        on(time, What::CallbackBegin { callback: (1, 9), process: "app".into(), thread })
    };
    let end = |time: i64, thread: u64| on(time, What::CallbackEnd { callback: (1, 9), thread });
    let label = |name: &str| on(0, What::Label { object: (1, 5), name: name.into() });
    let same = |object, other| on(0, What::LabelAs { object: (1, object), other: (1, other) });
    let alone = [begin(1, 4), end(3, 4), label("/topic"), same(9, 7), same(7, 5), end(4, 4), begin(5, 4)];
    let found = mapped_by("ros2", &alone, &[]).join("\n");
    let expected = [
        "=1 app0 running\n1 app app/topic0 start\n3 app app/topic0 terminate\n3 Core_0 app0 preempt\n-3 app0",
        "5 app app/topic1 start",
    ];
    for lines in expected {
        assert!(found.contains(lines), "{lines}\n{found}");
    }
    // A scheduler says when the thread runs.
    let scheduled = [
        begin(1, 4),
        on(2, Run(task(4))),
        begin(3, 4),
        switch(4, 4, Leaves::Ready, 0),
        end(5, 4),
        on(6, Run(task(4))),
    ];
    let found = mapped_by("ros2", &scheduled, &[]).join("\n");
    let expected = [
        "3 app app/callback_90 start\n4 app app/callback_90 suspend\n4 Core_0 app0 preempt",
        "6 Core_0 app0 resume\n6 app app/callback_90 resume\n6 app app/callback_90 terminate",
        "callback-of-nobody: 2 callbacks",
    ];
    for lines in expected {
        assert!(found.contains(lines), "{lines}\n{found}");
    }
}

#[test]
fn a_task_that_pends_waits_when_it_leaves_its_cpu() {
    let all = [
        on(1, Create(task(1))),
        on(2, Run(task(1))),
        on(3, What::Pend(1)),
        on(5, Stop),
        on(6, What::Pend(1)),
        on(7, Ready(task(1))),
        on(8, Run(task(1))),
        on(9, What::Pend(1)),
        on(10, Ready(task(1))),
        on(11, Stop),
        on(12, Run(task(1))),
    ];
    let expected = [
        "2 Core_0 task_10 start",
        "5 Core_0 task_10 wait",
        "7 Core_0 task_10 release",
        "8 Core_0 task_10 resume",
        "11 Core_0 task_10 preempt",
        "12 Core_0 task_10 resume",
    ];
    assert_eq!(
        mapped_by("zephyr", &all, &[])
            .into_iter()
            .filter(|line| !line.starts_with(['!', '?', '=']))
            .collect::<Vec<_>>()[1..],
        expected
    );
}

#[test]
fn a_semaphore_that_another_gives_is_nobodys() {
    let step = |time: i64, action: Action| on(time, What::Semaphore { action, name: "SEM_1".into() });
    let all = [
        on(1, Run(task(1))),
        step(2, Action::RequestSemaphore),
        step(3, Action::Assigned),
        on(4, Run(task(2))),
        step(5, Action::Released),
        step(6, Action::Released),
    ];
    let found = events(&all, &[]);
    let of_semaphore: Vec<&String> = found.iter().filter(|line| line.contains("SEM")).collect();
    let expected =
        ["2 task_1 SEM_10 requestsemaphore", "3 task_1 SEM_10 assigned", "3 task_1 SEM_10 released"];
    assert_eq!(of_semaphore, expected);
}

#[test]
fn what_was_wanted_or_held_before_a_gap_says_nothing_behind_it() {
    let step = |time: i64, action: Action| on(time, What::Semaphore { action, name: "SEM_1".into() });
    let all = [
        on(1, Run(task(1))),
        step(2, Action::RequestSemaphore),
        step(3, Action::Assigned),
        on(4, What::Pend(1)),
        At::Gap(5, 6),
        on(7, Run(task(1))),
        step(8, Action::RequestSemaphore),
        step(9, Action::Assigned),
        on(10, Run(task(2))),
        on(11, Run(task(1))),
        step(12, Action::Released),
    ];
    let found = events(&all, &[]).join("\n");
    for line in ["9 task_1 SEM_10 assigned\n10 Core_0 task_11 preempt", "12 task_1 SEM_10 released"] {
        assert!(found.contains(line), "{line}\n{found}");
    }
    assert!(!found.contains("semaphore-is-signal"), "{found}");
}

/// A gap costs as much as what it hides, however many tasks there were.
#[test]
fn what_a_gap_has_cut_is_not_kept() {
    let mut mapper = mapper_by("systemview", &["*"]);
    let mut begun = 0;
    let mut step = |mapper: &mut SchedulerMapper, number: u64| {
        let request = What::Semaphore { action: Action::RequestSemaphore, name: "SEM_1".into() };
        for what in [Ready(task(number)), Run(task(number)), request, Block(number), Ready(task(number))] {
            begun += 1;
            mapper.event(&Occurrence { time: begun, cpu: 0, what });
        }
        begun
    };
    for number in 1..20 {
        let begin = step(&mut mapper, number);
        mapper.gap(&Gap { core: Some("Core_0".into()), begin, end: begin });
        assert_eq!((mapper.rules.processes.known().count(), mapper.rules.requested.len()), (0, 0));
    }
    // Nor does a job leave something behind that ends while it wants a semaphore.
    for _ in 0..20 {
        step(&mut mapper, 1);
    }
    assert_eq!((mapper.rules.processes.known().count(), mapper.rules.requested.len()), (1, 1));
}

#[test]
fn the_first_switch_of_a_cpu_says_what_ran_since_the_begin() {
    use Leaves::{Ready as CanRun, Waits};
    let first = |n: usize, all: &[At]| mapped(all, &[]).into_iter().take(n).collect::<Vec<_>>();
    let all = [on(3, Ready(task(2))), switch(5, 1, CanRun, 2), switch(7, 2, Waits, 1)];
    let expected = ["?0 STI_task_1 task_10 activate", "!0 Core_0 task_10 start", "=0 task_10 running"];
    assert_eq!(first(3, &all), expected);
    // Not across a gap, nor of a CPU that idles.
    let all = [At::Gap(1, 2), switch(5, 1, CanRun, 2)];
    assert!(!mapped(&all, &[]).iter().any(|line| line.starts_with("=0 ")), "{:?}", mapped(&all, &[]));
    let all = [switch(5, 0, CanRun, 2), switch(6, 2, CanRun, 1)];
    assert!(!mapped(&all, &[]).iter().any(|line| line.starts_with("=0 ")), "{:?}", mapped(&all, &[]));
}

#[test]
fn a_task_that_is_woken_for_another_cpu_is_ready_there() {
    let all = [on(1, Ready(Said { cpu: Some(1), ..task(7) })), At::Event(2, 1, Run(task(7)))];
    let lines = mapped(&all, &[]);
    assert!(lines.iter().all(|line| !line.contains("Core_0")), "{lines:?}");
}

#[test]
fn a_switch_that_was_not_recorded_is_not_made_up() {
    use Leaves::{Ready as CanRun, Waits};
    // How task 1 got the CPU that idled is missing: it ran at some time before 9.
    let all = [switch(1, 1, Waits, 0), on(5, Ready(task(1))), switch(9, 1, Waits, 0)];
    let lines = mapped(&all, &["task_1"]);
    assert!(lines.iter().any(|line| line.starts_with("-5 ") && line.contains("task_1")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("lost-events")), "{lines:?}");
    // How task 2 left the CPU and task 3 got it is missing.
    let all = [switch(1, 1, CanRun, 2), on(3, Ready(task(3))), switch(9, 3, Waits, 1)];
    let lines = mapped(&all, &[]);
    for lost in ["-1 task_2", "-3 task_3"] {
        assert!(lines.iter().any(|line| line.starts_with(lost)), "{lost}: {lines:?}");
    }
    // What moves between CPUs at one instant is lost nowhere.
    let all = [
        switch(1, 1, CanRun, 2),
        At::Event(4, 1, What::Switch { from: None, leaves: CanRun, to: Some(task(2)) }),
        switch(4, 2, CanRun, 1),
    ];
    assert!(!mapped(&all, &[]).iter().any(|line| line.contains("lost-events")), "{:?}", mapped(&all, &[]));
}

#[test]
fn lives_of_one_number_and_name_are_counted() {
    use Leaves::{Ends, Ready as CanRun};
    let life = |n: i64| {
        let named = Said { name: Some("sh".into()), ..task(7) };
        let begins = What::Switch { from: None, leaves: CanRun, to: Some(named.clone()) };
        [on(10 * n, begins), on(10 * n + 5, What::Switch { from: Some(named), leaves: Ends, to: None })]
    };
    let all: Vec<At> = (0..5).flat_map(life).collect();
    let lines = mapped_by("linux", &all, &[]).join("\n");
    for name in ["sh0 start", "sh_70 start", "sh_7_20 start", "sh_7_30 start", "sh_7_40 start"] {
        assert!(lines.contains(name), "{name}: {lines}");
    }
}
