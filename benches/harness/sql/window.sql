-- What happened in a window of time: how often which action befell whom.
SELECT target, action, count(*) AS events
FROM btf_event
WHERE time >= $begin_at AND time < $end_at
GROUP BY target, action
ORDER BY target, action
