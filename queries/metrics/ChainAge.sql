-- Time to a last step of an event chain from the first step that it follows from: how old its data is.
-- Last to last. The chains are those that `--chains FILE` gives.
--
-- unit: duration
-- alias: LastToLast Feiertag et al., 2008: last to last.
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    age AS value,
    begin_at AS at
FROM chain_instance
WHERE age IS NOT NULL
