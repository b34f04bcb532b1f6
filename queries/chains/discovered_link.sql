-- The links of the event chains that a recording shows: who reads what another process wrote, who is activated by what another one
-- triggered. `discovered_chain` has the chains that they make. Nothing follows across a gap, or in one.
-- column: recording text Recording.
-- column: from_process text Process that wrote the signal or triggered the stimulus; NULL if it came from outside, or is not recorded.
-- column: via text The signal or stimulus.
-- column: via_type text `SIG` or `STI`.
-- column: to_process text Process that read the signal or was activated.
-- column: occurrences integer How many reads or activations there are.
-- column: first_at time The first of them.
-- column: last_at time The last of them.
SELECT recording, from_process, via, via_type, to_process, occurrences, first_at, last_at
FROM discovered_links()
