// The nodes in the plane, what joins them, how far their radios reach, and their motion.

const NODE = 6;
// More nodes than this, and who reaches whom is not drawn: the picture would be one black spot.
const REACH_NODES_MAX = 300;

class PlanOfNodes {
  constructor(map, duration) {
    this.map = map;
    this.now = 0;
    this.duration = duration;
    this.playing = null;
    this.nodes = map.placed ? map.nodes : ring(map.nodes);
    this.moves = map.nodes.some((node) => node.way.length > 0);
    const count = map.nodes.length;
    this.options = { decode: true, sense: true, reach: count <= 40, names: count <= 60, flows: map.edges.length <= 80 };
    this.ofNode = map.nodes.length <= 6 ? "all" : "0";
    const label = "Map of " + map.nodes.length + " nodes; the table of nodes below has their places and ranges";
    [this.canvas, this.redraw] = canvas(420, label, (context, wide, high) => this.draw(context, wide, high));
    this.view = null;
    this.listen();
  }

  // The map with its controls.
  place() {
    const parts = [this.controls()];
    parts.push(this.canvas);
    if (this.moves) parts.push(this.slider());
    parts.push(this.key(), this.table());
    return parts;
  }

  controls() {
    const list = element("div", { class: "controls" });
    if (this.map.nodes.some((node) => node.radios.length > 0)) {
      const select = element("select", { id: "ranges" });
      select.append(element("option", { value: "all" }, "all nodes"), element("option", { value: "none" }, "no node"));
      this.nodes.forEach((node, i) => select.append(element("option", { value: String(i) }, node.name)));
      select.value = this.ofNode;
      select.addEventListener("change", () => { this.ofNode = select.value; this.redraw(); });
      this.select = select;
      list.append(element("label", { for: "ranges" }, "Ranges of "), select);
      list.append(this.check("decode", "reception"), this.check("sense", "carrier sense"));
      if (this.nodes.length <= REACH_NODES_MAX) list.append(this.check("reach", "who reaches whom"));
    }
    list.append(this.check("names", "names"));
    if (this.map.edges.some(([kind]) => kind === "flow")) list.append(this.check("flows", "flows"));
    return list;
  }

  check(option, name) {
    const box = element("input", { type: "checkbox" });
    box.checked = this.options[option];
    box.addEventListener("change", () => { this.options[option] = box.checked; this.redraw(); });
    return element("label", {}, box, " " + name);
  }

  // The time of the motion, to be moved or played: a run in ten seconds.
  slider() {
    const range = element("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": "Time of the map" });
    const said = element("output", {}, "0 s");
    const play = element("button", { type: "button" }, "Play");
    const to = (share) => {
      this.now = share * this.duration;
      range.value = String(Math.round(share * 1000));
      range.setAttribute("aria-valuetext", shown(this.now, "s"));
      said.textContent = shown(this.now, "s");
      this.redraw();
    };
    const stop = () => { cancelAnimationFrame(this.playing); this.playing = null; play.textContent = "Play"; };
    this.stop = stop;
    range.addEventListener("input", () => { if (this.playing) stop(); to(range.value / 1000); });
    play.addEventListener("click", () => {
      if (this.playing) return stop();
      play.textContent = "Pause";
      const from = this.now >= this.duration ? 0 : this.now / this.duration;
      let begun = null;
      const frame = (at) => {
        if (begun === null) begun = at;
        const share = from + (at - begun) / 10000;
        to(Math.min(share, 1));
        if (share >= 1) stop(); else this.playing = requestAnimationFrame(frame);
      };
      this.playing = requestAnimationFrame(frame);
    });
    return element("div", { class: "controls" }, play, range, said);
  }

  // What the lines mean.
  key() {
    const words = this.map.placed ? [] : ["No node has a radio: places mean nothing here, and are drawn in a ring."];
    const kinds = new Set(this.map.edges.map(([kind]) => kind));
    if (kinds.has("link")) words.push("Thin lines: links.");
    if (kinds.has("trunk")) {
      const trunks = this.map.members.map(([name, members]) => name + " (" + members + ")");
      const more = trunks.length > 12 ? "; \u2026" : "";
      words.push("Wide lines: trunks with their members: " + trunks.slice(0, 12).join("; ") + more + ".");
    }
    if (kinds.has("access")) words.push("Dashes: a station and its access points (squares).");
    if (kinds.has("flow")) words.push("Arrows: flows.");
    if (this.map.placed) {
      words.push("Circles: how far a radio like it decodes its frames (full), and senses its carrier (dashed), without "
        + "shadowing.");
    }
    if (this.moves && this.map.seed !== null) words.push("Places and ways: seed " + this.map.seed + ".");
    const cut = this.map.nodes.some(({ way }) => way.length > 0 && way[way.length - 1][0] < this.duration * 0.999);
    if (cut) words.push("Ways with very many turns are shown from their beginning on; the node then stands still.");
    return element("p", { class: "small" }, words.join(" "));
  }

  // The same as a table, for whoever cannot see the canvas.
  table() {
    const rows = this.nodes.flatMap((node) => (node.radios.length ? node.radios : [null]).map((radio) => [
      radio ? node.name + " " + radio[0] : node.name,
      this.map.placed ? [node.x, "m"] : null, this.map.placed ? [node.y, "m"] : null,
      radio && radio[1], radio && [radio[2], "m"], radio && [radio[3], "m"],
    ]));
    const names = ["east at the start", "north", "channel", "reception to", "carrier sense to"];
    const head = names.map((name) => [name, ""]);
    const details = element("details", {}, element("summary", {}, "Nodes, radios and ranges as a table"));
    details.append(table({ title: "Nodes and radios", head, rows }));
    return details;
  }

  // The place of a node now [m].
  at(node) {
    const way = node.way || [];
    if (way.length === 0) return [node.x, node.y];
    let i = way.findIndex(([t]) => t > this.now);
    if (i < 0) return way[way.length - 1].slice(1);
    i = Math.max(i, 1);
    const [t0, x0, y0] = way[i - 1], [t1, x1, y1] = way[i];
    const share = t1 > t0 ? (this.now - t0) / (t1 - t0) : 1;
    return [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share];
  }

  // Shows all places, at all times, with some space.
  fit(wide, high) {
    const all = this.nodes.flatMap((node) => [[node.x, node.y], ...(node.way || []).map(([, x, y]) => [x, y])]);
    const [xs, ys] = [0, 1].map((k) => all.map((place) => place[k]));
    const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
    const [west, east, south, north] = [least(xs), most(xs), least(ys), most(ys)];
    const extent = Math.max(east - west, north - south, 1e-3) * (all.length > 1 ? 1 : 100);
    const range = most([0, ...this.nodes.flatMap((node) => node.radios.map((radio) => radio[2] || 0))]);
    const edge = this.map.placed ? Math.max(extent * 0.12, Math.min(range * 1.05, extent * 3)) : extent * 0.25;
    const scale = Math.min(wide / (east - west + 2 * edge), high / (north - south + 2 * edge));
    this.view = { x: (west + east) / 2, y: (south + north) / 2, scale };
  }

  draw(context, wide, high) {
    if (!this.view) this.fit(wide, high);
    const { x, y, scale } = this.view;
    const screen = ([east, north]) => [wide / 2 + (east - x) * scale, high / 2 - (north - y) * scale];
    this.places = apart(this.nodes.map((node) => screen(this.at(node))));
    context.clearRect(0, 0, wide, high);
    this.ranges(context, scale);
    if (this.options.reach && this.nodes.length <= REACH_NODES_MAX) this.reach(context);
    this.ways(context, screen);
    this.map.edges.forEach((edge, i) => this.edge(context, edge, i));
    this.nodes.forEach((node, i) => this.node(context, node, i));
    if (this.map.placed) scaleBar(context, high, scale);
  }

  // The circles of the chosen node, or of all.
  ranges(context, scale) {
    const chosen = (i) => this.ofNode === "all" || this.ofNode === String(i);
    this.nodes.forEach((node, i) => {
      if (!chosen(i)) return;
      const circle = (range, dash, alpha) => {
        if (range === null || range * scale > 1e5) return;
        context.setLineDash(dash);
        context.globalAlpha = alpha;
        context.beginPath();
        context.arc(...this.places[i], range * scale, 0, 2 * Math.PI);
        context.stroke();
        context.setLineDash([]);
        context.globalAlpha = 1;
      };
      const ranges = new Set(node.radios.map(([, channel, decode, sense]) => channel + " " + decode + " " + sense));
      [...ranges].forEach((said) => {
        const [channel, decode, sense] = said.split(" ").map((word) => (word === "null" ? null : Number(word)));
        context.strokeStyle = lineColour(this.channelIndex(channel));
        context.lineWidth = 1.2;
        if (this.options.decode) circle(decode, [], 0.75);
        if (this.options.sense) circle(sense, [6, 5], 0.75);
      });
    });
  }

  channelIndex(channel) {
    this.channels ??= [...new Set(this.nodes.flatMap((node) => node.radios.map((radio) => radio[1])))];
    return this.channels.indexOf(channel);
  }

  // A faint line between nodes of which each decodes the other.
  reach(context) {
    context.strokeStyle = colour("--soft");
    context.globalAlpha = 0.28;
    context.lineWidth = 1;
    context.beginPath();
    const at = this.nodes.map((node) => this.at(node));
    const within = (a, b, span) => a.radios.some(([, channel, decode]) =>
      (decode === null || span <= decode) && b.radios.some((radio) => radio[1] === channel));
    for (let i = 0; i < at.length; i++) {
      for (let k = i + 1; k < at.length; k++) {
        const span = Math.hypot(at[i][0] - at[k][0], at[i][1] - at[k][1]);
        const [a, b] = [this.nodes[i], this.nodes[k]];
        if (!within(a, b, span) || !within(b, a, span)) continue;
        context.moveTo(...this.places[i]);
        context.lineTo(...this.places[k]);
      }
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  // The way of the chosen node.
  ways(context, screen) {
    this.nodes.forEach((node, i) => {
      if (!node.way || node.way.length === 0 || this.ofNode !== String(i)) return;
      context.strokeStyle = colour("--soft");
      context.setLineDash([2, 3]);
      context.beginPath();
      node.way.forEach(([, x, y], k) => (k ? context.lineTo(...screen([x, y])) : context.moveTo(...screen([x, y]))));
      context.stroke();
      context.setLineDash([]);
    });
  }

  edge(context, [kind, name, from, to], index) {
    if (kind === "flow" && !this.options.flows) return;
    const a = this.places[from], b = this.places[to];
    const styles = { link: [1.4, "--ink"], trunk: [5, "--line-2"], access: [1.4, "--ink"], flow: [1.6, "--line-1"] };
    const [width, tint] = styles[kind];
    // Edges of one pair stand beside each other.
    const others = this.map.edges.slice(0, index).filter((edge) => edge[0] === kind &&
      ((edge[2] === from && edge[3] === to) || (edge[2] === to && edge[3] === from))).length;
    const bend = (kind === "flow" ? 22 : 0) + others * 14 * (others % 2 ? 1 : -1);
    const long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const side = [-(b[1] - a[1]) / long, (b[0] - a[0]) / long];
    const middle = [(a[0] + b[0]) / 2 + side[0] * bend * 2, (a[1] + b[1]) / 2 + side[1] * bend * 2];
    context.strokeStyle = colour(tint);
    context.fillStyle = colour(tint);
    context.globalAlpha = kind === "trunk" ? 0.55 : 1;
    context.lineWidth = width;
    context.setLineDash(kind === "access" ? [6, 4] : []);
    context.beginPath();
    context.moveTo(...a);
    context.quadraticCurveTo(...middle, ...b);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
    if (kind === "flow") arrow(context, middle, b);
    if (this.options.names && name && this.map.edges.length <= 24) {
      context.textAlign = "center";
      context.textBaseline = "middle";
      const at = [(a[0] + b[0]) / 4 + middle[0] / 2, (a[1] + b[1]) / 4 + middle[1] / 2 + (kind === "flow" ? 12 : -10)];
      words(context, name, at, colour(kind === "flow" ? "--line-1" : "--soft"));
    }
  }

  node(context, node, i) {
    const [x, y] = this.places[i];
    context.fillStyle = colour("--ink");
    context.strokeStyle = colour("--paper");
    context.lineWidth = 1.5;
    context.beginPath();
    if (node.ap) context.rect(x - NODE, y - NODE, 2 * NODE, 2 * NODE); else context.arc(x, y, NODE, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    if (!this.options.names) return;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    words(context, node.name, [x, y - NODE - 3], colour("--ink"));
  }

  listen() {
    const zoom = (factor, x, y) => {
      const { width, height } = this.canvas.getBoundingClientRect(), view = this.view;
      const [dx, dy] = [x - width / 2, y - height / 2];
      view.x += dx / view.scale * (1 - 1 / factor);
      view.y -= dy / view.scale * (1 - 1 / factor);
      view.scale *= factor;
      this.redraw();
    };
    const pan = (dx, dy) => {
      this.view.x -= dx / this.view.scale;
      this.view.y += dy / this.view.scale;
      this.redraw();
    };
    const reset = () => { this.view = null; this.redraw(); };
    const nodeAt = (x, y) => this.places.findIndex((place) => Math.hypot(place[0] - x, place[1] - y) < 2 * NODE);
    const click = (x, y) => {
      const found = nodeAt(x, y);
      if (found < 0 || !this.select) return;
      this.ofNode = this.select.value = String(found);
      this.redraw();
    };
    const point = (x, y) => {
      const found = this.places ? nodeAt(x, y) : -1;
      this.canvas.title = found < 0 ? "" : this.describe(this.nodes[found]);
    };
    gestures(this.canvas, { zoom, pan, point, click, reset });
    this.canvas.addEventListener("keydown", (event) => {
      const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
      const keys = {
        "+": () => zoom(1.4, wide / 2, high / 2), "=": () => zoom(1.4, wide / 2, high / 2),
        "-": () => zoom(1 / 1.4, wide / 2, high / 2), "0": reset,
        "ArrowLeft": () => pan(40, 0), "ArrowRight": () => pan(-40, 0),
        "ArrowUp": () => pan(0, 40), "ArrowDown": () => pan(0, -40),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  describe(node) {
    const [x, y] = this.at(node);
    const radios = node.radios.map(([name, channel, decode, sense]) =>
      name + ": channel " + channel + ", decoded to " + shown(decode, "m") + ", sensed to " + shown(sense, "m"));
    const place = this.map.placed ? [digits(x) + " m east, " + digits(y) + " m north"] : [];
    return [node.name, ...place, ...radios].join("\n");
  }
}

// Nodes without a place of their own.
function ring(nodes) {
  const turn = (i) => Math.PI + 2 * Math.PI * i / nodes.length;
  return nodes.map((node, i) => ({ ...node, x: Math.cos(turn(i)), y: -Math.sin(turn(i)), way: [] }));
}

// Places on the screen, those that lie on each other moved aside.
function apart(places) {
  const taken = new Map();
  return places.map(([x, y]) => {
    const key = Math.round(x / 4) + " " + Math.round(y / 4);
    const before = taken.get(key) || 0;
    taken.set(key, before + 1);
    return before ? [x + 18 * before, y + 12 * before] : [x, y];
  });
}

function arrow(context, from, [x, y]) {
  const angle = Math.atan2(y - from[1], x - from[0]);
  const [tipX, tipY] = [x - Math.cos(angle) * (NODE + 2), y - Math.sin(angle) * (NODE + 2)];
  context.beginPath();
  context.moveTo(tipX, tipY);
  for (const side of [-0.4, 0.4]) context.lineTo(tipX - 9 * Math.cos(angle + side), tipY - 9 * Math.sin(angle + side));
  context.fill();
}

// Text that stays readable over lines.
function words(context, text, [x, y], tint) {
  context.lineWidth = 4;
  context.strokeStyle = colour("--paper");
  context.strokeText(text, x, y);
  context.fillStyle = tint;
  context.fillText(text, x, y);
}

function scaleBar(context, high, scale) {
  // The longest round length that fits beside the edge.
  const longest = 140 / scale, power = 10 ** Math.floor(Math.log10(longest));
  const metres = [5, 2, 1].map((factor) => factor * power).find((length) => length <= longest);
  const wide = metres * scale;
  context.strokeStyle = context.fillStyle = colour("--soft");
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(12, high - 16);
  context.lineTo(12 + wide, high - 16);
  context.stroke();
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillText(digits(metres) + " m", 12, high - 20);
}
