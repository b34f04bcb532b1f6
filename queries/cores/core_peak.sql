-- The window of time in which each core had its highest load; if there are several, the first one.
--
-- The loads are those of core_load: shares of the time that is seen. Windows of which nothing is seen are left out.
-- param: window duration Length of a window.
-- param: step duration Distance between the begins of two windows.
-- column: recording text Recording.
-- column: core text Core.
-- column: load percent Highest load of a window of this length.
-- column: begin_at time Begin of the first window with this load.
-- column: end_at time End of that window, not part of it.
-- column: average percent Load of all windows of the core on average, by the time that is seen.
-- column: hidden duration Time in that window in gaps of the core.
SELECT
    recording,
    core,
    max(load) AS load,
    first_value(begin_at ORDER BY load DESC, begin_at) AS begin_at,
    first_value(end_at ORDER BY load DESC, begin_at) AS end_at,
    -- Whole numbers are summed, so that no digit depends on the order of the rows.
    100.0 * CAST(sum(occupied) AS DOUBLE) / CAST(sum($window - hidden) AS DOUBLE) AS average,
    first_value(hidden ORDER BY load DESC, begin_at) AS hidden
FROM core_load
WHERE process IS NULL AND load IS NOT NULL
GROUP BY recording, core
