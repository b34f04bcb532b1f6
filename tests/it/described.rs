//! What descriptions say, in the names that the events have: several control units, idle tasks, OIL files
//! that have mistakes or contradict other files.

use crate::support::{Bench, copy_dir, root};

/// A recording of the test data in a folder of this bench, with a text of its files in place of another.
fn recording(bench: &Bench, name: &str, edits: &[(&str, &str, &str)]) {
    copy_dir(&root().join("tests/data").join(name), &bench.path().join("r"));
    for (file, old, new) in edits {
        let path = bench.path().join("r").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{file}: {old}");
        std::fs::write(&path, text.replace(old, new)).unwrap();
    }
}

/// Ingests it, and insists on texts in what is printed.
fn says(bench: &Bench, options: &[&str], texts: &[&str]) -> String {
    let _ = std::fs::remove_dir_all(bench.path().join("x.db"));
    let run = bench.ok(&[&["ingest", "x.db", "r"], options].concat());
    texts.iter().for_each(|text| assert!(run.stderr.contains(text), "{text}\n{}", run.stderr));
    run.stderr
}

fn csv(bench: &Bench, sql: &str) -> Vec<String> {
    let run = bench.ok(&["query", "x.db", sql, "--format", "csv"]);
    run.stdout.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn entities_of_control_units_have_the_names_of_their_events() {
    let bench = Bench::new();
    for unit in ["e1", "e2"] {
        for name in ["oil", "resources"] {
            copy_dir(&root().join("tests/data/erika2").join(name), &bench.path().join(name).join(unit));
        }
    }
    // An event that only one of the units has.
    for file in ["application.oil", "eecfg_cpu0.h"] {
        let path = bench.path().join("oil/e2").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("EV_OF_F", "EV_OF_E2")).unwrap();
    }
    for name in ["oil", "resources"] {
        let core = |unit: &str| {
            let oil =
                if name == "oil" { format!("oil = \"{unit}/application.oil\"\n") } else { String::new() };
            format!(
                "[[core]]\nname = \"{unit}_Core_0\"\necu = \"{unit}\"\ndata = \"{unit}/core0_data.csv\"\norti = \
                 \"{unit}/system_cpu0.orti\"\nos_header = \"{unit}/eecfg_cpu0.h\"\nsymbols = \
                 \"{unit}/symbols.tsv\"\n{oil}"
            )
        };
        let text = format!("name = \"{name}\"\nos = \"erika2\"\n{}{}", core("e1"), core("e2"));
        bench.write(&format!("{name}/recording.toml"), text);
        bench.ok(&["ingest", "x.db", name, "-q"]);
    }
    let nobody = "SELECT process FROM entity AS e WHERE process IS NOT NULL AND NOT EXISTS \
                  (SELECT 1 FROM entity AS t WHERE t.recording = e.recording AND t.entity = e.process)";
    assert_eq!(csv(&bench, nobody), [""; 0]);
    let owners = "SELECT entity, process FROM entity WHERE type = 'EVENT' AND entity LIKE 'EV_%' AND \
                  recording = 'oil' AND entity <> 'EV_SPARE' ORDER BY entity";
    // EV_A and EV_B are those of a task of each unit.
    let expected = ["EV_A,", "EV_B,", "EV_OF_E2,e2_Core_0.T_F", "EV_OF_F,e1_Core_0.T_F"];
    assert_eq!(csv(&bench, owners), expected);
    let locks = "SELECT entity, file FROM entity WHERE type = 'SEM' AND recording = 'resources' AND \
                 (entity LIKE '%SEM_G' OR entity LIKE '%SPIN_U') ORDER BY entity";
    let expected = [
        "e1_Core_0.SEM_G,e1/system_cpu0.orti",
        "e1_Core_0.SPIN_U,e1/eecfg_cpu0.h",
        "e2_Core_0.SEM_G,e2/system_cpu0.orti",
        "e2_Core_0.SPIN_U,e2/eecfg_cpu0.h",
    ];
    assert_eq!(csv(&bench, locks), expected);
    // A resource and a handler of both, with what their descriptions say.
    let own = "SELECT type, entity, priority, file FROM entity WHERE type IN ('I', 'SEM') AND recording = \
               'resources' AND (entity LIKE '%RES_L' OR entity LIKE '%timer_handler') ORDER BY type, entity";
    let expected = |unit: &str| {
        [
            format!("I,{unit}_Core_0.EE_tc_system_timer_handler,,{unit}/system_cpu0.orti"),
            format!("SEM,{unit}_Core_0.RES_L,,{unit}/system_cpu0.orti"),
        ]
    };
    let mut expected = [expected("e1"), expected("e2")].concat();
    expected.sort();
    assert_eq!(csv(&bench, own), expected);
}

/// A name that two control units have stands for the processes of both, in every command.
#[test]
fn a_bare_name_is_that_of_all_control_units() {
    let bench = Bench::new();
    for unit in ["e1", "e2"] {
        copy_dir(&root().join("tests/data/erika2/resources"), &bench.path().join("r").join(unit));
    }
    let core = |unit: &str| {
        format!(
            "[[core]]\nname = \"{unit}_Core_0\"\necu = \"{unit}\"\ndata = \"{unit}/core0_data.csv\"\norti = \
             \"{unit}/system_cpu0.orti\"\nsymbols = \"{unit}/symbols.tsv\"\n"
        )
    };
    bench.write("r/recording.toml", format!("os = \"erika2\"\n{}{}", core("e1"), core("e2")));
    bench.ok(&["ingest", "x.db", "r", "-q"]);
    let processes = "SELECT process FROM process_instance WHERE process LIKE 'e1%' AND complete LIMIT 1";
    let process = csv(&bench, processes).remove(0);
    let name = process.strip_prefix("e1_Core_0.").unwrap();
    let both = |text: &str| ["e1", "e2"].iter().all(|unit| text.contains(&format!("{unit}_Core_0.{name}")));
    let metrics = bench.ok(&["metrics", "x.db", "ResponseTime", "--entity", name]).stdout;
    assert!(both(&metrics), "{metrics}");
    bench.ok(&["export", "x.db", "--entity", name, "-o", "x.btf", "-q"]);
    let slice = std::fs::read_to_string(bench.path().join("x.btf")).unwrap();
    assert!(both(&slice), "{slice}");
    bench.ok(&["plot", "x.db", "--entity", name, "-o", "x.svg", "-q"]);
    let picture = std::fs::read_to_string(bench.path().join("x.svg")).unwrap();
    assert!(both(&picture), "the picture has both");
    bench.write("limits.toml", format!("[[deadline]]\nentity = \"{name}\"\ndeadline = \"20s\"\n"));
    let checked = bench.ok(&["check", "x.db", "--requirements", "limits.toml"]).stdout;
    assert!(both(&checked), "{checked}");
}

/// A recording from elsewhere could name any file of the machine.
#[test]
fn a_description_names_no_files_outside_of_its_folder() {
    let bench = Bench::new();
    copy_dir(&root().join("tests/data/erika2/resources"), &bench.path().join("r"));
    bench.write("secret.txt", "PASSWORD\n");
    let head = "os = \"erika2\"\n";
    let core = "[[core]]\nname = \"Core_0\"\ndata = \"core0_data.csv\"\n";
    let secret = bench.path().join("secret.txt");
    let (secret, list) = (secret.display(), "runnables = { file = ");
    #[cfg(unix)]
    std::os::unix::fs::symlink(bench.path().join("secret.txt"), bench.path().join("r/link.txt")).unwrap();
    for text in [
        format!("{head}{list}\"{secret}\" }}\n{core}"),
        format!("{head}{list}\"../secret.txt\" }}\n{core}"),
        format!("{head}{list}\"link.txt\" }}\n{core}"),
        format!("{head}{core}orti = \"{secret}\"\n"),
        format!("{head}{core}oil = [\"../secret.txt\"]\n"),
        format!("os = \"../secret.txt\"\n{core}"),
        format!("{head}[[core]]\nname = \"Core_0\"\ndata = \"{secret}\"\n"),
    ] {
        bench.write("r/recording.toml", &text);
        let run = bench.run(&["ingest", "x.db", "r"]);
        assert_eq!(run.code, Some(1), "{text}");
        assert!(run.stderr.contains("is outside of the folder of the recording"), "{}", run.stderr);
        assert!(run.stderr.contains("--allow-outside"), "{}", run.stderr);
        assert!(!bench.path().join("x.db").exists(), "{text}");
    }
    bench.write("r/recording.toml", format!("{head}{list}\"../secret.txt\" }}\n{core}"));
    bench.ok(&["ingest", "x.db", "r", "--allow-outside", "--no-map", "-q"]);
    // Such a file has no end.
    bench.write("r/recording.toml", format!("{head}{list}\"/dev/zero\" }}\n{core}"));
    let run = bench.run(&["ingest", "x.db", "r", "--allow-outside", "--name", "zero"]);
    assert!(run.code == Some(1) && run.stderr.contains("too many for a description file"), "{}", run.stderr);
    // What the user names himself is no matter of the description.
    bench.write("r/recording.toml", format!("{head}{core}"));
    let of_user = format!("name=Core_0,symbols={}", bench.path().join("secret.txt").display());
    bench.ok(&["ingest", "x.db", "r", "--name", "told", "--core", &of_user, "--no-map", "-q"]);
}

#[test]
fn idle_tasks_of_the_command_line_come_in_addition() {
    let bench = Bench::new();
    let key = "os = \"osek\"\n";
    let with = "os = \"osek\"\nidle_tasks = [\"IdleSpeed*\"]\n";
    recording(&bench, "osek/idle_tasks", &[("recording.toml", key, with)]);
    let idle = "SELECT entity FROM entity WHERE idle AND entity = 'IdleSpeedControl'";
    says(&bench, &[], &[]);
    assert_eq!(csv(&bench, idle).len(), 1);
    let unknown = "warning: idle_tasks: 'IdleSpeedControll' matches no task; did you mean 'IdleSpeedControl'? [unknown-name]";
    says(&bench, &["--idle-task", "IdleSpeedControll"], &[unknown]);
    assert_eq!(csv(&bench, idle).len(), 1);
    // The last pattern decides.
    let said = says(&bench, &["--idle-task", "!IdleSpeedControl"], &[]);
    assert_eq!((csv(&bench, idle).len(), said.contains("matches no task")), (0, false), "{said}");
    let strict = bench.run(&["ingest", "y.db", "r", "--strict", "--idle-task", "NOPE"]);
    assert_eq!(strict.code, Some(3), "{}", strict.all());
    // A trace of system events has tasks, too.
    bench.write("a.btf", "#version 2.1.5\n#timeScale ns\n0,STI,0,T,T_A,0,activate\n1,C,0,T,T_A,0,start\n");
    let run = bench.ok(&["ingest", "b.db", "a.btf", "--idle-task", "NOPE"]);
    assert!(run.stderr.contains("'NOPE' matches no task"), "{}", run.stderr);
}

/// A profile names the kernel's counter, but the trace has no reads of it: as with a profile without (rule
/// A13).
#[test]
fn an_activation_that_is_lost_without_a_traced_read_is_said_with_every_profile() {
    let bench = Bench::new();
    recording(
        &bench,
        "osek/limit_read",
        &[
            ("recording.toml", "os = \"osek\"", "os = \"p.toml\""),
            ("core0_data.csv", "\"rd-data\"", "\"wr-data\""),
        ],
    );
    let profile = "base = \"osek\"\nname = \"mine\"\n[variables]\nremaining_activations = [\"T_B_act\"]\n";
    bench.write("r/p.toml", profile);
    says(&bench, &[], &["[lost-activation]"]);
    // With reads, what does not follow one is an echo.
    let path = bench.path().join("r/core0_data.csv");
    let data = std::fs::read_to_string(root().join("tests/data/osek/limit_read/core0_data.csv")).unwrap();
    std::fs::write(path, data).unwrap();
    let said = says(&bench, &[], &[]);
    assert!(!said.contains("[lost-activation]"), "{said}");
    assert_eq!(csv(&bench, "SELECT target FROM btf_event WHERE action = 'mtalimitexceeded'"), ["T_B"]);
}

#[test]
fn a_function_of_an_unknown_task_is_one_mistake() {
    let bench = Bench::new();
    let path = bench.demo().join("recording.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"FuncT_2\" = \"T_2\"", "\"FuncT_2\" = \"T_9\"")).unwrap();
    let run = bench.ok(&["ingest", "x.db", "recording"]);
    let about = run.stderr.lines().filter(|line| line.contains("task_functions")).collect::<Vec<_>>();
    assert_eq!(about.len(), 1, "{}", run.stderr);
    assert!(about[0].contains("no ORTI file has the task 'T_9'"), "{}", run.stderr);
}

#[test]
fn mistakes_and_contradictions_of_oil_are_said_with_their_place() {
    let bench = Bench::new();
    recording(
        &bench,
        "erika2/oil",
        &[
            ("application.oil", "SECONDSPERTICK = 0.0005", "SECONDSPERTICK = 5.0E-4"),
            ("application.oil", "EVENT EV_B { MASK = 0x2; }", "EVENT EV_B { MASK = 0x8; }"),
            (
                "application.oil",
                "EVENT = EV_OF_F; };\n    TASK T_NEVER",
                "EVENT = EV_OF_FF; };\n    TASK T_NEVER",
            ),
        ],
    );
    let orti = bench.path().join("r/system_cpu0.orti");
    let text = std::fs::read_to_string(&orti).unwrap();
    std::fs::write(orti, format!("{text}\nALARM AL_EVENT {{ ACTION = \"set EV_OF_F on T_E\"; }};\n"))
        .unwrap();
    says(
        &bench,
        &[],
        &[
            "warning: application.oil:22: column 81: TASK T_F names an undeclared EVENT, 'EV_OF_FF'; did you mean 'EV_OF_F'? \
         [unknown-name]",
        ],
    );
    // The period is that of the same recording with a plain number (see `oil.slt`).
    assert_eq!(csv(&bench, "SELECT period FROM entity WHERE entity = 'AL_CYC'"), ["6000000"]);
    let found = csv(&bench, "SELECT message FROM diagnostic WHERE code = 'description'").join("\n");
    for text in [
        "event EV_B has the mask 0x8 in application.oil:26, and 0x2 in 'eecfg_cpu0.h'",
        "alarm AL_EVENT: 'system_cpu0.orti' says",
        "but application.oil:40 says TASK = T_F",
    ] {
        assert!(found.contains(text), "{text}\n{found}");
    }
    bench.write("r/application.oil", "hello world\n");
    says(
        &bench,
        &[],
        &["error: application.oil:1: column 1: no object of OIL is declared here; is this an OIL file?"],
    );
}

#[test]
fn what_describes_exports_is_refused_for_other_traces() {
    let bench = Bench::new();
    bench.write("t.btf", "#version 2.2.1\n#timeScale ns\n0,Core_0,0,T,A,0,start\n");
    let of_exports = [["--oil", "x.oil"], ["--signals", "S"], ["--runnables", "R"], ["--os", "osek"]];
    for option in of_exports.iter().chain(&[["--data-radix", "hex"], ["--core", "name=Core_0"]]) {
        let run = bench.run(&[&["ingest", "x.db", "t.btf"], &option[..]].concat());
        assert_eq!(run.code, Some(2), "{option:?}\n{}", run.stderr);
        assert!(run.stderr.contains(option[0]), "{}", run.stderr);
    }
    recording(&bench, "erika2/oil", &[]);
    let run = bench.run(&["ingest", "x.db", "r", "--counter-bits", "32"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("--counter-bits"), "{}", run.stderr);
    assert!(!bench.path().join("x.db").exists());
}

#[test]
fn a_handler_of_category_2_is_not_one_of_category_1() {
    let bench = Bench::new();
    copy_dir(&root().join("demo/recording"), &bench.path().join("r"));
    let count = "SELECT count(*) FROM btf_event";
    says(&bench, &[], &[]);
    let before = csv(&bench, count);
    let path = bench.path().join("r/recording.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace("category1_isrs = []", "category1_isrs = [\"EE_tc_system_timer_handler\"]"),
    )
    .unwrap();
    says(&bench, &[], &["RUNNINGISR2 names 'EE_tc_system_timer_handler', so it is of category 2"]);
    assert_eq!(csv(&bench, count), before);
}

#[test]
fn a_text_in_place_of_a_list_is_explained() {
    let bench = Bench::new();
    copy_dir(&root().join("demo/recording"), &bench.path().join("r"));
    let path = bench.path().join("r/recording.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("idle_tasks = \"T_2\"\n{text}")).unwrap();
    let run = bench.run(&["ingest", "x.db", "r"]);
    assert!(run.code != Some(0) && run.stderr.contains("takes a list of names"), "{}", run.stderr);
}
