//! From the description of hook variables to what their words mean. Not where the ids come from (see `ids`),
//! nor a Profiler XML (see `profiler_xml`).

use super::objects::HookSetup;
use super::{HookKind, HookVariable, Ids, encoding, profiler_xml};
use crate::description::application::{CoreFiles, SetupFile};
use crate::error::{Error, Result};

impl HookSetup {
    /// The setup of a recording with these variables, the files with their ids, a Profiler XML that
    /// describes more variables, and these cores.
    ///
    /// # Errors
    /// Keys that are missing or contradict each other; ids that cannot be read.
    pub fn new(
        variables: &[HookVariable],
        ids: &[SetupFile],
        profile: Option<&SetupFile>,
        cores: &[CoreFiles],
    ) -> Result<Self> {
        if variables.is_empty() && profile.is_none() {
            return Err(Error::input("the recording has os = \"hooks\", but names no hook variable")
                .hint("[[hook_variables]] with name = \"arti_os_trace\" and ids = \"ids.csv\", say"));
        }
        let mut hooks = Self::default();
        for (n, core) in cores.iter().enumerate() {
            let id = core.id.unwrap_or(n as u64);
            if let Some((other, _)) = hooks.cores.iter().find(|(_, known)| *known == id) {
                return Err(Error::input(format!(
                    "the cores '{other}' and '{}' both have id {id}",
                    core.name
                )));
            }
            hooks.cores.push((core.name.clone(), id));
        }
        if let Some(file) = profile {
            profiler_xml::add(&mut hooks, &file.text, cores).map_err(|e| e.at(&file.path))?;
        }
        for variable in variables {
            hooks.add(variable, ids, cores)?;
        }
        Ok(hooks)
    }

    fn add(&mut self, variable: &HookVariable, ids: &[SetupFile], cores: &[CoreFiles]) -> Result<()> {
        let described = variable.completed()?;
        let mut encoding = encoding::of(&described)?;
        match described.ids() {
            Some(Ids::File(path)) => {
                let file = ids.iter().find(|file| file.path == path);
                let text = file.map_or("", |file| file.text.as_str());
                self.add_listed(&mut encoding, text).map_err(|e| e.at(path))?;
            }
            Some(Ids::Orti) => self.add_in_order(&mut encoding, cores)?,
            Some(Ids::Attribute(attribute)) => {
                let kind = described.kind.unwrap_or(HookKind::Task);
                self.add_values(&mut encoding, attribute, kind, cores)?;
            }
            // Services have numbers where they have no names.
            None if encoding.is_of_services() => {}
            None => {
                let name = &described.name;
                return Err(Error::input(format!("hook variable '{name}' does not say what its ids mean"))
                    .hint("ids = \"ids.csv\", a file with the columns kind,id,name,core")
                    .hint("ids = \"orti\" counts the tasks and ISRs of the ORTI file of a core")
                    .hint("ids = \"orti:RUNNINGTASK\" takes the values of an attribute there"));
            }
        }
        self.push(encoding)
    }
}
