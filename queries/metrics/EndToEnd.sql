-- Time from the termination of an instance to the termination of the next one.
--
-- Both moments must be in the trace and belong to consecutive instances, of which a lost activation is none; no gap of the
-- core may lie between them.
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
