//! Promises of the files of requirements and of event chains.

use std::collections::BTreeSet;
use std::path::Path;

use btfdb::TimeScale;
use btfdb::internals::Requirements;

use super::is_located;

const FILE: &str = "r/limits.toml";

/// Requirements are refused with a place, or every one of them requires something that can be said in every
/// unit of a database. Their chains are those that the file has for SQL.
pub fn requirements_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let requirements = match Requirements::parse(&text, Path::new(FILE)) {
        Ok(requirements) => requirements,
        Err(error) => return is_located(&error, FILE, &text),
    };
    assert!(requirements.limit.iter().all(|limit| limit.lower.is_some() || limit.upper.is_some()));
    assert!(requirements.load.iter().all(|load| load.upper.0 >= 0.0), "a share is less than nothing");
    assert!(requirements.synchronisation.iter().all(|s| s.events.get_ref().len() >= 2));
    for temporal in &requirements.temporal {
        let templates = [
            temporal.after.is_some() && temporal.then.is_some() && temporal.within.is_some(),
            temporal.never.is_some() && temporal.during.is_some() != temporal.between.is_some(),
            temporal.at_most.is_some() && temporal.of.is_some() && temporal.window.is_some(),
            temporal.alternate.is_some(),
            temporal.once.is_some() && temporal.held.is_some() && temporal.until.is_some(),
        ];
        assert_eq!(templates.iter().filter(|is_given| **is_given).count(), 1, "{temporal:?}");
    }
    let limits = requirements.limit.iter().flat_map(|limit| [&limit.lower, &limit.upper]).flatten();
    let deadlines = requirements.deadline.iter().map(|deadline| &deadline.deadline);
    let periods = requirements.period.iter().flat_map(|period| [&period.period, &period.jitter]);
    let windows = requirements.load.iter().flat_map(|load| load.step.iter().chain([&load.window]));
    let latencies = requirements.chain.iter().flat_map(|chain| [&chain.reaction, &chain.age]).flatten();
    let tolerances = requirements.synchronisation.iter().map(|s| &s.tolerance);
    let times = requirements.temporal.iter().flat_map(|t| [&t.within, &t.window]).flatten();
    let bounds = limits.chain(deadlines).chain(periods).chain(windows).chain(latencies);
    for bound in bounds.chain(tolerances).chain(times) {
        for scale in [TimeScale::Ps, TimeScale::Ns, TimeScale::Us, TimeScale::Ms, TimeScale::S] {
            match (bound.get_ref().ticks(scale), bound.get_ref().value(scale)) {
                (Ok(ticks), Ok(value)) => assert_eq!(ticks as f64, value, "{bound:?} in {scale}"),
                (Err(_), Ok(value)) => assert_eq!(bound.get_ref().to_string(), value.to_string()),
                (found, value) => assert!(found.is_err() && value.is_err(), "{bound:?} in {scale}"),
            }
        }
    }
    match Requirements::parse_chains(&text, Path::new(FILE)) {
        Ok(chains) => assert_eq!(chains, requirements.chains()),
        Err(_) => assert!(requirements.chains().is_empty()),
    }
}

/// A file of chains is refused with a place, or has chains of different names with two steps at least, which
/// are the same when they are written again.
pub fn chains_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let chains = match Requirements::parse_chains(&text, Path::new(FILE)) {
        Ok(chains) => chains,
        Err(error) => return is_located(&error, FILE, &text),
    };
    let names: BTreeSet<&str> = chains.iter().map(|chain| chain.name.as_str()).collect();
    assert_eq!(names.len(), chains.len(), "two chains have one name");
    assert!(chains.iter().all(|chain| chain.steps.len() >= 2 && !chain.is_silent), "{chains:?}");
    let mut written = String::new();
    for chain in &chains {
        written += &format!("[[chain]]\nname = {}\nsteps = [\n", quoted(&chain.name));
        for step in &chain.steps {
            let source = step.source.iter().map(|source| format!(", source = {}", quoted(source)));
            let (entity, action) = (quoted(&step.entity), quoted(&step.action));
            let instance = format!("{:?}", step.instance).to_lowercase();
            let source = source.collect::<String>();
            written +=
                &format!("{{ entity = {entity}, action = {action}{source}, instance = \"{instance}\" }},\n");
        }
        written += "]\n";
    }
    match Requirements::parse_chains(&written, Path::new(FILE)) {
        Ok(again) => assert_eq!(again, chains, "{written}"),
        Err(error) => panic!("{error}\n{written}"),
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}
