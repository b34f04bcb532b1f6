-- How often an instance of a process resumed on another core than the one it had run on before.
--
-- An instance belongs to the window in which its first run begins.
-- An interrupt is served where it occurs: an ISR does not migrate, whatever cores handlers of its name are on.
-- unit: count
-- fold: sum
WITH stretch AS (
    SELECT
        recording, process, type, instance, core,
        lag(core) OVER w AS previous_core,
        first_value(begin_at) OVER w AS first_at
    FROM process_state
    WHERE state IN ('running', 'polling')
    WINDOW w AS (
        PARTITION BY recording, process, type, instance ORDER BY begin_at
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
)
SELECT
    recording,
    process AS entity,
    type,
    core,
    instance,
    CASE WHEN type <> 'I' AND core <> previous_core THEN 1 ELSE 0 END AS value,
    first_at AS at
FROM stretch
