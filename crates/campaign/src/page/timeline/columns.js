"use strict";
// The run in columns: a typed array for each field, so that a million frames take some 50 MB and are scanned in
// milliseconds.

/** A column that grows. */
class Column {
  constructor(Type) {
    this.length = 0;
    this.array = new Type(1 << 12);
  }
  push(value) {
    if (this.length === this.array.length) {
      const larger = new this.array.constructor(2 * this.length);
      larger.set(this.array);
      this.array = larger;
    }
    this.array[this.length++] = value;
  }
  at(index) {
    return this.array[index];
  }
}

/** Columns of one kind of record, pushed together: `{time: Float64Array, ...}`. */
function table(types) {
  const [first] = Object.keys(types);
  const columns = Object.fromEntries(Object.entries(types).map(([name, Type]) => [name, new Column(Type)]));
  Object.defineProperty(columns, "length", {
    get() {
      return this[first].length;
    },
  });
  return columns;
}

/** A packet is known by stream (4 * flow + role), number and the time at which it was made. */
const PACKET = { stream: Int32Array, number: Float64Array, created: Float64Array };

/** Everything that the blocks bring. */
const run = {
  header: null,
  end: null,
  frames: table({
    start: Float64Array,
    shape: Int32Array,
    radio: Uint16Array,
    peer: Int32Array,
    seq: Int32Array,
    retry: Uint8Array,
    drawn: Int32Array,
    window: Int32Array,
    first: Int32Array,
    lost: Uint8Array,
    ...PACKET,
  }),
  // Receptions of each frame are a list: `first` of the frame, then `next`. A negative radio is a set of radios.
  receptions: table({
    end: Float64Array,
    frame: Int32Array,
    radio: Int32Array,
    signal: Uint8Array,
    result: Uint8Array,
    next: Int32Array,
  }),
  queued: table({ time: Float64Array, radio: Uint16Array, ahead: Int32Array, ...PACKET }),
  finished: table({ time: Float64Array, radio: Uint16Array, outcome: Uint8Array, attempts: Int32Array, ...PACKET }),
  // Deliveries have the reason -1.
  events: table({ time: Float64Array, node: Uint16Array, reason: Int8Array, ...PACKET }),
  shapes: [],
  sets: [],
  series: [],
  latest: 0,
  longest: 0,
};

// Results of receptions; the last is that of a frame without any at its addressee.
const OK = 0,
  COLLISION = 1,
  CHANNEL = 2,
  UNHEARD = 3;
const RESPONSE = -2,
  IMMEDIATE = -1;

// The extremes of every 8, 64, 512, 4096 and 32768 values are kept.
const FOLD = 3,
  FOLDS = 5;

/** A number over time, with the extremes of stretches of values, so that far zoom looks at few. */
class Series {
  constructor(name, unit, group) {
    Object.assign(this, {
      name,
      unit,
      group,
      time: new Column(Float64Array),
      value: new Column(Float64Array),
      top: 0,
    });
    this.low = Array.from({ length: FOLDS }, () => new Column(Float32Array));
    this.high = Array.from({ length: FOLDS }, () => new Column(Float32Array));
  }
  get length() {
    return this.time.length;
  }
  push(time, value) {
    const index = this.time.length;
    this.time.push(time);
    this.value.push(value);
    this.top = Math.max(this.top, value);
    for (let level = 0; level < FOLDS; level++) {
      const block = index >> (FOLD * (level + 1)),
        low = this.low[level],
        high = this.high[level];
      if (block === low.length) {
        low.push(value);
        high.push(value);
        continue;
      }
      // A stretch that has these extremes already has told all that hold it.
      const isNews = value < low.array[block] || value > high.array[block];
      if (!isNews) break;
      low.array[block] = Math.min(low.array[block], value);
      high.array[block] = Math.max(high.array[block], value);
    }
  }
  /** The first index from `from` on whose time is not below `time`. */
  firstFrom(time, from) {
    let step = 1,
      low = from,
      high = from;
    while (high < this.length && this.time.array[high] < time) {
      low = high + 1;
      high += step;
      step *= 2;
    }
    high = Math.min(high, this.length);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time.array[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  /** The extremes of the values [from, to). */
  extremes(from, to) {
    let low = Infinity,
      high = -Infinity,
      i = from;
    while (i < to) {
      let level = 0;
      while (level < FOLDS && (i & ((1 << (FOLD * (level + 1))) - 1)) === 0 && i + (1 << (FOLD * (level + 1))) <= to)
        level++;
      const least = level ? this.low[level - 1].array[i >> (FOLD * level)] : this.value.array[i],
        most = level ? this.high[level - 1].array[i >> (FOLD * level)] : this.value.array[i];
      if (least < low) low = least;
      if (most > high) high = most;
      i += 1 << (FOLD * level);
    }
    return [low, high];
  }
}

/** The first index of a sorted column at which the value is not below `value`. */
function lowerBound(column, value) {
  let low = 0,
    high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column.array[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first frame that may be on the air at `time` or later. Starts are sorted but for frames that were committed to
 * ahead of others, a SIFS or a turnaround at most. */
const AHEAD = 100e3;
const firstFrame = (time) => lowerBound(run.frames.start, time - run.longest - AHEAD);
const lastFrame = (time) => lowerBound(run.frames.start, time + AHEAD);

/** Receptions are sorted by their ends, but for those that others than the addressee share: they come so much later. */
const GATHERED = 10e3;

const shapeOf = (frame) => run.shapes[run.frames.shape.at(frame)];
const endOf = (frame) => run.frames.start.at(frame) + shapeOf(frame).airtime;
const radioName = (radio) => (radio < 0 ? "everybody" : run.header.radios[radio].name);
/** Where a packet waits that a radio gets: the links of a device have one queue. */
const queueName = (radio) => run.header.radios[radio].queue ?? radioName(radio);

/** Calls `visit(reception, radios)` for each reception of a frame, until it returns true. */
function eachReception(frame, visit) {
  const { receptions } = run;
  for (let i = run.frames.first.at(frame); i >= 0; i = receptions.next.at(i)) {
    const radio = receptions.radio.at(i);
    if (visit(i, radio < 0 ? run.sets[-1 - radio] : [radio])) return;
  }
}

/** The reception of a frame at a radio, or -1. */
function receptionAt(frame, radio) {
  let found = -1;
  eachReception(frame, (i, radios) => {
    if (radios.includes(radio)) found = i;
    return found >= 0;
  });
  return found;
}
