// The worst of a row or of all: the instances with the longest response, the longest runs of a state, the violations. Computed from what is in the page, when it is asked for; not the metrics of the database.

/** How many are listed. */
const WORST = 25;

/** What may be asked of processes: [word, how instances are measured], longest first. */
const OF_PROCESSES = [
  ["Response time", (life) => life.end - life.begin],
  ["Net execution time", occupiedTicks],
  ["Start delay", (life) => life.spent[state.Active]],
  ["Ready time", (life) => life.spent[state.Ready]],
  ["Waiting time", (life) => life.spent[state.Waiting]],
  ["Polling time", (life) => life.spent[state.Polling]],
  ["Parking time", (life) => life.spent[state.Parking]],
];

/** What may be asked of runnables. */
const OF_RUNNABLES = [
  ["Runnable: from start to end", (life) => life.end - life.begin],
  ["Runnable: net execution time", occupiedTicks],
  ["Runnable: suspended", (life) => life.spent[state.Suspended]],
];

/** The greatest of `n` by their value, in descending order, without sorting all. */
class Best {
  constructor() {
    this.items = [];
    this.least = -Infinity;
  }

  offer(value, make) {
    if (value <= this.least) return;
    const at = this.items.findIndex((other) => other.value < value);
    this.items.splice(at < 0 ? this.items.length : at, 0, { value, ...make() });
    if (this.items.length > WORST) this.items.pop();
    if (this.items.length === WORST) this.least = this.items.at(-1).value;
  }
}

/** What can be asked of these rows: [{word, find}]. */
function questions(app, rows) {
  const list = [];
  const span = app.picture.span;
  const ask = (which, measures) => {
    const lives = rows.filter(which).flatMap((row) => [...livesOf(row, span).values()]);
    const complete = lives.filter((life) => life.complete);
    const note = lives.length > complete.length ? `${plural(lives.length - complete.length, "instance")} cut off by gaps or the borders of the picture left out` : "";
    for (const [name, measure] of measures) {
      if (!complete.some((life) => measure(life) > 0)) continue;
      const find = () => {
        const best = new Best();
        for (const life of complete) {
          best.offer(measure(life), () => ({ begin: life.begin, end: life.end, text: lifeName(app, life), item: { type: "run", row: life.row, track: life.track, index: life.first } }));
        }
        return best.items;
      };
      list.push({ name, find, note });
    }
  };
  ask(isProcess, OF_PROCESSES);
  ask((row) => row.kind === kind.Runnable, OF_RUNNABLES);
  const states = new Set(rows.flatMap((row) => row.tracks.flatMap((track) => track.levels.states)));
  for (const number of STACK.filter((number) => states.has(number))) {
    list.push({ name: `Longest run: ${word(STATES[number])}`, find: () => longestRuns(app, rows, number), note: "" });
  }
  if (rows.some((row) => row.marks.levels.rare.length)) {
    list.push({ name: "Violations and lost activations", find: () => violations(app, rows), note: "In the order of time" });
  }
  return list;
}

function longestRuns(app, rows, number) {
  const best = new Best();
  for (const row of rows) {
    for (const track of row.tracks) {
      if (!track.levels.states.includes(number)) continue;
      for (let i = 0; i < track.n; i++) {
        if (track.state[i] !== number) continue;
        const value = track.levels.length(i);
        if (value <= best.least) continue;
        const merged = track.merged?.get(i);
        const begin = merged ? merged.longestAt : track.begin[i];
        const instance = instanceOf(track, i);
        const text = inRecording(app, row, [row.label, nameOf(app, track.name[i]), instance === null ? "" : `#${instance}`].filter(Boolean).join(" "));
        best.offer(value, () => ({ begin, end: begin + value, text, item: { type: "run", row, track, index: i } }));
      }
    }
  }
  return best.items;
}

function violations(app, rows) {
  const found = [];
  for (const row of rows) {
    for (const index of row.marks.levels.rare) {
      const at = row.marks.at[index];
      const text = inRecording(app, row, [row.label, nameOf(app, row.marks.name[index]) || word(MARKS[row.marks.kind[index]])].join(" "));
      found.push({ value: null, begin: at, end: at, text, item: { type: "mark", row, index } });
    }
  }
  return found.sort((a, b) => a.begin - b.begin).slice(0, 200);
}
