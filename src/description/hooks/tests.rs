//! Hook variables as they are described, and what their words say.

use super::*;
use crate::description::Description;
use crate::description::application::{CoreFiles, SetupFile};
use std::path::Path;

fn setup(variable: HookVariable, ids: &str) -> Result<HookSetup> {
    let core = |name: &str| CoreFiles { name: name.into(), ..CoreFiles::default() };
    let variable = HookVariable { ids: variable.ids.clone().or(Some("ids.csv".into())), ..variable };
    let file = SetupFile { path: "ids.csv".into(), text: ids.into() };
    HookSetup::new(&[variable], &[file], None, &[core("A"), core("B")])
}

fn named(name: &str) -> HookVariable {
    HookVariable { name: name.into(), ..HookVariable::default() }
}

#[test]
fn a_published_variable_needs_its_ids_only() {
    let hooks = setup(named("arti_os_trace"), "kind,id,name,core\ntask,0,T,A\nisr,0x1,I,\n").unwrap();
    let encoding = &hooks.variables[0];
    let word = 0x0001_9002;
    assert_eq!((encoding.id.of(word), encoding.state_of(word)), (1, Some(16)));
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
    let hooks = HookSetup::new(&[none], &[], None, &[core]).unwrap();
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
    let hooks = HookSetup::new(&[variable], &[], None, &[core]).unwrap();
    let names: Vec<_> = hooks.objects.iter().map(|o| (o.kind, o.name.as_str())).collect();
    assert_eq!(names, [(HookKind::Task, "Idle"), (HookKind::Task, "T"), (HookKind::Isr, "I")]);
}

#[test]
fn words_may_be_runnables_alone_and_ids_the_values_of_an_attribute() {
    let orti = "VERSION { KOIL = \"2.2\"; OSSEMANTICS = \"ORTI\", \"2.2\"; };\nIMPLEMENTATION x { OS { TOTRACE ENUM \
        \"unsigned char\" [ \"NO_TASK\" = 255, \"T\" = 7 ] vs_SIGNAL_RUNNINGTASK, \"r\"; TOTRACE ENUM \
        \"unsigned char\" [ \"I\" = 7, \"NO_ISR\" = 255 ] vs_SIGNAL_RUNNINGISR2, \"r\"; }, \"OS\"; };\nOS o { };\n";
    let core = CoreFiles {
        name: "A".into(),
        orti: Some(SetupFile { path: "a.ort".into(), text: orti.into() }),
        ..CoreFiles::default()
    };
    let runnables = HookVariable { ids: Some("r.csv".into()), ..named("winidea_trace_runnable") };
    let file = SetupFile { path: "r.csv".into(), text: "kind,id,name\nrunnable,1,R\n".into() };
    let variables = [runnables, named("winidea_os_task"), named("winidea_os_isr")];
    let hooks = HookSetup::new(&variables, &[file], None, &[core]).unwrap();
    let step = |n: usize, word: u64| hooks.variables[n].step(word).unwrap();
    assert_eq!(step(0, 0x101), (HookStep::Process(ProcessStep::Start), Space::Runnables, 1));
    assert_eq!(step(0, 0x001), (HookStep::Other(OtherStep::Return), Space::Runnables, 0));
    assert_eq!(step(1, 0x307), (HookStep::Process(ProcessStep::Queue), Space::Processes, 7));
    let object =
        |n: usize, id: u64| hooks.variables[n].ids[&(Space::Processes, id)].map(|at| &hooks.objects[at]);
    let kinds = [(1, 7), (2, 7)].map(|(n, id)| object(n, id).map(|o| (o.kind, o.name.as_str())).unwrap());
    assert_eq!(kinds, [(HookKind::Task, "T"), (HookKind::Isr, "I")]);
    assert_eq!((object(1, 255), object(2, 255)), (None, None));
}

/// A Profiler XML with an object of each kind.
const XML: &str = include_str!("../../../tests/data/hooks/profiler/profiler.xml");

fn of_xml(text: &str, orti: Option<&str>) -> Result<HookSetup> {
    let orti = orti.map(|text| SetupFile { path: "a.ort".into(), text: text.into() });
    let core = CoreFiles { name: "A".into(), orti, ..CoreFiles::default() };
    HookSetup::new(&[], &[], Some(&SetupFile { path: "p.xml".into(), text: text.into() }), &[core])
}

const ISRS: &str = "VERSION { KOIL = \"2.2\"; OSSEMANTICS = \"ORTI\", \"2.2\"; };\nIMPLEMENTATION x { OS { TOTRACE ENUM \
    \"unsigned char\" [ \"Tick_ISR\" = 0, \"NO_ISR\" = 1 ] RUNNINGISR2, \"r\"; }, \"OS\"; };\nOS o { };\n";

#[test]
fn a_profiler_xml_describes_variables() {
    let hooks = of_xml(XML, Some(ISRS)).unwrap();
    let names: Vec<&str> = hooks.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["os_trace", "rte_trace", "lock_trace"]);
    assert_eq!(hooks.unused, ["STM"]);
    let objects: Vec<_> = hooks.objects.iter().map(|o| (o.kind, o.name.as_str())).collect();
    use HookKind::{Isr, Runnable, Spinlock, Task};
    let expected = [
        (Task, "Fast"),
        (Task, "Slow"),
        (Isr, "Tick_ISR"),
        (Runnable, "Control"),
        (Runnable, "Log"),
        (Spinlock, "Bus"),
    ];
    assert_eq!(objects, expected);
    let step = |n: usize, word: u64| hooks.variables[n].step(word).map(|(step, _, id)| (step, id));
    let process = |step| Some((HookStep::Process(step), 1));
    // Ready is an activation behind the end, as the type says; 31 is one more value of a state.
    assert_eq!(step(0, 0x010B_0001), process(ProcessStep::Activate));
    assert_eq!(step(0, 0x0110_0001), process(ProcessStep::Queue));
    assert_eq!(step(0, 0x011F_0001), process(ProcessStep::Run));
    assert_eq!(hooks.variables[0].ids[&(Space::Processes, 9)], None);
    assert_eq!(step(1, 0x0000_0200), Some((HookStep::Process(ProcessStep::Start), 2)));
    assert_eq!(step(1, 0), Some((HookStep::Other(OtherStep::Return), 0)));
    assert_eq!(step(2, 0x0001_0004), Some((HookStep::Other(OtherStep::Lock), 4)));
}

#[test]
fn a_profiler_xml_that_does_not_say_enough_is_refused_with_its_place() {
    let said = |from: &str, to: &str| {
        assert!(XML.contains(from), "{from}");
        of_xml(&XML.replacen(from, to, 1), Some(ISRS)).unwrap_err().to_string()
    };
    assert_eq!(of_xml("<a>", None).unwrap_err().to_string(), "p.xml:1: this is no XML");
    assert!(of_xml("<a/>", None).unwrap_err().to_string().contains("no Profiler XML of winIDEA"));
    let isrs = of_xml(XML, None).unwrap_err().to_string();
    assert!(isrs.starts_with("p.xml:") && isrs.contains("are ISRs, only an ORTI file says"), "{isrs}");
    let object = XML.lines().position(|line| line.contains("<Object>")).unwrap() + 1;
    let expected = format!("p.xml:{object}: there is no <TypeEnum> 'Thread'");
    assert_eq!(said("<Type>Threads</Type>", "<Type>Thread</Type>"), expected);
    assert!(said("<MaskID>0x0000FFFF", "<MaskID>0x0000F0FF").contains("not one run of bits"));
    assert!(
        said("<Value>Running</Value>", "<Value>Going</Value>").contains("'going', which is no state of BTF")
    );
    assert!(said("<ExitValue>0</ExitValue>", "").contains("no <ExitValue>"));
    assert!(said("lock_trace", "os_trace").contains("described twice"));
}

#[test]
fn every_error_of_a_profiler_xml_names_a_next_step() {
    let step = |text: &str, orti: Option<&str>| {
        let error = of_xml(text, orti).unwrap_err();
        assert_eq!(error.hints().len(), 1, "{error}");
        error.hints()[0].clone()
    };
    for text in ["<a>", "<a/>"] {
        assert!(step(text, None).starts_with("hook_profile of recording.toml names"));
    }
    step(XML, None);
    let with = |from: &str, to: &str| {
        assert!(XML.contains(from), "{from}");
        step(&XML.replacen(from, to, 1), Some(ISRS))
    };
    assert_eq!(with("<Type>Threads</Type>", "<Type>Thread</Type>"), "did you mean 'Threads'?");
    for (from, to) in [
        ("<Type>Threads</Type>", ""),
        ("<Type>Threads</Type>", "<Type>Elsewhere_or_not</Type>"),
        ("<Type>Threads</Type>", "<Type>OS:NOWHERE</Type>"),
        ("<MaskID>0x0000FFFF", "<MaskID>0x0000F0FF"),
        ("<MaskID>0x0000FFFF", "<MaskID>some"),
        ("<Value>Running</Value>", "<Value>Going</Value>"),
        ("<ExitValue>0</ExitValue>", ""),
        ("<SpinlockState>Locked</SpinlockState>", ""),
        ("<Name>Fast</Name>", "<Name></Name>"),
        ("<Name>Fast</Name><Value>0<", "<Name>Fast</Name><Value>x<"),
        ("<Name>Fast</Name><Value>0<", "<Name>Fast</Name><Value>99999999<"),
        ("<Name>Control</Name><Value>1<", "<Name>Control</Name><Value>0<"),
        ("<Value>29</Value>", "<Value>16</Value>"),
        ("<Value>29</Value>", "<Value>many</Value>"),
        ("lock_trace", "os_trace"),
    ] {
        with(from, to);
    }
}

#[test]
fn a_kind_of_ids_that_say_their_own_is_refused() {
    let with = |ids: &str| {
        let text = format!(
            "os = \"hooks\"\n[[hook_variables]]\nname = \"winidea_os_task\"\nkind = \"isr\"\n{ids}\n"
        );
        Description::parse(&text, Path::new("r/recording.toml"))
    };
    for ids in ["ids = \"ids.csv\"", "ids = \"orti\""] {
        let error = with(ids).unwrap_err();
        assert!(
            error.to_string().starts_with("r/recording.toml: hook variable 'winidea_os_task'"),
            "{error}"
        );
        assert!(error.hints()[0].contains("leave `kind` out"), "{:?}", error.hints());
    }
    // The values of an attribute are of any kind, also where the attribute is that of the published encoding.
    assert!(with("").is_ok() && with("ids = \"orti:RUNNINGISR2\"").is_ok());
}
