-- How often an instance of a process started on another core than the one the instance before it ended on.
--
-- The one before is that which the trace shows, even if there may have been others between them. A migration belongs to the
-- window in which the later instance first runs.
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
WITH
    stretch AS (
        SELECT
            recording, process, type, instance, core, begin_at,
            lag(instance) OVER w AS previous_instance,
            lag(core) OVER w AS previous_core
        FROM process_state
        WHERE state IN ('running', 'polling')
        WINDOW w AS (PARTITION BY recording, process, type ORDER BY instance, begin_at)
    ),
    judged AS (
        SELECT
            *,
            previous_instance <> instance AND core <> previous_core
                AND begin_at >= $from AND begin_at < $to AS migrated
        FROM stretch
    )
SELECT
    recording,
    process AS entity,
    type,
    CASE WHEN min(core) = max(core) THEN min(core) END AS core,
    CAST(NULL AS BIGINT) AS instance,
    count(*) FILTER (WHERE migrated) AS value,
    min(begin_at) FILTER (WHERE migrated) AS at
FROM judged
GROUP BY recording, process, type
