-- Time an instance was RUNNING between its start and its termination, on whatever core.
--
-- unit: duration
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN running END AS value,
    coalesce(start_at, first_at) AS at
FROM process_metric_base
WHERE running IS NOT NULL OR NOT complete
