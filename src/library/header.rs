//! The header of an SQL file of the library: the comment lines at its top, with text and lines
//! `-- KEY: VALUE`. Not for the SQL below it.

use super::definition::{Alias, Documented, Fold, Unit};
use crate::error::did_you_mean;

/// The types of columns and parameters, as headers spell them.
pub(super) const TYPES: [&str; 8] =
    ["text", "integer", "time", "duration", "percent", "number", "boolean", "list"];
const KEYS: [&str; 6] = ["unit", "group", "fold", "param", "column", "alias"];

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Header {
    pub doc: String,
    pub unit: Option<Unit>,
    pub per_core: bool,
    pub fold: Option<Fold>,
    pub params: Vec<Documented>,
    pub columns: Vec<Documented>,
    pub aliases: Vec<Alias>,
}

/// What is wrong with a header, and in which line of the file.
#[derive(Debug, PartialEq)]
pub struct Mistake {
    /// 1-based.
    pub line: u64,
    /// A sentence without a full stop.
    pub what: String,
}

impl Header {
    pub fn parse(text: &str) -> Result<Self, Mistake> {
        let mut header = Self::default();
        let comments = text.lines().map_while(|l| l.strip_prefix("--")).map(str::trim);
        for (line, number) in comments.zip(1..) {
            header.line(line).map_err(|what| Mistake { line: number, what })?;
        }
        let paragraphs: Vec<_> = header.doc.split('\n').map(str::trim).filter(|p| !p.is_empty()).collect();
        header.doc = paragraphs.join("\n");
        if header.doc.is_empty() {
            return Err(Mistake { line: 1, what: "the header does not say what the file is about".into() });
        }
        Ok(header)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let (key, value) = line.split_once(':').map_or((line, ""), |(key, value)| (key, value.trim()));
        match key {
            "unit" => self.unit = Some(one_of("unit", value, &Unit::ALL, Unit::as_str)?),
            "fold" => self.fold = Some(one_of("fold", value, &Fold::ALL, Fold::as_str)?),
            "group" if value == "core" => self.per_core = true,
            "group" => return Err(format!("'{value}' is no group; the one group is: core")),
            "param" => self.params.push(documented(value)?),
            "column" => self.columns.push(documented(value)?),
            "alias" => self.aliases.push(alias(value)?),
            _ => {
                // Text may contain colons, too. Only a word that resembles a key is a mistake.
                let looks_like_key = key.len() < line.len() && key.chars().all(|c| c.is_ascii_lowercase());
                if looks_like_key && let Some(near) = did_you_mean(key, KEYS) {
                    return Err(format!("there is no key '{key}' in a header; did you mean '{near}'?"));
                }
                self.doc.push_str(line);
                self.doc.push(if line.is_empty() { '\n' } else { ' ' });
            }
        }
        Ok(())
    }

    /// The 1-based line of the file that describes a column or parameter; 1 if there is none.
    pub fn line_of(text: &str, key: &str, name: &str) -> u64 {
        let described = |line: &str| {
            let (found, value) = line.strip_prefix("--")?.trim().split_once(':')?;
            (found == key && value.split_whitespace().next() == Some(name)).then_some(())
        };
        text.lines().zip(1..).find_map(|(line, n)| described(line).map(|()| n)).unwrap_or(1)
    }
}

/// The element of `all` whose name is `value`.
fn one_of<T: Copy>(key: &str, value: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    all.iter().copied().find(|t| name(*t) == value).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|t| name(*t)).collect();
        format!("'{value}' is no {key}; it is one of: {}", known.join(", "))
    })
}

/// `NAME TYPE TEXT`.
fn documented(value: &str) -> Result<Documented, String> {
    let mut words = value.splitn(3, char::is_whitespace);
    let (Some(name), Some(ty), Some(doc)) = (words.next(), words.next(), words.next()) else {
        return Err(format!("'{value}' is not NAME TYPE TEXT"));
    };
    if !TYPES.contains(&ty) {
        return Err(format!("'{ty}' is no type; the types are: {}", TYPES.join(", ")));
    }
    Ok(Documented {
        name: name.to_owned().into(),
        ty: ty.to_owned().into(),
        doc: doc.trim().to_owned().into(),
    })
}

/// `NAME TEXT`.
fn alias(value: &str) -> Result<Alias, String> {
    let parts = value.split_once(char::is_whitespace);
    let (name, doc) = parts.ok_or_else(|| format!("'{value}' is not NAME TEXT"))?;
    Ok(Alias { name: name.into(), doc: doc.trim().into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed() {
        let text = "-- One\n-- two: a.\n--\n-- Three.\n-- unit: count\n-- fold: sum\n-- group: core\n\
                    -- param: from time Start: now.\n-- alias: RT  Of GLIWA.\nSELECT 1\n-- unit: none";
        let h = Header::parse(text).unwrap();
        assert_eq!(h.doc, "One two: a.\nThree.");
        assert_eq!((h.unit, h.fold, h.per_core), (Some(Unit::Count), Some(Fold::Sum), true));
        let from = Documented { name: "from".into(), ty: "time".into(), doc: "Start: now.".into() };
        assert_eq!(h.params, [from]);
        assert_eq!(h.aliases, [Alias { name: "RT".into(), doc: "Of GLIWA.".into() }]);
        assert_eq!((Header::line_of(text, "param", "from"), Header::line_of(text, "param", "to")), (8, 1));
    }

    #[test]
    fn mistakes_have_their_line() {
        let mistake = |line: &str| {
            let e = Header::parse(&format!("-- A file.\n-- {line}\nSELECT 1")).unwrap_err();
            assert_eq!(e.line, 2, "{line}");
            e.what
        };
        assert_eq!(mistake("unit: ms"), "'ms' is no unit; it is one of: duration, count, percent");
        assert_eq!(mistake("fold: max"), "'max' is no fold; it is one of: sum, share");
        assert_eq!(mistake("group: task"), "'task' is no group; the one group is: core");
        assert_eq!(mistake("column: at"), "'at' is not NAME TYPE TEXT");
        assert!(mistake("column: at tme When.").starts_with("'tme' is no type; the types are: text, "));
        assert_eq!(mistake("alias: RT"), "'RT' is not NAME TEXT");
        assert_eq!(
            mistake("columns: at time When."),
            "there is no key 'columns' in a header; did you mean 'column'?"
        );
        assert_eq!(Header::parse("-- unit: count\nSELECT 1").unwrap_err().line, 1);
        assert_eq!(Header::parse("").unwrap_err().line, 1);
    }
}
