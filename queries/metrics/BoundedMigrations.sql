-- How often an instance of a process started on another core than the one the instance before it ended on.
--
-- A migration belongs to the window in which the later instance first runs.
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
            s.*,
            s.core <> s.previous_core AND s.begin_at >= $from AND s.begin_at < $to
                -- Activations that were lost take numbers, too.
                AND (s.previous_instance = s.instance - 1 OR r.after = s.instance) AS migrated
        FROM lost_run AS r
        RIGHT JOIN stretch AS s
            ON s.recording = r.recording AND s.process = r.entity AND s.type = r.type AND s.previous_instance = r.before
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
