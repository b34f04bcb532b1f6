-- How often the instances of a process were preempted, incomplete instances too.
--
-- An instance belongs to the window that its first moment lies in; one whose activation, start and end are not in the trace
-- belongs to the begin of the recording.
-- unit: count
-- fold: sum
SELECT
    p.recording,
    p.entity,
    p.type,
    p.core,
    p.instance,
    p.preemptions AS value,
    coalesce(p.first_at, r.begin_at) AS at
FROM recording AS r
JOIN process_metric_base AS p ON r.recording = p.recording
