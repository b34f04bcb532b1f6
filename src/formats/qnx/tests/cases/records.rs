//! Parts of events: what comes between them, and what is missing. Not times (see `times`).

use super::*;
use crate::neutrino::codes::{call, communication, process};

const NAMED: Code = Code::process(process::CREATE_NAME);
const CALL: Code = Code::call(call::MSG_SEND);

pub(super) fn all() -> Vec<Case> {
    vec![
        nested_interrupt(),
        two_cpus(),
        two_cpus_same_event_and_time(),
        same_key_twice(),
        same_time_other_event(),
        buffer_border(false),
        buffer_border(true),
        part_that_opens_a_buffer(),
        orphans(),
        unterminated(),
        cut_by_a_lost_buffer(),
        a_second_begin(),
        every_length(),
        reserved_bit(),
    ]
}

/// An interrupt comes while the kernel writes an event: an event of several parts between two parts.
fn nested_interrupt() -> Case {
    let mut case = Builder::standard("a nested interrupt between the parts of an event");
    case.open_buffer(0, START, 1);
    let mut open = case.begin(0, START, CALL, &[0x4000_0001, 11, 12, 13, 14, 15]);
    case.event(0, START + 5, Code::INTERRUPT_ENTRY, &[27, 0x1000]);
    case.event(0, START + 7, Code::HANDLER_ENTRY, &[0x1003, 27, 0x2000, 0x3000]);
    case.part(&mut open);
    case.event(0, START + 9, Code::HANDLER_EXIT, &[27, 4, 0x4000_0002, 0, 21, 0]);
    case.event(0, START + 11, Code::INTERRUPT_EXIT, &[27, 0xf01]);
    case.end(open);
    case.event(0, START + 20, Code::communication(communication::SEND_MESSAGE), &[0x4f, 0x1003]);
    case.done()
}

fn two_cpus() -> Case {
    let mut case = Builder::standard("parts of two CPUs in turns");
    case.open_buffer(0, START, 1);
    let mut one = case.begin(0, START, CALL, &[1, 2, 3, 4, 5, 6]);
    case.time(1, START + 3);
    let mut two = case.begin(1, START + 3, NAMED, &[7, 8, 9, 10, 11, 12, 13, 14]);
    case.part(&mut two);
    case.part(&mut one);
    case.part(&mut two);
    case.event(1, START + 30, Code::user(9), &[1, 2]);
    case.end(one);
    case.end(two);
    case.done()
}

/// Stamps are unique on a CPU only: the time does not identify the event of a part.
fn two_cpus_same_event_and_time() -> Case {
    let mut case = Builder::standard("the same event at the same time on two CPUs");
    case.open_buffer(0, START, 1);
    case.time(1, START);
    let mut one = case.begin(0, START, NAMED, &[1, 2, 3, 4, 5, 6]);
    let mut two = case.begin(1, START, NAMED, &[11, 12, 13, 14, 15, 16]);
    case.part(&mut two);
    case.part(&mut one);
    case.end(two);
    case.end(one);
    case.done()
}

/// If stamps are not unique after all, parts go to the event that began first.
fn same_key_twice() -> Case {
    let mut case = Builder::standard("two events with one key");
    case.open_buffer(0, START, 1);
    let one = case.begin(0, START, NAMED, &[1, 2, 3, 4]);
    let two = case.begin(0, START, NAMED, &[11, 12, 13, 14]);
    case.end(one);
    case.end(two);
    case.done()
}

/// Flags and part differ, class and event as well: only the time is the same.
fn same_time_other_event() -> Case {
    let mut case = Builder::standard("two events of one time on a CPU");
    case.open_buffer(0, START, 1);
    let one = case.begin(0, START, NAMED, &[1, 2, 3, 4]);
    let two = case.begin(0, START, CALL, &[11, 12, 13, 14]);
    case.end(two);
    case.end(one);
    case.done()
}

/// Parts of an event in two buffers, the second of which another CPU opened or the same one.
fn buffer_border(same_cpu: bool) -> Case {
    let mut case = Builder::standard("");
    case.case.name = format!("an event across the border of buffers, opened by the same CPU: {same_cpu}");
    case.open_buffer(0, START, 8);
    let mut open = case.begin(0, START, CALL, &[1, 2, 3, 4, 5, 6, 7]);
    case.part(&mut open);
    let cpu = u8::from(!same_cpu);
    case.open_buffer(cpu, START + 50, 9);
    case.event(cpu, START + 50, Code::INTERRUPT_ENTRY, &[3, 4]);
    case.part(&mut open);
    case.event(cpu, START + 60, Code::INTERRUPT_EXIT, &[3, 0]);
    case.end(open);
    case.time(0, START + 90);
    case.event(0, START + 90, Code::user(1), &[1, 1]);
    case.done()
}

/// The BUFFER record has the time of the event that a later part belongs to.
fn part_that_opens_a_buffer() -> Case {
    let mut case = Builder::standard("a later part opens the buffer");
    case.open_buffer(0, START, 8);
    let open = case.begin(0, START + 10, CALL, &[1, 2, 3, 4]);
    case.buffer(0, START + 10, 9, 12);
    case.end(open);
    case.time(0, START + 20);
    case.event(0, START + 20, Code::user(1), &[1, 1]);
    case.done()
}

/// The start of a ring: what began before is missing. No dump of states, no BUFFER at first.
fn orphans() -> Case {
    let mut case = Builder::standard("parts without their beginning");
    case.orphan(Part::Continue, 0, START, NAMED, [1, 2]);
    case.event(1, START + 2, Code::user(4), &[5, 6]);
    case.orphan(Part::End, 0, START, NAMED, [3, 0]);
    case.open_buffer(0, START + 20, 600);
    case.time(1, START + 21);
    case.orphan(Part::End, 1, START + 4, CALL, [7, 8]);
    case.event(0, START + 30, NAMED, &[1, 2, 3]);
    case.done()
}

/// The end of a ring, or a crash.
fn unterminated() -> Case {
    let mut case = Builder::standard("events that never end");
    case.open_buffer(0, START, 1);
    let one = case.begin(0, START, NAMED, &[1, 2, 3, 4]);
    let mut two = case.begin(0, START + 5, CALL, &[1, 2, 3, 4, 5, 6, 7, 8]);
    case.part(&mut two);
    case.part(&mut two);
    case.event(0, START + 9, Code::user(1), &[1, 1]);
    case.abandon(&one);
    case.abandon(&two);
    case.done()
}

/// The end of one event and the beginning of another are in the buffer that is missing.
fn cut_by_a_lost_buffer() -> Case {
    let mut case = Builder::standard("a lost buffer cuts two events");
    case.open_buffer(0, START, 100);
    let one = case.begin(0, START, CALL, &[1, 2, 3, 4]);
    case.abandon(&one);
    let record = case.writer.records();
    case.case.lost_buffers.push(LostBuffer { after: 100, count: 1, record });
    case.open_buffer(0, START + 9000, 102);
    case.orphan(Part::End, 0, START + 8000, NAMED, [3, 4]);
    case.event(0, START + 9000, NAMED, &[5, 6, 7, 8]);
    case.done()
}

/// Another event of the same kind and CPU begins, later, while one is open.
fn a_second_begin() -> Case {
    let mut case = Builder::standard("an event of the same kind begins while one is open");
    case.open_buffer(0, START, 1);
    let one = case.begin(0, START, CALL, &[1, 2, 3, 4]);
    let two = case.begin(0, START + 1, CALL, &[5, 6, 7, 8]);
    case.end(two);
    case.end(one);
    case.done()
}

/// From no words to many: two are a simple event, and an odd word is padded.
fn every_length() -> Case {
    let mut case = Builder::standard("events of 0 to 70 words");
    case.open_buffer(0, START, 1);
    for length in 0..=70 {
        let words: Vec<u32> = (1..=length).map(|n| n * 0x0101_0101).collect();
        case.event(0, START + u64::from(length), Code::user(length as u16), &words);
    }
    case.done()
}

/// Bit 15 has no meaning; flags are not part of the key.
fn reserved_bit() -> Case {
    let mut case = Builder::standard("the reserved bit, and flags");
    case.open_buffer(0, START, 1);
    let words = [1, 2, 3, 4];
    for (n, record) in Parts::new(0, 0x82, NAMED, START as u32, &words).enumerate() {
        let record = Record { header: record.header | 0x8000, ..record };
        let number = case.raw(&record);
        if n == 0 {
            let event = ExpectedEvent::new(number, START, 0, NAMED, &words);
            case.case.expected.push(ExpectedEvent { flags: 0x82, ..event });
        }
    }
    case.done()
}
