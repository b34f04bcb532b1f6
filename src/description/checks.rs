//! Checks that the description files of a core belong together. A swapped ORTI file maps without complaint
//! and is wrong from the first event, so contradictions are errors, not findings.

use super::application::{ApplicationCore, CoreFiles};
use crate::description::orti::{OilObject, Orti, OsHeader};
use crate::diagnostics::{Diagnostic, Log, Severity, UNKNOWN_NAME};
use crate::error::{Error, MOST_SUGGESTIONS, Result, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};

/// The ORTI file and the OS header of one core must name the same CPU and the same tasks.
pub(super) fn belong_together(
    core: &CoreFiles,
    orti: Option<&Orti>,
    header: Option<&OsHeader>,
) -> Result<()> {
    let (Some(orti), Some(header), Some(file)) = (orti, header, &core.orti) else { return Ok(()) };
    let wrong = |why: String| {
        let header = core.os_header.as_ref().map_or("", |f| f.path.as_str());
        Error::input(format!("the ORTI file of core '{}' does not belong to '{header}': {why}", core.name))
            .at(&file.path)
            .hint("each core has its own ORTI file and OS header; were two of them exchanged?")
    };
    if let (Some(of_orti), Some(of_header)) = (cpu(orti), header.current_cpu)
        && of_orti != of_header
    {
        return Err(wrong(format!("it describes CPU {of_orti}, the header CPU {of_header}")));
    }
    let defined: BTreeSet<&str> = header.tasks.iter().map(|(n, _)| n.as_str()).collect();
    let listed: BTreeSet<&str> = orti.objects("TASK").map(|o| o.name.as_str()).collect();
    if !defined.is_empty() && !listed.is_empty() && defined.is_disjoint(&listed) {
        let first = listed.iter().next().copied().unwrap_or_default();
        return Err(wrong(format!("its tasks ('{first}' …) are not defined there")));
    }
    Ok(())
}

/// Tasks of OIL whose name no core has, although one has a similar name that OIL does not declare. A task
/// that is like none may be one that ORTI leaves out. Of a hostile number of such tasks, the first are
/// compared.
pub(super) fn declared_tasks(cores: &[ApplicationCore], log: &mut Log) {
    let declared: BTreeSet<&str> =
        cores.iter().flat_map(|core| core.oil.objects("TASK")).map(|task| task.name.as_str()).collect();
    let listed: BTreeSet<&str> = cores
        .iter()
        .flat_map(|core| {
            let orti = core.orti.iter().flat_map(|orti| orti.objects("TASK")).map(|task| task.name.as_str());
            orti.chain(core.header.iter().flat_map(|header| &header.tasks).map(|(name, _)| name.as_str()))
        })
        .collect();
    let undeclared: Vec<&str> = listed.difference(&declared).copied().collect();
    if undeclared.is_empty() {
        return;
    }
    let mut seen = BTreeSet::new();
    let mut unlisted = cores
        .iter()
        .flat_map(|core| core.oil.objects("TASK"))
        .filter(|task| !listed.contains(task.name.as_str()) && seen.insert(task.name.as_str()));
    let mut warn = |task: &OilObject, message: String| {
        log.push(Diagnostic {
            source: task.file.clone(),
            line: Some(u64::from(task.line)),
            severity: Severity::Warning,
            code: UNKNOWN_NAME,
            message,
            text: String::new(),
        });
    };
    for task in unlisted.by_ref().take(MOST_SUGGESTIONS) {
        let name = &task.name;
        if let Some(near) = did_you_mean(name, undeclared.iter().copied()) {
            warn(task, format!("no ORTI file and no OS header has a task '{name}'; did you mean '{near}'?"));
        }
    }
    if let Some(next) = unlisted.next() {
        let behind = unlisted.count();
        warn(
            next,
            format!(
                "no ORTI file and no OS header has this task; nor {MOST_SUGGESTIONS} before it and {behind} behind \
                 it, which are too many to look for similar names"
            ),
        );
    }
}

/// For every core, the first core of its control unit. Within one, two cores cannot have the ORTI file of one
/// CPU. Where no core says to which unit it belongs, and all have ORTI files of their own for the same CPU,
/// each is one of its own: the description says which file belongs to which core.
pub(super) fn control_units(
    files: &[CoreFiles],
    cores: &[ApplicationCore],
    log: &mut Log,
) -> Result<Vec<usize>> {
    let cpus: Vec<Option<i64>> = cores.iter().map(|core| core.orti.as_ref().and_then(cpu)).collect();
    let alone = files.iter().all(|f| f.ecu.is_none()) && all_of_one_cpu(files, &cpus);
    let first = |ix: usize| files.iter().position(|f| f.ecu == files[ix].ecu).unwrap_or(ix);
    let units: Vec<usize> = (0..files.len()).map(|ix| if alone { ix } else { first(ix) }).collect();
    if let (true, Some(file), Some(cpu)) = (alone, files.first(), cpus.first().copied().flatten()) {
        let names = files.iter().map(|f| format!("'{}'", f.name)).collect::<Vec<_>>().join(", ");
        let agree = cores.iter().all(|core| core.header.as_ref().is_some_and(|h| h.current_cpu == Some(cpu)));
        log.push(Diagnostic {
            source: file.orti.as_ref().map_or(String::new(), |orti| orti.path.clone()),
            line: None,
            severity: if agree { Severity::Info } else { Severity::Warning },
            code: "control-units",
            message: format!(
                "the ORTI files of {names} are all of CPU {cpu}: each core is taken for a control unit of its \
                 own; ecu = \"NAME\" in each [[core]] says so, or that it is not so"
            ),
            text: String::new(),
        });
    }
    let mut by_cpu: BTreeMap<(usize, i64), &CoreFiles> = BTreeMap::new();
    for ((file, cpu), unit) in files.iter().zip(&cpus).zip(&units) {
        let Some(cpu) = *cpu else { continue };
        if let Some(other) = by_cpu.insert((*unit, cpu), file) {
            let message =
                format!("cores '{}' and '{}' both have the ORTI file of CPU {cpu}", other.name, file.name);
            let path = file.orti.as_ref().map_or("", |f| f.path.as_str());
            return Err(Error::input(message).at(path).hint(
                "each core has its own ORTI file; where they are of several control units, say of which: \
                 ecu = \"ECU1\" in each [[core]]",
            ));
        }
    }
    Ok(units)
}

/// All cores have ORTI files of the same CPU, and no file is that of two cores.
fn all_of_one_cpu(files: &[CoreFiles], cpus: &[Option<i64>]) -> bool {
    let paths: BTreeSet<_> = files.iter().filter_map(|f| Some(&f.orti.as_ref()?.path)).collect();
    let of_one = matches!(cpus, [Some(first), rest @ ..] if rest.iter().all(|cpu| *cpu == Some(*first)));
    files.len() > 1 && paths.len() == files.len() && of_one
}

/// The number in `IMPLEMENTATION EE_cpu_1`; other generators do not number their files.
fn cpu(orti: &Orti) -> Option<i64> {
    orti.implementation.as_deref()?.rsplit_once("cpu_")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::application::SetupFile;
    use crate::description::orti::{Oil, Symbols};

    fn core(name: &str) -> CoreFiles {
        let file = || Some(SetupFile { path: format!("{name}.x"), text: String::new() });
        CoreFiles {
            id: None,
            name: name.into(),
            ecu: None,
            orti: file(),
            os_header: file(),
            oil: Vec::new(),
            symbols: None,
        }
    }

    /// The control units of cores with ORTI files of these CPUs.
    fn units(cores: &[(&str, Option<&str>, u32)]) -> Result<(Vec<usize>, Log)> {
        let files: Vec<_> = cores
            .iter()
            .map(|(name, ecu, _)| CoreFiles { ecu: ecu.map(str::to_owned), ..core(name) })
            .collect();
        let of = |(name, _, cpu): &(&str, Option<&str>, u32)| ApplicationCore {
            name: (*name).into(),
            ecu: 0,
            orti: Some(Orti::parse(format!("IMPLEMENTATION EE_cpu_{cpu} {{ }};").as_bytes())),
            orti_file: None,
            header: None,
            header_file: None,
            oil: Oil::default(),
            symbols: Symbols::default(),
        };
        let (mut log, cores) = (Log::default(), cores.iter().map(of).collect::<Vec<_>>());
        Ok((control_units(&files, &cores, &mut log)?, log))
    }

    #[test]
    fn a_task_of_oil_that_is_like_one_of_orti_is_named() {
        let messages = |text: &str| {
            let mut oil = Oil::default();
            assert!(oil.add(text.as_bytes(), "x.oil").is_empty());
            let orti =
                "IMPLEMENTATION x { }; TASK T_5 { PRIORITY = \"1\"; }; TASK T_6 { PRIORITY = \"2\"; };";
            let core = ApplicationCore {
                name: "Core_0".into(),
                ecu: 0,
                orti: Some(Orti::parse(orti.as_bytes())),
                orti_file: None,
                header: None,
                header_file: None,
                oil,
                symbols: Symbols::default(),
            };
            let mut log = Log::default();
            declared_tasks(&[core], &mut log);
            log.entries().iter().map(|d| d.message.clone()).collect::<Vec<_>>()
        };
        let message = "no ORTI file and no OS header has a task 'T_X5'; did you mean 'T_5'?";
        assert_eq!(messages("TASK T_X5; TASK T_6;"), [message]);
        // It has both, and another one that is not near to a third.
        assert!(messages("TASK T_5; TASK T_6; TASK T_X5; TASK Background;").is_empty());
        let many: String = (0..102).map(|n| format!("TASK Other{n}; ")).collect();
        assert_eq!(
            messages(&many),
            [
                "no ORTI file and no OS header has this task; nor 100 before it and 1 behind it, which are too many \
              to look for similar names"
            ]
        );
    }

    #[test]
    fn cpus_are_numbered_within_a_control_unit() {
        assert_eq!(units(&[("A", None, 0), ("B", None, 1)]).unwrap().0, [0, 0]);
        let (alone, log) = units(&[("A", None, 0), ("B", None, 0)]).unwrap();
        assert_eq!((alone, log.count_of("control-units")), (vec![0, 1], 1));
        let of_two = [("A0", Some("A"), 0), ("A1", Some("A"), 1), ("B0", Some("B"), 0), ("B1", Some("B"), 1)];
        let (of_two, log) = units(&of_two).unwrap();
        assert_eq!((of_two, log.is_empty()), (vec![0, 0, 2, 2], true));
    }

    #[test]
    fn one_cpu_twice_in_a_control_unit_is_refused() {
        for cores in [
            [("A", None, 0), ("B", None, 1), ("C", None, 0)],
            [("A", Some("A"), 0), ("B", Some("A"), 0), ("C", Some("B"), 0)],
        ] {
            let e = units(&cores).unwrap_err();
            assert!(e.to_string().contains("both have the ORTI file of CPU 0"), "{e}");
            assert!(e.hints()[0].contains("ecu ="), "{e}");
        }
        // The same file for two cores is a mistake, not two control units.
        let mut same = core("A");
        same.name = "B".into();
        assert!(!all_of_one_cpu(&[core("A"), same], &[Some(0), Some(0)]));
    }

    #[test]
    fn an_orti_file_of_another_core_is_refused() {
        let orti = Orti::parse(b"IMPLEMENTATION EE_cpu_1 { };");
        let header = OsHeader { current_cpu: Some(0), ..OsHeader::default() };
        let e = belong_together(&core("Core_0"), Some(&orti), Some(&header)).unwrap_err();
        assert!(e.to_string().contains("CPU 1, the header CPU 0"), "{e}");
    }
}
