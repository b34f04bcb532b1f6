-- Time from the activation of an instance to the activation of the next one.
--
-- Both moments must be in the trace and belong to consecutive instances, of which a lost activation is none; no gap of the
-- core may lie between them.
-- unit: duration
-- alias: PER GLIWA: the period, as it was measured; the one that is configured is not in a trace.
-- alias: A2A short form.
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    next_activate_at - activate_at AS value,
    coalesce(activate_at, first_at) AS at
FROM process_pair
WHERE next_activate_at - activate_at IS NOT NULL OR NOT complete
