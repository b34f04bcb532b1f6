-- One row per time that a job of a Grasp trace held a mutex, by the ids of the trace.
--
-- View `semaphore_hold` has the same by the names of tasks. This view also has the faults: a mutex that is not given back, or
-- that is given back by a job that does not hold it.
-- column: recording text Recording.
-- column: mutex text Id of the mutex.
-- column: name text Its name; its id where it has none.
-- column: job text Id of the job.
-- column: acquired_at time When it got it; NULL if it never did.
-- column: released_at time When it gave it back; NULL if the recording does not show that.
-- column: held duration Time between the two; NULL if one is missing.
-- column: line integer Line of the file that it begins with.
WITH declared AS (
    SELECT recording, mutex, first_value(coalesce(name, mutex) ORDER BY seq) AS name
    FROM grasp_event
    WHERE status = 'ok' AND command = 'newMutex'
    GROUP BY recording, mutex
),

step AS (
    SELECT
        recording,
        mutex,
        job,
        time,
        event,
        line,
        lag(event) OVER w AS last_event,
        lead(event) OVER w AS next_event,
        lead(time) OVER w AS next_at
    FROM grasp_event
    WHERE status = 'ok' AND event IN ('jobAcquiredMutex', 'jobReleasedMutex')
    WINDOW w AS (PARTITION BY recording, mutex, job ORDER BY time, seq)
)

SELECT
    s.recording,
    s.mutex,
    coalesce(d.name, s.mutex) AS name,
    s.job,
    CASE WHEN s.event = 'jobAcquiredMutex' THEN s.time END AS acquired_at,
    CASE
        WHEN s.event = 'jobReleasedMutex' THEN s.time
        WHEN s.next_event = 'jobReleasedMutex' THEN s.next_at
    END AS released_at,
    CASE WHEN s.event = 'jobAcquiredMutex' AND s.next_event = 'jobReleasedMutex' THEN s.next_at - s.time END AS held,
    s.line
FROM step AS s
LEFT JOIN declared AS d ON s.recording = d.recording AND s.mutex = d.mutex
WHERE s.event = 'jobAcquiredMutex' OR s.last_event IS NULL OR s.last_event = 'jobReleasedMutex'
