-- How often the instances of a process were preempted, incomplete instances too.
--
-- An instance belongs to the window that its first moment lies in; one whose activation, start and end are not in the trace
-- belongs to the begin of the recording.
-- unit: count
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
WITH shown AS (
    SELECT p.recording, p.entity, p.type, p.core, p.preemptions, coalesce(p.first_at, r.begin_at) AS first_at
    FROM recording AS r
    JOIN process_metric_base AS p ON r.recording = p.recording
)
SELECT
    recording,
    entity,
    type,
    CASE WHEN min(core) = max(core) THEN min(core) END AS core,
    CAST(NULL AS BIGINT) AS instance,
    coalesce(sum(preemptions) FILTER (WHERE first_at >= $from AND first_at < $to), 0) AS value,
    min(first_at) FILTER (WHERE first_at >= $from AND first_at < $to AND preemptions > 0) AS at
FROM shown
GROUP BY recording, entity, type
