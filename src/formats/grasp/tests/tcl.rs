//! Words as Tcl itself splits them: a `tclsh` runs every line in an interpreter without any commands, so that
//! only its parser works and returns the words.

use crate::formats::grasp::words::{Kind, Stop, command, comment, skip_blanks};
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns, for each line of hexadecimal digits, whether the script is complete, then its commands as words
/// in hexadecimal digits, or `error`.
const SCRIPT: &str = r#"
set bare [interp create -safe]
foreach name [$bare eval {namespace eval :: {info commands}}] {
    if {$name ne "rename" && $name ne "namespace"} { $bare eval [list rename $name {}] }
}
$bare eval {namespace delete ::tcl}
$bare eval {rename rename {}}
proc hex {text} { return [binary encode hex [encoding convertto utf-8 $text]] }
proc take {args} {
    global seen
    set words {}
    foreach word $args { lappend words x[hex $word] }
    lappend seen [join $words ,]
    return ""
}
$bare alias unknown take
fconfigure stdout -encoding ascii -translation lf
while {[gets stdin line] >= 0} {
    set script [encoding convertfrom utf-8 [binary decode hex $line]]
    set seen {}
    if {[catch {$bare eval $script}]} { lappend seen error }
    puts "[info complete $script] [join $seen { }]"
}
"#;

/// Tcl's result for every script; `None` without a `tclsh`.
fn tcl(scripts: &[String]) -> Option<Vec<String>> {
    let found = Command::new("tclsh").stdin(Stdio::null()).output();
    if found.is_err() {
        eprintln!("there is no tclsh: words are not compared with Tcl");
        return None;
    }
    let program =
        std::env::temp_dir().join(format!("btfdb-words-{}-{}.tcl", std::process::id(), scripts.len()));
    std::fs::write(&program, SCRIPT).unwrap();
    let mut child =
        Command::new("tclsh").arg(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input: String = scripts.iter().map(|s| hex(s) + "\n").collect();
    let feeding = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    std::fs::remove_file(&program).unwrap();
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

fn hex(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

/// The same with our own splitter; `None` if a value would have to be computed, which it does not do.
fn ours(script: &str) -> Option<String> {
    // Tcl calls it incomplete if a backslash asks for another line; all lines are there here.
    if script.trim_end_matches([' ', '\t']).ends_with("\\\n") {
        return None;
    }
    let (mut at, mut words, mut seen) = (0, Vec::new(), Vec::new());
    let mut complete = true;
    loop {
        at = skip_blanks(script, at);
        if let Some(end) = comment(script, at) {
            at = end + 1;
            if at > script.len() {
                break;
            }
            continue;
        }
        let parsed = command(script, at, &mut words);
        if words.iter().any(|w| w.kind == Kind::Bracketed) {
            return None;
        }
        match parsed.trouble {
            Some((_, trouble)) if trouble.is_open() => complete = false,
            Some((_, trouble)) if matches!(trouble.message(), m if m.starts_with("characters behind")) => {
                seen.push("error".to_owned());
                return Some(format!("x {}", seen.join(" ")));
            }
            Some(_) => return None,
            None => {}
        }
        if !complete {
            seen.push("error".to_owned());
            break;
        }
        if !words.is_empty() {
            seen.push(words.iter().map(|w| format!("x{}", hex(&w.text))).collect::<Vec<_>>().join(","));
        }
        at = parsed.end + 1;
        if parsed.stop == Stop::End {
            break;
        }
    }
    Some(format!("{} {}", u8::from(complete), seen.join(" ")))
}

fn compare(scripts: &[String]) -> usize {
    let Some(theirs) = tcl(scripts) else { return 0 };
    assert_eq!(theirs.len(), scripts.len());
    let mut compared = 0;
    for (script, theirs) in scripts.iter().zip(theirs) {
        let Some(ours) = ours(script) else { continue };
        // After a wrong end of a word, Tcl does not say whether the script is complete.
        let theirs = if ours.starts_with('x') { format!("x{}", &theirs[1..]) } else { theirs };
        assert_eq!(ours.trim_end(), theirs.trim_end(), "{script:?}");
        compared += 1;
    }
    compared
}

#[test]
fn lines_made_up_are_split_as_tcl_does() {
    const PIECES: [&str; 33] = [
        "a",
        "plot",
        " ",
        " ",
        "  ",
        "\t",
        "{",
        "}",
        "\"",
        "\\",
        "\\n",
        "\\\n",
        "\n",
        ";",
        "#",
        "{a b}",
        "\"c d\"",
        "{}",
        "\"\"",
        "-name",
        "5.0",
        "\\{",
        "\\}",
        "\\\"",
        "\\x41",
        "\\u00e4",
        "\\101",
        "ä",
        "€",
        "*",
        "{*}",
        "{x {y} z}",
        "\r",
    ];
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let scripts: Vec<String> =
        (0..20_000).map(|_| (0..1 + random(9)).map(|_| PIECES[random(PIECES.len())]).collect()).collect();
    let compared = compare(&scripts);
    assert!(compared == 0 || compared > 15_000, "{compared} of {} could be compared", scripts.len());
}

#[test]
fn every_line_of_the_corpus_is_split_as_tcl_does() {
    let Some(corpus) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("BTFDB_CORPUS is not set: lines of real traces are not compared");
        return;
    };
    let mut scripts = Vec::new();
    for file in std::fs::read_dir(std::path::Path::new(&corpus).join("grasp")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|e| e == "grasp" || e == "log") {
            let text = String::from_utf8(std::fs::read(path).unwrap()).unwrap();
            // A leading bracket tests that the rest is split in the same way, not its value.
            scripts
                .extend(text.lines().map(|l| l.replacen("[Task ", "Task ", 1).replacen("[Job ", "Job ", 1)));
            scripts.push(text.replace("[Task ", "Task ").replace("[Job ", "Job "));
        }
    }
    let compared = compare(&scripts);
    assert!(compared == 0 || compared == scripts.len());
}
