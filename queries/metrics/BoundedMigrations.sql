-- How often an instance of a process started on another core than the one the instance before it ended on.
--
-- A migration belongs to the window in which the later instance first runs.
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
WITH follower AS (
    SELECT
        recording, entity, type, instance, begin_at, first_core, last_core,
        lag(instance) OVER w AS previous_instance,
        lag(last_core) OVER w AS previous_core
    FROM process_cores
    WINDOW w AS (PARTITION BY recording, entity, type ORDER BY instance)
),
judged AS (
    SELECT
        *,
        previous_instance = instance - 1 AND first_core <> previous_core
            AND begin_at >= $from AND begin_at < $to AS migrated
    FROM follower
)
SELECT
    recording,
    entity,
    type,
    CASE WHEN min(first_core) = max(last_core) AND max(first_core) = min(last_core) THEN min(first_core) END AS core,
    CAST(NULL AS BIGINT) AS instance,
    count(*) FILTER (WHERE migrated) AS value,
    min(begin_at) FILTER (WHERE migrated) AS at
FROM judged
GROUP BY recording, entity, type
