-- Which process a number meant in a QNX kernel trace, and when: numbers are used again.
--
-- All time before belongs to the first process with a number, all time after to the last one.
-- column: recording text Recording.
-- column: pid integer Process id.
-- column: process text Base name of the program; NULL when no event names it.
-- column: after time Begin, not included: the end of the process that had the number before; NULL for the first one.
-- column: until time End, included: its own end; NULL for the last one.
SELECT
    recording,
    pid,
    regexp_replace(name, '^.*/', '') AS process,
    lag(destroyed_at) OVER w AS after,
    CASE WHEN lead(pid) OVER w IS NOT NULL THEN destroyed_at END AS until
FROM kernel_process
WINDOW w AS (PARTITION BY recording, pid ORDER BY destroyed_at ASC NULLS LAST)
