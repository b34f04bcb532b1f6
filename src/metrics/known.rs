//! Whether anything has the names that metrics are asked for. Not why there are no samples of them (see
//! `absent`).

use crate::engine::Session;
use crate::error::{Error, Result};
use crate::selection::{check_names_in_any, pattern};

/// True if a name or pattern is that of an entity, or stands for its handlers on several cores.
pub(crate) fn is_of(word: &str, entity: &str) -> bool {
    pattern::fits(word, entity) || pattern::fits_on_core(word, entity)
}

/// Fails for a list of no names, and for the first of its names that nothing has. `has_samples` says of which
/// there are samples: these are not looked up.
pub(crate) fn check_entity(
    session: &Session,
    recording: Option<&str>,
    list: &str,
    has_samples: impl Fn(&str) -> bool,
) -> Result<()> {
    if pattern::words(list).next().is_none() {
        return Err(Error::usage(format!("'{list}' names no entity"))
            .hint("write names with commas between them, e.g. T_1,ISR_*"));
    }
    let chains = session.given_chains();
    let is_chain = |word: &str| chains.iter().any(|chain| pattern::fits(word, &chain.name));
    let rest: Vec<String> = pattern::words(list)
        .filter(|word| !has_samples(word) && !is_chain(word))
        .map(str::to_owned)
        .collect();
    check_names_in_any(session, &recordings(session, recording)?, &rest)
}

/// The recording, or all of them.
fn recordings(session: &Session, recording: Option<&str>) -> Result<Vec<String>> {
    match recording {
        Some(one) => Ok(vec![one.to_owned()]),
        None => Ok(session.database().recordings()?.iter().map(|r| r.name.clone()).collect()),
    }
}
