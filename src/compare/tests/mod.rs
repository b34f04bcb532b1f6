//! Small traces by hand, compared at each level. Properties of any trace are in `properties`, long traces in
//! `long`.

mod differences;
mod long;
mod mixed;
mod options;
mod properties;

use super::{CompareOptions, Comparison, Level, compare};
use crate::btf::{Place, Record, Records};
use crate::error::Result;

/// An event with owned text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Owned {
    pub(super) time: i64,
    pub(super) source: String,
    pub(super) source_instance: Option<i64>,
    pub(super) kind: String,
    pub(super) target: String,
    pub(super) target_instance: Option<i64>,
    pub(super) action: String,
    pub(super) note: Option<String>,
}

impl Owned {
    pub(super) fn parse(line: &str) -> Self {
        let f: Vec<&str> = line.splitn(8, ',').map(str::trim).collect();
        Self {
            time: f[0].parse().unwrap(),
            source: f[1].into(),
            source_instance: f[2].parse().ok(),
            kind: f[3].into(),
            target: f[4].into(),
            target_instance: f[5].parse().ok(),
            action: f[6].into(),
            note: f.get(7).map(|n| (*n).to_owned()),
        }
    }
}

/// A trace in memory.
pub(super) struct Trace<'a>(&'a [Owned], usize);

impl Records for Trace<'_> {
    fn next(&mut self) -> Result<Option<(Place, Record<'_>)>> {
        let Some(e) = self.0.get(self.1) else { return Ok(None) };
        let place = Place { seq: self.1 as i64, line: Some(self.1 as u64 + 1) };
        self.1 += 1;
        let record = Record {
            time: e.time,
            source: &e.source,
            source_instance: e.source_instance,
            target_type: &e.kind,
            target: &e.target,
            target_instance: e.target_instance,
            action: &e.action,
            note: e.note.as_deref(),
        };
        Ok(Some((place, record)))
    }
}

pub(super) fn trace(text: &str) -> Vec<Owned> {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).map(Owned::parse).collect()
}

pub(super) fn with(options: &CompareOptions, left: &[Owned], right: &[Owned]) -> Comparison {
    compare(&mut Trace(left, 0), &mut Trace(right, 0), options).unwrap()
}

pub(super) fn at(level: Level, left: &[Owned], right: &[Owned]) -> Comparison {
    with(&CompareOptions { level, ..CompareOptions::default() }, left, right)
}

/// Thesis, figure 5.16: T_1 activates T_2 on another core and continues. The start of T_2 (the line `START`)
/// depends on the execution time of the service.
pub(super) const T_1: &str = "0,STI_1,0,STI,STI_1,0,trigger
    0,STI_1,0,T,T_1,0,activate
    10,Core_0,0,T,T_1,0,start
    20,T_1,0,STI,STI_2,0,trigger
    20,STI_2,0,T,T_2,0,activate
    30,T_1,0,R,R_1,0,start
    START
    40,T_1,0,SIG,SIG_1,0,write,7
    50,T_1,0,R,R_1,0,terminate
    LATE
    60,Core_0,0,T,T_1,0,terminate
    70,Core_1,0,T,T_2,0,terminate";

pub(super) fn early() -> Vec<Owned> {
    trace(&T_1.replace("START", "35,Core_1,0,T,T_2,0,start").replace("LATE", ""))
}

pub(super) fn late() -> Vec<Owned> {
    trace(&T_1.replace("START", "").replace("LATE", "55,Core_1,0,T,T_2,0,start"))
}

#[test]
fn figure_5_16_is_equal_at_order_and_different_at_exact() {
    let (left, right) = (early(), late());
    let order = at(Level::Order, &left, &right);
    assert!(order.equal, "{order:#?}");
    assert_eq!((order.compared, order.left_events, order.right_events), (11, 11, 11));
    assert_eq!(order.max_time_difference.unwrap().ticks, 20);
    let exact = at(Level::Exact, &left, &right);
    assert!(!exact.equal);
    assert_eq!((exact.semantic, exact.moved, exact.only_left, exact.only_right), (1, 1, 0, 0));
    let first = exact.first.unwrap();
    assert_eq!(first.difference.sequence, "trace");
    assert_eq!(first.difference.left.unwrap().text, "35,Core_1,0,T,T_2,0,start");
    assert_eq!(first.difference.right.unwrap().place.line, Some(9));
    assert_eq!(exact.strict.unwrap().semantic, 3);
    // The start that has moved is 20 later.
    assert_eq!(exact.max_time_difference.unwrap().ticks, 20);
}

#[test]
fn a_swap_on_a_core_is_found_at_order() {
    let left = trace(
        "0,C_0,0,T,A,0,start
         1,C_0,0,T,A,0,preempt
         2,C_0,0,T,B,0,start
         3,B,0,R,R,0,start
         4,B,0,R,R,0,terminate
         5,C_0,0,T,B,0,terminate
         6,C_0,0,T,A,0,resume",
    );
    let mut right = left.clone();
    right.swap(1, 2);
    for level in [Level::Exact, Level::Order, Level::Timing] {
        let result = at(level, &left, &right);
        assert_eq!((result.semantic, result.only_left + result.only_right), (1, 0), "{result:#?}");
        let first = result.first.unwrap();
        let name = if level == Level::Exact { "trace" } else { "core C_0" };
        assert_eq!(first.difference.sequence, name);
    }
}

#[test]
fn the_result_is_json() {
    let json = serde_json::to_value(at(Level::Exact, &early(), &late())).unwrap();
    assert_eq!(json["level"], "exact");
    assert_eq!(json["first"]["kind"], "moved");
    assert_eq!(json["first"]["left"]["line"], 7);
    assert_eq!(json["entities"][0]["type"], "R");
}
