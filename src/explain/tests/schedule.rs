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
pub enum Op {
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
    pub urgency: i64,
    pub is_preemptable: bool,
    pub home: usize,
    pub count: i64,
    pub is_idle: bool,
    pub set: Vec<Object>,
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
    pub home: usize,
    pub state: State,
    pub script: Vec<Op>,
    pub next: usize,
    pub left: usize,
    pub held: Vec<Object>,
    pub asks: Option<Object>,
    pub delay: usize,
    pub waits: Vec<Object>,
    pub sleeps_until: Option<usize>,
    pub wait: usize,
    pub stack: Vec<(u32, usize)>,
}

pub struct System {
    pub cores: usize,
    pub length: usize,
    pub procs: Vec<Proc>,
    pub insts: Vec<Inst>,
    pub events: Vec<(usize, Happened)>,
    /// Per event: the core where it happened.
    pub places: Vec<usize>,
    pub gaps: Vec<(Option<Core>, i64, i64)>,
    pub states: Vec<StateSpan>,
    pub runnables: Vec<RunnableSpan>,
    pub dice: Dice,
    pub is_global: bool,
    pub owners: Vec<Option<usize>>,
    pub on: Vec<Option<usize>>,
    pub serial: usize,
    pub slice: usize,
}

const LOCKS: usize = 4;

/// An event of which nothing is known yet.
const NOTHING: Happened = Happened {
    time: 0,
    source: None,
    said: Said::Activate,
    object: None,
    owner: None,
    target: None,
    triggered_by: None,
};

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

    pub fn does(&mut self, time: usize, inst: usize, said: Said, object: Object) {
        let core = self.core_of(inst);
        let source = Some(Source::Process(self.insts[inst].actor));
        self.say(time, core, Happened { source, said, object: Some(object), ..NOTHING });
    }

    pub fn core_of(&self, inst: usize) -> usize {
        self.on.iter().position(|on| *on == Some(inst)).unwrap_or(self.insts[inst].home)
    }

    pub fn activate(&mut self, process: usize, time: usize, source: Option<Source>, core: usize) {
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
        // Any instance will do: it goes into the explanation as it comes.
        let triggered_by = self.dice.chance(50).then_some(Actor { process: 1, instance: time as i64 });
        let event = Happened { source, said: Said::Activate, target: Some(actor), triggered_by, ..NOTHING };
        self.say(time, core, event);
    }

    pub fn set(&mut self, time: usize, core: usize, source: Option<Source>, owner: u32, object: Object) {
        let said = Said::SetEvent;
        let event = Happened { source, said, object: Some(object), owner: Some(owner), ..NOTHING };
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
                // Polling ends the runnables of some in the trace, as a preemption does.
                let goes_on = inst.actor.process.is_multiple_of(2) && inst.state == State::Polling;
                let is_in = inst.state == State::Running || goes_on;
                let runnables = if is_in { inst.stack.clone() } else { vec![] };
                let (state, asks, mask) = (inst.state, inst.asks, inst.waits.clone());
                let wait = if matches!(state, State::Waiting | State::Polling) { inst.wait } else { 0 };
                inst.ticks[time] = Some(Tick { state, core, runnables, asks, mask, wait });
            }
        }
    }

    pub fn urgency(&self, n: usize) -> i64 {
        let inst = &self.insts[n];
        let own = self.procs[inst.actor.process as usize].urgency;
        // The last two locks have a ceiling.
        if inst.held.iter().any(|lock| *lock >= 2) { own.max(100) } else { own }
    }

    pub fn can_have(&self, n: usize, core: usize) -> bool {
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
}
