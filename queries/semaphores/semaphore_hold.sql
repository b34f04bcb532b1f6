-- One row per time that a process instance held a semaphore, resource or spinlock.
--
-- column: recording text Recording.
-- column: semaphore text Semaphore.
-- column: process text Task or ISR that held it.
-- column: instance integer Instance that held it.
-- column: assigned_at time When it got it.
-- column: released_at time When it gave it back; NULL when the recording does not show that.
-- column: held duration From the assignment to the release.
WITH step AS (
    SELECT
        recording, target, source, source_instance, action, time,
        lead(action) OVER w AS next_action,
        lead(time) OVER w AS next_at
    FROM btf_event
    WHERE is_type(target_type, 'SEM') AND is_action(action, 'assigned', 'released')
    WINDOW w AS (PARTITION BY recording, target, source, source_instance ORDER BY time, seq)
)
SELECT
    recording,
    target AS semaphore,
    source AS process,
    source_instance AS instance,
    time AS assigned_at,
    CASE WHEN is_action(next_action, 'released') THEN next_at END AS released_at,
    CASE WHEN is_action(next_action, 'released') THEN next_at - time END AS held
FROM step
WHERE is_action(action, 'assigned')
