//! Commands as recorders write them: both dialects, and the peculiarities of each recorder.

use crate::diagnostics::{Log, Severity};
use crate::formats::Counts;
use crate::formats::grasp::{CommandReader, probe};
use proptest::prelude::*;

/// One row as words: status, command, event, time, and every field that is set.
fn rows_of(chunks: &[&str], tick: i64) -> (Vec<(u64, String, String)>, Counts, Log) {
    let mut rows = Vec::new();
    let mut reader = CommandReader::new("t.grasp", tick);
    for (n, chunk) in chunks.iter().enumerate() {
        let last = n + 1 == chunks.len();
        let taken: Result<(), ()> = reader.chunk(chunk.as_bytes(), last, &mut |place, c| {
            let mut row = format!("{} {}", c.status.as_str(), c.command);
            let mut say = |key: &str, value: Option<&str>| {
                if let Some(value) = value {
                    row += &format!(" {key}={value}");
                }
            };
            say("event", c.event);
            let number = |n: Option<i64>| n.map(|n| n.to_string());
            say("time", number(c.time).as_deref());
            for (key, value) in [
                ("processor", c.processor),
                ("task", c.task),
                ("job", c.job),
                ("server", c.server),
                ("mutex", c.mutex),
                ("semaphore", c.semaphore),
                ("buffer", c.buffer),
                ("target", c.target),
                ("name", c.name),
                ("kind", c.kind),
            ] {
                say(key, value);
            }
            for (key, value) in [
                ("priority", c.priority),
                ("budget", c.budget),
                ("capacity", c.capacity),
                ("amount", c.amount),
                ("until", c.until),
            ] {
                say(key, number(value).as_deref());
            }
            say("message", c.message);
            say("options", c.options.as_deref());
            rows.push((place.line, place.text.to_owned(), row));
            Ok(())
        });
        taken.unwrap();
    }
    let counts = reader.counts();
    assert_eq!(counts.lines, counts.rows + counts.rejected + counts.skipped);
    assert_eq!(counts.lines, chunks.concat().split_inclusive('\n').count() as u64, "as wc -l counts them");
    (rows, counts, reader.take_log())
}

#[track_caller]
fn row(line: &str) -> String {
    let (rows, ..) = rows_of(&[line], 10);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0].2.clone()
}

fn codes(text: &str) -> Vec<(&'static str, Severity)> {
    rows_of(&[text], 1).2.counts().map(|(_, code, severity, _)| (code, severity)).collect()
}

#[test]
fn declarations_of_both_dialects_are_the_same() {
    let task = "ok newTask task=Task0x13 name=Setup priority=5";
    assert_eq!(row("newTask Task0x13 -priority 5 -name \"Setup\""), task);
    assert_eq!(row("[Task Task0x13] initWith -priority 5 -name \"Setup\""), task);
    assert_eq!(row("[Task ::Task0x13] initWith -priority 5 -name {Setup}"), task);
    let job = "ok newJob task=T job=T_0 name=Setup 0";
    assert_eq!(row("newJob T_0 T -name \"Setup 0\""), job);
    assert_eq!(row("[Job T_0] initWithTask T -name \"Setup 0\""), job);
    assert_eq!(row("newProcessor core1 -name {Core 1}"), "ok newProcessor processor=core1 name=Core 1");
    assert_eq!(
        row("newServer s -priority 1 -budget 3.5 -capacity 4 -name S"),
        "ok newServer server=s name=S priority=1 budget=35 capacity=40"
    );
    assert_eq!(
        row("[Buffer b] initWith -seqNumber 0 -capacity 5 -name {B}"),
        "ok newBuffer buffer=b name=B amount=5 options=-seqNumber 0"
    );
    assert_eq!(row("newMutex m -name \"M 1\" -color red"), "ok newMutex mutex=m name=M 1 options=-color red");
    assert_eq!(row("newSemaphore s"), "ok newSemaphore semaphore=s");
    assert_eq!(row("ignore job0x1.*"), "ok ignore name=job0x1.*");
    assert_eq!(
        row("newTask t -kind isr -processor c -C 1 -D 5 -T 10 -color orange1"),
        "ok newTask processor=c task=t kind=isr options=-C 1 -D 5 -T 10 -color orange1"
    );
}

#[test]
fn every_event_has_its_fields() {
    let plot = |line: &str| row(&format!("plot 5 {line}")).replace("ok plot event=", "");
    assert_eq!(plot("jobArrived j t -name {J 1}"), "jobArrived time=50 task=t job=j name=J 1");
    assert_eq!(
        plot("jobResumed j -processor p -force 1"),
        "jobResumed time=50 processor=p job=j options=-force 1"
    );
    assert_eq!(plot("jobPreempted j --target ::k"), "jobPreempted time=50 job=j target=k");
    assert_eq!(plot("jobCompleted j"), "jobCompleted time=50 job=j");
    assert_eq!(plot("jobBlocked j"), "jobBlocked time=50 job=j");
    assert_eq!(plot("taskArrived t"), "taskArrived time=50 task=t");
    assert_eq!(plot("taskArrivedAndIgnored t"), "taskArrivedAndIgnored time=50 task=t");
    assert_eq!(plot("jobDeadline j -arrowStem solid"), "jobDeadline time=50 job=j options=-arrowStem solid");
    assert_eq!(
        plot("taskAnnotation t 7.5 -message {Test 1} -arrow both"),
        "taskAnnotation time=50 task=t until=75 message=Test 1 options=-arrow both"
    );
    assert_eq!(plot("interval -message x"), "interval time=50 message=x");
    assert_eq!(plot("message {a b} -color c"), "message time=50 message=a b options=-color c");
    assert_eq!(plot("relteqEvent period \"Net work\""), "relteqEvent time=50 kind=period options={Net work}");
    assert_eq!(plot("jobAcquiredMutex j m"), "jobAcquiredMutex time=50 job=j mutex=m");
    assert_eq!(
        plot("jobReleasedSemaphore j s -state 2"),
        "jobReleasedSemaphore time=50 job=j semaphore=s amount=2"
    );
    assert_eq!(plot("serverReplenished s 10"), "serverReplenished time=50 server=s budget=100");
    assert_eq!(plot("serverDepleted s"), "serverDepleted time=50 server=s");
    assert_eq!(plot("syncSent p q 3"), "syncSent time=50 processor=p target=q message=3");
    assert_eq!(plot("profile f 100 50"), "profile time=50 name=f options=100 50");
    assert_eq!(plot("nop"), "nop time=50");
    assert_eq!(row("Plot event 5 jobCompleted j"), "ok plot event=jobCompleted time=50 job=j");
    assert_eq!(row("plot 5 latencyStart a {b c}"), "custom plot event=latencyStart time=50 options=a {b c}");
}

#[test]
fn buffers_have_commands_of_their_own() {
    let plot = |line: &str| row(line).replace("ok bufferplot event=", "");
    assert_eq!(plot("bufferplot 3 push b \"0\\nI\""), "push time=30 buffer=b message=0\nI");
    assert_eq!(plot("bufferplot 3 pop b"), "pop time=30 buffer=b");
    assert_eq!(plot("bufferplot 3 insert b x 2"), "insert time=30 buffer=b amount=2 message=x");
    assert_eq!(plot("bufferplot 3 drop b 1"), "drop time=30 buffer=b amount=1");
    assert_eq!(plot("bufferplot 3 resize b 5"), "resize time=30 buffer=b amount=5");
    assert_eq!(plot("bufferplot 0 structure {t b u}"), "structure time=0 options={t b u}");
    assert_eq!(plot("[BufferPlot set activePlot] structure {t b u}"), "structure options={t b u}");
    assert_eq!(plot("[BufferPlot set activePlot] reset"), "reset");
    let new = "BufferPlot set activePlot [BufferPlot new]";
    assert_eq!(row(new), "ok bufferplot event=set options=activePlot {BufferPlot new}");
}

#[test]
fn peculiarities_of_recorders_are_read() {
    // After a mark of a console; with the time last; double blanks; decimal times; surplus words.
    assert_eq!(row("[grasp]plot 5 jobResumed j"), "ok plot event=jobResumed time=50 job=j");
    assert_eq!(row("  plot   5.25  jobResumed   j  \r\n"), "ok plot event=jobResumed time=52 job=j");
    assert_eq!(row("plot message {x y} 7"), "ok plot event=message time=70 message=x y");
    assert_eq!(row("bufferplot pop b 7"), "ok bufferplot event=pop time=70 buffer=b");
    assert_eq!(
        row("plot 5 serverPreempted s # because serverDepleted"),
        "ok plot event=serverPreempted time=50 server=s options=\\# because serverDepleted"
    );
    assert_eq!(row("error \"log is full\""), "custom error message=log is full");
    assert_eq!(codes("plot 5 serverPreempted s # because x\n"), [("extra-words", Severity::Info)]);
    assert_eq!(codes("plot 5 jobResumed j -odd 3\n"), [("unknown-option", Severity::Info)]);
    assert_eq!(codes("plot 5 jobResumed j -name\n"), [("option-without-value", Severity::Warning)]);
}

#[test]
fn a_command_goes_on_over_lines() {
    let text =
        "plot 50 jobPreempted a \\\n   -target b\nplot 51 message {one\ntwo}\n# c \\\n more\nplot 52 nop";
    let (rows, counts, log) = rows_of(&[text], 1);
    let shown: Vec<_> = rows.iter().map(|(line, _, row)| (*line, row.as_str())).collect();
    assert_eq!(
        shown,
        [
            (1, "ok plot event=jobPreempted time=50 job=a target=b"),
            (3, "ok plot event=message time=51 message=one\ntwo"),
            (5, "comment #"),
            (7, "ok plot event=nop time=52"),
        ]
    );
    assert_eq!((counts.lines, counts.rows, counts.skipped), (7, 4, 3));
    assert!(log.is_empty());
    let texts: Vec<_> = rows.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(texts.join("\n"), text);
}

#[test]
fn nothing_is_run() {
    let script = "proc f {t} {\n  plot $t nop\n}\nfor {set i 0} {$i < 3} {incr i} {\n  plot $i nop\n}\nplot $t nop\nplot [f] nop\nplot 1 nop; plot 2 nop\nplot {*}{1 nop}\nplot 3 nop\n";
    let (rows, counts, log) = rows_of(&[script], 1);
    let shown: Vec<_> = rows.iter().map(|(line, _, row)| (*line, row.as_str())).collect();
    assert_eq!(
        shown,
        [
            (1, "refused proc"),
            (4, "refused for"),
            (7, "refused plot"),
            (8, "refused plot"),
            (9, "refused plot"),
            (10, "refused plot"),
            (11, "ok plot event=nop time=3"),
        ]
    );
    assert_eq!((counts.lines, counts.rows, counts.skipped), (11, 7, 4));
    assert_eq!(log.count_of("script"), 2);
    assert_eq!(log.count_of("substitution"), 3);
    assert_eq!(log.count_of("several-commands"), 1);
    assert_eq!(log.count_at_least(Severity::Error), 6);
}

#[test]
fn other_output_swallows_nothing() {
    let text = "Booting \"the {board\nplot 1 nop\n{ open\nplot 2 message {unclosed\nplot 3 nop\n[info] up\n[Foo x] y\n";
    let (rows, counts, log) = rows_of(&[text], 1);
    let shown: Vec<_> = rows.iter().map(|(_, _, row)| row.as_str()).collect();
    assert_eq!(
        shown,
        [
            "unknown Booting",
            "ok plot event=nop time=1",
            "unknown {",
            "malformed plot",
            "ok plot event=nop time=3",
            "unknown [info]",
            "unknown [Foo",
        ]
    );
    assert_eq!((counts.lines, counts.rows), (7, 7));
    assert_eq!((log.count_of("unknown-command"), log.count_of("unclosed")), (4, 1));
}

#[test]
fn many_commands_that_nothing_closes_are_read_soon() {
    let text = "plot 1 message {\n".repeat(60_000) + "plot 2 nop\n";
    let (rows, counts, log) = rows_of(&[&text], 1);
    assert_eq!((counts.rows, log.count_of("unclosed")), (60_001, 60_000));
    assert_eq!(
        rows.last().map(|(line, _, row)| (*line, row.as_str())),
        Some((60_001, "ok plot event=nop time=2"))
    );
}

#[test]
fn what_lacks_something_is_stored_and_reported() {
    for line in [
        "plot",
        "plot x jobResumed j",
        "plot 5",
        "plot 5 jobResumed",
        "plot 5 jobArrived j",
        "plot 5 serverReplenished s full",
        "plot 5 taskAnnotation t soon",
        "bufferplot 5 drop b last",
        "newJob j",
        "[Job j] initWith t",
        "plot 99999999999999999999 nop",
    ] {
        assert!(row(line).starts_with("malformed "), "{line}: {}", row(line));
        assert_eq!(codes(line).first().map(|(_, severity)| *severity), Some(Severity::Error), "{line}");
    }
}

#[test]
fn a_trace_is_known_by_its_commands() {
    assert!(probe(b"# c\n\nnewTask t\nplot 5 nop\n"));
    assert!(probe(b"boot\nboot\n[grasp]plot 5 nop\n"));
    assert!(probe(b"[Task t] initWith -priority 1"));
    assert!(!probe(b""));
    assert!(!probe(b"#version 2.1.5\n0,Core_0,0,T,Task_1,0,start\n"));
    assert!(!probe(b"plot\nerror in line 5\n"));
    assert!(!probe(&b"text text\n".repeat(100)));
}

#[test]
fn bytes_that_are_no_utf8_are_characters_and_reported() {
    let mut rows = Vec::new();
    let mut reader = CommandReader::new("t", 1);
    let taken: Result<(), ()> = reader.chunk(b"plot 1 nop\nplot 2 message {\xff}\n", true, &mut |p, c| {
        rows.push((p.line, c.message.map(str::to_owned)));
        Ok(())
    });
    assert_eq!((taken, rows), (Ok(()), vec![(1, None), (2, Some("\u{ff}".to_owned()))]));
    assert_eq!(reader.take_log().entries()[0].line, Some(2));
}

proptest! {
    #[test]
    fn where_chunks_are_cut_does_not_matter(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "plot 5 nop\n", "plot 6 message {a\nb}\n", "noise \"x\n", "# c \\\n d\n", "\n", "newTask t \\\n -name x\n",
                "plot 7 message \"", "plot 8 message {\n", "}\n", "[grasp]plot 9 nop\n", "  \r\n", "plot \" a\n", "# d \\\n",
                "plot 9 jobCompleted job1.$x\n",
            ]),
            1..12,
        ),
        cuts in prop::collection::vec(any::<bool>(), 40),
    ) {
        let text = pieces.concat();
        let (whole, counts, _) = rows_of(&[&text], 1);
        let texts: Vec<_> = whole.iter().map(|(_, text, _)| text.as_str()).collect();
        let joined = texts.join("\n");
        prop_assert!(text == joined || text == format!("{joined}\n"), "{text:?} {joined:?}");
        let mut chunks = vec![String::new()];
        for (line, cut) in text.split_inclusive('\n').zip(cuts) {
            chunks.last_mut().unwrap().push_str(line);
            if cut {
                chunks.push(String::new());
            }
        }
        let chunks: Vec<&str> = chunks.iter().map(String::as_str).filter(|c| !c.is_empty()).collect();
        if text.split_inclusive('\n').count() <= 40 {
            let (parts, again, _) = rows_of(&chunks, 1);
            prop_assert_eq!((parts, again), (whole, counts));
        }
    }
}
