-- One row per process instance that ran: the cores it used.
--
-- column: recording text Recording of the instance.
-- column: entity text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: instance integer Number of the instance.
-- column: begin_at time When the instance first took a core.
-- column: first_core text Core it first ran on.
-- column: last_core text Core it last ran on.
-- column: changes integer How often it went on with another core than the one before.
WITH slice AS (
    SELECT
        recording, process AS entity, type, instance, core, begin_at,
        lag(core) OVER (PARTITION BY recording, process, type, instance ORDER BY begin_at) AS previous_core
    FROM process_state
    WHERE state IN ('running', 'polling')
)
SELECT
    recording,
    entity,
    type,
    instance,
    min(begin_at) AS begin_at,
    first_value(core ORDER BY begin_at) AS first_core,
    last_value(core ORDER BY begin_at) AS last_core,
    count(*) FILTER (WHERE core <> previous_core) AS changes
FROM slice
GROUP BY recording, entity, type, instance
