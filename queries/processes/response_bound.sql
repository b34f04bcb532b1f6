-- How long a response of each task and ISR can take, from what a recording shows: the rows of `btfdb bound`. What arrives as densely, and
-- executes as long, as it was seen to at most, meets at the worst moment. It bounds what was observed, and is no safe bound.
--
-- A condition on `recording` chooses which recordings are read. View bound_assumption lists what each bound assumes.
--
-- column: recording text Recording.
-- column: process text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: core text Its core; NULL if it ran on several ones.
-- column: priority integer Its priority, as described; NULL if nobody says it.
-- column: activations integer How often it was activated.
-- column: min_distance duration The least time between two activations.
-- column: period duration The period that explains all distances with the least jitter; NULL for less than three activations.
-- column: jitter duration That jitter.
-- column: worst_execution duration The longest time that a job had its core, spinning included. A job is an instance, or a part of it between two waits.
-- column: blocking duration How long processes of lower priority delay it in the bound.
-- column: blocked_by text Who does.
-- column: blocked_why text Why: `holds` a lock, `not_preemptable`, or `seen` without a reason.
-- column: measured duration The slowest job before which its core was seen without work that goes first. Other jobs may be slower (metric ResponseTime).
-- column: bound duration The most that a job can take as long as the assumptions hold; NULL if there is no bound.
-- column: ratio number The bound divided by what was measured.
-- column: reason text Why there is no bound.
-- column: assumptions text What the bound assumes, as in bound_assumption.
-- column: contradiction text Which of that the recording contradicts, and by how much.
SELECT
    recording, process, type, core, priority, activations, min_distance, period, jitter, worst_execution,
    blocking, blocked_by, blocked_why, measured, bound, ratio, reason, assumptions, contradiction
FROM response_bounds()
