-- One row per call of an OS service: who called it, how long it took, and how much of that its caller was running.
--
-- The OS writes these values for the debugger (SERVICETRACE of ORTI 2.2): an odd value is the entry of the even service below
-- it, the even value is its exit. An OS may write the exit before the service is done, and after it has let others run. Calls
-- outside of every process and the scheduling between processes are left out, so this is not the whole time of the OS.
-- param: variable text Variable that SERVICETRACE of the ORTI file names, e.g. `EE_ORTI_servicetrace`.
-- column: recording text Recording.
-- column: core text Core of the call.
-- column: service integer Number of the service, as the ORTI file lists them.
-- column: process text Task or ISR that called it.
-- column: type text T (task) or I (ISR).
-- column: instance integer Instance that called it.
-- column: entry_at time When it was entered.
-- column: exit_at time When it was left; NULL when the recording does not show that.
-- column: gross duration From the entry to the exit.
-- column: net duration The part in which its caller was RUNNING: without waits, polling, and other processes.
WITH
    step AS (
        SELECT recording, core, time, seq, CAST(value AS BIGINT) AS value
        FROM data_event
        WHERE variable = $variable AND access = 'write'
    ),
    called AS (
        SELECT
            s.recording, s.core, s.time, s.seq, c.process, c.type, c.instance,
            s.value - s.value % 2 AS service,
            s.value % 2 = 1 AS entered
        FROM step AS s
        JOIN core_slice AS c
            ON s.recording = c.recording AND s.core = c.core AND c.begin_at <= s.time AND s.time < c.end_at
        WHERE c.process IS NOT NULL
    ),
    followed AS (
        SELECT
            *,
            lead(entered) OVER w AS next_entered,
            lead(time) OVER w AS next_at
        FROM called
        WINDOW w AS (PARTITION BY recording, process, type, instance, service ORDER BY time, seq)
    ),
    call AS (
        SELECT
            recording, core, service, process, type, instance, seq,
            time AS entry_at,
            CASE WHEN NOT next_entered THEN next_at END AS exit_at
        FROM followed
        WHERE entered
    ),
    ran AS (
        SELECT c.recording, c.core, c.seq, sum(least(c.exit_at, s.end_at) - greatest(c.entry_at, s.begin_at)) AS net
        FROM call AS c
        JOIN process_state AS s
            ON c.recording = s.recording
            AND c.process = s.process
            AND c.type = s.type
            AND c.instance = s.instance
            AND c.entry_at < s.end_at
            AND s.begin_at < c.exit_at
        WHERE s.state = 'running'
        GROUP BY c.recording, c.core, c.seq
    )
SELECT
    c.recording,
    c.core,
    c.service,
    c.process,
    c.type,
    c.instance,
    c.entry_at,
    c.exit_at,
    c.exit_at - c.entry_at AS gross,
    CASE WHEN c.exit_at IS NOT NULL THEN coalesce(r.net, 0) END AS net
FROM call AS c
LEFT JOIN ran AS r ON c.recording = r.recording AND c.core = r.core AND c.seq = r.seq
