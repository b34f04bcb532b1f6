-- Time an instance was RUNNING between its start and its termination, on any core.
--
-- unit: duration
-- alias: CET GLIWA: core execution time; GLIWA includes active waiting, which is PollingTime here.
-- alias: NET short form.
-- alias: RunningTime AMALTHEA: time in state RUNNING.
-- alias: WCET Grasp: column max.
-- alias: ACET Grasp: column avg.
-- alias: BCET Grasp: column min.
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
