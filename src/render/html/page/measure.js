// Two cursors, A and B, and what lies between them. Not for the pointer that moves them (input.js).

class Measure {
  constructor() {
    this.on = false;
    this.clear();
  }

  clear() {
    this.a = null;
    this.b = null;
    this.drag = null;
  }

  /** The next cursor: A, then B, then a new A. */
  click(at) {
    if (this.a === null || this.b !== null) [this.a, this.b] = [at, null];
    else this.b = at;
  }

  /** The facts of what is measured, or none. */
  facts(clock) {
    const fact = (what, offset) => [what, clock.instant(offset), clock.exactInstant(offset)];
    const facts = [];
    if (this.a !== null) facts.push(fact("A", this.a));
    if (this.b !== null) {
      const ticks = this.b - this.a;
      facts.push(fact("B", this.b), ["B − A", clock.length(ticks), clock.exactLength(ticks)], ["1 / (B − A)", clock.frequency(ticks)]);
    }
    return facts;
  }
}

/** How much of the time between the cursors a row spends in which state: [[state, ticks]], most first. */
function spentBetween(row, from, to) {
  const covered = new Float64Array(STATES.length);
  const counted = new Uint32Array(STATES.length);
  for (const track of row.tracks) {
    const { begin, end, levels, n } = track;
    let i = upperBound(end, from, 0, n);
    let j = lowerBound(begin, to, i, n);
    // The first and the last may reach over a cursor.
    const cut = (k) => {
      if (track.merged?.has(k)) return levels.add(k, covered, counted);
      counted[track.state[k]]++;
      covered[track.state[k]] += Math.min(end[k], to) - Math.max(begin[k], from);
      return undefined;
    };
    if (i < j) cut(i++);
    if (i < j) cut(--j);
    if (i < j) levels.sum(i, j, covered, counted);
  }
  return [...covered].map((ticks, number) => [number, ticks, counted[number]]).filter(([, , count]) => count).sort((a, b) => b[1] - a[1]);
}
