-- How many activations of a process were lost because its limit of multiple task activations was reached.
--
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
WITH occurrence AS (
    -- Every process, so that one that never lost an activation shows its zero.
    SELECT recording, entity, type, core, 0 AS lost, CAST(NULL AS BIGINT) AS at
    FROM process_metric_base
    UNION ALL
    SELECT recording, entity, type, NULL, 1, at
    FROM lost_activation
    WHERE at >= $from AND at < $to
)
SELECT
    recording,
    entity,
    type,
    CASE WHEN min(core) = max(core) THEN min(core) END AS core,
    CAST(NULL AS BIGINT) AS instance,
    sum(lost) AS value,
    min(at) AS at
FROM occurrence
GROUP BY recording, entity, type
