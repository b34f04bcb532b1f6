-- What ran at each access: the last value that was written to a variable; how many accesses per value.
SELECT running, count(*) AS accesses
FROM (
    SELECT
        last_value(CASE WHEN variable = 'EE_ORTI_servicetrace_0' AND access = 'write' THEN value END)
            IGNORE NULLS OVER (ORDER BY time, seq) AS running
    FROM data_event
)
GROUP BY running
ORDER BY running
