-- How often an instance of a process went on with another core than the one it had run on before.
--
-- An instance belongs to the window that its first run begins in.
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
SELECT
    recording,
    entity,
    type,
    CASE WHEN min(first_core) = max(last_core) AND max(first_core) = min(last_core) THEN min(first_core) END AS core,
    CAST(NULL AS BIGINT) AS instance,
    coalesce(sum(changes) FILTER (WHERE begin_at >= $from AND begin_at < $to), 0) AS value,
    min(begin_at) FILTER (WHERE begin_at >= $from AND begin_at < $to AND changes > 0) AS at
FROM process_cores
GROUP BY recording, entity, type
