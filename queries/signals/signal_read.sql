-- One row per read of a signal, with the write whose value it got.
--
-- column: recording text Recording.
-- column: signal text Signal.
-- column: read_at time When it was read.
-- column: reader text Process that read it.
-- column: reader_instance integer Instance of that process.
-- column: value text Value, where the trace has it.
-- column: write_at time Last write before; NULL when the recording shows none.
-- column: writer text Process or stimulus that wrote it then.
-- column: writer_instance integer Instance of that process.
-- column: age duration From the write to the read.
-- column: first boolean True if this is the first read after the write, so the value was new.
WITH access AS (
    SELECT
        recording, target, action, time, source, source_instance, note,
        last_value(CASE WHEN is_action(action, 'write') THEN time END) IGNORE NULLS OVER w AS write_at,
        last_value(CASE WHEN is_action(action, 'write') THEN source END) IGNORE NULLS OVER w AS writer,
        last_value(CASE WHEN is_action(action, 'write') THEN source_instance END) IGNORE NULLS OVER w
            AS writer_instance,
        lag(action) OVER (PARTITION BY recording, target ORDER BY time, seq) AS before
    FROM btf_event
    WHERE is_type(target_type, 'SIG') AND is_action(action, 'read', 'write')
    WINDOW w AS (
        PARTITION BY recording, target ORDER BY time, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
)
SELECT
    recording,
    target AS signal,
    time AS read_at,
    source AS reader,
    source_instance AS reader_instance,
    note AS value,
    write_at,
    writer,
    writer_instance,
    time - write_at AS age,
    coalesce(is_action(before, 'write'), false) AS first
FROM access
WHERE is_action(action, 'read')
