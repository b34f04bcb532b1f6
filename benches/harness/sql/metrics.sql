-- Response times per process, as `btfdb metrics DB ResponseTime` counts them.
SELECT process, count(value), min(value), avg(value), max(value), stddev(value)
FROM (SELECT process, terminate_at - activate_at AS value FROM process_instance WHERE complete)
GROUP BY process
ORDER BY process
