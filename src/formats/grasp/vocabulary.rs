//! The commands of Grasp, the events of `plot` and `bufferplot`, and the meaning of their words: the
//! interface of the player of 2012, and that of 2010 if it differs. Data only.

/// The meaning of a word after a command or event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    Processor,
    Task,
    Job,
    Server,
    Mutex,
    Semaphore,
    Buffer,
    /// The second processor of a message.
    Target,
    Until,
    /// An amount of server time.
    Budget,
    /// A whole number.
    Amount,
    Kind,
    Name,
    Message,
    Rest,
}

/// A command or event, and its required words.
pub(super) struct Entry {
    pub name: &'static str,
    pub arguments: &'static [Argument],
}

macro_rules! entries {
    ($($name:literal $($argument:ident)*;)*) => {
        &[$(Entry { name: $name, arguments: &[$(Argument::$argument),*] }),*]
    };
}

/// Commands without a time.
pub(super) const DECLARATIONS: &[Entry] = entries! {
    "newProcessor" Processor;
    "newTask" Task;
    "newJob" Job Task;
    "newServer" Server;
    "newMutex" Mutex;
    "newSemaphore" Semaphore;
    "newBuffer" Buffer;
    "ignore" Name;
    // A command of Tcl: recorders report their failure with it.
    "error" Message;
};

/// Events of `plot`: those of the player and of its plugins.
pub(super) const EVENTS: &[Entry] = entries! {
    "jobResumed" Job;
    "jobPreempted" Job;
    "jobCompleted" Job;
    "jobArrived" Job Task;
    "jobBlocked" Job;
    "jobStarted" Job;
    "jobDeadline" Job;
    "taskArrived" Task;
    "taskArrivedAndIgnored" Task;
    "taskDeadline" Task;
    "taskAnnotation" Task Until;
    "interval";
    "message" Message;
    "relteqEvent" Kind Rest;
    "jobAcquiredMutex" Job Mutex;
    "jobReleasedMutex" Job Mutex;
    "jobAcquiredSemaphore" Job Semaphore;
    "jobReleasedSemaphore" Job Semaphore;
    "jobSuspendedOnSemaphore" Job Semaphore;
    "serverReplenished" Server Budget;
    "serverDepleted" Server;
    "serverResumed" Server;
    "serverPreempted" Server;
    "syncSent" Processor Target Message;
    "syncReceived" Processor Target Message;
    "profile" Name Rest;
    "nop";
};

/// Events of `bufferplot`.
pub(super) const BUFFER_EVENTS: &[Entry] = entries! {
    "push" Buffer Message;
    "pop" Buffer;
    "insert" Buffer Message Amount;
    "drop" Buffer Amount;
    "resize" Buffer Amount;
    "structure" Rest;
    "reset";
};

/// Classes of the dialect of 2010, the method that declares an object, and the declaration of 2012.
pub(super) const CLASSES: &[(&str, &str, &str)] = &[
    ("Job", "initWithTask", "newJob"),
    ("Task", "initWith", "newTask"),
    ("Server", "initWith", "newServer"),
    ("Mutex", "initWith", "newMutex"),
    ("Semaphore", "initWith", "newSemaphore"),
    ("Buffer", "initWith", "newBuffer"),
    ("Processor", "initWith", "newProcessor"),
];

/// Commands of Tcl that make a script of a trace: they are not run, nor is what is in their braces.
const SCRIPT: &str = "\
    after append apply array break catch cd Class close continue dict eval exec exit expr file flush for \
    foreach format gets global if incr info interp lappend load namespace Object open package proc puts \
    read rename return set socket source string switch try unset uplevel upvar variable vwait while";

/// Options with a meaning, but without a column of their own.
const OTHER_OPTIONS: &str = "\
    C D T behavior color pattern arrivalColor arrivalStem deadlineColor deadlineStem arrowColor arrowStem \
    stem arrow shape force seqNumber";

pub(super) fn find(entries: &'static [Entry], name: &str) -> Option<&'static Entry> {
    entries.iter().find(|entry| entry.name == name)
}

pub(super) fn is_script(word: &str) -> bool {
    SCRIPT.split(' ').any(|command| command == word)
}

pub(super) fn is_other_option(key: &str) -> bool {
    OTHER_OPTIONS.split(' ').any(|option| option == key)
}
