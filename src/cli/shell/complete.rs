//! Completion: names of the database, words of SQL, commands and their arguments. Not for how it is shown.

use super::commands::{self, ArgKind};
use super::lexer::{self, Piece, is_word, pieces};
use super::words::{is_keyword, keywords};
use crate::engine::{Relation, Session};
use crate::library::{MADE_FUNCTIONS, Metric, TABLE_FUNCTIONS};
use crate::metrics::MEASUREMENT;
use crate::store::Database;
use std::iter::once;

/// Maximum number of recordings that are offered.
const MAX_RECORDINGS: usize = 200;

pub(super) struct Names {
    relations: Vec<Relation>,
    functions: Vec<String>,
    metrics: Vec<String>,
    /// Asked for the names of recordings, which may be many.
    database: Option<Database>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Completions {
    /// From this byte on, one of these words.
    Words(usize, Vec<String>),
    Files,
}

impl Names {
    pub fn new(session: &Session) -> Self {
        Self {
            relations: session.relations(),
            functions: session.functions(),
            metrics: once(MEASUREMENT)
                .chain(session.queries().metrics().iter().flat_map(Metric::names))
                .map(str::to_owned)
                .collect(),
            database: Some(session.database().clone()),
        }
    }

    /// Recordings whose names begin with a word.
    fn recordings(&self, word: &str) -> Vec<String> {
        let names = self.database.as_ref().map(|database| database.names(word, MAX_RECORDINGS));
        names.and_then(Result::ok).unwrap_or_default()
    }

    fn relation(&self, name: &str) -> Option<&Relation> {
        self.relations.iter().find(|r| r.name.eq_ignore_ascii_case(name))
    }
}

/// Completions of `typed`, the part of `line` before the cursor.
pub(super) fn candidates(names: &Names, typed: &str, line: &str) -> Completions {
    if !typed.starts_with('.') {
        return sql(names, typed, line);
    }
    let (name, rest) = match typed.split_once(char::is_whitespace) {
        None => {
            // A blank, after which an argument can follow.
            let blank =
                |name| if commands::find(name).is_some_and(|c| !c.args.is_empty()) { " " } else { "" };
            let names: Vec<_> = commands::names().map(|name| format!("{name}{}", blank(name))).collect();
            return words(0, typed, names.iter().map(String::as_str));
        }
        Some(parts) => parts,
    };
    let Some(command) = commands::find(name) else { return nothing(typed) };
    let begun = typed.trim_end_matches(|c: char| !c.is_whitespace()).len();
    let word = typed.get(begun..).unwrap_or("");
    let before = rest.split_whitespace().count() - usize::from(!word.is_empty());
    let previous = typed.get(..begun).and_then(|t| t.split_whitespace().next_back());
    let last = command.args.last().map(|a| a.kind);
    let kind = match (last, previous) {
        (Some(ArgKind::Options(_)), Some("--recording")) => Some(ArgKind::Recording),
        (Some(ArgKind::Options(_)), Some("--table")) => Some(ArgKind::Relation),
        (Some(ArgKind::Options(_)), _) if word.starts_with('-') => last,
        (Some(kind @ (ArgKind::Sql | ArgKind::Line(_))), _) => Some(kind),
        _ => command.args.get(before).map(|a| a.kind).or(last.filter(|k| matches!(k, ArgKind::Options(_)))),
    };
    match kind {
        Some(ArgKind::Sql) => sql(names, typed, line),
        Some(ArgKind::File) => Completions::Files,
        Some(ArgKind::Command) => words(begun, word, commands::names()),
        Some(ArgKind::Relation) => {
            Completions::Words(begun, beginning(word, names.relations.iter().map(|r| r.name.as_str())))
        }
        Some(ArgKind::Metric) => words(begun, word, names.metrics.iter().map(String::as_str)),
        Some(ArgKind::Recording) => words(begun, word, names.recordings(word).iter().map(String::as_str)),
        Some(ArgKind::Word(all)) => words(begun, word, all.iter().copied()),
        Some(ArgKind::Line(all)) if before == 0 => words(begun, word, all.iter().copied()),
        Some(ArgKind::Options(of)) => words(begun, word, commands::options(of).iter().map(String::as_str)),
        Some(ArgKind::Free | ArgKind::Line(_)) | None => nothing(typed),
    }
}

fn nothing(typed: &str) -> Completions {
    Completions::Words(typed.len(), Vec::new())
}

/// Those words that begin with the typed letters, in any case; sorted, each once.
fn words<'a>(start: usize, begun: &str, all: impl IntoIterator<Item = &'a str>) -> Completions {
    let mut found = beginning(begun, all);
    found.sort_unstable();
    found.dedup();
    Completions::Words(start, found)
}

/// Those words that begin with the typed letters, in any case. The editor would obey control characters.
fn beginning<'a>(begun: &str, all: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let begins = |w: &str| w.get(..begun.len()).is_some_and(|head| head.eq_ignore_ascii_case(begun));
    let fits = |w: &&str| begins(w) && !w.contains(char::is_control);
    all.into_iter().filter(fits).map(str::to_owned).collect()
}

fn sql(names: &Names, typed: &str, line: &str) -> Completions {
    let before = pieces(typed);
    if before.last().is_some_and(|p| !p.closed) {
        return nothing(typed);
    }
    let word = typed.get(typed.trim_end_matches(is_word).len()..).unwrap_or("");
    let start = typed.len() - word.len();
    let mut earlier =
        before.iter().rev().filter(|p| p.kind != lexer::TokenKind::Comment && p.range.end <= start);
    let touching = earlier.clone().next().map_or("", |p| p.of(typed));
    let whole = pieces(line);
    if touching == "." {
        let owner = earlier.nth(1).map_or("", |p| p.of(typed));
        let columns = owner_of(names, owner, &whole, line).map_or(&[][..], |r| &r.columns);
        return words(start, word, columns.iter().map(String::as_str));
    }
    let previous = earlier.find(|p| p.kind != lexer::TokenKind::Blank).map_or("", |p| p.of(typed));
    let relations = names.relations.iter().map(|r| r.name.as_str());
    if ["FROM", "JOIN", "DESCRIBE"].iter().any(|k| k.eq_ignore_ascii_case(previous)) {
        // Table functions are only offered after a first letter.
        let made = MADE_FUNCTIONS.iter().filter(|made| made.arguments.1 > 0).map(|made| &made.function);
        let called: Vec<String> =
            TABLE_FUNCTIONS.iter().chain(made).map(|f| format!("{}(", f.name)).collect();
        let called = called.iter().filter(|_| !word.is_empty()).map(String::as_str);
        // In their order: those that this database has rows for come first.
        return Completions::Words(start, beginning(word, relations.chain(called)));
    }
    let mut named: Vec<&Relation> = whole.iter().filter_map(|p| names.relation(p.of(line))).collect();
    if named.is_empty() {
        // Columns may be typed before their table.
        named = names.relations.iter().collect();
    }
    let columns = named.iter().flat_map(|r| &r.columns).map(String::as_str);
    if word.is_empty() {
        return words(start, word, columns);
    }
    let functions: Vec<String> = names.functions.iter().map(|f| format!("{f}(")).collect();
    let lower = word.starts_with(|c: char| c.is_lowercase());
    let keywords: Vec<String> =
        keywords().map(|k| if lower { k.to_lowercase() } else { k.to_owned() }).collect();
    let all = columns.chain(relations).chain(functions.iter().chain(&keywords).map(String::as_str));
    words(start, word, all)
}

/// The relation of a name before a dot: its own name, or its alias in the statement.
fn owner_of<'n>(names: &'n Names, name: &str, pieces: &[Piece], line: &str) -> Option<&'n Relation> {
    if let Some(relation) = names.relation(name) {
        return Some(relation);
    }
    let solid = |p: &&Piece| !matches!(p.kind, lexer::TokenKind::Blank | lexer::TokenKind::Comment);
    let texts: Vec<&str> = pieces.iter().filter(solid).map(|p| p.of(line)).collect();
    texts.windows(3).find_map(|w| {
        let [first, second, third] = *w else { return None };
        let renamed = if second.eq_ignore_ascii_case("AS") { third } else { second };
        let fits = renamed.eq_ignore_ascii_case(name) && !is_keyword(renamed);
        names.relation(first).filter(|_| fits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::fixture;
    use proptest::prelude::*;

    fn names() -> Names {
        let (_dir, session) = fixture::engine(&["idle", "load"]);
        Names::new(&session)
    }

    /// The completions at `|`.
    fn at(names: &Names, line: &str) -> Vec<String> {
        let (typed, rest) = line.split_once('|').unwrap();
        match candidates(names, typed, &format!("{typed}{rest}")) {
            Completions::Words(start, words) => {
                assert!(typed.is_char_boundary(start));
                words
            }
            Completions::Files => vec!["(files)".into()],
        }
    }

    #[test]
    fn of_statements() {
        let names = names();
        let at = |line: &str| at(&names, line);
        assert_eq!(at("SELECT * FROM process_s|"), ["process_state"]);
        assert_eq!(at("SELECT beg| FROM process_state"), ["begin_at"]);
        assert_eq!(at("SELECT * FROM gap WHERE reas|"), ["reason"]);
        assert_eq!(at("SELECT s.st| FROM process_state AS s, gap g"), ["state"]);
        assert_eq!(at("SELECT g.r| FROM process_state s JOIN gap g ON"), ["reason", "recording"]);
        assert_eq!(at("SELECT process_state.end|"), ["end_at"]);
        assert_eq!(at("SELECT nobody.|"), [""; 0]);
        assert_eq!(at("sel|"), ["select"]);
        assert_eq!(at("SEL|"), ["SELECT"]);
        assert_eq!(
            at("SELECT approx_perc|"),
            ["approx_percentile_cont(", "approx_percentile_cont_with_weight("]
        );
        assert!(at("SELECT gap|").contains(&"gap_between(".into()));
        // The columns of all tables, as long as no table is named.
        assert_eq!(at("SELECT creat|"), ["create", "created", "created_at", "creator"]);
        assert_eq!(at("SELECT creat| FROM gap"), ["create"]);
        // Tables with rows come before views, and empty tables last.
        let tables = at("SELECT * FROM |");
        let place = |name: &str| tables.iter().position(|t| t == name).unwrap();
        assert!(place("process_state") < place("blocking") && place("blocking") < place("kernel_event"));
    }

    #[test]
    fn nothing_in_quotes_and_comments() {
        let names = names();
        for line in ["SELECT 'sel|", "-- sel|", "SELECT /* sel|", "SELECT \"beg|"] {
            assert_eq!(at(&names, line), [""; 0], "{line}");
        }
    }

    #[test]
    fn of_commands_and_their_arguments() {
        let names = names();
        let at = |line: &str| at(&names, line);
        assert_eq!(at(".he|"), [".help "]);
        assert_eq!(at(".tab|"), [".tables"]);
        assert_eq!(at(".metri|"), [".metric ", ".metrics "]);
        assert_eq!(at(".help .ti|"), [".timer"]);
        assert_eq!(at(".schema process_i|"), ["process_instance"]);
        assert_eq!(at(".metric resp|"), ["ResponseTime"]);
        assert_eq!(at(".metric ResponseTime T_1 |"), ["idle", "load"]);
        assert_eq!(at(".mode j|"), ["json", "jsonl"]);
        assert_eq!(at(".unit m|"), ["ms"]);
        assert_eq!(at(".timer o|"), ["off", "on"]);
        assert_eq!(at(".pager o|"), ["off", "on"]);
        assert_eq!(at(".param o|"), [""; 0]);
        assert_eq!(at(".read |"), ["(files)"]);
        assert_eq!(at(".once x.csv --f|"), ["--force"]);
        assert_eq!(at(".export a.btf --rec|"), ["--recording"]);
        assert_eq!(at(".plot a.svg --aro|"), ["--around"]);
        assert_eq!(at(".export a.btf 1ms 2ms --recording l|"), ["load"]);
        assert_eq!(at(".explain SELECT reas| FROM gap"), ["reason"]);
        assert_eq!(at(".nonsense x|"), [""; 0]);
        assert_eq!(at(".tables x|"), [""; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn nothing_that_is_typed_surprises(line in "[.a-d SELECTfrom'\"/*-ä\\n]{0,30}", at in 0usize..40) {
            let at = line.char_indices().nth(at).map_or(line.len(), |(i, _)| i);
            let (relations, metrics, database) = Default::default();
            let names = Names { relations, functions: vec!["ä".into()], metrics, database };
            if let Completions::Words(start, _) = candidates(&names, &line[..at], &line) {
                prop_assert!(start <= at && line.is_char_boundary(start));
            }
        }
    }
}
