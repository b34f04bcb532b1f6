//! Turns arguments of the user into recordings: a folder, a `recording.toml`, files whose names have a
//! meaning (as those of TRACE32 exports), a trace in one file, or in the files of a folder. Looks at names
//! only, not into files.

use super::folder;
use super::recording_toml::{CoreDescription, Description, FileList, NameList};
use crate::encoding::read_text;
use crate::error::{Error, Result};
use crate::formats::{FORMATS, Part, TraceFormat};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A recording to ingest.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Name in the database.
    pub name: String,
    /// Its description.
    pub description: Description,
    /// The base of relative paths.
    pub base: PathBuf,
    /// Its inputs.
    pub inputs: Vec<PlannedInput>,
    /// A file outside of its folder that its description names; the user may not know of it.
    pub outside: Option<PathBuf>,
    /// Its format, if a description or the names of files tell; else it is recognised by content.
    pub format: Option<&'static dyn TraceFormat>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedInput {
    /// The name given by the user or the description.
    pub name: String,
    /// Its path; `-` for standard input.
    pub path: PathBuf,
    /// Its core, and its key in the description.
    pub part: Option<Part>,
    /// Added to its times, e.g. `120ns`.
    pub time_offset: Option<String>,
    /// What it is called in place of its path, which need not last.
    pub shown: Option<PathBuf>,
}

/// One plan per folder, description or trace file, with the files beside it that describe it; all loose files
/// whose names have a meaning form one more recording. `over` has the flags of the user, which override every
/// description. `formats` decide on the meaning of file names; all other files are traces.
///
/// # Errors
/// Files that do not exist; a description that cannot be read; names that contradict each other.
pub fn plan(
    inputs: &[PathBuf],
    over: &Description,
    formats: &[&'static dyn TraceFormat],
) -> Result<Vec<Plan>> {
    let mut plans = Vec::new();
    let mut loose = Vec::new();
    for input in inputs {
        if input.is_dir() {
            plans.push(of_folder(input, over)?);
        } else if input.extension().is_some_and(|e| e == "toml") {
            let base = input.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let description = read(input)?;
            let outside = outside(&description, base);
            plans.push(Plan { outside, ..named(description, base, over)? });
        } else if input.as_os_str() != "-" && !is_there(input)? {
            return Err(Error::input(format!("'{}' does not exist", input.display())).hint(
                "give a recording folder, a recording.toml, a BTF file, or export files *_data.csv and *_func.csv",
            ));
        } else if part(formats, input).is_some() {
            loose.push(input.clone());
        } else {
            let described = |name: &str| FORMATS.iter().find_map(|format| format.description_of(name));
            let own = input.file_name().and_then(|name| described(name.to_str()?));
            let siblings = own.map(|pattern| {
                let files = folder::siblings(input).into_iter().filter(move |name| pattern.fits(name));
                files.map(|name| input.with_file_name(name))
            });
            let inputs = std::iter::once(input.clone()).chain(siblings.into_iter().flatten());
            let inputs = inputs.map(|path| PlannedInput::of_trace(path.to_string_lossy().into_owned(), path));
            plans.push(of_trace(trace_name(input), inputs.collect(), Path::new("."), over)?);
        }
    }
    if !loose.is_empty() || (inputs.is_empty() && !over.core.is_empty()) {
        let description = Description { core: cores_of(&loose)?, ..Description::default() };
        plans.push(named(description, Path::new("."), over)?);
    }
    if over.name.is_some() && plans.len() > 1 {
        return Err(Error::usage(format!("one name was given for {} recordings", plans.len())));
    }
    let mut names = BTreeMap::new();
    for plan in &plans {
        if names.insert(plan.name.clone(), ()).is_some() {
            return Err(Error::usage(format!("two inputs are called '{}'", plan.name))
                .hint("ingest them one at a time with --name"));
        }
    }
    Ok(plans)
}

/// Whether there is something of that name. Fails where that cannot be seen, as in a folder that is closed.
fn is_there(input: &Path) -> Result<bool> {
    input.try_exists().map_err(|e| Error::io("look at", input, e))
}

fn read(file: &Path) -> Result<Description> {
    Description::parse(&read_text(file)?, file)
}

/// The first file that a description names and that is not below its folder.
fn outside(description: &Description, base: &Path) -> Option<PathBuf> {
    let found = |path: &Path| std::fs::canonicalize(path);
    let named = description.named_files().filter(|name| *name != "-").map(|name| base.join(name));
    // What does not exist is told when it is opened.
    let mut named = named.filter(|file| match (found(base), found(file)) {
        (Ok(base), Ok(file)) => !file.starts_with(base),
        _ => false,
    });
    named.next()
}

/// A folder with a description, with exports whose names have a meaning, or with the files of one trace.
fn of_folder(folder: &Path, over: &Description) -> Result<Plan> {
    let file = folder.join("recording.toml");
    if file.is_file() {
        let description = read(&file)?;
        let outside = outside(&description, folder);
        return Ok(Plan { outside, ..named(description, folder, over)? });
    }
    let cores = exports_of(folder)?;
    if !cores.is_empty() {
        return named(Description { core: cores, ..Description::default() }, folder, over);
    }
    let files = folder::files_of(folder)?;
    let trace = FORMATS.iter().map(|format| (*format, format.files_of_folder(&files)));
    let Some((format, files)) = trace.into_iter().find(|(_, files)| !files.is_empty()) else {
        return Err(Error::input(format!("'{}' is no recording", folder.display())).hint(
            "a recording has a recording.toml, exports named CORE_data.csv and CORE_func.csv, or the files of one trace",
        ));
    };
    let inputs = files.into_iter().map(|name| PlannedInput::of_trace(name.clone(), folder.join(name)));
    let name = folder_name(folder).unwrap_or_else(|| "recording".into());
    Ok(Plan { format: Some(format), ..of_trace(name, inputs.collect(), folder, over)? })
}

/// A trace that needs no description.
fn of_trace(name: String, inputs: Vec<PlannedInput>, base: &Path, over: &Description) -> Result<Plan> {
    let name = over.name.clone().unwrap_or(name);
    let (idle_tasks, labels) = (over.idle_tasks.clone(), over.labels.clone());
    let description = Description { name: Some(name.clone()), idle_tasks, labels, ..Description::default() };
    Ok(Plan {
        name: checked(name)?,
        description,
        base: base.to_path_buf(),
        inputs,
        outside: None,
        format: None,
    })
}

/// The cores whose exports are in a folder; none if there are no exports.
fn exports_of(folder: &Path) -> Result<Vec<CoreDescription>> {
    let listing = std::fs::read_dir(folder).map_err(|e| Error::io("list", folder, e))?;
    let mut files: Vec<PathBuf> = listing.filter_map(|e| e.ok()).map(|e| e.file_name().into()).collect();
    files.retain(|f| part(FORMATS, f).is_some());
    files.sort();
    cores_of(&files)
}

/// The meaning of a file name in one of the formats.
fn part(formats: &[&'static dyn TraceFormat], file: &Path) -> Option<Part> {
    let name = file.file_name()?.to_str()?;
    formats.iter().find_map(|format| format.part(name))
}

fn cores_of(files: &[PathBuf]) -> Result<Vec<CoreDescription>> {
    let mut cores: BTreeMap<String, CoreDescription> = BTreeMap::new();
    for file in files {
        let Some(Part { core, role }) = part(FORMATS, file) else {
            return Err(Error::input(format!(
                "'{}' says neither its core nor what it holds",
                file.display()
            ))
            .hint("name exports CORE_data.csv and CORE_func.csv, or use --core name=…,data=…,functions=…"));
        };
        let entry = cores.entry(core.clone()).or_default();
        entry.name = core.clone();
        let taken = entry
            .input_mut(role)
            .is_some_and(|slot| slot.replace(file.to_string_lossy().into_owned()).is_some());
        if taken {
            return Err(Error::input(format!("core '{core}' is named twice")).at(file));
        }
    }
    Ok(cores.into_values().collect())
}

fn named(mut description: Description, base: &Path, over: &Description) -> Result<Plan> {
    let d = &mut description;
    let lay = |slot: &mut Option<String>, value: &Option<String>| {
        if value.is_some() {
            slot.clone_from(value);
        }
    };
    lay(&mut d.name, &over.name);
    lay(&mut d.os, &over.os);
    if over.oil != FileList::default() {
        d.oil.clone_from(&over.oil);
    }
    for (list, more) in [
        (&mut d.runnables, &over.runnables),
        (&mut d.signals, &over.signals),
        (&mut d.category1_isrs, &over.category1_isrs),
    ] {
        if *more != NameList::default() {
            list.clone_from(more);
        }
    }
    if over.idle_tasks != NameList::default() {
        // The last pattern that matches decides: those of the command line come last.
        let all = [d.idle_tasks.read(base, None)?, over.idle_tasks.read(base, None)?].concat();
        d.idle_tasks = NameList::Names(all);
    }
    d.labels.extend(over.labels.clone());
    for core in &over.core {
        match d.core.iter_mut().find(|c| c.name == core.name) {
            Some(known) => {
                lay(&mut known.ecu, &core.ecu);
                known.id = core.id.or(known.id);
                lay(&mut known.data, &core.data);
                lay(&mut known.functions, &core.functions);
                lay(&mut known.orti, &core.orti);
                lay(&mut known.os_header, &core.os_header);
                lay(&mut known.symbols, &core.symbols);
                if core.oil != FileList::default() {
                    known.oil.clone_from(&core.oil);
                }
                lay(&mut known.time_offset, &core.time_offset);
            }
            None => d.core.push(core.clone()),
        }
    }
    d.check(base)?;
    let inputs = inputs_of(d, base);
    if inputs.is_empty() {
        return Err(Error::input("the recording names no data and no function export").at(base));
    }
    let name = d.name.clone().or_else(|| folder_name(base)).unwrap_or_else(|| "recording".into());
    let reads = |format: &&&'static dyn TraceFormat| {
        inputs.iter().filter_map(|i| i.part.as_ref()).any(|part| format.info().roles.contains(&part.role))
    };
    let format = FORMATS.iter().find(reads).copied();
    Ok(Plan { name: checked(name)?, description, base: base.to_path_buf(), inputs, outside: None, format })
}

fn folder_name(folder: &Path) -> Option<String> {
    let folder = std::fs::canonicalize(folder).ok()?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

impl PlannedInput {
    /// A file of a trace.
    fn of_trace(name: String, path: PathBuf) -> Self {
        Self { name, path, part: None, time_offset: None, shown: None }
    }
}

fn inputs_of(description: &Description, base: &Path) -> Vec<PlannedInput> {
    let mut inputs = Vec::new();
    for core in &description.core {
        for (role, name) in core.inputs() {
            let part = Some(Part { core: core.name.clone(), role });
            let path = if name == "-" { PathBuf::from(name) } else { base.join(name) };
            let time_offset = core.time_offset.clone();
            inputs.push(PlannedInput { name: name.to_owned(), path, part, time_offset, shown: None });
        }
    }
    inputs
}

fn checked(name: String) -> Result<String> {
    if name.is_empty() || name.starts_with('.') {
        return Err(Error::usage(format!("'{name}' cannot be the name of a recording")).hint("use --name"));
    }
    Ok(name)
}

/// `traces/idle.btf.gz` → `idle`.
fn trace_name(file: &Path) -> String {
    if file.as_os_str() == "-" {
        return "stdin".into();
    }
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let bare = [".gz", ".zst"].iter().find_map(|e| name.strip_suffix(e)).unwrap_or(&name);
    bare.rsplit_once('.').map_or(bare, |(stem, _)| stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_files_pair_up_by_core() {
        let cores = cores_of(&["b_func.csv.gz".into(), "a_data.csv".into(), "b_data.csv".into()]).unwrap();
        let names: Vec<_> =
            cores.iter().map(|c| (c.name.as_str(), c.data.is_some(), c.functions.is_some())).collect();
        assert_eq!(names, [("a", true, false), ("b", true, true)]);
    }

    #[test]
    fn one_core_given_twice_is_refused() {
        let e = cores_of(&["x/a_data.csv".into(), "y/a_data.csv".into()]).unwrap_err();
        assert!(e.to_string().contains("core 'a' is named twice"), "{e}");
    }
}
