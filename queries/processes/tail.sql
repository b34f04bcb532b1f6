-- How rare greater net execution and response times are than those of a recording: the rows of `btfdb metrics --tail`. Extreme value
-- distributions are fitted to the greatest samples of each process, by two methods. An estimate is no safe bound.
--
-- There is one row per method and level. Where samples are not fit for a method, or a level is out of its reach, the row has the reason
-- in place of numbers. `tails('METRIC')` has the same of other metrics. A condition on `recording` chooses which recordings are read.
--
-- column: recording text Recording.
-- column: metric text Metric of the samples.
-- column: entity text Whose samples they are.
-- column: type text Its type, as in btf_event.
-- column: unit text `duration`: all values are ticks, fractions included. `count`: they are numbers.
-- column: method text `block_maxima` (greatest samples of equal blocks) or `peaks_over_threshold` (those above a threshold).
-- column: samples integer How many samples there are.
-- column: greatest number The greatest one.
-- column: used integer How many maxima or peaks the distribution was fitted to; NULL without a fit.
-- column: shape number Shape of the distribution; negative if it has an upper end.
-- column: location number Its location, of maxima, or the threshold, of peaks.
-- column: scale number Its scale.
-- column: one_in integer The level is exceeded by one instance in so many.
-- column: level number The level.
-- column: low number Lower end of its interval of 95 %.
-- column: high number Upper end.
-- column: refused text Why there is no fit or no level; NULL if there are both.
SELECT
    recording, metric, entity, type, unit, method, samples, greatest, used, shape, location, scale,
    one_in, level, low, high, refused
FROM tails()
