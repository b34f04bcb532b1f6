//! `btfdb chains`, and how long chains take by definition: the chains of the demo, whole systems against a
//! computation by hand, and what is refused. Not how chains are found (see `src/chain`).

use crate::support::Bench;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Pseudorandom numbers from 0 to an end.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end) as i64
    }
}

/// Rows of CSV as maps from column to cell.
fn csv(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut rows = csv_lines(text).into_iter();
    let header = rows.next().unwrap();
    rows.map(|row| header.iter().cloned().zip(row).collect()).collect()
}

/// Cells, which may be quoted and have several lines.
fn csv_lines(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = format!("{}\n", text.trim_end()).chars().collect::<Vec<_>>().into_iter().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

#[test]
fn chains_of_the_demo_are_a_file_and_rows() {
    let bench = Bench::engine();
    let often = ["chains", "engine.db", "--min-count", "9"];
    let mut all = bench.ok(&often).all();
    let short = ["--max-links", "1", "--format", "table"];
    all.push_str(&format!("\n== {}\n{}", short.join(" "), bench.ok(&[&often[..], &short].concat()).all()));
    insta::assert_snapshot!(all);
    // The view has the same rows.
    let asked = bench.ok(&["chains", "engine.db", "--format", "csv"]).stdout;
    assert_eq!(asked, bench.ok(&["query", "engine.db", "SELECT * FROM discovered_chain"]).stdout);
    bench.ok(&["chains", "engine.db", "-o", "rows.json", "-q"]);
    let rows = std::fs::read_to_string(bench.path().join("rows.json")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&rows).unwrap()[0]["chain"].is_string(), "{rows}");
}

/// What was found is followed, as often; all commands take the file.
#[test]
fn a_file_of_chains_that_were_found_is_one_for_all_commands() {
    let bench = Bench::engine();
    bench.ok(&["chains", "engine.db", "-o", "chains.toml", "-q"]);
    let followed = "SELECT chain, count(end_at) AS n FROM chain_instance GROUP BY chain";
    let followed = bench.ok(&["query", "engine.db", followed, "--chains", "chains.toml"]);
    assert!(!followed.stderr.contains("warning"), "{}", followed.stderr);
    let followed: BTreeMap<_, _> =
        csv(&followed.stdout).into_iter().map(|row| (row["chain"].clone(), row["n"].clone())).collect();
    let found = csv(&bench.ok(&["chains", "engine.db", "--format", "csv"]).stdout);
    assert!(found.len() > 3 && found.len() == followed.len());
    for row in found {
        let followed: u64 = followed[&row["chain"]].parse().unwrap();
        assert!(followed >= row["occurrences"].parse::<u64>().unwrap(), "{row:?} {followed}");
    }
    for command in [
        &["metrics", "engine.db", "FirstToFirst", "LastToLast", "FirstToLast", "LastToFirst"][..],
        &["shell", "engine.db"],
        &["export", "engine.db", "-o", "x.pftrace"],
    ] {
        let run = bench.ok(&[command, &["--chains", "chains.toml"]].concat());
        assert!(!run.stderr.contains("warning"), "{}", run.all());
    }
    // With a bound, it is a file of requirements.
    let text = std::fs::read_to_string(bench.path().join("chains.toml")).unwrap();
    bench.write("limits.toml", text.replacen("\nsteps =", "\nage = \"1s\"\nsteps =", 1));
    assert_eq!(bench.run(&["check", "engine.db", "--requirements", "limits.toml"]).code, Some(0));
    // Of two recordings, each chain is one entry.
    bench.ok(&["ingest", "engine.db", "recording", "--name", "again", "-q"]);
    let both = bench.ok(&["chains", "engine.db"]).stdout;
    assert_eq!(both.matches("[[chain]]").count(), text.matches("[[chain]]").count());
    assert!(both.contains(" last steps in \"again\", at "), "{both}");
}

/// Time, task, job, whether it is a write.
type Access = (i64, usize, i64, bool);

/// Tasks on a core each, of which the next one reads what the one before writes; `T_0` writes only. Returns
/// the text, and the accesses in its order.
fn pipeline(random: &mut Random, tasks: usize) -> (String, Vec<Access>) {
    let mut events: Vec<(i64, String, Option<Access>)> = Vec::new();
    for task in 0..tasks {
        let (period, mut at) = (10 + random.below(90), random.below(100));
        let length = 1 + random.below(period as u64 - 1);
        for job in 0.. {
            if at > 2000 {
                break;
            }
            let end = at + 1 + random.below(length as u64);
            let of_task = |what: &str| format!("T,T_{task},{job},{what}");
            events.push((at, format!("Timer_{task},{job},{}", of_task("activate")), None));
            events.push((at, format!("Core_{task},0,{}", of_task("start")), None));
            let access = |signal: usize, what: &str| format!("T_{task},{job},SIG,S_{signal},0,{what},1");
            if task > 0 {
                events.push((at, access(task - 1, "read"), Some((at, task, job, false))));
            }
            events.push((end, access(task, "write"), Some((end, task, job, true))));
            events.push((end, format!("Core_{task},0,{}", of_task("terminate")), None));
            at += period;
        }
    }
    events.sort_by_key(|event| event.0);
    let mut text = "#version 2.2.1\n#timeScale ns\n".to_owned();
    events.iter().for_each(|(time, event, _)| writeln!(text, "{time},{event}").unwrap());
    (text, events.iter().filter_map(|(_, _, access)| *access).collect())
}

/// The write of `T_0` that an access has to do with, by looking back from it: its time.
fn shown(accesses: &[Access], at: usize) -> Option<i64> {
    let (time, task, job, is_write) = accesses[at];
    if task == 0 {
        return Some(time);
    }
    let cause = |other: &Access| match is_write {
        true => (other.1, other.2, other.3) == (task, job, false),
        false => (other.1, other.3) == (task - 1, true),
    };
    shown(accesses, accesses[..at].iter().rposition(cause)?)
}

/// Count, least and greatest.
type Summary = (usize, Option<i64>, Option<i64>);

fn summary(latencies: impl IntoIterator<Item = (i64, i64)>) -> Summary {
    let ticks: Vec<i64> = latencies.into_iter().map(|(begin, end)| end - begin).collect();
    (ticks.len(), ticks.iter().min().copied(), ticks.iter().max().copied())
}

/// Latencies by definition, over the lists of all stimuli and responses.
fn by_hand(accesses: &[Access], tasks: usize) -> BTreeMap<&'static str, Summary> {
    let stimuli: Vec<i64> = accesses.iter().filter(|a| a.1 == 0).map(|a| a.0).collect();
    let is_response = |at: &usize| accesses[*at].1 == tasks - 1 && !accesses[*at].3;
    let response = |at: usize| Some((shown(accesses, at)?, accesses[at].0));
    let responses: Vec<(i64, i64)> = (0..accesses.len()).filter(is_response).filter_map(response).collect();
    let answer = |stimulus: i64| responses.iter().find(|(shown, _)| *shown >= stimulus).copied();
    let answered: Vec<_> = stimuli.iter().filter_map(|s| Some((*s, answer(*s)?))).collect();
    let first = |shown: i64| answered.iter().find(|(_, (other, _))| *other == shown).unwrap().0;
    let news = answered.iter().filter(|(s, (shown, _))| s == shown).map(|(s, (_, r))| (*s, *r));
    let (begin, end) = match responses.as_slice() {
        [(first, _), .., (last, _)] => (*first, *last),
        _ => (i64::MAX, i64::MIN),
    };
    let waits = answered.windows(2).filter(|pair| pair[0].0 >= begin).map(|pair| (pair[0].0, pair[1].1.1));
    let replaced = responses.windows(2).map(|pair| (pair[0].0, pair[1].1)).filter(|(s, _)| *s < end);
    [
        ("ChainReaction", summary(answered.iter().map(|(s, (_, r))| (*s, *r)))),
        ("ChainAge", summary(responses.iter().copied())),
        ("ChainFirstToLast", summary(responses.iter().map(|(s, r)| (first(*s), *r)))),
        ("ChainLastToFirst", summary(news)),
        ("ChainReactionWithWait", summary(waits)),
        ("ChainAgeUntilReplaced", summary(replaced)),
    ]
    .into()
}

#[test]
fn latencies_of_random_systems_are_what_they_are_by_hand() {
    let bench = Bench::new();
    let mut compared = 0;
    for seed in 0..24_u64 {
        let tasks = 2 + seed as usize % 3;
        let (text, accesses) = pipeline(&mut Random(seed), tasks);
        let mut steps = String::new();
        for task in 1..tasks {
            let (before, same) = (task - 1, if task > 1 { ", instance = \"same\"" } else { "" });
            let entity = format!("entity = \"S_{before}\"");
            writeln!(steps, "{{ {entity}, action = \"write\", source = \"T_{before}\"{same} }},").unwrap();
            writeln!(steps, "{{ {entity}, action = \"read\", source = \"T_{task}\" }},").unwrap();
        }
        bench.write("c.toml", format!("[[chain]]\nname = \"c\"\nsteps = [\n{steps}]\n"));
        let (btf, db) = (format!("p{seed}.btf"), format!("p{seed}.db"));
        bench.write(&btf, text);
        bench.ok(&["ingest", &db, &btf, "-q"]);
        let expected = by_hand(&accesses, tasks);
        let names: Vec<&str> = expected.keys().copied().collect();
        let options = ["--chains", "c.toml", "--format", "csv"];
        let run = bench.ok(&[&["metrics", db.as_str()][..], &names, &options].concat());
        let rows = csv(&run.stdout);
        let of = |metric: &str| rows.iter().find(|row| row["metric"] == metric);
        let number = |metric: &str, column: &str| of(metric).and_then(|row| row[column].parse::<i64>().ok());
        for (metric, (count, least, greatest)) in &expected {
            let place = format!("{metric}, seed {seed}: {}", run.stdout);
            assert_eq!(number(metric, "max"), *greatest, "{place}");
            // Ages until replaced are one per response by hand, and one per group here.
            if *metric != "ChainAgeUntilReplaced" {
                assert_eq!(number(metric, "min"), *least, "{place}");
                assert_eq!(number(metric, "count").unwrap_or(0), *count as i64, "{place}");
            }
        }
        let greatest = |metric: &str| expected[metric].2;
        assert_eq!(greatest("ChainReactionWithWait"), greatest("ChainAgeUntilReplaced"), "seed {seed}");
        compared += usize::from(greatest("ChainAgeUntilReplaced").is_some());
        // The whole chain, from the timer of T_0 on, was found as often as there are ages.
        let whole = (0..tasks).fold("Timer_0".to_owned(), |name, task| match task {
            0 => name + " > T_0",
            _ => format!("{name} > S_{} > T_{task}", task - 1),
        });
        let found = csv(&bench.ok(&["chains", &db, "--format", "csv"]).stdout);
        let found = found.iter().find(|row| row["chain"] == whole).unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(found["occurrences"], expected["ChainAge"].0.to_string(), "seed {seed}");
        assert_eq!(found["steps"], (2 * tasks - 1).to_string(), "seed {seed}");
    }
    assert!(compared > 20, "{compared}");
}

/// Simulated systems of tasks, alarms, resources and ISRs: what was found is followed, and the maximum
/// reaction time of each chain is its maximum data age.
#[test]
fn reaction_is_age_in_chains_of_simulated_systems() {
    let bench = Bench::new();
    let mut compared = 0;
    for seed in 1..=6 {
        let (seed, db) = (seed.to_string(), format!("{seed}.db"));
        let db = db.as_str();
        bench.ok(&["simulate", "--random", &seed, "--duration", "100ms", "-o", &seed, "-q"]);
        bench.ok(&["ingest", db, &format!("{seed}/reference.btf"), "-q"]);
        let few = ["--min-count", "5", "--max-links", "2"];
        let run = bench.run(&[&["chains", db, "-o", "c.toml", "--force"], &few[..]].concat());
        if run.code == Some(2) {
            assert!(run.stderr.contains("shows no chains"), "{}", run.all());
            continue;
        }
        let options = ["--chains", "c.toml", "--format", "csv"];
        let run = bench.ok(&[&["metrics", db, "MRT", "MDA"], &options[..]].concat());
        let mut greatest: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in csv(&run.stdout) {
            greatest.entry(row["entity"].clone()).or_default().push(row["max"].clone());
        }
        for (chain, of) in &greatest {
            assert!(of.len() == 2 && of[0] == of[1], "{seed}: {chain}: {of:?}");
            compared += 1;
        }
        let sql = "SELECT chain, count(end_at) AS n FROM chain_instance GROUP BY chain";
        let followed = csv(&bench.ok(&[&["query", db, sql], &options[..]].concat()).stdout);
        let followed: BTreeMap<_, _> = followed.iter().map(|row| (&row["chain"], &row["n"])).collect();
        for row in csv(&bench.ok(&[&["chains", db, "--format", "csv"], &few[..]].concat()).stdout) {
            let times: u64 = followed[&row["chain"]].parse().unwrap();
            assert!(times >= row["occurrences"].parse::<u64>().unwrap(), "{seed}: {row:?} {times}");
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn what_shows_no_chains_says_so() {
    let bench = Bench::new();
    let head = "#version 2.2.1\n#timeScale ns\n";
    bench.write("empty.btf", head);
    bench.write("lonely.btf", format!("{head}0,Timer,0,T,A,0,activate\n5,Core,0,T,A,0,start\n"));
    let chain = "0,A,0,SIG,S,0,write,1\n5,B,0,SIG,S,0,read,1\n";
    bench.write("short.btf", format!("{head}{chain}"));
    for name in ["empty", "lonely", "short"] {
        bench.ok(&["ingest", &format!("{name}.db"), &format!("{name}.btf"), "-q"]);
        bench.ok(&["ingest", "all.db", &format!("{name}.btf"), "-q"]);
    }
    for (words, why) in [
        ("empty.db", "'empty' shows no chains: no process reads a signal that was written before"),
        ("lonely.db", "'lonely' shows no chains: processes are activated, and nothing follows from that"),
        ("short.db --min-count 2", "'short' shows no chains: none was seen 2 times, each once at most"),
        ("short.db -o x.svg", "'x.svg' would not be what its name says"),
        ("short.db --recording other", "other"),
        ("short.db --min-count 0", "--min-count"),
    ] {
        let run = bench.run(&["chains"].into_iter().chain(words.split(' ')).collect::<Vec<_>>());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{words}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{words}: {}", run.stderr);
    }
    // Those that show some are printed all the same.
    let run = bench.ok(&["chains", "all.db"]);
    let expected = "# Chains that a recording shows: 1. Times are ticks. A last step counts each time that it\n# follows from all others, also from what it has followed from before.\n\n# 1 last step, at 5.\n[[chain]]\nname = \"A > S > B\"\n\
                    steps = [\n    { entity = \"S\", action = \"write\", source = \"A\" },\n    \
                    { entity = \"S\", action = \"read\", source = \"B\" },\n]";
    assert_eq!(run.stdout, expected);
    assert!(run.stderr.contains("warning: recording 'lonely' shows no chains: "), "{}", run.stderr);
    assert!(run.stderr.ends_with("\n1 chain"), "{}", run.stderr);
}

#[test]
fn names_are_any_text() {
    let bench = Bench::new();
    let names = ["\u{1b}[2J", "T > \"S\"", "\u{202e}x", "\\u0041 'a'"];
    let mut text = "#version 2.2.1\n#timeScale ns\n".to_owned();
    for (n, pair) in names.windows(2).enumerate() {
        let signal = format!("SIG,S{n}\u{9b},0");
        writeln!(text, "{},{},0,{signal},write,1", 10 * n, pair[0]).unwrap();
        writeln!(text, "{},{},0,{signal},read,1", 10 * n + 5, pair[1]).unwrap();
    }
    bench.write("odd.btf", text);
    bench.ok(&["ingest", "odd.db", "odd.btf", "-q"]);
    let run = bench.ok(&["chains", "odd.db", "-o", "odd.toml"]);
    let toml = std::fs::read_to_string(bench.path().join("odd.toml")).unwrap();
    let obeyed = toml.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    assert_eq!((obeyed, run.stderr.as_str()), (None, "1 chain"), "{toml}");
    let sql = "SELECT count(*) AS n, min(age) AS age FROM chain_instance";
    assert_eq!(bench.ok(&["query", "odd.db", sql, "--chains", "odd.toml"]).stdout, "n,age\n1,25");
}

/// Core_0 lost its records from 100 to 200, with reads of S; what happens on Core_1 alone is seen.
const READER_IN_A_GAP: &str = "#version 2.1.5
#timeScale ns
0,AL,0,T,W,0,activate
0,Core_1,0,T,W,0,start
5,AL,0,T,R,0,activate
5,Core_0,0,T,R,0,start
90,W,0,SIG,S,0,write,1
95,R,0,SIG,S,0,read
# gap of Core_0: fifo_overflow, from 100 to 200 ns
110,W,0,SIG,S,0,write,2
120,W,0,SIG,S,0,write,3
150,W,0,SIG,U,0,write,1
155,W,0,SIG,U,0,read
205,R,0,SIG,S,0,read
210,W,0,SIG,S,0,write,4
220,R,0,SIG,S,0,read
230,Core_1,0,T,W,0,terminate
";

#[test]
fn what_a_gap_of_one_core_hides_is_open_and_other_chains_go_on() {
    let bench = Bench::new();
    bench.write("t.btf", READER_IN_A_GAP);
    let chain = |name: &str, signal: &str, reader: &str| {
        let step =
            |action: &str, by: &str| format!("{{ entity = \"{signal}\", {action}, source = \"{by}\" }}");
        let steps = [step("action = \"write\"", "W"), step("action = \"read\"", reader)].join(", ");
        format!("[[chain]]\nname = \"{name}\"\nreaction = \"5ns\"\nsteps = [{steps}]\n")
    };
    bench.write("c.toml", chain("across", "S", "R") + &chain("on one core", "U", "W"));
    bench.ok(&["ingest", "t.db", "t.btf", "-q"]);
    let ask = |sql: &str| bench.ok(&["query", "t.db", sql, "--chains", "c.toml", "-q"]).stdout;
    let ways = ask("SELECT chain, begin_at, end_at, outcome FROM chain_instance ORDER BY chain, begin_at");
    let expected = "chain,begin_at,end_at,outcome\nacross,90,95,used\nacross,110,,open\nacross,120,,open\n\
                    across,210,220,used\non one core,150,155,used";
    assert_eq!(ways, expected);
    let latencies = "SELECT chain, begin_at, latency FROM chain_latency WHERE definition = 'first_to_first' \
                     ORDER BY begin_at";
    let expected = "chain,begin_at,latency\nacross,90,5\non one core,150,5\nacross,210,10";
    assert_eq!(ask(latencies), expected);
    // Nothing is found of what is in the gap: who wrote last may be hidden.
    let links = ask("SELECT via, occurrences, first_at FROM discovered_link ORDER BY via, first_at");
    assert_eq!(links, "via,occurrences,first_at\nAL,1,0\nAL,1,5\nS,2,95");
}
