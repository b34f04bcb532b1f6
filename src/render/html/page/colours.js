// How states, marks and links look: colour, height and pattern, so that each is told apart without colour too. The colours themselves are in style.css; not for where things are drawn (draw.js).

/** Of a state: the share of the band it fills, its pattern, whether text on it is light, and where it is in a column of several, from the bottom. */
const LOOKS = [
  { name: "Active", height: 0.5, pattern: null, outline: true, rank: 7 },
  { name: "Running", height: 1, pattern: null, dark: true, rank: 1 },
  { name: "Ready", height: 0.62, pattern: "rising", rank: 5 },
  { name: "Waiting", height: 0.34, pattern: null, rank: 8 },
  { name: "Polling", height: 1, pattern: "upright", dark: true, rank: 2 },
  { name: "Parking", height: 0.62, pattern: "crossed", rank: 4 },
  { name: "Critical", height: 1, pattern: "falling", dark: true, rank: 0 },
  { name: "Held", height: 1, pattern: null, dark: true, rank: 3 },
  { name: "Wanted", height: 0.5, pattern: "falling", rank: 6 },
  { name: "Gap", height: 1, pattern: "crossed", rank: 9 },
];

/** States from the bottom of a column to its top. */
const STACK = STATES.map((_, number) => number).sort((a, b) => LOOKS[a].rank - LOOKS[b].rank);

const NAME_COLOURS = 12;

/** A number for a text that is the same in every picture. */
function hash(text) {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return (value ^ (value >>> 15)) >>> 0;
}

class Palette {
  constructor(names, ratio) {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim();
    this.get = get;
    this.ratio = ratio;
    this.states = STATES.map((name) => get(name.toLowerCase()));
    this.names = Array.from({ length: NAME_COLOURS }, (_, i) => get(`name-${i}`));
    /** The colour of each name, as an index. Names that are there get colours in turn, in the order of their hash. */
    this.ofName = new Uint8Array(names.length);
    const order = names.map((name, i) => [hash(name), i]).sort((a, b) => a[0] - b[0]);
    order.forEach(([, i], turn) => (this.ofName[i] = turn % NAME_COLOURS));
    this.marks = MARKS.map((_, number) => this.markColour(number));
    this.links = LINKS.map((name) => get(`link-${name.toLowerCase()}`));
    for (const name of ["paper", "panel", "ink", "quiet", "line", "grid", "select", "match", "cursor", "rare", "signal", "limit"]) this[name] = get(name);
    this.signalArea = get("signal-area");
    this.selectedRow = get("selected-row");
    this.stripe = get("stripe");
    this.onDark = get("on-dark");
    this.onLight = get("on-light");
    this.measure = { a: get("measure-a"), b: get("measure-b"), area: get("measure-area") };
    this.font = (size, weight = "") => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif`;
    const light = get("pattern-light");
    const dark = get("pattern-dark");
    this.patterns = LOOKS.map((look) => look.pattern && this.pattern(look.pattern, look.dark ? light : dark));
    this.pixels = [...this.states, ...this.names].map(pixel);
  }

  markColour(number) {
    if (RARE[number]) return this.get("rare");
    return this.get(["Termination", "Read", "Clear", "Wait"].includes(MARKS[number]) ? "mark-quiet" : "mark");
  }

  /** Lines that repeat every 6 pixels of the page. */
  pattern(name, colour) {
    const size = Math.round(6 * this.ratio);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    const c = canvas.getContext("2d");
    c.strokeStyle = colour;
    c.lineWidth = 1.3 * this.ratio;
    const line = (x0, y0, x1, y1) => {
      c.beginPath();
      c.moveTo(x0 * size, y0 * size);
      c.lineTo(x1 * size, y1 * size);
      c.stroke();
    };
    for (const shift of [-1, 0, 1]) {
      if (name === "rising" || name === "crossed") line(shift - 0.5, 1.5, shift + 1.5, -0.5);
      if (name === "falling" || name === "crossed") line(shift - 0.5, -0.5, shift + 1.5, 1.5);
    }
    if (name === "upright") line(0.5, 0, 0.5, 1);
    return c.createPattern(canvas, "repeat");
  }

  /** The colour of what is written on a state. */
  text(number) {
    return LOOKS[number].dark ? this.onDark : this.onLight;
  }
}

/** A colour as the pixel of an image, in the byte order of this machine. */
function pixel(colour) {
  const c = (pixel.context ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true }));
  c.canvas.width = 1;
  c.canvas.height = 1;
  c.fillStyle = colour;
  c.fillRect(0, 0, 1, 1);
  return new Uint32Array(c.getImageData(0, 0, 1, 1).data.buffer)[0];
}
