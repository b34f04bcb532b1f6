-- Time from the termination of an instance to the termination of the next one.
--
-- Both moments must be in the trace, and the instances must be consecutive. A lost activation is no instance, so it does not
-- separate them. A gap of the core between the two moments leaves the pair out.
-- unit: duration
SELECT
    recording,
    entity,
    type,
    core,
    instance,
    next_terminate_at - terminate_at AS value,
    coalesce(terminate_at, first_at) AS at
FROM process_pair
WHERE next_terminate_at - terminate_at IS NOT NULL OR NOT complete
