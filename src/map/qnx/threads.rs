//! Rules for threads and processes: states become transitions of tasks. Not what threads do while they run.

use super::counters::Finding;
use super::dump::{process, thread};
use super::entities::Named;
use super::mapper::QnxMapper;
use super::state::{Phase, Thread};
use super::{Irq, words};
use crate::btf::{Action, EntityType, NameId, Note};
use crate::map::UNSEEN_AT_GAP;
use crate::qnx::{Event, UNKNOWN, event_name};

impl QnxMapper {
    pub(super) fn thread_event(&mut self, cpu: usize, event: &Event<'_>) {
        let Some((pid, tid)) = words::thread(event) else { return self.count(Finding::NoThread) };
        let known = self.threads.find((pid, tid));
        match event.event {
            thread::CREATE => self.created(known, pid, tid),
            thread::DEAD | thread::DESTROY => match known {
                Some(t) => self.ended(cpu, t),
                None => self.ended_unseen(pid, tid),
            },
            _ => {
                let Some(t) = known.or_else(|| self.born(pid, tid, None)) else { return };
                match event.event {
                    thread::RUNNING => self.running(cpu, t, event),
                    thread::READY => self.ready(cpu, t, event),
                    _ => self.blocked(cpu, t, event),
                }
                // In the middle of a job that began in a gap: what wakes the thread begins none.
                let in_job = self.threads[t].phase == Phase::Off && !self.state(event).1;
                // In a gap of another CPU, only who runs is known.
                let elsewhere = self.in_gap && self.threads[t].on.is_none();
                self.threads[t].lost &= in_job || elsewhere;
            }
        }
    }

    pub(super) fn process_event(&mut self, event: &Event<'_>, text: Option<&str>) {
        match event.event {
            process::DESTROY | process::DESTROY_NAME => {
                let pid = event.word(1);
                // Exits of threads may be missing (7.1).
                for t in self.threads.living() {
                    if self.threads[t].pid == pid {
                        self.ended(usize::MAX, t);
                    }
                }
            }
            process::THREAD_NAME => {
                let known = self.threads.find((event.word(0), event.word(1)));
                if let (Some(t), Some(name)) = (known, text.filter(|name| !name.is_empty())) {
                    self.threads[t].own_name = Some(self.intern(name));
                }
            }
            _ => {}
        }
    }

    /// Rule Q3: a new thread; `None` beyond the limits. It has no instance yet.
    fn born(&mut self, pid: u32, tid: u32, created_at: Option<i64>) -> Option<usize> {
        let Some((incarnation, born)) = self.threads.next((pid, tid)) else {
            self.count(Finding::TooManyThreads);
            return None;
        };
        let name = self.task(pid, tid);
        let process = self.directory.name_at(pid, self.now).map(str::to_owned);
        let process = process.map(|name| self.intern(&name));
        let idle = self.directory.idles(pid, tid, self.settings.cpus);
        if idle {
            self.idle_tasks.push(name);
        }
        let thread = Thread {
            pid,
            tid,
            name,
            process,
            incarnation,
            born,
            created_at: created_at.filter(|_| !self.dumped),
            dumped: self.dumped,
            idle,
            exported: !idle || self.settings.idle,
            lost: self.in_gap,
            core: self.entities.nowhere,
            ..Thread::default()
        };
        Some(self.threads.add(thread))
    }

    /// The task of a thread, known or not.
    pub(super) fn task(&mut self, pid: u32, tid: u32) -> NameId {
        match self.threads.find((pid, tid)) {
            Some(t) => self.threads[t].name,
            None => {
                let name = format!("{}_T{tid}", self.process_name(pid));
                self.intern(&name)
            }
        }
    }

    /// Rule Q4: an instance begins without a recorded creation: of an earlier thread, or its next job. That a
    /// job began is known only if the thread was seen at the end of the one before.
    fn begin(&mut self, t: usize) {
        let thread = &self.threads[t];
        let recorded = thread.began && !thread.lost && !self.settings.jobs.is_empty();
        let stimulus = match self.threads[t].woken {
            Some(wake) => format!("STI_{}", wake.as_str()),
            None if self.dumped => "STI_initial".to_owned(),
            None => "STI_unknown".to_owned(),
        };
        self.activate(t, &stimulus, recorded);
    }

    fn created(&mut self, known: Option<usize>, pid: u32, tid: u32) {
        if let Some(t) = known {
            if self.dumped || !self.threads[t].lost {
                if !self.dumped {
                    self.count(Finding::CreatedTwice);
                }
                return;
            }
            // It ended in a gap.
            self.cut_threads(vec![t]);
            self.end_in_gap(t);
            self.forget(t, None);
        }
        let Some(t) = self.born(pid, tid, Some(self.now)) else { return };
        if !self.dumped {
            self.activate(t, "STI_create", true);
            self.begin_state(t, self.entities.notes.create, None);
        } else if self.settings.jobs.is_empty() {
            self.activate(t, "STI_initial", false);
        }
    }

    /// Rules Q5, Q6 and Q7.
    fn running(&mut self, cpu: usize, t: usize, event: &Event<'_>) {
        self.end_interrupts(cpu);
        if self.cores[cpu].running == Some(t) {
            return self.begin_event_state(t, event);
        }
        if let Some(other) = self.cores[cpu].running {
            // The kernel records the new thread first.
            self.leave(other, Action::Preempt, self.entities.notes.implicit, Note::None);
            self.off_cpu(other);
            let by = self.threads[t].pid_tid();
            self.begin_state(other, self.entities.notes.ready, Some(by));
        }
        if let Some(from) = self.threads[t].on {
            self.leave(t, Action::Preempt, self.entities.notes.migrate, Note::None);
            self.cores[from].running = None;
        }
        self.woken(t);
        self.note_successor(cpu, t);
        self.cores[cpu].running = Some(t);
        self.threads[t].on = Some(cpu);
        self.threads[t].cpu = Some(cpu);
        self.begin_event_state(t, event);
        if self.threads[t].phase == Phase::Off {
            self.begin(t);
        }
        self.enter(t, self.cores[cpu].name, self.entities.notes.direct, Note::None);
        if std::mem::take(&mut self.threads[t].replied) && self.threads[t].exported {
            let (pid, tid) = self.threads[t].pid_tid();
            let event = self.named(Named::Reply, (pid, u64::from(tid)), |_| format!("RPL_{pid}_{tid}"));
            let actor = self.actor(t);
            self.emit(actor, EntityType::OsEvent, (event, 0), Action::ClearEvent, Note::None);
        }
    }

    /// Rule Q8.
    fn ready(&mut self, cpu: usize, t: usize, event: &Event<'_>) {
        let on = self.threads[t].on;
        if on.is_some_and(|on| on != cpu) && self.threads[t].began_now(self.now) {
            // Equal times of two CPUs say nothing about the order: another CPU made it ready before it ran.
            return;
        }
        if let Some(cpu) = on {
            self.leave(t, Action::Preempt, Note::None, Note::None);
            self.off_cpu(t);
            self.cores[cpu].vacated = Some((t, self.threads[t].born));
            return self.begin_event_state(t, event);
        }
        self.woken(t);
        self.begin_event_state(t, event);
        match self.threads[t].phase {
            Phase::Off => self.begin(t),
            Phase::Waiting => self.release(t, Note::None),
            Phase::Active | Phase::Ready | Phase::Running => {}
        }
    }

    /// Rules Q9 and Q11.
    fn blocked(&mut self, cpu: usize, t: usize, event: &Event<'_>) {
        let (name, job) = self.state(event);
        // After a gap, the event may repeat what BTF already has.
        let lost = self.threads[t].lost;
        if self.threads[t].on == Some(cpu) && self.settings.irq == Irq::Preempt {
            // A thread that blocks was executing: interrupts are over.
            self.end_interrupts(cpu);
        }
        self.woken(t);
        if self.threads[t].phase == Phase::Running {
            self.waits(t, event);
        }
        if self.threads[t].on.is_some() {
            self.off_cpu(t);
        }
        self.begin_event_state(t, event);
        let action = if job { Action::Terminate } else { Action::Wait };
        match self.threads[t].phase {
            Phase::Off if job || self.threads[t].began => return,
            Phase::Off => self.begin(t),
            Phase::Waiting if !job && !lost => return,
            _ => {}
        }
        self.enter_nowhere(t);
        self.leave(t, action, Note::Name(name), self.entities.notes.job_end);
    }

    /// Rule Q28: takes a thread from its core at a gap and ends its runnables, in BTF.
    pub(super) fn close_thread(&mut self, t: usize) {
        let (gap, phase) = (self.note(UNSEEN_AT_GAP), self.threads[t].phase);
        if !self.threads[t].runnables.is_empty() {
            if phase != Phase::Running {
                let nowhere = self.entities.nowhere;
                self.enter(t, nowhere, gap, gap);
            }
            let actor = self.actor(t);
            for runnable in std::mem::take(&mut self.threads[t].runnables).into_iter().rev() {
                self.emit(actor, EntityType::Runnable, runnable, Action::Terminate, gap);
            }
        }
        let action = if phase == Phase::Waiting { Action::Wait } else { Action::Preempt };
        self.leave(t, action, gap, Note::None);
    }

    /// Rule Q28: ends the instance of a thread that ended in a gap, in BTF.
    fn end_in_gap(&mut self, t: usize) {
        let gap = self.note(UNSEEN_AT_GAP);
        self.closing = true;
        self.enter(t, self.entities.nowhere, gap, gap);
        self.leave(t, Action::Terminate, gap, gap);
        self.closing = false;
    }

    /// In BTF, only a running process can wait or end: the thread runs for no time on no core.
    fn enter_nowhere(&mut self, t: usize) {
        if self.threads[t].phase != Phase::Running {
            self.enter(t, self.entities.nowhere, self.entities.notes.synth, self.entities.notes.synth);
        }
    }

    /// Rule Q10: a thread ends, on `cpu` or elsewhere.
    fn ended(&mut self, cpu: usize, t: usize) {
        if self.threads[t].on == Some(cpu) && self.settings.irq == Irq::Preempt {
            self.end_interrupts(cpu);
        }
        if self.threads[t].phase != Phase::Off {
            let seen = self.threads[t].phase == Phase::Running;
            self.enter_nowhere(t);
            let note = if seen { Note::None } else { self.entities.notes.synth };
            self.leave(t, Action::Terminate, note, self.entities.notes.thread_end);
        }
        if self.threads[t].on.is_some() {
            self.off_cpu(t);
        }
        self.end_thread(t);
        self.forget(t, Some(self.now));
    }

    /// The end of an otherwise unknown thread: the first of DESTROY and DEAD counts.
    fn ended_unseen(&mut self, pid: u32, tid: u32) {
        if !self.threads.was_seen((pid, tid))
            && let Some(t) = self.born(pid, tid, None)
        {
            self.forget(t, Some(self.now));
        }
    }

    fn forget(&mut self, t: usize, ended: Option<i64>) {
        self.write_thread(t, ended);
        self.threads.remove(t);
    }

    /// A blocked thread leaves its state: finds what woke it.
    fn woken(&mut self, t: usize) {
        let thread = &mut self.threads[t];
        let Some(stretch) = thread.stretch.as_mut().filter(|stretch| stretch.blocked) else { return };
        let state = (self.entities.names.text(stretch.state), stretch.turn);
        thread.woken = self.causes.last(thread.pid, state, thread.cause, stretch.address);
        stretch.wake = thread.woken;
    }

    /// The thread no longer has its CPU in the kernel's view.
    fn off_cpu(&mut self, t: usize) {
        if let Some(cpu) = self.threads[t].on.take()
            && self.cores[cpu].running == Some(t)
        {
            self.cores[cpu].running = None;
        }
    }

    /// Name of a native state, and whether it ends a job.
    pub(super) fn state(&mut self, event: &Event<'_>) -> (NameId, bool) {
        let name = event_name(self.settings.flavour.version, event);
        let job = self.settings.jobs.iter().any(|job| job.eq_ignore_ascii_case(name));
        let number = event.event;
        let spell = |_: &Self| if name == UNKNOWN { format!("STATE_{number}") } else { name.to_owned() };
        (self.named(Named::State, (0, u64::from(number)), spell), job)
    }
}
