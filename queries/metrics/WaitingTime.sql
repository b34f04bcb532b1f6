-- Time an instance was WAITING for an OS event between its start and its termination.
--
-- unit: duration
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN waiting END AS value,
    coalesce(start_at, first_at) AS at
FROM process_metric_base
WHERE waiting IS NOT NULL OR NOT complete
