-- The instance of each process with the longest response time; if there are several, the first one.
--
-- column: recording text Recording.
-- column: process text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: instance integer The instance.
-- column: core text Core it ran on last.
-- column: activate_at time Its activation.
-- column: terminate_at time Its termination.
-- column: response duration From activation to termination.
-- column: running duration Time in state RUNNING.
-- column: preemptions integer How often it was preempted.
WITH answered AS (
    SELECT *, terminate_at - activate_at AS response
    FROM process_instance
    WHERE complete AND activate_at IS NOT NULL
)
SELECT
    recording,
    process,
    type,
    first_value(instance ORDER BY response DESC, activate_at) AS instance,
    first_value(core ORDER BY response DESC, activate_at) AS core,
    first_value(activate_at ORDER BY response DESC, activate_at) AS activate_at,
    first_value(terminate_at ORDER BY response DESC, activate_at) AS terminate_at,
    max(response) AS response,
    first_value(running ORDER BY response DESC, activate_at) AS running,
    first_value(preemptions ORDER BY response DESC, activate_at) AS preemptions
FROM answered
GROUP BY recording, process, type
