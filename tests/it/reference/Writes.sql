-- How often a signal is written.
--
-- unit: count
-- fold: sum
SELECT
    recording,
    target AS entity,
    target_type AS type,
    CAST(NULL AS VARCHAR) AS core,
    target_instance AS instance,
    1 AS value,
    time AS at
FROM btf_event
WHERE is_type(target_type, 'SIG') AND is_action(action, 'write')
