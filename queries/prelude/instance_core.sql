-- The core of each process instance that was seen on one core only: of the others, no gap of one core tells enough.
--
-- An input with several traces may have an instance several times.
-- column: recording text Recording of the instance.
-- column: process text Task or ISR.
-- column: instance integer Number of the instance.
-- column: core text Its core.
SELECT recording, process, instance, min(core) AS core
FROM process_instance
GROUP BY recording, process, instance
HAVING count(DISTINCT core) = 1
