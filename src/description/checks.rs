//! Checks that the description files of a core belong together. A swapped ORTI file maps without complaint
//! and is wrong from the first event, so contradictions are errors, not findings.

use super::application::{ApplicationCore, CoreFiles};
use crate::description::orti::{Orti, OsHeader};
use crate::error::{Error, Result};
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

/// Two cores cannot have the ORTI file of one CPU.
pub(super) fn differ(files: &[CoreFiles], cores: &[ApplicationCore]) -> Result<()> {
    let mut by_cpu: BTreeMap<i64, &CoreFiles> = BTreeMap::new();
    for (core, file) in cores.iter().zip(files) {
        let Some(cpu) = core.orti.as_ref().and_then(cpu) else { continue };
        if let Some(other) = by_cpu.insert(cpu, file) {
            let message =
                format!("cores '{}' and '{}' both have the ORTI file of CPU {cpu}", other.name, file.name);
            let path = file.orti.as_ref().map_or("", |f| f.path.as_str());
            return Err(Error::input(message).at(path).hint("each core has its own ORTI file"));
        }
    }
    Ok(())
}

/// The number in `IMPLEMENTATION EE_cpu_1`; other generators do not number their files.
fn cpu(orti: &Orti) -> Option<i64> {
    orti.implementation.as_deref()?.rsplit_once("cpu_")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::application::SetupFile;

    fn core(name: &str) -> CoreFiles {
        let file = || Some(SetupFile { path: format!("{name}.x"), text: String::new() });
        CoreFiles { name: name.into(), orti: file(), os_header: file(), oil: Vec::new(), symbols: None }
    }

    #[test]
    fn an_orti_file_of_another_core_is_refused() {
        let orti = Orti::parse(b"IMPLEMENTATION EE_cpu_1 { };");
        let header = OsHeader { current_cpu: Some(0), ..OsHeader::default() };
        let e = belong_together(&core("Core_0"), Some(&orti), Some(&header)).unwrap_err();
        assert!(e.to_string().contains("CPU 1, the header CPU 0"), "{e}");
    }
}
