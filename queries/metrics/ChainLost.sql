-- How many first steps of an event chain were lost: a later one came before a last step followed.
-- The chains are those that `--chains FILE` gives.
--
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
SELECT
    recording,
    chain AS entity,
    'EC' AS type,
    CAST(NULL AS VARCHAR) AS core,
    CAST(NULL AS BIGINT) AS instance,
    count(*) FILTER (WHERE outcome = 'lost' AND begin_at >= $from AND begin_at < $to) AS value,
    min(begin_at) FILTER (WHERE outcome = 'lost' AND begin_at >= $from AND begin_at < $to) AS at
FROM chain_instance
GROUP BY recording, chain
