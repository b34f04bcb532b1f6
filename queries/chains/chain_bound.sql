-- How old the data at the end of each chain can be, in a recording that was aligned from several clocks (`btfdb align`): one row per
-- row of `chain_instance` with an end, whose first and last entity belong to a control unit (see `ecu_entity`). The bounds are those
-- of `clock_bound` when the steps happened; within one control unit, what its drift leaves open, unless it was given. No rows without `--chains FILE`.
-- column: recording text Recording.
-- column: chain text Name of the chain.
-- column: first_ecu text Control unit of the first step.
-- column: last_ecu text Control unit of the last step.
-- column: begin_at time First step, aligned.
-- column: end_at time Last step that follows from it, aligned.
-- column: age duration From the first step to the last one, by aligned times.
-- column: least_age duration The least that it can have been.
-- column: most_age duration The most that it can have been.
WITH
    owner AS (
        SELECT DISTINCT recording, entity, ecu FROM ecu_entity
    ),
    ended AS (
        SELECT c.recording, c.chain, f.ecu AS first_ecu, l.ecu AS last_ecu, c.begin_at, c.end_at, c.age
        FROM chains() AS c
        JOIN owner AS f ON c.recording = f.recording AND c.first_entity = f.entity
        JOIN owner AS l ON c.recording = l.recording AND c.last_entity = l.entity
        WHERE c.end_at IS NOT NULL
    ),
    bound AS (
        SELECT recording, ecu, time, early, late FROM clock_bound
    ),
    begun AS (
        SELECT recording, chain, first_ecu, last_ecu, begin_at, end_at, age, early AS begin_early, late AS begin_late
        FROM as_of(
            (SELECT *, first_ecu AS ecu, begin_at AS time FROM ended),
            bound, recording, ecu
        )
    ),
    both AS (
        SELECT
            recording, chain, first_ecu, last_ecu, begin_at, end_at, age, begin_early, begin_late,
            early AS end_early, late AS end_late
        FROM as_of(
            (SELECT *, last_ecu AS ecu, end_at AS time FROM begun),
            bound, recording, ecu
        )
    ),
    wrong AS (
        SELECT
            b.*,
            CASE
                WHEN first_ecu = last_ecu AND c.model <> 'given' THEN (c.most_drift - c.least_drift) / 1000000000000.0 * age
                ELSE begin_late + end_early
            END AS less,
            CASE
                WHEN first_ecu = last_ecu AND c.model <> 'given' THEN (c.most_drift - c.least_drift) / 1000000000000.0 * age
                ELSE begin_early + end_late
            END AS more
        FROM both AS b
        JOIN clock AS c ON b.recording = c.recording AND b.first_ecu = c.ecu
    )
SELECT
    recording,
    chain,
    first_ecu,
    last_ecu,
    begin_at,
    end_at,
    age,
    greatest(age - CAST(ceil(less) AS BIGINT), 0) AS least_age,
    age + CAST(ceil(more) AS BIGINT) AS most_age
FROM wrong
