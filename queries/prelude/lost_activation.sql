-- One row per activation of a process that was lost because its limit of multiple task activations was reached.
--
-- column: recording text Recording.
-- column: entity text Task or ISR.
-- column: type text T (task) or I (ISR).
-- column: instance integer Number that the lost activation took: there is no such instance.
-- column: at time When it was lost.
-- column: seq integer Number of its row in `btf_event`: the order of those that were lost at one time.
SELECT
    recording,
    target AS entity,
    CASE target_type WHEN 'ISR' THEN 'I' ELSE target_type END AS type,
    target_instance AS instance,
    time AS at,
    seq
FROM btf_event
-- The older spellings are those of BTF before 2.1.4 and of the tools that wrote it.
WHERE action IN ('mtalimitexceeded', 'mtalimitexceded', 'mpalimitexceeded') AND target_type IN ('T', 'I', 'ISR')
