-- How many activations of a process the trace shows, including those of incomplete instances.
--
-- unit: count
-- fold: sum
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN activate_at IS NULL THEN 0 ELSE 1 END AS value,
    activate_at AS at
FROM process_metric_base
