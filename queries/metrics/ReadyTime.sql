-- Time an instance was READY (preempted) between its start and its termination.
--
-- unit: duration
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN ready END AS value,
    coalesce(start_at, first_at) AS at
FROM process_metric_base
WHERE ready IS NOT NULL OR NOT complete
