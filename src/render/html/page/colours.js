// How states, marks and links look: colour, height and pattern, so that each is told apart without colour too. The colours themselves are in style.css; not for where things are drawn (draw.js).

/** Of a state: the share of the band it fills, its pattern and whether that is light, and where it is in a column of several, from the bottom. As in the SVG. */
const LOOKS = [
  { name: "Active", height: 0.5, pattern: "dots", outline: true, rank: 7 },
  { name: "Running", height: 1, pattern: null, rank: 1 },
  { name: "Ready", height: 0.7, pattern: null, outline: true, rank: 5 },
  { name: "Waiting", height: 0.34, pattern: "level", rank: 8 },
  { name: "Polling", height: 1, pattern: "falling", rank: 2 },
  { name: "Parking", height: 0.7, pattern: "upright", outline: true, rank: 4 },
  { name: "Critical", height: 1, pattern: "rising", light: true, rank: 0 },
  { name: "Held", height: 1, pattern: null, rank: 3 },
  { name: "Wanted", height: 0.7, pattern: "rising", outline: true, rank: 6 },
  { name: "Gap", height: 1, pattern: "crossed", rank: 10 },
  { name: "Suspended", height: 0.55, pattern: null, outline: true, rank: 9 },
  { name: "Executes", height: 1, pattern: null, rank: 11 },
  { name: "Delayed", height: 1, pattern: null, outline: true, rank: 12 },
  { name: "Kernel", height: 1, pattern: "upright", rank: 13 },
  { name: "Blocked", height: 1, pattern: "rising", light: true, rank: 14 },
  { name: "Awaits", height: 1, pattern: "level", rank: 15 },
  { name: "Unknown", height: 1, pattern: "crossed", rank: 16 },
];

/** States from the bottom of a column to its top. */
const STACK = STATES.map((_, number) => number).sort((a, b) => LOOKS[a].rank - LOOKS[b].rank);

/** Colours of processes; with more processes, they come again with the next pattern. As in the SVG. */
const NAME_COLOURS = 12;
const NAME_PATTERNS = [null, "rising", "level", "falling", "upright", "crossed", "dots"];

class Palette {
  constructor(picture, ratio) {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim();
    this.get = get;
    this.ratio = ratio;
    this.states = STATES.map((name) => get(name.toLowerCase()));
    /** The colours in use, in order; and which of them a name has, as an index, -1 where it has none. */
    const used = [...new Set(picture.colours.filter((number) => number >= 0))].sort((a, b) => a - b);
    this.names = used.map((number) => get(`name-${number % NAME_COLOURS}`));
    this.ofName = picture.colours.map((number) => used.indexOf(number));
    this.marks = MARKS.map((_, number) => this.markColour(number));
    this.links = LINKS.map((name) => get(`link-${name.toLowerCase()}`));
    for (const name of ["paper", "panel", "ink", "quiet", "line", "grid", "select", "match", "cursor", "rare", "signal", "limit"]) this[name] = get(name);
    this.signalArea = get("signal-area");
    this.selectedRow = get("selected-row");
    this.stripe = get("stripe");
    this.outline = get("outline");
    this.highlight = get("highlight");
    this.highlightLine = get("highlight-line");
    this.measure = { a: get("measure-a"), b: get("measure-b"), area: get("measure-area") };
    this.font = (size, weight = "") => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif`;
    const light = get("pattern-light");
    const dark = get("pattern-dark");
    this.patterns = LOOKS.map((look) => look.pattern && this.pattern(look.pattern, look.light ? light : dark));
    this.namePatterns = used.map((number, i) => {
      const name = NAME_PATTERNS[Math.floor(number / NAME_COLOURS) % NAME_PATTERNS.length];
      return name && this.pattern(name, isLight(pixel(this.names[i])) ? dark : light);
    });
    // In a column of one pixel there is no outline: what is nearly white is darker there.
    const columns = STATES.map((name, number) => get(`${name.toLowerCase()}-column`) || this.states[number]);
    this.pixels = [...columns, ...this.names].map(pixel);
    this.texts = [...this.states, ...this.names].map((colour) => (isLight(pixel(colour)) ? "#14181d" : "#ffffff"));
  }

  markColour(number) {
    if (RARE[number]) return this.get("rare");
    if (MARKS[number] === "Deadline") return this.get("mark-deadline");
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
    if (name === "level") line(0, 0.5, 1, 0.5);
    if (name === "dots") {
      c.fillStyle = colour;
      for (const at of [0.25, 0.75]) c.fillRect((at - 0.125) * size, (at - 0.125) * size, size / 4, size / 4);
    }
    return c.createPattern(canvas, "repeat");
  }
}

/** True when dark text is read better on a pixel than white text. */
function isLight(value) {
  const bytes = new Uint8Array(new Uint32Array([value]).buffer);
  return bytes[0] * 0.299 + bytes[1] * 0.587 + bytes[2] * 0.114 > 140;
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
