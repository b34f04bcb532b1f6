//! Plan nodes of our own for the common questions about traces: windows over rows in the order of time,
//! groups by name, intervals that overlap, and operators that stream over sorted intervals or events. Not for
//! putting them into plans of plain SQL (see `optimizer`), and not for names in SQL (see `table_functions`).

mod as_of;
mod dictionary_test;
pub(super) mod group_by_id;
mod id_aggregate;
mod in_order;
mod intervals;
mod key_interner;
mod key_order;
mod key_type;
mod keyed_window;
mod one_input;
pub(super) mod overlap;
mod pair;
mod reorder;
mod row_buffer;
mod shared_accumulator;
mod streaming;
mod window_function;
mod window_spec;

pub(super) use as_of::{AsOf, AsOfSide};
pub(super) use dictionary_test::DictionaryTest;
pub(super) use id_aggregate::IdAggregateExec;
pub(super) use in_order::InOrderExec;
pub(super) use intervals::{IntervalFunction, IntervalOperator};
pub(crate) use key_interner::KeyInterner;
pub(super) use key_order::OutOfOrder;
pub(super) use key_type::key_type;
pub(super) use keyed_window::KeyedWindowExec;
pub(super) use one_input::one_input;
pub(super) use pair::{Pair, columns_of_pairs};
pub(super) use reorder::ReorderExec;
pub(super) use streaming::{StreamingExec, StreamingOperator};
pub(super) use window_spec::WindowSpec;
