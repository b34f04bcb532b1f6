//! How the inputs of a task are ingested: options as they are passed on. Not the ingest (see `ingest`).

use serde::{Deserialize, Serialize};

use crate::description::Description;
use crate::encoding::Encoding;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::FORMATS;
use crate::ops::IngestOptions as Options;
use crate::options::OptionValues;
use crate::time::TimeScale;

/// How inputs are ingested.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Inputs {
    /// What the user says of all of them.
    pub over: Description,
    format: Option<String>,
    encoding: Option<String>,
    max_unpacked: u64,
    max_names: u64,
    allow_outside: bool,
    of_formats: Vec<(String, Vec<String>)>,
    time_scale: Option<String>,
    map: bool,
    strict: bool,
    described: bool,
    digest: bool,
}

impl Inputs {
    pub fn new(over: &Description, options: &Options, time_scale: Option<TimeScale>) -> Self {
        Self {
            over: over.clone(),
            format: options.format.map(|format| format.info().name.to_owned()),
            encoding: options.encoding.map(|encoding| encoding.as_str().to_owned()),
            max_unpacked: options.max_unpacked,
            max_names: options.max_names,
            allow_outside: options.allow_outside,
            of_formats: options
                .of_formats
                .names()
                .map(|n| (n.to_owned(), options.of_formats.list(n).to_vec()))
                .collect(),
            time_scale: time_scale.map(|scale| scale.as_str().to_owned()),
            map: options.map,
            strict: options.strict,
            described: options.described,
            digest: options.digest,
        }
    }

    pub fn options(&self) -> Result<Options> {
        let unknown = |what: &str| Error::new(ErrorKind::Bug, format!("there is no {what}"));
        let format = match &self.format {
            None => None,
            Some(name) => {
                let found = FORMATS.iter().find(|format| format.info().name == *name).copied();
                Some(found.ok_or_else(|| unknown(&format!("format '{name}'")))?)
            }
        };
        let mut of_formats = OptionValues::default();
        for (name, values) in &self.of_formats {
            let spec = FORMATS.iter().flat_map(|format| format.info().options).find(|spec| spec.name == name);
            of_formats
                .set(spec.ok_or_else(|| unknown(&format!("option '{name}'")))?.name, values.iter().cloned());
        }
        Ok(Options {
            time_scale: self.time_scale.as_deref().and_then(TimeScale::parse),
            map: self.map,
            strict: self.strict,
            format,
            encoding: self.encoding.as_deref().and_then(Encoding::parse),
            max_unpacked: self.max_unpacked,
            max_names: self.max_names,
            allow_outside: self.allow_outside,
            of_formats,
            described: self.described,
            digest: self.digest,
            ..Options::default()
        })
    }
}
