//! Who may import whom: the table of rooms in `src/lib.rs` against the paths in the source. A room is a
//! top-level module. Tests are not looked at. Not the other invariants of the source (see `tidy`).

use crate::support::{root, rust_files};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Rooms and what each may import, as the table in `src/lib.rs` says; `all` stands for every room.
type Table = BTreeMap<String, BTreeSet<String>>;

/// The rows of the table: cells 1 and 3 hold names of rooms.
fn table(lib: &str) -> Table {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! |")).map(cells);
    let mut table = Table::new();
    for row in rows.filter(|row| row.len() == 5 && !row[0].starts_with("---") && row[0] != "module") {
        for room in names(&row[0]) {
            assert!(table.insert(room.clone(), names(&row[2])).is_none(), "{room} has two rows");
        }
    }
    table
}

/// Words in a cell: `[`error`], [`mod@derive`]`.
fn names(cell: &str) -> BTreeSet<String> {
    let words = cell.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '@');
    words.filter(|w| !w.is_empty()).map(|w| w.trim_start_matches("mod@").to_owned()).collect()
}

/// A source file.
struct File {
    path: String,
    /// Its module: `btf::spec` is `["btf", "spec"]`.
    module: Vec<String>,
    /// What it imports or names, from the root of the crate on, and the line.
    paths: Vec<(usize, Vec<String>)>,
    /// Names that it passes on (`pub use`), and what they stand for.
    passes_on: BTreeMap<String, Vec<String>>,
}

fn files(sources: &[(String, String)]) -> Vec<File> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    let of_crate = |path: &str| path != "src/lib.rs" && path != "src/main.rs";
    let sources: Vec<_> = sources.iter().filter(|(path, _)| of_crate(path) && !is_test(path)).collect();
    let module = |path: &str| {
        let path = path.strip_prefix("src/").and_then(|p| p.strip_suffix(".rs")).unwrap();
        let path = path.strip_suffix("/mod").unwrap_or(path);
        path.split('/').map(str::to_owned).collect::<Vec<_>>()
    };
    let modules: BTreeSet<_> = sources.iter().map(|(path, _)| module(path)).collect();
    let file = |(path, text): &&(String, String)| {
        let module = module(path);
        let (mut paths, mut passes_on) = (Vec::new(), BTreeMap::new());
        for Named { line, is_public, path, name } in named(&code(text)) {
            let Some(path) = from_root(&path, &module, &modules) else { continue };
            if is_public {
                passes_on.insert(name, path);
            } else {
                paths.push((line, path));
            }
        }
        File { path: path.clone(), module, paths, passes_on }
    };
    sources.iter().map(file).collect()
}

/// The text without comments and without what is compiled for tests only; lines keep their numbers.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut until: Option<String> = None;
    let mut for_tests = false;
    for line in text.lines() {
        let bare = line.trim_start();
        let indent = &line[..line.len() - bare.len()];
        if let Some(end) = &until {
            if line.starts_with(end.as_str()) {
                until = None;
            }
        } else if bare.starts_with("#[cfg(test)]") {
            for_tests = true;
        } else if for_tests && !bare.starts_with("#[") && !bare.starts_with("//") {
            for_tests = false;
            // An item ends on its own line, or with a bracket that stands as far left as it began.
            until = (!bare.ends_with(';') && !bare.ends_with('}')).then(|| format!("{indent}}}"));
        } else {
            let comment = bare.starts_with("//").then_some(0);
            let comment = comment.or_else(|| {
                line.match_indices(" //")
                    .map(|(at, _)| at)
                    .find(|at| line[..*at].matches('"').count() % 2 == 0)
            });
            code.push_str(&line[..comment.unwrap_or(line.len())]);
        }
        code.push('\n');
    }
    code
}

/// A path as it stands in the text.
struct Named {
    line: usize,
    /// It is passed on: `pub use`.
    is_public: bool,
    path: Vec<String>,
    /// The name that it has from there on.
    name: String,
}

/// All paths of `use` declarations, and those in the code that begin with `crate` or `super`.
fn named(code: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = code;
    let mut before = ' ';
    let mut is_public = false;
    while let Some(c) = rest.chars().next() {
        let word = word(rest);
        let starts = !before.is_alphanumeric() && before != '_' && before != ':';
        if starts
            && (word == "use" || (matches!(word, "crate" | "super") && rest[word.len()..].starts_with("::")))
        {
            let at = if word == "use" { rest[3..].trim_start() } else { rest };
            let mut trees = Vec::new();
            let end = tree(at, &[], &mut trees);
            let public = word == "use" && is_public;
            found.extend(trees.into_iter().map(|(path, name)| Named { line, is_public: public, path, name }));
            line += rest[..rest.len() - end.len()].matches('\n').count();
            rest = end;
            before = ' ';
            is_public = false;
        } else if word.is_empty() {
            line += usize::from(c == '\n');
            // `pub(crate) use` is passed on, too; `pub fn` is not.
            is_public &= c.is_whitespace() || "()".contains(c);
            before = c;
            rest = &rest[c.len_utf8()..];
        } else {
            is_public = word == "pub" || (is_public && matches!(word, "crate" | "super" | "in"));
            before = 'x';
            rest = &rest[word.len()..];
        }
    }
    found
}

/// The identifier at the start of a text; empty if there is none.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Reads `a::{b, c as d}` into paths and the names they get; returns the text behind it.
fn tree<'a>(text: &'a str, prefix: &[String], found: &mut Vec<(Vec<String>, String)>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start().trim_start_matches(',').trim_start();
            if rest.is_empty() {
                return rest;
            }
            if let Some(end) = rest.strip_prefix('}') {
                return end;
            }
            let after = tree(rest, prefix, found);
            // Text that is no path must not stop the reading.
            rest = if after.len() == rest.len() {
                &rest[rest.chars().next().unwrap().len_utf8()..]
            } else {
                after
            };
        }
    }
    let first = word(text);
    let mut rest = &text[first.len()..];
    let mut path = prefix.to_vec();
    path.extend((!first.is_empty() && first != "self").then(|| first.to_owned()));
    if let Some(more) = rest.strip_prefix("::")
        && more.starts_with(|c: char| c.is_alphanumeric() || "_{*".contains(c))
    {
        return match more.strip_prefix('*') {
            Some(end) => {
                found.push((path, "*".to_owned()));
                end
            }
            None => tree(more, &path, found),
        };
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if let Some(alias) = rest.strip_prefix(" as ") {
        name = word(alias).to_owned();
        rest = &alias[name.len()..];
    }
    found.push((path, name));
    rest
}

/// A path from the root of the crate on; `None` for other crates.
fn from_root(path: &[String], module: &[String], modules: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let first = path.first()?;
    if first == "crate" {
        return Some(path[1..].to_vec());
    }
    let supers = path.iter().take_while(|s| *s == "super").count();
    let rest = &path[supers..];
    let from = |above: usize| [&module[..module.len().saturating_sub(above)], rest].concat();
    let exists = |path: &[String], above: usize| {
        let end = module.len().saturating_sub(above) + 1;
        path.get(..end).is_some_and(|path| modules.contains(path))
    };
    match supers {
        // A child, as in `pub use child::Name`, or another crate.
        0 => Some(from(0)).filter(|path| exists(path, 0)),
        // In a module within the file, `super` is the file.
        _ if !exists(&from(supers), supers) && exists(&from(supers - 1), supers - 1) => {
            Some(from(supers - 1))
        }
        _ => Some(from(supers)),
    }
}

/// Imports that the table does not allow.
fn forbidden(table: &Table, files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let room = &file.module[0];
        let Some(allowed) = table.get(room) else {
            found.push(format!("{}: room {room} is not in the table", file.path));
            continue;
        };
        let passed_on = file.passes_on.values().map(|path| (0, path));
        for (line, path) in file.paths.iter().map(|(line, path)| (*line, path)).chain(passed_on) {
            let Some(other) = path.first().filter(|other| *other != room) else { continue };
            if !table.contains_key(other) {
                found.push(format!("{}:{line}: {} is in no room", file.path, path.join("::")));
            } else if !allowed.contains(other) && !allowed.contains("all") {
                found.push(format!("{}:{line}: {room} may not import {}", file.path, path.join("::")));
            }
        }
    }
    found
}

/// The file that each import leads to, through `pub use`.
fn edges(files: &[File]) -> Vec<BTreeSet<usize>> {
    let place: BTreeMap<&[String], usize> = files.iter().zip(0..).map(|(f, n)| (&*f.module, n)).collect();
    let resolve = |path: &[String]| {
        let mut path = path.to_vec();
        // A name may be passed on several times, but not for ever.
        for _ in 0..8 {
            let end = (1..=path.len()).rev().find(|n| place.contains_key(&path[..*n]))?;
            let file = place[&path[..end]];
            let passed_on = path.get(end).and_then(|name| files[file].passes_on.get(name));
            let Some(origin) = passed_on else { return Some(file) };
            path = origin.iter().chain(&path[end + 1..]).cloned().collect();
        }
        None
    };
    let of = |file: &File| file.paths.iter().filter_map(|(_, path)| resolve(path)).collect();
    files.iter().map(of).collect()
}

/// A chain of imports from a file back to itself, for each folder that has one: `across` rooms, or within the room.
/// Within a room, a file may import from the `mod.rs` around it, which passes on its children.
fn circles(files: &[File], across: bool) -> Vec<String> {
    let mut edges = edges(files);
    if !across {
        for (from, to) in edges.iter_mut().enumerate() {
            let module = &files[from].module;
            let is_around =
                |n: usize| files[n].path.ends_with("/mod.rs") && module.starts_with(&files[n].module);
            to.retain(|n| *n != from && files[*n].module[0] == module[0] && !is_around(*n));
        }
    }
    let mut found = BTreeMap::new();
    for start in 0..files.len() {
        // Breadth first; a state is a file and whether the chain has been in another room.
        let room = &files[start].module[0];
        let mut origin: BTreeMap<(usize, bool), (usize, bool)> = BTreeMap::new();
        let mut open = VecDeque::from([(start, false)]);
        while let Some(at @ (file, left)) = open.pop_front() {
            for next in &edges[file] {
                let state = (*next, left || files[*next].module[0] != *room);
                if state == (start, across) {
                    let mut chain = vec![files[start].path.as_str()];
                    let mut at = Some(at);
                    while let Some(state) = at {
                        chain.push(&files[state.0].path);
                        at = origin.get(&state).copied();
                    }
                    chain.reverse();
                    let folder = files[start].path.rsplit_once('/').map(|(folder, _)| folder);
                    found.entry(folder).or_insert(chain.join(" → "));
                } else if state != (start, false) && !origin.contains_key(&state) {
                    origin.insert(state, at);
                    open.push_back(state);
                }
            }
        }
    }
    found.into_values().collect()
}

fn lib() -> String {
    std::fs::read_to_string(root().join("src/lib.rs")).unwrap()
}

#[test]
fn rooms_import_what_the_table_allows() {
    let found = forbidden(&table(&lib()), &files(&rust_files("src")));
    assert!(found.is_empty(), "against the table of rooms in src/lib.rs:\n{}", found.join("\n"));
}

#[test]
fn the_table_lists_the_rooms_that_there_are_and_no_import_that_is_not_made() {
    let (table, files) = (table(&lib()), files(&rust_files("src")));
    let mut made = Table::new();
    for file in &files {
        let imports = made.entry(file.module[0].clone()).or_default();
        let paths = file.paths.iter().map(|(_, path)| path).chain(file.passes_on.values());
        imports
            .extend(paths.filter_map(|path| path.first()).filter(|room| **room != file.module[0]).cloned());
    }
    for (room, allowed) in &table {
        let made = made.get(room).unwrap_or_else(|| panic!("there is no room {room}"));
        let unused: Vec<_> = allowed.iter().filter(|a| *a != "all" && !made.contains(*a)).collect();
        assert!(unused.is_empty(), "{room} does not import {unused:?}: take them from the table");
    }
}

#[test]
fn no_circle_goes_through_two_rooms() {
    let found = circles(&files(&rust_files("src")), true);
    assert!(found.is_empty(), "files import each other in a circle:\n{}", found.join("\n"));
}

/// Rooms and folders that still have a circle within: debt, to be paid and never to grow.
const WITH_CIRCLES: &[&str] = &["formats/trace32"];

#[test]
fn files_of_a_room_do_not_import_each_other_in_a_circle() {
    let mut found = circles(&files(&rust_files("src")), false);
    found.retain(|chain| !WITH_CIRCLES.iter().any(|part| chain.starts_with(&format!("src/{part}/"))));
    assert!(found.is_empty(), "files import each other in a circle:\n{}", found.join("\n"));
}

/// Two rooms of which `low` may not import `high`.
fn example(low: &str) -> (Table, Vec<File>) {
    let table = table(
        "//! | module | purpose | imports | not |\n//! |---|---|---|---|\n\
         //! | [`low`] | x | – | x |\n//! | [`mod@high`] | x | low | x |\n",
    );
    let sources = [
        ("src/lib.rs", ""),
        ("src/high/mod.rs", "pub use item::Item;\nmod item;\n"),
        ("src/high/item.rs", "use crate::low::Thing;\npub struct Item(Thing);\n"),
        ("src/low.rs", low),
    ];
    let sources: Vec<_> =
        sources.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    (table, files(&sources))
}

#[test]
fn every_form_of_an_import_is_seen() {
    for low in [
        "use crate::high::Item;",
        "use crate::{high::Item as Other, low};",
        "use crate::{\n    low,\n    high::{Item},\n};",
        "use super::high::*;",
        "pub(crate) use crate::high::Item;",
        "fn f() -> Option<crate::high::Item> { None }",
        "fn f() { let x = super::high::Item::new(); }",
    ] {
        let (table, files) = example(low);
        let found = forbidden(&table, &files);
        assert!(found.len() == 1 && found[0].contains("low may not import high"), "{low}: {found:?}");
    }
    for low in [
        "// use crate::high::Item;",
        "let x = 1; // crate::high::Item",
        "#[cfg(test)]\nmod tests {\n    use crate::high::Item;\n}\nuse std::fmt;",
        "#[cfg(test)]\nuse crate::high::Item;",
        "use high::Item;",
    ] {
        let (table, files) = example(low);
        assert_eq!(forbidden(&table, &files), Vec::<String>::new(), "{low}");
    }
}

#[test]
fn a_circle_is_found_through_what_is_passed_on() {
    let (_, files) = example("use crate::high::Item;\npub struct Thing(Option<Box<Item>>);");
    let circle = "src/high/item.rs → src/low.rs → src/high/item.rs";
    assert!(circles(&files, true).contains(&circle.to_owned()), "{:?}", circles(&files, true));
    assert_eq!(circles(&files, false), Vec::<String>::new());
    assert_eq!(circles(&example("pub struct Thing;").1, true), Vec::<String>::new());
    let pair = [("src/room/a.rs", "use super::b::B;"), ("src/room/b.rs", "use super::a::A;")];
    let pair = pair.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let circle = "src/room/a.rs → src/room/b.rs → src/room/a.rs";
    assert_eq!(circles(&self::files(&pair), false), [circle]);
}
