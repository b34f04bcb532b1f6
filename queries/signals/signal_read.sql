-- One row per read of a signal, with the write whose value it got.
--
-- column: recording text Recording.
-- column: signal text Signal.
-- column: read_at time When it was read.
-- column: reader text Process that read it.
-- column: reader_instance integer Instance of that process.
-- column: value text Value, where the trace has it.
-- column: write_at time Last write before; NULL when the recording shows none, or a gap may hide a later one.
-- column: writer text Process or stimulus that wrote it then.
-- column: writer_instance integer Instance of that process.
-- column: age duration From the write to the read.
-- column: first boolean True if this is the first read after the write, so the value was new; NULL if that is not known.
WITH
    access AS (
        SELECT
            recording, target, action, time, source, source_instance, note,
            last_value(CASE WHEN is_action(action, 'write') THEN time END) IGNORE NULLS OVER w AS write_at,
            last_value(CASE WHEN is_action(action, 'write') THEN source END) IGNORE NULLS OVER w AS writer,
            last_value(CASE WHEN is_action(action, 'write') THEN source_instance END) IGNORE NULLS OVER w
                AS writer_instance,
            lag(action) OVER (PARTITION BY recording, target ORDER BY time, seq) AS before,
            lag(time) OVER (PARTITION BY recording, target ORDER BY time, seq) AS before_at
        FROM btf_event
        WHERE is_type(target_type, 'SIG') AND is_action(action, 'read', 'write')
        WINDOW w AS (
            PARTITION BY recording, target ORDER BY time, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ),
    judged AS (
        SELECT
            *,
            coalesce(gap_after(recording, NULL, write_at) >= time, true) AS is_known,
            coalesce(gap_after(recording, NULL, before_at) >= time, true) AS is_next
        FROM access
        WHERE is_action(action, 'read')
    )
SELECT
    recording,
    target AS signal,
    time AS read_at,
    source AS reader,
    source_instance AS reader_instance,
    note AS value,
    CASE WHEN is_known THEN write_at END AS write_at,
    CASE WHEN is_known THEN writer END AS writer,
    CASE WHEN is_known THEN writer_instance END AS writer_instance,
    CASE WHEN is_known THEN time - write_at END AS age,
    CASE WHEN is_next THEN is_action(before, 'write') END AS first
FROM judged
