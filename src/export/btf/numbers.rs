//! Numeric mode: the number of every entity and type. Numbers of the imported file stay.

use crate::btf::spec::Version;
use crate::engine::{Param, Session};
use crate::error::Result;
use crate::formats::btf::{Header, LineKind};
use crate::schema::result::{self, Texts};
use crate::schema::tables;
use crate::selection::Selection;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) entities: HashMap<String, String>,
    pub(super) kinds: HashMap<String, String>,
    /// Names without a number in the imported file, by their new numbers.
    new_entities: BTreeMap<u64, String>,
    new_kinds: BTreeMap<u64, String>,
}

impl Numbers {
    /// The numbers of everything that is selected.
    pub fn of(
        session: &Session,
        recording: &str,
        selection: &Selection,
        imported: bool,
        keep: bool,
    ) -> Result<Self> {
        let mut numbers = Self::default();
        if keep {
            let header = header(session, recording)?;
            numbers.entities = header.entities().map(|(id, name)| (name.to_owned(), id.to_owned())).collect();
            numbers.kinds = header.types().map(|(id, name)| (name.to_owned(), id.to_owned())).collect();
        }
        if imported {
            // Numbers that the file does not explain stay as they are.
            return Ok(numbers);
        }
        let condition = selection.condition(tables::BTF_EVENT, recording);
        let distinct = |column: &str| -> Result<Vec<String>> {
            let sql = format!("SELECT DISTINCT {column} FROM btf_event {} ORDER BY 1", condition.sql());
            let mut names = Vec::new();
            for batch in session.sql(&sql, &condition.params())? {
                let [column]: [Texts; 1] = result::columns(&batch?)?;
                names.extend(column.iter().flatten().map(str::to_owned));
            }
            Ok(names)
        };
        let mut entities = distinct("source")?;
        entities.extend(distinct("target")?);
        add(&mut numbers.entities, &mut numbers.new_entities, entities);
        add(&mut numbers.kinds, &mut numbers.new_kinds, distinct("target_type")?);
        Ok(numbers)
    }

    pub fn entity(&self, name: &str) -> Option<&str> {
        self.entities.get(name).map(String::as_str)
    }

    pub fn kind(&self, name: &str) -> Option<&str> {
        self.kinds.get(name).map(String::as_str)
    }

    /// The lines that explain the new numbers: tables up to 2.1.5, mappings since.
    pub fn header(&self, version: Option<Version>) -> String {
        let mut text = String::new();
        let new = version.is_some_and(|v| v > Version::V2_1_5);
        for (table, word, rows) in [
            ("typeTable", "typeMapping", &self.new_kinds),
            ("entityTable", "entityMapping", &self.new_entities),
        ] {
            if !rows.is_empty() && !new {
                text += &format!("#{table}\n");
            }
            for (id, name) in rows {
                text += &if new { format!("#{word} {id} {name}\n") } else { format!("#-{id} {name}\n") };
            }
        }
        text
    }
}

/// Gives every name without a number the next free one.
fn add(known: &mut HashMap<String, String>, new: &mut BTreeMap<u64, String>, names: Vec<String>) {
    let mut next =
        known.values().filter_map(|id| id.parse::<u64>().ok()).max().map_or(0, |n| n.saturating_add(1));
    for name in names {
        if !known.contains_key(&name) {
            known.insert(name.clone(), next.to_string());
            new.insert(next, name);
            next = next.saturating_add(1);
        }
    }
}

fn header(session: &Session, recording: &str) -> Result<Header> {
    let sql = "SELECT kind, text FROM btf_line WHERE recording = $recording \
               AND kind IN ('parameter', 'table_row') ORDER BY line";
    let mut header = Header::default();
    for batch in session.sql(sql, &[("recording", Param::from(recording))])? {
        let [kinds, texts]: [Texts; 2] = result::columns(&batch?)?;
        for (kind, text) in kinds.iter().zip(texts.iter()) {
            let kind = kind.and_then(LineKind::parse);
            if let (Some(kind), Some(text)) = (kind, text) {
                header.line(kind, text);
            }
        }
    }
    Ok(header)
}
