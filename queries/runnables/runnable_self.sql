-- One row per execution of a runnable: how much of its net execution time is its own, and how much belongs to the runnables
-- that it called.
--
-- BTF does not name the caller of a runnable. It is the runnable that was open one level above in the same process instance.
-- column: recording text Recording.
-- column: runnable text Runnable.
-- column: instance integer Number of the execution.
-- column: process text Task or ISR that ran it.
-- column: process_instance integer Instance of that.
-- column: core text Core it ran on last.
-- column: depth integer How many runnables of the same process instance enclose it.
-- column: start_at time Start, if seen.
-- column: terminate_at time Termination, if seen.
-- column: net duration Time it was RUNNING, called runnables included.
-- column: callees duration The part in which the runnables that it called were RUNNING; NULL if its start or its process is unknown.
-- column: own duration The rest: its own time.
-- column: complete boolean False when the start of the trace, its end or a gap cuts it off.
SELECT
    recording,
    runnable,
    instance,
    process,
    process_instance,
    core,
    depth,
    start_at,
    terminate_at,
    running AS net,
    callees,
    running - callees AS own,
    complete
FROM runnable_instance
