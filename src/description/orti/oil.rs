//! OIL files (OSEK/VDX System Generation, OIL 2.5): the objects that an application declares, with their
//! attributes. Not the declarations of an implementation, whose defaults are not applied, and not what
//! attributes mean to a trace (`map`). No crate reads OIL.

use super::cursor::{Cursor, Parsed};
use super::findings::{Finding, Findings};
use super::lexer::{Kind, c_integer};
use crate::diagnostics::Severity;
use crate::error::{MOST_SUGGESTIONS, did_you_mean};
use std::collections::{HashMap, HashSet};

/// Maximum depth of nested attributes.
const MAX_DEPTH: u32 = 64;

/// The kinds of objects of OIL 2.5; generators add some of their own.
const KINDS: [&str; 12] = [
    "OS",
    "APPMODE",
    "ISR",
    "RESOURCE",
    "TASK",
    "COUNTER",
    "EVENT",
    "ALARM",
    "COM",
    "MESSAGE",
    "NETWORKMESSAGE",
    "NM",
];

/// The objects of one or several OIL files.
#[derive(Debug, Clone, Default)]
pub struct Oil {
    /// In the order of the files; an object that is declared in several parts is one.
    pub objects: Vec<OilObject>,
    /// The place of each object, by kind and name.
    places: HashMap<(String, String), usize>,
}

/// `TASK name { … };`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OilObject {
    /// `TASK`, `EVENT`, `ALARM`, …
    pub kind: String,
    /// Its name, as other objects refer to it.
    pub name: String,
    /// In the order of the file; an attribute with several values is there several times.
    pub attributes: Vec<OilAttribute>,
    /// The file of its first part.
    pub file: String,
    /// 1-based line of its kind.
    pub line: u32,
}

/// `ACTION = ACTIVATETASK { TASK = T_1; };`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OilAttribute {
    /// `ACTION`
    pub name: String,
    /// Its value as written, a string without its quotes.
    pub value: String,
    /// The attributes that the value has.
    pub attributes: Vec<OilAttribute>,
    /// 1-based line of the name.
    pub line: u32,
    /// 1-based column of the name, in bytes.
    pub column: u32,
}

impl Oil {
    /// Adds the objects of a file. Any input gives a result; the findings say what is unusable.
    pub fn add(&mut self, bytes: &[u8], file: &str) -> Vec<Finding> {
        let source = String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
        let mut findings = Findings::default();
        for (n, line) in source.lines().enumerate() {
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
            if directive.is_some_and(|directive| directive.starts_with("include")) {
                let message =
                    "an included file is not read; name it as well: oil = [\"…\", \"…\"]".to_owned();
                let place = (u32::try_from(n + 1).unwrap_or(u32::MAX), 1);
                findings.push(place, Severity::Warning, "include", message);
            }
        }
        let cursor = Cursor::new(&source, findings);
        let mut parser = Parser { cursor, out: self, file, declares: false, open: 0 };
        parser.file();
        let Parser { cursor: Cursor { mut findings, .. }, declares, .. } = parser;
        if !declares {
            let message = "no object of OIL is declared here; is this an OIL file?".to_owned();
            findings.push((1, 1), Severity::Error, "missing-definitions", message);
        }
        findings.finish()
    }

    /// Findings about names that no object has, and about values that cannot be used, each with its file,
    /// once all files are read.
    pub fn check(&self) -> Vec<(String, Finding)> {
        let mut findings = Vec::new();
        let known: HashSet<(&str, &str)> =
            self.objects.iter().map(|o| (o.kind.as_str(), o.name.as_str())).collect();
        let mut unknown = 0;
        for object in &self.objects {
            let own = object.attributes.iter().filter(|attribute| match object.kind.as_str() {
                "TASK" | "ISR" => true,
                "ALARM" => attribute.name == "COUNTER",
                _ => false,
            });
            let actions = object.all("ACTION").flat_map(|action| &action.attributes);
            let undeclared = own.chain(actions).filter_map(|reference| {
                let kind = match reference.name.as_str() {
                    kind @ ("TASK" | "EVENT" | "RESOURCE" | "COUNTER") => kind,
                    _ => return None,
                };
                // RES_SCHEDULER needs no declaration (OIL 2.5 §5).
                if known.contains(&(kind, &reference.value)) || reference.value == "RES_SCHEDULER" {
                    return None;
                }
                let names = self.objects(kind).map(|object| object.name.as_str());
                unknown += 1;
                let near = did_you_mean(&reference.value, names.filter(|_| unknown <= MOST_SUGGESTIONS));
                let near = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
                let message = format!("names an undeclared {kind}, '{}'{near}", reference.value);
                Some((reference, "unknown-name", message))
            });
            let unusable = object
                .attributes
                .iter()
                .filter_map(|attribute| Some((attribute, "unusable-value", object.unusable(attribute)?)));
            for (at, code, message) in undeclared.chain(unusable) {
                let message = format!("{} {} {message}", object.kind, object.name);
                let (line, column, severity) = (at.line, at.column, Severity::Warning);
                findings.push((object.file.clone(), Finding { line, column, severity, code, message }));
            }
        }
        findings
    }

    /// The objects of a kind.
    pub fn objects<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a OilObject> {
        self.objects.iter().filter(move |object| object.kind == kind)
    }

    /// An object by its kind and name.
    pub fn object(&self, kind: &str, name: &str) -> Option<&OilObject> {
        self.places.get(&(kind.to_owned(), name.to_owned())).and_then(|place| self.objects.get(*place))
    }
}

impl OilObject {
    /// The value of an attribute; the last one wins.
    pub fn get(&self, name: &str) -> Option<&OilAttribute> {
        find(&self.attributes, name)
    }

    /// Why the value of an attribute that is used has no meaning.
    fn unusable(&self, attribute: &OilAttribute) -> Option<String> {
        let OilAttribute { name, value, .. } = attribute;
        let is_number = || attribute.integer().is_some();
        match (self.kind.as_str(), name.as_str(), value.as_str()) {
            // The generator chooses (OIL 2.5 §4.2).
            (_, _, "AUTO") => None,
            ("TASK", "PRIORITY" | "ACTIVATION", _) | ("ISR", "PRIORITY", _) if !is_number() => {
                Some(format!("has no whole number as {name}: '{value}'"))
            }
            ("TASK", "SCHEDULE", _) if !["NON", "FULL"].contains(&value.as_str()) => {
                Some(format!("has neither NON nor FULL as SCHEDULE: '{value}'"))
            }
            _ => None,
        }
    }

    /// All values of an attribute.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a OilAttribute> {
        self.attributes.iter().filter(move |attribute| attribute.name == name)
    }
}

impl OilAttribute {
    /// The value of an attribute of its value; the last one wins.
    pub fn get(&self, name: &str) -> Option<&OilAttribute> {
        find(&self.attributes, name)
    }

    /// The value as a whole number; `None` for any other.
    pub fn integer(&self) -> Option<i64> {
        match self.value.strip_prefix('-') {
            Some(digits) => c_integer(digits.trim_start()).and_then(i64::checked_neg),
            None => c_integer(&self.value),
        }
    }
}

fn find<'a>(attributes: &'a [OilAttribute], name: &str) -> Option<&'a OilAttribute> {
    attributes.iter().rev().find(|attribute| attribute.name == name)
}

struct Parser<'a, 'o> {
    cursor: Cursor<'a>,
    out: &'o mut Oil,
    file: &'a str,
    /// An object of a kind of OIL was declared.
    declares: bool,
    /// Blocks of CPUs that are not closed.
    open: u32,
}

impl Parser<'_, '_> {
    fn file(&mut self) {
        while self.cursor.kind(0) != Kind::End {
            if self.cursor.is(0, b';') {
                self.cursor.stray_semicolon();
            } else if self.cursor.is(0, b'}') {
                // The end of CPU.
                self.cursor.take();
                self.end();
                self.open = self.open.saturating_sub(1);
            } else if self.statement().is_err() {
                self.cursor.skip();
            }
        }
        if self.open > 0 {
            self.missing_brace();
        }
    }

    fn missing_brace(&mut self) {
        self.cursor.find(Severity::Error, "missing-brace", "'}' is missing before this");
    }

    fn statement(&mut self) -> Parsed<()> {
        let kind = self.cursor.word("the kind of an object")?;
        match kind.text.as_str() {
            "OIL_VERSION" => {
                self.cursor.expect(b'=')?;
                self.cursor.text()?;
                self.end();
            }
            "IMPLEMENTATION" => {
                self.cursor.word("a name")?;
                self.cursor.expect(b'{')?;
                self.pass_block();
                self.end();
            }
            "CPU" => {
                self.cursor.word("a name")?;
                self.cursor.expect(b'{')?;
                self.open += 1;
            }
            _ => {
                let name = self.cursor.word("the name of an object")?.text;
                let attributes = if self.cursor.eat(b'{') { self.attributes(0)? } else { Vec::new() };
                self.end();
                self.object(kind.text, name, attributes, kind.line);
            }
        }
        Ok(())
    }

    fn object(&mut self, kind: String, name: String, attributes: Vec<OilAttribute>, line: u32) {
        self.declares |= KINDS.contains(&kind.as_str());
        let (objects, file) = (&mut self.out.objects, self.file.to_owned());
        let place = *self.out.places.entry((kind.clone(), name.clone())).or_insert(objects.len());
        match objects.get_mut(place) {
            Some(object) => object.attributes.extend(attributes),
            None => objects.push(OilObject { kind, name, attributes, file, line }),
        }
    }

    /// The attributes of a block up to its `}`.
    fn attributes(&mut self, depth: u32) -> Parsed<Vec<OilAttribute>> {
        let mut attributes = Vec::new();
        loop {
            if self.cursor.eat(b'}') {
                return Ok(attributes);
            }
            if self.cursor.kind(0) == Kind::End || self.cursor.at_object() {
                self.missing_brace();
                return Ok(attributes);
            }
            if self.cursor.is(0, b';') {
                self.cursor.stray_semicolon();
            } else if self.attribute(depth, &mut attributes).is_err() {
                self.cursor.skip();
            }
        }
    }

    fn attribute(&mut self, depth: u32, out: &mut Vec<OilAttribute>) -> Parsed<()> {
        let name = self.cursor.word("the name of an attribute")?;
        self.cursor.expect(b'=')?;
        // Some dialects list values, in braces or not.
        let braces = self.cursor.eat(b'{');
        loop {
            let value = self.value()?;
            let attributes = match !braces && self.cursor.eat(b'{') {
                true if depth >= MAX_DEPTH => return self.cursor.mistake("less nesting"),
                true => self.attributes(depth + 1)?,
                false => Vec::new(),
            };
            let (line, column) = (name.line, name.column);
            out.push(OilAttribute { name: name.text.clone(), value, attributes, line, column });
            if !self.cursor.eat(b',') {
                break;
            }
        }
        if braces {
            self.cursor.expect(b'}')?;
        }
        self.end();
        Ok(())
    }

    /// A name, a number with its sign and fraction, or a string.
    fn value(&mut self) -> Parsed<String> {
        if self.cursor.kind(0) == Kind::Text {
            return self.cursor.text();
        }
        let mut value = String::new();
        let mut end = None;
        while let Kind::Word | Kind::Number | Kind::Sign(b'-' | b'+' | b'.') = self.cursor.kind(0) {
            // What stands apart is another word, except behind the sign of a number.
            if end.is_some_and(|end| !self.cursor.begins_at(end)) && value != "-" && value != "+" {
                break;
            }
            let token = self.cursor.take();
            value.push_str(&token.text);
            end = Some(token.end);
        }
        if value.is_empty() { self.cursor.mistake("a value") } else { Ok(value) }
    }

    /// The end of a statement: a description, and `;`.
    fn end(&mut self) {
        if self.cursor.eat(b':') {
            self.cursor.text_if_any();
        }
        self.cursor.semicolon();
    }

    /// Passes over a block, behind its `{`.
    fn pass_block(&mut self) {
        let mut depth = 1_u32;
        while depth > 0 && self.cursor.kind(0) != Kind::End {
            match self.cursor.take().kind {
                Kind::Sign(b'{') => depth += 1,
                Kind::Sign(b'}') => depth -= 1,
                _ => {}
            }
        }
        if depth > 0 {
            self.missing_brace();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Oil, Vec<(u32, &'static str)>) {
        let mut oil = Oil::default();
        let findings = oil.add(text.as_bytes(), "x.oil");
        (oil, findings.into_iter().map(|finding| (finding.line, finding.code)).collect())
    }

    #[test]
    fn objects_have_attributes_with_attributes() {
        let (oil, findings) = read(
            "OIL_VERSION = \"2.5\" : \"d\";\nIMPLEMENTATION i { TASK { UINT32 PRIORITY = 3; }; } : \"x\";\n\
             CPU c {\n// a comment\nTASK T { PRIORITY = -0x10; EVENT = A; EVENT = B; } : \"text\";\nALARM a {\n\
             ACTION = SETEVENT { TASK = T; EVENT = A; } : \"y\"; TIME = 0.001; };\nTASK T { EVENT = { C, D }; };\n\
             EVENT A;\n} : \"end\";\n",
        );
        assert_eq!(findings, []);
        let task = oil.object("TASK", "T").unwrap();
        assert_eq!((task.get("PRIORITY").unwrap().integer(), task.line), (Some(-16), 5));
        assert_eq!(task.all("EVENT").map(|e| e.value.as_str()).collect::<Vec<_>>(), ["A", "B", "C", "D"]);
        let action = oil.object("ALARM", "a").unwrap().get("ACTION").unwrap();
        assert_eq!((action.value.as_str(), action.get("EVENT").unwrap().value.as_str()), ("SETEVENT", "A"));
        assert_eq!(oil.object("ALARM", "a").unwrap().get("TIME").unwrap().value, "0.001");
        assert_eq!(oil.objects.len(), 3);
    }

    #[test]
    fn mistakes_are_located_and_lose_nothing_else() {
        let (oil, findings) = read(
            "#include \"os.oil\"\nCPU c {\nTASK T { PRIORITY = ; ACTIVATION = 2; };\nTASK U { PRIORITY = 1\n\
             TASK V { PRIORITY = 2; };\n};\n",
        );
        let of =
            |task: &str, name| oil.object("TASK", task).unwrap().get(name).and_then(OilAttribute::integer);
        assert_eq!(
            (of("T", "ACTIVATION"), of("U", "PRIORITY"), of("V", "PRIORITY")),
            (Some(2), Some(1), Some(2))
        );
        let codes: Vec<&str> = findings.iter().map(|f| f.1).collect();
        assert!(codes.starts_with(&["include"]), "{findings:?}");
        assert!(findings.contains(&(3, "unexpected-token")), "{findings:?}");
        assert!(findings.contains(&(5, "missing-brace")), "{findings:?}");
        assert_eq!(read("nothing").1, [(1, "missing-definitions"), (1, "unexpected-token")]);
        assert!(read("hello world").1.contains(&(1, "missing-definitions")));
    }

    #[test]
    fn a_file_that_is_cut_is_found() {
        assert_eq!(read("CPU c {\nTASK T { PRIORITY = 1; };\n").1, [(3, "missing-brace")]);
        assert!(read("IMPLEMENTATION i { TASK { };\n").1.contains(&(2, "missing-brace")));
    }

    #[test]
    fn values_without_a_meaning_are_found() {
        let (oil, findings) = read(
            "TASK T { PRIORITY = high; ACTIVATION = AUTO; SCHEDULE = FUL; };\nCOUNTER C;\n\
             ALARM A { COUNTER = C9; };\nISR I { PRIORITY = 3; };\nTASK U { SCHEDULE = NON; };",
        );
        let found: Vec<_> = oil.check().into_iter().map(|(_, f)| (f.line, f.message)).collect();
        let expected = [
            (1, "TASK T has no whole number as PRIORITY: 'high'"),
            (1, "TASK T has neither NON nor FULL as SCHEDULE: 'FUL'"),
            (3, "ALARM A names an undeclared COUNTER, 'C9'; did you mean 'C'?"),
        ];
        assert_eq!(
            (findings, found),
            (vec![], expected.map(|(line, text)| (line, text.to_owned())).to_vec())
        );
    }

    #[test]
    fn a_near_name_is_looked_for_a_limited_number_of_times() {
        let tasks = |n| format!("TASK T{n} {{ EVENT = Evnt{n}; }};\nEVENT Event{n};\n");
        let (oil, _) = read(&(0..2 * MOST_SUGGESTIONS).map(tasks).collect::<String>());
        let findings = oil.check();
        assert_eq!(findings.len(), 2 * MOST_SUGGESTIONS);
        let near = findings.iter().filter(|(_, f)| f.message.contains("did you mean"));
        assert_eq!(near.count(), MOST_SUGGESTIONS);
    }

    #[test]
    fn names_without_an_object_are_found() {
        let (oil, findings) = read(
            "TASK T { EVENT = EV_A; RESOURCE = RES_SCHEDULER; };\nEVENT EV_AA;\nALARM A { ACTION = ACTIVATETASK { TASK = OTHER; }; };",
        );
        let found: Vec<_> = oil.check().into_iter().map(|(_, f)| (f.line, f.message)).collect();
        let (event, task) = (
            "TASK T names an undeclared EVENT, 'EV_A'; did you mean 'EV_AA'?",
            "ALARM A names an undeclared TASK, 'OTHER'",
        );
        assert_eq!((findings, found), (vec![], vec![(1, event.to_owned()), (3, task.to_owned())]));
    }
}
