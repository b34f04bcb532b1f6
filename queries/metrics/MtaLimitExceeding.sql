-- How many activations of a process were lost because its limit of multiple task activations was reached.
--
-- unit: count
-- fold: sum

-- Every process, so that one that never lost an activation shows its zero.
SELECT recording, entity, type, core, instance, 0 AS value, CAST(NULL AS BIGINT) AS at
FROM process_metric_base
UNION ALL
-- The older spellings are those of BTF before 2.1.4 and of the tools that wrote it.
SELECT
    recording,
    target AS entity,
    CASE target_type WHEN 'ISR' THEN 'I' ELSE target_type END AS type,
    CAST(NULL AS VARCHAR) AS core,
    target_instance AS instance,
    1 AS value,
    time AS at
FROM btf_event
WHERE action IN ('mtalimitexceeded', 'mtalimitexceded', 'mpalimitexceeded')
    AND target_type IN ('T', 'I', 'ISR')
