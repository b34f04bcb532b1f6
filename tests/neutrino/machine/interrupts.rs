//! Interrupts: handlers, nested ones, and their effects, which the kernel applies later. 8.0 has no handlers,
//! it delivers to threads.

use std::io::Write;

use super::super::codes::{communication, state};
use super::super::{Code, Release};
use super::{Effect, Interrupt, Item, Machine, Return};

/// Maximum nesting of interrupts.
const MAX_DEPTH: u8 = 3;
/// The clock is the first source.
const CLOCK: usize = 0;
/// Where handlers keep their data.
const AREA: u64 = 0x0812_a060;
/// Maximum number of pulses that wait at a channel.
const MAX_QUEUE: usize = 64;
/// Connection of the kernel's own pulses, in published listings.
const SCOID: u32 = 0x4000_0002;

impl<W: Write> Machine<W> {
    /// A sleeping thread's time is over.
    pub(super) fn alarm(&mut self, thread: usize, sleep: u32, at: u64) {
        let cpu = self.threads[thread].cpu;
        self.interrupt_at(cpu, CLOCK, Some(Effect::Timeout { thread, sleep }), at);
    }

    /// An interrupt comes at a CPU outside of the kernel. Its events do not wait for other CPUs, its effects
    /// do.
    pub(super) fn interrupt_at(&mut self, cpu: usize, source: usize, effect: Option<Effect>, at: u64) {
        let state = &mut self.cpus[cpu];
        state.now = state.now.max(at);
        if let (Some(due), Some(current)) = (state.due.take(), state.current) {
            self.threads[current].left = due.saturating_sub(state.now).max(1);
        }
        self.interrupt(cpu, source, effect);
        if source == CLOCK || !self.cpus[cpu].effects.is_empty() {
            self.enter(cpu, at);
            if source == CLOCK {
                self.rotate(cpu);
            }
            self.leave(cpu);
        }
        self.arm(cpu);
    }

    /// The events of an interrupt, right now.
    pub(super) fn interrupt(&mut self, cpu: usize, source: usize, effect: Option<Effect>) {
        let (vector, handlers) = (self.sources[source].vector, self.sources[source].handlers.len());
        let depth = self.cpus[cpu].depth;
        self.cpus[cpu].depth += 1;
        let (entered, left);
        if self.release == Release::R8 {
            entered = self.emit(cpu, Code::INTERRUPT_DELIVER, &[vector, 0]);
            left = entered;
            let effects = self.sources[source].handlers.iter().filter_map(|h| h.2);
            self.cpus[cpu].effects.extend(effects);
        } else {
            let ip = 0xf008_4000 | (self.random.bits() & 0xffe);
            entered = self.emit_interrupt(cpu, Code::INTERRUPT_ENTRY, &[vector], &[ip]);
            for handler in 0..handlers {
                let (pid, ip, effect) = self.sources[source].handlers[handler];
                self.emit_interrupt(cpu, Code::HANDLER_ENTRY, &[pid, vector], &[ip, AREA]);
                self.cpus[cpu].now += self.random.duration(self.us / 2);
                if depth + 1 < MAX_DEPTH && self.random.one_in(16) {
                    let other = self.random.below(self.sources.len() as u64) as usize;
                    if other != source {
                        self.interrupt(cpu, other, None);
                    }
                }
                // The kind of the event that the handler returns: none 0, pulse 4, interrupt 6.
                let sigevent = match effect {
                    Some(Effect::Pulse { .. }) => [vector, 4, SCOID, 0, 21 << 16, 0],
                    Some(_) => [vector, 6, 0, 0, 0, 0],
                    None => [vector, 0, 0, 0, 0, 0],
                };
                let length = if effect.is_some() { 6 } else { 2 };
                self.emit(cpu, Code::HANDLER_EXIT, &sigevent[..length]);
                self.cpus[cpu].effects.extend(effect);
            }
            left = self.emit(cpu, Code::INTERRUPT_EXIT, &[vector, 0xf01]);
        }
        self.cpus[cpu].effects.extend(effect);
        self.cpus[cpu].depth -= 1;
        if self.keep {
            self.truth.interrupts.push(Interrupt { cpu: cpu as u8, vector, depth, entered, left });
        }
    }

    /// Numbers and addresses; 64-bit addresses have events of their own, and an entry has an empty word
    /// before them (7.0 manual: "interrupt_number, empty, ip (64)").
    fn emit_interrupt(&mut self, cpu: usize, code: Code, numbers: &[u32], addresses: &[u64]) -> u64 {
        let mut words = numbers.to_vec();
        let mut code = code;
        if self.layout.has_64 {
            words.extend((code == Code::INTERRUPT_ENTRY).then_some(0));
            code = code.with_64();
            for address in addresses {
                self.layout.order.push_64(&mut words, *address);
            }
        } else {
            words.extend(addresses.iter().map(|a| *a as u32));
        }
        self.emit(cpu, code, &words)
    }

    /// Applies the effects of interrupts of this CPU.
    pub(super) fn apply_effects(&mut self, cpu: usize) {
        while !self.cpus[cpu].effects.is_empty() {
            let effect = self.cpus[cpu].effects.remove(0);
            match effect {
                Effect::Pulse { channel } => {
                    let pid = self.channels[channel].pid;
                    self.emit(cpu, Code::communication(communication::SEND_PULSE_EXE), &[SCOID, pid]);
                    self.pulse(cpu, channel);
                }
                Effect::Wake { thread } => {
                    if self.threads[thread].state == state::INTR
                        && self.cpus.iter().all(|c| c.handoff != Some(thread))
                    {
                        self.wake(cpu, thread);
                    } else {
                        self.threads[thread].missed += 1;
                    }
                }
                Effect::Timeout { thread, sleep } => {
                    let Some(sleeper) = self.threads.get_mut(thread) else { continue };
                    if sleeper.sleep == sleep && sleeper.state == state::NANOSLEEP {
                        sleeper.sleep += 1;
                        self.wake(cpu, thread);
                    }
                }
            }
        }
    }

    /// A pulse arrives: a thread that waits gets it, or the queue.
    pub(super) fn pulse(&mut self, cpu: usize, channel: usize) {
        if let Some(receiver) = self.channels[channel].receivers.pop_front() {
            self.threads[receiver].returns = Some(Return::Received(Item::Pulse));
            self.wake(cpu, receiver);
        } else if self.channels[channel].queue.len() < MAX_QUEUE {
            self.channels[channel].queue.push_back(Item::Pulse);
        }
    }
}
