-- How many first steps of an event chain were lost: a later one came before a last step followed.
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
    CASE WHEN outcome = 'lost' THEN 1 ELSE 0 END AS value,
    begin_at AS at
FROM chain_instance
