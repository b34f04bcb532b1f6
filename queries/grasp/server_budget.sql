-- The budget of the servers of a Grasp trace over time: one row per piece between two events of a server.
--
-- While a server is active its budget falls by one unit per unit of time, and by one for each further processor that it is
-- resumed on; `serverReplenished` sets it, `serverDepleted` sets it to 0. Below 0 is a fault, which `btfdb check` reports.
-- column: recording text Recording.
-- column: server text Id of the server.
-- column: name text Its name; its id where it has none.
-- column: begin_at time Begin of the piece.
-- column: end_at time Its end: the next event of the server, or the end of the recording.
-- column: event text What the piece begins with: an event of the server, or `newServer`.
-- column: consumers integer How many use up the budget at once; 0: the server is not active.
-- column: begin_budget duration Budget at the begin.
-- column: end_budget duration Budget at the end.
-- column: capacity duration Capacity as declared; NULL where it is not.
-- column: line integer Line of the file that the piece begins with.
WITH declared AS (
    SELECT
        recording,
        server,
        first_value(coalesce(name, server) ORDER BY seq) AS name,
        first_value(capacity ORDER BY seq) AS capacity
    FROM grasp_event
    WHERE status = 'ok' AND command = 'newServer'
    GROUP BY recording, server
),

step AS (
    SELECT
        recording,
        server,
        effect_at AS begin_at,
        effect_at,
        seq,
        line,
        coalesce(event, command) AS event,
        CASE
            WHEN event = 'serverDepleted' THEN 0
            WHEN event = 'serverReplenished' OR command = 'newServer' THEN coalesce(budget, 0)
        END AS set_to,
        CASE event WHEN 'serverResumed' THEN 1 WHEN 'serverPreempted' THEN -1 ELSE 0 END AS change
    FROM grasp_event
    WHERE
        status = 'ok'
        AND server IS NOT NULL
        AND (
            command = 'newServer'
            OR event IN ('serverReplenished', 'serverDepleted', 'serverResumed', 'serverPreempted')
        )
),

summed AS (
    SELECT
        *,
        sum(change) OVER w AS balance,
        count(set_to) OVER w AS epoch,
        lead(begin_at) OVER (PARTITION BY recording, server ORDER BY effect_at, seq) AS next_at
    FROM step
    WINDOW w AS (
        PARTITION BY recording, server ORDER BY effect_at, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),

-- Nobody can leave a server that nobody uses: a balance below its lowest so far counts from there.
active AS (
    SELECT
        s.*,
        balance - least(
            0,
            min(balance) OVER (
                PARTITION BY s.recording, server ORDER BY effect_at, seq
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            )
        ) AS consumers,
        coalesce(next_at, r.end_at) AS end_at
    FROM summed AS s
    INNER JOIN recording AS r ON s.recording = r.recording
),

used AS (
    SELECT
        *,
        max(set_to) OVER e AS first_budget,
        sum(consumers * (end_at - begin_at)) OVER e AS used
    FROM active
    WINDOW e AS (
        PARTITION BY recording, server, epoch ORDER BY effect_at, seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
)

SELECT
    u.recording,
    u.server,
    coalesce(d.name, u.server) AS name,
    u.begin_at,
    u.end_at,
    u.event,
    u.consumers,
    coalesce(u.first_budget, 0) - u.used + u.consumers * (u.end_at - u.begin_at) AS begin_budget,
    coalesce(u.first_budget, 0) - u.used AS end_budget,
    d.capacity,
    u.line
FROM used AS u
LEFT JOIN declared AS d ON u.recording = d.recording AND u.server = d.server
