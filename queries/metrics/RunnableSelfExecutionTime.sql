-- Time an instance of a runnable was RUNNING between its start and its termination, called runnables not included.
--
-- unit: duration
SELECT
    recording,
    runnable AS entity,
    'R' AS type,
    core,
    instance,
    CASE WHEN complete THEN own END AS value,
    coalesce(start_at, terminate_at) AS at
FROM runnable_self
WHERE own IS NOT NULL OR NOT complete
