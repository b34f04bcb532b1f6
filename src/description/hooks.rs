//! Hook variables: a kernel with timing hooks writes each step of a process into one traced variable, as
//! bits; others are of runnables, spinlocks and services. What `recording.toml` says of them, completed with
//! the published encodings, and the objects that the ids stand for. Not the rules (see `map::hooks`).

use super::application::{CoreFiles, SetupFile};
use super::orti::Orti;
use crate::error::{Error, Result, did_you_mean};
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `os` of a recording whose kernel has hook variables.
pub const HOOKS: &str = "hooks";

const PUBLISHED: &str = include_str!("profiles/hooks.toml");

/// A traced variable whose words say what happens to a process. Masks select the bits of a word, which are
/// shifted to bit 0; keys that are left out are those of the published encoding of that name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HookVariable {
    /// Name of the variable in the export.
    pub name: String,
    /// The number of the process, runnable or spinlock; of a call, that of its parameter.
    pub id_mask: Option<u64>,
    /// The number of what happens to it.
    pub state_mask: Option<u64>,
    /// The number of the core, if words have one; else the core is that of the export.
    pub core_mask: Option<u64>,
    /// Bits that are set in each word that counts.
    pub valid_mask: Option<u64>,
    /// What each state means. `even` and `odd` are all numbers, each half of which is that of a service.
    #[serde(default)]
    pub states: BTreeMap<String, HookStep>,
    /// From this state on, the id is that of an ISR, in a number space of its own.
    pub isr_states_from: Option<u64>,
    /// A file with the columns kind, id, name, core; or `orti`.
    pub ids: Option<String>,
}

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a step is activate, start, run, resume, preempt, ready, wait, release or terminate, lock or unlock, \
                 enter or exit"
)]
pub enum HookStep {
    /// Of a process; `start` and `terminate` also of a runnable.
    Process(ProcessStep),
    /// Of something else.
    Other(OtherStep),
}

/// What happens on a core, in the process that runs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherStep {
    /// It gets a spinlock.
    Lock,
    /// It gives a spinlock back.
    Unlock,
    /// It calls a service.
    Enter,
    /// A service returns to it.
    Exit,
}

/// What happens to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessStep {
    /// It is activated.
    Activate,
    /// It runs for the first time.
    Start,
    /// It gets the core: its start if it has not run yet, else it goes on.
    Run,
    /// It goes on after a preemption or a wait.
    Resume,
    /// Something else gets its core.
    Preempt,
    /// It is preempted if it runs, and released if it waits.
    Ready,
    /// It waits for an event or a semaphore.
    Wait,
    /// What it waited for has come.
    Release,
    /// It ends.
    Terminate,
}

#[derive(Deserialize)]
struct Published {
    hook_variables: Vec<HookVariable>,
}

/// The value of `ids` for those of the ORTI file.
const FROM_ORTI: &str = "orti";
/// The kind of an id in a list that stands for no process.
const NOBODY: &str = "none";

impl HookVariable {
    /// The file with its ids, if it names one.
    pub fn ids_file(&self) -> Option<&str> {
        self.ids.as_deref().filter(|ids| *ids != FROM_ORTI)
    }

    /// With the keys of the published encoding of its name where it says nothing.
    fn completed(&self) -> Result<Self> {
        let known: Published = toml::from_str(PUBLISHED)
            .map_err(|e| Error::input("the published encodings cannot be read").because(e))?;
        let names: Vec<String> = known.hook_variables.iter().map(|known| known.name.clone()).collect();
        let mut all = self.clone();
        if let Some(known) = known.hook_variables.into_iter().find(|known| known.name == self.name) {
            all.id_mask = all.id_mask.or(known.id_mask);
            all.state_mask = all.state_mask.or(known.state_mask);
            all.core_mask = all.core_mask.or(known.core_mask);
            all.valid_mask = all.valid_mask.or(known.valid_mask);
            if all.states.is_empty() {
                all.states = known.states;
            }
        } else if all.id_mask.is_none() || all.state_mask.is_none() || all.states.is_empty() {
            let wrong = format!("hook variable '{}' needs id_mask, state_mask and states", self.name);
            return Err(Error::input(wrong)
                .hint(format!("only these variables have published ones: {}", names.join(", "))));
        }
        Ok(all)
    }
}

/// The bits of a word under a mask, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits(u64);

impl Bits {
    fn new(mask: u64, key: &str, variable: &str) -> Result<Self> {
        let shifted = mask.checked_shr(mask.trailing_zeros()).unwrap_or(0);
        if mask == 0 || shifted & shifted.wrapping_add(1) != 0 {
            let wrong =
                format!("{key} of hook variable '{variable}' is {mask:#x}, which is not one run of bits");
            return Err(Error::input(wrong));
        }
        Ok(Self(mask))
    }

    /// The number in a word.
    pub fn of(self, word: u64) -> u64 {
        (word & self.0).checked_shr(self.0.trailing_zeros()).unwrap_or(0)
    }
}

/// A hook variable that can be decoded.
#[derive(Debug, Clone)]
pub struct HookEncoding {
    pub name: String,
    pub id: Bits,
    pub state: Bits,
    /// `None`: the core is that of the export.
    pub core: Option<Bits>,
    /// Bits that each word has.
    pub valid: u64,
    steps: BTreeMap<u64, HookStep>,
    /// What even and odd states mean that are not in `steps`.
    by_parity: [Option<HookStep>; 2],
    /// The states from which on the id is that of an ISR; `None` if tasks and ISRs have one number space.
    pub isr_states_from: Option<u64>,
    /// By number space and id: an index of [`HookSetup::objects`], or `None` for what is no process.
    pub ids: BTreeMap<(Space, u64), Option<usize>>,
    /// Ids that are not known are no processes.
    pub others_are_nobody: bool,
    /// Processes are not what its words are about.
    of_runnables: bool,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    Processes,
    /// Where they have numbers of their own.
    Isrs,
    Runnables,
    Spinlocks,
    Services,
}

impl HookEncoding {
    /// What a word says, and the number that says of what; `None` if its state has no meaning.
    pub fn step(&self, word: u64) -> Option<(HookStep, Space, u64)> {
        let (state, id) = (self.state.of(word), self.id.of(word));
        let listed = self.steps.get(&state).copied();
        let by_parity = self.by_parity.get((state % 2) as usize).copied().flatten();
        let id = if listed.is_none() { state / 2 } else { id };
        let step = listed.or(by_parity)?;
        let is_isr = self.isr_states_from.is_some_and(|from| state >= from);
        let space = match step {
            HookStep::Process(_) if self.of_runnables => Space::Runnables,
            HookStep::Process(_) if is_isr => Space::Isrs,
            HookStep::Process(_) => Space::Processes,
            HookStep::Other(OtherStep::Lock | OtherStep::Unlock) => Space::Spinlocks,
            HookStep::Other(OtherStep::Enter | OtherStep::Exit) => Space::Services,
        };
        Some((step, space, id))
    }

    /// All its words are calls of services.
    fn is_of_services(&self) -> bool {
        let is_call = |step: &HookStep| matches!(step, HookStep::Other(OtherStep::Enter | OtherStep::Exit));
        self.steps.values().chain(self.by_parity.iter().flatten()).all(is_call)
    }
}

words! {
    /// What an id stands for, as lists of ids spell it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HookKind {
        /// A task.
        Task = "task",
        /// An ISR.
        Isr = "isr",
        /// An idle task, which has no events. Also a task may be one, by its name.
        Idle = "idle",
        /// A function that a process calls.
        Runnable = "runnable",
        /// A lock that cores wait for.
        Spinlock = "spinlock",
        /// A service of the OS.
        Service = "service",
    }
}

/// What an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookObject {
    pub kind: HookKind,
    pub name: String,
    pub core: Option<String>,
}

impl HookObject {
    /// A task, or an idle one, or an ISR.
    pub fn is_process(&self) -> bool {
        matches!(self.kind, HookKind::Task | HookKind::Isr | HookKind::Idle)
    }
}

/// Everything that the words of a recording need.
#[derive(Debug, Clone, Default)]
pub struct HookSetup {
    pub variables: Vec<HookEncoding>,
    pub objects: Vec<HookObject>,
    /// The cores of the recording, each with its number in the words.
    pub cores: Vec<(String, u64)>,
}

impl HookSetup {
    /// The setup of a recording with these variables, the files with their ids, and these cores.
    ///
    /// # Errors
    /// Keys that are missing or contradict each other; ids that cannot be read.
    pub(super) fn new(variables: &[HookVariable], ids: &[SetupFile], cores: &[CoreFiles]) -> Result<Self> {
        if variables.is_empty() {
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
        for variable in variables {
            if hooks.variables.iter().any(|known| known.name == variable.name) {
                return Err(Error::input(format!("hook variable '{}' is described twice", variable.name)));
            }
            hooks.add(variable, ids, cores)?;
        }
        Ok(hooks)
    }

    fn add(&mut self, variable: &HookVariable, ids: &[SetupFile], cores: &[CoreFiles]) -> Result<()> {
        let described = variable.completed()?;
        let name = &described.name;
        let bits = |mask: Option<u64>, key: &str| Bits::new(mask.unwrap_or(0), key, name);
        let (mut steps, mut by_parity) = (BTreeMap::new(), [None; 2]);
        for (state, step) in &described.states {
            let parity = ["even", "odd"].iter().position(|word| word == state);
            if let Some(parity) = parity.and_then(|parity| by_parity.get_mut(parity)) {
                *parity = Some(*step);
                continue;
            }
            let number = state.parse().map_err(|e| {
                Error::input(format!("state '{state}' of hook variable '{name}' is no number")).because(e)
            })?;
            steps.insert(number, *step);
        }
        let mut encoding = HookEncoding {
            name: name.clone(),
            id: bits(described.id_mask, "id_mask")?,
            state: bits(described.state_mask, "state_mask")?,
            core: described
                .core_mask
                .filter(|mask| *mask != 0)
                .map(|m| bits(Some(m), "core_mask"))
                .transpose()?,
            valid: described.valid_mask.unwrap_or(0),
            steps,
            by_parity,
            isr_states_from: described.isr_states_from,
            ids: BTreeMap::new(),
            others_are_nobody: false,
            of_runnables: false,
        };
        match (described.ids.as_deref(), described.ids_file()) {
            (_, Some(path)) => {
                let file = ids.iter().find(|file| file.path == path);
                let text = file.map_or("", |file| file.text.as_str());
                self.add_listed(&mut encoding, text).map_err(|e| e.at(path))?;
            }
            (Some(_), None) => self.add_of_orti(&mut encoding, cores)?,
            // Services have numbers where they have no names.
            (None, None) if encoding.is_of_services() => {}
            (None, None) => {
                return Err(Error::input(format!("hook variable '{name}' does not say what its ids mean"))
                    .hint("ids = \"ids.csv\", a file with the columns kind,id,name,core")
                    .hint("ids = \"orti\" counts the tasks and ISRs of the ORTI file of a core"));
            }
        }
        self.variables.push(encoding);
        Ok(())
    }

    /// Lines of `kind,id,name,core` below a header.
    fn add_listed(&mut self, encoding: &mut HookEncoding, text: &str) -> Result<()> {
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
            let space = match kind {
                Some(HookKind::Isr) if encoding.isr_states_from.is_some() => Space::Isrs,
                Some(HookKind::Task | HookKind::Isr | HookKind::Idle) | None => Space::Processes,
                Some(HookKind::Runnable) => Space::Runnables,
                Some(HookKind::Spinlock) => Space::Spinlocks,
                Some(HookKind::Service) => Space::Services,
            };
            encoding.of_runnables |= space == Space::Runnables;
            if encoding.of_runnables
                && encoding.ids.keys().any(|(space, _)| matches!(space, Space::Processes | Space::Isrs))
            {
                return Err(wrong(format!(
                    "'{}' has ids of processes and of runnables, and its words do not tell which is meant",
                    encoding.name
                )));
            }
            if encoding.ids.insert((space, id), object).is_some() {
                return Err(wrong(format!("id {id} is listed twice")).hint(
                    "tasks and ISRs that have number spaces of their own take isr_states_from in [[hook_variables]]",
                ));
            }
        }
        Ok(())
    }

    /// MICROSAR numbers its threads: the tasks, then the ISRs, in the order of the ORTI file, without the
    /// words for nobody. Behind them come hook threads, as many as the application has, and the words for
    /// nobody.
    fn add_of_orti(&mut self, encoding: &mut HookEncoding, cores: &[CoreFiles]) -> Result<()> {
        let texts = cores.iter().filter_map(|core| core.orti.as_ref());
        let lists = texts.map(|file| Orti::parse(file.text.as_bytes())).map(|orti| {
            let labels = |attribute: &str| {
                let elements = orti.attribute_type("OS", attribute).map_or(&[][..], |a| a.elements());
                let named = elements.iter().filter(|e| !is_nobody(&e.label)).map(|e| e.label.clone());
                named.collect::<Vec<_>>()
            };
            (labels("RUNNINGTASK"), labels("RUNNINGISR2"))
        });
        let Some((tasks, isrs)) = lists.into_iter().find(|(tasks, _)| !tasks.is_empty()) else {
            return Err(Error::input(format!(
                "the ids of hook variable '{}' are those of the ORTI file, and no core has one with RUNNINGTASK",
                encoding.name
            )));
        };
        let tasks = tasks.into_iter().map(|name| (HookKind::Task, name));
        let all = tasks.chain(isrs.into_iter().map(|name| (HookKind::Isr, name)));
        for (id, (kind, name)) in (0..).zip(all) {
            let object = self.object(HookObject { kind, name, core: None });
            encoding.ids.insert((Space::Processes, id), Some(object));
        }
        encoding.others_are_nobody = true;
        Ok(())
    }

    /// The index of an object; the same for the same one in several lists.
    fn object(&mut self, object: HookObject) -> usize {
        let is_isr = |object: &HookObject| object.kind == HookKind::Isr;
        let same = |known: &HookObject| {
            let of_one = known.kind == object.kind || known.is_process() && object.is_process();
            of_one && is_isr(known) == is_isr(&object) && known.name == object.name
        };
        self.objects.iter().position(same).unwrap_or_else(|| {
            self.objects.push(object);
            self.objects.len() - 1
        })
    }
}

/// The fields of a line, without blanks and quotes around them.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

/// Decimal, or hexadecimal behind `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The words of ORTI files for nobody.
fn is_nobody(label: &str) -> bool {
    ["INVALID_TASK", "NO_TASK", "INVALID_ISR", "NO_ISR", "NO_ISR2", "INVALID_THREAD", "NO_THREAD"]
        .contains(&label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(variable: HookVariable, ids: &str) -> Result<HookSetup> {
        let core = |name: &str| CoreFiles { name: name.into(), ..CoreFiles::default() };
        let variable = HookVariable { ids: variable.ids.clone().or(Some("ids.csv".into())), ..variable };
        let file = SetupFile { path: "ids.csv".into(), text: ids.into() };
        HookSetup::new(&[variable], &[file], &[core("A"), core("B")])
    }

    fn named(name: &str) -> HookVariable {
        HookVariable { name: name.into(), ..HookVariable::default() }
    }

    #[test]
    fn a_published_variable_needs_its_ids_only() {
        let hooks = setup(named("arti_os_trace"), "kind,id,name,core\ntask,0,T,A\nisr,0x1,I,\n").unwrap();
        let encoding = &hooks.variables[0];
        let word = 0x0001_9002;
        assert_eq!((encoding.id.of(word), encoding.state.of(word)), (1, 16));
        assert_eq!((encoding.core.unwrap().of(word), encoding.valid), (2, 0x8000));
        let step = |word| encoding.step(word).unwrap();
        assert_eq!(step(word), (HookStep::Process(ProcessStep::Start), Space::Processes, 1));
        assert_eq!(step(0x0001_8100).0, HookStep::Process(ProcessStep::Run));
        assert_eq!(step(0x0007_9802), (HookStep::Other(OtherStep::Lock), Space::Spinlocks, 7));
        assert_eq!(hooks.objects[encoding.ids[&(Space::Processes, 1)].unwrap()].name, "I");
        assert_eq!(hooks.cores, [("A".to_owned(), 0), ("B".to_owned(), 1)]);
    }

    #[test]
    fn what_cannot_be_decoded_is_refused_with_its_place() {
        let said = |variable: HookVariable, ids: &str| setup(variable, ids).unwrap_err().to_string();
        let unknown = said(named("own"), "kind,id,name\n");
        assert_eq!(unknown, "hook variable 'own' needs id_mask, state_mask and states");
        let mask = HookVariable { id_mask: Some(0xF0F0), ..named("winidea_trace") };
        assert!(said(mask, "kind,id,name\n").contains("0xf0f0, which is not one run of bits"));
        let twice = "kind,id,name\ntask,0,T\nisr,0,I\n";
        assert_eq!(said(named("arti_os_trace"), twice), "ids.csv:3: id 0 is listed twice");
        let spaces = HookVariable { isr_states_from: Some(16), ..named("arti_os_trace") };
        assert_eq!(setup(spaces, twice).unwrap().objects.len(), 2);
        assert_eq!(said(named("arti_os_trace"), "id,name\n"), "ids.csv:1: there is no column 'kind'");
        let kind = said(named("arti_os_trace"), "kind,id,name\n\ntaks,0,T\n");
        assert_eq!(kind, "ids.csv:3: 'taks' is no kind; did you mean 'task'?");
    }

    #[test]
    fn services_need_no_ids_and_runnables_have_numbers_of_their_own() {
        let none = HookVariable { ids: None, ..named("arti_sc_trace") };
        let core = CoreFiles { name: "A".into(), ..CoreFiles::default() };
        let hooks = HookSetup::new(&[none], &[], &[core]).unwrap();
        let step = |word| hooks.variables[0].step(word).unwrap();
        assert_eq!(step(0x0003_8600), (HookStep::Other(OtherStep::Enter), Space::Services, 0x43));
        assert_eq!(step(0x0003_8700), (HookStep::Other(OtherStep::Exit), Space::Services, 0x43));
        let both = "kind,id,name,core\ntask,0,T,A\nrunnable,0,R,\n";
        assert!(setup(named("arti_os_trace"), both).unwrap_err().to_string().contains("do not tell which"));
    }

    #[test]
    fn threads_are_numbered_as_the_orti_file_lists_them() {
        let orti = "VERSION { KOIL = \"2.2\"; OSSEMANTICS = \"ORTI\", \"2.2\"; };\nIMPLEMENTATION x { OS { TOTRACE ENUM \
            \"unsigned char\" [ \"INVALID_TASK\" = 9, \"Idle\" = 0, \"T\" = 1 ] RUNNINGTASK, \"r\"; TOTRACE ENUM \
            \"unsigned char\" [ \"I\" = 0, \"INVALID_ISR\" = 1 ] RUNNINGISR2, \"r\"; }, \"OS\"; };\nOS o { };\n";
        let core = CoreFiles {
            name: "A".into(),
            orti: Some(SetupFile { path: "a.ort".into(), text: orti.into() }),
            ..CoreFiles::default()
        };
        let variable = HookVariable { ids: Some("orti".into()), ..named("winidea_trace") };
        let hooks = HookSetup::new(&[variable], &[], &[core]).unwrap();
        let names: Vec<_> = hooks.objects.iter().map(|o| (o.kind, o.name.as_str())).collect();
        assert_eq!(names, [(HookKind::Task, "Idle"), (HookKind::Task, "T"), (HookKind::Isr, "I")]);
    }
}
