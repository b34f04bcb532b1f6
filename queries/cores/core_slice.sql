-- One row per span of a core in which one process occupies it, or none does.
--
-- Every core that a process ran on is covered from the begin of its recording to the end. An idle span in which a gap of the
-- trace begins is left out, because it is unknown what ran there. A core is also idle while an idle task runs.
-- column: recording text Recording.
-- column: core text Core.
-- column: process text Task or ISR that is RUNNING or POLLING; NULL while the core is idle.
-- column: type text T (task) or I (ISR); NULL while the core is idle.
-- column: instance integer Instance of the process; NULL while the core is idle.
-- column: begin_at time Begin of the span.
-- column: end_at time End of the span, not part of it.
WITH
    busy AS (
        SELECT recording, core, process, type, instance, begin_at, end_at
        FROM process_state
        WHERE state IN ('running', 'polling') AND NOT idle AND core IS NOT NULL
    ),
    -- An empty stretch at the end of the recording, so that the idle time before it is found like any other.
    closed AS (
        SELECT recording, core, process, type, instance, begin_at, end_at FROM busy
        UNION ALL
        SELECT c.recording, c.core, NULL, NULL, NULL, r.end_at AS begin_at, r.end_at AS end_at
        FROM (
            SELECT DISTINCT recording, core
            FROM process_state
            WHERE state IN ('running', 'polling') AND core IS NOT NULL
        ) AS c
        JOIN recording AS r ON c.recording = r.recording
    ),
    preceded AS (
        SELECT
            c.recording, c.core, c.begin_at AS end_at,
            coalesce(
                lag(c.end_at) OVER (PARTITION BY c.recording, c.core ORDER BY c.begin_at, c.end_at), r.begin_at
            ) AS begin_at
        FROM closed AS c
        JOIN recording AS r ON c.recording = r.recording
    )
SELECT recording, core, process, type, instance, begin_at, end_at
FROM busy
UNION ALL
SELECT recording, core, NULL, NULL, NULL, begin_at, end_at
FROM preceded
WHERE begin_at < end_at AND NOT gap_between(recording, core, begin_at, core, end_at)
