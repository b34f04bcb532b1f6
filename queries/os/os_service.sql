-- One row per call of an OS service: who called it, how long it took, and how much of that its caller was running.
--
-- The OS writes these values for the debugger (SERVICETRACE of ORTI 2.2): an odd value is the entry of the even service below
-- it, the even value is its exit. An OS may write the exit before the service is done, and after it has let others run. Calls
-- outside of every process and the scheduling between processes are left out, so this is not the whole time of the OS.
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
-- column: name text Name of the service in the ORTI file; NULL when it has none there.
-- column: error text Error that it returned, as far as the OS reports it; NULL when there was none.
WITH
    call AS (SELECT * FROM os_call WHERE process IS NOT NULL),
    ran AS (
        SELECT
            c.recording, c.process, c.type, c.instance, c.service, c.enter_at,
            sum(least(c.exit_at, s.end_at) - greatest(c.enter_at, s.begin_at)) AS net
        FROM call AS c
        JOIN process_state AS s
            ON c.recording = s.recording
            AND c.process = s.process
            AND c.type = s.type
            AND c.instance = s.instance
            AND c.enter_at < s.end_at
            AND s.begin_at < c.exit_at
        WHERE s.state = 'running'
        GROUP BY c.recording, c.process, c.type, c.instance, c.service, c.enter_at
    )
SELECT
    c.recording,
    c.core,
    c.service,
    c.process,
    c.type,
    c.instance,
    c.enter_at AS entry_at,
    c.exit_at,
    c.exit_at - c.enter_at AS gross,
    CASE WHEN c.exit_at IS NOT NULL THEN coalesce(r.net, 0) END AS net,
    c.name,
    c.error
FROM call AS c
LEFT JOIN ran AS r
    ON c.recording = r.recording
    AND c.process = r.process
    AND c.type = r.type
    AND c.instance = r.instance
    AND c.service = r.service
    AND c.enter_at = r.enter_at
