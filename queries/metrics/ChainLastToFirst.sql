-- Time from a first step of an event chain to the first last step that follows from it, if none has followed from a later one.
-- Last to first.
-- The chains are those that `--chains FILE` gives.
--
-- unit: duration
-- alias: LastToFirst Feiertag et al., 2008: last to first.
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    latency AS value,
    begin_at AS at
FROM chain_latency
WHERE definition = 'last_to_first'
