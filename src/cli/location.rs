//! Databases as the user names them: paths of folders, and URLs of object stores, whose settings are in the
//! environment. Not what is read there.

use crate::error::Result;
use crate::store::{Location, Remote};
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Parses the argument of a database.
pub fn parser() -> impl TypedValueParser<Value = Location> {
    OsStringValueParser::new().try_map(|text: OsString| {
        parse(&text)
            .map_err(|e| e.hints().iter().fold(e.to_string(), |text, hint| format!("{text}\nhint: {hint}")))
    })
}

/// The location that a text names.
pub fn parse(text: &OsStr) -> Result<Location> {
    Location::parse(text, &remote())
}

/// How object stores are reached. Staged files go to the cache of the user, which nobody else can write to.
/// A user without a home has them in the folder for temporary files, which others may write to.
#[expect(clippy::disallowed_methods, reason = "cli reads the environment")]
pub fn remote() -> Remote {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    // Without HOME, the system knows it.
    let home = || std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".cache"));
    let scratch = cache.or_else(home).unwrap_or_else(std::env::temp_dir).join("btfdb");
    let settings = std::env::vars_os().filter_map(|(key, value)| {
        let key = key.into_string().ok()?;
        let is_of_store = Remote::PREFIXES.iter().any(|prefix| key.starts_with(prefix));
        Some((key, value.into_string().ok()?)).filter(|_| is_of_store)
    });
    Remote { settings: settings.collect(), scratch }
}
