//! Buffers and their numbers, releases, byte orders, codes. Not how parts and times are put together.

use super::*;
use crate::neutrino::codes::{call, process, state, system};

const END: [u32; 2] = [0xe6e6_e6e6, 0xe6e6_e6e6];
const RUNNING: Code = Code::thread(state::RUNNING);

pub(super) fn all() -> Vec<Case> {
    vec![
        sequence("numbers of buffers with a gap", &[45, 46, 50, 51], &[(46, 3)]),
        sequence("numbers of buffers that begin again after 2047", &[2046, 2047, 0, 1], &[]),
        sequence("a gap where numbers begin again", &[2046, 2047, 2, 3], &[(2047, 2)]),
        sequence("numbers of buffers beyond 2047", &[2047, 2048, 2049, 2053], &[(2049, 3)]),
        sequence("a buffer that was never handed over", &[7, 8], &[]),
        release_8_buffers(),
        release_8_wrong_cpus(),
        release_8_event_in_two_buffers(),
        big_endian(),
        calls_of_64_bits(),
        interrupts_of_64_bits(),
        every_cpu(),
        codes_of(Release::R6),
        codes_of(Release::R7),
        codes_of(Release::R8),
        strings(),
    ]
}

/// Buffers with these numbers; a gap is the number before it and how many are missing.
fn sequence(name: &str, numbers: &[u32], gaps: &[(u32, u32)]) -> Case {
    let mut case = Builder::standard(name);
    for (n, number) in numbers.iter().enumerate() {
        let now = START + n as u64 * 1000;
        let record = case.writer.records();
        let before = n.checked_sub(1).map(|n| numbers[n]);
        if let Some((after, count)) = gaps.iter().find(|g| Some(g.0) == before) {
            case.case.lost_buffers.push(LostBuffer { after: *after, count: *count, record });
        }
        // The number of events is set when a buffer is complete: the last one of a ring has none.
        let last = n + 1 == numbers.len();
        case.buffer(0, now, *number, if last { 0 } else { 3 });
        case.time(0, now);
        case.event(0, now, RUNNING, &[1, 1]);
    }
    case.done()
}

fn release_8(cpus: u8) -> Target {
    Target { release: Release::R8, cpus, syspage_length: 1111, ..Target::default() }
}

fn open_8(case: &mut Builder, cpu: u8, cycles: u64, sequence: u32) {
    case.time(cpu, cycles);
    case.buffer(cpu, cycles, sequence, 0);
}

/// An event with the flag of the initial list.
fn injected(case: &mut Builder, cpu: u8, cycles: u64, code: Code, words: [u32; 2]) {
    let record = case.raw(&Record::new(Part::Simple, cpu, 1, code, cycles as u32, words));
    let event = ExpectedEvent::new(record, cycles, cpu, code, &words);
    case.case.expected.push(ExpectedEvent { flags: 1, ..event });
}

/// A buffer has one CPU; buffers come when they are full. The last one is cut off.
fn release_8_buffers() -> Case {
    let mut case = Builder::new("8.0: buffers of one CPU each, not in the order of time", &release_8(3));
    open_8(&mut case, 1, START, 1);
    injected(&mut case, 1, START, Code::thread(state::CREATE), [1, 2]);
    injected(&mut case, 1, START + 3, RUNNING, [1, 2]);
    case.event(1, START + 900, Code::thread(7), &[0x1003, 1]);
    case.event(1, START + 900, Code::BUFFER_END, &END);
    open_8(&mut case, 0, START - 50, 2);
    injected(&mut case, 0, START - 50, Code::thread(state::CREATE), [1, 1]);
    case.event(0, START + 400, Code::INTERRUPT_DELIVER, &[27, 0]);
    case.event(0, START + 2000, Code::thread(30), &[0x1003, 1, 10, 2]);
    case.event(0, START + 2000, Code::BUFFER_END, &END);
    open_8(&mut case, 1, START + 901, 3);
    case.event(1, START + 901, Code::DROPPED, &[3, 0]);
    case.event(1, START + 905, Code::thread(26), &[0x1003, 1]);
    case.event(1, START + 1500, Code::BUFFER_END, &END);
    open_8(&mut case, 2, START + 10, 4);
    case.event(2, START + 11, RUNNING, &[1, 3]);
    case.done()
}

/// Some records have a wrong CPU: all up to BUFFER_END are of the CPU of the buffer's first record.
fn release_8_wrong_cpus() -> Case {
    let mut case = Builder::new("8.0: records with a wrong CPU", &release_8(4));
    let wrong = |case: &mut Builder, record: Record, cpu: u8| {
        case.case.wrong_cpus += 1;
        case.raw(&record.of_cpu(cpu))
    };
    open_8(&mut case, 2, START, 1);
    case.event(2, START, RUNNING, &[1, 3]);
    let words = [1, 0x1003, 3, 4, 5, 6];
    let code = Code::process(process::CREATE_NAME);
    for (n, part) in Parts::new(2, 0, code, START as u32 + 10, &words).enumerate() {
        let number = if n == 1 { wrong(&mut case, part, 3) } else { case.raw(&part) };
        if n == 0 {
            case.case.expected.push(ExpectedEvent::new(number, START + 10, 2, code, &words));
        }
    }
    let record = Record::new(Part::Simple, 2, 0, RUNNING, START as u32 + 20, [0x1003, 1]);
    let number = wrong(&mut case, record, 0);
    case.case.expected.push(ExpectedEvent::new(number, START + 20, 2, RUNNING, &[0x1003, 1]));
    let record = Record::new(Part::Simple, 2, 0, Code::BUFFER_END, START as u32 + 20, END);
    let number = wrong(&mut case, record, 1);
    case.case.expected.push(ExpectedEvent::new(number, START + 20, 2, Code::BUFFER_END, &END));
    open_8(&mut case, 0, START - 7, 2);
    let record = Record::new(Part::Simple, 0, 0, RUNNING, START as u32 + 1, [1, 1]);
    let number = wrong(&mut case, record, 2);
    case.case.expected.push(ExpectedEvent::new(number, START + 1, 0, RUNNING, &[1, 1]));
    case.done()
}

fn release_8_event_in_two_buffers() -> Case {
    let mut case =
        Builder::new("8.0: an event in two buffers, one of another CPU between them", &release_8(2));
    let code = Code::call(call::MSG_SEND);
    open_8(&mut case, 0, START, 1);
    let mut one = case.begin(0, START, code, &[1, 2, 3, 4, 5, 6]);
    case.event(0, START, Code::BUFFER_END, &END);
    open_8(&mut case, 1, START, 2);
    case.event(1, START, code, &[11, 12, 13, 14, 15, 16]);
    case.event(1, START + 5, Code::BUFFER_END, &END);
    open_8(&mut case, 0, START + 8, 3);
    case.part(&mut one);
    case.event(0, START + 8, Code::INTERRUPT_DELIVER, &[27, 0]);
    case.end(one);
    case.event(0, START + 9, Code::BUFFER_END, &END);
    case.done()
}

/// Words are swapped, bytes of strings are not; the upper half of a number comes first.
fn big_endian() -> Case {
    let target = Target { order: ByteOrder::Big, release: Release::R6, cpus: 2, ..Target::default() };
    let mut case = Builder::new("big endian", &Target { syspage_length: 501, ..target });
    case.open_buffer(1, START, 1);
    let mut words = vec![1, 0x1003];
    case.writer.order().push_text(&mut words, "bin/sh");
    // "bin/", "sh" and two NULs in the memory of a big endian target.
    assert_eq!(words[2..], [0x6269_6e2f, 0x7368_0000]);
    case.event(1, START, Code::process(process::CREATE_NAME), &words);
    let mut words = vec![0x1003];
    case.writer.order().push_64(&mut words, 0x11_2233_4455);
    assert_eq!(words[1..], [0x11, 0x2233_4455]);
    case.event(1, START + 1, Code::system(system::MAP).with_64(), &words);
    case.tail(&[1, 2, 3, 4, 5]);
    case.done()
}

/// Bit 9 of the event is not part of the call's number.
fn calls_of_64_bits() -> Case {
    let mut case = Builder::standard("kernel calls with 64-bit arguments");
    case.open_buffer(0, START, 1);
    let mut words = vec![0x4000_0001];
    case.writer.order().push_64(&mut words, 0x1_0000_0010);
    case.writer.order().push_64(&mut words, 64);
    words.extend([0x0004_0116, 0, 0]);
    case.event(0, START, Code::call(call::MSG_SEND).with_64(), &words);
    case.event(0, START + 5, Code::exit(call::MSG_SEND).with_64(), &[0, 0, 5, 6, 7]);
    case.event(0, START + 6, Code::interrupted(call::MSG_SEND).with_64(), &[0, 0]);
    case.event(0, START + 7, Code::call(call::MUTEX_LOCK).with_64(), &[0xdead_0000, 0x7f]);
    case.event(0, START + 8, Code::call(call::MUTEX_LOCK), &[0xdead_0000, 0x7f]);
    case.event(0, START + 9, Code::system(system::PROFILE).with_64(), &[0xdead_0000, 0x7f, 1, 0x1003]);
    case.done()
}

/// Events 5 and 6 are 1 and 3 with longer addresses.
fn interrupts_of_64_bits() -> Case {
    let mut case = Builder::standard("interrupts with 64-bit addresses");
    case.open_buffer(0, START, 1);
    case.event(0, START, Code::INTERRUPT_ENTRY.with_64(), &[0x8000_0000, 0, 0x1000, 0xffff_ff80]);
    case.event(0, START + 1, Code::HANDLER_ENTRY.with_64(), &[0x1003, 27, 0x2000, 0xff, 0x3000, 0xff]);
    case.event(0, START + 2, Code::HANDLER_EXIT, &[27, 0]);
    case.event(0, START + 3, Code::INTERRUPT_EXIT, &[0x8000_0000, 0xf01]);
    case.done()
}

/// The CPU has six bits, next to those of the part: including the upper two would give another CPU.
fn every_cpu() -> Case {
    let mut case = Builder::new("64 CPUs", &Target { cpus: 64, ..Target::default() });
    case.buffer(63, START, 1, 0);
    for cpu in (0..64).rev() {
        case.time(cpu, START + u64::from(cpu));
        case.event(cpu, START + u64::from(cpu), RUNNING, &[1, u32::from(cpu) + 1]);
        let code = Code::process(process::THREAD_NAME);
        case.event(cpu, START + u64::from(cpu) + 100, code, &[1, u32::from(cpu) + 1, 0x656c_6469]);
    }
    case.done()
}

/// Each class in the layout of this release: which parts belong together depends on it. None is refused.
fn codes_of(release: Release) -> Case {
    let target = Target { release, cpus: 1, ..Target::default() };
    let mut case = Builder::new(format!("codes of {}", release.number()), &target);
    match release {
        Release::R8 => open_8(&mut case, 0, START, 1),
        Release::R6 | Release::R7 => case.open_buffer(0, START, 1),
    }
    let mut codes = vec![
        Code::thread(0),
        Code::thread(25),
        Code::process(1),
        Code::process(2),
        Code::system(2),
        Code::system(0x1ff),
        Code::user(0),
        Code::user(1023),
        Code::communication(11),
        Code::quip(5),
        Code::security(3),
        Code::hypervisor(7),
        Code::counters(1),
        Code::call(0),
        Code::call(127),
        Code::exit(127),
        Code::interrupted(14),
        // No class: empty, and the last of 32. A kernel call that neither begins nor ends. Processes and
        // threads without an event: 52 threads, then every 64th code.
        Code::unknown(0x0005),
        Code::unknown(0x7fff),
        Code::unknown(0x0980),
        Code::unknown(0x1041),
    ];
    codes.extend(match release {
        Release::R8 => [Code::thread(26), Code::thread(63), Code::INTERRUPT_DELIVER],
        Release::R6 | Release::R7 => {
            [Code::virtual_thread(0), Code::virtual_thread(25), Code::unknown(0x1000 | 52)]
        }
    });
    if release != Release::R8 {
        codes.extend([
            Code::INTERRUPT_ENTRY,
            Code::INTERRUPT_EXIT,
            Code::HANDLER_ENTRY,
            Code::HANDLER_EXIT,
            Code::INTERRUPT_ENTRY.with_64(),
            Code::HANDLER_ENTRY.with_64(),
        ]);
    }
    for (n, code) in codes.into_iter().enumerate() {
        case.event(0, START + n as u64, code, &[n as u32, 0xffff_ffff]);
    }
    case.done()
}

/// Up to eight bytes with the NUL are a simple event, longer strings are not.
fn strings() -> Case {
    let mut case = Builder::standard("strings around the length of a record");
    case.open_buffer(0, START, 1);
    for (n, text) in ["", "a", "abcdefg", "abcdefgh", "Größe: 7 µs", "x"].into_iter().enumerate() {
        let mut words = Vec::new();
        case.writer.order().push_text(&mut words, text);
        case.event(0, START + n as u64, Code::user(555), &words);
    }
    let mut words = Vec::new();
    case.writer.order().push_text(&mut words, &"long ".repeat(500));
    case.event(0, START + 10, Code::user(555), &words);
    case.done()
}
