//! The list of table functions whose rows an operation makes, with their arguments and columns. Not the
//! operations (see `ops::made`), and not for calling them (see `engine::table_functions::made`).

use super::definition::Documented;
use super::queries::Queries;
use super::table_functions::{TableFunction, row};

/// A table function whose rows come from an analysis, and not from a plan of SQL.
#[derive(Debug)]
pub struct MadeFunction {
    /// Its name, an example, its arguments, which are texts, and its columns, unless those are of a view.
    pub function: TableFunction,
    /// The view whose header has its columns.
    pub view: Option<&'static str>,
    /// How many arguments it needs, and how many it can have.
    pub arguments: (usize, usize),
}

impl MadeFunction {
    /// The columns of its rows, in order.
    pub fn columns(&self) -> Vec<Documented> {
        let Some(name) = self.view else { return self.function.columns.to_vec() };
        let queries = Queries::shipped();
        let view = queries.views().iter().find(|view| view.name == name);
        view.map_or_else(Vec::new, |view| view.columns.clone())
    }
}

/// One without arguments, which a view calls.
const fn of_view(name: &'static str, example: &'static str, view: &'static str) -> MadeFunction {
    let function = TableFunction { name, example, doc: "", arguments: &[], columns: &[] };
    MadeFunction { function, view: Some(view), arguments: (0, 0) }
}

/// All of them. Those without a text are called by a view, which is documented.
pub static MADE_FUNCTIONS: &[MadeFunction] = &[
    of_view("response_bounds", "SELECT * FROM response_bound", "response_bound"),
    of_view("bound_assumptions", "SELECT * FROM bound_assumption", "bound_assumption"),
    of_view("requirement_verdicts", "SELECT * FROM requirement_verdict", "requirement_verdict"),
    of_view("requirement_violations", "SELECT * FROM requirement_violation", "requirement_violation"),
    MadeFunction {
        function: TableFunction {
            name: "tails",
            example: "SELECT entity, method, level, refused FROM tails('StartDelay') WHERE one_in = 1000000 OR refused IS NOT NULL",
            doc: "How rare greater samples of metrics are: view `tail`, for other metrics than those of execution and response \
                  times.",
            arguments: &[row(
                "'metric', …",
                "texts",
                "Names of metrics whose samples are times or counts of instances; those of the view if there is none.",
            )],
            columns: &[row("…", "as given", "The columns of the view `tail`.")],
        },
        view: Some("tail"),
        arguments: (0, 64),
    },
    MadeFunction {
        function: TableFunction {
            name: "regressions",
            example: "SELECT metric, entity, statistic, effect, percent, p_value FROM regressions('build=41', 'build=42') WHERE fails",
            doc: "Whether metrics are others in the recordings of a new build than in those of an earlier one, as `btfdb regress` tests \
                  it with a gate that has only defaults: a row per metric, entity and statistic. Probabilities are corrected for the \
                  number of tests: of all metrics and entities of the call, not of those that a condition leaves.",
            arguments: &[
                row(
                    "'base'",
                    "text",
                    "Recordings of the build before: a name, a list of names and patterns, or LABEL=VALUE. '': all others.",
                ),
                row("'new'", "text", "Recordings of the new build."),
                row(
                    "'metrics'",
                    "text",
                    "A list of metrics of durations; those of `btfdb regress` if it is left out, or ''.",
                ),
                row("'entities'", "text", "A list of names and patterns; all if it is left out."),
            ],
            columns: &[
                row("metric", "text", "Metric."),
                row("entity", "text", "Task, ISR or runnable."),
                row("type", "text", "Its type, as in btf_event."),
                row("statistic", "text", "`mean` or `p99`; NULL where one side has no samples."),
                row("count_before", "integer", "Samples of the build before."),
                row("count_after", "integer", "Samples of the new build."),
                row("before", "duration as number", "The statistic before."),
                row("after", "duration as number", "The statistic after."),
                row("effect", "duration as number", "How much greater it is."),
                row("percent", "percent", "The same as a part of the value before."),
                row("low", "duration as number", "Lower end of the interval of the effect, of 95 %."),
                row("high", "duration as number", "Upper end."),
                row(
                    "p_value",
                    "number",
                    "The probability of such an effect if nothing changed, corrected for the number of tests; NULL without a test.",
                ),
                row(
                    "detectable",
                    "duration as number",
                    "The least effect that would have been found in 95 of 100 cases.",
                ),
                row(
                    "needed",
                    "number",
                    "How many times as many samples would tell a change that matters from none.",
                ),
                row(
                    "verdict",
                    "text",
                    "`changed`, `unchanged`, `not enough data`, `only before` or `only after`.",
                ),
                row("fails", "boolean", "Whether it changed, so that `btfdb regress` has exit code 3."),
                row(
                    "basis",
                    "text",
                    "What the test rests on: `recordings`, `blocks` (of instances within recordings) or `constants`.",
                ),
                row(
                    "hindrance",
                    "text",
                    "Why there is no test: `few samples`, `few events`, `unsteady` or `overloaded`.",
                ),
                row(
                    "between_runs",
                    "number",
                    "By how much recordings of a side differ more than their instances suggest, as a factor of the variance.",
                ),
                row(
                    "cause_entity",
                    "text",
                    "Of a mean response time that changed, the first cause: whose part it is.",
                ),
                row("cause_kind", "text", "Kind of that part, as in response_part."),
                row("cause", "text", "What it executes, or whom it waits for; empty where nobody is known."),
                row("cause_explains", "duration as number", "About how much of the effect it accounts for."),
                row("cause_sure", "boolean", "Whether the part changed by more than chance."),
                row("cause_path", "text", "From the entity to that of the cause."),
            ],
        },
        view: None,
        arguments: (2, 4),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that is broken in the source is one in the text.
    #[test]
    fn texts_have_no_runs_of_blanks() {
        for MadeFunction { function, .. } in MADE_FUNCTIONS {
            let rows = function.arguments.iter().chain(function.columns);
            let texts = rows.map(|row| row.doc.clone()).chain([function.doc.into()]);
            for text in texts {
                assert!(!text.contains("  "), "{}: {text}", function.name);
            }
        }
    }
}
