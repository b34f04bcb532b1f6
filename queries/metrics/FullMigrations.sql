-- How often an instance of a process went on with another core than the one it had run on before.
--
-- An instance belongs to the window that its first run begins in.
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
WITH
    stretch AS (
        SELECT
            recording, process, type, core,
            lag(core) OVER w AS previous_core,
            first_value(begin_at) OVER w AS first_at
        FROM process_state
        WHERE state IN ('running', 'polling')
        WINDOW w AS (
            PARTITION BY recording, process, type, instance ORDER BY begin_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
    ),
    judged AS (
        SELECT *, core <> previous_core AND first_at >= $from AND first_at < $to AS migrated
        FROM stretch
    )
SELECT
    recording,
    process AS entity,
    type,
    CASE WHEN min(core) = max(core) THEN min(core) END AS core,
    CAST(NULL AS BIGINT) AS instance,
    count(*) FILTER (WHERE migrated) AS value,
    min(first_at) FILTER (WHERE migrated) AS at
FROM judged
GROUP BY recording, process, type
