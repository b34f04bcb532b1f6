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
    -- The older spellings are those of BTF before 2.1.4 and of the tools that wrote it.
    SELECT recording, target, CASE target_type WHEN 'ISR' THEN 'I' ELSE target_type END, NULL, 1, time
    FROM btf_event
    WHERE action IN ('mtalimitexceeded', 'mtalimitexceded', 'mpalimitexceeded')
        AND target_type IN ('T', 'I', 'ISR')
        AND time >= $from AND time < $to
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
