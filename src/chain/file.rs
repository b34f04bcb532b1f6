//! Chains that recordings show as the text of a file, for `--chains` and, with bounds added, for
//! `--requirements`. Not for reading such a file (see `require`).

use std::collections::HashMap;
use std::fmt::Write as _;

use super::found::{Found, FoundChain, distinct};
use super::{ChainStep, Instance};

/// A chain of one or several recordings.
struct Entry<'a> {
    chain: &'a FoundChain,
    name: String,
    count: u64,
    /// With their recordings.
    found: Vec<(&'a str, &'a FoundChain)>,
}

/// The chains that recordings show, each of them once: those that were seen most often first. Comments have
/// the counts, and the times of the last steps in ticks. Nothing but comments if there are no chains.
pub(crate) fn file_text(of: &[(String, Found)]) -> String {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut known: HashMap<&[ChainStep], usize> = HashMap::new();
    for (recording, found) in of {
        for chain in &found.chains {
            let at = *known.entry(&chain.steps).or_insert(entries.len());
            if let Some(entry) = entries.get_mut(at) {
                entry.count = entry.count.saturating_add(chain.count);
                entry.found.push((recording.as_str(), chain));
            } else {
                let found = vec![(recording.as_str(), chain)];
                entries.push(Entry { chain, name: chain.name.clone(), count: chain.count, found });
            }
        }
    }
    entries.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    distinct(entries.iter_mut().map(|entry| &mut entry.name));
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, of, &entries);
    out
}

fn write(out: &mut String, of: &[(String, Found)], entries: &[Entry<'_>]) -> std::fmt::Result {
    let who = if of.len() == 1 { "a recording shows" } else { "recordings show" };
    writeln!(
        out,
        "# Chains that {who}: {}. Times are ticks. A last step counts each time that it",
        entries.len()
    )?;
    writeln!(out, "# follows from all others, also from what it has followed from before.")?;
    for (recording, found) in of {
        for sentence in found.cut.sentences(&found.limits) {
            match of.len() {
                1 => writeln!(out, "# Limit: {sentence}.")?,
                _ => writeln!(out, "# Limit: {sentence}, in {}.", quoted(recording))?,
            }
        }
    }
    for entry in entries {
        writeln!(out)?;
        for (recording, FoundChain { count, first, last, .. }) in &entry.found {
            let place = if of.len() == 1 { String::new() } else { format!(" in {}", quoted(recording)) };
            match count {
                1 => writeln!(out, "# 1 last step{place}, at {first}.")?,
                _ => writeln!(out, "# {count} last steps{place}, at {first} to {last}.")?,
            }
        }
        if entry.chain.is_cycle {
            writeln!(out, "# A cycle: its last process is on it before.")?;
        }
        if entry.found.iter().any(|(_, chain)| chain.is_cut) {
            writeln!(out, "# It may go on: it was cut here.")?;
        }
        write_entry(out, &entry.name, &entry.chain.steps)?;
    }
    Ok(())
}

impl FoundChain {
    /// The chain as a `[[chain]]` entry of a file.
    pub fn entry(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write_entry(&mut out, &self.name, &self.steps);
        out
    }
}

fn write_entry(out: &mut String, name: &str, steps: &[ChainStep]) -> std::fmt::Result {
    writeln!(out, "[[chain]]\nname = {}\nsteps = [", quoted(name))?;
    for ChainStep { entity, action, source, instance } in steps {
        write!(out, "    {{ entity = {}, action = {}", quoted(entity), quoted(action))?;
        if let Some(source) = source {
            write!(out, ", source = {}", quoted(source))?;
        }
        if *instance == Instance::Same {
            write!(out, ", instance = \"same\"")?;
        }
        writeln!(out, " }},")?;
    }
    writeln!(out, "]")
}

/// A basic string of TOML, without what a terminal obeys: controls, and what turns text around.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
