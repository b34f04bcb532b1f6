-- One row per request of a semaphore, resource or spinlock: how long it took to get it, and which process had it.
--
-- column: recording text Recording.
-- column: semaphore text Semaphore.
-- column: process text Task or ISR that asked for it.
-- column: instance integer Instance that asked for it.
-- column: request_at time When it asked.
-- column: assigned_at time When it got it; NULL when the recording does not show that.
-- column: waited duration From the request to the assignment.
-- column: held_by text Task or ISR that had it last, if the request had to wait and no gap may hide another.
-- column: held_by_instance integer Instance of that.
-- column: lost_at time Begin of the gap that hides when it got it; NULL if no gap does.
WITH
    step AS (
        SELECT
            recording, target, source, source_instance, action, time, seq,
            last_value(CASE WHEN is_action(action, 'assigned') THEN source END) IGNORE NULLS OVER w AS holder,
            last_value(CASE WHEN is_action(action, 'assigned') THEN source_instance END) IGNORE NULLS OVER w
                AS holder_instance,
            last_value(CASE WHEN is_action(action, 'assigned') THEN time END) IGNORE NULLS OVER w AS holder_at
        FROM btf_event
        WHERE is_type(target_type, 'SEM') AND is_action(action, 'requestsemaphore', 'waiting', 'assigned')
        WINDOW w AS (
            PARTITION BY recording, target ORDER BY time, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ),
    followed AS (
        SELECT
            *,
            lead(action) OVER w AS second,
            lead(time) OVER w AS second_at,
            lead(action, 2) OVER w AS third,
            lead(time, 2) OVER w AS third_at
        FROM step
        WINDOW w AS (PARTITION BY recording, target, source, source_instance ORDER BY time, seq)
    ),
    request AS (
        SELECT
            f.*,
            second IS NOT NULL AND is_action(second, 'waiting') AS waited,
            gap_after(f.recording, p.core, time) AS gap_at,
            coalesce(gap_after(f.recording, NULL, holder_at) < time, false) AS is_holder_unknown,
            CASE
                WHEN is_action(second, 'assigned') THEN second_at
                WHEN is_action(second, 'waiting') AND is_action(third, 'assigned') THEN third_at
            END AS next_at
        FROM followed AS f
        LEFT JOIN instance_core AS p
            ON f.recording = p.recording AND f.source = p.process AND f.source_instance = p.instance
        WHERE is_action(action, 'requestsemaphore')
    ),
    shown AS (
        SELECT *, CASE WHEN coalesce(next_at <= gap_at, true) THEN next_at END AS assigned_at
        FROM request
    )
SELECT
    recording,
    target AS semaphore,
    source AS process,
    source_instance AS instance,
    time AS request_at,
    assigned_at,
    assigned_at - time AS waited,
    CASE WHEN waited AND NOT is_holder_unknown THEN holder END AS held_by,
    CASE WHEN waited AND NOT is_holder_unknown THEN holder_instance END AS held_by_instance,
    CASE WHEN assigned_at IS NULL THEN gap_at END AS lost_at
FROM shown
