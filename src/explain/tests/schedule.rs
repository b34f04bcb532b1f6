//! A small simulated system, tick by tick: cores, fixed priorities, ISRs, tasks that are not preemptable,
//! locks of several cores, semaphores, OS events, and a recorder with gaps. Not what its responses mean.

use crate::explain::{
    Actor, Core, Happened, Object, ProcessFacts, RunnableSpan, Said, Source, State, StateSpan,
};

/// Random numbers.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % count
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

#[derive(Clone, Debug)]
enum Op {
    Compute(usize),
    Get(Object),
    Give(Object),
    Wait(Vec<Object>),
    Clear(Vec<Object>),
    Set(u32, Object),
    Sleep(usize),
    Enter(u32),
    Leave,
    Activate(usize),
}

/// What a process is, and what is told of it.
pub struct Proc {
    pub facts: ProcessFacts,
    urgency: i64,
    is_preemptable: bool,
    home: usize,
    count: i64,
    is_idle: bool,
    set: Vec<Object>,
}

/// What an instance did in one tick.
#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    pub state: State,
    pub core: Core,
    pub runnables: Vec<(u32, usize)>,
    /// The lock or semaphore that it asks for.
    pub asks: Option<Object>,
    /// The OS events that it waits for.
    pub mask: Vec<Object>,
    /// Counts the waits and polls: one may follow another at once.
    pub wait: usize,
}

pub struct Inst {
    pub actor: Actor,
    pub begin: usize,
    pub end: Option<usize>,
    pub ticks: Vec<Option<Tick>>,
    pub is_seen: Vec<bool>,
    pub is_wanted: bool,
    home: usize,
    state: State,
    script: Vec<Op>,
    next: usize,
    left: usize,
    held: Vec<Object>,
    asks: Option<Object>,
    delay: usize,
    waits: Vec<Object>,
    sleeps_until: Option<usize>,
    wait: usize,
    stack: Vec<(u32, usize)>,
}

pub struct System {
    pub cores: usize,
    pub length: usize,
    pub procs: Vec<Proc>,
    pub insts: Vec<Inst>,
    pub events: Vec<(usize, Happened)>,
    /// Per event: the core where it happened.
    places: Vec<usize>,
    pub gaps: Vec<(Option<Core>, i64, i64)>,
    pub states: Vec<StateSpan>,
    pub runnables: Vec<RunnableSpan>,
    dice: Dice,
    is_global: bool,
    owners: Vec<Option<usize>>,
    on: Vec<Option<usize>>,
    serial: usize,
    slice: usize,
}

const LOCKS: usize = 4;

impl System {
    pub fn random(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let cores = 1 + dice.below(3);
        let length = 60 + dice.below(200);
        let is_global = dice.chance(30);
        let mut procs = Vec::new();
        for n in 0..3 + dice.below(5) {
            let is_isr = n > 0 && dice.chance(25);
            let urgency = 1 + dice.below(4) as i64;
            let is_preemptable = is_isr || dice.chance(75);
            let facts = ProcessFacts {
                is_isr,
                is_idle: false,
                priority: (!dice.chance(15)).then_some(urgency),
                is_preemptable: (!dice.chance(20)).then_some(is_preemptable),
            };
            let home = dice.below(cores);
            let urgency = if is_isr { 1000 + urgency } else { urgency };
            procs.push(Proc { facts, urgency, is_preemptable, home, count: 0, is_idle: false, set: vec![] });
        }
        let idles = if dice.chance(40) { cores } else { 0 };
        for home in 0..idles {
            let facts = ProcessFacts { is_idle: true, priority: Some(0), ..ProcessFacts::default() };
            let (urgency, is_preemptable) = (-1, true);
            procs.push(Proc { facts, urgency, is_preemptable, home, count: 0, is_idle: true, set: vec![] });
        }
        let mut system = Self {
            cores,
            length,
            procs,
            insts: vec![],
            events: vec![],
            places: vec![],
            gaps: vec![],
            states: vec![],
            runnables: vec![],
            is_global,
            owners: vec![None; LOCKS],
            on: vec![None; cores],
            serial: 0,
            slice: if dice.chance(25) { 3 } else { usize::MAX },
            dice,
        };
        for n in 0..system.procs.len() {
            if system.procs[n].is_idle {
                system.activate(n, 0, None, 0);
            }
        }
        let load = 3 + system.dice.below(15);
        for time in 0..length {
            system.tick(time, load);
        }
        system.record();
        system
    }

    fn script(&mut self, process: usize) -> Vec<Op> {
        let is_isr = self.procs[process].facts.is_isr;
        let mut ops = Vec::new();
        let mut held: Vec<Object> = Vec::new();
        let mut depth = 0;
        for _ in 0..1 + self.dice.below(6) {
            match self.dice.below(if is_isr { 6 } else { 9 }) {
                0 | 1 => ops.push(Op::Compute(1 + self.dice.below(if is_isr { 2 } else { 5 }))),
                2 => {
                    let from = held.last().map_or(0, |last| *last as usize + 1);
                    if from < LOCKS {
                        let lock = (from + self.dice.below(LOCKS - from)) as Object;
                        held.push(lock);
                        ops.push(Op::Get(lock));
                        ops.push(Op::Compute(1 + self.dice.below(3)));
                    }
                }
                3 => {
                    if let Some(lock) = held.pop() {
                        ops.push(Op::Give(lock));
                    }
                }
                4 => {
                    let owner = self.dice.below(self.procs.len()) as u32;
                    ops.push(Op::Set(owner, 10 + self.dice.below(3) as u32));
                }
                5 => {
                    if depth > 0 && self.dice.chance(50) {
                        depth -= 1;
                        ops.push(Op::Leave);
                    } else {
                        depth += 1;
                        ops.push(Op::Enter(self.dice.below(3) as u32));
                    }
                }
                6 => {
                    let first = 10 + self.dice.below(3) as u32;
                    let mut mask = vec![first];
                    if self.dice.chance(40) {
                        mask.push(10 + (first - 9) % 3);
                    }
                    ops.push(Op::Wait(mask.clone()));
                    ops.push(Op::Clear(mask));
                }
                7 => ops.push(Op::Sleep(1 + self.dice.below(4))),
                _ => ops.push(Op::Activate(self.dice.below(self.procs.len()))),
            }
        }
        ops.push(Op::Compute(self.dice.below(4)));
        ops.extend(held.iter().rev().map(|lock| Op::Give(*lock)));
        ops.extend((0..depth).map(|_| Op::Leave));
        ops
    }

    fn say(&mut self, time: usize, core: usize, event: Happened) {
        self.events.push((self.events.len(), Happened { time: time as i64, ..event }));
        self.places.push(core);
    }

    fn does(&mut self, time: usize, inst: usize, said: Said, object: Object) {
        let core = self.core_of(inst);
        let source = Some(Source::Process(self.insts[inst].actor));
        self.say(
            time,
            core,
            Happened { time: 0, source, said, object: Some(object), owner: None, target: None },
        );
    }

    fn core_of(&self, inst: usize) -> usize {
        self.on.iter().position(|on| *on == Some(inst)).unwrap_or(self.insts[inst].home)
    }

    fn activate(&mut self, process: usize, time: usize, source: Option<Source>, core: usize) {
        let script =
            if self.procs[process].is_idle { vec![Op::Compute(usize::MAX)] } else { self.script(process) };
        let proc = &mut self.procs[process];
        let actor = Actor { process: process as u32, instance: proc.count };
        proc.count += 1;
        let home = proc.home;
        self.insts.push(Inst {
            actor,
            begin: time,
            end: None,
            ticks: vec![None; self.length],
            is_seen: vec![true; self.length],
            is_wanted: false,
            home,
            state: State::Active,
            script,
            next: 0,
            left: 0,
            held: vec![],
            asks: None,
            delay: 0,
            waits: vec![],
            sleeps_until: None,
            wait: 0,
            stack: vec![],
        });
        let event = Happened {
            time: 0,
            source,
            said: Said::Activate,
            object: None,
            owner: None,
            target: Some(actor),
        };
        self.say(time, core, event);
    }

    fn set(&mut self, time: usize, core: usize, source: Option<Source>, owner: u32, object: Object) {
        let said = Said::SetEvent;
        let event =
            Happened { time: 0, source, said, object: Some(object), owner: Some(owner), target: None };
        self.say(time, core, event);
        let proc = &mut self.procs[owner as usize];
        if !proc.set.contains(&object) {
            proc.set.push(object);
        }
        for inst in &mut self.insts {
            if inst.actor.process == owner && inst.end.is_none() && inst.waits.contains(&object) {
                inst.waits.clear();
                if inst.state == State::Waiting {
                    inst.state = State::Ready;
                }
            }
        }
    }

    fn tick(&mut self, time: usize, load: usize) {
        for process in 0..self.procs.len() {
            let open = self.insts.iter().filter(|i| i.actor.process == process as u32 && i.end.is_none());
            if !self.procs[process].is_idle && open.count() < 4 && self.dice.chance(load) {
                let stimulus = Some(Source::Stimulus(process as u32));
                self.activate(process, time, stimulus, self.procs[process].home);
            }
        }
        if self.dice.chance(15) {
            let owner = self.dice.below(self.procs.len()) as u32;
            let (object, core) = (10 + self.dice.below(3) as u32, self.dice.below(self.cores));
            let source = (!self.dice.chance(10)).then_some(Source::Stimulus(owner));
            self.set(time, core, source, owner, object);
        }
        for inst in &mut self.insts {
            if inst.state == State::Waiting && inst.sleeps_until.is_some_and(|until| until <= time) {
                (inst.state, inst.sleeps_until) = (State::Ready, None);
            }
        }
        for core in 0..self.cores {
            self.dispatch(core, time);
        }
        for n in 0..self.insts.len() {
            let core = self.core_of(n) as u32;
            let inst = &mut self.insts[n];
            if inst.end.is_none() {
                let runnables = if inst.state == State::Running { inst.stack.clone() } else { vec![] };
                let (state, asks, mask) = (inst.state, inst.asks, inst.waits.clone());
                let wait = if matches!(state, State::Waiting | State::Polling) { inst.wait } else { 0 };
                inst.ticks[time] = Some(Tick { state, core, runnables, asks, mask, wait });
            }
        }
    }

    fn urgency(&self, n: usize) -> i64 {
        let inst = &self.insts[n];
        let own = self.procs[inst.actor.process as usize].urgency;
        // The last two locks have a ceiling.
        if inst.held.iter().any(|lock| *lock >= 2) { own.max(100) } else { own }
    }

    fn can_have(&self, n: usize, core: usize) -> bool {
        let inst = &self.insts[n];
        if inst.end.is_some() || inst.state == State::Waiting {
            return false;
        }
        let is_fixed = !self.is_global || self.procs[inst.actor.process as usize].is_idle;
        if (is_fixed && inst.home != core)
            || self.on.iter().enumerate().any(|(c, on)| c != core && *on == Some(n))
        {
            return false;
        }
        let is_first = || {
            self.insts.iter().all(|other| {
                other.actor.process != inst.actor.process
                    || other.actor.instance >= inst.actor.instance
                    || other.end.is_some()
            })
        };
        inst.state != State::Active || is_first()
    }

    fn dispatch(&mut self, core: usize, time: usize) {
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
        if lock % 2 == 0 || self.procs[self.insts[n].actor.process as usize].facts.is_isr {
            self.insts[n].state = State::Polling;
        } else {
            self.does(time, n, Said::Awaits, lock);
            self.insts[n].wait += 1;
            self.insts[n].state = State::Waiting;
            self.leave(n, core);
        }
        true
    }

    fn record(&mut self) {
        for inst in &mut self.insts {
            // An active instance is where it starts.
            let start = inst.ticks.iter().flatten().find(|tick| tick.state != State::Active).map(|t| t.core);
            let start = start.unwrap_or(inst.home as u32);
            for tick in inst.ticks.iter_mut().flatten().filter(|tick| tick.state == State::Active) {
                tick.core = start;
            }
        }
        let cuts = self.dice.chance(60);
        let mut is_event_seen = vec![true; self.events.len()];
        for _ in 0..if self.dice.chance(50) { 0 } else { 1 + self.dice.below(4) } {
            let core = (!self.dice.chance(20)).then(|| self.dice.below(self.cores) as u32);
            let begin = self.dice.below(self.length);
            let end = (begin + 1 + self.dice.below(15)).min(self.length);
            self.gaps.push((core, begin as i64, end as i64));
            if !cuts {
                continue;
            }
            for (n, (_, event)) in self.events.iter().enumerate() {
                let is_there = core.is_none_or(|core| self.places[n] == core as usize);
                is_event_seen[n] &= !(is_there && event.time > begin as i64 && event.time < end as i64);
            }
            for inst in &mut self.insts {
                let is_there = |tick: &Option<Tick>| {
                    tick.as_ref().is_some_and(|tick| core.is_none_or(|core| tick.core == core))
                };
                let Some(first) = (begin..end).find(|time| is_there(&inst.ticks[*time])) else { continue };
                let is_same = |a: &Option<Tick>, b: &Option<Tick>| match (a, b) {
                    (Some(a), Some(b)) => (a.state, a.core, a.wait) == (b.state, b.core, b.wait),
                    _ => false,
                };
                let mut last = end;
                while last < self.length && is_same(&inst.ticks[last], &inst.ticks[last - 1]) {
                    last += 1;
                }
                inst.is_seen[first..last].fill(false);
            }
        }
        for n in 0..self.insts.len() {
            let inst = &self.insts[n];
            let is_told = self.events.iter().zip(&is_event_seen).any(|((_, event), is_seen)| {
                *is_seen && event.said == Said::Activate && event.target == Some(inst.actor)
            });
            let is_whole = inst.is_seen.iter().all(|is_seen| *is_seen);
            let is_wanted = inst.end.is_some() && is_whole && is_told && self.dice.chance(90);
            self.insts[n].is_wanted = is_wanted;
            self.spans(n);
        }
        let mut is_seen = is_event_seen.iter();
        self.events.retain(|_| is_seen.next() == Some(&true));
    }

    fn spans(&mut self, n: usize) {
        let inst = &self.insts[n];
        let seen = |time: usize| inst.ticks.get(time).and_then(Option::as_ref).filter(|_| inst.is_seen[time]);
        let mut time = 0;
        while time < self.length {
            let Some(tick) = seen(time) else {
                time += 1;
                continue;
            };
            let begin = time;
            while seen(time)
                .is_some_and(|next| (next.state, next.core, next.wait) == (tick.state, tick.core, tick.wait))
            {
                time += 1;
            }
            // Its core is told by the next span, if there is one.
            let hides = tick.state == State::Active && seen(time).is_some() && self.dice.chance(30);
            let core = (!hides).then_some(tick.core);
            let (actor, state) = (inst.actor, tick.state);
            self.states.push(StateSpan { actor, core, state, begin: begin as i64, end: time as i64 });
        }
        for depth in 0..8 {
            let at = |time: usize| seen(time).and_then(|tick| tick.runnables.get(depth));
            let mut time = 0;
            while time < self.length {
                let Some(runnable) = at(time) else {
                    time += 1;
                    continue;
                };
                let (begin, core) = (time, seen(time).map(|tick| tick.core));
                while at(time) == Some(runnable) && seen(time).map(|tick| tick.core) == core {
                    time += 1;
                }
                let (actor, depth, runnable) = (inst.actor, depth as u32, runnable.0);
                let (begin, end) = (begin as i64, time as i64);
                self.runnables.push(RunnableSpan { actor, runnable, depth, begin, end });
            }
        }
    }
}
