//! `recording.toml`: the keys of a recording and their meaning. Not the files it names.

use super::application::read_file;
use super::hooks::{HOOKS, HookVariable};
use super::profile::Profile;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::options::OptionValues;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A recording as described by its author. Paths are relative to the description.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Name in the database; the folder's name when absent.
    pub name: Option<String>,
    /// Mapping profile: `osek`, `erika2`, or the path of a profile; `hooks`: the kernel has hook variables.
    /// Absent: the recording is not mapped.
    pub os: Option<String>,
    /// Functions that are runnables.
    #[serde(default)]
    pub runnables: NameList,
    /// Variables that are signals.
    #[serde(default)]
    pub signals: NameList,
    /// Functions that are category 1 ISRs.
    #[serde(default)]
    pub category1_isrs: NameList,
    /// Patterns of the names of idle tasks, in addition to those of the profile.
    #[serde(default)]
    pub idle_tasks: NameList,
    /// OIL files of the application: events, alarms, priorities that ORTI does not tell.
    #[serde(default)]
    pub oil: FileList,
    /// Radix of data values without a prefix: `hex` (TRACE32's default) or `decimal`.
    pub data_radix: Option<String>,
    /// Columns of the data exports, if they have no header and the content does not tell.
    pub data_columns: Option<Vec<String>>,
    /// Task body function → task.
    #[serde(default)]
    pub task_functions: BTreeMap<String, String>,
    /// Traced variable name → its path in ORTI.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// Variables into which the kernel writes what happens to its processes, with os = "hooks".
    #[serde(default)]
    pub hook_variables: Vec<HookVariable>,
    /// A Profiler XML of winIDEA that describes such variables, with os = "hooks".
    pub hook_profile: Option<String>,
    /// Labels of the recording and their values, to choose it by.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The traced cores.
    #[serde(default)]
    pub core: Vec<CoreDescription>,
}

/// One traced core.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CoreDescription {
    /// BTF name of the core.
    pub name: String,
    /// The control unit that it belongs to, if the recording is of several: each numbers its CPUs from 0.
    pub ecu: Option<String>,
    /// Its number in the words of hook variables; its place in the list when absent.
    pub id: Option<u64>,
    /// Data access export.
    pub data: Option<String>,
    /// Function export (CSVFunc or TASKEVENTS).
    pub functions: Option<String>,
    /// ORTI file.
    pub orti: Option<String>,
    /// Generated OS header: event masks, ids.
    pub os_header: Option<String>,
    /// OIL files of this core alone, where every core has an application of its own.
    #[serde(default)]
    pub oil: FileList,
    /// Addresses of ISR handlers.
    pub symbols: Option<String>,
    /// Added to every time of this core, e.g. `120ns`.
    pub time_offset: Option<String>,
}

impl CoreDescription {
    /// The inputs of the core, by their keys.
    pub fn inputs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let inputs = [("data", &self.data), ("functions", &self.functions)];
        inputs.into_iter().filter_map(|(role, name)| Some((role, name.as_deref()?)))
    }

    /// The input under a key, if there is such a key.
    pub(super) fn input_mut(&mut self, role: &str) -> Option<&mut Option<String>> {
        match role {
            "data" => Some(&mut self.data),
            "functions" => Some(&mut self.functions),
            _ => None,
        }
    }
}

/// A list of names, inline or in a file with one name per line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged, expecting = "this takes a list of names, [\"a\", \"b\"], or { file = \"names.txt\" }")]
pub enum NameList {
    /// `["a", "b"]`
    Names(Vec<String>),
    /// `{ file = "names.txt" }`
    File {
        /// Path of the file.
        file: String,
    },
}

impl NameList {
    /// The names; a file is relative to `base`, and in `encoding` if it is not UTF-8.
    pub(crate) fn read(&self, base: &Path, encoding: Option<Encoding>) -> Result<Vec<String>> {
        match self {
            Self::Names(names) => Ok(names.clone()),
            Self::File { file } => {
                let text = read_file(base, file, encoding)?.text;
                let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
                Ok(lines.map(str::to_owned).collect())
            }
        }
    }
}

impl Default for NameList {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

/// One file, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged, expecting = "this takes the path of a file, or a list of them, [\"a.oil\", \"b.oil\"]")]
pub enum FileList {
    /// `"app.oil"`
    One(String),
    /// `["app.oil", "os.oil"]`
    Several(Vec<String>),
}

impl FileList {
    /// The paths.
    pub fn paths(&self) -> &[String] {
        match self {
            Self::One(path) => std::slice::from_ref(path),
            Self::Several(paths) => paths,
        }
    }
}

impl Default for FileList {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

/// All keys, for suggestions.
const KEYS: &str = "name os runnables signals category1_isrs idle_tasks data_radix data_columns task_functions aliases labels core \
    ecu id data functions orti os_header oil symbols time_offset file hook_variables id_mask state_mask core_mask valid_mask \
    states isr_states_from interrupts exit_id ids kind hook_profile";

impl Description {
    /// Parses the text of a `recording.toml`; `path` is only for messages.
    ///
    /// # Errors
    /// Any error of TOML or serde, with file and line, and a "did you mean" for unknown keys.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let description: Self = toml::from_str(text).map_err(|e| Error::toml(&e, text, path, KEYS))?;
        description.check(path)?;
        Ok(description)
    }

    /// The given options of a format, completed by those of the description.
    pub fn options_under(&self, given: &OptionValues) -> OptionValues {
        let mut options = given.clone();
        let radix = self.data_radix.iter().cloned().collect::<Vec<_>>();
        let columns = self.data_columns.clone().unwrap_or_default();
        for (name, values) in [("data-radix", radix), ("data-columns", columns)] {
            if !values.is_empty() && !options.has(name) {
                options.set(name, values);
            }
        }
        options
    }

    /// The same for a piece of a recording that was read with the options `before`: they hold where neither
    /// the user nor this description says anything.
    pub fn options_like(&self, given: &OptionValues, before: &BTreeMap<String, Vec<String>>) -> OptionValues {
        let radix = || before.get("data-radix")?.first().cloned();
        let like = Self {
            data_radix: self.data_radix.clone().or_else(radix),
            data_columns: self.data_columns.clone().or_else(|| before.get("data-columns").cloned()),
            ..Self::default()
        };
        like.options_under(given)
    }

    /// All files that it names, relative to its folder.
    pub(super) fn named_files(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.runnables, &self.signals, &self.category1_isrs, &self.idle_tasks];
        let lists = lists.into_iter().filter_map(|list| match list {
            NameList::File { file } => Some(file),
            NameList::Names(_) => None,
        });
        let profile = self.os.as_ref().filter(|os| *os != HOOKS && Profile::shipped(os).is_none());
        let ids = self.hook_variables.iter().filter_map(HookVariable::ids_file);
        let ids = ids.chain(self.hook_profile.as_deref());
        let of_cores = self.core.iter().flat_map(|core| {
            let inputs = core.inputs().map(|(_, file)| file);
            let files = [&core.orti, &core.os_header, &core.symbols].into_iter().flatten();
            inputs.chain(files.chain(core.oil.paths()).map(String::as_str))
        });
        profile
            .into_iter()
            .chain(self.oil.paths())
            .chain(lists)
            .map(String::as_str)
            .chain(of_cores)
            .chain(ids)
    }

    /// What types cannot express: every core once, every file once, no key that says nothing.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        let mut cores: BTreeMap<&str, ()> = BTreeMap::new();
        let mut files: BTreeMap<&str, &str> = BTreeMap::new();
        for core in &self.core {
            if core.name.is_empty() {
                return Err(Error::input("a core has an empty name").at(path));
            }
            if cores.insert(&core.name, ()).is_some() {
                return Err(Error::input(format!("core '{}' is described twice", core.name))
                    .at(path)
                    .hint("every core has one [[core]] section with its data and function export"));
            }
            for (_, file) in core.inputs() {
                if let Some(other) = files.insert(file, &core.name) {
                    let message = format!("'{file}' is named by core '{other}' and by core '{}'", core.name);
                    return Err(Error::input(message).at(path));
                }
            }
        }
        for variable in &self.hook_variables {
            variable.check_kind().map_err(|e| e.at(path))?;
        }
        match self.data_radix.as_deref() {
            None | Some("hex" | "decimal") => Ok(()),
            Some(other) => {
                Err(Error::input(format!("data_radix is '{other}', but must be 'hex' or 'decimal'")).at(path))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Description> {
        Description::parse(text, Path::new("r/recording.toml"))
    }

    #[test]
    fn an_unknown_key_is_located_and_the_near_one_named() {
        let e = parse("name = \"x\"\nrunnable = []\n").unwrap_err();
        assert!(e.to_string().starts_with("r/recording.toml:2:"), "{e}");
        assert_eq!(e.hints(), ["did you mean 'runnables'?"]);
    }

    #[test]
    fn a_core_named_twice_is_refused() {
        let e = parse("[[core]]\nname = \"C\"\n[[core]]\nname = \"C\"\n").unwrap_err();
        assert!(e.to_string().contains("core 'C' is described twice"), "{e}");
    }

    #[test]
    fn lists_may_live_in_a_file() {
        let d = parse("runnables = { file = \"r.txt\" }\n").unwrap();
        assert_eq!(d.runnables, NameList::File { file: "r.txt".into() });
    }
}
