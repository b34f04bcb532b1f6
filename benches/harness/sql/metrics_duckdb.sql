-- What `btfdb metrics DB ResponseTime` shows, in the SQL of DuckDB. Of equal extremes the first one counts: the instant is
-- the lower half of the number that is compared.
WITH sample AS (
    SELECT
        process, type, core,
        CASE WHEN complete THEN terminate_at - activate_at END AS value,
        coalesce(activate_at, start_at, terminate_at) AS since
    FROM process_instance
    WHERE terminate_at - activate_at IS NOT NULL OR NOT complete
)
SELECT
    process,
    type,
    CASE WHEN min(core) = max(core) THEN min(core) END AS core,
    count(value),
    count(*) - count(value) AS incomplete,
    CAST(min(value) AS DOUBLE),
    avg(value),
    CAST(max(value) AS DOUBLE),
    stddev(value),
    quantile_cont(value, 0.5),
    quantile_cont(value, 0.95),
    quantile_cont(value, 0.99),
    arg_min(since, value * 4611686018427387904::HUGEINT + since),
    arg_max(since, value * 4611686018427387904::HUGEINT - since)
FROM sample
GROUP BY process, type
ORDER BY process, type
