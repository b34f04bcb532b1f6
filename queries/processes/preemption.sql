-- Which process preempts which: one row per process and other process that ran while an instance of the first one was READY or
-- PARKING on the same core.
--
-- column: recording text Recording.
-- column: process text Task or ISR that was preempted.
-- column: type text T (task) or I (ISR).
-- column: by_process text Task or ISR that ran.
-- column: by_type text T (task) or I (ISR).
-- column: preemptions integer How often it was the first to run after the core was taken away; not after a wait.
-- column: stretches integer How often it ran during such a time, as the first one or not.
-- column: total duration How long it ran during such times.
-- column: longest duration The longest span of it.
-- column: longest_at time Begin of the first span that long.
WITH
    entered AS (
        SELECT
            recording, process, type, instance, state, begin_at,
            lag(state) OVER (PARTITION BY recording, process, type, instance ORDER BY begin_at) AS before
        FROM process_state
    ),
    taken AS (
        SELECT recording, process, type, instance, begin_at
        FROM entered
        WHERE state = 'ready' AND before = 'running' OR state = 'parking' AND before = 'polling'
    ),
    ranked AS (
        SELECT
            i.recording, i.process, i.type, i.by_process, i.by_type, i.begin_at, i.end_at - i.begin_at AS length,
            t.begin_at IS NOT NULL AS preempted,
            row_number() OVER (PARTITION BY i.recording, i.process, i.type, i.instance, i.wait_at ORDER BY i.begin_at) AS nth
        FROM taken AS t
        RIGHT JOIN interference AS i
            ON t.recording = i.recording
            AND t.process = i.process
            AND t.type = i.type
            AND t.instance = i.instance
            AND t.begin_at = i.wait_at
        WHERE i.state IN ('ready', 'parking')
    )
SELECT
    recording,
    process,
    type,
    by_process,
    by_type,
    count(*) FILTER (WHERE nth = 1 AND preempted) AS preemptions,
    count(*) AS stretches,
    sum(length) AS total,
    max(length) AS longest,
    first_value(begin_at ORDER BY length DESC, begin_at) AS longest_at
FROM ranked
GROUP BY recording, process, type, by_process, by_type
