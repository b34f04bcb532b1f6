-- Time from a first step of an event chain, right after which something happens that waits for the next one, to the first answer to that.
-- Its greatest value is the maximum reaction time.
-- The chains are those that `--chains FILE` gives.
--
-- unit: duration
-- alias: MRT Günzel et al., 2023: maximum reaction time, column max.
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    latency AS value,
    begin_at AS at
FROM chain_latency
WHERE definition = 'reaction_with_wait'
