-- What a Grasp trace writes below its time line: messages, annotations of tasks, deadlines, and events for plugins.
--
-- column: recording text Recording.
-- column: time time When.
-- column: event text `message`, `relteqEvent`, `taskAnnotation`, `taskDeadline`, `jobDeadline`, `interval`, or an event of a plugin.
-- column: task text Id of the task it is about; NULL where it is about none.
-- column: job text Id of the job it is about; NULL where it is about none.
-- column: message text Its text; NULL if it has none.
-- column: until integer End of an annotation, in ticks; NULL for others.
-- column: options text Its other options, as words of Tcl: colour, shape, arguments of a plugin; NULL if it has none.
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
