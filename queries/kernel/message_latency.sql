-- How long messages and pulses of a QNX kernel trace take: one row per server and kind, with the worst one and when it was sent.
--
-- Averages are of those with both moments recorded, rounded down. A pulse has no reply, so the worst pulse is the one that waited
-- longest. Of several as bad, the first one counts.
-- column: recording text Recording.
-- column: server text Process that they were sent to: base name and id; NULL when not known: another node, or the sending failed.
-- column: kind text `message` or `pulse`.
-- column: messages integer How many.
-- column: replied integer How many of these were answered without an error.
-- column: errors integer How many of these were answered with an error.
-- column: abandoned integer For how many of these the sender went on or ended without an answer.
-- column: open integer How many of these were messages without an answer, or pulses without a receipt, when the recording or a part of it ended.
-- column: wait_avg duration From the sending until it was received, on average.
-- column: wait_max duration The longest of these.
-- column: service_avg duration From the receipt until the answer, on average.
-- column: service_max duration The longest of these.
-- column: total_avg duration From the sending until the answer, on average.
-- column: total_max duration The longest of these.
-- column: worst_at time When the worst one was sent; NULL when there is none with both moments.
-- column: worst_client text Task that sent the worst one; NULL when the kernel did, or when not known.
-- column: worst_rcvid integer Its `rcvid`, or of a pulse its `scoid`.
WITH timed AS (
    SELECT
        recording, server, kind, outcome, send_at, client, rcvid,
        receive_at - send_at AS wait,
        reply_at - receive_at AS service,
        reply_at - send_at AS total,
        CASE WHEN kind = 'pulse' THEN receive_at ELSE reply_at END - send_at AS rank
    FROM kernel_message
)
SELECT
    recording,
    server,
    kind,
    count(*) AS messages,
    count(*) FILTER (WHERE outcome = 'replied') AS replied,
    count(*) FILTER (WHERE outcome = 'error') AS errors,
    count(*) FILTER (WHERE outcome = 'abandoned') AS abandoned,
    count(*) FILTER (WHERE outcome = 'cut') AS open,
    sum(wait) / count(wait) AS wait_avg,
    max(wait) AS wait_max,
    sum(service) / count(service) AS service_avg,
    max(service) AS service_max,
    sum(total) / count(total) AS total_avg,
    max(total) AS total_max,
    first_value(CASE WHEN rank IS NOT NULL THEN send_at END ORDER BY rank DESC NULLS LAST, send_at) AS worst_at,
    first_value(CASE WHEN rank IS NOT NULL THEN client END ORDER BY rank DESC NULLS LAST, send_at) AS worst_client,
    first_value(CASE WHEN rank IS NOT NULL THEN rcvid END ORDER BY rank DESC NULLS LAST, send_at) AS worst_rcvid
FROM timed
GROUP BY recording, server, kind
