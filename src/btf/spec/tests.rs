//! The tables are consistent with themselves, and the charts are those of the specifications.

use super::*;

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
            EntityType::parse_tolerant(word).is_some()
                || Action::parse_tolerant(word).is_some_and(|today| today.as_str() != *word),
            "{word}"
        );
    }
}

#[test]
fn no_pair_has_two_rules_in_a_version() {
    for version in Version::ALL {
        for target in EntityType::ALL {
            for action in Action::ALL {
                let rules = ACTION_RULES.iter().filter(|rule| {
                    rule.action == action && rule.targets.has(target) && rule.versions.has(version)
                });
                assert!(rules.count() <= 1, "{version} {target} {action}");
            }
        }
    }
    for action in Action::ALL {
        assert!(ACTION_RULES.iter().any(|rule| rule.action == action), "{action} is in no version");
        assert_eq!(Action::parse(action.as_str()), Some(action));
    }
}

#[test]
fn every_entity_type_is_found_by_its_id_and_aliases() {
    assert_eq!(ENTITY_TYPES.iter().map(|rule| rule.entity_type).collect::<Vec<_>>(), EntityType::ALL);
    for rule in ENTITY_TYPES {
        let id = rule.entity_type.as_str();
        assert_eq!(EntityType::parse(id), Some(rule.entity_type));
        for version in Version::ALL {
            assert_eq!(
                EntityType::of_version(version, id),
                rule.versions.has(version).then_some(rule.entity_type)
            );
        }
        for alias in rule.spellings().map(str::to_lowercase) {
            assert_eq!(EntityType::parse_tolerant(&alias), Some(rule.entity_type), "{alias}");
            assert_eq!(EntityType::of_version(Version::V2_3_0, &alias), None, "{alias}");
        }
    }
    assert_eq!(EntityType::parse_tolerant("X"), None);
}

#[test]
fn actions_are_found_strictly_and_tolerantly() {
    assert!(rule(Version::V2_1_5, EntityType::Semaphore, Action::Ready).is_some());
    assert!(rule(Version::V2_2_1, EntityType::Semaphore, Action::Ready).is_none());
    assert!(rule_of_any_version(EntityType::Semaphore, Action::Ready).is_some());
    assert!(rule(Version::V2_2_1, EntityType::Isr, Action::MtaLimitExceeded).is_none());
    assert_eq!(Action::parse_tolerant("MTAlimitExceded"), Some(Action::MtaLimitExceeded));
    assert_eq!(Action::parse_tolerant("mpalimitexceeded"), Some(Action::MtaLimitExceeded));
    assert_eq!(Action::parse_tolerant("begin"), None);
    assert!(Action::parse("schedulepoint").is_some() && Action::parse("set_frequence").is_none());
    assert!(is_vendor_action(EntityType::Core, "set_frequence"));
    assert!(!is_vendor_action(EntityType::Task, "set_frequence"));
    // The actions that a spinlock may have (2.3.0 §2.3.8).
    let of_spinlocks =
        [Action::RequestSemaphore, Action::Lock, Action::Assigned, Action::Released, Action::Unlock];
    for version in [Version::V2_2_1, Version::V2_3_0] {
        assert!(of_spinlocks.iter().all(|a| rule(version, EntityType::Semaphore, *a).is_some()));
    }
}

/// The chart of processes, written down from its figure (2.1.5 §2.3; OSEK 2.2.3 extended tasks, polling,
/// parking). `derive` takes every edge from a table that is computed from the rules, `check` asks the rules:
/// both must be this chart.
const PROCESS_CHART: &[(Action, State, State)] = &[
    (Action::Activate, State::Terminated, State::Active),
    (Action::Start, State::Active, State::Running),
    (Action::Preempt, State::Running, State::Ready),
    (Action::Resume, State::Ready, State::Running),
    (Action::Terminate, State::Running, State::Terminated),
    (Action::Wait, State::Running, State::Waiting),
    (Action::Release, State::Waiting, State::Ready),
    (Action::Poll, State::Running, State::Polling),
    (Action::Run, State::Polling, State::Running),
    (Action::Park, State::Polling, State::Parking),
    (Action::PollParking, State::Parking, State::Polling),
    (Action::ReleaseParking, State::Parking, State::Ready),
];

/// The chart of runnables.
const RUNNABLE_CHART: &[(Action, State, State)] = &[
    (Action::Start, State::Terminated, State::Running),
    (Action::Suspend, State::Running, State::Suspended),
    (Action::Resume, State::Suspended, State::Running),
    (Action::Terminate, State::Running, State::Terminated),
];

/// Actions of processes that move nothing, with the state in which they may happen and the types and versions
/// that have them.
const NOTIFICATIONS: &[(Action, State, EntityType, &[Version])] = &[
    (Action::MtaLimitExceeded, State::Terminated, EntityType::Task, &Version::ALL),
    (Action::MtaLimitExceeded, State::Terminated, EntityType::Isr, &[Version::V2_1_5]),
    (Action::InterruptSuspended, State::Active, EntityType::Isr, &[Version::V2_2_1, Version::V2_3_0]),
];

#[test]
fn derive_and_check_judge_every_action_in_every_state_and_version_alike() {
    type Transitions = fn(Action) -> Option<(State, State)>;
    let charts: [(EntityType, &[_], Transitions); 3] = [
        (EntityType::Task, PROCESS_CHART, process_transition),
        (EntityType::Isr, PROCESS_CHART, process_transition),
        (EntityType::Runnable, RUNNABLE_CHART, runnable_transition),
    ];
    for (target, chart, transition) in charts {
        for action in Action::ALL {
            let edge = chart.iter().find(|(of, ..)| *of == action).map(|(_, from, to)| (*from, *to));
            assert_eq!(transition(action), edge, "derive: {target} {action}");
            for version in Version::ALL {
                let notification = NOTIFICATIONS
                    .iter()
                    .find(|(of, _, kind, versions)| {
                        (*of, *kind) == (action, target) && versions.contains(&version)
                    })
                    .map(|(_, state, ..)| (*state, *state));
                let rule = rule(version, target, action);
                for state in State::ALL {
                    let expected = edge.or(notification).filter(|(from, _)| *from == state).map(|(_, to)| to);
                    let moves = rule.and_then(|rule| rule.moves);
                    let after = moves.filter(|moves| moves.from.contains(&state)).map(|moves| moves.to);
                    assert_eq!(after, expected, "check: {version} {target} {action} in {state}");
                }
            }
        }
    }
}

#[test]
fn semaphores_of_one_user_are_free_full_or_overfull() {
    // What the mappers write: OSEK resources, spinlocks and mutexes have one user.
    let chart = [
        (State::Free, Action::Lock, State::Full),
        (State::Full, Action::Unlock, State::Free),
        (State::Full, Action::Overfull, State::Overfull),
        (State::Overfull, Action::Overfull, State::Overfull),
        (State::Overfull, Action::Full, State::Full),
    ];
    let binary = [State::NotInitialized, State::Free, State::Full, State::Overfull];
    let actions = [Action::Ready, Action::Lock, Action::Unlock, Action::Full, Action::Overfull];
    for version in Version::ALL {
        let ready =
            (version == Version::V2_1_5).then_some((State::NotInitialized, Action::Ready, State::Free));
        for (state, action) in binary.into_iter().flat_map(|s| actions.into_iter().map(move |a| (s, a))) {
            let moves = rule(version, EntityType::Semaphore, action).and_then(|rule| rule.moves);
            let after = moves.filter(|moves| moves.from.contains(&state)).map(|moves| moves.to);
            let edges = chart.iter().chain(&ready);
            let expected = edges.clone().find(|(from, of, _)| (*from, *of) == (state, action)).map(|e| e.2);
            assert_eq!(after, expected, "{version} {action} in {state}");
        }
        // What processes do to a semaphore does not move it.
        for action in [Action::RequestSemaphore, Action::Assigned, Action::Waiting, Action::Released] {
            assert!(rule(version, EntityType::Semaphore, action).is_some_and(|rule| rule.moves.is_none()));
        }
    }
}

#[test]
fn sets_of_entity_types() {
    let set = EntityTypes::NONE.with(EntityType::Task).with(EntityType::System);
    assert!(
        set.has(EntityType::System)
            && !set.has(EntityType::Isr)
            && !set.is_empty()
            && EntityTypes::NONE.is_empty()
    );
    assert!(
        set.within(EntityTypes::ANY)
            && !EntityTypes::ANY.within(set)
            && EntityTypes::PROCESS.within(EntityTypes::WITH_INSTANCES)
    );
    assert_eq!(EntityTypes::PROCESS.words(), "T or I");
    assert!(EntityType::ALL.iter().all(|entity_type| EntityTypes::ANY.has(*entity_type)));
}

#[test]
fn parameters_are_found_by_every_spelling() {
    for parameter in parameters::PARAMETERS {
        for word in parameter.words {
            assert!(Parameter::find(word).is_some_and(|found| found.words == parameter.words));
            assert!(Parameter::find_any_case(&word.to_uppercase()).is_some());
        }
    }
    assert!(Parameter::find("TIMESCALE").is_none() && Parameter::find_any_case("createDate").is_none());
}
