-- How many last steps of an event chain follow from the same first step as one before: old data again.
-- The chains are those that `--chains FILE` gives.
--
-- unit: count
-- fold: sum
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    CASE WHEN outcome = 'repeated' THEN 1 ELSE 0 END AS value,
    begin_at AS at
FROM chain_instance
