// Instants and lengths as text, exact to the last digit. Offsets are Numbers from the begin of the picture; ticks of the recording are BigInt. Not for positions on the screen (view.js).

/** The greatest offset of the data: what lies there lies there or further away. */
const FAR = 2 ** 52 - 1;

const UNITS = ["s", "ms", "us", "ns", "ps"];
const DECIMALS = { s: 0, ms: 3, us: 6, ns: 9, ps: 12 };

/** Groups of three digits, kept together by narrow spaces. */
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
const groupedFraction = (digits) => digits.replace(/(\d{3})(?=\d)/g, "$1\u202f");

class Clock {
  constructor(scale, from) {
    this.scale = scale;
    this.from = from;
  }

  /** Ticks in a unit. */
  per(unit) {
    return 10n ** BigInt(DECIMALS[this.scale] - DECIMALS[unit]);
  }

  /** The units that the scale can tell, greatest first. */
  units() {
    return UNITS.filter((unit) => DECIMALS[unit] <= DECIMALS[this.scale]);
  }

  /** The ticks of the recording at an offset. */
  ticks(offset) {
    return this.from + BigInt(Math.round(offset));
  }

  /** The greatest unit that ticks have one of. */
  unitOf(ticks) {
    const size = ticks < 0n ? -ticks : ticks;
    return this.units().find((unit) => size >= this.per(unit)) ?? this.scale;
  }

  /** All digits in a unit, or so many after the point. */
  decimal(ticks, unit, places) {
    const per = this.per(unit);
    const size = ticks < 0n ? -ticks : ticks;
    const width = DECIMALS[this.scale] - DECIMALS[unit];
    let fraction = width ? (size % per).toString().padStart(width, "0") : "";
    fraction = places === undefined ? fraction.replace(/0+$/, "") : fraction.slice(0, places);
    const point = fraction ? "." + groupedFraction(fraction) : "";
    return (ticks < 0n ? "−" : "") + grouped((size / per).toString()) + point;
  }

  inUnit(ticks) {
    const unit = this.unitOf(ticks);
    return `${this.decimal(ticks, unit)}\u00a0${unit}`;
  }

  inTicks(ticks) {
    return `${ticks < 0n ? "−" : ""}${grouped((ticks < 0n ? -ticks : ticks).toString())}\u00a0${this.scale}`;
  }

  /** An instant, in the unit that suits it. */
  instant(offset) {
    const side = offset >= FAR ? "after " : offset <= -FAR ? "before " : "";
    return side + this.inUnit(this.ticks(offset));
  }

  /** An instant in ticks. */
  exactInstant(offset) {
    return this.inTicks(this.ticks(offset));
  }

  /** A length, in the unit that suits it. */
  length(ticks) {
    return (ticks >= FAR ? "more than " : "") + this.inUnit(BigInt(Math.round(ticks)));
  }

  exactLength(ticks) {
    return this.inTicks(BigInt(Math.round(ticks)));
  }

  /** A length in at most five digits, for places where there is little room. */
  roughly(ticks) {
    const unit = this.unitOf(BigInt(Math.round(ticks)));
    return `${Number((ticks / Number(this.per(unit))).toPrecision(4))}\u00a0${unit}`;
  }

  /** How often something happens that takes so long. */
  frequency(ticks) {
    if (!ticks) return "–";
    let value = 10 ** DECIMALS[this.scale] / Math.abs(ticks);
    for (const unit of ["Hz", "kHz", "MHz", "GHz"]) {
      if (value < 1000 || unit === "GHz") return `${Number(value.toPrecision(6))}\u00a0${unit}`;
      value /= 1000;
    }
  }

  /** The offset of a text like `412ms`, `1.5 us` or `1200` (ticks); null when it is none. */
  parse(text) {
    const match = /^\s*([+-]?)(\d[\d\s\u202f_]*)(?:\.(\d+))?\s*(s|ms|us|µs|μs|ns|ps)?\s*$/.exec(text);
    if (!match) return null;
    const unit = (match[4] ?? this.scale).replace(/[µμ]/, "u");
    const places = DECIMALS[this.scale] - DECIMALS[unit];
    if (places < 0) return null;
    const digits = match[2].replace(/\D/g, "") + (match[3] ?? "").padEnd(places, "0").slice(0, places);
    const offset = Number((match[1] === "-" ? -1n : 1n) * BigInt(digits) - this.from);
    return Number.isSafeInteger(offset) ? offset : null;
  }
}
