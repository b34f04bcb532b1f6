-- Time an instance was POLLING, actively waiting for a resource on its core, between its start and its termination.
--
-- unit: duration
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN polling END AS value,
    coalesce(start_at, first_at) AS at
FROM process_metric_base
WHERE polling IS NOT NULL OR NOT complete
