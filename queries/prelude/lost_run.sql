-- One row per run of activations that were lost one after the other: what lies between two neighbouring instances
-- whose numbers do not follow each other.
--
-- column: recording text Recording.
-- column: entity text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: before integer Number of the instance before.
-- column: after integer Number of the instance behind.
-- column: lost integer How many were lost.
-- column: first_at time When the first of them was lost.
-- column: last_at time When the last of them was lost.
WITH ranked AS (
    -- Numbers rise with time; that way, nothing has to be sorted.
    SELECT *, row_number() OVER (PARTITION BY recording, entity, type ORDER BY at, seq) AS nth
    FROM lost_activation
    WHERE instance IS NOT NULL
)
SELECT
    recording,
    entity,
    type,
    min(instance) - 1 AS before,
    max(instance) + 1 AS after,
    count(*) AS lost,
    min(at) AS first_at,
    max(at) AS last_at
FROM ranked
GROUP BY recording, entity, type, instance - CAST(nth AS BIGINT)
HAVING count(*) = max(instance) - min(instance) + 1
