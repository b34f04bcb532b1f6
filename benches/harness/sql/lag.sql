-- Time since the previous access of the same variable: how often, at most, on average.
SELECT variable, count(*) AS accesses, max(gap) AS longest, avg(gap) AS mean
FROM (
    SELECT variable, time - lag(time) OVER (PARTITION BY variable ORDER BY time, seq) AS gap
    FROM data_event
)
GROUP BY variable
ORDER BY variable
