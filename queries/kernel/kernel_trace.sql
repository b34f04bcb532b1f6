-- The events of a QNX kernel trace with names: of the process and thread that each is about, and of the thread that ran.
--
-- Processes and threads are those that had the numbers at that time. `who_pid` and `who_tid` are the process and thread by which
-- the instrumented kernel filters while it traces: for kernel calls, and for messages sent or received, the thread that runs; for
-- replies the client; for other pulses the process that gets them; for THREAD, VTHREAD and SYSTEM the thread that the event
-- is about. Events of all other classes pass every such filter.
-- column: recording text Recording.
-- column: cpu integer CPU that wrote the event.
-- column: time time When.
-- column: seq integer Number of the event within the recording.
-- column: class_name text Class.
-- column: event_name text Event within its class.
-- column: event integer Its number there.
-- column: pid integer Process that it is about; NULL when it names none.
-- column: tid integer Thread that it is about; NULL when it names none.
-- column: process text Base name of the program of that process; NULL when no event names it.
-- column: thread text Name that the thread gave itself; NULL when it has none.
-- column: run_pid integer Process of the thread that ran on the CPU; NULL when not known.
-- column: run_tid integer That thread.
-- column: run_process text Base name of its program; NULL when no event names it.
-- column: run_thread text Name that it gave itself; NULL when it has none.
-- column: who_pid integer Process by which the kernel filters the event; NULL when not known, and for classes that it does not filter so.
-- column: who_tid integer Thread by which the kernel filters the event; NULL as above, and when the event names the process only.
-- column: text text Name, path or string that the event carries; NULL when there is none.
-- column: arguments text What its words mean, as the printer shows them.
SELECT
    e.recording,
    e.cpu,
    e.time,
    e.seq,
    e.class_name,
    e.event_name,
    e.event,
    e.pid,
    e.tid,
    p.process,
    t.thread,
    e.run_pid,
    e.run_tid,
    q.process AS run_process,
    u.thread AS run_thread,
    CASE
        WHEN e.class_name IN ('KER_CALL', 'KER_EXIT', 'INT_CALL') THEN e.run_pid
        WHEN e.class_name = 'COMM' AND e.event IN (0, 1, 2, 3) THEN e.run_pid
        WHEN e.class_name IN ('COMM', 'THREAD', 'VTHREAD', 'SYSTEM') THEN e.pid
    END AS who_pid,
    CASE
        WHEN e.class_name IN ('KER_CALL', 'KER_EXIT', 'INT_CALL') THEN e.run_tid
        WHEN e.class_name = 'COMM' AND e.event IN (0, 1, 2, 3) THEN e.run_tid
        WHEN e.class_name IN ('COMM', 'THREAD', 'VTHREAD', 'SYSTEM') THEN e.tid
    END AS who_tid,
    e.text,
    e.arguments
FROM kernel_event AS e
LEFT JOIN kernel_pid AS p
    ON e.recording = p.recording
    AND e.pid = p.pid
    AND (p.after IS NULL OR e.time > p.after)
    AND (p.until IS NULL OR e.time <= p.until)
LEFT JOIN kernel_tid AS t
    ON e.recording = t.recording
    AND e.pid = t.pid
    AND e.tid = t.tid
    AND (t.after IS NULL OR e.time > t.after)
    AND (t.until IS NULL OR e.time <= t.until)
LEFT JOIN kernel_pid AS q
    ON e.recording = q.recording
    AND e.run_pid = q.pid
    AND (q.after IS NULL OR e.time > q.after)
    AND (q.until IS NULL OR e.time <= q.until)
LEFT JOIN kernel_tid AS u
    ON e.recording = u.recording
    AND e.run_pid = u.pid
    AND e.run_tid = u.tid
    AND (u.after IS NULL OR e.time > u.after)
    AND (u.until IS NULL OR e.time <= u.until)
