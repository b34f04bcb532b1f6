//! Traced variables: the last value of each one that a rule needs, and what to evaluate when it changes.
//! Knows paths and values, not what they mean.

use crate::description::orti::canonical_path;
use crate::error::did_you_mean;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The purpose of a slot; indices are those of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    TaskState(usize),
    Activations(usize),
    Remaining(usize),
    EventActive(usize),
    EventWait(usize),
    WasWaiting(usize),
    RunningTask(usize),
    RunningIsr(usize),
    Service(usize),
    LastError(usize),
    SemState(usize),
    SemLocker(usize),
    Spin(usize),
    AlarmTime(usize),
    AlarmAction(usize),
    Expiry,
    RemoteServer(usize),
    Nesting,
}

#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// The core that owns the variable; `None` if all cores share it.
    pub core: Option<usize>,
    pub roles: Vec<Role>,
    pub value: Option<i64>,
}

/// The meaning of a traced variable name: a slot, a signal, both or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meaning {
    pub slot: Option<usize>,
    pub signal: Option<String>,
}

/// Whose variables a core sees.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    /// For every core, the one whose own variables it sees (see `model::images`).
    pub images: Vec<usize>,
    /// For every core, the first one of its control unit, within which shared variables are shared.
    pub units: Vec<usize>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct SlotTable {
    slots: Vec<Slot>,
    index: HashMap<(Option<usize>, String), usize>,
    below: Vec<(usize, String, Role)>,
    shared: Vec<String>,
    owners: Owners,
    aliases: BTreeMap<String, String>,
    signals: Vec<String>,
}

impl SlotTable {
    pub fn new(
        shared: Vec<String>,
        owners: Owners,
        aliases: &BTreeMap<String, String>,
        signals: &[String],
    ) -> Self {
        Self {
            shared,
            owners,
            aliases: aliases.iter().map(|(k, v)| (path_of(k), path_of(v))).collect(),
            signals: signals.iter().map(|s| path_of(s.trim_end_matches("[*]"))).collect(),
            ..Self::default()
        }
    }

    /// Adds `role` to a variable, whose attribute is evaluated at every access (rule O3). Returns its slot.
    pub fn add_role(&mut self, core: usize, path: &str, role: Role) -> usize {
        let key = self.key(core, path);
        let slots = &mut self.slots;
        let owner = key.0;
        let slot = *self.index.entry(key).or_insert_with(|| {
            slots.push(Slot { core: owner, roles: Vec::new(), value: None });
            slots.len() - 1
        });
        if let Some(s) = self.slots.get_mut(slot)
            && !s.roles.contains(&role)
        {
            s.roles.push(role);
        }
        slot
    }

    /// Adds `role` to every variable below `base` that occurs, for formulas with a traced index.
    pub fn add_role_below(&mut self, core: usize, base: &str, role: Role) {
        self.below.push((core, base.to_owned(), role));
    }

    pub fn find(&self, core: usize, path: &str) -> Option<usize> {
        self.index.get(&self.key(core, path)).copied()
    }

    /// True if the traced name `text` on `core` has a meaning, which [`SlotTable::meaning`] gives. Slow;
    /// callers cache the answer per name. It stays the same while slots are added below such bases.
    pub fn matters(&self, core: usize, text: &str) -> bool {
        let path = self.path(text);
        self.find(core, &path).is_some() || self.below(core, &path).next().is_some() || self.is_signal(&path)
    }

    /// The meaning of the traced name `text` on `core` (rules O8, O9). Slow; callers cache it per name.
    pub fn meaning(&mut self, core: usize, text: &str) -> Meaning {
        let path = self.path(text);
        let below: Vec<Role> = self.below(core, &path).collect();
        for role in below {
            self.add_role(core, &path, role);
        }
        Meaning { slot: self.find(core, &path), signal: self.is_signal(&path).then_some(path) }
    }

    /// The ORTI path of a traced name.
    pub fn path(&self, text: &str) -> String {
        let traced = path_of(text);
        self.aliases.get(&traced).cloned().unwrap_or(traced)
    }

    /// Aliases whose path no attribute, profile or signal uses, with the nearest path that is used.
    pub fn unused_aliases(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let used = |path: &str| {
            self.index.keys().any(|(_, known)| known == path)
                || self.below.iter().any(|(_, base, _)| is_below(path, base))
                || self.is_signal(path)
        };
        let near = |path: &str| {
            did_you_mean(path, self.index.keys().map(|(_, known)| known.as_str()).collect::<BTreeSet<_>>())
        };
        self.aliases
            .values()
            .map(String::as_str)
            .filter(move |path| !used(path))
            .map(move |path| (path, near(path)))
    }

    /// The roles of formulas with a traced index that may refer to this variable of `core`.
    fn below<'a>(&'a self, core: usize, path: &'a str) -> impl Iterator<Item = Role> + 'a {
        let shared = self.is_shared(path);
        let seen =
            move |c: usize| self.image(c) == self.image(core) || (shared && self.unit(c) == self.unit(core));
        self.below
            .iter()
            .filter(move |(c, base, _)| is_below(path, base) && seen(*c))
            .map(|(_, _, role)| *role)
    }

    fn is_signal(&self, path: &str) -> bool {
        self.signals.iter().any(|s| path == s || is_below(path, s))
    }

    pub fn slot(&self, slot: usize) -> &Slot {
        &self.slots[slot]
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn value(&self, slot: usize) -> Option<i64> {
        self.slots.get(slot).and_then(|s| s.value)
    }

    pub fn set(&mut self, slot: usize, value: Option<i64>) {
        if let Some(s) = self.slots.get_mut(slot) {
            s.value = value;
        }
    }

    /// Forgets the values of a core's own variables (rule H1: unknown after a gap). Returns their slots.
    pub fn forget(&mut self, core: usize) -> Vec<usize> {
        let image = self.image(core);
        let own = |slot: &usize| self.slots[*slot].core == Some(image);
        let own: Vec<usize> = (0..self.slots.len()).filter(own).collect();
        own.iter().for_each(|slot| self.slots[*slot].value = None);
        own
    }

    /// Sets a value that [`SlotTable::known`] returned.
    pub fn restore(&mut self, core: Option<usize>, path: &str, value: i64) {
        let below: Vec<Role> = self.below(core.unwrap_or(0), path).collect();
        for role in below {
            self.add_role(core.unwrap_or(0), path, role);
        }
        if let Some(slot) = self.index.get(&(core, path.to_owned())).copied() {
            self.set(slot, Some(value));
        }
    }

    /// Every known value, ordered by (core, path): part of the stored end state.
    pub fn known(&self) -> BTreeMap<(Option<usize>, &str), i64> {
        self.index
            .iter()
            .filter_map(|((core, path), slot)| self.value(*slot).map(|v| ((*core, path.as_str()), v)))
            .collect()
    }

    fn key(&self, core: usize, path: &str) -> (Option<usize>, String) {
        let owner = match self.is_shared(path) {
            true => self.unit(core),
            false => Some(self.image(core)),
        };
        (owner, path.to_owned())
    }

    /// The owner of the variables that the cores of a control unit share: the core itself if it is alone, and
    /// nobody if the recording is of one unit.
    fn unit(&self, core: usize) -> Option<usize> {
        let units = &self.owners.units;
        let own = units.get(core).copied()?;
        units.iter().any(|unit| *unit != own).then_some(own)
    }

    fn is_shared(&self, path: &str) -> bool {
        self.shared.iter().any(|s| path == s || is_below(path, s))
    }

    fn image(&self, core: usize) -> usize {
        self.owners.images.get(core).copied().unwrap_or(core)
    }
}

/// `path` is an element or member of `base`.
pub(super) fn is_below(path: &str, base: &str) -> bool {
    path.strip_prefix(base).is_some_and(|rest| rest.starts_with(['[', '.']))
}

/// Canonical form of a variable name; a debugger path (`\\User\Global\x`) is cut to its last part.
pub(super) fn path_of(text: &str) -> String {
    let bare = text.rsplit('\\').next().unwrap_or(text);
    canonical_path(bare).unwrap_or_else(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> SlotTable {
        let aliases = BTreeMap::from([("T_desc.state".to_owned(), "procs[0].state".to_owned())]);
        let owners = Owners { images: vec![0, 1, 0], units: vec![0; 3] };
        SlotTable::new(vec!["lock".into()], owners, &aliases, &["SIG".into(), "ARR[*]".into()])
    }

    #[test]
    fn cores_have_their_own_variables_unless_shared() {
        let mut t = table();
        let a = t.add_role(0, "x", Role::Nesting);
        let b = t.add_role(1, "x", Role::Nesting);
        assert_ne!(a, b);
        assert_eq!(t.add_role(2, "x", Role::Nesting), a, "core 2 runs the image of core 0");
        assert_eq!(t.add_role(0, "lock[1]", Role::Spin(0)), t.add_role(1, "lock[1]", Role::Spin(0)));
    }

    #[test]
    fn control_units_share_no_variables() {
        let owners = Owners { images: vec![0, 1, 2], units: vec![0, 0, 2] };
        let mut t = SlotTable::new(vec!["lock".into()], owners, &BTreeMap::new(), &[]);
        let [a, b, c] = [0, 1, 2].map(|core| t.add_role(core, "lock[1]", Role::Spin(core)));
        assert_eq!((a == b, a == c), (true, false));
    }

    #[test]
    fn names_are_matched_by_alias_debugger_path_and_element() {
        let mut t = table();
        let slot = t.add_role(0, "procs[0].state", Role::TaskState(0));
        assert_eq!(t.meaning(0, "T_desc.state").slot, Some(slot));
        assert_eq!(t.meaning(0, r"\\User\Global\SIG").signal.as_deref(), Some("SIG"));
        assert_eq!(t.meaning(0, "ARR[3]").signal.as_deref(), Some("ARR[3]"));
        assert_eq!(t.meaning(0, "SIGNAL").signal, None);
    }

    #[test]
    fn a_gap_forgets_one_core_only() {
        let mut t = table();
        let (a, b) = (t.add_role(0, "x", Role::Nesting), t.add_role(1, "x", Role::Nesting));
        t.set(a, Some(1));
        t.set(b, Some(2));
        assert_eq!(t.forget(0), [a]);
        assert_eq!((t.value(a), t.value(b)), (None, Some(2)));
    }
}
