//! Compares the simulated kernel with the real one: the models of `models/erika` do what the applications
//! of recordings do, and have to access the variables of the kernel in the same order, on each core, from
//! the start of the OS to the end. Not when, and not the values.

use super::{Recording, corpus, none};
use crate::support::{Bench, root};
use std::fs;
use std::path::Path;

/// What the applications do and a model does not say: GetEvent, from behind its entry up to the entry of
/// the next service, and TerminateTask after a ChainTask that was refused.
const ONLY_REAL: [&[&str]; 2] = [
    &["r EE_th_status", "r EE_th_event_active", "w EE_ORTI_servicetrace", "w EE_ORTI_servicetrace"],
    &[
        "w EE_ORTI_servicetrace",
        "r EE_stkfirst",
        "r EE_IRQ_nesting_level",
        "r EE_th_resource_last",
        "r EE_as_spinlocks_last",
        "w EE_th_terminate_nextask",
        "w EE_ORTI_servicetrace",
    ],
];

/// The accesses of an export to variables of the kernel, without indices. A loop that waits is one access.
fn accesses(export: &Path) -> Vec<String> {
    let text = fs::read_to_string(export).unwrap();
    let mut accesses: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut parts = line.split('"').skip(1).step_by(2);
        let (Some(variable), Some(kind)) = (parts.next(), parts.next()) else { continue };
        let base = variable.split(['[', '.']).next().unwrap();
        let of_kernel = base.starts_with("EE_") || ["at0", "al0"].contains(&base);
        if !of_kernel || !["rd-data", "wr-data"].contains(&kind) {
            continue;
        }
        // Members of one element: the last one tells them apart; a union of parameters has many spellings.
        let member = variable.split('.').nth(1).map(|member| format!(".{member}")).unwrap_or_default();
        let access = format!("{} {base}{member}", &kind[..1]);
        let waits = member == ".serving_core" || base == "EE_hal_spinlock_status";
        if !(waits && accesses.last() == Some(&access)) {
            accesses.push(access);
        }
    }
    accesses
}

/// The first difference, and how many accesses agree.
fn compare(real: &[String], simulated: &[String]) -> (usize, Option<String>) {
    let (mut at, mut other, mut same) = (0, 0, 0);
    loop {
        match (real.get(at), simulated.get(other)) {
            (None, None) => return (same, None),
            (Some(one), Some(two)) if one == two => (at, other, same) = (at + 1, other + 1, same + 1),
            (one, two) => {
                let extra = |only: &&&[&str]| {
                    real.get(at..at + only.len()).is_some_and(|here| here.iter().eq(only.iter()))
                };
                match ONLY_REAL.iter().find(extra) {
                    Some(only) => at += only.len(),
                    None => {
                        return (same, Some(format!("access {at}: {one:?} is {two:?} in the simulation")));
                    }
                }
            }
        }
    }
}

fn of_model(recording: &Recording) -> Option<String> {
    let model = root().join(format!("models/erika/{}.toml", recording.name));
    model.exists().then(|| model.to_str().unwrap().to_owned())
}

#[test]
fn the_simulated_kernel_accesses_its_variables_as_the_real_one_does() {
    let Some(recordings) = corpus() else { return };
    let mut compared = 0;
    let mut problems = Vec::new();
    for recording in recordings {
        let Some(model) = of_model(recording) else { continue };
        let bench = Bench::new();
        bench.ok(&["simulate", &model, "-o", "sim"]);
        for core in 0..2 {
            let name = format!("core{core}_data.csv");
            let real = accesses(&recording.folder.join(&name));
            let simulated = accesses(&bench.path().join("sim/recording").join(&name));
            let (same, difference) = compare(&real, &simulated);
            compared += same;
            problems.extend(difference.map(|text| format!("{} core {core}: {text}", recording.name)));
        }
    }
    none("the simulated kernel", &problems);
    assert!(compared > 40_000, "{compared}");
}
