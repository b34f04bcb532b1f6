//! The tables are consistent with themselves and with the charts of the mapper.

use super::*;
use crate::btf::{Action, EntityType, process_transition, runnable_transition};

#[test]
fn versions_are_known_by_their_numbers() {
    for text in ["1.0", "2.0.2", "2.1", "2.1.0", "2.1.4", "2.1.5"] {
        assert_eq!(Version::parse(text), Some(Version::V2_1_5), "{text}");
    }
    assert_eq!(Version::parse(" 2.2.0 "), Some(Version::V2_2_1));
    assert_eq!(Version::parse("2.3"), Some(Version::V2_3_0));
    for text in ["", "2.4", "3", "2.x", "2.2.x", "-1", "a"] {
        assert_eq!(Version::parse(text), None, "{text}");
    }
    for version in Version::ALL {
        assert_eq!(Version::parse(version.as_str()), Some(version));
    }
}

#[test]
fn words_that_were_renamed_are_known_until_then() {
    assert_eq!(Version::number("2.1"), Some([2, 1, 0]));
    let knows = |number: &str, word| is_former_word(Version::number(number).unwrap(), word);
    assert!(knows("1.0", "ISR") && knows("2.1.4", "ISR") && !knows("2.1.5", "ISR") && !knows("2.1", "isr"));
    assert!(knows("2.1.3", "mpalimitexceeded") && !knows("2.1.4", "mpalimitexceeded"));
    for (word, _) in FORMER_WORDS {
        assert!(
            kind_alias(word).is_some() || action_alias(word).is_some_and(|today| today != *word),
            "{word}"
        );
    }
}

#[test]
fn no_pair_has_two_rules_in_a_version() {
    for version in Version::ALL {
        for kind in KINDS.iter().map(|rule| rule.kind) {
            for rule in ACTIONS {
                let rows = ACTIONS.iter().filter(|other| {
                    other.action == rule.action && other.targets.has(kind) && other.versions.has(version)
                });
                assert!(rows.count() <= 1, "{version} {} {}", kind.id(), rule.action);
            }
        }
    }
}

#[test]
fn every_kind_is_found_by_its_id_and_aliases() {
    for rule in KINDS {
        assert_eq!(rule.kind.id(), rule.id);
        assert_eq!(kind_of_any_version(rule.id), Some(rule.kind));
        for version in Version::ALL {
            assert_eq!(kind(version, rule.id), rule.versions.has(version).then_some(rule.kind));
        }
        for alias in rule.aliases.iter().chain([&rule.id]) {
            assert_eq!(kind_alias(&alias.to_lowercase()), Some(rule.kind), "{alias}");
            assert_eq!(kind(Version::V2_3_0, &alias.to_lowercase()), None, "{alias}");
        }
    }
    assert_eq!(kind_alias("X"), None);
}

#[test]
fn actions_are_found_strictly_and_tolerantly() {
    assert!(action(Version::V2_1_5, Kind::Semaphore, "ready").is_some());
    assert!(action(Version::V2_2_1, Kind::Semaphore, "ready").is_none());
    assert!(action_of_any_version(Kind::Semaphore, "ready").is_some());
    assert!(action(Version::V2_2_1, Kind::Isr, "mtalimitexceeded").is_none());
    assert_eq!(action_alias("MTAlimitExceded"), Some("mtalimitexceeded"));
    assert_eq!(action_alias("mpalimitexceeded"), Some("mtalimitexceeded"));
    assert_eq!(action_alias("begin"), None);
    assert!(is_action("schedulepoint") && !is_action("set_frequence"));
    assert!(is_vendor_action(Kind::Core, "set_frequence") && !is_vendor_action(Kind::Task, "set_frequence"));
    for version in [Version::V2_2_1, Version::V2_3_0] {
        assert!(SPINLOCK_ACTIONS.iter().all(|word| action(version, Kind::Semaphore, word).is_some()));
    }
}

#[test]
fn what_the_mapper_writes_is_in_2_1_5() {
    let known = |target: EntityType, word: Action| {
        kind(Version::V2_1_5, target.as_str())
            .and_then(|kind| action(Version::V2_1_5, kind, word.as_str()))
            .and_then(|rule| rule.moves)
    };
    let states = |moves: Transition| moves.from.iter().map(|s| s.as_str().to_lowercase()).collect::<Vec<_>>();
    for word in Action::ALL.iter().copied() {
        if let Some((from, to)) = process_transition(word) {
            for target in [EntityType::Task, EntityType::Isr] {
                let moves = known(target, word).unwrap();
                assert_eq!(
                    (states(moves), moves.to.as_str()),
                    (vec![from.as_str().to_owned()], to.as_str()),
                    "{word}"
                );
            }
        }
        if let Some((from, to)) = runnable_transition(word) {
            let moves = known(EntityType::Runnable, word).unwrap();
            let words = (format!("{from:?}").to_lowercase(), format!("{to:?}").to_lowercase());
            assert_eq!((states(moves), moves.to.as_str()), (vec![words.0], &*words.1), "{word}");
        }
        let somewhere = EntityType::ALL.iter().any(|target| {
            kind(Version::V2_1_5, target.as_str())
                .is_some_and(|kind| action(Version::V2_1_5, kind, word.as_str()).is_some())
        });
        assert!(somewhere, "{word}");
    }
}

#[test]
fn sets_of_kinds() {
    let set = Kinds::NONE.with(Kind::Task).with(Kind::System);
    assert!(set.has(Kind::System) && !set.has(Kind::Isr) && !set.is_empty() && Kinds::NONE.is_empty());
    assert!(
        set.within(Kinds::ANY) && !Kinds::ANY.within(set) && Kinds::PROCESS.within(Kinds::WITH_INSTANCES)
    );
    assert_eq!(Kinds::PROCESS.words(), "T or I");
    assert!(KINDS.iter().all(|rule| Kinds::ANY.has(rule.kind)));
}

#[test]
fn parameters_are_found_by_every_spelling() {
    for parameter in PARAMETERS {
        for word in parameter.words {
            assert!(Parameter::find(word).is_some_and(|found| found.words == parameter.words));
            assert!(Parameter::find_any_case(&word.to_uppercase()).is_some());
        }
    }
    assert!(Parameter::find("TIMESCALE").is_none() && Parameter::find_any_case("createDate").is_none());
}
