//! The list of table functions with their arguments and columns, for documentation, completion and
//! suggestions. Not for planning them (see `engine::table_functions`).

use std::borrow::Cow;

use super::definition::Documented;

/// A function that is called in FROM.
#[derive(Debug, PartialEq, Eq)]
pub struct TableFunction {
    /// Name in SQL.
    pub name: &'static str,
    /// An example of a call.
    pub example: &'static str,
    /// The meaning of a row of the result, and special cases.
    pub doc: &'static str,
    /// Arguments. One whose name ends with `=>` is passed by name, and is optional unless its text says
    /// otherwise.
    pub arguments: &'static [Documented],
    /// Columns of the result.
    pub columns: &'static [Documented],
}

pub(super) const fn row(name: &'static str, ty: &'static str, doc: &'static str) -> Documented {
    Documented { name: Cow::Borrowed(name), ty: Cow::Borrowed(ty), doc: Cow::Borrowed(doc) }
}

const INTERVALS: Documented = row("intervals", "relation", "With the columns `begin_at` and `end_at`.");
const KEYS: Documented = row(
    "key, …",
    "columns",
    "Intervals with different keys are independent of each other. Without a key, all belong together.",
);
const SAME_KEYS: Documented = row("key, …", "columns", "Must be equal on both sides; NULL equals nothing.");
const OF_KEYS: Documented = row("key, …", "as given", "The keys.");

/// All table functions, in the order of the documentation.
pub static TABLE_FUNCTIONS: &[TableFunction] = &[
    TableFunction {
        name: "interval_merge",
        example: "SELECT * FROM interval_merge(process_state, recording, core)",
        doc: "The union of the intervals of each key: intervals that overlap or touch become one.",
        arguments: &[INTERVALS, KEYS],
        columns: &[
            OF_KEYS,
            row("begin_at", "time", "Begin of the union."),
            row("end_at", "time", "End of the union, not part of it."),
            row("intervals", "integer", "How many intervals became this one."),
        ],
    },
    TableFunction {
        name: "interval_gaps",
        example: "SELECT * FROM interval_gaps(process_state, recording, core, from => 0, to => 1000000)",
        doc: "The spans between the intervals of each key, from the first begin to the last end, or within bounds. A key without \
              any interval is unknown, and has no gap.",
        arguments: &[
            INTERVALS,
            KEYS,
            row(
                "from =>",
                "time",
                "Where to begin instead, before or after the first interval; a column is read in the first row of the \
                 key.",
            ),
            row("to =>", "time", "Where to end instead."),
        ],
        columns: &[
            OF_KEYS,
            row("begin_at", "time", "Begin of the gap."),
            row("end_at", "time", "End of the gap, not part of it."),
        ],
    },
    TableFunction {
        name: "interval_intersect",
        example: "SELECT * FROM interval_intersect(core_slice, (SELECT * FROM process_state WHERE state = 'ready'), recording, core)",
        doc: "The spans in which an interval of the first relation and one of the second overlap: one row per pair.",
        arguments: &[
            row("first, second", "relations", "With the columns `begin_at` and `end_at`."),
            SAME_KEYS,
        ],
        columns: &[
            OF_KEYS,
            row("begin_at", "time", "Begin of the common span."),
            row("end_at", "time", "End of the common span, not part of it."),
            row(
                "…",
                "as given",
                "The other columns of the first relation, then those of the second. Names that exist already end \
                 with `_2`.",
            ),
        ],
    },
    TableFunction {
        name: "concurrency",
        example: "SELECT * FROM concurrency((SELECT * FROM process_state WHERE state = 'ready'), recording)",
        doc: "How many intervals of each key are open, in steps: one row per span in which the number does not change, from the \
              first begin to the last end without a gap.",
        arguments: &[INTERVALS, KEYS],
        columns: &[
            OF_KEYS,
            row("begin_at", "time", "Begin of the span."),
            row("end_at", "time", "End of the span, not part of it."),
            row("open", "integer", "How many intervals are open; 0 between them."),
        ],
    },
    TableFunction {
        name: "buckets",
        example: "SELECT core, bucket_at, sum(end_at - begin_at) FROM buckets(core_slice, 10000000) GROUP BY core, bucket_at",
        doc: "The intervals, cut at the borders of windows `[k * width, (k + 1) * width)`: one row per interval and each of its \
              windows. At most ten million windows per interval.",
        arguments: &[INTERVALS, row("width", "duration", "Length of a window: a number, or a parameter.")],
        columns: &[
            row(
                "…",
                "as given",
                "The columns of the intervals; `begin_at` and `end_at` are those of the piece.",
            ),
            row("bucket_at", "time", "Begin of the window."),
        ],
    },
    TableFunction {
        name: "pair",
        example: "SELECT * FROM pair(function_event, recording, core, begin => kind = 'entry', end => kind = 'exit', name => function)",
        doc: "Begins and ends as intervals: an end belongs to the innermost open begin of its key. A begin without an end, or an \
              end without a begin, is kept and not `complete`. Events are taken in the order of `time`. Within an instant the \
              order is that of `seq`; without a column `seq`, ends come first. An event that is both an end and a begin ends \
              something first. An event that is neither, or has no time, is left out.",
        arguments: &[
            row("events", "relation", "With the column `time`."),
            row("key, …", "columns", "Events with different keys are independent of each other."),
            row("begin =>", "condition", "Whether an event begins something. Required."),
            row("end =>", "condition", "Whether an event ends something. Required."),
            row(
                "name =>",
                "column",
                "An end belongs to the innermost open begin with the same name. An interval that began within it and \
                 did not end (its end was lost) is not complete.",
            ),
        ],
        columns: &[
            row(
                "…",
                "as given",
                "The columns of the event that begins the interval, except `time`; those of the end if there is no begin.",
            ),
            row("begin_at", "time", "Begin; NULL if the end has none."),
            row("end_at", "time", "End, not part of the interval; NULL if there is none."),
            row(
                "depth",
                "integer",
                "How many intervals of the key were open at the begin; NULL if there is none.",
            ),
            row("complete", "boolean", "Whether there are a begin and an end."),
        ],
    },
    TableFunction {
        name: "as_of",
        example: "SELECT * FROM as_of(data_event, (SELECT recording, core, process, begin_at AS time FROM process_state \
                  WHERE state = 'running'), recording, core)",
        doc: "Every row of the first relation, with the latest row of the second one whose `time` is not after its \
              own: what was the case then. Of several such rows of an instant, the one with the highest `seq` counts, if there \
              is such a column.",
        arguments: &[row("first, second", "relations", "With the column `time`."), SAME_KEYS],
        columns: &[row(
            "…",
            "as given",
            "The columns of the first relation, then those of the second except the keys. Names that exist already \
                 end with `_2`. The columns are NULL if there is no row.",
        )],
    },
];
