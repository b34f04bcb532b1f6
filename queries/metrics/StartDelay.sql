-- Time from the activation of an instance to its start.
--
-- unit: duration
-- alias: IPT GLIWA: initial pending time.
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN start_at - activate_at END AS value,
    coalesce(activate_at, first_at) AS at
FROM process_metric_base
WHERE start_at - activate_at IS NOT NULL OR NOT complete
