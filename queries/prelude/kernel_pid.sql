-- Which process a number meant in a QNX kernel trace, and when: numbers are used again.
--
-- To the first process that had a number belongs all time before, to the last one all time after.
-- column: recording text Recording.
-- column: pid integer Process id.
-- column: process text Base name of the program; NULL when no event names it.
-- column: after time From when on, that instant not included: the end of the process that had the number before; NULL for the first one.
-- column: until time Until when, that instant included: its own end; NULL for the last one.
SELECT
    recording,
    pid,
    regexp_replace(name, '^.*/', '') AS process,
    lag(destroyed_at) OVER w AS after,
    CASE WHEN lead(pid) OVER w IS NOT NULL THEN destroyed_at END AS until
FROM kernel_process
WINDOW w AS (PARTITION BY recording, pid ORDER BY destroyed_at ASC NULLS LAST)
