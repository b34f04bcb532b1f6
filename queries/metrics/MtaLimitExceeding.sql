-- How many activations of a process were lost because its limit of multiple task activations was reached.
--
-- unit: count
-- fold: sum

-- Every process, so that one that never lost an activation shows its zero.
SELECT recording, entity, type, core, instance, 0 AS value, CAST(NULL AS BIGINT) AS at
FROM process_metric_base
UNION ALL
SELECT
    recording,
    target AS entity,
    CASE WHEN is_type(target_type, 'I') THEN 'I' ELSE 'T' END AS type,
    CAST(NULL AS VARCHAR) AS core,
    target_instance AS instance,
    1 AS value,
    time AS at
FROM btf_event
WHERE is_action(action, 'mtalimitexceeded')
    AND is_type(target_type, 'T', 'I')
