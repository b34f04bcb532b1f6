-- Share of the time that a core spends in services of the operating system: one row per core (type C), and one per core and process.
--
-- From the entry of a service to its exit, as far as its caller is RUNNING meanwhile; services that are called within another one
-- are part of that. What the OS does outside of services (scheduling, entering ISRs) is not in the trace, so it is more in truth.
-- Only recordings of OSEK systems that report their services have it. The time is that of the window, or of the recording, without
-- the gaps of the core.
-- unit: percent
-- fold: share
-- group: core
-- param: from time Begin of the requested time.
-- param: to time End of that time, not part of it.
WITH spent AS (
    SELECT
        c.recording, c.process, c.type, s.core, c.instance,
        least(c.exit_at, s.end_at) - greatest(c.enter_at, s.begin_at) AS value,
        greatest(c.enter_at, s.begin_at) AS at
    FROM os_call AS c
    JOIN process_state AS s
        ON c.recording = s.recording
        AND c.process = s.process
        AND c.type = s.type
        AND c.instance = s.instance
        AND c.enter_at < s.end_at
        AND s.begin_at < c.exit_at
    WHERE c.depth = 0 AND s.state = 'running' AND s.begin_at < $to AND s.end_at > $from
)
SELECT recording, process AS entity, type, core, instance, value, at
FROM spent
UNION ALL
SELECT recording, core AS entity, 'C' AS type, core, instance, value, at
FROM spent
