-- What recordings show of the requirements that `--requirements FILE` gives: the outcomes of `btfdb check --requirements`, a row for each
-- requirement, recording and entity. Without that option, an error.
--
-- A condition on `recording` chooses where requirements are measured; which names there are at all is known of the whole database.
--
-- column: recording text Recording.
-- column: requirement text Name of the requirement.
-- column: entity text Whose it is: a process, core, runnable or chain.
-- column: verdict text `kept`, `violated`, `may still be kept` or `may still be violated` (what a gap or an edge hides decides), `no samples`, or `unknown` (nothing has a name that it is about).
-- column: metric text What is measured: a metric, `Load`, `Synchronisation`, or `Temporal` for a template over events and states.
-- column: statistic text The statistic that is bounded: `max`, `min`, `p99`, …
-- column: unit text `duration`: worst, bound and margin are ticks. `count`, `percent`: they are numbers.
-- column: worst number The worst case; NULL without samples.
-- column: side text `upper` or `lower`: the side of the bound that is not allowed.
-- column: bound number The bound.
-- column: margin number How far the worst case is on the right side of the bound; negative if it is not.
-- column: at time When the worst case began; NULL for a statistic that belongs to no instant.
-- column: samples integer How many samples there are.
-- column: beyond integer How many of them are beyond the bound; NULL for a statistic that belongs to no sample.
-- column: incomplete integer Instances, events and windows that give no sample, because the trace cuts them off, and what is seen of them does not violate the bound.
-- column: kept integer Of a template over events and states: obligations that are kept; NULL for other requirements, as in the next ones.
-- column: open integer Obligations that are not decided at the end of the recording.
-- column: unknown integer Obligations that are never decided, as a gap or an edge hides something.
-- column: missing integer How many of the open and unknown ones the records alone do not keep.
-- column: blind integer Stretches in which something may be hidden that violates it.
-- column: note text Why there are no samples, if that is known.
SELECT
    recording, requirement, entity, verdict, metric, statistic, unit, worst, side, bound, margin, at,
    samples, beyond, incomplete, kept, open, unknown, missing, blind, note
FROM requirement_verdicts()
