-- One row per setting of an OS event, until its task clears it.
--
-- column: recording text Recording.
-- column: event text Event.
-- column: process text Task that owns the event.
-- column: set_at time When it was set.
-- column: set_by text Process or stimulus that set it.
-- column: set_by_instance integer Instance of that.
-- column: clear_at time When the task cleared it; NULL if the recording does not show that before the next setting.
-- column: latency duration From the setting to the clearing.
-- column: lost boolean True if it was set again before it was cleared; NULL if the recording does not show what came next.
WITH
    step AS (
        SELECT
            recording, target AS event, action, time, seq, source, source_instance,
            CASE WHEN is_action(action, 'set_event') THEN note ELSE source END AS owner
        FROM btf_event
        WHERE is_type(target_type, 'EVENT') AND is_action(action, 'set_event', 'clear_event')
    ),
    followed AS (
        SELECT *, lead(action) OVER w AS next_action, lead(time) OVER w AS next_at
        FROM step
        WINDOW w AS (PARTITION BY recording, owner, event ORDER BY time, seq)
    ),
    -- Tasks that were seen on one core only.
    home AS (
        SELECT recording, process, min(core) AS core
        FROM process_instance
        GROUP BY recording, process
        HAVING count(DISTINCT core) = 1
    ),
    setting AS (
        SELECT
            f.*,
            coalesce(gap_after(f.recording, h.core, f.time) < f.next_at, false) AS is_clearing_unknown,
            coalesce(gap_after(f.recording, NULL, f.time) < f.next_at, false) AS is_next_unknown
        FROM followed AS f
        LEFT JOIN home AS h ON f.recording = h.recording AND f.owner = h.process
        WHERE is_action(f.action, 'set_event')
    )
SELECT
    recording,
    event,
    owner AS process,
    time AS set_at,
    source AS set_by,
    source_instance AS set_by_instance,
    CASE WHEN is_action(next_action, 'clear_event') AND NOT is_clearing_unknown THEN next_at END AS clear_at,
    CASE WHEN is_action(next_action, 'clear_event') AND NOT is_clearing_unknown THEN next_at - time END AS latency,
    CASE WHEN NOT is_next_unknown THEN is_action(next_action, 'set_event') END AS lost
FROM setting
