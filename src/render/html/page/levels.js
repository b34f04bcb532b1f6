// Looking things up in a million items without touching each: sums and extremes of blocks of runs, marks and points. Not for drawing them (draw.js).

const BLOCK = 8;

/** The first index in [low, high) whose value is at least `value`; `high` when none is. */
function lowerBound(values, value, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first index in [low, high) whose value is greater than `value`. */
function upperBound(values, value, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `lowerBound` for a value that is expected to be near `low`. */
function gallop(values, value, low, high) {
  let step = 1;
  let end = low;
  while (end < high && values[end] < value) {
    low = end + 1;
    end += step;
    step *= 2;
  }
  return lowerBound(values, value, low, Math.min(end, high));
}

/** Sums per state and the longest run, for any stretch of a track. */
class TrackLevels {
  constructor(track) {
    this.track = track;
    this.occupied = track.row.kind === kind.Semaphore ? state.Held : state.Running;
    const { n } = track;
    const blocks = Math.ceil(n / BLOCK);
    this.slots = new Int8Array(STATES.length).fill(-1);
    this.states = [];
    for (let i = 0; i < n; i++) if (this.slots[track.state[i]] < 0) this.slots[track.state[i]] = this.states.push(track.state[i]) - 1;
    if (track.merged && this.slots[this.occupied] < 0) this.slots[this.occupied] = this.states.push(this.occupied) - 1;
    this.covered = this.states.map(() => new Float64Array(blocks + 1));
    this.counted = this.states.map(() => new Uint32Array(blocks + 1));
    const covered = new Float64Array(STATES.length);
    const counted = new Uint32Array(STATES.length);
    for (let block = 0; block < blocks; block++) {
      const end = Math.min(n, (block + 1) * BLOCK);
      for (let i = block * BLOCK; i < end; i++) this.add(i, covered, counted);
      this.states.forEach((number, slot) => {
        this.covered[slot][block + 1] = covered[number];
        this.counted[slot][block + 1] = counted[number];
      });
    }
    this.longestOf = [];
    let below = null;
    for (let size = Math.floor(n / BLOCK); size > 0; size = Math.floor(size / BLOCK)) {
      const level = new Uint32Array(size);
      for (let block = 0; block < size; block++) {
        let best = below ? below[block * BLOCK] : block * BLOCK;
        for (let i = 1; i < BLOCK; i++) {
          const other = below ? below[block * BLOCK + i] : block * BLOCK + i;
          if (this.length(other) > this.length(best)) best = other;
        }
        level[block] = best;
      }
      this.longestOf.push(level);
      below = level;
    }
  }

  /** The length of a run; of several, of the longest. */
  length(i) {
    const merged = this.track.merged?.get(i);
    return merged ? merged.longest : this.track.end[i] - this.track.begin[i];
  }

  add(i, covered, counted) {
    const { track } = this;
    const number = track.state[i];
    counted[number]++;
    const merged = track.merged?.get(i);
    if (!merged) {
      covered[number] += track.end[i] - track.begin[i];
      return;
    }
    const occupied = OCCUPIED[number] ? merged.covered : merged.occupied;
    covered[number] += merged.covered - (OCCUPIED[number] ? 0 : occupied);
    if (!OCCUPIED[number] && occupied > 0) {
      covered[this.occupied] += occupied;
      counted[this.occupied]++;
    }
  }

  /** Adds ticks and numbers of runs per state of the runs [i, j). */
  sum(i, j, covered, counted) {
    if (j - i > 3 * BLOCK) {
      const first = Math.ceil(i / BLOCK);
      const last = Math.floor(j / BLOCK);
      while (i < first * BLOCK) this.add(i++, covered, counted);
      for (let slot = 0; slot < this.states.length; slot++) {
        const number = this.states[slot];
        covered[number] += this.covered[slot][last] - this.covered[slot][first];
        counted[number] += this.counted[slot][last] - this.counted[slot][first];
      }
      i = last * BLOCK;
    }
    while (i < j) this.add(i++, covered, counted);
  }

  /** The longest of the runs [i, j). */
  longest(i, j) {
    let best = i;
    let length = -1;
    while (i < j) {
      let level = 0;
      let size = 1;
      while (level < this.longestOf.length && i % (size * BLOCK) === 0 && i + size * BLOCK <= j) {
        size *= BLOCK;
        level++;
      }
      const candidate = level ? this.longestOf[level - 1][i / size] : i;
      if (this.length(candidate) > length) [best, length] = [candidate, this.length(candidate)];
      i += size;
    }
    return best;
  }

  /** The first run that ends after `at`, or begins there. */
  from(at) {
    const { track } = this;
    let i = upperBound(track.end, at, 0, track.n);
    while (i > 0 && track.begin[i - 1] >= at) i--;
    return i;
  }
}

/** Which kinds of marks there are in any stretch of a row, and where the rare ones are. */
class MarkLevels {
  constructor(marks) {
    this.marks = marks;
    this.masks = new Uint16Array(Math.ceil(marks.n / BLOCK));
    const rare = [];
    this.all = 0;
    for (let i = 0; i < marks.n; i++) {
      this.masks[i >> 3] |= 1 << marks.kind[i];
      if (RARE[marks.kind[i]]) rare.push(i);
    }
    for (const mask of this.masks) this.all |= mask;
    this.rare = Uint32Array.from(rare);
  }

  /** A bit per kind of the marks [i, j). */
  kinds(i, j) {
    let mask = 0;
    while (i < j) {
      if (i % BLOCK === 0 && i + BLOCK <= j) {
        mask |= this.masks[i >> 3];
        i += BLOCK;
      } else {
        mask |= 1 << this.marks.kind[i++];
      }
      if (mask === this.all) break;
    }
    return mask;
  }
}

/** The least and the greatest value in any stretch of a curve. */
class CurveLevels {
  constructor(curve) {
    this.curve = curve;
    const blocks = Math.ceil(curve.n / BLOCK);
    this.least = new Float64Array(blocks).fill(Infinity);
    this.greatest = new Float64Array(blocks).fill(-Infinity);
    for (let i = 0; i < curve.n; i++) {
      if (Number.isNaN(curve.least[i])) continue;
      this.least[i >> 3] = Math.min(this.least[i >> 3], curve.least[i]);
      this.greatest[i >> 3] = Math.max(this.greatest[i >> 3], curve.greatest[i]);
    }
    this.bottom = Math.min(0, this.least.reduce((a, b) => Math.min(a, b), Infinity));
    this.top = Math.max(curve.limit ?? -Infinity, this.greatest.reduce((a, b) => Math.max(a, b), -Infinity));
    if (!(this.top > this.bottom)) this.top = this.bottom + 1;
  }

  /** [least, greatest] of the points [i, j). */
  range(i, j) {
    let [least, greatest] = [Infinity, -Infinity];
    while (i < j) {
      if (i % BLOCK === 0 && i + BLOCK <= j) {
        least = Math.min(least, this.least[i >> 3]);
        greatest = Math.max(greatest, this.greatest[i >> 3]);
        i += BLOCK;
      } else {
        if (!Number.isNaN(this.curve.least[i])) {
          least = Math.min(least, this.curve.least[i]);
          greatest = Math.max(greatest, this.curve.greatest[i]);
        }
        i++;
      }
    }
    return [least, greatest];
  }
}

/** The first link that may reach into what begins at `at`: links are sorted by begin, not by end. */
class LinkLevels {
  constructor(links) {
    this.reach = new Float64Array(links.n);
    let reach = -Infinity;
    for (let i = 0; i < links.n; i++) this.reach[i] = reach = Math.max(reach, links.fromAt[i], links.toAt[i]);
  }

  from(at) {
    return lowerBound(this.reach, at, 0, this.reach.length);
  }
}

/** Gives every part of a picture its levels. */
function addLevels(picture) {
  for (const row of picture.rows) {
    for (const track of row.tracks) track.levels = new TrackLevels(track);
    row.marks.levels = new MarkLevels(row.marks);
    if (row.curve) row.curve.levels = new CurveLevels(row.curve);
  }
  picture.links.levels = new LinkLevels(picture.links);
}
