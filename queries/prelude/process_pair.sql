-- One row per process instance, with the moments of the next instance of its process.
--
-- A lost activation takes a number but makes no instance, so the next instance is the one after it. The next_ columns are NULL if
-- there is no next instance, if its number does not follow, if its moments are before those of the instance, or if a gap of the
-- core is before its moment, because there may have been others.
--
-- column: recording text Recording of the instance.
-- column: entity text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: core text Core of the last run of the instance.
-- column: instance integer Number of the instance.
-- column: complete boolean False when the start of the trace, its end or a gap cuts the instance off.
-- column: first_at time First moment of the instance that the trace shows.
-- column: activate_at time Activation of the instance, if seen.
-- column: start_at time Start of the instance, if seen.
-- column: terminate_at time Termination of the instance, if seen.
-- column: next_activate_at time Activation of the next instance.
-- column: next_start_at time Start of the next instance.
-- column: next_terminate_at time Termination of the next instance.
WITH
    neighbour AS (
        SELECT
            recording, entity, type, core, instance, complete, first_at, activate_at, start_at, terminate_at,
            lead(instance) OVER w AS next_instance,
            lead(lost) OVER w AS next_lost,
            lead(core) OVER w AS next_core,
            lead(first_at) OVER w AS next_first_at,
            lead(activate_at) OVER w AS next_activate_at,
            lead(start_at) OVER w AS next_start_at,
            lead(terminate_at) OVER w AS next_terminate_at
        FROM process_metric_base
        WINDOW w AS (PARTITION BY recording, entity, type ORDER BY instance, first_at)
    ),
    judged AS (
        SELECT
            *,
            (next_instance = instance + 1 OR next_instance = instance + 1 + next_lost)
                AND NOT gap_between(recording, core, first_at, next_core, next_first_at)
                -- Where time runs backwards, nothing is known of the distance.
                AND coalesce(next_activate_at >= activate_at, true) AND coalesce(next_start_at >= start_at, true)
                AND coalesce(next_terminate_at >= terminate_at, true) AS paired
        FROM neighbour
    )
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    complete,
    first_at,
    activate_at,
    start_at,
    terminate_at,
    CASE WHEN paired THEN next_activate_at END AS next_activate_at,
    CASE WHEN paired AND NOT gap_between(recording, core, first_at, next_core, next_start_at) THEN next_start_at END
        AS next_start_at,
    CASE
        WHEN paired AND NOT gap_between(recording, core, first_at, next_core, next_terminate_at) THEN next_terminate_at
    END AS next_terminate_at
FROM judged
