-- Share of the time that processes are parked on a core: one row per core (type C), and one per core and process.
--
-- A process that is PARKING was preempted while it was POLLING; its core is the one that it ran on last. Of several processes at
-- once, a core counts the time once. The time is that of the window, or of the recording, without the gaps of the core.
-- unit: percent
-- fold: share
-- group: core
-- param: from time Begin of the requested time.
-- param: to time End of that time, not part of it.
WITH stretch AS (
    SELECT recording, process, type, core, instance, begin_at, end_at
    FROM process_state
    -- The times tell which pages of the table can be left unread.
    WHERE state = 'parking' AND core IS NOT NULL AND begin_at < $to AND end_at > $from
)
SELECT recording, process AS entity, type, core, instance, end_at - begin_at AS value, begin_at AS at
FROM stretch
UNION ALL
SELECT
    recording, core AS entity, 'C' AS type, core, CAST(NULL AS BIGINT) AS instance, end_at - begin_at AS value,
    begin_at AS at
FROM interval_merge(stretch, recording, core)
