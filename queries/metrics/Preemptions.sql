-- How often the instances of a process were preempted, incomplete instances too.
--
-- An instance belongs to the window that its first moment lies in.
-- unit: count
-- fold: sum
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    preemptions AS value,
    first_at AS at
FROM process_metric_base
