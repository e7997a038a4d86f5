// Draws what the view shows: far away the share of time by pixel, closer every frame with its receptions.

// Frames in view up to which each is drawn with its receptions.
const SINGLE = 3000;
const OVERVIEW = 34,
  RULER = 20,
  GAP = 4;
const canvas = document.getElementById("canvas");
const pen = canvas.getContext("2d", { alpha: false });
const view = { from: 0, span: 1e9, width: 100, height: 100, gutter: 130, top: 0, content: 0 };
const shown = { frames: true, queues: true, windows: true, backoff: true, nav: true, resequencer: true };
const picked = { frame: -1, event: -1 };
// Of the rows and of the overview.
const raster = new Raster(),
  strip = new Raster();
let colours = {},
  rows = [],
  cells = new Float32Array(0),
  isDue = false;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = [
    "paper",
    "ink",
    "soft",
    "line",
    "grid",
    "panel",
    "data",
    "again",
    "control",
    "lost",
    "ok",
    "nav",
    "pick",
  ];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  readInks(colours);
}

/** The rows from top to bottom: radios by node with the node's packets, then lanes. */
function layOut() {
  const { header } = run,
    list = [];
  const few = header.radios.length + header.nodes.length <= 12;
  if (shown.frames) {
    header.nodes.forEach((node, index) => {
      header.radios.forEach((radio, r) => {
        if (radio.node === index)
          list.push({ kind: "radio", radio: r, label: `${radio.name} · ${radio.channel}`, height: few ? 34 : 22 });
      });
      list.push({ kind: "node", node: index, label: `${node}: packets`, height: few ? 16 : 12 });
    });
  }
  const lane = (series) => {
    if (shown[series.group] && series.length)
      list.push({
        kind: "series",
        series: [series],
        label: series.name.replace(" of trunk ", " of ").replace(" of link ", " of ").replace(" at ", ", "),
        height: 34,
      });
  };
  run.queues.forEach(lane);
  run.levels.filter((level) => level.group === "queues").forEach(lane);
  if (shown.windows) {
    for (let i = 0; i < run.levels.length; i++) {
      const three = run.levels.slice(i, i + 3);
      if (three[0].group !== "windows" || !three.some((series) => series.length)) continue;
      list.push({
        kind: "series",
        series: three,
        label: `windows of ${three[0].name.split(" of ").pop()}`,
        height: 64,
      });
      i += 2;
    }
  }
  run.levels.filter((level) => level.group === "resequencer").forEach(lane);
  run.backoffs.forEach(lane);
  if (shown.nav)
    header.radios.forEach((radio, r) =>
      list.push({ kind: "nav", radio: r, label: `NAV of ${radio.name}`, height: 16 }),
    );
  let y = 0;
  for (const row of list) {
    row.y = y;
    y += row.height + GAP;
  }
  view.content = y;
  rows = list;
}

const xOf = (time) => view.gutter + ((time - view.from) / view.span) * view.width;
const timeAt = (x) => view.from + ((x - view.gutter) / view.width) * view.span;
const bodyTop = OVERVIEW + RULER;
const yOf = (row) => bodyTop + row.y - view.top;
const isVisible = (row) => yOf(row) + row.height > bodyTop && yOf(row) < view.height;

function draw() {
  isDue = false;
  if (!run.header) return;
  const started = performance.now(),
    ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.parentElement.getBoundingClientRect();
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  view.gutter = width < 600 ? 0 : 190;
  view.width = Math.max(10, Math.floor(width - view.gutter));
  view.height = height;
  view.top = Math.max(0, Math.min(view.top, view.content - (height - bodyTop)));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, width, height);
  pen.font = '12px "Liberation Sans", Arial, sans-serif';
  pen.textBaseline = "middle";
  pen.save();
  pen.beginPath();
  pen.rect(0, bodyTop, width, height - bodyTop);
  pen.clip();
  drawRows();
  pen.restore();
  drawRuler();
  drawOverview();
  performance.mark("picture");
  view.cost = performance.now() - started;
}

function redraw() {
  if (!isDue) {
    isDue = true;
    requestAnimationFrame(draw);
  }
}

function drawRows() {
  const visible = rows.filter(isVisible),
    first = firstFrame(view.from),
    last = lastFrame(view.from + view.span);
  const isSingle = last - first <= SINGLE;
  raster.begin(view.width, view.height - bodyTop, window.devicePixelRatio > 1 ? 2 : 1, "paper");
  for (const row of visible) raster.bar(0, view.width, yOf(row) - bodyTop, row.height, inks.panel);
  if (!isSingle) drawDensity(visible);
  drawEvents(visible);
  for (const row of visible) if (row.kind === "series") drawSeries(row);
  raster.paint(pen, view.gutter, bodyTop);
  if (isSingle) drawFrames(first, last, visible);
  for (const row of visible) {
    if (row.kind === "series" && view.gutter) drawScale(row);
    if (row.kind === "nav" && !isSingle) note(row, "closer, the NAV is drawn here");
  }
  drawPick(visible);
  for (const row of visible) drawLabel(row);
}

function note(row, text) {
  pen.fillStyle = colours.soft;
  pen.fillText(text, view.gutter + 6, yOf(row) + row.height / 2);
}

function drawLabel(row) {
  if (view.gutter) {
    pen.fillStyle = colours.paper;
    pen.fillRect(0, yOf(row), view.gutter, row.height);
    pen.fillStyle = colours.ink;
    pen.fillText(fitting(row.label, view.gutter - 12), 6, yOf(row) + row.height / 2);
  } else {
    pen.globalAlpha = 0.8;
    pen.fillStyle = colours.paper;
    pen.fillRect(0, yOf(row), pen.measureText(row.label).width + 6, 13);
    pen.globalAlpha = 1;
    pen.fillStyle = colours.ink;
    pen.fillText(row.label, 3, yOf(row) + 7);
  }
}

function fitting(text, width) {
  let shorter = text;
  while (shorter.length > 3 && pen.measureText(shorter).width > width) shorter = shorter.slice(0, -2);
  return shorter === text ? text : `${shorter}…`;
}

/** Names of the colours of DATA, RETRY, CONTROL and LOST. */
const SORT_COLOURS = ["data", "again", "control", "lost"];

function drawDensity(visible) {
  const radios = visible.filter((row) => row.kind === "radio");
  const size = radios.length * view.width * SORTS;
  if (cells.length < size) cells = new Float32Array(size);
  if (!run.bins.isFine(view)) {
    const places = new Int32Array(run.header.radios.length).fill(-1);
    radios.forEach((row, place) => {
      places[row.radio] = place;
    });
    densityOfFrames(view, cells, places);
  } else {
    densityOfBins(
      view,
      cells,
      radios.map((row) => row.radio),
    );
  }
  radios.forEach((row, place) => {
    const base = place * view.width * SORTS,
      bottom = yOf(row) + row.height - bodyTop;
    for (let x = 0; x < view.width; x++) {
      let below = 0;
      for (let sort = 0; sort < SORTS; sort++) {
        const share = cells[base + x * SORTS + sort];
        if (share <= 0) continue;
        const from = Math.min(1, below) * row.height,
          to = Math.min(1, below + share) * row.height;
        below += share;
        if (to > from) raster.bar(x, 1, bottom - to, to - from, inks[SORT_COLOURS[sort]]);
      }
    }
  });
}

function drawFrames(first, last, visible) {
  const { start, radio, retry, lost } = run.frames,
    byRadio = [],
    navs = [],
    [data, again, control, bad] = SORT_COLOURS.map((name) => colours[name]);
  for (const row of visible) {
    if (row.kind === "radio") byRadio[row.radio] = row;
    if (row.kind === "nav") navs[row.radio] = row;
  }
  const reach = navs.length ? firstFrame(view.from - 40e6) : first;
  for (let i = Math.min(first, reach); i < last; i++) {
    const shape = shapeOf(i),
      x = xOf(start.at(i)),
      wide = (shape.airtime / view.span) * view.width;
    const row = byRadio[radio.at(i)];
    if (row && i >= first) {
      const tall = Math.round(row.height * 0.6);
      pen.fillStyle = lost.at(i) ? bad : retry.at(i) ? again : shape.isData ? data : control;
      pen.fillRect(x, yOf(row), Math.max(wide, 0.7), tall);
      if (wide > 34) {
        const seq = run.frames.seq.at(i),
          text = seq >= 0 && wide > 64 ? `${shape.kind} ${seq}` : shape.kind;
        pen.fillStyle = colours.paper;
        pen.fillText(text, Math.max(x, view.gutter) + 3, yOf(row) + tall / 2 + 1);
      }
    }
    eachReception(i, (reception, radios) => {
      drawReception(i, reception, radios, byRadio, navs, shape, wide);
    });
  }
}

function drawReception(frame, reception, radios, byRadio, navs, shape, wide) {
  const result = run.receptions.result.at(reception),
    end = run.receptions.end.at(reception),
    peer = run.frames.peer.at(frame);
  for (const radio of radios) {
    const row = byRadio[radio];
    if (row) {
      const top = yOf(row) + row.height * 0.66,
        tall = row.height * (radio === peer || result !== OK ? 0.34 : 0.18);
      pen.fillStyle = result !== OK ? colours.lost : radio === peer || peer < 0 ? colours.ok : colours.line;
      pen.fillRect(xOf(end) - wide, top, Math.max(wide, 0.7), tall);
    }
    if (navs[radio] && result === OK && radio !== peer && shape.nav > 0) {
      pen.fillStyle = colours.nav;
      pen.fillRect(
        xOf(end),
        yOf(navs[radio]),
        Math.max((shape.nav / view.span) * view.width, 0.7),
        navs[radio].height,
      );
    }
  }
}

/** Deliveries and drops of the nodes in view. */
function drawEvents(visible) {
  const nodes = visible.filter((row) => row.kind === "node"),
    marks = marksOf(
      view,
      nodes.map((row) => row.node),
    );
  for (const row of nodes) {
    const y = yOf(row) - bodyTop;
    marks.get(row.node).forEach((sorts, x) => {
      if (sorts & 1) raster.bar(x, 1, y + row.height / 2, row.height / 2, inks.ok);
      if (sorts & 2) raster.bar(x, 1, y, row.height / 2, inks.lost);
    });
  }
}

/** The largest number on a row's scale. */
const topOf = (row) => Math.max(1, ...row.series.map((series) => series.top));

/** Steps of one or several numbers; where a pixel holds many, from the smallest to the largest. */
function drawSeries(row) {
  const tints = [inks.data, inks.control, inks.again],
    bottom = yOf(row) + row.height - bodyTop,
    scale = (row.height - 2) / topOf(row),
    perPixel = view.span / view.width;
  row.series.forEach((series, index) => {
    const ink = tints[index % 3],
      isSpikes = series.group === "backoff";
    let i = lowerBound(series.time, view.from),
      value = isSpikes || i === 0 ? 0 : series.value.at(i - 1);
    for (let x = 0; x < view.width; x++) {
      const next = series.firstFrom(view.from + (x + 1) * perPixel, i);
      let low = value,
        high = value;
      if (next > i) {
        const [least, most] = series.extremes(i, next);
        low = Math.min(low, least);
        high = Math.max(high, most);
        value = isSpikes ? 0 : series.value.at(next - 1);
        i = next;
      }
      if (isSpikes && high <= 0) continue;
      const y = bottom - 1 - high * scale;
      raster.bar(x, 1, y, isSpikes ? bottom - y : Math.max(1.5, (high - low) * scale), ink);
    }
  });
}

function drawScale(row) {
  const top = topOf(row),
    text = row.series[0].unit === "byte" ? `${Math.round(top / 1e3)} kB` : `${top}`;
  pen.fillStyle = colours.panel;
  pen.fillRect(view.gutter, yOf(row), pen.measureText(text).width + 6, 14);
  pen.fillStyle = colours.soft;
  pen.fillText(text, view.gutter + 3, yOf(row) + 7);
}

function drawPick(visible) {
  const time =
    picked.frame >= 0
      ? run.frames.start.at(picked.frame)
      : picked.event >= 0
        ? run.events.time.at(picked.event)
        : -1;
  if (time < 0) return;
  const x = xOf(time);
  pen.strokeStyle = colours.pick;
  pen.lineWidth = 1;
  pen.strokeRect(x, bodyTop - 1, 0.01, view.height);
  if (picked.frame < 0) return;
  const row = visible.find((other) => other.kind === "radio" && other.radio === run.frames.radio.at(picked.frame));
  if (!row) return;
  pen.lineWidth = 2;
  pen.strokeRect(
    x - 1,
    yOf(row) - 1,
    Math.max(4, (shapeOf(picked.frame).airtime / view.span) * view.width + 2),
    row.height * 0.6 + 2,
  );
}

/** A time in seconds with as many digits as the view needs. */
function clock(ns, step = view.span / 10) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

function drawRuler() {
  const wanted = view.span / Math.max(2, Math.floor(view.width / 130));
  const power = 10 ** Math.floor(Math.log10(wanted)),
    step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted);
  pen.fillStyle = colours.paper;
  pen.fillRect(0, 0, view.gutter + view.width, bodyTop);
  for (let time = Math.ceil(view.from / step) * step; time <= view.from + view.span; time += step) {
    const x = xOf(time);
    pen.fillStyle = colours.line;
    pen.fillRect(x, OVERVIEW, 1, RULER);
    pen.fillStyle = colours.soft;
    pen.fillText(clock(time, step), x + 3, OVERVIEW + RULER / 2);
  }
}

/** The whole run, the part that is in view, and what was found. */
function drawOverview() {
  const { bins } = run,
    total = run.header.duration_ns,
    at = (time) => view.gutter + (time / total) * view.width;
  if (!run.overview || run.overview.width !== view.width || run.overview.frames !== run.frames.length) {
    const shares = new Float32Array(view.width);
    for (const row of bins.radios) {
      for (let i = 0; i < bins.count; i++) {
        const pixel = Math.floor((i / bins.count) * view.width);
        shares[pixel] += row[i * SORTS] + row[i * SORTS + 1] + row[i * SORTS + 2] + row[i * SORTS + 3];
      }
    }
    run.overview = { width: view.width, frames: run.frames.length, shares, top: Math.max(...shares) || 1 };
  }
  const scale = (OVERVIEW - 10) / run.overview.top;
  strip.begin(view.width, OVERVIEW - 6, 1, "paper");
  run.overview.shares.forEach((share, x) => {
    if (share > 0) strip.bar(x, 1, OVERVIEW - 6 - share * scale, share * scale, inks.control);
  });
  strip.paint(pen, view.gutter, 0);
  pen.fillStyle = colours.pick;
  for (const x of run.foundAt ?? []) pen.fillRect(view.gutter + x * view.width, OVERVIEW - 5, 1, 4);
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1.5;
  pen.strokeRect(at(view.from), 2, Math.max(2, at(view.from + view.span) - at(view.from)), OVERVIEW - 4);
}
