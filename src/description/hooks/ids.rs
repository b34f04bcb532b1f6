//! Where the ids in the words of hook variables come from: lists, and ORTI files. Not those of a Profiler XML
//! (see `profiler_xml`).

use super::HookKind;
use super::encoding::HookEncoding;
use super::objects::{HookObject, HookSetup};
use crate::description::application::CoreFiles;
use crate::description::orti::{EnumValue, Orti};
use crate::error::{Error, Result, did_you_mean};

/// The kind of an id in a list that stands for no process.
const NOBODY: &str = "none";

impl HookSetup {
    /// Lines of `kind,id,name,core` below a header.
    pub(super) fn add_listed(&mut self, encoding: &mut HookEncoding, text: &str) -> Result<()> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let Some((_, header)) = lines.next() else {
            return Err(Error::input("a list of ids is expected, and this is empty"));
        };
        let header: Vec<&str> = fields(header).collect();
        let place = |column: &str| {
            header.iter().position(|name| *name == column).ok_or_else(|| {
                Error::input(format!("there is no column '{column}'"))
                    .line(1)
                    .hint("the first line is kind,id,name,core")
            })
        };
        let (kind_at, id_at, name_at, core_at) =
            (place("kind")?, place("id")?, place("name")?, place("core").ok());
        for (n, line) in lines {
            let fields: Vec<&str> = fields(line).collect();
            let field = |at: usize| fields.get(at).copied().unwrap_or_default();
            let wrong = |what: String| Error::input(what).line(n as u64 + 1);
            let id = number(field(id_at)).ok_or_else(|| wrong(format!("'{}' is no id", field(id_at))))?;
            let core = core_at.map(field).filter(|core| !core.is_empty()).map(str::to_owned);
            let kind = HookKind::parse(field(kind_at));
            let object = match (kind, field(kind_at)) {
                (Some(_), kind) if field(name_at).is_empty() => {
                    return Err(wrong(format!("{kind} {id} has no name")));
                }
                (Some(kind), _) => {
                    let name = field(name_at).to_owned();
                    Some(self.object(HookObject { kind, name, core }))
                }
                (None, NOBODY) => None,
                (None, other) => {
                    let kinds = HookKind::ALL.map(HookKind::as_str).into_iter().chain([NOBODY]);
                    let near = did_you_mean(other, kinds.clone());
                    let near = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
                    let kinds = kinds.collect::<Vec<_>>().join(", ");
                    return Err(
                        wrong(format!("'{other}' is no kind{near}")).hint(format!("the kinds are: {kinds}"))
                    );
                }
            };
            encoding.add(id, kind, object).map_err(|e| e.line(n as u64 + 1))?;
        }
        Ok(())
    }

    /// MICROSAR numbers its threads: the tasks, then the ISRs, in the order of the ORTI file, without the
    /// words for nobody. Behind them come hook threads, as many as the application has, and the words for
    /// nobody.
    pub(super) fn add_in_order(&mut self, encoding: &mut HookEncoding, cores: &[CoreFiles]) -> Result<()> {
        let tasks = values(cores, "RUNNINGTASK")?;
        if tasks.is_empty() {
            return Err(none_in_orti(encoding, "RUNNINGTASK"));
        }
        let tasks = tasks.into_iter().map(|(name, _)| (HookKind::Task, name));
        let isrs = values(cores, "RUNNINGISR2")?.into_iter().map(|(name, _)| (HookKind::Isr, name));
        for (id, (kind, name)) in (0..).zip(tasks.chain(isrs).filter(|(_, name)| !is_nobody(name))) {
            let object = self.object(HookObject { kind, name, core: None });
            encoding.add(id, Some(kind), Some(object))?;
        }
        encoding.others_are_nobody = true;
        Ok(())
    }

    /// The values that an attribute of the OS has in the ORTI file of a core, for objects of one kind.
    pub(super) fn add_values(
        &mut self,
        encoding: &mut HookEncoding,
        attribute: &str,
        kind: HookKind,
        cores: &[CoreFiles],
    ) -> Result<()> {
        let values = values(cores, attribute)?;
        if values.is_empty() {
            return Err(none_in_orti(encoding, attribute));
        }
        for (name, value) in values {
            let id = value.ok_or_else(|| {
                Error::input(format!("'{name}' of {attribute} in the ORTI file has no number: it is no id"))
            })?;
            let is_object = !is_nobody(&name);
            let object = is_object.then(|| self.object(HookObject { kind, name, core: None }));
            encoding.add(id, Some(kind), object)?;
        }
        Ok(())
    }
}

fn none_in_orti(encoding: &HookEncoding, attribute: &str) -> Error {
    let name = &encoding.name;
    Error::input(format!("the ids of hook variable '{name}' are those of '{attribute}' in an ORTI file, and no core has one with it"))
        .hint("orti = \"FILE\" in [[core]] of recording.toml")
        .hint("ids = \"orti:ATTRIBUTE\" names another attribute of the OS, ids = \"ids.csv\" a list of ids")
}

/// The names that an attribute of the OS can have, with their values: those of all ORTI files.
///
/// # Errors
/// Two files that give them other values.
pub(super) fn values(cores: &[CoreFiles], attribute: &str) -> Result<Vec<(String, Option<u64>)>> {
    let mut all: Vec<(String, Option<u64>)> = Vec::new();
    for file in cores.iter().filter_map(|core| core.orti.as_ref()) {
        let orti = Orti::parse(file.text.as_bytes());
        let elements = orti.attribute_type("OS", attribute).map_or(&[][..], |a| a.elements());
        let of_file = elements.iter().map(|element| {
            let value = match &element.value {
                EnumValue::Integer(number) => u64::try_from(*number).ok(),
                EnumValue::Formula(_) => None,
            };
            (element.label.clone(), value)
        });
        let of_file: Vec<_> = of_file.collect();
        if all.is_empty() {
            all = of_file;
        } else if !of_file.is_empty() && of_file != all {
            return Err(Error::input(format!(
                "the ORTI files of several cores have other values of '{attribute}'"
            ))
            .at(&file.path)
            .hint("ids = \"ids.csv\" in [[hook_variables]]: a list of the ids of all cores"));
        }
    }
    Ok(all)
}

/// The fields of a line, without blanks and quotes around them.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

/// Decimal, or hexadecimal behind `0x`.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The words of ORTI files for nobody.
pub(super) fn is_nobody(label: &str) -> bool {
    ["INVALID_TASK", "NO_TASK", "INVALID_ISR", "NO_ISR", "NO_ISR2", "INVALID_THREAD", "NO_THREAD"]
        .contains(&label)
}
