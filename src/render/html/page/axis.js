// The axis of time with its labels, and the whole picture in small with the part that is seen. Not for rows (draw.js).

/** Lines of the axis: [{at, x, text}], and what their labels count from. */
function ticksOf(view, clock, width) {
  const wanted = view.span / Math.max(2, width / 110);
  let step = 1;
  for (let power = 1; step < wanted; power *= 10) {
    for (const digit of [1, 2, 5]) if (step < wanted) step = digit * power;
  }
  const from = clock.from;
  const big = BigInt(step);
  // Lines stand at multiples of the recording's ticks, not of offsets.
  const rest = Number(((from % big) + big) % big);
  const first = Math.ceil((view.from + rest) / step) * step - rest;
  const offsets = [];
  for (let at = first; at <= view.to; at += step) offsets.push(at);
  const minor = [];
  const parts = step % 5 === 0 ? 5 : step % 2 === 0 ? 2 : 1;
  for (let at = first - step; at <= view.to; at += step / parts) if (at >= view.from) minor.push(at);
  const last = clock.ticks(offsets.at(-1) ?? 0);
  let unit = clock.unitOf(last < 0n ? -last : last);
  // As many places as the step has, so that labels are alike.
  const places = () => clock.decimal(big, unit).split(".")[1]?.replace(/\D/g, "").length ?? 0;
  const text = (ticks) => clock.decimal(ticks, unit, places());
  let base = null;
  if (offsets.some((at) => text(clock.ticks(at)).length > 8)) {
    // Labels that would be long are told from an instant before the first.
    const round = 10n ** BigInt(Math.ceil(Math.log10(Math.max(1, view.span))));
    const start = clock.ticks(view.from);
    base = ((start / round) - (start < 0n && start % round ? 1n : 0n)) * round;
    unit = clock.unitOf(clock.ticks(view.to) - base);
  }
  const label = (at) => {
    const ticks = clock.ticks(at) - (base ?? 0n);
    return `${base === null ? "" : "+"}${text(ticks)}\u00a0${unit}`;
  };
  const place = (at) => ({ at, x: view.x(at, width), text: label(at) });
  return { major: offsets.map(place), minor: minor.map((at) => view.x(at, width)), base };
}

/** A canvas of the size it has on the page, cleared. */
function fresh(canvas, width, height, ratio) {
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return c;
}

function drawAxis(app, canvas, width, height, ratio) {
  const c = fresh(canvas, width, height, ratio);
  const { palette, view, measure } = app;
  c.fillStyle = palette.panel;
  c.fillRect(0, 0, width, height);
  c.fillStyle = palette.line;
  c.fillRect(0, height - 1, width, 1);
  for (const x of app.ticks.minor) c.fillRect(Math.round(x), height - 4, 1, 3);
  c.font = palette.font(11);
  c.textBaseline = "middle";
  c.textAlign = "left";
  for (const tick of app.ticks.major) {
    const x = Math.round(tick.x);
    c.fillStyle = palette.quiet;
    c.fillRect(x, height - 9, 1, 8);
    c.fillStyle = palette.ink;
    if (x + c.measureText(tick.text).width + 6 < width) c.fillText(tick.text, x + 4, height / 2 - 2);
  }
  let taken = null;
  if (measure.a !== null && measure.b !== null) {
    const [x0, x1] = [measure.a, measure.b].map((at) => view.x(at, width)).sort((a, b) => a - b);
    c.fillStyle = palette.measure.area;
    c.fillRect(x0, 0, x1 - x0, height - 1);
    const text = app.clock.roughly(Math.abs(measure.b - measure.a));
    const room = c.measureText(text).width + 12;
    const [left, right] = [Math.max(0, x0), Math.min(width, x1)];
    if (right - left > room + 34) {
      taken = (left + right) / 2;
      badge(c, text, taken, height, palette.ink, palette);
    }
  }
  if (app.pointer && measure.drag === null && (taken === null || Math.abs(view.x(app.pointer.at, width) - taken) > 110)) {
    badge(c, app.clock.inUnit(app.clock.ticks(app.pointer.at)), view.x(app.pointer.at, width), height, palette.cursor, palette, width);
  }
}

/** A short text on a coloured ground. */
function badge(c, text, x, height, colour, palette, limit = Infinity) {
  const room = c.measureText(text).width + 10;
  const left = Math.max(0, Math.min(x - room / 2, limit - room));
  c.fillStyle = colour;
  c.beginPath();
  c.roundRect(left, 3, room, height - 9, 4);
  c.fill();
  c.fillStyle = palette.paper;
  c.textAlign = "center";
  c.fillText(text, left + room / 2, height / 2 - 1.5);
  c.textAlign = "left";
}

/** The whole picture, a strip for each row, drawn once for a size and a set of rows. */
class Overview {
  constructor(canvas) {
    this.canvas = canvas;
    this.strips = document.createElement("canvas");
    this.key = null;
  }

  draw(app, width, height, ratio) {
    const { palette, view, layout } = app;
    const key = [width, height, ratio, palette.paper, layout.places.map((place) => place.row.index).join()].join();
    if (key !== this.key) this.paintStrips(app, width, height, ratio);
    this.key = key;
    const c = fresh(this.canvas, width, height, ratio);
    c.fillStyle = palette.panel;
    c.fillRect(0, 0, width, height);
    c.drawImage(this.strips, 0, 0, width, height);
    const [x0, x1] = [view.from, view.to].map((at) => (at / view.limit) * width);
    const wide = Math.max(3, x1 - x0);
    const left = Math.min(x0, width - wide);
    if (view.span < view.limit) {
      c.fillStyle = palette.panel;
      c.globalAlpha = 0.72;
      c.fillRect(0, 0, left, height - 1);
      c.fillRect(left + wide, 0, width, height - 1);
      c.globalAlpha = 1;
    }
    c.strokeStyle = palette.select;
    c.lineWidth = 1.5;
    c.strokeRect(left + 0.75, 0.75, wide - 1.5, height - 2.5);
    if (app.measure.a !== null && app.measure.b !== null) {
      const [a, b] = [app.measure.a, app.measure.b].map((at) => (at / view.limit) * width).sort((x, y) => x - y);
      c.fillStyle = palette.measure.b;
      c.fillRect(a, height - 4, Math.max(2, b - a), 3);
    }
  }

  paintStrips(app, width, height, ratio) {
    const { palette, layout } = app;
    const c = fresh(this.strips, width, height, ratio);
    c.fillStyle = palette.panel;
    c.fillRect(0, 0, width, height);
    const places = layout.places.filter((place) => place.runs || place.row.marks.n || place.row.curve);
    const room = height - 8;
    const strip = Math.min(7, room / Math.max(1, places.length));
    const perColumn = app.view.limit / width;
    const covered = new Float64Array(STATES.length);
    const counted = new Uint32Array(STATES.length);
    places.forEach((place, index) => {
      const y = 4 + index * strip;
      for (const track of place.row.tracks) {
        const { begin, end, levels, n } = track;
        let i = 0;
        while (i < n) {
          const column = Math.floor(begin[i] / perColumn);
          let next = gallop(begin, (column + 1) * perColumn, i + 1, n);
          if (next === i) next = i + 1;
          covered.fill(0);
          counted.fill(0);
          levels.sum(i, next, covered, counted);
          const x = Math.max(0, column);
          for (const number of STACK) {
            if (!counted[number] || !(OCCUPIED[number] || number === state.Gap)) continue;
            const far = Math.min(width, Math.max(1, (end[next - 1] - begin[i]) / perColumn));
            c.globalAlpha = 0.25 + 0.75 * Math.min(1, covered[number] / (far * perColumn));
            c.fillStyle = palette.states[number];
            c.fillRect(x, y, far, Math.max(1, strip - (strip > 3 ? 1 : 0)));
            break;
          }
          i = next;
        }
      }
    });
    c.globalAlpha = 1;
    c.fillStyle = palette.rare;
    places.forEach((place, index) => {
      for (const mark of place.row.marks.levels.rare) {
        c.fillRect(Math.round(place.row.marks.at[mark] / perColumn) - 0.5, Math.max(0, 4 + index * strip - 2), 2, strip + 4);
      }
    });
    c.fillStyle = palette.line;
    c.fillRect(0, height - 1, width, 1);
  }
}
