//! The setup of a recording: its description with the contents of every file that the mapper needs. Stored in
//! the database as JSON, and converted to the input of the mapper.

use super::application::{Application, ApplicationCore, CoreFiles, SetupFile, read_file};
use super::checks;
use super::detect::Plan;
use super::hooks::{HOOKS, HookSetup, HookVariable};
use super::profile::{Profile, SHIPPED};
use super::recording_toml::{Description, FileList, NameList};
use crate::description::orti::{Finding, Oil, Orti, OsHeader, Symbols};
use crate::diagnostics::{Diagnostic, Log};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::time::TimeScale;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The description of a recording with the contents of its files, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct StoredSetup {
    /// Name of the mapping profile, if the recording is to be mapped.
    pub os: Option<String>,
    /// Text of a profile that does not ship with btfdb.
    pub profile: Option<String>,
    /// Functions that are runnables.
    pub runnables: Vec<String>,
    /// Variables that are signals.
    pub signals: Vec<String>,
    /// Functions that are category 1 ISRs.
    pub category1_isrs: Vec<String>,
    /// Task body function → task.
    pub task_functions: BTreeMap<String, String>,
    /// Traced variable name → ORTI path.
    pub aliases: BTreeMap<String, String>,
    /// OIL files of all cores.
    pub oil: Vec<SetupFile>,
    /// Variables into which the kernel writes what happens to its processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook_variables: Vec<HookVariable>,
    /// The files with the ids in their words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook_ids: Vec<SetupFile>,
    /// A Profiler XML of winIDEA that describes hook variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_profile: Option<SetupFile>,
    /// One entry per core, in recording order.
    pub cores: Vec<CoreFiles>,
}

impl StoredSetup {
    /// Reads every file that `plan` names, except the trace data; `encoding` is that of those that are not
    /// UTF-8, if it was told.
    ///
    /// # Errors
    /// A file that is missing or far too large; an unknown mapping profile.
    pub fn read(plan: &Plan, encoding: Option<Encoding>) -> Result<Self> {
        let d: &Description = &plan.description;
        let list = |list: &NameList| list.read(&plan.base, encoding);
        let file =
            |path: &Option<String>| path.as_deref().map(|p| read_file(&plan.base, p, encoding)).transpose();
        let files = |list: &FileList| {
            list.paths().iter().map(|p| read_file(&plan.base, p, encoding)).collect::<Result<Vec<_>>>()
        };
        let mut cores = Vec::new();
        for core in &d.core {
            cores.push(CoreFiles {
                name: core.name.clone(),
                ecu: core.ecu.clone(),
                id: core.id,
                orti: file(&core.orti)?,
                os_header: file(&core.os_header)?,
                oil: files(&core.oil)?,
                symbols: file(&core.symbols)?,
            });
        }
        let mut ids: Vec<SetupFile> = Vec::new();
        for path in d.hook_variables.iter().filter_map(HookVariable::ids_file) {
            if !ids.iter().any(|file| file.path == path) {
                ids.push(read_file(&plan.base, path, encoding)?);
            }
        }
        let profile = match d.os.as_deref() {
            Some(os) if os != HOOKS && Profile::shipped(os).is_none() => {
                let shipped = SHIPPED.map(|(n, _)| n).join(", ");
                let hint =
                    format!("'{os}' is neither a shipped mapping profile ({shipped}) nor a readable file");
                Some(read_file(&plan.base, os, encoding).map_err(|e| e.hint(hint))?.text)
            }
            _ => None,
        };
        let setup = Self {
            os: d.os.clone(),
            profile,
            runnables: list(&d.runnables)?,
            signals: list(&d.signals)?,
            category1_isrs: list(&d.category1_isrs)?,
            task_functions: d.task_functions.clone(),
            aliases: d.aliases.clone(),
            oil: files(&d.oil)?,
            hook_variables: d.hook_variables.clone(),
            hook_ids: ids,
            hook_profile: file(&d.hook_profile)?,
            cores,
        };
        let describes = !setup.hook_variables.is_empty() || setup.hook_profile.is_some();
        if setup.os.as_deref() != Some(HOOKS) && describes {
            return Err(Error::input("hook variables are described, and os is not \"hooks\"").at(&plan.base));
        }
        Ok(setup)
    }

    /// True if nothing but the cores is described, as for exports without a `recording.toml`.
    pub fn is_bare(&self) -> bool {
        let cores =
            self.cores.iter().map(|core| CoreFiles { name: core.name.clone(), ..CoreFiles::default() });
        *self == Self { cores: cores.collect(), ..Self::default() }
    }

    /// What it says in another way than `other`: a key of a description, or a file of a core. Paths of files
    /// do not matter, their contents do.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let [own, others] = [self, other].map(|setup| serde_json::to_value(setup).unwrap_or_default());
        let (own, others) = (own.as_object()?, others.as_object()?);
        let keys = own.keys().chain(others.keys()).filter(|key| *key != "cores");
        let named: Vec<&str> = self.cores.iter().map(|core| core.name.as_str()).collect();
        for key in keys {
            if own.get(key) != others.get(key) {
                return Some(format!("'{key}'"));
            }
        }
        if !other.cores.iter().map(|core| core.name.as_str()).eq(named.iter().copied()) {
            return Some(format!("the list of cores ({})", named.join(", ")));
        }
        let text = |file: &Option<SetupFile>| file.as_ref().map(|file| file.text.clone());
        for (core, of_other) in self.cores.iter().zip(&other.cores) {
            for (what, file, of_other) in [
                ("ORTI file", &core.orti, &of_other.orti),
                ("OS header", &core.os_header, &of_other.os_header),
                ("symbol table", &core.symbols, &of_other.symbols),
            ] {
                if text(file) != text(of_other) {
                    return Some(format!("the {what} of core '{}'", core.name));
                }
            }
        }
        None
    }

    /// True if the recording is of a kernel with hook variables.
    pub fn has_hooks(&self) -> bool {
        self.os.as_deref() == Some(HOOKS)
    }

    /// What the words of hook variables mean.
    ///
    /// # Errors
    /// Descriptions that are incomplete or contradict each other; ids that cannot be read.
    pub fn hooks(&self) -> Result<HookSetup> {
        HookSetup::new(&self.hook_variables, &self.hook_ids, self.hook_profile.as_ref(), &self.cores)
    }

    /// Finds contradictions between description files; adds findings to `log`.
    ///
    /// # Errors
    /// Whatever keeps the recording from being mapped.
    pub fn check(&self, scale: TimeScale, log: &mut Log) -> Result<()> {
        if self.has_hooks() { self.hooks().map(drop) } else { self.for_mapping(scale, log).map(drop) }
    }

    /// The input of the mapper of OSEK, or `None` if the recording is not to be mapped. Adds findings to
    /// `log`.
    ///
    /// # Errors
    /// A profile that cannot be parsed, or files that contradict each other (an ORTI file of another core).
    pub fn for_mapping(&self, scale: TimeScale, log: &mut Log) -> Result<Option<Application>> {
        let Some(os) = &self.os else { return Ok(None) };
        let profile = match (&self.profile, Profile::shipped(os)) {
            (Some(text), _) => Profile::parse(text).map_err(|e| e.at(os))?,
            (None, Some(shipped)) => shipped?,
            (None, None) => return Err(Error::input(format!("unknown mapping profile '{os}'"))),
        };
        let shared = oil(&Oil::default(), &self.oil, log);
        let mut cores = Vec::new();
        for core in &self.cores {
            let orti = core.orti.as_ref().map(|f| {
                let orti = Orti::parse(f.text.as_bytes());
                note(log, &f.path, &orti.findings);
                orti
            });
            let header = core.os_header.as_ref().map(|f| {
                let header = OsHeader::parse(f.text.as_bytes());
                note(log, &f.path, &header.findings);
                header
            });
            let symbols = core.symbols.as_ref().map_or_else(Symbols::default, |f| {
                let (symbols, findings) = Symbols::parse(f.text.as_bytes());
                note(log, &f.path, &findings);
                symbols
            });
            checks::belong_together(core, orti.as_ref(), header.as_ref())?;
            let path = |file: &Option<SetupFile>| file.as_ref().map(|f| f.path.clone());
            let (orti_file, header_file) = (path(&core.orti), path(&core.os_header));
            cores.push(ApplicationCore {
                name: core.name.clone(),
                ecu: 0,
                orti,
                orti_file,
                header,
                header_file,
                oil: oil(&shared, &core.oil, log),
                symbols,
            });
        }
        checks::declared_tasks(&cores, log);
        let units = checks::control_units(&self.cores, &cores, log)?;
        cores.iter_mut().zip(units).for_each(|(core, unit)| core.ecu = unit);
        if cores.iter().all(|c| c.orti.is_none()) {
            return Err(Error::input(format!(
                "the recording is to be mapped as '{os}', but no core has an ORTI file"
            ))
            .hint("give every [[core]] an orti = \"…\", or ingest with --no-map"));
        }
        Ok(Some(Application {
            coalescing: profile.coalescing(scale)?,
            time_scale: scale,
            profile,
            cores,
            runnables: self.runnables.clone(),
            signals: self.signals.clone(),
            category1_isrs: self.category1_isrs.clone(),
            aliases: self.aliases.clone(),
            task_functions: self.task_functions.clone(),
        }))
    }
}

/// What `files` declare, in addition to `shared`.
fn oil(shared: &Oil, files: &[SetupFile], log: &mut Log) -> Oil {
    let mut oil = shared.clone();
    for file in files {
        note(log, &file.path, &oil.add(file.text.as_bytes(), &file.path));
    }
    if !files.is_empty() {
        for (path, finding) in oil.check() {
            note(log, &path, &[finding]);
        }
    }
    oil
}

fn note(log: &mut Log, path: &str, findings: &[Finding]) {
    for f in findings {
        log.push(Diagnostic {
            source: path.to_owned(),
            line: Some(u64::from(f.line)),
            severity: f.severity,
            code: f.code,
            message: format!("column {}: {}", f.column, f.message),
            text: String::new(),
        });
    }
}
