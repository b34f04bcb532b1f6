-- How many activations of a process the trace shows, those of incomplete instances too.
--
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
SELECT
    recording,
    entity,
    type,
    CASE WHEN min(core) = max(core) THEN min(core) END AS core,
    CAST(NULL AS BIGINT) AS instance,
    count(*) FILTER (WHERE activate_at >= $from AND activate_at < $to) AS value,
    min(activate_at) FILTER (WHERE activate_at >= $from AND activate_at < $to) AS at
FROM process_metric_base
GROUP BY recording, entity, type
