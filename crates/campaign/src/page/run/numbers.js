// Numbers for a person, and elements of the page.

const SCALES = {
  "bit/s": [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]],
  "byte": [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "byte"]],
  "s": [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]],
  "share": [[0.01, "%"]],
};

// The factor and the name of the unit in which numbers up to `most` are short.
function scaleOf(unit, most) {
  const scales = SCALES[unit];
  if (!scales) return [1, unit === "count" ? "" : unit];
  return scales.find(([factor]) => most >= factor) || scales[scales.length - 1];
}

// Four significant digits without the dust of binary fractions.
function digits(x) {
  if (x === 0) return "0";
  return Math.abs(x) >= 1e4 && Math.abs(x) < 1e15 ? String(Math.round(x)) : String(Number(x.toPrecision(4)));
}

// A number with its unit: "5.021 Mbit/s".
function shown(x, unit) {
  if (x === null || x === undefined) return "\u2013";
  const [factor, name] = scaleOf(unit, Math.abs(x));
  return (digits(x / factor) + " " + name).trim();
}

// An element with attributes and children; text stays text.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A colour of the style sheet.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Eight colours, then the same again in dashes.
const lineColour = (index) => colour("--line-" + (index % 8));
const dashes = (index) => [[], [7, 3], [2, 3], [7, 3, 2, 3]][Math.floor(index / 8) % 4];

// Round numbers from `low` to `high`, about `count`.
function ticks(low, high, count) {
  const raw = (high - low) / count;
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) || raw;
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) all.push(i * step);
  return all;
}

// A canvas as wide as its place, sharp on any screen; `draw` gets its context, width and height.
function canvas(height, label, draw) {
  const made = element("canvas", { role: "img", tabindex: "0", "aria-label": label });
  made.style.height = height + "px";
  const redraw = () => {
    const wide = made.clientWidth, high = made.clientHeight, sharp = window.devicePixelRatio || 1;
    if (wide === 0) return;
    made.width = Math.round(wide * sharp);
    made.height = Math.round(high * sharp);
    const context = made.getContext("2d");
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.font = "12px " + getComputedStyle(document.querySelector("h1")).fontFamily;
    draw(context, wide, high);
  };
  let waits = false;
  const later = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; redraw(); });
  };
  new ResizeObserver(later).observe(made);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  return [made, later];
}

// Reports what is done with pointers and wheel on a canvas: `zoom(factor, x, y)` around a place, `pan(dx, dy)`,
// `point(x, y)`, and `brush(from, to)` or `pan` while the mouse is dragged. The wheel zooms only where the canvas has
// the focus or a key is held, so that it still scrolls the page.
function gestures(made, on) {
  const down = new Map();
  let begun = null;
  const place = (event) => {
    const box = made.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  made.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== made) return;
    event.preventDefault();
    on.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), ...place(event));
  }, { passive: false });
  made.addEventListener("pointerdown", (event) => {
    made.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    begun = place(event);
  });
  made.addEventListener("pointermove", (event) => {
    const at = place(event), before = down.get(event.pointerId);
    on.point(...at);
    if (!before) return;
    down.set(event.pointerId, at);
    if (down.size === 2) {
      const other = [...down.entries()].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      if (apart(before) > 0) on.zoom(apart(at) / apart(before), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    } else if (on.brush && event.pointerType === "mouse" && !event.shiftKey) {
      on.brush(begun[0], at[0], false);
    } else {
      on.pan(at[0] - before[0], at[1] - before[1]);
    }
  });
  const up = (event) => {
    if (!down.delete(event.pointerId)) return;
    const at = place(event);
    const moved = begun && Math.hypot(at[0] - begun[0], at[1] - begun[1]) > 4;
    if (on.brush && event.pointerType === "mouse" && !event.shiftKey) on.brush(begun[0], at[0], moved);
    if (!moved && on.click) on.click(...at);
  };
  made.addEventListener("pointerup", up);
  made.addEventListener("pointercancel", up);
  made.addEventListener("pointerleave", () => { if (on.leave) on.leave(); });
  made.addEventListener("dblclick", () => on.reset());
}
