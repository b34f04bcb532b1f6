-- Share of the time that a core is occupied: one row per core (type C), and one per core and process.
--
-- A process occupies its core while it is RUNNING or POLLING. Idle tasks do not. The time is that of the window, or of the
-- recording, without the gaps of the core.
-- unit: percent
-- fold: share
-- group: core
-- param: from time Begin of the requested time.
-- param: to time End of that time, not part of it.
WITH occupied AS (
    SELECT recording, process, type, core, instance, end_at - begin_at AS value, begin_at AS at, end_at, idle
    FROM process_state
    -- The times tell which pages of the table can be left unread.
    WHERE state IN ('running', 'polling') AND begin_at < $to AND end_at > $from
)
SELECT recording, process AS entity, type, core, instance, value, at
FROM occupied
WHERE NOT idle
UNION ALL
-- What an idle task takes is nothing at its end, for a core on which nothing else runs.
SELECT
    recording, core AS entity, 'C' AS type, core, instance,
    CASE WHEN idle THEN 0 ELSE value END AS value,
    CASE WHEN idle THEN least(end_at, $to) - 1 ELSE at END AS at
FROM occupied
