-- Time from the start of an instance of a runnable to its termination, suspension and called runnables included.
--
-- unit: duration
SELECT
    recording,
    runnable AS entity,
    'R' AS type,
    core,
    instance,
    CASE WHEN complete THEN terminate_at - start_at END AS value,
    coalesce(start_at, terminate_at) AS at
FROM runnable_instance
WHERE terminate_at - start_at IS NOT NULL OR NOT complete
