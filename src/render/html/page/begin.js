// The vocabulary of pictures: kinds of rows, states, marks and links, each in the order of their numbers in the data. Not how they look (colours.js).

const KINDS = ["Core", "Task", "Isr", "Runnable", "Semaphore", "Event", "Signal", "Stimulus", "Server", "Buffer", "Trace", "Recording", "Response"];

const STATES = [
  "Active", "Running", "Ready", "Waiting", "Polling", "Parking", "Critical", "Held", "Wanted", "Gap", "Suspended",
  "Executes", "Delayed", "Kernel", "Blocked", "Awaits", "Unknown",
];

const MARKS = [
  "Activation", "Deadline", "Termination", "Migration", "ActivationLost", "Violation", "Write", "Read", "Set", "Wait", "Clear",
  "Trigger", "Replenished", "Depleted", "Message",
];

const LINKS = ["Preemption", "Activation", "Chain"];

/** What people read for a word of the vocabulary. */
const WORDS = {
  Isr: "ISR", Trace: "recording", ActivationLost: "activation lost", Preemption: "preemption", Chain: "chain of events",
  Active: "active (not started)", Ready: "ready (preempted)", Wanted: "waited for", Critical: "running, critical section",
  Polling: "polling (waits on its core)", Parking: "parking (polling, preempted)", Gap: "nothing recorded",
  Response: "parts of a response", Executes: "executes", Delayed: "behind another one", Kernel: "the kernel is at work", Blocked: "waits for a lock",
  Awaits: "waits for an event", Unknown: "not known",
};

const word = (name) => WORDS[name] ?? name.toLowerCase();

const state = Object.fromEntries(STATES.map((name, number) => [name, number]));
const kind = Object.fromEntries(KINDS.map((name, number) => [name, number]));
const markKind = Object.fromEntries(MARKS.map((name, number) => [name, number]));

/** States in which a core is occupied or something is held. */
const OCCUPIED = STATES.map((name) => ["Running", "Polling", "Critical", "Held"].includes(name));

/** Marks that are drawn whatever is around them. */
const RARE = MARKS.map((name) => ["ActivationLost", "Violation"].includes(name));
