// Why an instance took as long as it did: what its response is made of, and its parts in order. Texts go in as text only, never as markup. Not how a response is cut into parts: the writer of the page has done that.

/** So many parts are listed: of more, the longest. */
const LISTED_PARTS = 100;

/** The explanation of the instance of a run, in the row of its process or of its core; null where there is none. */
function explanationOf(app, item) {
  if (item?.type !== "run" || item.track.merged?.has(item.index)) return null;
  const instance = instanceOf(item.track, item.index);
  if (instance === null) return null;
  const { rows, explanations } = app.picture;
  const name = nameOf(app, item.track.name[item.index]);
  const isOf = (row) => isProcess(row) && row.label === name && row.parent === item.row.parent;
  const row = item.row.kind === kind.Core ? rows.find(isOf) : item.row;
  return row ? (explanations.get(explanationKey(row.index, instance)) ?? null) : null;
}

/** A line of a list: a box of the colour of a state, words, and a length; a button if there is something to do. */
function whyLine(app, number, what, length, title, action) {
  const { palette } = app;
  const box = swatch(palette.states[number], palette.patterns[number], app.ratio);
  return make("li", {}, make("button", { title, disabled: !action, onclick: action ?? (() => {}) }, box, make("span", { class: "what" }, what), make("span", {}, length)));
}

/** What a response is made of: each cause with its length and share, the longest first. A click goes to its longest part. */
function causeList(app, causes) {
  const lines = causes.map(({ state: number, words, length, permille, count, action }) => {
    // Rounded, a share is not that of nothing or of all.
    const rounded = permille === 0 && length > 0 ? "< 0.1" : permille >= 1000 && causes.length > 1 ? "> 99.9" : (permille / 10).toFixed(1);
    const times = count > 1 ? ` · ${count} times` : "";
    return whyLine(app, number, words, `${app.clock.roughly(length)}${times} · ${rounded} %`, app.clock.exactLength(length), action);
  });
  return make("ol", { class: "hits why" }, ...lines);
}

/** The lines about the response of the selected instance. */
function whyParts(app, item) {
  const found = explanationOf(app, item);
  if (!found) return [];
  const { clock } = app;
  const whole = found.parts.reduce((sum, part) => sum + part.length, 0);
  const show = (begin, length) => () => app.goTo(item.row, begin, begin + length, item);
  const causes = new Map();
  let at = found.begin;
  const parts = found.parts.map(({ state: number, words, length }) => {
    const cause = causes.get(words) ?? { state: number, words: found.words[words], length: 0, count: 0, longest: -1 };
    causes.set(words, cause);
    cause.length += length;
    cause.count++;
    const begin = at;
    at += length;
    if (length > cause.longest) [cause.longest, cause.action] = [length, show(begin, length)];
    return { number, words: found.words[words], length, begin };
  });
  const sorted = [...causes.values()].sort((a, b) => b.length - a.length);
  for (const cause of sorted) cause.permille = whole > 0 ? Math.round((1000 * cause.length) / whole) : 0;
  const least = parts.length > LISTED_PARTS ? parts.map((part) => part.length).sort((a, b) => b - a)[LISTED_PARTS - 1] : 0;
  const listed = parts.filter((part) => part.length >= least).slice(0, 2 * LISTED_PARTS);
  const lines = listed.map(({ number, words, length, begin }) => {
    const title = `${clock.length(begin - found.begin)} after its begin, ${clock.exactLength(length)}`;
    return whyLine(app, number, words, clock.roughly(length), title, show(begin, length));
  });
  const order = parts.length > listed.length ? `In order, the ${listed.length} longest of ${parts.length} parts` : "In order";
  return [
    make("h3", { class: "name" }, `Why its response took ${clock.length(whole)}`),
    causeList(app, sorted),
    make("h3", {}, order),
    make("ol", { class: "hits why" }, ...lines),
  ];
}
