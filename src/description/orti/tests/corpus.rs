//! Real files: their oddities, and what is read from them. Not for made-up files (`tests`).

use super::super::model::{AttributeKind, Object};
use super::super::*;
use super::label;
use crate::diagnostics::Severity;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of real files, which are not part of the project.
fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("BTFDB_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: BTFDB_CORPUS is not set");
    }
    folder
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap()
}

fn orti(folder: &Path, name: &str) -> Orti {
    Orti::parse(&read(folder, name))
}

fn counts(findings: &[Finding]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    findings.iter().for_each(|f| *counts.entry(f.code).or_default() += 1);
    counts
}

/// The oddities of each file, each seen in the file itself.
const ODDITIES: [(&str, &[(&str, usize)]); 14] = [
    ("ecubus_sample.orti", &[("duplicate-label", 1)]),
    (
        "ee_old_arm_evaluator7t_oil_event_conf.orti",
        &[("bare-identifier-value", 2), ("missing-comma", 2), ("trailing-comma", 2)],
    ),
    (
        "ee_old_osek_ostest1_ostest1.orti",
        &[
            ("bare-identifier-value", 3),
            ("comment-in-comment", 1),
            ("missing-comma", 8),
            ("trailing-comma", 2),
        ],
    ),
    ("ee_old_osek_ostest3_ostest3.orti", &[]),
    ("ee_old_osek_ostest5_ostest5.orti", &[]),
    ("ee_ppc_demos_orti_isr2_orti_timing_system.orti", &[("trailing-comma", 1), ("unquoted-value", 3)]),
    ("ee_ppc_dual_examples_mono_activate01_master_system.orti", &[("empty-enum", 1)]),
    ("ee_ppc_dual_examples_mono_activate01_slave_system.orti", &[]),
    ("ee_ppc_dual_examples_multi_event01_master_system.orti", &[("empty-enum", 1), ("trailing-comma", 1)]),
    ("ee_ppc_dual_examples_multi_event01_slave_system.orti", &[("trailing-comma", 1)]),
    ("ee_ppc_mem_prot_examples_test04_system.orti", &[("trailing-comma", 1)]),
    ("ee_ppc_mem_prot_examples_test05_system.orti", &[("trailing-comma", 1)]),
    ("trampoline_posix_app.orti", &[("duplicate-label", 2), ("missing-semicolon", 1), ("trailing-comma", 3)]),
    (
        "trampoline_ppc_mpc5643l_blink_1c.orti",
        &[("duplicate-label", 2), ("missing-semicolon", 3), ("trailing-comma", 3)],
    ),
];

#[test]
fn findings_are_the_oddities_of_each_file_and_nothing_else() {
    let Some(folder) = corpus() else { return };
    let folder = folder.join("orti");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ODDITIES.map(|(name, _)| name));
    for (name, expected) in ODDITIES {
        let orti = orti(&folder, name);
        assert_eq!(
            counts(&orti.findings),
            expected.iter().copied().collect(),
            "{name}: {:#?}",
            orti.findings
        );
        // All of them are harmless in these files.
        assert!(orti.findings.iter().all(|f| f.severity == Severity::Info), "{name}");
    }
}

#[test]
fn findings_stand_where_the_oddity_is() {
    let Some(folder) = corpus() else { return };
    let orti = orti(&folder.join("orti"), "trampoline_ppc_mpc5643l_blink_1c.orti");
    let places = orti.findings.iter().filter(|f| f.code == "missing-semicolon").map(|f| (f.line, f.column));
    assert_eq!(places.collect::<Vec<_>>(), [(407, 38), (653, 2), (661, 2)]);
}

#[test]
fn nothing_of_a_file_is_lost() {
    let Some(folder) = corpus() else { return };
    // Types, objects and attribute values, counted with a text search outside of comments.
    let expected = [
        ("ee_old_osek_ostest1_ostest1.orti", 3, 17, 75),
        ("ee_ppc_demos_orti_isr2_orti_timing_system.orti", 5, 5, 23),
        ("trampoline_posix_app.orti", 10, 10, 51),
        ("trampoline_ppc_mpc5643l_blink_1c.orti", 11, 17, 190),
    ];
    for (name, types, objects, values) in expected {
        let orti = orti(&folder.join("orti"), name);
        let count = orti.objects.iter().map(|o| o.attributes.len()).sum::<usize>();
        assert_eq!((orti.types.len(), orti.objects.len(), count), (types, objects, values), "{name}");
    }
    let orti = orti(&folder.join("orti"), "trampoline_posix_app.orti");
    let os = orti.objects("OS").next().unwrap();
    assert_eq!(os.attributes.len(), 7);
    assert_eq!(os.get("CURRENTAPPMODE").unwrap().text, "application_mode");
    let service = orti.attribute_type("OS", "SERVICETRACE").unwrap();
    assert!(service.array && service.to_trace);
    assert_eq!((label(service, 0), label(service, 54)), (Some("ResumeOSInterrupts"), Some("TerminateTask")));
    let modes = orti.attribute_type("OS", "CURRENTAPPMODE").unwrap();
    assert_eq!((label(modes, -1), label(modes, 0)), (Some("NOAPPMODE"), Some("OSDEFAULTAPPMODE")));
    let stack = &orti.attribute_type("TASK", "STACK").unwrap().elements()[0];
    assert_eq!(stack.value, EnumValue::Formula("&(T_E_stack_zone[0])".into()));
}

/// The recordings: ORTI and header come from one generator run, so they must agree.
#[test]
fn descriptions_of_the_recordings_agree() {
    let Some(folder) = corpus() else { return };
    let mut applications = 0;
    for entry in std::fs::read_dir(folder.join("ee")).unwrap() {
        let application = entry.unwrap().path();
        if !application.is_dir() {
            continue;
        }
        applications += 1;
        let headers = [0, 1].map(|cpu| OsHeader::parse(&read(&application, &format!("eecfg_cpu{cpu}.h"))));
        for (cpu, header) in headers.iter().enumerate() {
            let orti = orti(&application, &format!("system_cpu{cpu}.orti"));
            let place = format!("{} {cpu}", application.display());
            assert_eq!((&orti.findings, &header.findings), (&vec![], &vec![]), "{place}");
            assert_eq!(header.current_cpu, Some(cpu as i64));
            assert_eq!(orti.implementation, Some(format!("EE_cpu_{cpu}")));
            let running = orti.attribute_type("OS", "RUNNINGTASK").unwrap();
            assert_eq!(label(running, -1), Some("NO_TASK"));
            assert_eq!(running.elements().len(), header.tasks.len() + 1, "{place}");
            for (name, id) in &header.tasks {
                assert_eq!(label(running, *id), Some(name.as_str()), "{place}");
            }
            let named = |kind| orti.objects(kind).map(|o| o.name.clone()).collect::<Vec<_>>();
            let names = |list: &[(String, i64)]| list.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
            assert_eq!(named("TASK"), names(&header.tasks), "{place}");
            assert_eq!(named("ALARM"), names(&header.alarms), "{place}");
            assert_eq!(
                named("RESOURCE"),
                header.resources.iter().map(|r| r.name.clone()).collect::<Vec<_>>()
            );
            for (name, _) in &header.remote_tasks {
                assert!(names(&headers[1 - cpu].tasks).contains(name), "{place}: {name}");
            }
            for object in &orti.objects {
                evaluable(&orti, object, &place);
            }
        }
        let (symbols, findings) = Symbols::parse(&read(&application, "symbols.tsv"));
        assert_eq!(findings, []);
        assert!(symbols.iter().any(|(_, name)| name == "EE_tc_system_timer_handler"));
    }
    assert!(applications >= 9);
}

/// Every formula of the recordings is evaluable and reads at least one variable.
fn evaluable(orti: &Orti, object: &Object, place: &str) {
    for attribute in &object.attributes {
        if orti.attribute_type(&object.kind, &attribute.name).unwrap().kind != AttributeKind::String {
            let formula = Formula::parse(&attribute.text).unwrap();
            assert!(formula.is_evaluable() && !formula.variables().is_empty(), "{place} {}", attribute.text);
        }
    }
}

#[test]
fn one_recording_in_detail() {
    let Some(folder) = corpus() else { return };
    let header = OsHeader::parse(&read(&folder, "ee/app1/eecfg_cpu0.h"));
    let pairs = |list: &[(&str, i64)]| list.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect::<Vec<_>>();
    assert_eq!(header.tasks, pairs(&[("T_1", 0), ("T_4", 1), ("T_5", 2)]));
    assert_eq!(header.events, [("EVENT_1".to_owned(), 1), ("EVENT_2".to_owned(), 2)]);
    assert_eq!(header.counters, pairs(&[("SystemTimer", 0)]));
    assert_eq!(header.spinlocks, pairs(&[("SPIN_1", 1)]));
    assert_eq!(header.core_spinlocks, pairs(&[("EE_SPINLOCK_CORE0", 3), ("EE_SPINLOCK_CORE1", 2)]));
    assert_eq!(header.remote_tasks, pairs(&[("T_2", 1), ("T_3", 2)]));
    let globals: Vec<_> = header.resources.iter().map(|r| (r.name.as_str(), r.id, r.global)).collect();
    assert_eq!(globals, [("SEM_1", 0, true), ("RES_L", 1, false)]);
    let orti = orti(&folder, "ee/app1/system_cpu0.orti");
    let isr = orti.attribute_type("OS", "RUNNINGISR2").unwrap();
    assert_eq!((isr.c_type(), label(isr, 0)), (Some("void *"), Some("NO_ISR2")));
    assert_eq!(isr.elements()[1].value, EnumValue::Formula("EE_tc_system_timer_handler".into()));
    let (symbols, _) = Symbols::parse(&read(&folder, "ee/app1/symbols.tsv"));
    assert!(symbols.iter().any(|symbol| symbol == (0x40_6CA7, "EE_tc_system_timer_handler")));
}
