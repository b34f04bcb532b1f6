//! From the lower 32 bits of the clock to all 64. Parts of events only as far as time matters to them.

use super::*;
use crate::neutrino::codes::{call, state};

const RUNNING: Code = Code::thread(state::RUNNING);
const READY: Code = Code::thread(state::READY);
/// Shortly before the lower 32 bits overflow.
const LATE: u64 = 0x0005_ffff_fff0;
/// Shortly after they have.
const SILENT: u64 = 0x0005_0000_1000;

pub(super) fn all() -> Vec<Case> {
    vec![
        one_time_on_two_cpus(),
        rollover_in_an_event(),
        rollover_of_two_cpus(),
        rollover_at_the_time_record(),
        before_the_first_time(),
        no_time_at_all(),
        no_time_for_one_cpu(),
        a_long_silence(),
        a_silence_before_the_first_time(),
        silences_without_any_time(),
        a_long_pause(),
        a_buffer_after_a_long_pause(),
        a_late_part_after_many_events(),
        clocks_that_differ(),
    ]
}

/// Equal stamps, in an arbitrary order in the file. A TIME and the event after it also have the same stamp.
fn one_time_on_two_cpus() -> Case {
    let mut case = Builder::standard("one time on two CPUs");
    case.open_buffer(0, START, 1);
    case.event(0, START, RUNNING, &[0x1003, 1]);
    case.time(1, START);
    case.event(1, START, READY, &[0x1003, 1]);
    case.event(1, START + 40, RUNNING, &[1, 2]);
    case.event(0, START + 40, READY, &[1, 1]);
    case.event(0, START + 41, RUNNING, &[1, 1]);
    case.done()
}

/// The lower bits overflow while an event is written: its later parts are older than the events in between.
fn rollover_in_an_event() -> Case {
    let mut case = Builder::standard("rollover in the middle of an event");
    case.open_buffer(0, LATE, 1);
    let mut open = case.begin(0, LATE, Code::call(call::MSG_SEND), &[1, 2, 3, 4, 5, 6]);
    case.time(0, LATE + 0x20);
    case.event(0, LATE + 0x20, Code::INTERRUPT_ENTRY, &[27, 0x1000]);
    case.part(&mut open);
    case.event(0, LATE + 0x24, Code::INTERRUPT_EXIT, &[27, 0]);
    case.end(open);
    case.event(0, LATE + 0x30, RUNNING, &[1, 1]);
    case.done()
}

/// Each CPU has its own TIME; in between, one is before the overflow and one after it.
fn rollover_of_two_cpus() -> Case {
    let mut case = Builder::standard("rollover of one CPU before the other");
    case.open_buffer(0, LATE, 1);
    case.event(0, LATE, RUNNING, &[1, 1]);
    case.time(1, LATE + 2);
    case.event(1, LATE + 2, RUNNING, &[1, 2]);
    case.time(1, LATE + 0x20);
    case.event(1, LATE + 0x20, READY, &[1, 2]);
    case.event(0, LATE + 8, READY, &[1, 1]);
    case.event(1, LATE + 0x22, RUNNING, &[1, 2]);
    case.event(0, LATE + 9, RUNNING, &[1, 1]);
    case.time(0, LATE + 0x1_0000);
    case.event(0, LATE + 0x1_0000, READY, &[1, 1]);
    case.done()
}

/// The clock was read before the lower bits overflowed, and the record was stamped after that.
fn rollover_at_the_time_record() -> Case {
    let mut case = Builder::standard("rollover between reading the clock and the stamp");
    case.buffer(0, 0x6_0000_0003, 1, 3);
    case.event(0, 0x6_0000_0003, Code::TIME, &[5, 0xffff_fffe]);
    case.event(0, 0x6_0000_0003, RUNNING, &[1, 1]);
    case.event(0, 0x6_0000_0009, READY, &[1, 1]);
    case.done()
}

/// A ring: the first TIME of a CPU comes late, and the lower bits overflowed just before.
fn before_the_first_time() -> Case {
    let mut case = Builder::standard("events before the first TIME of their CPU");
    case.event(0, LATE - 0x1000, RUNNING, &[1, 1]);
    case.event(1, LATE - 0x800, RUNNING, &[1, 2]);
    case.event(0, LATE - 0x400, READY, &[1, 1]);
    case.time(0, LATE + 0x20);
    case.event(0, LATE + 0x20, RUNNING, &[1, 1]);
    case.event(1, LATE - 0x100, READY, &[1, 2]);
    case.time(1, LATE + 0x40);
    case.event(1, LATE + 0x40, RUNNING, &[1, 2]);
    case.done()
}

/// The class CONTROL is filtered out: BUFFER is there, TIME is not. Only relative times are known.
fn no_time_at_all() -> Case {
    let mut case = Builder::standard("no TIME at all, with a rollover");
    let start = LATE & 0xffff_ffff;
    case.buffer(0, start - 0x100, 1, 714);
    case.event(0, start - 0x100, RUNNING, &[1, 1]);
    case.event(1, start - 0x80, RUNNING, &[1, 2]);
    let open = case.begin(0, start, Code::call(call::MSG_SEND), &[1, 2, 3, 4]);
    case.event(0, start + 0x20, Code::INTERRUPT_ENTRY, &[27, 0x1000]);
    case.end(open);
    case.event(1, start + 0x40, READY, &[1, 2]);
    case.event(0, start + 0x7000_0000, READY, &[1, 1]);
    case.event(1, start + 0x7000_0000, RUNNING, &[1, 2]);
    Case { is_unanchored: true, ..case.done() }
}

/// Another CPU has the upper bits: its time is near.
fn no_time_for_one_cpu() -> Case {
    let mut case = Builder::standard("no TIME for one CPU");
    case.open_buffer(0, START, 1);
    case.event(0, START, RUNNING, &[1, 1]);
    case.event(1, START + 7, RUNNING, &[1, 2]);
    case.event(1, START + 9, READY, &[1, 2]);
    case.event(0, START + 12, READY, &[1, 1]);
    case.event(1, START + 15, RUNNING, &[1, 2]);
    case.done()
}

/// The lower bits do not overflow, so the kernel writes no time; only the rest of an event is late.
fn a_long_silence() -> Case {
    let mut case = Builder::standard("a silence of almost 32 bits");
    case.open_buffer(0, SILENT, 1);
    case.event(0, SILENT, RUNNING, &[1, 1]);
    case.event(0, SILENT + 0xe000_0000, READY, &[1, 1]);
    let open = case.begin(0, SILENT + 0xe000_0010, Code::call(call::MSG_SEND), &[1, 2, 3, 4]);
    case.event(0, SILENT + 0xe000_0020, Code::INTERRUPT_ENTRY, &[27, 0x1000]);
    case.end(open);
    case.event(0, SILENT + 0xe000_0030, RUNNING, &[1, 1]);
    case.done()
}

/// The lower bits fell during the silence, so the kernel wrote the time.
fn a_silence_before_the_first_time() -> Case {
    let mut case = Builder::standard("a silence before the first TIME");
    case.event(0, 0x5_f000_0000, RUNNING, &[1, 1]);
    case.time(0, 0x6_c000_0000);
    case.event(0, 0x6_c000_0000, READY, &[1, 1]);
    case.done()
}

/// The class CONTROL is filtered out: the lower bits that fall are all that is known of an overflow.
fn silences_without_any_time() -> Case {
    let mut case = Builder::standard("silences of almost 32 bits without any TIME");
    case.buffer(0, 0xf000_0000, 1, 714);
    case.event(0, 0xf000_0000, RUNNING, &[1, 1]);
    case.event(0, 0x1_c000_0000, READY, &[1, 1]);
    case.event(0, 0x2_b800_0000, RUNNING, &[1, 1]);
    Case { is_unanchored: true, ..case.done() }
}

/// No events for more than 2^32 counts; the lower bits happen to be higher than before, but a buffer came.
fn a_long_pause() -> Case {
    let mut case = Builder::standard("a pause of several times 32 bits");
    case.open_buffer(0, START, 1);
    case.event(0, START, RUNNING, &[1, 1]);
    case.open_buffer(1, START + 0x3_9000_0000, 2);
    case.event(1, START + 0x3_9000_0000, RUNNING, &[1, 2]);
    case.time(0, START + 0x3_9000_0010);
    case.event(0, START + 0x3_9000_0010, READY, &[1, 1]);
    // Backwards in the lower bits by more than half of their range: the kernel writes the time.
    case.time(0, START + 0x4_1000_0000);
    case.event(0, START + 0x4_1000_0000, RUNNING, &[1, 1]);
    case.done()
}

/// The BUFFER record has the stamp of the TIME that follows, and therefore its time.
fn a_buffer_after_a_long_pause() -> Case {
    let mut case = Builder::standard("a BUFFER after a pause of several times 32 bits");
    case.open_buffer(0, START, 1);
    case.event(0, START, RUNNING, &[1, 1]);
    case.open_buffer(0, START + 0x3_1000_0000, 2);
    case.event(0, START + 0x3_1000_0000, READY, &[1, 1]);
    case.done()
}

/// The last part comes much later than the event: its time is the event's.
fn a_late_part_after_many_events() -> Case {
    let mut case = Builder::standard("a late part after many events");
    case.open_buffer(0, START, 1);
    let open = case.begin(0, START, Code::call(call::MSG_SEND), &[1, 2, 3, 4]);
    for n in 1..600 {
        case.event(0, START + n * 0x10_0000, Code::INTERRUPT_ENTRY, &[27, n as u32]);
    }
    case.end(open);
    case.event(0, START + 600 * 0x10_0000, RUNNING, &[1, 1]);
    case.done()
}

/// The clocks of CPUs are not synchronised: the time of one says nothing about the other.
fn clocks_that_differ() -> Case {
    let target = Target { global_clock: false, ..Target::default() };
    let mut case = Builder::new("clocks that differ by more than 32 bits", &target);
    let other = 0x77_1234_0000;
    case.open_buffer(0, START, 1);
    case.time(1, other);
    for n in 0..4 {
        case.event(0, START + n * 10, RUNNING, &[1, 1]);
        case.event(1, other + n * 10, RUNNING, &[1, 2]);
    }
    case.done()
}
