-- Time from the first step of an event chain whose data is shown to the last step that shows newer data.
-- Its greatest value is the maximum data age.
-- The chains are those that `--chains FILE` gives.
--
-- unit: duration
-- alias: MDA Günzel et al., 2023: maximum data age, column max.
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    latency AS value,
    begin_at AS at
FROM chain_latency
WHERE definition = 'age_until_replaced'
