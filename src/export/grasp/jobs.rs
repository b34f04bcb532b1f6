//! What happens to jobs, in the order of time, from the derived tables. Not for how it is written.

use super::Part;
use crate::btf::spec::EntityType;
use crate::engine::ResultStream;
use crate::error::Result;
use crate::export::cursor::Cursor;
use crate::schema::columns::process_state as state;
use crate::selection::Selection;
use crate::words::words;

/// An instance of a task or ISR.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Job {
    pub kind: EntityType,
    pub process: String,
    pub instance: i64,
}

words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum JobAction {
        Arrive = "arrive",
        /// It leaves its core: ready or parking, waiting, or ended.
        Preempt = "preempt",
        Block = "block",
        Complete = "complete",
        /// It gets a core, or moves to another one.
        Resume = "resume",
        /// It starts and ends at the same instant.
        Pass = "pass",
        /// It polls on its core, which Grasp does not distinguish from running.
        Poll = "poll",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub act: JobAction,
    pub job: Job,
    pub core: Option<String>,
}

pub(super) struct Jobs {
    rows: Cursor<ResultStream>,
    more: bool,
}

impl Jobs {
    pub fn of(part: Part<'_>) -> Result<Self> {
        let Part { session, selection, recording } = part;
        let entities = [state::PROCESS, state::CORE];
        let whole = Selection { from: None, to: None, ..selection.clone() };
        let condition = whole.overlap(recording, ("0", "0"), &entities, &[state::TYPE]);
        let (rows, mut params) = (condition.sql(), condition.params());
        let (from, to) = (selection.from.unwrap_or(i64::MIN), selection.to.unwrap_or(i64::MAX));
        let end = session.database().recording(recording)?.and_then(|recording| recording.end_at);
        params.extend([("from", from.into()), ("to", to.into()), ("end", end.unwrap_or(i64::MAX).into())]);
        // A span on a core begins if the job was not there right before, and ends if it is not right after.
        // Where nothing is known after it, and it did not end, it is not drawn as going on.
        let sql = format!(
            "WITH stretch AS (
                SELECT *,
                    lag(state) OVER w AS state_before, lag(core) OVER w AS core_before, lag(end_at) OVER w AS end_before,
                    lead(state) OVER w AS state_after, lead(core) OVER w AS core_after, lead(begin_at) OVER w AS begin_after
                FROM process_state {rows}
                WINDOW w AS (PARTITION BY process, type, instance ORDER BY begin_at)
            ),
            placed AS (
                SELECT *,
                    coalesce(end_before = begin_at AND state_before IN ('running', 'polling') AND core_before = core, FALSE)
                        AS goes_on,
                    coalesce(begin_after = end_at, FALSE) AS known_after,
                    coalesce(begin_after = end_at AND state_after IN ('running', 'polling') AND core_after = core, FALSE)
                        AS stays
                FROM stretch
            ),
            step AS (
                SELECT activate_at AS at, 0 AS rank, 'arrive' AS act, process, type, instance, core
                FROM process_instance {rows} AND activate_at IS NOT NULL
                UNION ALL
                SELECT end_at, 1, CASE WHEN state_after = 'waiting' THEN 'block' ELSE 'preempt' END,
                    process, type, instance, core
                FROM placed WHERE state IN ('running', 'polling') AND known_after AND NOT stays
                UNION ALL
                SELECT p.end_at, 1, 'preempt', p.process, p.type, p.instance, p.core
                FROM placed AS p LEFT ANTI JOIN process_instance AS i ON i.recording = p.recording
                    AND i.process = p.process AND i.type = p.type AND i.instance = p.instance
                    AND i.terminate_at = p.end_at
                WHERE p.state IN ('running', 'polling') AND NOT p.known_after AND p.end_at < $end
                UNION ALL
                SELECT terminate_at, CASE WHEN running + polling = 0 THEN 2 ELSE 1 END,
                    CASE WHEN running + polling = 0 THEN 'pass' ELSE 'complete' END, process, type, instance, core
                FROM process_instance {rows} AND terminate_at IS NOT NULL
                UNION ALL
                SELECT greatest(begin_at, $from), 2, 'resume', process, type, instance, core
                FROM placed WHERE state IN ('running', 'polling') AND (NOT goes_on OR begin_at < $from) AND end_at > $from
                UNION ALL
                SELECT begin_at, 3, 'poll', process, type, instance, core FROM placed WHERE state = 'polling'
            )
            SELECT at, act, process, type, instance, core FROM step WHERE at >= $from AND at < $to
            ORDER BY at, rank, process, type, instance, act"
        );
        let mut rows = Cursor::new(session.sql(&sql, &params)?);
        let more = rows.next()?;
        Ok(Self { rows, more })
    }

    /// When the next step is; `None` after the last one.
    pub fn at(&self) -> Option<i64> {
        self.rows.int(0).filter(|_| self.more)
    }

    pub fn take(&mut self) -> Result<Step> {
        let rows = &self.rows;
        let step = Step {
            act: JobAction::parse(rows.name(1)).unwrap_or(JobAction::Resume),
            job: Job {
                process: rows.name(2).to_owned(),
                kind: EntityType::parse_tolerant(rows.name(3)).unwrap_or(EntityType::Task),
                instance: rows.int(4).unwrap_or(0),
            },
            core: rows.text(5).map(str::to_owned),
        };
        self.more = self.rows.next()?;
        Ok(step)
    }
}
