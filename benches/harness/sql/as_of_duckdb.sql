-- The same with the as-of join of DuckDB, which is faster there than the window.
SELECT w.value AS running, count(*) AS accesses
FROM data_event AS e
ASOF LEFT JOIN (
    SELECT seq, value FROM data_event WHERE variable = 'EE_ORTI_servicetrace_0' AND access = 'write'
) AS w ON e.seq >= w.seq
GROUP BY w.value
ORDER BY w.value
