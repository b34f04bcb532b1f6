//! A Profiler XML of winIDEA as a description of hook variables: which bits of a variable are what, the
//! meaning of its states, and the names of its ids. Other objects of it are named as unused. Elements as
//! iTCHi, a helper of TASKING that makes such files, writes them.

use super::encoding;
use super::ids::{is_nobody, number, values};
use super::objects::{HookObject, HookSetup};
use super::{HookKind, HookStep, HookVariable, OtherStep, ProcessStep};
use crate::description::application::CoreFiles;
use crate::error::{Error, Result};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// Types whose values are those of an attribute of the ORTI file begin so.
const OF_ORTI: &str = "OS:";
/// What to do where a file is another one than a Profiler XML.
const EXPORTED: &str = "hook_profile of recording.toml names the file that winIDEA loads, or iTCHi has made";
/// What to do where names are those of an ORTI file.
const ORTI: &str = "orti = \"FILE\" in [[core]] of recording.toml";
/// How numbers are written.
const NUMBERS: &str = "a number is decimal, or hexadecimal behind 0x";

/// Adds the hook variables that a Profiler XML describes.
///
/// # Errors
/// A file that is no Profiler XML, or does not say what the words of a variable mean.
pub(super) fn add(hooks: &mut HookSetup, text: &str, cores: &[CoreFiles]) -> Result<()> {
    let document = Document::parse(text)
        .map_err(|e| Error::input("this is no XML").line(u64::from(e.pos().row)).because(e).hint(EXPORTED))?;
    let root = document.root_element();
    let profile = Profile { root, cores };
    let objects = root.descendants().filter(|node| node.has_tag_name("Object")).collect::<Vec<_>>();
    if objects.is_empty() {
        return Err(Error::input("there is no <Object>: this is no Profiler XML of winIDEA").hint(EXPORTED));
    }
    let known = hooks.variables.len();
    for object in objects {
        let described = profile
            .add(hooks, object)
            .map_err(|e| e.line(u64::from(document.text_pos_at(object.range().start).row)))?;
        if !described {
            hooks.unused.push(child(object, "Name").unwrap_or_default().to_owned());
        }
    }
    if hooks.variables.len() == known {
        return Err(Error::input("no object of the Profiler XML is of a variable")
            .hint("an <Object> with <Expression> and <TaskState>, <Runnable> or a spinlock is one"));
    }
    Ok(())
}

struct Profile<'a> {
    root: Node<'a, 'a>,
    cores: &'a [CoreFiles],
}

/// What the words of an object are about, and where that is said.
enum About<'a> {
    Processes(Node<'a, 'a>),
    Runnables(Node<'a, 'a>),
    Spinlocks,
}

impl<'a> Profile<'a> {
    /// Adds the variable of an object; false if it has none.
    fn add(&self, hooks: &mut HookSetup, object: Node<'a, 'a>) -> Result<bool> {
        let expression = child(object, "Expression").filter(|text| !text.is_empty());
        let about = match (element(object, "TaskState"), element(object, "Runnable")) {
            (Some(state), _) if mask(state, "MaskState")?.is_some() => About::Processes(state),
            (_, Some(runnable)) => About::Runnables(runnable),
            _ if property(object, "Spinlock_MaskID").is_some() => About::Spinlocks,
            _ => return Ok(false),
        };
        let Some(expression) = expression else { return Ok(false) };
        let level = child(object, "Level").unwrap_or_default();
        let (variable, kind) = match about {
            About::Processes(state) => {
                let of_isrs = level.starts_with("IRQ");
                let is_autocore = self.is_autocore(state);
                let variable = HookVariable {
                    interrupts: Some(of_isrs && is_autocore),
                    id_mask: mask(state, "MaskID")?,
                    state_mask: mask(state, "MaskState")?,
                    core_mask: mask(state, "MaskCore")?,
                    states: self.process_states(state)?,
                    ..HookVariable::default()
                };
                (variable, if of_isrs { HookKind::Isr } else { HookKind::Task })
            }
            About::Runnables(runnable) => {
                let exit = child(runnable, "ExitValue").and_then(number);
                let variable = HookVariable {
                    id_mask: mask(runnable, "MaskID")?,
                    core_mask: mask(runnable, "MaskCore")?,
                    exit_id: Some(exit.ok_or_else(without_exit)?),
                    ..HookVariable::default()
                };
                (variable, HookKind::Runnable)
            }
            About::Spinlocks => {
                let mask = |name: &str| property(object, name).map(as_mask).transpose();
                let states = property(object, "Spinlock_Type").unwrap_or_default();
                let variable = HookVariable {
                    id_mask: mask("Spinlock_MaskID")?,
                    state_mask: mask("Spinlock_MaskType")?,
                    core_mask: mask("Spinlock_MaskCore")?,
                    states: self.spinlock_states(states)?,
                    ..HookVariable::default()
                };
                (variable, HookKind::Spinlock)
            }
        };
        let mut encoding = encoding::of(&HookVariable { name: symbol(expression).to_owned(), ..variable })?;
        let of_type = child(object, "Type").unwrap_or_default();
        let nobody = child(object, "DefaultValue");
        let names = self.names(of_type)?;
        let isrs = values(self.cores, "RUNNINGISR2")?;
        if kind == HookKind::Task && isrs.is_empty() && self.states_tell_isrs(object) {
            let wrong = format!(
                "which names of type '{of_type}' are ISRs, only an ORTI file says, and no core has one"
            );
            return Err(Error::input(wrong).hint(ORTI));
        }
        for (name, id) in names {
            let is_isr = kind == HookKind::Task && isrs.iter().any(|(isr, _)| *isr == name);
            let kind = if is_isr { HookKind::Isr } else { kind };
            let is_object = !is_nobody(&name) && Some(name.as_str()) != nobody;
            let object = is_object.then(|| hooks.object(HookObject { kind, name, core: None }));
            encoding.add(id, Some(kind), object)?;
        }
        hooks.push(encoding)?;
        Ok(true)
    }

    /// What the states of processes mean: a property of the state itself, else its event in BTF.
    fn process_states(&self, state: Node<'a, 'a>) -> Result<BTreeMap<String, HookStep>> {
        let of_type = child(state, "Type").unwrap_or_default();
        let mapping = child(state, "BTFMappingType").and_then(|name| self.type_enum(name));
        let transitions: Vec<&str> = mapping
            .into_iter()
            .flat_map(|mapping| mapping.descendants().filter(|node| node.has_tag_name("BTF_Transition")))
            .filter_map(|node| node.text().map(str::trim))
            .collect();
        let by_mapping = |name: &str| {
            let enums = elements(mapping?, "Enum").find(|of| child(*of, "Name") == Some(name))?;
            child(enums, "Value")
        };
        // What is ready without having been active is activated then, where the file says so.
        let ready = match transitions.contains(&"Terminated-Ready:Active") {
            true => ProcessStep::Queue,
            false => ProcessStep::Ready,
        };
        let is_autocore = self.is_autocore(state);
        self.states(of_type, |name, own| {
            let meaning = property(own, "TaskState").or_else(|| by_mapping(name));
            Ok(HookStep::Process(match meaning.unwrap_or_default().to_ascii_lowercase().as_str() {
                // A pending activation follows an end that has no word.
                "active" if is_autocore => ProcessStep::New,
                "active" => ProcessStep::Activate,
                "ready" => ready,
                "running" => ProcessStep::Run,
                "waiting" => ProcessStep::Wait,
                "terminated" | "suspended" => ProcessStep::Terminate,
                other => {
                    let wrong = format!(
                        "state '{name}' of type '{of_type}' means '{other}', which is no state of BTF"
                    );
                    return Err(
                        Error::input(wrong).hint("<BTFMappingType> names a type that says it for each state")
                    );
                }
            }))
        })
    }

    fn spinlock_states(&self, of_type: &str) -> Result<BTreeMap<String, HookStep>> {
        self.states(of_type, |name, own| {
            Ok(HookStep::Other(match property(own, "SpinlockState").unwrap_or_default() {
                "Requested" => OtherStep::Request,
                "Locked" => OtherStep::Lock,
                "Unlocked" => OtherStep::Unlock,
                _ => {
                    let wrong = format!("state '{name}' of type '{of_type}' has no <SpinlockState>");
                    return Err(Error::input(wrong).hint(
                        "<SpinlockState> in <Properties> of its <Enum> is Requested, Locked or Unlocked",
                    ));
                }
            }))
        })
    }

    /// The step of each value of a type; `meaning` says that of a name.
    fn states(
        &self,
        of_type: &str,
        meaning: impl Fn(&str, Node<'a, 'a>) -> Result<HookStep>,
    ) -> Result<BTreeMap<String, HookStep>> {
        let mut states = BTreeMap::new();
        for own in elements(self.type_named(of_type)?, "Enum") {
            let name = child(own, "Name").unwrap_or_default();
            let more = own.children().filter(|node| node.has_tag_name("Properties"));
            let more = more.flat_map(|node| elements(node, "Value")).filter_map(|node| node.text());
            for value in child(own, "Value").into_iter().chain(more.map(str::trim)) {
                let wrong = || no_number(value, of_type);
                let step = meaning(name, own)?;
                if states
                    .insert(number(value).ok_or_else(wrong)?.to_string(), step)
                    .is_some_and(|known| known != step)
                {
                    return Err(Error::input(format!("{value} is two states of type '{of_type}'"))
                        .hint("each <Value> of a type of states stands in one <Enum>"));
                }
            }
        }
        Ok(states)
    }

    /// The names of a type with their numbers.
    fn names(&self, of_type: &str) -> Result<Vec<(String, u64)>> {
        if let Some(attribute) = of_type.strip_prefix(OF_ORTI) {
            let known = values(self.cores, attribute)?;
            let known: Vec<_> = known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            return match known.is_empty() {
                true => {
                    let wrong = format!("no core has an ORTI file with {attribute}, the type of an object");
                    Err(Error::input(wrong).hint(ORTI))
                }
                false => Ok(known),
            };
        }
        let mut names = Vec::new();
        for own in elements(self.type_named(of_type)?, "Enum") {
            let (name, value) =
                (child(own, "Name").unwrap_or_default(), child(own, "Value").unwrap_or_default());
            let wrong = || no_number(value, of_type);
            // Text around a comment is several.
            if name.is_empty() || element(own, "Name").is_some_and(|name| name.children().count() != 1) {
                let wrong = format!("{value} of type '{of_type}' has no name, or one in pieces");
                return Err(Error::input(wrong).hint("<Name> of an <Enum> is text, without a comment in it"));
            }
            names.push((name.to_owned(), number(value).ok_or_else(wrong)?));
        }
        Ok(names)
    }

    /// Its states are those of EB tresos AutoCore, which tells less than the other kernels.
    fn is_autocore(&self, state: Node<'a, 'a>) -> bool {
        let states = child(state, "Type").and_then(|name| self.type_enum(name));
        let mut names =
            states.into_iter().flat_map(|of| elements(of, "Enum")).filter_map(|of| child(of, "Name"));
        names.any(|name| name == "READY_SYNC")
    }

    /// Its states are of tasks and of ISRs.
    fn states_tell_isrs(&self, object: Node<'a, 'a>) -> bool {
        let state = element(object, "TaskState").and_then(|state| child(state, "Type"));
        let states = state.and_then(|name| self.type_enum(name));
        let mut names =
            states.into_iter().flat_map(|of| elements(of, "Enum")).filter_map(|of| child(of, "Name"));
        names.any(|name| name.ends_with("_ISR"))
    }

    fn type_named(&self, name: &str) -> Result<Node<'a, 'a>> {
        let missing = || match name {
            "" => Error::input("an object does not say its <Type>").hint(
                "<Type> names the <TypeEnum> with its values; objects, their states and spinlocks have one",
            ),
            _ => {
                Error::input(format!("there is no <TypeEnum> '{name}'")).hint_near(name, self.types(), |_| {
                    format!("a <TypeEnum> with <Name>{name}</Name> and its values is to be in the file")
                })
            }
        };
        self.type_enum(name).ok_or_else(missing)
    }

    /// The names of all types.
    fn types(&self) -> impl Iterator<Item = &'a str> {
        let types = self.root.descendants().filter(|node| node.has_tag_name("TypeEnum"));
        types.filter_map(|node| child(node, "Name"))
    }

    fn type_enum(&self, name: &str) -> Option<Node<'a, 'a>> {
        self.root
            .descendants()
            .find(|node| node.has_tag_name("TypeEnum") && child(*node, "Name") == Some(name))
    }
}

fn elements<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn element<'a>(node: Node<'a, 'a>, name: &'static str) -> Option<Node<'a, 'a>> {
    elements(node, name).next()
}

/// The text of an element within another one.
fn child<'a>(node: Node<'a, 'a>, name: &'static str) -> Option<&'a str> {
    element(node, name)?.text().map(str::trim)
}

/// The text of a property. An object may have several groups of them.
fn property<'a>(node: Node<'a, 'a>, name: &'a str) -> Option<&'a str> {
    let groups = elements(node, "Properties");
    let mut all = groups.flat_map(|group| group.children()).filter(|child| child.has_tag_name(name));
    all.next()?.text().map(str::trim)
}

/// A mask that is there and not 0, which stands for none.
fn mask<'a>(node: Node<'a, 'a>, name: &'static str) -> Result<Option<u64>> {
    Ok(child(node, name).map(as_mask).transpose()?.filter(|mask| *mask != 0))
}

fn as_mask(text: &str) -> Result<u64> {
    number(text).ok_or_else(|| Error::input(format!("'{text}' is no mask")).hint(NUMBERS))
}

fn no_number(value: &str, of_type: &str) -> Error {
    Error::input(format!("'{value}' of type '{of_type}' is no number")).hint(NUMBERS)
}

fn without_exit() -> Error {
    Error::input("a runnable has no <ExitValue>")
        .hint("<ExitValue> in <Runnable> is the number that says that a runnable returns")
}

/// The variable of an expression: `"file.c"#variable` is one of a module.
fn symbol(expression: &str) -> &str {
    let name = expression.rsplit(['#', ',']).next().unwrap_or(expression);
    name.trim().trim_matches(['"', '`'])
}
