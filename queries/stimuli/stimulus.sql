-- One row per trigger of a stimulus, with its distance to the one before.
--
-- column: recording text Recording.
-- column: stimulus text Stimulus: an alarm, a timer, an activation by another process.
-- column: instance integer Number of the trigger, where the trace counts them.
-- column: time time When it triggered.
-- column: by_process text Process that caused it; NULL when it came from outside.
-- column: by_instance integer Instance of that process.
-- column: period duration Time since its last trigger; NULL for the first one, and where a gap may hide another.
WITH trigger AS (
    SELECT *, lag(time) OVER (PARTITION BY recording, target ORDER BY time, seq) AS before_at
    FROM btf_event
    WHERE is_type(target_type, 'STI') AND is_action(action, 'trigger')
)
SELECT
    recording,
    target AS stimulus,
    target_instance AS instance,
    time,
    CASE WHEN source <> target AND NOT is_environment(source) THEN source END AS by_process,
    CASE WHEN source <> target AND NOT is_environment(source) THEN source_instance END AS by_instance,
    CASE WHEN coalesce(gap_after(recording, NULL, before_at) >= time, true) THEN time - before_at END AS period
FROM trigger
