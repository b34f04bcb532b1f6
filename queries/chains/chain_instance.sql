-- Every way through the event chains that `--chains FILE` gives; no rows without that option.
--
-- A chain is a list of steps, each the cause of the next. Where the trace names the instance that is the cause, an event follows
-- from that one: of the entity that is its source; of its own process (an activation and its start); of the stimulus that activated
-- its process, so that an alarm whose activation was lost does not begin what another one caused; and, for an activation or a start,
-- of the process that triggered that stimulus. Otherwise it follows from the latest event of the previous step, or, with
-- `instance = "same"`, from the latest one of the same instance of its process. Nothing follows across a gap. While a core on which
-- a step may happen has one, first steps are open: what follows from them may be hidden. There is one row per first step, and one
-- more for each further last step that follows from it.
-- column: recording text Recording.
-- column: chain text Name of the chain.
-- column: begin_at time First step.
-- column: end_at time Last step that follows from it; NULL when none does.
-- column: age duration From the first step to the last one: how old the data is (last to last).
-- column: reaction duration From the first step to the first last step that follows from it or from a later first step: how long an observer waits for an answer (first to first). NULL in repeated rows, and when there is none.
-- column: outcome text `used`; `repeated`: a further last step from the same first one; `lost`: no last step follows, as a later first step came before it was taken up; `open`: the trace ends or has a gap first.
-- column: step_at list The times of all steps on the way; only that of the first one if no last step follows.
SELECT recording, chain, begin_at, end_at, age, reaction, outcome, step_at
FROM chains()
