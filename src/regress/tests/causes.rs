//! First causes in systems whose change is known.

use super::super::{Cause, Origin, Part, Response, first_cause};
use super::{Dice, side};

fn part(kind: &str, name: &str, origin: Origin, (before, after): (f64, f64), error: f64) -> Part {
    Part { kind: kind.to_owned(), name: name.to_owned(), origin, before, after, error }
}

fn own(name: &str, means: (f64, f64)) -> Part {
    part("executes", name, Origin::Own, means, 1.0)
}

fn behind(name: &str, means: (f64, f64)) -> Part {
    part("ready behind", name, Origin::Behind, means, 10.0)
}

fn response(entity: &str, parts: Vec<Part>) -> Response {
    Response { entity: entity.to_owned(), parts }
}

fn named(cause: &Cause) -> (&str, &str, &str) {
    (&cause.entity, &cause.kind, &cause.name)
}

#[test]
fn what_runs_longer_explains_who_waits() {
    // T_1 runs twice per instance of T_2, and four times per instance of T_3; R_1 takes 50 longer.
    let system = [
        response("T_1", vec![own("R_1", (500.0, 550.0)), own("R_2", (300.0, 301.0))]),
        response("T_2", vec![own("R_3", (900.0, 899.0)), behind("T_1", (1600.0, 1708.0))]),
        response(
            "T_3",
            vec![
                own("R_4", (5000.0, 5001.0)),
                behind("T_2", (900.0, 905.0)),
                behind("T_1", (3200.0, 3390.0)),
            ],
        ),
    ];
    for (entity, explains) in [("T_1", 50.0), ("T_2", 100.0), ("T_3", 200.0)] {
        let causes = first_cause(entity, &system);
        assert_eq!(named(&causes[0]), ("T_1", "executes", "R_1"), "{causes:?}");
        assert!(causes[0].sure && (causes[0].explains / explains - 1.0).abs() < 0.1, "{causes:?}");
        assert!(causes.iter().skip(1).all(|one| !one.sure), "the rest is by chance: {causes:?}");
    }
    assert_eq!(first_cause("T_3", &system)[0].path, ["T_3", "T_1"]);
    assert!(first_cause("T_9", &system).is_empty());
}

#[test]
fn who_comes_more_often_is_a_cause_itself() {
    let system = [
        response("T_1", vec![own("R_1", (500.0, 500.5))]),
        response("T_2", vec![own("R_3", (900.0, 900.5)), behind("T_1", (1000.0, 1500.0))]),
    ];
    let causes = first_cause("T_2", &system);
    assert_eq!(named(&causes[0]), ("T_2", "ready behind", "T_1"));
    assert!(causes[0].sure && (causes[0].explains - 500.0).abs() < 10.0);
}

#[test]
fn a_small_execution_does_not_hide_a_great_wait() {
    let system = [
        response("T_1", vec![own("R_1", (500.0, 510.0))]),
        response("T_2", vec![own("R_3", (900.0, 900.5)), behind("T_1", (1000.0, 3000.0))]),
    ];
    let causes = first_cause("T_2", &system);
    assert_eq!(named(&causes[0]), ("T_2", "ready behind", "T_1"));
    assert_eq!(named(&causes[1]), ("T_1", "executes", "R_1"));
}

#[test]
fn a_wait_for_an_event_counts_the_waits_of_the_other() {
    let awaits = |name: &str, means| part("waits for", name, Origin::Awaits, means, 5.0);
    let system = [
        response("T_1", vec![own("R_1", (400.0, 500.0))]),
        response("T_2", vec![own("R_2", (300.0, 300.0)), behind("T_1", (400.0, 500.0))]),
        response("T_3", vec![own("R_3", (100.0, 100.0)), awaits("T_2", (700.0, 800.0))]),
    ];
    let causes = first_cause("T_3", &system);
    assert_eq!(named(&causes[0]), ("T_1", "executes", "R_1"), "{causes:?}");
    assert_eq!(causes[0].path, ["T_3", "T_2", "T_1"]);
    assert!((causes[0].explains - 100.0).abs() < 20.0);
}

#[test]
fn tasks_that_wait_for_each_other_end() {
    let awaits = |name: &str, means| part("waits for", name, Origin::Awaits, means, 5.0);
    let system = [
        response(
            "T_1",
            vec![own("R_1", (100.0, 200.0)), awaits("T_2", (50.0, 60.0)), awaits("T_1", (1.0, 1.0))],
        ),
        response("T_2", vec![own("R_2", (100.0, 100.0)), awaits("T_1", (50.0, 100.0))]),
    ];
    assert_eq!(named(&first_cause("T_2", &system)[0]), ("T_1", "executes", "R_1"));
    assert_eq!(named(&first_cause("T_1", &system)[0]), ("T_1", "executes", "R_1"));
}

#[test]
fn parts_come_from_samples() {
    let mut dice = Dice::of(1);
    let (before, after) = (dice.autoregressive(0.3, 4000), dice.autoregressive(0.3, 4000));
    let one = Part::of("executes", "R_1", Origin::Own, &side(&before), &side(&after));
    // The error of the difference of two such means: 5000 · √(2 · 1.3 / 0.7 / 4000) = 152.
    assert!(one.error > 140.0 && one.error < 260.0 && (one.before - 1e5).abs() < 600.0, "{one:?}");
    let absent = Part::of("executes", "R_2", Origin::Own, &super::Side::default(), &side(&after));
    assert!(absent.before == 0.0 && absent.after > 9e4);
}
