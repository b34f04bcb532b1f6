//! What is remembered between two kernel events: threads, CPUs with their interrupts. Plain data; the rules are elsewhere.

use super::native::{OpenCall, Stretch};
use super::wake::Wake;
use crate::btf::NameId;

/// Name and instance of an entity.
pub(super) type Actor = (NameId, i64);

/// Where the instance of a thread is in the state chart of BTF. With `Irq::Preempt`, a thread that the kernel has running
/// is [`Phase::Ready`] while an interrupt has its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is no instance: none yet, or the last one ended with its job.
    Off,
    Active,
    Ready,
    Running,
    Waiting,
}

/// A thread that lives.
#[derive(Debug)]
pub(super) struct Thread {
    pub pid: u32,
    pub tid: u32,
    /// The task of BTF.
    pub name: NameId,
    /// Base name of its program.
    pub process: Option<NameId>,
    /// The name that the program gave it.
    pub own_name: Option<NameId>,
    pub incarnation: i64,
    /// Threads are numbered in the order in which they were seen first.
    pub born: u64,
    pub created_at: Option<i64>,
    pub dumped: bool,
    pub idle: bool,
    /// Idle threads are no tasks, unless asked for: all happens as with others, but BTF does not hear of it.
    pub exported: bool,
    pub instance: i64,
    /// It had an instance before.
    pub began: bool,
    pub phase: Phase,
    /// A gap came since its last event: it need not be where `phase` says.
    pub lost: bool,
    /// The CPU on which the kernel has it running.
    pub on: Option<usize>,
    /// The core on which it runs or ran last.
    pub core: NameId,
    /// Open runnables, outermost first; the last one may be its kernel call.
    pub runnables: Vec<Actor>,
    pub call: Option<OpenCall>,
    /// Functions entered (true) or left while a kernel call is open: they nest with each other, not with the call.
    pub deferred: Vec<(NameId, bool)>,
    /// How many functions are open that were nested too deep to be shown.
    pub too_deep: u64,
    /// Its message was replied to; it has not run since.
    pub replied: bool,
    /// Process that its last message went to.
    pub server: Option<u32>,
    /// Native state.
    pub stretch: Option<Stretch>,
    /// CPU on which it ran last.
    pub cpu: Option<usize>,
    /// Last event that can have woken it in particular.
    pub cause: Option<(u64, Wake)>,
    /// What woke it last.
    pub woken: Option<Wake>,
}

/// An interrupt that is open on a CPU.
#[derive(Debug)]
pub(super) struct Frame {
    pub vector: u32,
    pub name: NameId,
    pub number: i64,
    /// False while another interrupt interrupts it.
    pub running: bool,
    /// Open runnables, outermost first: a handler, and functions.
    pub runnables: Vec<Actor>,
    /// The open handler among them.
    pub handler: Option<Actor>,
    pub begin: i64,
    /// Begin of the present stretch on top of the stack, and the time in earlier ones.
    pub since: i64,
    pub spent: i64,
    pub ip: u64,
    pub handlers: i64,
    pub events: i64,
    /// The thread that it interrupted.
    pub thread: Option<(u32, u32)>,
}

/// A CPU.
#[derive(Debug)]
pub(super) struct Core {
    pub name: NameId,
    /// The core of its interrupts: the same, or one beside it if interrupts take nothing from threads, as BTF has one
    /// process at a time on a core.
    pub interrupts: NameId,
    /// The thread that the kernel has running there, also while an interrupt has the CPU.
    pub running: Option<usize>,
    /// Open interrupts, the interrupted first.
    pub frames: Vec<Frame>,
    /// The thread that left last by becoming READY, by its slot and birth, until another one comes: then it is known who
    /// took its CPU.
    pub vacated: Option<(usize, u64)>,
}

/// What executes on a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proc {
    /// A thread, by its slot.
    Thread(usize),
    /// The innermost interrupt of a CPU.
    Interrupt(usize),
}
