-- The first violations of each `[[temporal]]` requirement that `--requirements FILE` gives, in each recording, with the events that show them:
-- a row for each event. Without that option, an error. What other requirements violate is in requirement_verdict, and in the metrics.
--
-- column: recording text Recording.
-- column: requirement text Name of the requirement.
-- column: entity text Whose it is, as in requirement_verdict.
-- column: violation integer Number of the violation, from 0; the first five are here.
-- column: begin_at time Begin of the violation.
-- column: last_at time Its end, part of it.
-- column: witness integer Number of the event, from 0; NULL if no event shows the violation, as in the next ones.
-- column: time time When the event was.
-- column: seq integer Its place in btf_event; NULL if it is the begin or end of a state.
-- column: event text The event.
SELECT recording, requirement, entity, violation, begin_at, last_at, witness, time, seq, event
FROM requirement_violations()
