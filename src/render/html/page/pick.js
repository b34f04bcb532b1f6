// What is at a place on the screen, and what is beside an item: {type: "run" | "mark" | "point" | "group", row, …}. Not for saying what it is (describe.js).

/** Pixels by which a mark may be missed. */
const NEAR = 5;

/** The item at a place of the field, whose y counts from the first row; null where there is none. */
function itemAt(app, x, y) {
  const place = app.layout.at(y);
  if (!place) return null;
  const { row } = place;
  const within = y - place.y;
  const at = app.view.at(x, app.width);
  const perPixel = app.view.span / app.width;
  if (within < place.gutterTop + place.gutter || !(place.runs || place.curve)) {
    const mark = markNear(row, at, NEAR * perPixel, app.off.marks);
    if (mark !== null) return { type: "mark", row, index: mark };
  }
  if (place.curve && within >= place.curveTop && within < place.curveTop + place.curve) {
    const index = upperBound(row.curve.at, at, 0, row.curve.n) - 1;
    return index < 0 ? null : { type: "point", row, index };
  }
  const track = app.layout.trackAt(place, within);
  return track ? runAt(track, x, app, perPixel) : null;
}

function markNear(row, at, reach, off) {
  const { marks } = row;
  let best = null;
  const from = lowerBound(marks.at, at - reach, 0, marks.n);
  // In a crowd the nearest is as good as any; rare ones are looked for by themselves.
  const end = Math.min(upperBound(marks.at, at + reach, from, marks.n), from + 4096);
  const better = (i) => best === null || Math.abs(marks.at[i] - at) < Math.abs(marks.at[best] - at);
  for (let i = from; i < end; i++) if (!off.has(marks.kind[i]) && better(i)) best = i;
  for (const i of marks.levels.rare) {
    if (Math.abs(marks.at[i] - at) <= reach && (best === null || !RARE[marks.kind[best]])) best = i;
  }
  return best;
}

/** The run at a pixel; several that share it are a group. */
function runAt(track, x, app, perPixel) {
  const { view } = app;
  const at = view.at(x, app.width);
  let i = upperBound(track.end, at, 0, track.n);
  if (i < track.n && track.begin[i] <= at && track.end[i] - track.begin[i] >= 2 * perPixel) return { type: "run", row: track.row, track, index: i };
  const [from, to] = [at - perPixel, at + perPixel];
  let first = track.levels.from(from);
  // What reaches far into the pixels beside is not what is meant here.
  if (first < track.n && track.end[first] - track.begin[first] >= 2 * perPixel && track.begin[first] < from) first++;
  const last = upperBound(track.begin, to, first, track.n);
  if (last <= first) return i < track.n && track.begin[i] <= at ? { type: "run", row: track.row, track, index: i } : null;
  if (last - first === 1) return { type: "run", row: track.row, track, index: first };
  return { type: "group", row: track.row, track, first, last };
}

/** Begin and end of an item. */
function extent(item) {
  switch (item.type) {
    case "run":
      return [item.track.begin[item.index], item.track.end[item.index]];
    case "group":
      return [item.track.begin[item.first], item.track.end[item.last - 1]];
    case "mark": {
      const at = item.row.marks.at[item.index];
      return [at, item.row.marks.several.get(item.index)?.last ?? at];
    }
    default:
      return [item.row.curve.at[item.index], item.row.curve.at[item.index]];
  }
}

/** What an item is when one has to be chosen: of a group the longest. */
function single(item) {
  if (item?.type !== "group") return item;
  return { type: "run", row: item.row, track: item.track, index: item.track.levels.longest(item.first, item.last) };
}

/** The item after (1) or before (-1) another of the same kind in its row; null at the end. */
function beside(item, by) {
  const n = item.type === "run" ? item.track.n : item.type === "mark" ? item.row.marks.n : item.row.curve.n;
  const index = item.index + by;
  return index < 0 || index >= n ? null : { ...item, index };
}

/** The first item of a row that begins in what is seen; of any type. */
function firstSeen(row, view) {
  for (const track of row.tracks) {
    const index = track.levels.from(view.from);
    if (index < track.n && track.begin[index] < view.to) return { type: "run", row, track, index };
  }
  const mark = lowerBound(row.marks.at, view.from, 0, row.marks.n);
  if (mark < row.marks.n && row.marks.at[mark] < view.to) return { type: "mark", row, index: mark };
  if (row.curve?.n) return { type: "point", row, index: Math.max(0, upperBound(row.curve.at, view.from, 0, row.curve.n) - 1) };
  return null;
}

/** The border of a run, mark or point of the row that is nearest to an instant, within a reach; else the instant. */
function snap(app, place, track, at, reach) {
  let best = Math.round(at);
  let distance = reach;
  const offer = (candidate) => {
    if (Math.abs(candidate - at) < distance) [best, distance] = [candidate, Math.abs(candidate - at)];
  };
  const near = (values, n) => {
    const i = lowerBound(values, at, 0, n);
    if (i < n) offer(values[i]);
    if (i > 0) offer(values[i - 1]);
  };
  if (!place) return best;
  for (const each of track ? [track] : place.row.tracks) {
    near(each.begin, each.n);
    near(each.end, each.n);
  }
  near(place.row.marks.at, place.row.marks.n);
  if (place.row.curve) near(place.row.curve.at, place.row.curve.n);
  return best;
}
