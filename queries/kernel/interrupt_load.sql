-- How much of each CPU interrupts take in a QNX kernel trace: one row per CPU and vector.
--
-- Since 8.0 there are no rows: the kernel does not say how long interrupts take, and threads serve them.
-- column: recording text Recording.
-- column: cpu integer CPU that was interrupted.
-- column: vector integer Number of the interrupt.
-- column: interrupts integer How often, including those whose end was not recorded.
-- column: running duration Time of their own, without the interrupts that interrupted them.
-- column: load percent Share of the recording.
-- column: running_avg duration Time of their own on average, rounded down.
-- column: longest duration The longest time of its own of one of them.
-- column: longest_at time When that one began; of several as long, the first one.
-- column: incomplete integer How many have no exit in the recording; their time counts up to the event that shows that they were over, if there is one.
SELECT
    i.recording,
    i.cpu,
    i.vector,
    count(*) AS interrupts,
    coalesce(sum(i.running), 0) AS running,
    100.0 * CAST(coalesce(sum(i.running), 0) AS DOUBLE) / CAST(nullif(max(r.end_at) - min(r.begin_at), 0) AS DOUBLE) AS load,
    sum(i.running) / count(i.running) AS running_avg,
    max(i.running) AS longest,
    first_value(CASE WHEN i.running IS NOT NULL THEN i.begin_at END ORDER BY i.running DESC NULLS LAST, i.begin_at) AS longest_at,
    count(*) FILTER (WHERE NOT i.complete) AS incomplete
FROM kernel_interrupt AS i
JOIN recording AS r ON i.recording = r.recording
GROUP BY i.recording, i.cpu, i.vector
