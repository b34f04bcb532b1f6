// Which rows are shown, in which order and how high they are. Not for what is in them (draw.js).

const PAD = 3;
const GUTTER = 13;
const CURVE = 38;
const LEAST = 20;

/** The height of a track by kind of row. */
const TRACK = { Core: 18, Task: 16, Isr: 16, Runnable: 13, Semaphore: 13, Event: 13, Signal: 13, Stimulus: 13, Server: 14, Buffer: 13, Trace: 13, Recording: 13, Response: 18 };

class Layout {
  constructor(rows) {
    this.rows = rows;
    this.children = new Map();
    for (const row of rows) {
      if (!this.children.has(row.parent)) this.children.set(row.parent, []);
      this.children.get(row.parent).push(row.index);
    }
    this.hidden = new Set();
    this.folded = new Set();
    this.scale = 1;
    this.arrange();
  }

  /** All rows in order, with their depth. */
  tree() {
    const found = [];
    const open = [...(this.children.get(-1) ?? [])].reverse().map((row) => [row, 0]);
    while (open.length) {
      const [row, depth] = open.pop();
      found.push({ row, depth });
      for (const child of [...(this.children.get(row) ?? [])].reverse()) open.push([child, depth + 1]);
    }
    return found;
  }

  /** Gives every row that is shown its place. */
  arrange() {
    this.places = [];
    this.of = new Map();
    let y = 0;
    let skip = Infinity;
    for (const { row, depth } of this.tree()) {
      if (depth > skip) continue;
      skip = this.hidden.has(row) || this.folded.has(row) ? depth : Infinity;
      if (this.hidden.has(row)) continue;
      const place = this.place(this.rows[row], y, depth);
      this.places.push(place);
      this.of.set(row, place);
      y += place.height;
    }
    this.height = y;
  }

  place(row, y, depth) {
    const runs = row.tracks.some((track) => track.n > 0);
    const trackHeight = Math.round(TRACK[KINDS[row.kind]] * this.scale);
    const gutter = row.marks.n > 0 ? GUTTER : 0;
    const curve = row.curve ? Math.round(CURVE * this.scale) : 0;
    const bands = runs ? trackHeight * row.tracks.length : 0;
    const wanted = PAD + gutter + curve + bands + PAD;
    const height = Math.max(LEAST, wanted);
    // What is left over is above, so that bands of neighbours are alike.
    const bandTop = height - PAD - bands;
    return { row, y, depth, height, trackHeight, bandTop, curveTop: bandTop - curve, curve, gutterTop: bandTop - curve - gutter, gutter, runs };
  }

  /** The place of a row at a height; null below the last. */
  at(y) {
    let [low, high] = [0, this.places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.places[middle].y + this.places[middle].height <= y) low = middle + 1;
      else high = middle;
    }
    return this.places[low] ?? null;
  }

  /** Those between two heights. */
  between(top, bottom) {
    return this.places.filter((place) => place.y + place.height > top && place.y < bottom);
  }

  /** The track of a place at a height within it; the lowest track is 0. */
  trackAt(place, y) {
    if (!place.runs || y < place.bandTop) return null;
    const track = place.row.tracks.length - 1 - Math.floor((y - place.bandTop) / place.trackHeight);
    return place.row.tracks[Math.max(0, Math.min(track, place.row.tracks.length - 1))];
  }

  trackTop(place, track) {
    return place.bandTop + (place.row.tracks.length - 1 - track.number) * place.trackHeight;
  }

  /** Moves a row up (-1) or down (1) among those of the same parent; false at the end. */
  move(row, by) {
    const siblings = this.children.get(this.rows[row].parent);
    const at = siblings.indexOf(row);
    if (at + by < 0 || at + by >= siblings.length) return false;
    [siblings[at], siblings[at + by]] = [siblings[at + by], siblings[at]];
    this.arrange();
    return true;
  }

  /** Puts a row before another of the same parent. */
  moveBefore(row, before) {
    if (row === before || this.rows[row].parent !== this.rows[before].parent) return false;
    const siblings = this.children.get(this.rows[row].parent);
    siblings.splice(siblings.indexOf(row), 1);
    siblings.splice(siblings.indexOf(before), 0, row);
    this.arrange();
    return true;
  }

  /** Shows a row and all it is below of. */
  reveal(row) {
    for (let at = row; at >= 0; at = this.rows[at].parent) {
      this.hidden.delete(at);
      if (at !== row) this.folded.delete(at);
    }
    this.arrange();
  }
}
