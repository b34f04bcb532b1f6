-- Time from a first step of an event chain to the first last step that follows from it or from a later first step.
-- What an observer waits for: first to first. The chains are those that `--chains FILE` gives.
--
-- unit: duration
-- alias: FirstToFirst Feiertag et al., 2008: first to first, without the wait for the first step.
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    reaction AS value,
    begin_at AS at
FROM chain_instance
WHERE reaction IS NOT NULL OR outcome = 'open'
