//! Who gets a core of the simulated system, and what it does there.

use super::schedule::{Op, System};
use crate::explain::{Object, Said, Source, State};

impl System {
    pub fn dispatch(&mut self, core: usize, time: usize) {
        let current = self.on[core];
        let mut best = current;
        for n in 0..self.insts.len() {
            if Some(n) == current || !self.can_have(n, core) {
                continue;
            }
            let wins = best.is_none_or(|best| {
                let is_kept = Some(best) == current
                    && !self.procs[self.insts[best].actor.process as usize].is_preemptable
                    && self.urgency(n) < 1000;
                let slices = Some(best) == current && time.is_multiple_of(self.slice);
                let (mine, others) = (self.urgency(n), self.urgency(best));
                !is_kept && (mine > others || (slices && mine == others))
            });
            if wins {
                best = Some(n);
            }
        }
        if best != current {
            if let Some(current) = current {
                let inst = &mut self.insts[current];
                inst.home = core;
                inst.state = if inst.state == State::Polling { State::Parking } else { State::Ready };
            }
            self.on[core] = None;
            if self.dice.chance(40) {
                return;
            }
            self.on[core] = best;
        }
        if let Some(n) = self.on[core] {
            self.insts[n].home = core;
            if !matches!(self.insts[n].state, State::Polling | State::Parking) {
                self.insts[n].state = State::Running;
            }
            self.run(n, core, time);
        }
    }

    fn leave(&mut self, n: usize, core: usize) {
        self.insts[n].home = core;
        self.on[core] = None;
    }

    fn run(&mut self, n: usize, core: usize, time: usize) {
        loop {
            if self.insts[n].left > 0 {
                self.insts[n].left -= 1;
                return;
            }
            let Some(op) = self.insts[n].script.get(self.insts[n].next).cloned() else {
                self.insts[n].end = Some(time);
                return self.leave(n, core);
            };
            let actor = self.insts[n].actor;
            match op {
                Op::Compute(ticks) => self.insts[n].left = ticks,
                Op::Get(lock) => {
                    if self.get(n, core, time, lock) {
                        return;
                    }
                }
                Op::Give(lock) => {
                    self.owners[lock as usize] = None;
                    self.insts[n].held.retain(|held| *held != lock);
                    self.does(time, n, Said::Released, lock);
                    for inst in &mut self.insts {
                        let waits = matches!(inst.state, State::Parking | State::Waiting);
                        if inst.end.is_none() && waits && inst.asks == Some(lock) {
                            inst.state = State::Ready;
                        }
                    }
                }
                Op::Wait(mask) => {
                    let is_new = self.insts[n].delay == 0;
                    let is_set = |system: &Self| {
                        system.procs[actor.process as usize].set.iter().any(|set| mask.contains(set))
                    };
                    if is_new {
                        for event in &mask {
                            self.does(time, n, Said::WaitEvent, *event);
                        }
                        self.insts[n].delay = 1;
                        if !is_set(self) && self.dice.chance(50) {
                            // It is in the kernel for one more tick.
                            return;
                        }
                    }
                    if !is_set(self) {
                        if self.insts[n].delay == 1 {
                            let inst = &mut self.insts[n];
                            (inst.delay, inst.state, inst.waits) = (2, State::Waiting, mask);
                            inst.wait += 1;
                            return self.leave(n, core);
                        }
                        return;
                    }
                    self.insts[n].delay = 0;
                }
                Op::Clear(mask) => {
                    self.procs[actor.process as usize].set.retain(|set| !mask.contains(set));
                    for event in mask {
                        self.does(time, n, Said::ClearEvent, event);
                    }
                }
                Op::Set(owner, event) => self.set(time, core, Some(Source::Process(actor)), owner, event),
                Op::Sleep(ticks) => {
                    let inst = &mut self.insts[n];
                    inst.next += 1;
                    inst.wait += 1;
                    (inst.state, inst.sleeps_until) = (State::Waiting, Some(time + ticks));
                    return self.leave(n, core);
                }
                Op::Enter(runnable) => {
                    self.serial += 1;
                    let serial = self.serial;
                    self.insts[n].stack.push((runnable, serial));
                }
                Op::Leave => {
                    self.insts[n].stack.pop();
                }
                Op::Activate(process) => {
                    let open =
                        self.insts.iter().filter(|i| i.actor.process == process as u32 && i.end.is_none());
                    if open.count() < 4 && !self.procs[process].is_idle {
                        self.activate(process, time, Some(Source::Process(actor)), core);
                    }
                }
            }
            self.insts[n].next += 1;
        }
    }

    /// Takes a lock, or waits; true if the tick is used up.
    fn get(&mut self, n: usize, core: usize, time: usize, lock: Object) -> bool {
        let is_new = self.insts[n].asks.is_none();
        if is_new {
            self.does(time, n, Said::Request, lock);
        }
        if self.owners[lock as usize].is_none() {
            self.owners[lock as usize] = Some(n);
            self.does(time, n, Said::Assigned, lock);
            let inst = &mut self.insts[n];
            inst.held.push(lock);
            (inst.asks, inst.state) = (None, State::Running);
            inst.wait += 1;
            return false;
        }
        self.insts[n].asks = Some(lock);
        if is_new && self.dice.chance(40) {
            return true;
        }
        if lock.is_multiple_of(2) || self.procs[self.insts[n].actor.process as usize].facts.is_isr {
            self.insts[n].state = State::Polling;
        } else {
            self.does(time, n, Said::Awaits, lock);
            self.insts[n].wait += 1;
            self.insts[n].state = State::Waiting;
            self.leave(n, core);
        }
        true
    }
}
