-- Jobs as the measurement of Grasp counts them: one row per instance of a task or ISR.
--
-- Only jobs with arrival and completion have an execution time and a response time. A job that the begin or end of the recording
-- or a gap cuts off has neither, so both statistics are of the same jobs.
--
-- column: recording text Recording.
-- column: task text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: job integer Number of the instance.
-- column: at time Arrival, or else the first moment of the job that the trace shows.
-- column: execution duration Time in state RUNNING; NULL for a job that is cut off.
-- column: response duration From arrival to completion; NULL for a job that is cut off.
SELECT
    recording,
    process AS task,
    type,
    instance AS job,
    coalesce(activate_at, start_at, terminate_at) AS at,
    CASE WHEN complete THEN running END AS execution,
    CASE WHEN complete THEN terminate_at - activate_at END AS response
FROM process_instance
