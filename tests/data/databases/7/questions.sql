-- What was in the tables, and some of the rows.
SELECT 'btf_event' AS "table", recording, count(*) AS rows FROM btf_event GROUP BY recording
UNION ALL
SELECT 'btf_line' AS "table", recording, count(*) AS rows FROM btf_line GROUP BY recording
UNION ALL
SELECT 'data_event' AS "table", recording, count(*) AS rows FROM data_event GROUP BY recording
UNION ALL
SELECT 'diagnostic' AS "table", recording, count(*) AS rows FROM diagnostic GROUP BY recording
UNION ALL
SELECT 'entity' AS "table", recording, count(*) AS rows FROM entity GROUP BY recording
UNION ALL
SELECT 'function_event' AS "table", recording, count(*) AS rows FROM function_event GROUP BY recording
UNION ALL
SELECT 'gap' AS "table", recording, count(*) AS rows FROM gap GROUP BY recording
UNION ALL
SELECT 'grasp_event' AS "table", recording, count(*) AS rows FROM grasp_event GROUP BY recording
UNION ALL
SELECT 'kernel_attribute' AS "table", recording, count(*) AS rows FROM kernel_attribute GROUP BY recording
UNION ALL
SELECT 'kernel_buffer' AS "table", recording, count(*) AS rows FROM kernel_buffer GROUP BY recording
UNION ALL
SELECT 'kernel_call' AS "table", recording, count(*) AS rows FROM kernel_call GROUP BY recording
UNION ALL
SELECT 'kernel_event' AS "table", recording, count(*) AS rows FROM kernel_event GROUP BY recording
UNION ALL
SELECT 'kernel_interrupt' AS "table", recording, count(*) AS rows FROM kernel_interrupt GROUP BY recording
UNION ALL
SELECT 'kernel_message' AS "table", recording, count(*) AS rows FROM kernel_message GROUP BY recording
UNION ALL
SELECT 'kernel_process' AS "table", recording, count(*) AS rows FROM kernel_process GROUP BY recording
UNION ALL
SELECT 'kernel_state' AS "table", recording, count(*) AS rows FROM kernel_state GROUP BY recording
UNION ALL
SELECT 'kernel_thread' AS "table", recording, count(*) AS rows FROM kernel_thread GROUP BY recording
UNION ALL
SELECT 'os_call' AS "table", recording, count(*) AS rows FROM os_call GROUP BY recording
UNION ALL
SELECT 'process_instance' AS "table", recording, count(*) AS rows FROM process_instance GROUP BY recording
UNION ALL
SELECT 'process_state' AS "table", recording, count(*) AS rows FROM process_state GROUP BY recording
UNION ALL
SELECT 'recording' AS "table", recording, count(*) AS rows FROM recording GROUP BY recording
UNION ALL
SELECT 'recording_label' AS "table", recording, count(*) AS rows FROM recording_label GROUP BY recording
UNION ALL
SELECT 'runnable_instance' AS "table", recording, count(*) AS rows FROM runnable_instance GROUP BY recording
UNION ALL
SELECT 'runnable_state' AS "table", recording, count(*) AS rows FROM runnable_state GROUP BY recording
UNION ALL
SELECT 'source' AS "table", recording, count(*) AS rows FROM source GROUP BY recording
ORDER BY "table", recording;

SELECT *
FROM btf_event ORDER BY recording, seq;

SELECT * FROM process_state ORDER BY recording, begin_at, end_at, process, instance, state;

SELECT * FROM data_event ORDER BY recording, core, seq;

SELECT * FROM kernel_event ORDER BY recording, cpu, seq;
