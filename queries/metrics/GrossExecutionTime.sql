-- Time from the start of an instance to its termination, interference included.
--
-- unit: duration
-- alias: GET GLIWA: gross execution time.
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN terminate_at - start_at END AS value,
    coalesce(start_at, first_at) AS at
FROM process_metric_base
WHERE terminate_at - start_at IS NOT NULL OR NOT complete
