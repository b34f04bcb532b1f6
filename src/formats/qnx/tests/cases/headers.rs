//! What comes before and after the records. Not the records themselves.

use super::*;
use crate::neutrino::codes::process;

pub(super) fn all() -> Vec<Case> {
    let mut cases = vec![
        keys_in_odd_order(),
        a_value_that_ends_like_a_key(),
        a_long_header(),
        line_ends_in_the_system_page(),
        nothing_behind_the_header(),
        no_system_page("no key SYSPAGE_LEN", None),
        no_system_page("SYSPAGE_LEN is 0", Some("0")),
        a_system_page_longer_than_the_file(),
        a_length_that_is_no_number(),
        no_byte_order(),
    ];
    cases.extend([1, 7, 15, 68, 203, 641].map(a_system_page_of));
    cases.extend((1..16).map(a_tail_of));
    cases
}

fn two_events(case: &mut Builder) {
    case.open_buffer(0, START, 1);
    case.event(0, START, Code::user(1), &[1, 2]);
    let mut words = vec![1, 0x1003];
    case.writer.order().push_text(&mut words, "bin/sh");
    case.event(0, START + 9, Code::process(process::CREATE_NAME), &words);
}

fn with_attributes(name: &str, change: impl FnOnce(&mut Attributes)) -> Case {
    let target = Target::default();
    let mut attributes = target.attributes();
    change(&mut attributes);
    let mut case = Builder::with_header(name, target.order, attributes, &target.syspage());
    two_events(&mut case);
    case.done()
}

/// The order is not guaranteed, keys of users have any letters, dates may be missing, and a file name may
/// contain TRACE_.
fn keys_in_odd_order() -> Case {
    with_attributes("keys in odd order, TRACE_ in a value, user's keys, no date", |attributes| {
        attributes.remove("DATE").remove("BOOT_DATE");
        attributes.set("FILE_NAME", "/tmp/TRACE_HEADER/TRACE_x.kev");
        attributes.0.reverse();
        attributes
            .set("my_key", "Some thing: 7")
            .set("Empty", "")
            .set("TRACELOGGER_ARGS", "tracelogger -s1 -w");
    })
}

/// `tracelogger -f TRACE_run`: the next key begins with the last TRACE_ before the colons.
fn a_value_that_ends_like_a_key() -> Case {
    with_attributes("a value that ends like a key", |attributes| {
        attributes.set("FILE_NAME", "TRACE_run");
    })
}

/// Longer than the maximum in old headers, and than what is read at once.
fn a_long_header() -> Case {
    with_attributes("a header of 100 kB", |attributes| {
        for n in 0..1000 {
            attributes.set(&format!("key{n}"), "value ".repeat(15));
        }
    })
}

/// A reader that reads the header by lines loses the records.
fn line_ends_in_the_system_page() -> Case {
    let target = Target::default();
    let mut page = target.syspage();
    let text = b"\nTRACE_HEADER_END::\r\nTRACE_DATE::\n";
    page[300..300 + text.len()].copy_from_slice(text);
    let mut case = Builder::with_header(
        "line ends and keys in the system page",
        target.order,
        target.attributes(),
        &page,
    );
    two_events(&mut case);
    case.done()
}

fn nothing_behind_the_header() -> Case {
    Builder::standard("nothing behind the header").done()
}

fn no_system_page(name: &str, length: Option<&str>) -> Case {
    let mut attributes = Target::default().attributes();
    match length {
        Some(length) => attributes.set("SYSPAGE_LEN", length),
        None => attributes.remove("SYSPAGE_LEN"),
    };
    let mut case = Builder::with_header(name, ByteOrder::Little, attributes, &[]);
    two_events(&mut case);
    case.done()
}

fn a_system_page_longer_than_the_file() -> Case {
    let mut attributes = Target::default().attributes();
    attributes.set("SYSPAGE_LEN", "5000");
    let page = vec![0; 4999];
    let case =
        Builder::with_header("a system page longer than the file", ByteOrder::Little, attributes, &page);
    Case { may_refuse: true, ..case.done() }
}

/// It is unknown where the records begin.
fn a_length_that_is_no_number() -> Case {
    let mut attributes = Target::default().attributes();
    attributes.set("SYSPAGE_LEN", "many");
    let case = Builder::with_header("SYSPAGE_LEN is no number", ByteOrder::Little, attributes, &[]);
    Case { may_refuse: true, ..case.done() }
}

/// By default, little endian is assumed, as nearly all targets are.
fn no_byte_order() -> Case {
    let mut case = with_attributes("no byte order in the header", |attributes| {
        attributes.remove("LITTLE_ENDIAN");
    });
    case.may_refuse = true;
    case
}

/// Records are not aligned in the file, and `qtime` may be cut off.
fn a_system_page_of(length: u16) -> Case {
    let target = Target { syspage_length: length, ..Target::default() };
    let mut case = Builder::new(format!("a system page of {length} bytes"), &target);
    two_events(&mut case);
    case.done()
}

/// A crash, or a limit of the file size.
fn a_tail_of(length: usize) -> Case {
    let mut case = Builder::standard("");
    case.case.name = format!("{length} bytes behind the last record");
    two_events(&mut case);
    let record = Record::new(Part::Simple, 0, 0, Code::user(3), START as u32 + 20, [3, 4]);
    case.tail(&record.bytes(ByteOrder::Little)[..length]);
    case.done()
}
