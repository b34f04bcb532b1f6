-- Load in windows of time: one row per window and core, and one per window, core and process that occupied it.
--
-- Windows begin at multiples of the step. Windows that are not entirely within the recording are left out. A step smaller than
-- the window makes sliding windows. Idle tasks do not occupy a core. What ran in a gap of the core is not known: the load is that
-- of the time that is seen, and `hidden` says how much of the window is not.
-- param: window duration Length of a window.
-- param: step duration Distance between the begins of two windows.
-- column: recording text Recording.
-- column: core text Core.
-- column: process text Task or ISR; NULL in the row of the whole core.
-- column: type text T (task) or I (ISR); NULL in the row of the whole core.
-- column: begin_at time Begin of the window.
-- column: end_at time End of the window, not part of it.
-- column: occupied duration Time in the window in which the core was seen to be occupied: a process was RUNNING or POLLING.
-- column: load percent Share of the time that is seen, which is the window without its hidden part; NULL if nothing is seen.
-- column: hidden duration Time in the window in gaps of the core. The share of the whole window is between `occupied` and `occupied + hidden`.
WITH
    stretch AS (
        SELECT
            s.recording, s.core, s.process, s.type, s.begin_at, s.end_at,
            r.begin_at AS first_at, r.end_at AS last_at
        FROM process_state AS s
        JOIN recording AS r ON s.recording = r.recording
        WHERE s.state IN ('running', 'polling') AND NOT s.idle AND s.core IS NOT NULL
    ),
    known AS (
        SELECT c.recording, c.core, r.begin_at AS first_at, r.end_at AS last_at
        FROM (SELECT recording, core FROM process_state WHERE core IS NOT NULL GROUP BY recording, core) AS c
        JOIN recording AS r ON c.recording = r.recording
    ),
    piece AS (
        SELECT *, unnest(windows(begin_at, end_at, $window, $step)) AS window_at
        FROM stretch
        UNION ALL
        -- A piece of no length in every window of every core, for those in which nothing runs.
        SELECT *, unnest(windows(first_at, last_at, $window, $step)) AS window_at
        FROM (
            SELECT
                recording, core, CAST(NULL AS VARCHAR) AS process, CAST(NULL AS VARCHAR) AS type,
                first_at AS begin_at, first_at AS end_at, first_at, last_at
            FROM known
        ) AS whole
    ),
    unseen AS (
        SELECT k.recording, k.core, g.begin_at, g.end_at
        FROM gap AS g
        JOIN known AS k ON g.recording = k.recording AND (g.core IS NULL OR g.core = k.core)
    ),
    -- Gaps of a core can overlap, and adjoin.
    hidden AS (
        SELECT
            recording, core, window_at,
            sum(greatest(least(end_at, window_at + $window) - greatest(begin_at, window_at), 0)) AS hidden
        FROM (
            SELECT recording, core, begin_at, end_at, unnest(windows(begin_at, end_at, $window, $step)) AS window_at
            FROM interval_merge(unseen, recording, core)
        ) AS touched
        GROUP BY recording, core, window_at
    ),
    clipped AS (
        SELECT
            recording, core, process, type, window_at,
            greatest(least(end_at, window_at + $window) - greatest(begin_at, window_at), 0) AS occupied
        FROM piece
        WHERE window_at >= first_at AND window_at + $window <= last_at
    ),
    summed AS (
        SELECT recording, core, process, type, window_at, sum(occupied) AS occupied
        FROM clipped
        WHERE process IS NOT NULL
        GROUP BY recording, core, process, type, window_at
        UNION ALL
        SELECT recording, core, NULL, NULL, window_at, sum(occupied) AS occupied
        FROM clipped
        GROUP BY recording, core, window_at
    ),
    judged AS (
        SELECT
            s.recording, s.core, s.process, s.type, s.window_at, s.occupied,
            -- A core that is first seen within a gap of all cores is seen there.
            least(coalesce(h.hidden, 0), greatest($window - s.occupied, 0)) AS hidden
        FROM summed AS s
        LEFT JOIN hidden AS h ON s.recording = h.recording AND s.core = h.core AND s.window_at = h.window_at
    )
SELECT
    recording,
    core,
    process,
    type,
    window_at AS begin_at,
    window_at + $window AS end_at,
    occupied,
    100.0 * CAST(occupied AS DOUBLE) / CAST(nullif($window - hidden, 0) AS DOUBLE) AS load,
    hidden
FROM judged
