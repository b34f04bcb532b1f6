-- Who preempts whom: one row per process and process that ran while an instance of it was READY on the same core.
--
-- column: recording text Recording.
-- column: process text Task or ISR that was preempted.
-- column: type text T (task) or I (ISR).
-- column: by_process text Task or ISR that ran.
-- column: by_type text T (task) or I (ISR).
-- column: preemptions integer How often it was the first to run after the core was taken away.
-- column: stretches integer How often it ran during such a time, the first one or not.
-- column: total duration How long it ran during such times.
-- column: longest duration The longest stretch of it.
-- column: longest_at time Begin of the first stretch that long.
WITH ranked AS (
    SELECT
        recording, process, type, by_process, by_type, begin_at, end_at - begin_at AS length,
        row_number() OVER (PARTITION BY recording, process, type, instance, wait_at ORDER BY begin_at) AS nth
    FROM interference
    WHERE state = 'ready'
)
SELECT
    recording,
    process,
    type,
    by_process,
    by_type,
    count(*) FILTER (WHERE nth = 1) AS preemptions,
    count(*) AS stretches,
    sum(length) AS total,
    max(length) AS longest,
    first_value(begin_at ORDER BY length DESC, begin_at) AS longest_at
FROM ranked
GROUP BY recording, process, type, by_process, by_type
