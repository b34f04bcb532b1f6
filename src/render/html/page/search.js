// Finds runs and marks by name, state, kind and instance, and goes from one to the next in the order of time. Not for drawing what is found (draw.js).

class Search {
  constructor(picture) {
    this.picture = picture;
    this.clear();
  }

  clear() {
    this.query = "";
    this.total = 0;
    this.byRow = new Map();
  }

  /** What was found in a row: per track and for its marks {track, n, index, begin, end}. */
  of(row) {
    return this.byRow.get(row) ?? [];
  }

  /** Every word has to be in the name, the row, the state or kind; `#12` is an instance. */
  run(query, hidden) {
    this.clear();
    this.query = query.trim();
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return;
    const { names, rows } = this.picture;
    const instances = words.filter((w) => /^#-?\d+$/.test(w)).map((w) => w.slice(1));
    const texts = words.filter((w) => !/^#-?\d+$/.test(w));
    const holds = (list) => texts.map((text) => Uint8Array.from(list, (each) => each.toLowerCase().includes(text)));
    const inNames = holds(names);
    const inStates = holds(STATES.map((name) => `${name} ${word(name)}`));
    const inMarks = holds(MARKS.map((name) => `${name} ${word(name)}`));
    for (const row of rows) {
      if (hidden.has(row.index)) continue;
      const label = `${row.label} ${row.id}`.toLowerCase();
      const inRow = texts.map((text) => label.includes(text));
      const all = inRow.every(Boolean);
      // A row that is named stands for all of its runs, but for nothing when there is no more to it than being named.
      const fits = (name, ofWord) => all || texts.every((_, k) => inRow[k] || (name >= 0 && inNames[k][name]) || ofWord(k));
      const groups = [];
      for (const track of row.tracks) {
        const found = [];
        const wanted = instances.map(Number);
        for (let i = 0; i < track.n; i++) {
          let fit = true;
          for (let k = 0; k < wanted.length; k++) fit &&= track.instance[i] === wanted[k] && String(instanceOf(track, i)) === instances[k];
          if (fit && fits(track.name[i], (k) => inStates[k][track.state[i]])) found.push(i);
        }
        if (found.length) groups.push(this.group(track, found, (i) => track.begin[i], (i) => track.end[i]));
      }
      if (!instances.length) {
        const { marks } = row;
        const found = [];
        for (let i = 0; i < marks.n; i++) if (fits(marks.name[i], (k) => inMarks[k][marks.kind[i]])) found.push(i);
        if (found.length) groups.push(this.group(null, found, (i) => marks.at[i], (i) => marks.at[i]));
      }
      if (!groups.length) continue;
      for (const group of groups) {
        group.row = row;
        this.total += group.n;
      }
      this.byRow.set(row.index, groups);
    }
  }

  group(track, found, begin, end) {
    return { track, n: found.length, index: Uint32Array.from(found), begin: Float64Array.from(found, begin), end: Float64Array.from(found, end) };
  }

  item(group, k) {
    const index = group.index[k];
    return group.track ? { type: "run", row: group.row, track: group.track, index } : { type: "mark", row: group.row, index };
  }

  /** Every group, with its place in the order of rows. */
  *groups() {
    let order = 0;
    for (const groups of this.byRow.values()) for (const group of groups) yield [group, order++];
  }

  /** Where an item is among the groups: its begin and the order of its group. */
  place(item) {
    const track = item.type === "run" ? item.track : null;
    let order = -1;
    for (const [group, number] of this.groups()) {
      if (group.row === item.row && group.track === track) return [extent(item)[0], number, item.index];
      if (group.row.index < item.row.index) order = number;
    }
    return [extent(item)[0], order + 0.5, item.index];
  }

  /** The next (1) or previous (-1) match from an instant or item on; at the end it begins anew. */
  next(by, item, at) {
    if (!this.total) return null;
    const here = item ? this.place(item) : [at, by > 0 ? -1 : Infinity, -1];
    let best = null;
    let extreme = null;
    const less = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
    for (const [group, order] of this.groups()) {
      let k = lowerBound(group.begin, here[0], 0, group.n);
      const key = (k) => [group.begin[k], order, group.index[k]];
      if (by > 0) {
        while (k < group.n && less(key(k), here) <= 0) k++;
      } else {
        while (k < group.n && less(key(k), here) < 0) k++;
        k--;
      }
      if (k >= 0 && k < group.n && (!best || by * less(key(k), best.key) < 0)) best = { key: key(k), group, k };
      const edge = by > 0 ? 0 : group.n - 1;
      if (!extreme || by * less(key(edge), extreme.key) < 0) extreme = { key: key(edge), group, k: edge };
    }
    const found = best ?? extreme;
    return this.item(found.group, found.k);
  }

  /** Which of the matches an item is, from 1; 0 when it is none. */
  ordinal(item) {
    const here = this.place(item);
    let before = 0;
    let is = false;
    for (const [group, order] of this.groups()) {
      let k = lowerBound(group.begin, here[0], 0, group.n);
      while (k < group.n && group.begin[k] === here[0] && (order < here[1] || (order === here[1] && group.index[k] < here[2]))) k++;
      before += k;
      if (order === here[1] && group.index[k] === here[2]) is = true;
    }
    return is ? before + 1 : 0;
  }
}
