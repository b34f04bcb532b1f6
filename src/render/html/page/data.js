// The data of the page → typed arrays: undoes what the writer did (columns of varints, deflated, base64). Not for looking things up in them (levels.js).

const VERSION = 4;
const END = 0xb7f;

/** The bytes of a deflated base64 text. */
async function inflate(text) {
  let bytes;
  if (Uint8Array.fromBase64) {
    bytes = Uint8Array.fromBase64(text);
  } else {
    const binary = atob(text);
    bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.decoder = new TextDecoder();
  }

  unsigned() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    let factor = 128;
    do {
      byte = bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    if (byte === undefined) throw new Error("the data of this page ends too early");
    return value;
  }

  /** Zigzag. The sign is taken off first, so that all of 53 bits are left for the number. */
  signed() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    const negative = byte & 1;
    let value = (byte & 127) >> 1;
    let factor = 64;
    while (byte > 127) {
      byte = bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    }
    return negative ? -value - 1 : value;
  }

  /** Zigzag of up to 64 bits: a Number where it is exact, else a BigInt. */
  wide() {
    const start = this.at;
    const value = this.signed();
    if (this.at - start < 8) return value;
    let raw = 0n;
    for (let at = this.at - 1; at >= start; at--) raw = (raw << 7n) | BigInt(this.bytes[at] & 127);
    return raw & 1n ? -(raw >> 1n) - 1n : raw >> 1n;
  }

  text() {
    const length = this.unsigned();
    const text = this.decoder.decode(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    return text;
  }

  texts() {
    return Array.from({ length: this.unsigned() }, () => this.text());
  }

  float() {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }
}

/** All of a picture. Instants are offsets from its begin. */
function decode(bytes) {
  const r = new Reader(bytes);
  const version = r.unsigned();
  if (version !== VERSION) throw new Error(`the data has version ${version}, this page reads ${VERSION}`);
  const picture = { scale: r.text(), title: r.text(), description: r.text(), from: BigInt(r.text()), span: r.signed() };
  picture.names = r.texts();
  /** The number of the colour of each name; -1 where it has none. */
  picture.colours = picture.names.map(() => r.unsigned() - 1);
  picture.notes = r.texts();
  picture.highlight = r.unsigned() ? { row: r.unsigned(), begin: r.signed(), end: r.signed(), label: r.text() } : null;
  picture.response = r.unsigned() ? decodeResponse(r) : null;
  const rows = r.unsigned();
  picture.rows = [];
  for (let index = 0; index < rows; index++) picture.rows.push(decodeRow(r, index, picture.names.length));
  picture.links = decodeLinks(r);
  picture.explanations = decodeExplanations(r);
  if (r.unsigned() !== END) throw new Error("the data of this page is damaged");
  return picture;
}

function decodeRow(r, index, names) {
  const row = { index, id: r.text(), label: r.text(), kind: r.unsigned(), parent: r.unsigned() - 1 };
  const tracks = r.unsigned();
  row.tracks = decodeRuns(r, tracks, names);
  row.tracks.forEach((track, number) => Object.assign(track, { row, number }));
  row.marks = decodeMarks(r);
  const shape = r.unsigned();
  row.curve = shape ? decodeCurve(r, shape) : null;
  row.cut = decodeCut(r);
  return row;
}

/** The instances that the recording does not show as a whole: `name instance`, as `lifeKey` has them. */
function decodeCut(r) {
  const cut = new Set();
  let instance = 0n;
  for (let n = r.unsigned(); n > 0; n--) {
    const name = r.unsigned() - 1;
    instance = BigInt.asIntN(64, instance + BigInt(r.wide()));
    cut.add(`${name < 0 ? "" : name} ${instance}`);
  }
  return cut;
}

/** The causes of the response that the picture is of, and where those act. */
function decodeResponse(r) {
  const response = { row: r.unsigned(), causes: [], bands: [] };
  for (let n = r.unsigned(); n > 0; n--) {
    response.causes.push({ state: r.unsigned(), name: r.unsigned(), words: r.text(), length: r.unsigned(), permille: r.unsigned(), count: r.unsigned() });
  }
  for (let n = r.unsigned(); n > 0; n--) {
    const band = { row: r.unsigned(), state: r.unsigned(), begin: r.signed() };
    response.bands.push({ ...band, end: band.begin + r.unsigned() });
  }
  return response;
}

/** The parts of the responses of instances, by row and instance. */
function decodeExplanations(r) {
  const words = r.texts();
  const found = new Map();
  for (let n = r.unsigned(); n > 0; n--) {
    const row = r.unsigned();
    const instance = r.wide();
    const explanation = { begin: r.signed(), words, parts: [] };
    for (let parts = r.unsigned(); parts > 0; parts--) explanation.parts.push({ state: r.unsigned(), words: r.unsigned(), length: r.unsigned() });
    found.set(explanationKey(row, instance), explanation);
  }
  return found;
}

const explanationKey = (row, instance) => `${row} ${instance}`;

function newTrack(n) {
  return {
    n,
    begin: new Float64Array(n),
    end: new Float64Array(n),
    state: new Uint8Array(n),
    name: new Int32Array(n),
    instance: new Float64Array(n),
    /** Instances that a Number does not hold, by index. */
    wide: null,
    /** What a run stands for that stands for several, by index. */
    merged: null,
  };
}

/** The runs of each track. */
function decodeRuns(r, tracks, names) {
  const n = r.unsigned();
  const flags = new Uint8Array(n);
  for (let i = 0; i < n; i++) flags[i] = r.unsigned();
  const track = new Uint16Array(n);
  for (let i = 0; i < n; i++) if (flags[i] & 128) track[i] = r.unsigned();
  for (let i = 0; i < n; i++) tracks = Math.max(tracks, track[i] + 1);
  const sizes = new Uint32Array(tracks);
  for (let i = 0; i < n; i++) sizes[track[i]]++;
  const all = Array.from(sizes, newTrack);
  // Where in its track a run goes.
  const slot = new Uint32Array(n);
  sizes.fill(0);
  for (let i = 0; i < n; i++) slot[i] = sizes[track[i]]++;
  const ends = new Float64Array(tracks);
  const begins = new Float64Array(n);
  for (let i = 0; i < n; i++) begins[i] = r.signed();
  // Begins are told from the end of the run before, so lengths come first.
  for (let i = 0; i < n; i++) {
    const to = all[track[i]];
    const begin = ends[track[i]] + begins[i];
    to.begin[slot[i]] = begin;
    to.end[slot[i]] = ends[track[i]] = begin + r.unsigned();
    to.state[slot[i]] = flags[i] & 31;
  }
  for (let i = 0; i < n; i++) all[track[i]].name[slot[i]] = r.unsigned() - 1;
  const last = new Array(names + 1).fill(0);
  for (let i = 0; i < n; i++) {
    const to = all[track[i]];
    if (!(flags[i] & 32)) {
      to.instance[slot[i]] = NaN;
      continue;
    }
    const name = Math.min(to.name[slot[i]] + 1, names);
    let value = r.wide();
    if (typeof value === "number" && typeof last[name] === "number" && Number.isSafeInteger(value + last[name])) {
      value += last[name];
    } else {
      value = BigInt.asIntN(64, BigInt(value) + BigInt(last[name]));
    }
    if (!Number.isSafeInteger(Number(value))) {
      (to.wide ??= new Map()).set(slot[i], BigInt(value));
    } else {
      value = Number(value);
    }
    last[name] = value;
    to.instance[slot[i]] = Number(value);
  }
  for (let i = 0; i < n; i++) {
    if (!(flags[i] & 64)) continue;
    const to = all[track[i]];
    const merged = { count: r.unsigned(), covered: r.unsigned(), occupied: r.unsigned(), longest: r.unsigned() };
    merged.longestAt = to.begin[slot[i]] + r.signed();
    (to.merged ??= new Map()).set(slot[i], merged);
  }
  return all;
}

function decodeMarks(r) {
  const n = r.unsigned();
  const flags = new Uint8Array(n);
  const marks = {
    n,
    at: new Float64Array(n),
    kind: new Uint8Array(n),
    name: new Int32Array(n).fill(-1),
    /** How many a mark stands for and when the last is, where it stands for several. */
    several: new Map(),
  };
  for (let i = 0; i < n; i++) {
    flags[i] = r.unsigned();
    marks.kind[i] = flags[i] & 15;
  }
  let at = 0;
  for (let i = 0; i < n; i++) marks.at[i] = at += r.signed();
  for (let i = 0; i < n; i++) if (flags[i] & 32) marks.name[i] = r.unsigned() - 1;
  for (let i = 0; i < n; i++) {
    if (flags[i] & 16) marks.several.set(i, { count: r.unsigned(), last: marks.at[i] + r.signed() });
  }
  return marks;
}

/** A value that is no number says that it is not known from there on. */
function decodeCurve(r, shape) {
  const curve = { steps: shape === 1, unit: r.text(), limit: r.unsigned() ? r.float() : null };
  const n = r.unsigned();
  const column = () => new Float64Array(n);
  Object.assign(curve, { n, at: column(), value: column(), least: column(), greatest: column(), count: new Uint32Array(n) });
  let at = 0;
  for (let i = 0; i < n; i++) curve.at[i] = at += r.signed();
  const whole = r.unsigned();
  let value = 0;
  for (let i = 0; i < n; i++) curve.value[i] = value = whole ? value + r.signed() : r.float();
  for (let i = 0; i < n; i++) curve.count[i] = r.unsigned();
  for (let i = 0; i < n; i++) {
    const single = curve.count[i] === 1 && !Number.isNaN(curve.value[i]);
    curve.least[i] = single ? curve.value[i] : whole ? curve.value[i] + r.signed() : r.float();
    curve.greatest[i] = single ? curve.value[i] : whole ? curve.value[i] + r.signed() : r.float();
  }
  return curve;
}

function decodeLinks(r) {
  const n = r.unsigned();
  const links = { n, kind: new Uint8Array(n), fromRow: new Uint32Array(n), toRow: new Uint32Array(n) };
  for (const column of [links.kind, links.fromRow, links.toRow]) for (let i = 0; i < n; i++) column[i] = r.unsigned();
  links.fromAt = new Float64Array(n);
  links.toAt = new Float64Array(n);
  let at = 0;
  for (let i = 0; i < n; i++) links.fromAt[i] = at += r.signed();
  for (let i = 0; i < n; i++) links.toAt[i] = links.fromAt[i] + r.signed();
  return links;
}
