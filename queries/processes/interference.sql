-- One row per span in which a process instance could have run but another one had its core. An idle task takes it from nobody.
--
-- column: recording text Recording.
-- column: process text Task or ISR that had to wait.
-- column: type text T (task) or I (ISR).
-- column: instance integer Instance that had to wait.
-- column: state text `active` before its start, `ready` after it, `parking` when it lost its core while it was polling.
-- column: core text Core that both needed.
-- column: by_process text Task or ISR that ran.
-- column: by_type text T (task) or I (ISR).
-- column: by_instance integer Instance that ran.
-- column: begin_at time Begin of the span.
-- column: end_at time End of the span, not part of it.
-- column: wait_at time Begin of the wait that the span is part of.
SELECT
    w.recording,
    w.process,
    w.type,
    w.instance,
    w.state,
    w.core,
    r.process AS by_process,
    r.type AS by_type,
    r.instance AS by_instance,
    greatest(w.begin_at, r.begin_at) AS begin_at,
    least(w.end_at, r.end_at) AS end_at,
    w.begin_at AS wait_at
FROM process_state AS w
JOIN process_state AS r
    ON w.recording = r.recording AND w.core = r.core AND w.begin_at < r.end_at AND r.begin_at < w.end_at
WHERE w.state IN ('active', 'ready', 'parking') AND r.state IN ('running', 'polling') AND NOT r.idle
