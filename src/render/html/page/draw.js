// Draws the rows: runs, curves and links, of the window that is seen. The work follows the number of pixels, not of runs: what begins in one column of pixels is one column, whose heights are shares of time. Not for marks (marks.js) and axes (axis.js).

class Field {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.image = null;
    this.scratch = document.createElement("canvas");
    this.covered = new Float64Array(STATES.length);
    this.counted = new Uint32Array(STATES.length);
    this.widths = new Map();
  }

  /** Fits the canvas to its size on the page. */
  resize(width, height, ratio) {
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = this.scratch.width = w;
      this.canvas.height = this.scratch.height = h;
      this.image = null;
    }
  }

  /** Draws the rows between `top` and `top + height`. */
  draw(app, top) {
    const c = this.context;
    const { palette, view, layout } = app;
    this.view = view;
    this.palette = palette;
    this.app = app;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = palette.paper;
    c.fillRect(0, 0, this.width, this.height);
    const places = layout.between(top, top + this.height);
    for (const place of places) {
      if (place.row.index === app.row) {
        c.fillStyle = palette.selectedRow;
        c.fillRect(0, place.y - top, this.width, place.height);
      }
      c.fillStyle = palette.grid;
      c.fillRect(0, place.y - top + place.height - 1, this.width, 1);
    }
    for (const tick of app.ticks.major) c.fillRect(Math.round(tick.x), 0, 1, this.height);
    if (app.picture.highlight) this.highlight(app.picture.highlight, layout, top);
    for (const band of app.picture.response?.bands ?? []) this.band(band, layout, top);
    this.columns = false;
    this.boxes = [];
    for (const place of places) {
      for (const track of place.row.tracks) this.track(place, track, top);
    }
    this.paintColumns();
    this.paintBoxes();
    for (const place of places) {
      if (place.row.curve) drawCurve(this, place, top);
      drawMarks(this, place, top);
    }
    this.links(layout, top);
    if (app.search.total) for (const place of places) this.matches(place, top);
  }

  /** Sorts the runs of a track into boxes, which are wide enough to be seen, and columns. */
  track(place, track, top) {
    const { view, ratio, app } = this;
    const { begin, end, levels, n } = track;
    if (!n) return;
    const perTick = (this.width * ratio) / view.span;
    const columns = this.canvas.width;
    const y = place.y - top + app.layout.trackTop(place, track);
    const height = place.trackHeight - (place.row.tracks.length > 1 ? 1 : 0);
    let i = levels.from(view.from);
    while (i < n && begin[i] < view.to) {
      const width = (end[i] - begin[i]) * perTick;
      if (width >= 2) {
        this.box(track, i, y, height, perTick);
        i++;
        continue;
      }
      const column = Math.max(0, Math.floor((begin[i] - view.from) * perTick));
      let next = gallop(begin, view.from + (column + 1) / perTick, i + 1, n);
      // Only the last that begins in a column reaches far beyond it.
      const wide = next - 1 > i && (end[next - 1] - begin[next - 1]) * perTick >= 2;
      if (wide) next--;
      if (column < columns) this.column(place, track, i, next, column, y, height, perTick);
      i = next;
    }
  }

  box(track, i, y, height, perTick) {
    const number = track.state[i];
    if (this.app.off.states.has(number)) return;
    const from = (track.begin[i] - this.view.from) * perTick;
    const to = (track.end[i] - this.view.from) * perTick;
    const x = Math.max(Math.round(from), -8);
    const width = Math.max(1, Math.min(Math.round(to), this.canvas.width + 8) - x);
    this.boxes.push({ track, i, number, x, width, y, height, colour: this.colour(track, i, number) });
  }

  /** An index in the colours: of the state, or of the name where a core says who runs on it. */
  colour(track, i, number) {
    const named = this.app.byName && track.row.kind === kind.Core && track.name[i] >= 0 && number === state.Running;
    const colour = named ? this.palette.ofName[track.name[i]] : -1;
    return colour >= 0 ? STATES.length + colour : number;
  }

  /** A column of pixels: the shares of its time that states have, above each other. */
  column(place, track, i, next, column, y, height, perTick) {
    if (!this.image) {
      this.image = this.context.createImageData(this.canvas.width, this.canvas.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    if (!this.columns) {
      this.pixels.fill(0);
      this.columns = true;
    }
    const { covered, counted, palette, ratio } = this;
    covered.fill(0);
    counted.fill(0);
    track.levels.sum(i, next, covered, counted);
    const bottom = Math.round((y + height) * ratio);
    const room = Math.round(height * ratio);
    const named = this.app.byName && place.row.kind === kind.Core && counted[state.Running];
    let used = 0;
    // What takes no time is drawn only where nothing does.
    const timeless = !covered.some((ticks) => ticks > 0);
    for (const number of STACK) {
      if (!counted[number] || this.app.off.states.has(number) || (!timeless && covered[number] <= 0)) continue;
      const share = Math.max(ratio, Math.round(Math.min(1, covered[number] * perTick) * room * LOOKS[number].height));
      const end = Math.min(room, used + share);
      const colour = named && number === state.Running ? this.colour(track, track.levels.longest(i, next), number) : number;
      const value = palette.pixels[colour];
      const first = Math.max(0, bottom - end);
      const last = Math.min(this.canvas.height, bottom - used);
      for (let row = first; row < last; row++) this.pixels[row * this.canvas.width + column] = value;
      used = end;
    }
  }

  paintColumns() {
    if (!this.columns) return;
    const c = this.context;
    this.scratch.getContext("2d").putImageData(this.image, 0, 0);
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(this.scratch, 0, 0);
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  /** Boxes by colour, then their patterns, then their texts: changing a colour costs more than a box. */
  paintBoxes() {
    const c = this.context;
    const { palette, ratio, boxes } = this;
    c.setTransform(1, 0, 0, 1, 0, 0);
    const byColour = new Map();
    for (const box of boxes) {
      const look = LOOKS[box.number];
      const full = Math.round(box.height * ratio);
      box.bottom = Math.round((box.y + box.height) * ratio);
      box.full = full;
      box.high = Math.max(1, Math.round(full * look.height));
      box.inner = box.width > 3 ? box.width - 1 : box.width;
      if (!byColour.has(box.colour)) byColour.set(box.colour, []);
      byColour.get(box.colour).push(box);
    }
    for (const [colour, group] of byColour) {
      c.fillStyle = colour < STATES.length ? palette.states[colour] : palette.names[colour - STATES.length];
      for (const box of group) {
        const merged = box.track.merged?.get(box.i);
        if (merged) this.mergedBox(c, box, merged);
        else c.fillRect(box.x, box.bottom - box.high, box.inner, box.high);
      }
      const pattern = colour < STATES.length ? palette.patterns[colour] : palette.namePatterns[colour - STATES.length];
      if (pattern) {
        c.fillStyle = pattern;
        for (const box of group) if (box.width > 3 * ratio && !box.track.merged?.has(box.i)) c.fillRect(box.x, box.bottom - box.high, box.inner, box.high);
      }
      if (colour < STATES.length && LOOKS[colour].outline) {
        c.strokeStyle = palette.outline;
        c.lineWidth = 1;
        for (const box of group) if (box.width > 2 && !box.track.merged?.has(box.i)) c.strokeRect(box.x + 0.5, box.bottom - box.high + 0.5, box.inner - 1, box.high - 1);
      }
    }
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.font = palette.font(10.5);
    c.textBaseline = "middle";
    for (const box of boxes) if (box.width > 18 * ratio) this.text(c, box);
  }

  /** Several runs in one: the share of time that they cover, in front of a paler whole. */
  mergedBox(c, box, merged) {
    const whole = Math.max(1, box.track.end[box.i] - box.track.begin[box.i]);
    const share = Math.min(1, merged.covered / whole);
    c.globalAlpha = 0.28;
    c.fillRect(box.x, box.bottom - box.full, box.inner, box.full);
    c.globalAlpha = 1;
    const high = Math.max(1, Math.round(box.full * share));
    c.fillRect(box.x, box.bottom - high, box.inner, high);
  }

  /** What is written in a box: as much as fits into the part that is seen. */
  text(c, box) {
    const { track, i, ratio } = { track: box.track, i: box.i, ratio: this.ratio };
    const left = Math.max(box.x / ratio, 0) + 4;
    const room = Math.min((box.x + box.inner) / ratio, this.width) - left - 3;
    const merged = track.merged?.get(i);
    if ((merged ? box.full : box.high) / ratio < 12) return;
    const text = this.words(track, i, merged).find((words) => this.widthOf(words) <= room);
    if (!text) return;
    const middle = (box.bottom - (merged ? box.full : box.high) / 2) / ratio + 0.5;
    c.fillStyle = merged ? this.palette.ink : this.palette.texts[box.colour];
    if (merged) {
      c.strokeStyle = this.palette.paper;
      c.lineWidth = 3;
      c.lineJoin = "round";
      c.strokeText(text, left, middle);
    } else if (box.colour < STATES.length ? LOOKS[box.number].pattern : this.palette.namePatterns[box.colour - STATES.length]) {
      c.strokeStyle = box.colour < STATES.length ? this.palette.states[box.number] : this.palette.names[box.colour - STATES.length];
      c.lineWidth = 4;
      c.lineJoin = "round";
      c.strokeText(text, left, middle);
    }
    c.fillText(text, left, middle);
  }

  /** The width of a text, which costs more to ask for than to remember. */
  widthOf(text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > 20000) this.widths.clear();
      this.widths.set(text, (width = this.context.measureText(text).width));
    }
    return width;
  }

  /** What may be written in a box, best first. In the row of a process the instance says more than the core. */
  words(track, i, merged) {
    if (merged) return [`${plural(merged.count, "run")} merged`, `${grouped(String(merged.count))} merged`, `×${merged.count}`];
    const name = track.name[i] >= 0 ? this.app.picture.names[track.name[i]] : "";
    const instance = instanceOf(track, i);
    const number = instance === null ? "" : `#${instance}`;
    const short = name.length > 5 ? `${name.slice(0, 4)}…` : "";
    if (track.row.kind === kind.Response) return [`${name}, ${this.app.clock.length(track.end[i] - track.begin[i])}`, name, short];
    if (track.row.kind === kind.Task || track.row.kind === kind.Isr) return [`${number} ${name}`.trim(), number || name];
    return [`${name} ${number}`.trim(), name || number, name.length > 9 ? `${name.slice(0, 8)}…` : "", short];
  }

  /** Lines between rows; too many to be told apart are not drawn, and said not to be. */
  links(layout, top) {
    const { app, view, palette, context: c } = this;
    const { links } = app.picture;
    app.linksLeftOut = 0;
    const first = links.levels.from(view.from);
    const last = upperBound(links.fromAt, view.to, 0, links.n);
    if (last - first > this.width / 8) {
      app.linksLeftOut = app.off.links.size < LINKS.length ? last - first : 0;
      return;
    }
    const height = (row, down) => {
      const place = layout.of.get(row);
      return place && place.y - top + (down ? place.height - PAD - 2 : place.bandTop + 2);
    };
    c.lineWidth = 1;
    for (let i = first; i < last; i++) {
      if (app.off.links.has(links.kind[i])) continue;
      const down = (layout.of.get(links.toRow[i])?.y ?? 0) > (layout.of.get(links.fromRow[i])?.y ?? 0);
      const [y0, y1] = [height(links.fromRow[i], down), height(links.toRow[i], !down)];
      if (y0 === undefined || y1 === undefined || Math.max(y0, y1) < 0 || Math.min(y0, y1) > this.height) continue;
      const [x0, x1] = [links.fromAt[i], links.toAt[i]].map((at) => Math.round(view.x(at, this.width)) + 0.5);
      if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > this.width) continue;
      c.strokeStyle = c.fillStyle = palette.links[links.kind[i]];
      c.globalAlpha = 0.75;
      c.setLineDash(links.kind[i] === 0 ? [3, 2] : []);
      c.beginPath();
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
      c.stroke();
      arrowHead(c, x0, y0, x1, y1);
    }
    c.globalAlpha = 1;
    c.setLineDash([]);
  }

  /** The stretch that the picture was made for. */
  highlight(highlight, layout, top) {
    const place = layout.of.get(highlight.row);
    if (!place) return;
    const c = this.context;
    const [x0, x1] = [highlight.begin, highlight.end].map((at) => this.view.x(at, this.width));
    if (x1 < 0 || x0 > this.width) return;
    c.fillStyle = this.palette.highlight;
    c.fillRect(x0, place.y - top + 1, Math.max(2, x1 - x0), place.height - 3);
    c.strokeStyle = this.palette.highlightLine;
    c.lineWidth = 1;
    c.setLineDash([6, 3]);
    c.strokeRect(x0, place.y - top + 1, Math.max(2, x1 - x0), place.height - 3);
    c.setLineDash([]);
  }

  /** Where somebody delays the response that the picture is of. */
  band(band, layout, top) {
    const [x0, x1] = [band.begin, band.end].map((at) => this.view.x(at, this.width));
    const place = x1 < 0 || x0 > this.width ? null : layout.of.get(band.row);
    if (!place) return;
    const c = this.context;
    const width = Math.max(1, x1 - x0);
    c.fillStyle = this.palette.states[band.state];
    c.globalAlpha = 0.4;
    c.fillRect(x0, place.y - top + 1, width, place.height - 3);
    c.globalAlpha = 1;
    c.fillRect(x0, place.y - top + place.height - 4, width, 3);
  }

  /** A bar below every run that the search has found, and a dot above every mark. */
  matches(place, top) {
    const c = this.context;
    const { view, width } = this;
    const perTick = width / view.span;
    c.fillStyle = this.palette.match;
    for (const hits of this.app.search.of(place.row.index)) {
      const track = hits.track;
      const y = track ? place.y - top + this.app.layout.trackTop(place, track) + place.trackHeight - 3 : place.y - top + place.gutterTop;
      let k = track ? upperBound(hits.end, view.from, 0, hits.n) : lowerBound(hits.begin, view.from, 0, hits.n);
      while (k < hits.n && hits.begin[k] < view.to) {
        const x = (hits.begin[k] - view.from) * perTick;
        const w = track ? (hits.end[k] - hits.begin[k]) * perTick : 3;
        c.fillRect(Math.max(x, -2), y, Math.max(2, Math.min(w, width + 4)), 3);
        k = w > 1 ? k + 1 : gallop(hits.begin, view.at(Math.floor(x) + 1, width), k + 1, hits.n);
      }
    }
  }
}

/** The number of an instance, exactly; null where there is none. */
function instanceOf(track, i) {
  return track.wide?.get(i) ?? (Number.isNaN(track.instance[i]) ? null : track.instance[i]);
}

function arrowHead(c, x0, y0, x1, y1) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  c.beginPath();
  c.moveTo(x1, y1);
  for (const turn of [2.7, -2.7]) c.lineTo(x1 + 6 * Math.cos(angle + turn), y1 + 6 * Math.sin(angle + turn));
  c.fill();
}

/** A number over time: a line, with the range of what falls on one pixel. */
function drawCurve(field, place, top) {
  const { view, width, palette, context: c } = field;
  const { curve } = place.row;
  if (!curve.n) return;
  const { levels } = curve;
  const [high, low] = [place.y - top + place.curveTop + 2, place.y - top + place.curveTop + place.curve - 2];
  const y = (value) => low - ((value - levels.bottom) / (levels.top - levels.bottom)) * (low - high);
  const perTick = width / view.span;
  const path = [];
  let i = Math.max(0, upperBound(curve.at, view.from, 0, curve.n) - 1);
  while (i < curve.n) {
    const x = (curve.at[i] - view.from) * perTick;
    const next = gallop(curve.at, view.at(Math.floor(x) + 1, width), i + 1, curve.n);
    if (next - i > 3) {
      const [least, greatest] = levels.range(i, next);
      path.push([x, y(curve.value[i])], [x, y(greatest)], [x, y(least)], [x, y(curve.value[next - 1])]);
    } else {
      for (let k = i; k < next; k++) {
        const at = (curve.at[k] - view.from) * perTick;
        if (curve.count[k] > 1) path.push([at, y(curve.greatest[k])], [at, y(curve.least[k])]);
        path.push([at, y(curve.value[k])]);
      }
    }
    if (curve.at[next - 1] > view.to) break;
    i = next;
  }
  c.save();
  c.beginPath();
  c.rect(0, high - 3, width, low - high + 6);
  c.clip();
  // Where the value is not known there is no line.
  const pieces = [];
  let open = null;
  for (const [x, height] of path) {
    if (open && curve.steps) open.push([x, open.at(-1)[1]]);
    if (Number.isNaN(height)) open = null;
    else if (open) open.push([x, height]);
    else pieces.push((open = [[x, height]]));
  }
  if (open && curve.steps) open.push([Math.max(width, open.at(-1)[0]) + 2, open.at(-1)[1]]);
  const trace = () => {
    for (const piece of pieces) piece.forEach(([x, height], k) => (k ? c.lineTo(x, height) : c.moveTo(x, height)));
  };
  const base = y(levels.bottom < 0 ? 0 : levels.bottom);
  c.fillStyle = palette.signalArea;
  c.beginPath();
  for (const piece of pieces) [[piece[0][0], base], ...piece, [piece.at(-1)[0], base]].forEach(([x, height], k) => (k ? c.lineTo(x, height) : c.moveTo(x, height)));
  c.fill();
  c.beginPath();
  trace();
  c.strokeStyle = palette.signal;
  c.lineWidth = 1.3;
  c.lineJoin = "round";
  c.stroke();
  if (curve.limit !== null) {
    c.beginPath();
    c.setLineDash([4, 3]);
    c.strokeStyle = palette.limit;
    c.lineWidth = 1;
    c.moveTo(0, Math.round(y(curve.limit)) + 0.5);
    c.lineTo(width, Math.round(y(curve.limit)) + 0.5);
    c.stroke();
  }
  if (levels.bottom < 0) {
    c.beginPath();
    c.setLineDash([]);
    c.strokeStyle = palette.line;
    c.moveTo(0, Math.round(y(0)) + 0.5);
    c.lineTo(width, Math.round(y(0)) + 0.5);
    c.stroke();
  }
  c.restore();
  c.font = palette.font(9.5);
  c.textBaseline = "middle";
  c.lineWidth = 3;
  c.strokeStyle = palette.paper;
  c.fillStyle = palette.quiet;
  for (const [value, height] of [[levels.top, high + 4], [levels.bottom, low - 4]]) {
    const text = `${Number(value.toPrecision(5))} ${curve.unit}`.trim();
    c.strokeText(text, 4, height);
    c.fillText(text, 4, height);
  }
}
