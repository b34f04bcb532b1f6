//! Which room may import which: compares the table of rooms in `src/lib.rs` with the paths in the source. A
//! room is a top-level module. Test code is skipped. Not the other invariants of the source (see `tidy`).

use crate::support::{root, rust_files};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// For each room, the rooms that it may import, as in the table of `src/lib.rs`; `all` stands for every room.
type Table = BTreeMap<String, BTreeSet<String>>;

/// The parsed table: the cells 1 and 3 of a row contain names of rooms.
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

/// The names of rooms in a cell, with or without links: ``[`error`], [`mod@derive`]``.
fn names(cell: &str) -> BTreeSet<String> {
    let words = cell.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '@');
    words.filter(|w| !w.is_empty()).map(|w| w.trim_start_matches("mod@").to_owned()).collect()
}

/// A source file.
struct File {
    path: String,
    /// Its module: `btf::spec` is `["btf", "spec"]`.
    module: Vec<String>,
    /// The paths that it imports or uses, from the root of the crate, each with its line.
    paths: Vec<(usize, Vec<String>)>,
    /// The names that it re-exports (`pub use`), each with its path.
    reexports: BTreeMap<String, Vec<String>>,
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
        let (mut paths, mut reexports) = (Vec::new(), BTreeMap::new());
        for NamedPath { line, is_reexport, path, name } in paths_in(&code(text)) {
            let Some(path) = from_root(&path, &module, &modules) else { continue };
            if is_reexport {
                reexports.insert(name, path);
            } else {
                paths.push((line, path));
            }
        }
        File { path: path.clone(), module, paths, reexports }
    };
    sources.iter().map(file).collect()
}

/// The text without comments and without items that are compiled for tests only. Lines keep their numbers.
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
            // An item ends on its first line, or with a closing brace that is indented like its first line.
            until = (!bare.ends_with(';') && !bare.ends_with('}')).then(|| format!("{indent}}}"));
        } else {
            let comment = bare.starts_with("//").then_some(0);
            // Two slashes within a string do not begin a comment.
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

/// A path in the text of a file, as it is written.
struct NamedPath {
    line: usize,
    /// It is in a `pub use`.
    is_reexport: bool,
    path: Vec<String>,
    /// The name that the file gives it.
    name: String,
}

/// All paths in `use` declarations, and all other paths that begin with `crate` or `super`.
fn paths_in(code: &str) -> Vec<NamedPath> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = code;
    let mut before = ' ';
    let mut is_public = false;
    while let Some(c) = rest.chars().next() {
        let word = identifier(rest);
        let starts = !before.is_alphanumeric() && before != '_' && before != ':';
        if starts
            && (word == "use" || (matches!(word, "crate" | "super") && rest[word.len()..].starts_with("::")))
        {
            let at = if word == "use" { rest[3..].trim_start() } else { rest };
            let mut trees = Vec::new();
            let end = use_tree(at, &[], &mut trees);
            let is_reexport = word == "use" && is_public;
            found.extend(trees.into_iter().map(|(path, name)| NamedPath { line, is_reexport, path, name }));
            line += rest[..rest.len() - end.len()].matches('\n').count();
            rest = end;
            before = ' ';
            is_public = false;
        } else if word.is_empty() {
            line += usize::from(c == '\n');
            // `pub(crate) use` is a re-export, too; `pub fn` is not.
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
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Parses `a::{b, c as d}` into paths and their names in the file. Returns the text after it.
fn use_tree<'a>(text: &'a str, prefix: &[String], found: &mut Vec<(Vec<String>, String)>) -> &'a str {
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
            let after = use_tree(rest, prefix, found);
            // Without a path in `rest`, one character is skipped: the loop must advance.
            rest = if after.len() == rest.len() {
                &rest[rest.chars().next().unwrap().len_utf8()..]
            } else {
                after
            };
        }
    }
    let first = identifier(text);
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
            None => use_tree(more, &path, found),
        };
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if let Some(alias) = rest.strip_prefix(" as ") {
        name = identifier(alias).to_owned();
        rest = &alias[name.len()..];
    }
    found.push((path, name));
    rest
}

/// A path from the root of the crate; `None` if it leads to another crate.
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
        // A child module, as in `pub use child::Name`; otherwise another crate.
        0 => Some(from(0)).filter(|path| exists(path, 0)),
        // In an inline module, `super` is the file.
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
        let reexports = file.reexports.values().map(|path| (0, path));
        for (line, path) in file.paths.iter().map(|(line, path)| (*line, path)).chain(reexports) {
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

/// For each file, the files that its imports lead to. Re-exports are followed.
fn edges(files: &[File]) -> Vec<BTreeSet<usize>> {
    let place: BTreeMap<&[String], usize> = files.iter().zip(0..).map(|(f, n)| (&*f.module, n)).collect();
    let resolve = |path: &[String]| {
        let mut path = path.to_vec();
        // A name may be re-exported several times. The limit ends a cycle of re-exports.
        for _ in 0..8 {
            let end = (1..=path.len()).rev().find(|n| place.contains_key(&path[..*n]))?;
            let file = place[&path[..end]];
            let reexport = path.get(end).and_then(|name| files[file].reexports.get(name));
            let Some(origin) = reexport else { return Some(file) };
            path = origin.iter().chain(&path[end + 1..]).cloned().collect();
        }
        None
    };
    let of = |file: &File| file.paths.iter().filter_map(|(_, path)| resolve(path)).collect();
    files.iter().map(of).collect()
}

/// Import cycles, at most one for each folder: chains of imports from a file back to itself. With `across`, a
/// cycle goes through more than one room, otherwise it stays within one. Within a room, a file may import
/// from the `mod.rs` of a folder that it is in, which re-exports the children.
fn cycles(files: &[File], across: bool) -> Vec<String> {
    let mut edges = edges(files);
    if !across {
        for (from, to) in edges.iter_mut().enumerate() {
            let module = &files[from].module;
            let is_ancestor =
                |n: usize| files[n].path.ends_with("/mod.rs") && module.starts_with(&files[n].module);
            to.retain(|n| *n != from && files[*n].module[0] == module[0] && !is_ancestor(*n));
        }
    }
    let mut found = BTreeMap::new();
    for start in 0..files.len() {
        // Breadth-first search. A state is a file, and whether the chain has been in another room.
        let room = &files[start].module[0];
        let mut predecessors: BTreeMap<(usize, bool), (usize, bool)> = BTreeMap::new();
        let mut queue = VecDeque::from([(start, false)]);
        while let Some(at @ (file, left)) = queue.pop_front() {
            for next in &edges[file] {
                let state = (*next, left || files[*next].module[0] != *room);
                if state == (start, across) {
                    let mut chain = vec![files[start].path.as_str()];
                    let mut at = Some(at);
                    while let Some(state) = at {
                        chain.push(&files[state.0].path);
                        at = predecessors.get(&state).copied();
                    }
                    chain.reverse();
                    let folder = files[start].path.rsplit_once('/').map(|(folder, _)| folder);
                    found.entry(folder).or_insert(chain.join(" → "));
                } else if state != (start, false) && !predecessors.contains_key(&state) {
                    predecessors.insert(state, at);
                    queue.push_back(state);
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
fn rooms_import_only_what_the_table_allows() {
    let found = forbidden(&table(&lib()), &files(&rust_files("src")));
    assert!(found.is_empty(), "against the table of rooms in src/lib.rs:\n{}", found.join("\n"));
}

#[test]
fn every_room_and_import_in_the_table_exists() {
    let (table, files) = (table(&lib()), files(&rust_files("src")));
    let mut actual = Table::new();
    for file in &files {
        let imports = actual.entry(file.module[0].clone()).or_default();
        let paths = file.paths.iter().map(|(_, path)| path).chain(file.reexports.values());
        imports
            .extend(paths.filter_map(|path| path.first()).filter(|room| **room != file.module[0]).cloned());
    }
    for (room, allowed) in &table {
        let imports = actual.get(room).unwrap_or_else(|| panic!("there is no room {room}"));
        let unused: Vec<_> = allowed.iter().filter(|a| *a != "all" && !imports.contains(*a)).collect();
        assert!(unused.is_empty(), "{room} does not import {unused:?}: remove them from the table");
    }
}

#[test]
fn no_import_cycle_crosses_rooms() {
    let found = cycles(&files(&rust_files("src")), true);
    assert!(found.is_empty(), "import cycles:\n{}", found.join("\n"));
}

#[test]
fn no_import_cycle_within_a_room() {
    let found = cycles(&files(&rust_files("src")), false);
    assert!(found.is_empty(), "import cycles:\n{}", found.join("\n"));
}

/// Two rooms, of which `low` may not import `high`. The parameter is the text of `src/low.rs`.
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
fn every_form_of_import_is_found() {
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
fn cycles_are_found_through_reexports() {
    let (_, files) = example("use crate::high::Item;\npub struct Thing(Option<Box<Item>>);");
    let cycle = "src/high/item.rs → src/low.rs → src/high/item.rs";
    assert!(cycles(&files, true).contains(&cycle.to_owned()), "{:?}", cycles(&files, true));
    assert_eq!(cycles(&files, false), Vec::<String>::new());
    assert_eq!(cycles(&example("pub struct Thing;").1, true), Vec::<String>::new());
    let pair = [("src/room/a.rs", "use super::b::B;"), ("src/room/b.rs", "use super::a::A;")];
    let pair = pair.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let cycle = "src/room/a.rs → src/room/b.rs → src/room/a.rs";
    assert_eq!(cycles(&self::files(&pair), false), [cycle]);
}
