//! The writer against the documents: bytes worked out by hand from the instrumentation document (figures 3
//! and 4) and the order of attributes of tracelogger.

use super::codes::{call, process};
use super::*;

fn bytes(order: ByteOrder, records: &[Record]) -> Vec<u8> {
    let mut writer = KevWriter::new(Vec::new(), order, &Attributes::default(), &[]).unwrap();
    for record in records {
        writer.record(record).unwrap();
    }
    writer.finish().unwrap().split_off("TRACE_HEADER_BEGIN::TRACE_HEADER_END::".len())
}

#[test]
fn a_header_has_no_line_ends_and_the_records_follow_the_system_page() {
    let mut attributes = Attributes::default();
    attributes.set("CPU_NUM", "3").set("my_key", "a TRACE_ b").set("SYSPAGE_LEN", "5").set("CPU_NUM", "4");
    let page = [1, 2, 0x0a, 0, 9];
    let mut writer = KevWriter::new(Vec::new(), ByteOrder::Little, &attributes, &page).unwrap();
    writer.event(Parts::new(0, 0, Code::user(1), 0, &[])).unwrap();
    let text =
        b"TRACE_HEADER_BEGIN::TRACE_CPU_NUM::4TRACE_my_key::a TRACE_ bTRACE_SYSPAGE_LEN::5TRACE_HEADER_END::";
    assert_eq!(writer.bytes(), text.len() as u64 + 5 + 16);
    let file = writer.finish().unwrap();
    assert_eq!(&file[..text.len()], text);
    assert_eq!(&file[text.len()..text.len() + 5], page);
    assert_eq!(file.len(), text.len() + 5 + 16);
}

#[test]
fn the_attributes_are_those_of_tracelogger_in_its_order() {
    let text = Target::default().attributes().text();
    let keys: Vec<&str> = text.split("TRACE_").filter_map(|p| p.split_once("::").map(|(k, _)| k)).collect();
    let expected = "HEADER_BEGIN FILE_NAME DATE VER_MAJOR VER_MINOR LITTLE_ENDIAN ENCODING BOOT_DATE CYCLES_PER_SEC CPU_NUM \
                    SYSNAME NODENAME SYS_RELEASE SYS_VERSION MACHINE SYSPAGE_LEN HEADER_END";
    assert_eq!(keys.join(" "), expected);
    let big = Target { order: ByteOrder::Big, ..Target::default() };
    assert!(big.attributes().text().contains("TRACE_BIG_ENDIAN::TRUETRACE_ENCODING::16 byte events"));
    let mut attributes = Target::default().attributes();
    assert!(!attributes.remove("DATE").text().contains("TRACE_DATE"));
}

#[test]
fn a_system_page_says_what_a_reader_needs() {
    let target = Target {
        order: ByteOrder::Big,
        cpus: 3,
        cycles_per_sec: 0x0102_0304_0506_0708,
        syspage_length: 203,
        boot_time: 0x1122_3344,
        ..Target::default()
    };
    let page = target.syspage();
    assert_eq!(page.len(), 203);
    // total_size, type ppc, num_cpu; then the seventh of the sections: offset and size.
    assert_eq!(page[2..8], [0, 203, 0, 1, 0, 3]);
    let at = usize::from(u16::from_be_bytes([page[32], page[33]]));
    assert_eq!(page[at..at + 8], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(page[at + 28..at + 32], [0x11, 0x22, 0x33, 0x44]);
    assert_eq!(page[at + 52..at + 56], [0, 0, 0, 8]);
    let odd = Target { global_clock: false, ..Target::default() }.syspage();
    assert_eq!((odd.len(), odd[at + 52]), (2264, 0));
    assert_eq!(Target { syspage_length: 7, ..target }.syspage().len(), 7);
}

#[test]
fn a_simple_record_in_both_byte_orders() {
    // Kernel call 11 returns on CPU 3: internal class 2, 128 more than the call; flags 1.
    let record = Record::new(Part::Simple, 3, 1, Code::exit(call::MSG_SEND), 0x4f81_e320, [7, 0x8000_0001]);
    let little =
        [0x8b, 0x08, 0x01, 0x03, 0x20, 0xe3, 0x81, 0x4f, 0x07, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x80];
    let big =
        [0x03, 0x01, 0x08, 0x8b, 0x4f, 0x81, 0xe3, 0x20, 0x00, 0x00, 0x00, 0x07, 0x80, 0x00, 0x00, 0x01];
    assert_eq!(bytes(ByteOrder::Little, &[record]), little);
    assert_eq!(bytes(ByteOrder::Big, &[record]), big);
    assert_eq!(record.of_cpu(63).header, 0x3f01_088b);
}

#[test]
fn an_event_of_three_parts_with_another_cpu_between_them() {
    // Process 4099 gets the name "bin/sh1": two numbers and eight bytes, then one word more.
    let mut words = vec![1, 0x1003];
    ByteOrder::Little.push_text(&mut words, "bin/sh1");
    words.push(0xabcd);
    let mut parts = Parts::new(0, 0, Code::process(process::CREATE_NAME), 0x10, &words);
    let other = Record::new(Part::Simple, 1, 0, Code::thread(1), 0x0f, [0x1003, 1]);
    let records = [parts.next().unwrap(), other, parts.next().unwrap(), parts.next().unwrap()];
    assert_eq!(parts.next(), None);
    let expected: [[u8; 16]; 4] = [
        // 01 begins; class 4, event 3 << 6.
        [0xc0, 0x10, 0, 0x40, 0x10, 0, 0, 0, 1, 0, 0, 0, 3, 0x10, 0, 0],
        [0x01, 0x10, 0, 0x01, 0x0f, 0, 0, 0, 3, 0x10, 0, 0, 1, 0, 0, 0],
        [0xc0, 0x10, 0, 0x80, 0x10, 0, 0, 0, b'b', b'i', b'n', b'/', b's', b'h', b'1', 0],
        // 11 ends; the missing word is zero.
        [0xc0, 0x10, 0, 0xc0, 0x10, 0, 0, 0, 0xcd, 0xab, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(bytes(ByteOrder::Little, &records), expected.concat());
}

#[test]
fn strings_keep_their_order_in_memory_and_end_with_nul() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for text in ["", "a", "abc", "abcd", "1234567", "12345678"] {
            let mut words = Vec::new();
            order.push_text(&mut words, text);
            let memory: Vec<u8> = words.iter().flat_map(|w| order.bytes(*w)).collect();
            assert_eq!(memory[..text.len()], *text.as_bytes());
            assert!(memory.len() > text.len() && memory[text.len()..].iter().all(|b| *b == 0));
            assert_eq!(words.len(), text.len() / 4 + 1);
        }
    }
    let mut words = Vec::new();
    ByteOrder::Little.push_64(&mut words, 0x1_0000_0002);
    ByteOrder::Big.push_64(&mut words, 0x1_0000_0002);
    assert_eq!(words, [2, 1, 1, 2]);
}

#[test]
fn the_codes_of_published_headers() {
    // `_NTO_TRACE_…` of sys/trace.h: class << 10 | event, written out.
    let expected = [
        (Code::TIME, 0x0401),
        (Code::BUFFER, 0x0402),
        (Code::BUFFER_END, 0x0404),
        (Code::DROPPED, 0x0408),
        (Code::call(80), 0x0850),
        (Code::exit(14), 0x088e),
        (Code::interrupted(75), 0x094b),
        (Code::call(11).with_64(), 0x0a0b),
        (Code::exit(11).with_64(), 0x0a8b),
        (Code::INTERRUPT_ENTRY, 0x0c01),
        (Code::INTERRUPT_EXIT, 0x0c02),
        (Code::HANDLER_ENTRY, 0x0c03),
        (Code::HANDLER_EXIT, 0x0c04),
        (Code::INTERRUPT_ENTRY.with_64(), 0x0c05),
        (Code::HANDLER_ENTRY.with_64(), 0x0c06),
        (Code::INTERRUPT_DELIVER, 0x0c07),
        (Code::thread(25), 0x1019),
        (Code::virtual_thread(1), 0x101b),
        (Code::process(1), 0x1040),
        (Code::process(5), 0x1140),
        (Code::system(6).with_64(), 0x1606),
        (Code::user(1023), 0x1bff),
        (Code::communication(10), 0x1c0a),
        (Code::quip(1), 0x2001),
        (Code::security(2), 0x2402),
        (Code::hypervisor(7), 0x2807),
        (Code::counters(1), 0x2c01),
        (Code::unknown(0xffff), 0x7fff),
    ];
    for (code, bits) in expected {
        assert_eq!(code.bits, bits, "{code:?}");
    }
}

#[test]
fn a_kernel_tells_buffers_and_times_of_each_cpu() {
    let target = Target { cpus: 2, ..Target::default() };
    let mut kernel = Kernel::new(Vec::new(), &target, 45, Faults::default(), 1, true).unwrap();
    let start = 0x5_ffff_fff0;
    assert_eq!(kernel.emit(0, start, 0, Code::user(1), &[1, 2], false), start);
    assert_eq!(kernel.emit(1, start, 0, Code::user(2), &[1, 2], false), start);
    // Stamps are unique on a CPU; the lower bits overflow only once.
    assert_eq!(kernel.emit(0, start, 0, Code::user(3), &[1, 2], false), start + 1);
    assert_eq!(kernel.emit(0, start + 0x10, 0, Code::user(4), &[1, 2], false), start + 0x10);
    kernel.emit(0, start + 0x20, 0, Code::user(5), &[1, 2], false);
    let Written { events, lost_buffers: lost, .. } = kernel.finish().unwrap().1;
    let found: Vec<_> =
        events.iter().map(|e| (e.record, e.cpu, e.class, e.event, e.cycles - start)).collect();
    let expected = [
        (0, 0, "CONTROL", 2, 0),
        (1, 0, "CONTROL", 1, 0),
        (2, 0, "USER", 1, 0),
        (3, 1, "CONTROL", 1, 0),
        (4, 1, "USER", 2, 0),
        (5, 0, "USER", 3, 1),
        (6, 0, "CONTROL", 1, 0x10),
        (7, 0, "USER", 4, 0x10),
        (8, 0, "USER", 5, 0x20),
    ];
    assert_eq!(found, expected);
    assert_eq!(events[0].words, [45, 9]);
    assert!(lost.is_empty());
}

#[test]
fn buffers_are_handed_over_when_they_are_two_thirds_full() {
    for (release, cpus) in [(Release::R7, 1), (Release::R8, 2)] {
        let target = Target { cpus, release, ..Target::default() };
        let faults = Faults { lost_buffer: 3, ..Faults::default() };
        let mut kernel = Kernel::new(Vec::new(), &target, 2040, faults, 5, true).unwrap();
        for n in 0..40_000 {
            kernel.emit((n % 3 % 2) as u8, 1000 + n * 50, 0, Code::user(1), &[1, 2, 3, 4, 5], false);
        }
        let (file, Written { events, lost_buffers: lost, .. }) = kernel.finish().unwrap();
        let buffers: Vec<_> = events.iter().filter(|e| e.class == "CONTROL" && e.event == 2).collect();
        let missing: u32 = lost.iter().map(|l| l.count).sum();
        assert!(buffers.len() > 50 && missing > 10);
        let mut next = 2040;
        for (n, buffer) in buffers.iter().enumerate() {
            let gap = lost.iter().find(|l| l.after.wrapping_add(1) == next);
            assert_eq!(buffer.words[0], next + gap.map_or(0, |g| g.count));
            next = buffer.words[0] + 1;
            let at = u64::from(release == Release::R8);
            if let Some(gap) = gap {
                assert_eq!(gap.record, buffer.record - at);
            }
            let end = buffers.get(n + 1).map_or((file.len() / 16) as u64, |b| b.record - at);
            // The header of the file is longer than a record: the last one is not asked.
            if n + 1 < buffers.len() {
                assert_eq!(u64::from(buffer.words[1]), end - (buffer.record - at));
            }
        }
        let of = |status| events.iter().filter(|e| e.status == status).count();
        assert!(of("orphan") > 0 && of("unterminated") > 0, "lost buffers cut events in two");
    }
}
