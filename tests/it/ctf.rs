//! CTF traces on the command line: what becomes of a folder, and each trace of the corpus against the text
//! that another reader prints of it. Not the metadata nor the packets (see `formats::ctf`).

use crate::support::{Bench, root};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A bench with a trace of two packets: the seed of a fuzz target, whose metadata are in front of its stream.
fn bench() -> Bench {
    let bench = Bench::new();
    let seed = std::fs::read(root().join("fuzz/seeds/ctf_stream/packets")).unwrap();
    let length = usize::from(u16::from_le_bytes([seed[0], seed[1]]));
    bench.write("trace/metadata", &seed[2..2 + length]);
    bench.write("trace/channel0", &seed[2 + length..]);
    bench
}

#[test]
fn a_folder_with_metadata_is_a_recording() {
    let bench = bench();
    insta::assert_snapshot!("ingest", bench.ok(&["ingest", "c.db", "trace"]).all());
    let sql = "SELECT stream, cpu, time, name, payload['stream_context']['vtid'] AS vtid, payload['state'] AS state,
               payload['list'][2] AS second FROM trace_event ORDER BY seq";
    insta::assert_snapshot!("rows", bench.ok(&["query", "c.db", sql, "--format", "table"]).stdout);
    let alone = bench.ok(&["ingest", "c.db", "trace/channel0"]);
    assert!(alone.stderr.contains("3 records = 3 rows"), "{}", alone.all());
}

#[test]
fn what_is_missing_is_said() {
    let bench = bench();
    std::fs::rename(bench.path().join("trace/metadata"), bench.path().join("moved")).unwrap();
    let run = bench.run(&["ingest", "c.db", "trace/channel0"]);
    assert!(
        run.code == Some(1) && run.stderr.contains("the metadata of this CTF stream are missing"),
        "{}",
        run.all()
    );
    let run = bench.run(&["ingest", "c.db", "moved", "--format", "ctf"]);
    assert_eq!(run.code, Some(1), "{}", run.all());
    bench.write("wrong/metadata", "/* CTF 1.8 */\nstream { id = x; };\n");
    bench.write("wrong/s", "");
    let run = bench.run(&["ingest", "c.db", "wrong"]);
    assert!(run.stderr.contains("line 2 of the metadata: 'x' is no number of a stream"), "{}", run.all());
}

/// A trace in the layout of Zephyr: no packets, events of five bytes and their fields.
pub fn zephyr(bench: &Bench) {
    let thread = "fields := struct { u32 thread_id; text name[4]; };";
    let object = "fields := struct { u32 id; };";
    let result = "fields := struct { u32 id; u32 timeout; integer { size = 32; signed = true; } ret; };";
    let events = [
        ("thread_switched_out", 0x10, thread),
        ("thread_switched_in", 0x11, thread),
        ("thread_create", 0x13, thread),
        ("thread_ready", 0x17, thread),
        ("thread_pending", 0x18, thread),
        ("isr_enter", 0x1b, ""),
        ("isr_exit", 0x1c, ""),
        ("semaphore_give_enter", 0x22, object),
        ("semaphore_take_enter", 0x24, object),
        ("semaphore_take_blocking", 0x25, object),
        ("semaphore_take_exit", 0x26, result),
    ];
    let mut metadata = "/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 8; align = 8; encoding = ASCII; } := text;
stream { event.header := struct { u32 timestamp; u8 id; }; };
"
    .to_owned();
    for (name, id, fields) in events {
        metadata += &format!("event {{ name = {name}; id = {id}; {fields} }};\n");
    }
    bench.write("zephyr/metadata", metadata);
    let mut stream = Vec::new();
    let mut event = |time: u32, name: &str, words: &[u32], text: &str| {
        let id = events.iter().find(|event| event.0 == name).unwrap().1;
        stream.extend(time.to_le_bytes());
        stream.push(id);
        words.iter().for_each(|word| stream.extend(word.to_le_bytes()));
        stream.extend(text.bytes());
    };
    event(100, "thread_create", &[16], "Main");
    event(100, "thread_create", &[32], "Side");
    event(200, "thread_switched_in", &[16], "Main");
    event(300, "semaphore_take_enter", &[5], "");
    event(310, "semaphore_take_blocking", &[5], "");
    event(320, "thread_pending", &[16], "Main");
    event(330, "thread_switched_out", &[16], "Main");
    event(340, "thread_switched_in", &[32], "Side");
    event(400, "isr_enter", &[], "");
    event(410, "semaphore_give_enter", &[5], "");
    event(410, "thread_ready", &[16], "Main");
    event(420, "isr_exit", &[], "");
    event(430, "thread_switched_out", &[32], "Side");
    event(430, "thread_switched_in", &[16], "Main");
    event(440, "semaphore_take_exit", &[5, 0, 0], "");
    event(500, "thread_switched_out", &[16], "Main");
    event(510, "thread_switched_in", &[32], "Side");
    bench.write("zephyr/channel0_0", stream);
}

#[test]
fn threads_become_tasks() {
    let bench = Bench::new();
    zephyr(&bench);
    bench.ok(&["ingest", "z.db", "zephyr"]);
    bench.ok(&["export", "z.db", "--format", "btf", "-o", "z.btf"]);
    let lines = std::fs::read_to_string(bench.path().join("z.btf")).unwrap();
    let events: Vec<&str> = lines.lines().filter(|line| !line.starts_with('#')).collect();
    insta::assert_snapshot!("zephyr", events.join("\n"));
    bench.ok(&["check", "z.db"]);
    // Jobs instead of threads.
    bench.ok(&["ingest", "j.db", "zephyr", "--endless", "Main"]);
    let jobs = "SELECT process, instance, complete FROM process_instance WHERE process = 'Main' ORDER BY 2";
    let found = bench.ok(&["query", "j.db", jobs, "--format", "csv"]).stdout;
    assert!(found.contains("Main,0,") && found.contains("Main,1,"), "{found}");
}

/// The folders of the corpus; none, and says so, where there is none.
fn corpus() -> Vec<PathBuf> {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("BTFDB_CORPUS is not set: no CTF trace is read");
        return Vec::new();
    };
    let entries =
        std::fs::read_dir(PathBuf::from(corpus).join("ctf")).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(folders.len() > 15);
    folders
}

fn golden(folder: &Path) -> Value {
    let name = format!("{}.expected.json", folder.file_name().unwrap().to_str().unwrap());
    serde_json::from_str(&std::fs::read_to_string(folder.with_file_name(name)).unwrap()).unwrap()
}

/// Counts of events per name, and of those that were discarded, of all traces.
#[test]
fn every_event_of_the_corpus_is_there_and_what_is_lost_is_counted() {
    for folder in corpus() {
        let (bench, golden) = (Bench::new(), golden(&folder));
        let ingest = bench.ok(&["ingest", "c.db", folder.to_str().unwrap()]);
        let found = bench.ok(&["query", "c.db", "SELECT count(*) AS n FROM trace_event", "--format", "csv"]);
        assert_eq!(found.stdout, format!("n\n{}", golden["events"]), "{}", folder.display());
        if let (Some(first), Some(last)) = (golden["first_ns"].as_i64(), golden["last_ns"].as_i64()) {
            let sql = "SELECT min(time) AS first, max(time) AS last FROM trace_event";
            let found = bench.ok(&["query", "c.db", sql, "--format", "csv"]);
            assert_eq!(found.stdout, format!("first,last\n{first},{last}"), "{}", folder.display());
        }
        let lost = golden["discarded_events"].as_u64().unwrap_or(0);
        assert_eq!(sum_of_discarded(&ingest.stderr), lost, "{}: {}", folder.display(), ingest.all());
        for (name, count) in golden["by_name"].as_object().into_iter().flatten() {
            let sql = format!("SELECT count(*) AS n FROM trace_event WHERE name = '{name}'");
            let found = bench.ok(&["query", "c.db", &sql, "--format", "csv"]);
            assert_eq!(found.stdout, format!("n\n{count}"), "{}: {name}", folder.display());
        }
    }
}

fn sum_of_discarded(text: &str) -> u64 {
    let numbers =
        text.split("discarded ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    numbers.sum()
}

/// Clock, name and all fields of every event, where the other reader's text is there.
#[test]
fn fields_are_those_that_another_reader_prints() {
    let mut compared = 0;
    for folder in corpus() {
        let text =
            folder.with_file_name(format!("{}.expected.txt", folder.file_name().unwrap().to_str().unwrap()));
        let Ok(text) = std::fs::read_to_string(text) else { continue };
        let bench = Bench::new();
        bench.ok(&["ingest", "c.db", folder.to_str().unwrap(), "-q"]);
        let rows = bench.ok(&["query", "c.db", "SELECT name, payload FROM trace_event", "--format", "jsonl"]);
        let mut found: Vec<String> = rows
            .stdout
            .lines()
            .map(|line| {
                let row: Value = serde_json::from_str(line).unwrap();
                let payload: Value = serde_json::from_str(row["payload"].as_str().unwrap()).unwrap();
                format!("{} {}", row["name"].as_str().unwrap(), canonical(&payload))
            })
            .collect();
        let mut expected: Vec<String> = text.lines().map(printed).collect();
        found.sort();
        expected.sort();
        assert_eq!(found.len(), expected.len(), "{}", folder.display());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{}", folder.display());
        }
        compared += found.len();
    }
    assert!(compared > 10_000 || corpus().is_empty(), "{compared}");
}

/// A payload as the other reader would have it: without the numbers of names, floating-point numbers with six
/// digits.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(of) => {
            let names = of.iter().filter(|(name, _)| !name.ends_with(".value"));
            Value::Object(names.map(|(name, value)| (name.clone(), canonical(value))).collect())
        }
        Value::Array(of) => Value::Array(of.iter().map(canonical).collect()),
        Value::Number(number) if number.is_f64() => real(number.as_f64().unwrap()),
        other => other.clone(),
    }
}

fn real(number: f64) -> Value {
    // The other reader prints -969.0 as an integer.
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return json!(number as i64);
    }
    json!(format!("{number:.4e}"))
}

/// A line of the text: name and fields.
fn printed(line: &str) -> String {
    let mut rest = line;
    let (mut name, mut payload) = (String::new(), Map::new());
    while let Some((key, value)) = rest.split_once(" = ") {
        let key = key.trim_start_matches([',', ' ']);
        let key = key.rsplit(", ").next().unwrap_or(key);
        if key == "name" {
            let (found, behind) = value.split_once(", ").unwrap_or((value, ""));
            name = found.to_owned();
            rest = behind;
        } else if value.starts_with("{ ") {
            let mut parser = Printed(value);
            let fields = parser.value();
            match (key, fields) {
                ("event.fields", Value::Object(fields)) => payload.extend(fields),
                ("stream.event.context", fields) => drop(payload.insert("stream_context".into(), fields)),
                ("event.context", fields) => drop(payload.insert("context".into(), fields)),
                _ => {}
            }
            rest = parser.0;
        } else {
            rest = value.split_once(", ").map_or("", |(_, behind)| behind);
        }
    }
    format!("{name} {}", Value::Object(payload))
}

/// Values as the other reader prints them.
struct Printed<'a>(&'a str);

impl Printed<'_> {
    fn skip(&mut self, text: &str) -> bool {
        self.0 = self.0.trim_start_matches(' ');
        match self.0.strip_prefix(text) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Value {
        if self.skip("{") {
            // What a variant chooses stands in braces, without a name.
            let is_choice = |c: char| !c.is_alphabetic() && c != '_' && c != '}';
            if self.0.trim_start().starts_with(is_choice) {
                let value = self.value();
                self.skip("}");
                return value;
            }
            let mut fields = Map::new();
            while !self.skip("}") {
                let (name, rest) = self.0.trim_start().split_once(" = ").unwrap();
                let name = name.to_owned();
                self.0 = rest;
                let value = self.value();
                fields.insert(name, value);
                self.skip(",");
            }
            return Value::Object(fields);
        }
        if self.skip("[") {
            let mut list = Vec::new();
            while !self.skip("]") {
                if self.skip("[") {
                    self.0 = self.0.split_once("] = ").unwrap().1;
                }
                list.push(self.value());
                self.skip(",");
            }
            return Value::Array(list);
        }
        if self.skip("(") {
            // ( "NAME" : container = 5 ), or ( { "A", "B" } : container = 5 ), or ( <unknown> : container = 5
            // ).
            let (names, rest) = self.0.split_once(" : container = ").unwrap();
            let (number, rest) = rest.split_once(" )").unwrap();
            self.0 = rest;
            let names: Vec<&str> = names.split('"').skip(1).step_by(2).collect();
            return match names.as_slice() {
                [] => self::number(number),
                names => json!(names.join("|")),
            };
        }
        if self.skip("\"") {
            let mut text = String::new();
            let mut chars = self.0.char_indices();
            while let Some((at, c)) = chars.next() {
                match c {
                    '"' => {
                        self.0 = &self.0[at + 1..];
                        return json!(text);
                    }
                    '\\' => match chars.next().unwrap().1 {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        other => text.push(other),
                    },
                    c => text.push(c),
                }
            }
        }
        let end = self.0.find([',', ' ']).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        number(word)
    }
}

fn number(word: &str) -> Value {
    let is_negative = word.starts_with('-');
    let bare = word.trim_start_matches('-');
    let hexadecimal = bare.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let octal =
        (bare.len() > 1 && bare.starts_with('0')).then(|| u64::from_str_radix(bare, 8).ok()).flatten();
    match hexadecimal.or(octal).or(bare.parse().ok()) {
        Some(number) if is_negative => json!((-i128::from(number)) as i64),
        Some(number) => i64::try_from(number).map_or_else(|_| json!(number), |number| json!(number)),
        None => word.parse::<f64>().map_or_else(|_| json!(word), real),
    }
}
