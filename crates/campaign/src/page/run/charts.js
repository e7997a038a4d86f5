// Lines over time. All charts show the same stretch of it, and the same mark.

const EDGE = { left: 58, right: 12, top: 8, bottom: 34 };
// More lines than this are not shown at first: they could not be told apart.
const LINES_SHOWN = 8;

const time = { from: 0, to: 1, end: 1, mark: null, charts: [] };

function showTime(from, to) {
  const span = Math.min(Math.max(to - from, time.end * 1e-4), time.end);
  time.from = Math.min(Math.max(from, 0), time.end - span);
  time.to = time.from + span;
  time.charts.forEach((chart) => chart.redraw());
}

function mark(at) {
  time.mark = at;
  time.charts.forEach((chart) => { chart.read(); chart.redraw(); });
}

// The time of a line's point.
const timeOf = (line, i) => ((line.x ? line.x[i] : i) + line.at) * line.interval;

// The place of the last point not after `at`.
function placeOf(line, at) {
  let low = 0, high = line.y.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (timeOf(line, middle) <= at) low = middle; else high = middle - 1;
  }
  return low;
}

// The place of the point nearest to `at`.
function nearest(line, at) {
  const low = placeOf(line, at), next = Math.min(low + 1, line.y.length - 1);
  return Math.abs(timeOf(line, next) - at) < Math.abs(timeOf(line, low) - at) ? next : low;
}

// The lines that are shown at first: those of the largest values.
function firstShown(lines) {
  const size = (line) => line.y.reduce((sum, y) => sum + Math.abs(y || 0), 0) / line.y.length;
  const order = lines.map((line, i) => [size(line), i]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  return new Set(order.slice(0, LINES_SHOWN).map(([, i]) => i));
}

class Chart {
  constructor(data) {
    this.data = data;
    this.shown = firstShown(data.lines);
    this.brushed = null;
    const label = data.title + " over time of " + data.lines.length + (data.lines.length === 1 ? " line" : " lines");
    [this.canvas, this.redraw] = canvas(190, label, (context, wide, high) => this.draw(context, wide, high));
    this.readout = element("p", { class: "read" });
    this.listen();
  }

  // The chart with its heading and legend.
  place() {
    const { title, of, lines } = this.data;
    const heading = element("h3", {}, title);
    const thinned = Math.max(0, ...lines.map((line) => line.thinned || 0));
    const notes = [of, thinned ? "thinned from " + thinned + " values a line: each group's smallest and largest" : ""];
    heading.append(element("small", {}, notes.filter((note) => note).join("; ")));
    this.read();
    return element("figure", { class: "chart" }, heading, this.canvas, this.readout, this.legend());
  }

  // A button for each line, and where there are many three for all.
  legend() {
    const { lines } = this.data;
    const list = element("div", { class: "legend", role: "group", "aria-label": "Lines of " + this.data.title });
    const buttons = lines.map((line, i) => {
      const swatch = element("i", { "aria-hidden": "true" });
      swatch.style.borderTop = "3px " + (dashes(i).length ? "dashed" : "solid") + " var(--line-" + (i % 8) + ")";
      const button = element("button", { type: "button" }, swatch, line.name);
      button.addEventListener("click", () => {
        if (!this.shown.delete(i)) this.shown.add(i);
        renew();
      });
      return button;
    });
    const renew = () => {
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(this.shown.has(i))));
      this.read();
      this.redraw();
    };
    const choose = (name, chosen) => {
      const button = element("button", { type: "button", class: "all" }, name);
      button.addEventListener("click", () => { this.shown = chosen(); renew(); });
      return button;
    };
    if (lines.length > LINES_SHOWN) {
      list.append(
        choose("largest " + LINES_SHOWN, () => firstShown(lines)),
        choose("all " + lines.length, () => new Set(lines.keys())),
        choose("none", () => new Set()),
      );
    }
    list.append(...buttons);
    renew();
    return list;
  }

  // The values at the mark, or how to get them.
  read() {
    const { lines, unit } = this.data;
    if (time.mark === null) {
      this.readout.textContent = "\u00a0";
      return;
    }
    const chosen = lines.filter((_, i) => this.shown.has(i));
    const values = chosen.slice(0, LINES_SHOWN).map((line) =>
      line.name + " " + shown(line.y[nearest(line, time.mark)], unit));
    const more = chosen.length > LINES_SHOWN ? ", \u2026" : "";
    this.readout.textContent = "at " + shown(time.mark, "s") + ": " + values.join(", ") + more;
  }

  // Smallest and largest value in sight; zero belongs to it, but for decibels.
  range() {
    let low = this.data.unit === "dB" ? Infinity : 0, high = -Infinity;
    this.data.lines.forEach((line, i) => {
      if (!this.shown.has(i)) return;
      for (let k = placeOf(line, time.from); k < line.y.length && timeOf(line, k) <= time.to; k++) {
        const y = line.y[k];
        if (y === null) continue;
        low = Math.min(low, y);
        high = Math.max(high, y);
      }
    });
    if (high === -Infinity) [low, high] = [0, 1];
    if (high <= low) high = low + (Math.abs(low) || 1);
    return [low, high + (high - low) * 0.06];
  }

  draw(context, wide, high) {
    const [low, top] = this.range();
    const right = wide - EDGE.right, bottom = high - EDGE.bottom;
    this.x = (t) => EDGE.left + (t - time.from) / (time.to - time.from) * (right - EDGE.left);
    this.t = (x) => time.from + (x - EDGE.left) / (right - EDGE.left) * (time.to - time.from);
    const y = (value) => bottom - (value - low) / (top - low) * (bottom - EDGE.top);
    const [factor, unit] = scaleOf(this.data.unit, Math.max(Math.abs(low), Math.abs(top)));
    context.clearRect(0, 0, wide, high);
    context.fillStyle = colour("--soft");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of ticks(low / factor, top / factor, 4)) {
      context.strokeStyle = colour("--grid");
      context.beginPath();
      context.moveTo(EDGE.left, y(tick * factor));
      context.lineTo(right, y(tick * factor));
      context.stroke();
      context.fillText(digits(tick), EDGE.left - 6, y(tick * factor));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of ticks(time.from, time.to, wide < 500 ? 4 : 9)) {
      context.fillText(String(Number(tick.toPrecision(6))), this.x(tick), bottom + 5);
    }
    context.textAlign = "right";
    context.fillText("time [s]", right, bottom + 19);
    context.textAlign = "left";
    context.fillText(unit ? "[" + unit + "]" : "", 2, bottom + 19);
    context.save();
    context.beginPath();
    context.rect(EDGE.left, 0, right - EDGE.left, bottom + 1);
    context.clip();
    this.data.lines.forEach((line, i) => { if (this.shown.has(i)) this.line(context, line, i, y); });
    this.overlay(context, bottom);
    context.restore();
  }

  line(context, line, index, y) {
    context.strokeStyle = lineColour(index);
    context.fillStyle = lineColour(index);
    context.setLineDash(dashes(index));
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.beginPath();
    let drawn = 0;
    const last = Math.min(line.y.length - 1, placeOf(line, time.to) + 1);
    for (let k = placeOf(line, time.from); k <= last; k++) {
      const value = line.y[k];
      if (value === null) { drawn = 0; continue; }
      const place = [this.x(timeOf(line, k)), y(value)];
      if (drawn++) context.lineTo(...place); else context.moveTo(...place);
      // A value between two gaps has no line to be seen by.
      const alone = drawn === 1 && (k === last || line.y[k + 1] === null);
      if (alone) context.fillRect(place[0] - 1, place[1] - 1, 2.5, 2.5);
    }
    context.stroke();
    context.setLineDash([]);
  }

  // The mark, and the stretch that is being dragged over.
  overlay(context, bottom) {
    if (this.brushed) {
      context.fillStyle = colour("--brush");
      const [a, b] = this.brushed;
      context.fillRect(Math.min(a, b), EDGE.top, Math.abs(b - a), bottom - EDGE.top);
    }
    if (time.mark === null) return;
    context.strokeStyle = colour("--soft");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(this.x(time.mark), EDGE.top);
    context.lineTo(this.x(time.mark), bottom);
    context.stroke();
  }

  listen() {
    const zoom = (factor, x) => {
      const at = this.t(x);
      showTime(at - (at - time.from) / factor, at + (time.to - at) / factor);
    };
    const span = () => time.to - time.from;
    gestures(this.canvas, {
      zoom,
      pan: (dx) => {
        const by = this.t(0) - this.t(dx);
        showTime(time.from + by, time.to + by);
      },
      point: (x) => mark(Math.min(Math.max(this.t(x), time.from), time.to)),
      brush: (from, to, done) => {
        this.brushed = done ? null : [from, to];
        if (done) showTime(this.t(Math.min(from, to)), this.t(Math.max(from, to))); else this.redraw();
      },
      click: () => { this.brushed = null; this.redraw(); },
      leave: () => { if (document.activeElement !== this.canvas) mark(null); },
      reset: () => showTime(0, time.end),
    });
    this.canvas.addEventListener("keydown", (event) => {
      const step = (event.key === "ArrowLeft" ? -1 : 1) * span();
      const keys = {
        "+": () => zoom(1.5, this.x((time.from + time.to) / 2)),
        "=": () => zoom(1.5, this.x((time.from + time.to) / 2)),
        "-": () => zoom(1 / 1.5, this.x((time.from + time.to) / 2)),
        "0": () => showTime(0, time.end),
        "ArrowLeft": () => this.arrow(event, step),
        "ArrowRight": () => this.arrow(event, step),
        "Escape": () => mark(null),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  arrow(event, step) {
    if (!event.shiftKey) return showTime(time.from + step / 5, time.to + step / 5);
    const at = time.mark === null ? (time.from + time.to) / 2 : time.mark + step / 100;
    mark(Math.min(Math.max(at, time.from), time.to));
  }
}

// Puts the charts of a cell into the page.
function showCharts(cell, into) {
  time.charts = cell.charts.map((data) => new Chart(data));
  into.replaceChildren(...time.charts.map((chart) => chart.place()));
  if (cell.left) {
    into.append(element("p", {}, "The plots of this cell are left out, so that the page stays small: "
      + "flows.csv and courses.json beside it have the values."));
  } else if (time.charts.length === 0) {
    into.append(element("p", {}, "The result has no series."));
  }
}
