-- Which thread a process id and a thread number meant in a QNX kernel trace, and when: both are used again.
--
-- All time before belongs to the first thread, all time after to the last one.
-- column: recording text Recording.
-- column: pid integer Process id.
-- column: tid integer Number of the thread within the process.
-- column: task text The thread as a task: `process_instance.process` of type `T`.
-- column: thread text Name that it gave itself; NULL when it has none.
-- column: after time Begin, not included: the end of the previous thread; NULL for the first one.
-- column: until time End, included: its own end, or the creation of the next one if its end was not recorded; NULL for the last one.
WITH ended AS (
    SELECT
        recording, pid, tid, incarnation, task, name AS thread,
        CASE WHEN lead(tid) OVER w IS NOT NULL THEN coalesce(destroyed_at, lead(created_at) OVER w) END AS until
    FROM kernel_thread
    WINDOW w AS (PARTITION BY recording, pid, tid ORDER BY incarnation)
)
SELECT
    recording,
    pid,
    tid,
    task,
    thread,
    lag(until) OVER (PARTITION BY recording, pid, tid ORDER BY incarnation) AS after,
    until
FROM ended
