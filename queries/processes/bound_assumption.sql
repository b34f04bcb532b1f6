-- What the bound of each process in response_bound assumes, and what of the recording contradicts that: a row for each contradiction, and
-- one for each assumption that nothing contradicts.
--
-- column: recording text Recording.
-- column: process text Task or ISR whose bound it is.
-- column: type text T (task) or I (ISR).
-- column: assumption text The assumption as a word, as in response_bound.
-- column: meaning text The same as a sentence.
-- column: contradicted boolean Whether the recording contradicts it.
-- column: contradiction text What contradicts it; NULL if nothing does.
SELECT recording, process, type, assumption, meaning, contradicted, contradiction
FROM bound_assumptions()
