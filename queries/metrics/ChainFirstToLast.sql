-- Time from the first of the first steps of an event chain that one last step answers, to each last step with that data.
-- First to last.
-- The chains are those that `--chains FILE` gives.
--
-- unit: duration
-- alias: FirstToLast Feiertag et al., 2008: first to last.
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    latency AS value,
    begin_at AS at
FROM chain_latency
WHERE definition = 'first_to_last'
