-- How often an instance of a process started on another core than the one that the previous instance ended on.
--
-- The previous instance is the last one that the trace shows, even if there may have been others in between. A migration
-- belongs to the window in which the later instance first runs.
-- An interrupt is served where it occurs: an ISR does not migrate, whatever cores handlers of its name are on.
-- unit: count
-- fold: sum
WITH stretch AS (
    SELECT
        recording, process, type, instance, core, begin_at,
        lag(instance) OVER w AS previous_instance,
        lag(core) OVER w AS previous_core
    FROM process_state
    WHERE state IN ('running', 'polling')
    WINDOW w AS (PARTITION BY recording, process, type ORDER BY instance, begin_at)
)
SELECT
    recording,
    process AS entity,
    type,
    core,
    instance,
    CASE WHEN type <> 'I' AND previous_instance <> instance AND core <> previous_core THEN 1 ELSE 0 END AS value,
    begin_at AS at
FROM stretch
