-- Time from the activation of an instance to the activation of the next one.
--
-- Both moments must be in the trace, and the instances must be consecutive. A lost activation is no instance, so it does not
-- separate them. A gap of the core between the two moments leaves the pair out.
-- unit: duration
-- alias: PER GLIWA: the measured period; no trace contains the configured one.
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
