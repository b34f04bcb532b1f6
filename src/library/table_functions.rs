//! The list of table functions, with what they take and give: for the documentation, completion and suggestions. Not for
//! planning them (see `engine::table_functions`).

use std::borrow::Cow;

use super::queries::Documented;

/// A function that is called in FROM.
#[derive(Debug, PartialEq, Eq)]
pub struct TableFunction {
    /// Name in SQL.
    pub name: &'static str,
    /// An example of a call.
    pub example: &'static str,
    /// What a row of the result is, and what has to be known.
    pub doc: &'static str,
    /// Arguments; those with an arrow behind their name are given by name, and optional unless the text says otherwise.
    pub arguments: &'static [Documented],
    /// Columns of the result.
    pub columns: &'static [Documented],
}

const fn row(name: &'static str, ty: &'static str, doc: &'static str) -> Documented {
    Documented { name: Cow::Borrowed(name), ty: Cow::Borrowed(ty), doc: Cow::Borrowed(doc) }
}

const INTERVALS: Documented = row("intervals", "relation", "With the columns `begin_at` and `end_at`.");
const KEYS: Documented = row(
    "key, …",
    "columns",
    "Intervals with different keys have nothing to do with each other. None: all belong together.",
);
const SAME_KEYS: Documented =
    row("key, …", "columns", "Have to be equal on both sides; NULL equals nothing.");
const OF_KEYS: Documented = row("key, …", "as given", "The keys.");

/// All of them, in the order in which they are listed.
pub static TABLE_FUNCTIONS: &[TableFunction] = &[
    TableFunction {
        name: "interval_merge",
        example: "SELECT * FROM interval_merge(process_state, recording, core)",
        doc: "The union of the intervals of each key: intervals that overlap or touch become one.",
        arguments: &[INTERVALS, KEYS],
        columns: &[
            OF_KEYS,
            row("begin_at", "time", "Begin of the stretch."),
            row("end_at", "time", "End of the stretch, not part of it."),
            row("intervals", "integer", "How many intervals became this one."),
        ],
    },
    TableFunction {
        name: "interval_gaps",
        example: "SELECT * FROM interval_gaps(process_state, recording, core, from => 0, to => 1000000)",
        doc: "What lies between the intervals of each key, from the first begin to the last end, or within bounds. A key without \
              any interval is not known, and has no gap.",
        arguments: &[
            INTERVALS,
            KEYS,
            row(
                "from =>",
                "time",
                "Where to begin instead, before the first interval or behind it; a column is read in the \
                 first row of the key.",
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
        doc: "The stretches in which an interval of the first relation and one of the second overlap: one row per pair.",
        arguments: &[
            row("first, second", "relations", "With the columns `begin_at` and `end_at`."),
            SAME_KEYS,
        ],
        columns: &[
            OF_KEYS,
            row("begin_at", "time", "Begin of what they have in common."),
            row("end_at", "time", "End of it, not part of it."),
            row(
                "…",
                "as given",
                "The other columns of the first relation, then those of the second: with `_2` behind names \
                 that are there already.",
            ),
        ],
    },
    TableFunction {
        name: "concurrency",
        example: "SELECT * FROM concurrency((SELECT * FROM process_state WHERE state = 'ready'), recording)",
        doc: "How many intervals of each key are open, in steps: one row per stretch in which that does not change, from the first \
              begin to the last end without a hole.",
        arguments: &[INTERVALS, KEYS],
        columns: &[
            OF_KEYS,
            row("begin_at", "time", "Begin of the stretch."),
            row("end_at", "time", "End of the stretch, not part of it."),
            row("open", "integer", "How many intervals are open; 0 between them."),
        ],
    },
    TableFunction {
        name: "buckets",
        example: "SELECT core, bucket_at, sum(end_at - begin_at) FROM buckets(core_slice, 10000000) GROUP BY core, bucket_at",
        doc: "The intervals, cut at the borders of windows `[k * width, (k + 1) * width)`: one row per interval and window that it \
              lies in. At most ten million windows per interval.",
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
        doc: "Events that begin something and events that end it, as intervals: an end belongs to the innermost begin of its key \
              that is open. What has no end or no begin is kept, and not `complete`. Events are taken in the order of `time`, those \
              of an instant in that of `seq` where there is such a column; where there is none, ends come first. An event that is \
              both ends something first; one that is neither, or has no time, is left out.",
        arguments: &[
            row("events", "relation", "With the column `time`."),
            row("key, …", "columns", "Events with different keys have nothing to do with each other."),
            row("begin =>", "condition", "Whether an event begins something. Has to be given."),
            row("end =>", "condition", "Whether an event ends something. Has to be given."),
            row(
                "name =>",
                "column",
                "An end belongs to the innermost open begin with the same name; what was begun within it and \
                 not ended (the end was lost) is not complete.",
            ),
        ],
        columns: &[
            row(
                "…",
                "as given",
                "The columns of the event that begins the interval, except `time`; of the end where there is no begin.",
            ),
            row("begin_at", "time", "Begin; NULL where an end has none."),
            row("end_at", "time", "End, not part of the interval; NULL where there is none."),
            row(
                "depth",
                "integer",
                "How many intervals of the key were open at the begin; NULL where there is none.",
            ),
            row("complete", "boolean", "Whether begin and end are there."),
        ],
    },
    TableFunction {
        name: "as_of",
        example: "SELECT * FROM as_of(data_event, (SELECT recording, core, process, begin_at AS time FROM process_state \
                  WHERE state = 'running'), recording, core)",
        doc: "Every row of the first relation, with the latest row of the second one whose `time` is not behind its \
              own: what was the case then. Of several such rows of an instant, the one with the highest `seq` counts, where there \
              is such a column.",
        arguments: &[row("first, second", "relations", "With the column `time`."), SAME_KEYS],
        columns: &[row(
            "…",
            "as given",
            "The columns of the first relation, then those of the second except the keys: with `_2` behind \
                 names that are there already, and NULL where there is no row.",
        )],
    },
];
