// What people do: zoom, move, pick, search; and the address that names the place.

const element = (id) => document.getElementById(id);
const LEGEND = [
  ["data", "data"],
  ["again", "data sent again"],
  ["control", "RTS, CTS, ACK"],
  ["lost", "not received; dropped"],
  ["ok", "received by its addressee; delivered"],
  ["line", "heard by others"],
  ["nav", "NAV"],
];
let results = null,
  place = -1;

function onBegin() {
  readColours();
  element("title").textContent = run.header.title;
  element("legend").append(
    ...LEGEND.map(([colour, text]) => make("li", {}, make("i", { style: `background: var(--${colour})` }), text)),
  );
  for (const name of Object.keys(shown)) {
    const button = make("button", { type: "button", "aria-pressed": "true" }, name === "nav" ? "NAV" : name);
    button.addEventListener("click", () => {
      shown[name] = !shown[name];
      button.setAttribute("aria-pressed", String(shown[name]));
      layOut();
      redraw();
    });
    element("groups").append(button);
  }
  view.from = 0;
  view.span = Math.max(1, run.header.duration_ns);
  layOut();
  redraw();
}

let blocks = 0;

function onData() {
  blocks += 1;
  if (blocks % 32 === 1) {
    layOut();
    redraw();
  }
}

function onEnd() {
  layOut();
  const { frames, full_ns: full } = run.end;
  const count = (number) => number.toLocaleString("en");
  const here = count(run.frames.length);
  element("state").textContent =
    full === null
      ? `${here} frames, ${count(run.events.length)} packets`
      : `the first ${here} of ${count(frames)} frames, until ${(full / 1e9).toFixed(3)} s`;
  performance.mark("all");
  readAddress();
  redraw();
}

/** An element with attributes and children. */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// --- moving

function setView(from, span) {
  const total = run.header.duration_ns;
  view.span = Math.max(200, Math.min(span, total));
  view.from = Math.max(0, Math.min(from, total - view.span));
  redraw();
  nameAddress();
}

/** Zooms by a factor, about the time below `x`. */
function zoom(factor, x = view.gutter + view.width / 2) {
  const time = timeAt(x),
    span = Math.max(200, Math.min(view.span * factor, run.header.duration_ns));
  setView(time - ((time - view.from) * span) / view.span, span);
}

canvas.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      setView(view.from + ((event.deltaX || event.deltaY) / view.width) * view.span, view.span);
    else if (event.offsetX < view.gutter) {
      view.top += event.deltaY;
      redraw();
    } else zoom(Math.exp(event.deltaY * 0.002), event.offsetX);
  },
  { passive: false },
);

const pointers = new Map();
let dragged = 0;

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  dragged = 0;
  if (event.offsetY < OVERVIEW) lookAt(((event.offsetX - view.gutter) / view.width) * run.header.duration_ns);
});

canvas.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const [dx, dy] = [event.offsetX - before.offsetX, event.offsetY - before.offsetY];
  dragged += Math.abs(dx) + Math.abs(dy);
  if (before.offsetY < OVERVIEW && pointers.size === 1) {
    lookAt(((event.offsetX - view.gutter) / view.width) * run.header.duration_ns);
    return;
  }
  if (pointers.size === 2) {
    const other = [...pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    const spread = (a, b) => Math.max(20, Math.hypot(a.offsetX - b.offsetX, a.offsetY - b.offsetY));
    zoom(spread(before, other) / spread(event, other), (event.offsetX + other.offsetX) / 2);
  }
  view.top -= dy / pointers.size;
  setView(view.from - (dx / pointers.size / view.width) * view.span, view.span);
  pointers.set(event.pointerId, event);
});

function release(event) {
  const was = pointers.delete(event.pointerId);
  if (was && event.type === "pointerup" && dragged < 5 && event.offsetY > bodyTop)
    pickAt(event.offsetX, event.offsetY);
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);

const lookAt = (time) => setView(time - view.span / 2, view.span);

const KEYS = {
  ArrowLeft: () => setView(view.from - view.span / 8, view.span),
  ArrowRight: () => setView(view.from + view.span / 8, view.span),
  ArrowUp: () => {
    view.top -= 40;
    redraw();
  },
  ArrowDown: () => {
    view.top += 40;
    redraw();
  },
  PageUp: () => {
    view.top -= view.height / 2;
    redraw();
  },
  PageDown: () => {
    view.top += view.height / 2;
    redraw();
  },
  "+": () => zoom(0.6),
  "=": () => zoom(0.6),
  "-": () => zoom(1 / 0.6),
  0: () => setView(0, run.header.duration_ns),
  Home: () => lookAt(0),
  End: () => lookAt(run.header.duration_ns),
  n: () => step(1),
  p: () => step(-1),
  j: () => step(1, true),
  k: () => step(-1, true),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input")) {
    if (event.key === "Escape") canvas.focus();
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      search(-1);
    }
    return;
  }
  if (event.key === "/") {
    event.preventDefault();
    element("query").focus();
  } else if (KEYS[event.key] && !(event.target.matches("button") && event.key.startsWith("Page"))) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

// --- picking

/** The frame drawn at a point: of the row's radio, or one that it hears. */
function pickAt(x, y) {
  const row = rows.find((other) => yOf(other) <= y && y < yOf(other) + other.height);
  if (!row || x < view.gutter) return;
  const time = timeAt(x),
    slack = (3 / view.width) * view.span;
  if (row.kind === "node") {
    pickEvent(nearestEvent(row.node, time));
    return;
  }
  const radio = row.radio ?? -1;
  let best = -1,
    distance = Infinity;
  const isAtTop = y < yOf(row) + row.height * 0.63;
  for (let i = firstFrame(time - slack), last = lastFrame(time + slack); i < last; i++) {
    const own = run.frames.radio.at(i) === radio;
    if (radio >= 0 && !own && (isAtTop || receptionAt(i, radio) < 0)) continue;
    const [start, until] = [run.frames.start.at(i), endOf(i)];
    const away = time < start ? start - time : time > until ? time - until : 0;
    if (away < distance) [best, distance] = [i, away];
  }
  if (best >= 0) pick(best);
  else step(1, radio >= 0, lowerBound(run.frames.start, time) - 1, radio);
}

function nearestEvent(node, time) {
  const { events } = run,
    at = lowerBound(events.time, time);
  for (let away = 0; away < 20000; away++) {
    for (const i of [at + away, at - 1 - away])
      if (i >= 0 && i < events.length && events.node.at(i) === node) return i;
  }
  return -1;
}

/** The next or previous frame, of the same radio where asked. */
function step(
  direction,
  sameRadio = false,
  from = picked.frame,
  radio = from >= 0 ? run.frames.radio.at(from) : -1,
) {
  let i = from >= 0 ? from + direction : lowerBound(run.frames.start, view.from) + (direction > 0 ? 0 : -1);
  while (sameRadio && radio >= 0 && i >= 0 && i < run.frames.length && run.frames.radio.at(i) !== radio)
    i += direction;
  if (i >= 0 && i < run.frames.length) pick(i, true);
}

/** Brings a stretch of time into view. */
function reveal(time, length) {
  const span = Math.min(view.span, Math.max(40 * length, 5e6));
  if (time < view.from || time + length > view.from + view.span || span < view.span) setView(time - span / 2, span);
}

function pick(frame, move = false) {
  picked.frame = frame;
  picked.event = -1;
  const { frames } = run,
    shape = shapeOf(frame),
    start = frames.start.at(frame),
    packet = packetOf(frames, frame);
  if (move) reveal(start, shape.airtime);
  const { text } = fate(frame),
    drawn = frames.drawn.at(frame);
  const fields = [
    ["begins", clock(start, 10)],
    ["on the air", lasting(shape.airtime)],
    ["from", radioName(frames.radio.at(frame))],
    ["to", radioName(frames.peer.at(frame))],
    ["channel", shape.channel],
    ["size", `${shape.size} byte`],
    ["rate", `${shape.rate} Mbit/s`],
    ["duration field", lasting(shape.nav)],
  ];
  if (shape.mpdus) fields.push(["MPDUs", shape.mpdus]);
  if (frames.seq.at(frame) >= 0) fields.push(["sequence number", frames.seq.at(frame)]);
  if (frames.retry.at(frame)) fields.push(["retry", frames.retry.at(frame)]);
  fields.push([
    "access",
    drawn === RESPONSE
      ? "SIFS after another frame"
      : drawn === IMMEDIATE
        ? "medium was idle"
        : `backoff ${drawn} of window ${frames.window.at(frame)}`,
  ]);
  if (shape.dozes) fields.push(["power management", "its sender dozes from now on"]);
  fields.push(["fate", text]);
  eachReception(frame, (i, radios) => {
    if (radios.length === 1 && run.receptions.signal.at(i) < 255)
      fields.push([`signal at ${radioName(radios[0])}`, `${-run.receptions.signal.at(i) / 2} dBm`]);
  });
  describe(shape.kind, fields, packet.stream >= 0 ? packet : null);
}

function pickEvent(event) {
  if (event < 0) return;
  picked.frame = -1;
  picked.event = event;
  const { events } = run,
    reason = events.reason.at(event),
    packet = packetOf(events, event);
  describe(
    reason < 0 ? "Delivery" : "Drop",
    [
      ["time", clock(events.time.at(event), 10)],
      ["node", run.header.nodes[events.node.at(event)]],
      [
        reason < 0 ? "delay" : "reason",
        reason < 0
          ? lasting(events.time.at(event) - packet.created)
          : run.header.reasons[reason].replaceAll("_", " "),
      ],
    ],
    packet.stream >= 0 ? packet : null,
  );
}

function describe(title, fields, packet) {
  const list = make("dl");
  for (const [name, value] of fields) list.append(make("dt", {}, name), make("dd", {}, String(value)));
  const parts = [make("h2", {}, title), list];
  if (packet) {
    parts.push(
      make("h2", {}, "Way of its packet"),
      make("p", { class: "small" }, `${flowName(packet)}, ${ROLES[packet.stream & 3]} #${packet.number}`),
    );
    parts.push(make("ol", { id: "way" }, ...wayOf(packet).map(wayItem)));
  }
  element("chosen").replaceChildren(...parts);
  redraw();
  nameAddress();
}

function wayItem(step) {
  if (step.wait) return make("li", { class: "wait" }, step.text);
  const item = make(
    "li",
    { class: step.bad ? "bad" : step.good ? "good" : "" },
    make("time", {}, clock(step.time, 10)),
  );
  const button = make("button", { type: "button" }, step.text);
  button.addEventListener("click", () =>
    step.frame !== undefined ? pick(step.frame, true) : reveal(step.time, 1e5),
  );
  item.append(button);
  return item;
}

// --- searching

function search(direction) {
  const text = element("query").value.trim();
  if (!text) return;
  if (results?.text !== text) {
    results = { text, ...find(text) };
    const column = results.events ? run.events.time : run.frames.start,
      found = results.found;
    run.foundAt = found
      ? [
          ...new Set(
            Array.from(found.array.subarray(0, found.length), (i) =>
              Math.floor((2000 * column.at(i)) / run.header.duration_ns),
            ),
          ),
        ].map((n) => n / 2000)
      : [];
    // The first at or after the beginning of the view.
    place = -1;
    while (
      found &&
      direction > 0 &&
      place + 1 < found.length &&
      view.from > 0 &&
      column.at(found.at(place + 1)) < view.from
    )
      place++;
    if (direction < 0) place = 0;
  }
  if (results.error) {
    element("count").textContent = results.error;
    redraw();
    return;
  }
  const count = results.found.length;
  if (!count) {
    element("count").textContent = "nothing";
    redraw();
    return;
  }
  place = (place + direction + count) % count;
  element("count").textContent = `${(place + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
  const index = results.found.at(place);
  if (results.events) {
    reveal(run.events.time.at(index), 1e6);
    pickEvent(index);
  } else pick(index, true);
}

element("search").addEventListener("submit", (event) => {
  event.preventDefault();
  search(1);
});
element("before").addEventListener("click", () => search(-1));

// --- the address: #t=SECONDS&w=SECONDS&f=FRAME

let naming = 0;

function nameAddress() {
  clearTimeout(naming);
  naming = setTimeout(() => {
    const pickedText = picked.frame >= 0 ? `&f=${picked.frame}` : "";
    history.replaceState(
      null,
      "",
      `#t=${(view.from / 1e9).toFixed(9)}&w=${(view.span / 1e9).toFixed(9)}${pickedText}`,
    );
  }, 200);
}

function readAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const number = (name) =>
    wanted.has(name) && Number.isFinite(Number(wanted.get(name))) ? Number(wanted.get(name)) : null;
  const [from, span, frame] = ["t", "w", "f"].map(number);
  if (from !== null || span !== null) setView((from ?? 0) * 1e9, (span ?? 0.01) * 1e9);
  if (frame !== null && frame >= 0 && frame < run.frames.length) pick(Math.floor(frame));
}

window.addEventListener("hashchange", () => {
  if (run.end) readAddress();
});
window.addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  redraw();
});
