//! Promises of the files that people write: `recording.toml`, mapping profiles, Profiler XML.

use std::collections::BTreeSet;
use std::path::Path;

use btfdb::internals::Profile;
use btfdb::internals::hooks::{CoreFiles, HookSetup, SetupFile};
use btfdb::{Description, TimeScale};

/// A description is refused with a place, or has every core once and every file once.
pub fn recording_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let description = match Description::parse(&text, Path::new("r/recording.toml")) {
        Ok(description) => description,
        Err(error) => {
            return assert!(error.to_string().starts_with("r/recording.toml:"), "no place: {error}");
        }
    };
    let mut seen = BTreeSet::new();
    for core in &description.core {
        assert!(!core.name.is_empty() && seen.insert(("core", &core.name)), "core '{}'", core.name);
        for file in [&core.data, &core.functions].into_iter().flatten() {
            assert!(seen.insert(("file", file)), "file '{file}'");
        }
    }
}

/// A profile is refused with a sentence, or is complete: it answers every question of the mapper.
pub fn profile_toml(data: &[u8]) {
    match Profile::parse(&String::from_utf8_lossy(data)) {
        Ok(profile) => {
            // Refused at the latest when the profile is parsed, so any scale that is fine enough is fine.
            assert!(profile.coalescing(TimeScale::Ps).is_ok());
            assert!(profile.service_ids.keys().all(|id| id.parse::<i64>().is_ok()));
        }
        Err(error) => assert!(error.to_string().len() > "mapping profile: ".len(), "no reason: {error}"),
    }
}

/// A Profiler XML is refused with a place, or describes variables: their words have meanings, and their ids
/// objects.
pub fn profiler_xml(data: &[u8]) {
    const ORTI: &str = "VERSION { KOIL = \"2.2\"; OSSEMANTICS = \"ORTI\", \"2.2\"; }; IMPLEMENTATION x { OS { TOTRACE ENUM \
        \"unsigned char\" [ \"Tick_ISR\" = 2, \"NO_ISR\" = 9 ] RUNNINGISR2, \"r\"; }, \"OS\"; }; OS o { };";
    let file = |path: &str, text: &str| SetupFile { path: path.to_owned(), text: text.to_owned() };
    let text = String::from_utf8_lossy(data);
    for orti in [None, Some(file("os.orti", ORTI))] {
        let core = CoreFiles { name: "A".to_owned(), orti, ..CoreFiles::default() };
        let hooks = match HookSetup::new(&[], &[], Some(&file("p.xml", &text)), &[core]) {
            Ok(hooks) => hooks,
            Err(error) => {
                assert!(error.to_string().starts_with("p.xml"), "no place: {error}");
                continue;
            }
        };
        assert!(!hooks.variables.is_empty());
        for variable in &hooks.variables {
            assert!(variable.ids.values().flatten().all(|object| *object < hooks.objects.len()));
            for word in [0, 1, u64::from(u32::MAX), u64::MAX] {
                let _ = variable.step(word);
            }
        }
    }
}
