-- What makes the slow responses of a task or ISR slow: the mean time per response of each kind of part (see response_part), of the slow
-- responses and of the typical ones. The slow ones are the longest twentieth, at least one; the typical ones are those between the
-- quartiles. The differences of a process sum to that of its mean responses, up to rounding.
--
-- column: recording text Recording.
-- column: process text Task or ISR whose responses they are.
-- column: type text T (task) or I (ISR).
-- column: kind text Kind of the parts, as in response_part.
-- column: runnable text Runnable that runs, of `executes`.
-- column: by_process text Who has the core, holds the semaphore, or sets the event.
-- column: by_type text Type of that.
-- column: reason text Why the other one has the core.
-- column: held text Semaphore that the other one holds.
-- column: object text Semaphore or event that it waits or polls for, or that the other one polls for, as in response_part.
-- column: typical duration Mean time in such parts per typical response.
-- column: slow duration Mean time in such parts per slow response.
-- column: difference duration How much longer that is.
-- column: share percent Part of the difference of the mean responses; NULL if they do not differ.
-- column: typical_responses integer How many typical responses there are.
-- column: slow_responses integer How many slow ones there are.
WITH
    response AS (
        SELECT recording, process, type, instance, sum(length) AS length
        FROM response_part
        GROUP BY recording, process, type, instance
    ),
    ranked AS (
        SELECT
            recording, process, type, instance, length,
            row_number() OVER (PARTITION BY recording, process, type ORDER BY length, instance) AS rank,
            count(*) OVER (PARTITION BY recording, process, type) AS responses
        FROM response
    ),
    chosen AS (
        SELECT
            recording, process, type, instance, length,
            rank * 20 > responses * 19 AS is_slow,
            rank * 4 > responses AND rank * 4 <= responses * 3 OR responses <= 3 AND rank < responses AS is_typical
        FROM ranked
    ),
    whole AS (
        SELECT
            recording, process, type,
            count(*) FILTER (WHERE is_slow) AS slow_responses,
            count(*) FILTER (WHERE is_typical) AS typical_responses,
            sum(length) FILTER (WHERE is_slow) AS slow_length,
            sum(length) FILTER (WHERE is_typical) AS typical_length
        FROM chosen
        GROUP BY recording, process, type
    ),
    part AS (
        SELECT
            p.recording, p.process, p.type, p.kind, p.runnable, p.by_process, p.by_type, p.reason, p.held, p.object,
            coalesce(sum(p.length) FILTER (WHERE c.is_slow), 0) AS slow,
            coalesce(sum(p.length) FILTER (WHERE c.is_typical), 0) AS typical
        FROM response_part AS p
        JOIN chosen AS c
            ON p.recording = c.recording AND p.process = c.process AND p.type = c.type AND p.instance = c.instance
        WHERE c.is_slow OR c.is_typical
        GROUP BY p.recording, p.process, p.type, p.kind, p.runnable, p.by_process, p.by_type, p.reason, p.held, p.object
    ),
    compared AS (
        SELECT
            p.recording, p.process, p.type, p.kind, p.runnable, p.by_process, p.by_type, p.reason, p.held, p.object,
            CAST(p.typical AS DOUBLE) / w.typical_responses AS typical,
            CAST(p.slow AS DOUBLE) / w.slow_responses AS slow,
            CAST(w.slow_length AS DOUBLE) / w.slow_responses - CAST(w.typical_length AS DOUBLE) / w.typical_responses AS difference,
            w.typical_responses,
            w.slow_responses
        FROM part AS p
        JOIN whole AS w ON p.recording = w.recording AND p.process = w.process AND p.type = w.type
        WHERE w.typical_responses > 0
    )
SELECT
    recording, process, type, kind, runnable, by_process, by_type, reason, held, object,
    CAST(round(typical) AS BIGINT) AS typical,
    CAST(round(slow) AS BIGINT) AS slow,
    CAST(round(slow - typical) AS BIGINT) AS difference,
    CASE WHEN difference <> 0 THEN 100 * (slow - typical) / difference END AS share,
    typical_responses,
    slow_responses
FROM compared
