-- How often the instances of a process were preempted, including incomplete instances.
--
-- An instance belongs to the window of its first moment. If its activation, start and end are not in the trace, it belongs to
-- the begin of the recording.
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
