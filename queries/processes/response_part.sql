-- The response of each complete instance of a task or ISR, cut into parts that follow each other without hole or overlap, from its
-- activation (or its start, where the trace tells no activations) to its termination: what it did, or why it did not.
--
-- A condition `process = … AND instance = …` reads only what that response needs. How each part is found is described in docs/insight.md.
--
-- column: recording text Recording.
-- column: process text Task or ISR whose response it is.
-- column: type text T (task) or I (ISR).
-- column: instance integer Its instance.
-- column: part integer Number of the part, from 0.
-- column: begin_at time Begin of the part.
-- column: end_at time End of the part, not part of it.
-- column: length duration From its begin to its end.
-- column: kind text `executes`: it runs. `behind`: it could run, but another one has the core, and runs or polls there. `os`: it could run, and nobody has the core, or only an idle task: the kernel is at work. `lock`: it polls or waits for a semaphore. `event`: it waits for an event. `unknown`: the recording does not show it.
-- column: state text Its state, as in process_state; NULL where no state is known.
-- column: core text Core that it has, had last, or starts on.
-- column: runnable text Innermost runnable that runs, of `executes`; NULL if none does.
-- column: by_process text Who has the core, holds the semaphore, or sets the event at last; NULL if that is not known.
-- column: by_type text Type of that: T, I or STI; NULL if a task and a stimulus have that name.
-- column: by_instance integer Instance of that.
-- column: reason text Why the other one has the core: `isr`, `higher_priority`, `equal_priority`, `previous_instance` (an earlier instance of the same process is not finished), `not_preemptable` (a lower priority, and it is not preemptable), `holds` (a lower priority, and it holds a semaphore that it gives back before this instance gets the core). NULL: nothing known says why.
-- column: held text The semaphore that the other one holds, of the reason `holds`.
-- column: object text Semaphore or event that it waits or polls for, also while it is parking; of `behind`, where the other one only polls (holder_state), the semaphore that the other one polls for: NULL if nothing known says which.
-- column: holder_state text What the holder of the semaphore does meanwhile; of `behind`, `polling` where the other one has the core and only polls.
-- column: behind_process text Who has the core of a holder that could run, but does not; of `behind`, who holds the semaphore that the other one polls for, if that is known.
-- column: behind_instance integer Instance of that.
-- column: activated_by text Who activated the instance; NULL if that is not known.
-- column: activated_by_instance integer Instance of that, of a task or ISR.
-- column: triggered_by text Task or ISR that triggered the stimulus that activated the instance, also on another core, at most a second before.
-- column: triggered_by_instance integer Instance of that.
SELECT
    recording, process, type, instance, part, begin_at, end_at, length, kind, state, core, runnable,
    by_process, by_type, by_instance, reason, held, object, holder_state, behind_process, behind_instance,
    activated_by, activated_by_instance, triggered_by, triggered_by_instance
FROM response_parts()
