-- One row per process instance, as the metrics of processes read it: process, core, moments, and time in each state.
--
-- column: recording text Recording of the instance.
-- column: entity text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: core text Core of the last run; NULL when the instance never ran.
-- column: instance integer Number of the instance.
-- column: complete boolean False when the start of the trace, its end or a gap cuts the instance off.
-- column: first_at time First moment of the instance that the trace shows.
-- column: activate_at time Activation, if seen.
-- column: start_at time Start, if seen.
-- column: terminate_at time Termination, if seen.
-- column: running duration Time in state RUNNING between start and termination.
-- column: ready duration Time in state READY between start and termination.
-- column: waiting duration Time in state WAITING between start and termination.
-- column: polling duration Time in state POLLING between start and termination.
-- column: parking duration Time in state PARKING between start and termination.
-- column: preemptions integer How often the instance was preempted.
-- column: lost integer How many activations right before its own were lost; NULL if its activation was not seen.
SELECT
    recording,
    process AS entity,
    type,
    core,
    instance,
    complete,
    coalesce(activate_at, start_at, terminate_at) AS first_at,
    activate_at,
    start_at,
    terminate_at,
    running,
    ready,
    waiting,
    polling,
    parking,
    preemptions,
    lost
FROM process_instance
