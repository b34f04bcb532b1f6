-- Share of the time that a core is occupied: one row per core (type C), and one per core and process.
--
-- A process occupies its core while it is RUNNING or POLLING. The time is that of the window, or of the recording.
-- unit: percent
-- group: core
-- param: from time Start of the window.
-- param: to time End of the window, not part of it.
WITH
    span AS (
        SELECT recording, greatest(begin_at, $from) AS from_at, least(end_at, $to) AS to_at
        FROM recording
    ),
    occupied AS (
        SELECT
            s.recording, s.process, s.type, s.core, w.from_at,
            least(s.end_at, w.to_at) - greatest(s.begin_at, w.from_at) AS occupied,
            w.to_at - w.from_at AS available
        FROM process_state AS s
        JOIN span AS w ON s.recording = w.recording
        WHERE s.state IN ('running', 'polling')
            -- The window twice: as it was given, it tells which pages of the table can be left unread.
            AND s.begin_at < $to AND s.end_at > $from
            AND s.begin_at < w.to_at AND s.end_at > w.from_at
    )
SELECT
    recording,
    process AS entity,
    type,
    core,
    CAST(NULL AS BIGINT) AS instance,
    100.0 * CAST(sum(occupied) AS DOUBLE) / CAST(max(available) AS DOUBLE) AS value,
    min(from_at) AS at
FROM occupied
GROUP BY recording, process, type, core
UNION ALL
SELECT
    recording,
    core AS entity,
    'C' AS type,
    core,
    CAST(NULL AS BIGINT) AS instance,
    100.0 * CAST(sum(occupied) AS DOUBLE) / CAST(max(available) AS DOUBLE) AS value,
    min(from_at) AS at
FROM occupied
GROUP BY recording, core
