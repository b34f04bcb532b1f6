-- What the threads of a QNX kernel trace wait for: one row per thread, state in which it was blocked, and object.
--
-- A span that the begin or the end of the recording or a gap cuts off counts as far as it is known.
-- column: recording text Recording.
-- column: task text The thread as a task: `process_instance.process` of type `T`.
-- column: state text State: `MUTEX`, `REPLY`, `RECEIVE`, …
-- column: object text What it was blocked on, as far as its kernel call tells: `S_<pid>_<address>` for a mutex, semaphore or condition variable, `CH_<pid>_<number>` for a channel, `MSG_<pid>` for a server; else NULL.
-- column: times integer How often.
-- column: cut integer How many of these were cut off.
-- column: total duration How long in all.
-- column: longest duration The longest of these spans.
-- column: longest_at time When that span began; of several as long, the first one.
-- column: held_by text What it waited for in that span: the thread that held the mutex, served the message, or was joined, as a task, or else its process; NULL if unknown.
-- column: held_by_pid integer Process of that.
-- column: held_by_tid integer Thread of that.
-- column: woken_by text What ended that span: the last event before its end that can have; NULL if there is none.
WITH stretch AS (
    SELECT
        s.recording, s.task, s.state, s.object, s.begin_at, s.end_at - s.begin_at AS length, s.by_pid, s.by_tid, s.wake,
        s.complete,
        coalesce(t.task, p.process || '_' || CAST(s.by_pid AS VARCHAR)) AS held_by
    FROM kernel_state AS s
    LEFT JOIN kernel_tid AS t
        ON s.recording = t.recording
        AND s.by_pid = t.pid
        AND s.by_tid = t.tid
        AND (t.after IS NULL OR s.begin_at > t.after)
        AND (t.until IS NULL OR s.begin_at <= t.until)
    LEFT JOIN kernel_pid AS p
        ON s.recording = p.recording
        AND s.by_pid = p.pid
        AND (p.after IS NULL OR s.begin_at > p.after)
        AND (p.until IS NULL OR s.begin_at <= p.until)
    WHERE s.state NOT IN ('RUNNING', 'READY', 'CREATE')
)
SELECT
    recording,
    task,
    state,
    object,
    count(*) AS times,
    count(*) FILTER (WHERE NOT complete) AS cut,
    sum(length) AS total,
    max(length) AS longest,
    first_value(begin_at ORDER BY length DESC, begin_at) AS longest_at,
    first_value(held_by ORDER BY length DESC, begin_at) AS held_by,
    first_value(by_pid ORDER BY length DESC, begin_at) AS held_by_pid,
    first_value(by_tid ORDER BY length DESC, begin_at) AS held_by_tid,
    first_value(wake ORDER BY length DESC, begin_at) AS woken_by
FROM stretch
GROUP BY recording, task, state, object
