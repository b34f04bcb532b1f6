-- One row per execution of a runnable: how much of its net execution time is its own, and how much that of the runnables it
-- called.
--
-- BTF does not name the caller of a runnable: it is the one that was open one level above it in the same process instance.
-- column: recording text Recording.
-- column: runnable text Runnable.
-- column: instance integer Number of the execution.
-- column: process text Task or ISR that ran it.
-- column: process_instance integer Instance of that.
-- column: core text Core it ran on last.
-- column: depth integer How many runnables of the same process instance enclose it.
-- column: start_at time Start, if seen.
-- column: terminate_at time Termination, if seen.
-- column: net duration Time it was RUNNING, called runnables included.
-- column: callees duration Part of that in which the runnables that it called were RUNNING; NULL when its start or its process is unknown.
-- column: own duration The rest: its own time.
-- column: complete boolean False when the start of the trace, its end or a gap cuts it off.
WITH
    span AS (
        -- One that was cut off lasted for as long as it was seen.
        SELECT *, start_at AS begin_at, coalesce(terminate_at, start_at + running + suspended) AS end_at
        FROM runnable_instance
    ),
    called AS (
        SELECT caller.recording, caller.runnable, caller.instance, caller.start_at, sum(callee.running) AS running
        FROM span AS caller
        JOIN span AS callee
            ON caller.recording = callee.recording
            AND caller.process = callee.process
            AND caller.process_instance = callee.process_instance
            AND caller.depth = callee.depth - 1
            AND caller.begin_at < callee.end_at
            AND callee.begin_at < caller.end_at
        GROUP BY caller.recording, caller.runnable, caller.instance, caller.start_at
    ),
    divided AS (
        SELECT
            r.*,
            CASE WHEN r.start_at IS NOT NULL AND r.process IS NOT NULL THEN coalesce(c.running, 0) END AS callees
        FROM runnable_instance AS r
        LEFT JOIN called AS c
            ON r.recording = c.recording
            AND r.runnable = c.runnable
            AND r.instance = c.instance
            AND r.start_at = c.start_at
    )
SELECT
    recording,
    runnable,
    instance,
    process,
    process_instance,
    core,
    depth,
    start_at,
    terminate_at,
    running AS net,
    callees,
    running - callees AS own,
    complete
FROM divided
