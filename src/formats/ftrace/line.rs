//! What a line is: an event with its task, CPU and time, a loss, or something that holds no event. Not the
//! fields of an event (see `fields`).

/// The most CPUs of a kernel (`NR_CPUS` of any architecture).
const MOST_CPUS: u32 = 8192;
/// The digits of the number of a CPU.
const MOST_DIGITS: usize = 4;
/// Neither the time of an event is longer, nor the number of a process with its brackets and blanks.
const MOST_WORD: usize = 64;
/// No kernel prints more flags about interrupts and preemption (`d..2.`); perf has none.
const MOST_FLAGS: usize = 8;

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Event(Event<'a>),
    /// The CPU has lost events here: `CPU:2 [LOST 12 EVENTS]`, or of trace-cmd `CPU:2 [12 EVENTS DROPPED]`.
    Lost(u32),
    /// Events of the CPU before this line were overwritten: `##### CPU 2 buffer started ####`. The kernel
    /// prints it only if its buffer was full.
    Started(u32),
    /// A comment, a header, a blank line, or a line of the stack that belongs to the event before.
    NoEvent,
    Unknown,
}

/// An event as it is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Event<'a> {
    /// The name of the task that wrote it.
    pub comm: &'a [u8],
    /// The number of that task.
    pub pid: &'a [u8],
    /// The number of its process, where it is printed.
    pub tgid: Option<&'a [u8]>,
    pub cpu: u32,
    /// Whether interrupts and preemption were off, in letters; empty where it is not printed.
    pub flags: &'a [u8],
    /// Seconds.
    pub time: &'a [u8],
    pub name: &'a [u8],
    /// The rest of the line.
    pub text: &'a [u8],
}

/// What a line is, which has no line end.
pub(super) fn kind(line: &[u8]) -> Kind<'_> {
    let bare = line.trim_ascii();
    if let Some(cpu) = started(bare) {
        return Kind::Started(cpu);
    }
    if bare.is_empty() || bare.starts_with(b"#") || bare.starts_with(b"=> ") {
        return Kind::NoEvent;
    }
    if let Some(event) = event(bare) {
        return Kind::Event(event);
    }
    if let Some(cpu) = lost(bare) {
        return Kind::Lost(cpu);
    }
    if let Some(event) = joined_event(bare) {
        return Kind::Event(event);
    }
    if is_header(bare) { Kind::NoEvent } else { Kind::Unknown }
}

/// An event. The name of a task may have brackets: the first ones that a CPU is in and a time behind count.
/// What is between and behind them is looked at no further than it can reach: a line may have any number.
pub(super) fn event(line: &[u8]) -> Option<Event<'_>> {
    memchr::memchr_iter(b'[', line).find_map(|at| {
        let (task, [_, rest @ ..]) = line.split_at_checked(at)? else { return None };
        let end = memchr::memchr(b']', rest.get(..=MOST_DIGITS).unwrap_or(rest))?;
        let (cpu, rest) = (rest.get(..end)?, rest.get(end + 1..)?);
        let event = Event { cpu: cpu_number(cpu)?, ..behind_cpu(rest)? };
        before_cpu(task.trim_ascii(), event)
    })
}

/// An event as `trace-cmd report -l` prints it, the CPU and the flags in one word:
/// `bash-1977    0d..2. 12.345678: sched_switch: bash:1977 …`.
fn joined_event(line: &[u8]) -> Option<Event<'_>> {
    memchr::memchr_iter(b' ', line).find_map(|at| {
        let (task, rest) = line.split_at_checked(at)?;
        if task.last().is_none_or(|b| *b == b' ') {
            return None;
        }
        let digits = word(rest).0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (cpu, rest) = rest.trim_ascii_start().split_at_checked(digits)?;
        let event =
            behind_cpu(rest).filter(|event| !event.flags.is_empty() && rest.starts_with(event.flags))?;
        before_cpu(task.trim_ascii(), Event { cpu: cpu_number(cpu)?, ..event })
    })
}

/// `d..2.  12.345678: sched_switch: prev_comm=…`, with the flags or without.
fn behind_cpu(text: &[u8]) -> Option<Event<'_>> {
    let (first, rest) = short_word(text)?;
    let (flags, time, rest) = match seconds(first) {
        Some(time) => (&[][..], time, rest),
        None if (1..=MOST_FLAGS).contains(&first.len()) => {
            let (second, rest) = short_word(rest)?;
            (first, seconds(second)?, rest)
        }
        None => return None,
    };
    let (name, text) = name(rest.trim_ascii())?;
    Some(Event { flags, time, name, text, ..Event::default() })
}

/// The name of an event, and what follows it. Entries of tracers have none: they are called as the kernel
/// calls them.
fn name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = word(text);
    match first.strip_suffix(b":") {
        Some([]) => None,
        Some(name) => Some((name, rest.trim_ascii())),
        None if text == b"<stack trace>" => Some((b"kernel_stack", b"")),
        None if text.starts_with(b"<user stack trace>") => Some((b"user_stack", b"")),
        None if word(rest).0.starts_with(b"<-") => Some((b"function", text)),
        None => None,
    }
}

/// Adds who wrote the event: `bash-1977 ( 1977)` of ftrace, `bash 1977` or `bash 1977/1978` of perf.
fn before_cpu<'a>(task: &'a [u8], event: Event<'a>) -> Option<Event<'a>> {
    let (task, tgid) = match task.strip_suffix(b")") {
        None => (task, None),
        Some(open) => {
            let from = open.len().saturating_sub(MOST_WORD);
            let at = from + memchr::memrchr(b'(', open.get(from..)?)?;
            let inside = open.get(at + 1..)?.trim_ascii();
            let is_known = is_number(inside);
            if !is_known && !inside.iter().all(|b| *b == b'-') {
                return None;
            }
            (task.get(..at)?.trim_ascii_end(), is_known.then_some(inside))
        }
    };
    let (before, pid) = number_at_end(task)?;
    match before.split_last()? {
        (b'-', comm) => Some(Event { comm, pid, tgid, ..event }),
        (b'/', before) => {
            let (comm, process) = number_at_end(before)?;
            let comm = comm.strip_suffix(b" ")?.trim_ascii();
            Some(Event { comm, pid, tgid: Some(process), ..event })
        }
        (b' ', comm) => Some(Event { comm: comm.trim_ascii(), pid, tgid, ..event }),
        _ => None,
    }
}

/// `CPU:2 [LOST 12 EVENTS]`, `CPU:2 [12 EVENTS DROPPED]`, or without the number.
fn lost(line: &[u8]) -> Option<u32> {
    let (cpu, rest) = split_at_byte(line.strip_prefix(b"CPU:")?, b' ')?;
    let said = rest.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?;
    let is_loss =
        (said.starts_with(b"LOST ") && said.ends_with(b"EVENTS")) || said.ends_with(b"EVENTS DROPPED");
    if is_loss { cpu_number(cpu) } else { None }
}

/// `##### CPU 2 buffer started ####`.
fn started(line: &[u8]) -> Option<u32> {
    cpu_number(line.strip_prefix(b"##### CPU ")?.strip_suffix(b" buffer started ####")?)
}

/// Lines of trace-cmd before the events.
fn is_header(line: &[u8]) -> bool {
    let is_count = |text: &[u8]| is_number(text.trim_ascii());
    line.strip_prefix(b"cpus=").is_some_and(is_count)
        || line.strip_prefix(b"version =").is_some_and(is_count)
        || line.strip_prefix(b"CPU ").and_then(|rest| rest.strip_suffix(b" is empty")).is_some_and(is_count)
}

/// The seconds of `12.345678:`.
fn seconds(word: &[u8]) -> Option<&[u8]> {
    let time = word.strip_suffix(b":")?;
    let (whole, fraction) = split_at_byte(time, b'.')?;
    (is_number(whole) && is_number(fraction)).then_some(time)
}

fn cpu_number(text: &[u8]) -> Option<u32> {
    if text.len() > MOST_DIGITS || !is_number(text) {
        return None;
    }
    let number = text.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    (number < MOST_CPUS).then_some(number)
}

pub(super) fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// The first word, and what is behind it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    text.split_at(memchr::memchr2(b' ', b'\t', text).unwrap_or(text.len()))
}

/// The same; `None` if the word is longer than any that is looked for.
fn short_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let most = text.get(..=MOST_WORD);
    let end = memchr::memchr2(b' ', b'\t', most.unwrap_or(text));
    if most.is_some() {
        text.split_at_checked(end?)
    } else {
        text.split_at_checked(end.unwrap_or(text.len()))
    }
}

/// What is before a byte, and what is behind it.
fn split_at_byte(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(byte, text)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The digits at the end, and what is before them.
fn number_at_end(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    (digits > 0).then(|| text.split_at(text.len() - digits))
}
