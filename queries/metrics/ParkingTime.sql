-- Time an instance was PARKING, waiting for a resource off its core, between its start and its termination.
--
-- unit: duration
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN parking END AS value,
    coalesce(start_at, first_at) AS at
FROM process_metric_base
WHERE parking IS NOT NULL OR NOT complete
