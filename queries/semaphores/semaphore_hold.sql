-- One row per time that a process instance held a semaphore, resource or spinlock.
--
-- column: recording text Recording.
-- column: semaphore text Semaphore.
-- column: process text Task or ISR that held it.
-- column: instance integer Instance that held it.
-- column: assigned_at time When it got it.
-- column: released_at time When it gave it back; NULL when the recording does not show that.
-- column: held duration From the assignment to the release.
-- column: lost_at time Begin of the gap that hides when it gave it back; NULL if no gap does.
WITH
    step AS (
        SELECT
            recording, target, source, source_instance, action, time,
            lead(action) OVER w AS next_action,
            lead(time) OVER w AS next_at
        FROM btf_event
        WHERE is_type(target_type, 'SEM') AND is_action(action, 'assigned', 'released')
        WINDOW w AS (PARTITION BY recording, target, source, source_instance ORDER BY time, seq)
    ),
    hold AS (
        SELECT
            s.*,
            gap_after(s.recording, p.core, s.time) AS gap_at
        FROM step AS s
        LEFT JOIN instance_core AS p
            ON s.recording = p.recording AND s.source = p.process AND s.source_instance = p.instance
        WHERE is_action(s.action, 'assigned')
    ),
    shown AS (
        SELECT
            *,
            CASE WHEN is_action(next_action, 'released') AND coalesce(next_at <= gap_at, true) THEN next_at END
                AS released_at
        FROM hold
    )
SELECT
    recording,
    target AS semaphore,
    source AS process,
    source_instance AS instance,
    time AS assigned_at,
    released_at,
    released_at - time AS held,
    CASE WHEN released_at IS NULL THEN gap_at END AS lost_at
FROM shown
