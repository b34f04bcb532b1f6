-- The event chains that a recording shows: `btfdb chains DB` writes them as a file for `--chains`.
--
-- A process follows from another one if it read a signal that the other one wrote last, or was activated by a stimulus that the other
-- one triggered. What an instance of a process has read, or was activated by, the latest of each signal and stimulus, leads to all that
-- it writes or triggers later. So chains go on from instance to instance. A chain that is the begin of a longer one is not listed. It ends
-- where it comes to a process of its own again, and after 8 links. Nothing follows across a gap, or in one: what comes first after it, or
-- in the recording, begins chains of its own.
-- column: recording text Recording.
-- column: chain text Name: processes, and the signals and stimuli between them.
-- column: occurrences integer How many times its last step followed from all others.
-- column: steps integer How many steps it has.
-- column: first_at time The last step, the first time.
-- column: last_at time The last step, the last time.
-- column: cycle boolean Whether its last process is on it before.
-- column: cut boolean Whether it may go on: it was cut where it would be too long, or where there were too many (64 that lead to one instance, 100000 in all).
-- column: toml text The chain as an entry of a file for `--chains`.
SELECT recording, chain, occurrences, steps, first_at, last_at, cycle, cut, toml
FROM discovered_chains()
