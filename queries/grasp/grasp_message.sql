-- What a Grasp trace writes below its time line: messages, annotations of tasks, deadlines, and events that it leaves to plugins.
--
-- column: recording text Recording.
-- column: time time When.
-- column: event text `message`, `relteqEvent`, `taskAnnotation`, `taskDeadline`, `jobDeadline`, `interval`, or an event of a plugin.
-- column: task text Id of the task it is about; NULL where it is about none.
-- column: job text Id of the job it is about; NULL where it is about none.
-- column: message text What it says; NULL where it says nothing.
-- column: until integer End of an annotation, in ticks; NULL for what has none.
-- column: options text What else it says, as words of Tcl: colour, shape, arguments of a plugin; NULL for nothing.
-- column: line integer Line of the file.
SELECT
    recording,
    time,
    event,
    task,
    job,
    message,
    until,
    options,
    line
FROM grasp_event
WHERE
    time IS NOT NULL
    AND command = 'plot'
    AND (
        status = 'custom'
        OR event IN (
            'message', 'relteqEvent', 'taskAnnotation', 'taskDeadline', 'jobDeadline', 'interval'
        )
    )
