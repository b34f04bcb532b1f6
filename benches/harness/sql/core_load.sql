-- How loaded each core is in windows of 10 ms: how many windows, all time that the core was occupied, the most in a window.
SELECT core, count(*) AS windows, sum(occupied) AS occupied, max(occupied) AS peak
FROM core_load
WHERE process IS NULL
GROUP BY core
ORDER BY core
