-- One row per wait of a task for an OS event.
--
-- column: recording text Recording.
-- column: event text Event.
-- column: process text Task that waits; the event is its own.
-- column: instance integer Instance that waits.
-- column: wait_at time When it began to wait.
-- column: set_at time When the event was set; `wait_at` when it was set already, NULL if nothing shows when.
-- column: set_by text Process or stimulus that set it.
-- column: waited duration From the wait to the setting.
WITH
    step AS (
        SELECT
            recording, target AS event, action, time, seq, source, source_instance,
            CASE WHEN is_action(action, 'set_event') THEN note ELSE source END AS owner
        FROM btf_event
        WHERE is_type(target_type, 'EVENT') AND is_action(action, 'wait_event', 'set_event', 'clear_event')
    ),
    around AS (
        SELECT
            *,
            lag(action) OVER w AS before,
            lag(source) OVER w AS before_by,
            lag(time) OVER w AS before_at,
            lead(action) OVER w AS next_action,
            lead(time) OVER w AS next_at,
            lead(source) OVER w AS next_by
        FROM step
        WINDOW w AS (PARTITION BY recording, owner, event ORDER BY time, seq)
    ),
    wait AS (
        SELECT
            a.*,
            is_action(before, 'set_event') AND coalesce(gap_after(a.recording, p.core, before_at) >= time, true)
                AS is_set,
            is_action(next_action, 'set_event') AND coalesce(gap_after(a.recording, p.core, time) >= next_at, true)
                AS is_set_later
        FROM around AS a
        LEFT JOIN instance_core AS p
            ON a.recording = p.recording AND a.source = p.process AND a.source_instance = p.instance
        WHERE is_action(action, 'wait_event')
    ),
    answered AS (
        SELECT
            *,
            CASE WHEN is_set THEN time WHEN is_set_later THEN next_at END AS set_at,
            CASE WHEN is_set THEN before_by WHEN is_set_later THEN next_by END AS set_by
        FROM wait
    )
SELECT
    recording,
    event,
    source AS process,
    source_instance AS instance,
    time AS wait_at,
    set_at,
    set_by,
    set_at - time AS waited
FROM answered
