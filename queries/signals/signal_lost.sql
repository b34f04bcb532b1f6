-- One row per write of a signal whose value was not read before the next write, and no gap between may hide a read.
--
-- column: recording text Recording.
-- column: signal text Signal.
-- column: write_at time When it was written.
-- column: writer text Process or stimulus that wrote it.
-- column: writer_instance integer Instance of that process.
-- column: value text Value that was lost, where the trace has it.
-- column: overwritten_at time Next write.
-- column: overwriter text Process or stimulus of the next write.
WITH access AS (
    SELECT
        recording, target, action, time, source, source_instance, note,
        lead(action) OVER w AS next_action,
        lead(time) OVER w AS next_at,
        lead(source) OVER w AS next_source
    FROM btf_event
    WHERE is_type(target_type, 'SIG') AND is_action(action, 'read', 'write')
    WINDOW w AS (PARTITION BY recording, target ORDER BY time, seq)
)
SELECT
    recording,
    target AS signal,
    time AS write_at,
    source AS writer,
    source_instance AS writer_instance,
    note AS value,
    next_at AS overwritten_at,
    next_source AS overwriter
FROM access
WHERE
    is_action(action, 'write') AND is_action(next_action, 'write')
    AND coalesce(gap_after(recording, NULL, time) >= next_at, true)
