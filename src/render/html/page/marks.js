// Draws what happens at instants: arrows, points, signs of violations. Rare ones always; of the others as many as can be told apart, and a stroke for the rest. Not for runs (draw.js).

/** Pixels between two marks of one kind that are both drawn in full. */
const APART = 8;

/** Draws a mark whose foot is at (x, bottom), in the gutter from `top`. */
function glyph(c, number, x, top, bottom, palette) {
  const name = MARKS[number];
  const middle = (top + bottom) / 2;
  const shape = (points, filled = true) => {
    c.beginPath();
    points.forEach(([dx, y], k) => (k ? c.lineTo(x + dx, y) : c.moveTo(x + dx, y)));
    if (filled) c.fill();
    else {
      c.closePath();
      c.stroke();
    }
  };
  const stroke = (x0, y0, x1, y1) => {
    c.beginPath();
    c.moveTo(x + x0, y0);
    c.lineTo(x + x1, y1);
    c.stroke();
  };
  const round = (filled) => {
    c.beginPath();
    c.arc(x, middle + 1, 3, 0, 2 * Math.PI);
    if (filled) c.fill();
    else c.stroke();
  };
  c.fillStyle = c.strokeStyle = palette.marks[number];
  c.lineWidth = 1.2;
  switch (name) {
    case "Activation":
      stroke(0, top + 1, 0, bottom - 4);
      return shape([[-2.8, bottom - 4.5], [2.8, bottom - 4.5], [0, bottom]]);
    case "Deadline":
      stroke(0, top + 4, 0, bottom - 1);
      return shape([[-2.8, top + 4.5], [2.8, top + 4.5], [0, top]]);
    case "Termination":
      stroke(0, bottom - 5, 0, bottom);
      return stroke(-3, bottom - 5, 3, bottom - 5);
    case "Migration":
      stroke(-4, middle + 1, 2, middle + 1);
      return shape([[1, middle - 2], [5, middle + 1], [1, middle + 4]]);
    case "ActivationLost":
      stroke(-3.5, top + 1, 3.5, bottom - 2);
      stroke(3.5, top + 1, -3.5, bottom - 2);
      return undefined;
    case "Violation":
      shape([[-5.5, bottom], [5.5, bottom], [0, top]]);
      c.strokeStyle = palette.paper;
      stroke(0, top + 4, 0, bottom - 3.5);
      return stroke(0, bottom - 2, 0, bottom - 0.8);
    case "Write":
    case "Replenished":
      return shape([[-3, bottom], [3, bottom], [0, bottom - 6]]);
    case "Read":
      return shape([[-3, bottom - 6], [3, bottom - 6], [0, bottom - 1]], false);
    case "Depleted":
      return shape([[-3, bottom - 6], [3, bottom - 6], [0, bottom]]);
    case "Set":
      return round(true);
    case "Wait":
      return round(false);
    case "Clear":
      stroke(-2.5, middle - 1.5, 2.5, middle + 3.5);
      return stroke(2.5, middle - 1.5, -2.5, middle + 3.5);
    case "Trigger":
      return shape([[0, bottom], [3, bottom - 4.5], [0, bottom - 9], [-3, bottom - 4.5]]);
    default:
      // What somebody says, in a bubble: a rhomb is a stimulus.
      return shape([[0, bottom], [2.5, bottom - 2.5], [4.5, bottom - 2.5], [4.5, bottom - 8], [-4.5, bottom - 8], [-4.5, bottom - 2.5], [-2.5, bottom - 2.5]], false);
  }
}

function drawMarks(field, place, top) {
  const { marks } = place.row;
  if (!marks.n) return;
  const { view, width, palette, app, context: c } = field;
  const gutterTop = place.y - top + place.gutterTop + 1;
  const bottom = gutterTop + GUTTER - 1;
  const perTick = width / view.span;
  const reach = 6 / perTick;
  let i = lowerBound(marks.at, view.from - reach, 0, marks.n);
  const end = upperBound(marks.at, view.to + reach, i, marks.n);
  const strokes = MARKS.map(() => []);
  const last = new Float64Array(MARKS.length).fill(-Infinity);
  while (i < end) {
    const x = Math.floor((marks.at[i] - view.from) * perTick);
    const next = gallop(marks.at, view.at(x + 1, width), i + 1, end);
    const kinds = marks.levels.kinds(i, next);
    for (let number = 0; number < MARKS.length; number++) {
      if (!(kinds & (1 << number)) || RARE[number] || app.off.marks.has(number)) continue;
      // Several on one pixel are a line, one is a sign when it has room.
      if (next - i > 4 || x - last[number] < APART) {
        strokes[number].push(x + 0.5);
      } else {
        glyph(c, number, x + 0.5, gutterTop, bottom, palette);
        last[number] = x;
      }
    }
    i = next;
  }
  c.lineWidth = 1;
  strokes.forEach((xs, number) => {
    if (!xs.length) return;
    c.beginPath();
    for (const x of xs) c.rect(x - 0.5, bottom - 3, 1, 3);
    c.fillStyle = palette.marks[number];
    c.globalAlpha = 0.55;
    c.fill();
    c.globalAlpha = 1;
  });
  // Above all others, each of them, as a line through the row.
  let before = -Infinity;
  for (const index of marks.levels.rare) {
    const x = Math.floor((marks.at[index] - view.from) * perTick);
    if (x < -6 || x > width + 6 || app.off.marks.has(marks.kind[index])) continue;
    c.fillStyle = palette.rare;
    if (x > before) c.fillRect(x, gutterTop, 1, place.height - place.gutterTop - PAD);
    if (x - before >= APART) {
      glyph(c, marks.kind[index], x + 0.5, gutterTop - 1, bottom, palette);
      before = x;
    }
  }
}
