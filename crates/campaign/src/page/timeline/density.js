// Airtime by interval, for pictures in which a pixel holds many frames.

const DATA = 0,
  RETRY = 1,
  CONTROL = 2,
  LOST = 3,
  SORTS = 4;
// Intervals of the whole run, fewer where there are many radios: 64 MB at most.
const INTERVALS = 1 << 17,
  CELLS = 1 << 22;

class Density {
  constructor(header) {
    const rows = Math.max(1, header.radios.length + header.nodes.length);
    this.count = Math.max(1024, Math.min(INTERVALS, Math.floor(CELLS / rows)));
    this.width = Math.max(1, header.duration_ns / this.count);
    this.radios = header.radios.map(() => new Float32Array(SORTS * this.count));
    this.nodes = header.nodes.map(() => new Float32Array(2 * this.count));
  }
  /** Whether intervals are at most half a pixel wide: then they do for single frames. */
  isFine(view) {
    return 2 * this.width <= view.span / view.width;
  }
  interval(time) {
    return Math.max(0, Math.min(this.count - 1, Math.floor(time / this.width)));
  }
  /** Adds the airtime of a frame to its interval; a frame longer than that is spread. */
  add(radio, start, shape, sort, sign) {
    const row = this.radios[radio],
      last = this.interval(start + shape.airtime);
    let at = start;
    for (let i = this.interval(start); i <= last; i++) {
      const until = i === last ? start + shape.airtime : (i + 1) * this.width;
      row[i * SORTS + sort] += sign * (until - at);
      at = until;
    }
  }
  mark(node, time, isDrop) {
    this.nodes[node][2 * this.interval(time) + (isDrop ? 1 : 0)] += 1;
  }
}

/** Adds up, for each pixel and sort, the share of a radio's time. `cells` has room for all radios. */
function densityOfBins(view, cells, rows) {
  const { bins } = run;
  cells.fill(0);
  const first = bins.interval(view.from),
    last = bins.interval(view.from + view.span),
    perPixel = view.span / view.width;
  const scale = bins.width / perPixel,
    offset = 0.5 * scale - view.from / perPixel;
  for (const [place, radio] of rows.entries()) {
    const row = bins.radios[radio],
      base = place * view.width * SORTS;
    for (let i = first; i <= last; i++) {
      const pixel = Math.floor(i * scale + offset);
      if (pixel < 0 || pixel >= view.width) continue;
      const cell = base + pixel * SORTS,
        bin = i * SORTS;
      for (let sort = 0; sort < SORTS; sort++) cells[cell + sort] += row[bin + sort] / perPixel;
    }
  }
}

/** The pixels in which each node of `places` has deliveries (1), drops (2) or both (3). */
function marksOf(view, places) {
  const { bins, events } = run,
    marks = new Map(places.map((node) => [node, new Uint8Array(view.width)])),
    perPixel = view.span / view.width;
  if (bins.isFine(view)) {
    const first = bins.interval(view.from),
      last = bins.interval(view.from + view.span);
    for (const [node, own] of marks) {
      const counts = bins.nodes[node];
      for (let i = first; i <= last; i++) {
        const sorts = (counts[2 * i] ? 1 : 0) + (counts[2 * i + 1] ? 2 : 0);
        if (sorts) own[Math.max(0, Math.floor(((i + 0.5) * bins.width - view.from) / perPixel))] |= sorts;
      }
    }
  } else {
    const to = lowerBound(events.time, view.from + view.span);
    for (let i = lowerBound(events.time, view.from); i < to; i++) {
      const own = marks.get(events.node.array[i]),
        pixel = Math.floor((events.time.array[i] - view.from) / perPixel);
      if (own) own[Math.min(pixel, view.width - 1)] |= events.reason.array[i] < 0 ? 1 : 2;
    }
  }
  return marks;
}

/** The same, frame by frame. */
function densityOfFrames(view, cells, placeOf) {
  const { start, shape, radio, retry, lost } = run.frames;
  cells.fill(0);
  const perPixel = view.span / view.width;
  for (let i = firstFrame(view.from), to = lastFrame(view.from + view.span); i < to; i++) {
    const place = placeOf[radio.array[i]];
    if (place < 0) continue;
    const { airtime, isData } = run.shapes[shape.array[i]];
    const sort = lost.array[i] ? LOST : retry.array[i] ? RETRY : isData ? DATA : CONTROL;
    let at = (start.array[i] - view.from) / perPixel;
    const until = Math.min(view.width, at + airtime / perPixel);
    if (until <= 0) continue;
    at = Math.max(0, at);
    const base = place * view.width * SORTS + sort;
    for (let pixel = Math.floor(at); pixel < until; pixel++) {
      cells[base + pixel * SORTS] += Math.min(until, pixel + 1) - Math.max(at, pixel);
    }
  }
}
