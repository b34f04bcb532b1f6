// The window of time that is seen: zoom, pan, and the address that keeps it. Not for rows (layout.js).

/** Ticks that are seen at least. */
const NARROWEST = 8;

class View {
  constructor(clock, span) {
    this.clock = clock;
    this.limit = Math.max(span, NARROWEST);
    this.from = 0;
    this.to = this.limit;
  }

  get span() {
    return this.to - this.from;
  }

  /** Shows [from, to), or what of it there is. */
  show(from, to) {
    let span = Math.min(Math.max(to - from, NARROWEST), this.limit);
    // Zooming in and out again ends where it began.
    if (span > this.limit * (1 - 1e-9)) span = this.limit;
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(0, middle - span / 2), this.limit - span);
    this.to = this.from + span;
  }

  all() {
    this.show(0, this.limit);
  }

  /** Shows `factor` as much; the instant `at` stays where it is. */
  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.min(Math.max(this.span * factor, NARROWEST), this.limit);
    const share = (at - this.from) / this.span;
    const from = at - share * span;
    this.show(from, from + span);
  }

  pan(ticks) {
    const from = Math.min(Math.max(0, this.from + ticks), this.limit - this.span);
    this.show(from, from + this.span);
  }

  /** Makes a stretch visible: as it is when it is seen well, else with room around it. */
  reveal(begin, end) {
    const length = end - begin;
    const seen = begin >= this.from && end <= this.to;
    const tiny = length > 0 && length < this.span / 200;
    if (seen && !tiny) return;
    if (length > this.span * 0.8 || tiny) {
      const room = Math.max(length * 2, NARROWEST);
      this.show(begin - room, end + room);
    } else {
      this.show((begin + end - this.span) / 2, (begin + end + this.span) / 2);
    }
  }

  x(at, width) {
    return ((at - this.from) / this.span) * width;
  }

  at(x, width) {
    return this.from + (x / width) * this.span;
  }
}

/** What the address of the page says: the window in ticks of the recording, and the selected row. */
function addressOf(app) {
  const { view, clock } = app;
  const whole = view.from === 0 && view.to === view.limit;
  const parts = whole ? [] : [`from=${clock.ticks(view.from)}`, `to=${clock.ticks(view.to)}`];
  if (app.row !== null) parts.push(`row=${encodeURIComponent(app.picture.rows[app.row].id)}`);
  return parts.length ? "#" + parts.join("&") : "";
}

/** Does what an address says; what it does not know it leaves as it is. */
function applyAddress(app, address) {
  const values = new Map(address.replace(/^#/, "").split("&").map((part) => part.split("=", 2)));
  const read = (name) => {
    const text = values.get(name);
    return text !== undefined && /^-?\d{1,19}$/.test(text) ? Number(BigInt(text) - app.clock.from) : null;
  };
  const from = read("from");
  const to = read("to");
  if (from !== null && to !== null && to > from) app.view.show(from, to);
  try {
    const id = decodeURIComponent(values.get("row") ?? "");
    const row = app.picture.rows.find((row) => row.id === id);
    if (row) app.row = row.index;
  } catch {
    // Not an address of ours.
  }
}
