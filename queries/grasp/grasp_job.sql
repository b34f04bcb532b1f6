-- The jobs of a Grasp trace by their commands: one row per id, with what was declared and when it was named.
--
-- Table `process_instance` has what a job did as a process, instance by instance. An id has several instances if its job arrives
-- again.
-- column: recording text Recording.
-- column: job text Id of the job.
-- column: task text Id of its task; NULL if only the id of the job tells it.
-- column: task_name text Name of the task.
-- column: name text Name of the job, as declared.
-- column: arrivals integer How often it arrived.
-- column: arrived_at time When it arrived first; NULL where only its task did.
-- column: completed_at time When it completed first; NULL where it did not.
-- column: commands integer How many commands name it.
WITH named AS (
    SELECT
        recording,
        job,
        first_value(task ORDER BY seq) FILTER (WHERE task IS NOT NULL) AS task,
        first_value(name ORDER BY seq) FILTER (WHERE name IS NOT NULL) AS name,
        count(*) FILTER (WHERE event = 'jobArrived') AS arrivals,
        min(time) FILTER (WHERE event = 'jobArrived') AS arrived_at,
        min(time) FILTER (WHERE event = 'jobCompleted') AS completed_at,
        count(*) AS commands
    FROM grasp_event
    WHERE status = 'ok' AND job IS NOT NULL
    GROUP BY recording, job
),

task AS (
    SELECT recording, task, first_value(name ORDER BY seq) AS name
    FROM grasp_event
    WHERE status = 'ok' AND command = 'newTask'
    GROUP BY recording, task
)

SELECT
    n.recording,
    n.job,
    n.task,
    coalesce(t.name, n.task) AS task_name,
    n.name,
    n.arrivals,
    n.arrived_at,
    n.completed_at,
    n.commands
FROM named AS n
LEFT JOIN task AS t ON n.recording = t.recording AND n.task = t.task
