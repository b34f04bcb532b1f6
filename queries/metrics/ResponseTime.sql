-- Time from the activation of an instance to its termination.
--
-- unit: duration
-- alias: RT GLIWA: response time.
-- alias: WCRT Grasp: column max.
-- alias: ACRT Grasp: column avg.
-- alias: BCRT Grasp: column min.
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    CASE WHEN complete THEN terminate_at - activate_at END AS value,
    coalesce(activate_at, first_at) AS at
FROM process_metric_base
WHERE terminate_at - activate_at IS NOT NULL OR NOT complete
