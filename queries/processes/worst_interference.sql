-- What ran while the instance with the longest response time of each process was waiting for its core.
--
-- column: recording text Recording.
-- column: process text Task or ISR of that instance.
-- column: type text T (task) or I (ISR).
-- column: instance integer The instance with the longest response time.
-- column: response duration Its response time.
-- column: by_process text Task or ISR that ran meanwhile on the same core.
-- column: by_type text T (task) or I (ISR).
-- column: stretches integer In how many spans.
-- column: total duration How long in total.
-- column: first_at time Begin of the first span.
SELECT
    w.recording,
    w.process,
    w.type,
    w.instance,
    max(w.response) AS response,
    i.by_process,
    i.by_type,
    count(*) AS stretches,
    sum(i.end_at - i.begin_at) AS total,
    min(i.begin_at) AS first_at
FROM worst_response AS w
JOIN interference AS i
    ON w.recording = i.recording AND w.process = i.process AND w.type = i.type AND w.instance = i.instance
GROUP BY w.recording, w.process, w.type, w.instance, i.by_process, i.by_type
