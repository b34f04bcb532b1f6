-- How many items the buffers of a Grasp trace hold over time: one row per event of a buffer.
--
-- `push` and `insert` add an item, `pop` and `drop` take one away. A buffer is empty when the recording begins.
-- column: recording text Recording.
-- column: buffer text Id of the buffer.
-- column: name text Its name; its id where it has none.
-- column: begin_at time When the event happened.
-- column: end_at time The next event of the buffer, or the end of the recording.
-- column: event text `push`, `pop`, `insert`, `drop` or `resize`.
-- column: item text What was put in; NULL for other events.
-- column: level integer Items in it from then on; below 0 if items were taken whose insertion is not in the trace.
-- column: capacity integer Room for items from then on; NULL if the trace does not say.
-- column: line integer Line of the file.
WITH declared AS (
    SELECT
        recording,
        buffer,
        first_value(coalesce(name, buffer) ORDER BY seq) AS name,
        first_value(amount ORDER BY seq) AS capacity
    FROM grasp_event
    WHERE status = 'ok' AND command = 'newBuffer'
    GROUP BY recording, buffer
),

step AS (
    SELECT
        recording,
        buffer,
        time,
        seq,
        line,
        event,
        message,
        CASE WHEN event IN ('push', 'insert') THEN 1 WHEN event IN ('pop', 'drop') THEN -1 ELSE 0 END AS change,
        CASE WHEN event = 'resize' THEN amount END AS resized
    FROM grasp_event
    WHERE
        status = 'ok' AND command = 'bufferplot' AND event IN ('push', 'pop', 'insert', 'drop', 'resize')
),

summed AS (
    SELECT
        *,
        lead(time) OVER (PARTITION BY recording, buffer ORDER BY time, seq) AS next_at,
        sum(change) OVER w AS level,
        last_value(resized) IGNORE NULLS OVER w AS size
    FROM step
    WINDOW w AS (
        PARTITION BY recording, buffer ORDER BY time, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
)

SELECT
    s.recording,
    s.buffer,
    coalesce(d.name, s.buffer) AS name,
    s.time AS begin_at,
    coalesce(s.next_at, r.end_at) AS end_at,
    s.event,
    CASE WHEN s.event IN ('push', 'insert') THEN s.message END AS item,
    s.level,
    coalesce(s.size, d.capacity) AS capacity,
    s.line
FROM summed AS s
INNER JOIN recording AS r ON s.recording = r.recording
LEFT JOIN declared AS d ON s.recording = d.recording AND s.buffer = d.buffer
