// What an item is, in words: a title, facts with exact times, and a sentence for those who listen. Not for where the words go (panels.js).

/** Instances of one number are told apart by the name in their runs, which in the row of a process is only its core. */
const isProcess = (row) => row.kind === kind.Task || row.kind === kind.Isr;
const lifeKey = (row, track, i) => `${isProcess(row) ? "" : track.name[i]} ${instanceOf(track, i)}`;

/** The lives of the instances of a row: from the first run to the end of the last. Only what is known exactly counts. */
function livesOf(row, span) {
  if (row.lives) return row.lives;
  const lives = new Map();
  if (row.kind !== kind.Core) {
    for (const track of row.tracks) {
      for (let i = 0; i < track.n; i++) {
        const instance = instanceOf(track, i);
        if (instance === null || track.merged?.has(i)) continue;
        const key = lifeKey(row, track, i);
        let life = lives.get(key);
        if (!life) {
          life = { row, track, first: i, last: i, instance, name: isProcess(row) ? -1 : track.name[i], begin: track.begin[i], end: track.end[i], pieces: 0, spent: new Float64Array(STATES.length) };
          lives.set(key, life);
        }
        life.last = i;
        life.begin = Math.min(life.begin, track.begin[i]);
        life.end = Math.max(life.end, track.end[i]);
        life.pieces++;
        life.spent[track.state[i]] += track.end[i] - track.begin[i];
      }
    }
  }
  // What reaches over a border of the picture is not known in full, but for one that has just been activated; nor is what the recording or a gap cuts off.
  for (const [key, life] of lives) {
    life.complete = !row.cut.has(key) && (life.begin > 0 || life.track.state[life.first] === state.Active) && life.end < span && life.begin > -FAR;
  }
  return (row.lives = lives);
}

/** Ticks in which an instance occupied a core. */
const occupiedTicks = (life) => life.spent.reduce((sum, ticks, number) => sum + (OCCUPIED[number] ? ticks : 0), 0);

const nameOf = (app, name) => (name >= 0 ? app.picture.names[name] : "");

/** Where one of several recordings is: its name before others. */
function inRecording(app, row, words) {
  let above = row;
  while (above.parent >= 0) above = app.picture.rows[above.parent];
  return above.kind === kind.Recording && above !== row ? `${above.label}: ${words}` : words;
}

/** Whose life it is: `T_1 #3`. */
const lifeName = (app, life) => inRecording(app, life.row, `${nameOf(app, life.name) || life.row.label} #${life.instance}`);

const plural = (count, one, many = one + "s") => `${grouped(String(count))} ${count === 1 ? one : many}`;

/** What the name of a run is the name of, by kind of row. */
const NAMED = { Core: "Process", Task: "Core", Isr: "Core", Runnable: "Runnable", Semaphore: "Process", Event: "Process", Response: "Cause" };

/** [title, colour, facts]; a fact is [what, text, the same in ticks]. */
function describe(app, item) {
  const { clock, palette } = app;
  const facts = [];
  const instant = (what, at) => facts.push([what, clock.instant(at), clock.exactInstant(at)]);
  const length = (what, ticks) => facts.push([what, clock.length(ticks), clock.exactLength(ticks)]);
  const { row } = item;
  facts.push(["Row", inRecording(app, row, `${row.label} (${word(KINDS[row.kind])})`)]);
  if (item.type === "group") return describeGroup(app, item, facts);
  if (item.type === "mark") {
    const { marks } = row;
    const number = marks.kind[item.index];
    const several = marks.several.get(item.index);
    const name = nameOf(app, marks.name[item.index]);
    if (name) facts.push(["Says", name]);
    instant("At", marks.at[item.index]);
    if (several) {
      facts.push(["Stands for", plural(several.count, "mark")]);
      instant("Last at", several.last);
    }
    return { title: word(MARKS[number]), colour: palette.marks[number], facts };
  }
  if (item.type === "point") {
    const { curve } = row;
    const i = item.index;
    const shown = (value) => (Number.isNaN(value) ? "not known" : `${Number(value.toPrecision(15))} ${curve.unit}`.trim());
    facts.push(["Value", shown(curve.value[i])]);
    instant("At", curve.at[i]);
    if (curve.steps && i + 1 < curve.n) length("Holds for", curve.at[i + 1] - curve.at[i]);
    if (curve.limit !== null) facts.push(["Limit", shown(curve.limit)]);
    if (curve.count[i] > 1 || (curve.count[i] && Number.isNaN(curve.value[i]))) {
      facts.push(["Stands for", plural(curve.count[i], "value")]);
      facts.push(["Least", shown(curve.least[i])], ["Greatest", shown(curve.greatest[i])]);
    }
    return { title: shown(curve.value[i]), colour: palette.signal, facts };
  }
  const { track, index: i } = item;
  const number = track.state[i];
  const merged = track.merged?.get(i);
  const name = nameOf(app, track.name[i]);
  const instance = instanceOf(track, i);
  facts.push(["State", word(STATES[number])]);
  if (name) facts.push([number === state.Gap ? "Reason" : merged ? "Longest of" : (NAMED[KINDS[row.kind]] ?? "Name"), name]);
  if (instance !== null) facts.push(["Instance", String(instance)]);
  instant("Begin", track.begin[i]);
  instant("End", track.end[i]);
  length("Duration", track.end[i] - track.begin[i]);
  if (merged) {
    facts.push(["Stands for", `${plural(merged.count, "run")}, merged`]);
    length("They cover", merged.covered);
    length("Occupied", merged.occupied);
    length("Longest", merged.longest);
    instant("Longest at", merged.longestAt);
  }
  const byName = app.byName && row.kind === kind.Core && number === state.Running && track.name[i] >= 0 ? palette.ofName[track.name[i]] : -1;
  const colour = byName >= 0 ? palette.names[byName] : palette.states[number];
  const own = isProcess(row);
  const who = [own ? row.label : name || (row.kind === kind.Core ? "" : row.label), instance === null ? "" : `#${instance}`].filter(Boolean).join(" ");
  return { title: merged ? `${merged.count} merged` : [who, word(STATES[number])].filter(Boolean).join(" · "), colour, facts };
}

function describeGroup(app, item, facts) {
  const { clock, palette } = app;
  const { track, first, last } = item;
  const covered = new Float64Array(STATES.length);
  const counted = new Uint32Array(STATES.length);
  track.levels.sum(first, last, covered, counted);
  const longest = track.levels.longest(first, last);
  const length = track.end[last - 1] - track.begin[first];
  facts.push(["From", clock.instant(track.begin[first]), clock.exactInstant(track.begin[first])]);
  facts.push(["To", clock.instant(track.end[last - 1]), clock.exactInstant(track.end[last - 1])]);
  for (const number of STACK) {
    if (!counted[number]) continue;
    const share = length > 0 ? ` (${((100 * covered[number]) / length).toFixed(1)} %)` : "";
    facts.push([word(STATES[number]), `${plural(counted[number], "run")}, ${clock.length(covered[number])}${share}`]);
  }
  const name = nameOf(app, track.name[longest]);
  facts.push(["Longest", `${[name, word(STATES[track.state[longest]])].filter(Boolean).join(" · ")}, ${clock.length(track.levels.length(longest))}`]);
  return { title: `${plural(last - first, "run")} here`, colour: palette.states[track.state[longest]], facts };
}

/** An item in one sentence. */
function sentence(app, item) {
  const { title, facts } = describe(app, item);
  const wanted = ["Begin", "End", "Duration", "At", "Value", "Stands for"];
  const parts = facts.filter(([what]) => wanted.includes(what)).map(([what, text]) => `${what} ${text}`);
  return `${item.row.label}: ${title}. ${parts.join(", ")}.`.replace(/\u202f/g, "");
}
