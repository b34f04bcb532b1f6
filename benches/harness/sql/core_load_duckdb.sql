-- The same over the states of processes, in the SQL of DuckDB; windows in which nothing runs count, too.
WITH
    span AS (SELECT min(begin_at) AS first_at, max(end_at) AS last_at FROM recording),
    stretch AS (
        SELECT core, begin_at, end_at FROM process_state WHERE state IN ('running', 'polling') AND core IS NOT NULL
    ),
    piece AS (
        SELECT core, begin_at, end_at, unnest(range(begin_at // 10000000, (end_at - 1) // 10000000 + 1)) * 10000000 AS window_at
        FROM stretch
        WHERE begin_at < end_at
    ),
    clipped AS (
        SELECT core, window_at, least(end_at, window_at + 10000000) - greatest(begin_at, window_at) AS occupied
        FROM piece, span
        WHERE window_at >= first_at AND window_at + 10000000 <= last_at
        UNION ALL
        SELECT core, window_at, 0
        FROM (SELECT DISTINCT core FROM process_state WHERE core IS NOT NULL), (
            SELECT unnest(range(first_at // 10000000, (last_at - 1) // 10000000 + 1)) * 10000000 AS window_at FROM span
        ), span
        WHERE window_at >= first_at AND window_at + 10000000 <= last_at
    ),
    summed AS (SELECT core, window_at, sum(occupied) AS occupied FROM clipped GROUP BY core, window_at)
SELECT core, count(*), sum(occupied), max(occupied)
FROM summed
GROUP BY core
ORDER BY core
