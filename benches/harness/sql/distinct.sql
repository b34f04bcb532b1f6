-- Names and numbers that occur, per target.
SELECT target, count(DISTINCT target_instance), count(DISTINCT action), count(DISTINCT source)
FROM btf_event
GROUP BY target
ORDER BY target
