// The daemon's page: asks its own origin once a second, and draws links, quotas and events. It changes nothing.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
// Answers come from this host: one that takes longer is none.
const PATIENCE_MS = 5000;
const PAUSE_MS = 1000;
// Events that are shown at first.
const EVENTS = 20;
// Width and height of a chart in its own units; it is stretched to its place.
const WIDTH = 300;
const HEIGHT = 60;

// Places of a value's least, mean and largest in a point.
const SENT = 0, RECEIVED = 3, DELAY = 6, LOSS = 9, QUEUE = 12;

const page = {
  span: "minute",
  report: null,
  // Time of the last answer, and since when there is none [ms].
  answered: 0,
  goneSince: 0,
  // Step that is looked at, counted from the oldest; null is the newest of which something is known.
  at: null,
  allEvents: false,
};

const find = (id) => document.getElementById(id);

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function shape(name, className) {
  const made = document.createElementNS(SVG, name);
  made.setAttribute("class", className);
  return made;
}

// Sets a text only where it differs: a reader on the page is not disturbed.
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Makes the children of a node those of a list, in its order; what is there already is kept and filled again.
function keep(parent, things, key, make, fill) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  things.forEach((thing, place) => {
    const name = key(thing);
    const child = known.get(name) ?? make(thing);
    known.delete(name);
    child.dataset.key = name;
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
    fill(child, thing);
  });
  known.forEach((child) => child.remove());
}

// ---- Numbers as people read them

function scaled(value, units, step) {
  let place = 0;
  while (Math.abs(value) >= step && place < units.length - 1) {
    value /= step;
    place += 1;
  }
  const digits = place === 0 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[place]}`;
}

const rate = (bps) => scaled(bps, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"], 1000);
const bytes = (count) => scaled(count, ["byte", "kB", "MB", "GB", "TB"], 1000);
const delay = (us) => scaled(us, ["us", "ms", "s"], 1000);
const percent = (share) => `${(share * 100).toFixed(share > 0 && share < 0.0995 ? 2 : 0)} %`;
const loss = (ppm) => percent(ppm / 1e6);

function duration(s) {
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} d`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DATE = new Intl.DateTimeFormat(undefined, {
  month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});
const clock = (s) => CLOCK.format(new Date(s * 1000));
const date = (s) => DATE.format(new Date(s * 1000));

// The next number of 1, 2 or 5 times a power of ten: the upper end of a scale.
function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((end) => end >= value * 0.999);
}

// ---- Series: of each link and value the least, mean and largest by step

// The first step that is shown, and the step of a time.
function firstStep(report) {
  return Math.floor(report.time_s / report.step_s) - report.steps + 1;
}

function seriesOf(report, link, place) {
  const series = new Array(report.steps).fill(null);
  const first = firstStep(report);
  for (const [time, values] of link.points) {
    const step = Math.floor(time / report.step_s) - first;
    if (step >= 0 && step < report.steps && values[place + 1] !== null) {
      series[step] = [values[place], values[place + 1], values[place + 2]];
    }
  }
  return series;
}

function sum(series) {
  return series[0].map((_, step) => series.reduce((all, one) => all + (one[step] ? one[step][1] : 0), 0));
}

// The series of the links of a peer, with shares of what they carry both ways.
function peersOf(report) {
  const peers = report.status.peers.map((peer) => ({ name: peer.name, peer, links: [] }));
  const called = (name) => peers.find((one) => one.name === name);
  for (const past of report.links) {
    if (!called(past.peer)) peers.push({ name: past.peer, peer: null, links: [] });
  }
  for (const one of peers) {
    const pasts = report.links.filter((past) => past.peer === one.name);
    const members = one.peer ? one.peer.members : [];
    const of = (past) => members.find((m) => m.uplink === past.uplink && m.name === past.link);
    const fresh = members.filter((m) => !pasts.some((past) => of(past) === m));
    const none = fresh.map((m) => ({ uplink: m.uplink, link: m.name, points: [] }));
    one.links = [...pasts, ...none].map((past) => ({
      name: past.link,
      uplink: past.uplink,
      member: of(past) ?? null,
      sent: seriesOf(report, past, SENT),
      received: seriesOf(report, past, RECEIVED),
      delay: seriesOf(report, past, DELAY),
      loss: seriesOf(report, past, LOSS),
      queue: seriesOf(report, past, QUEUE),
    }));
    if (one.links.length === 0) continue;
    const carried = one.links.map((link) => sum([link.sent, link.received]));
    const all = carried[0].map((_, step) => carried.reduce((total, link) => total + link[step], 0));
    one.links.forEach((link, place) => {
      link.carried = carried[place];
      link.share = carried[place].map((own, step) => {
        const share = all[step] > 0 && link.sent[step] ? own / all[step] : null;
        return share === null ? null : [share, share, share];
      });
    });
    one.all = all;
  }
  return peers;
}

// ---- Charts

const x = (step, steps) => ((step + 0.5) / steps) * WIDTH;
const y = (value, top) => HEIGHT - Math.min(value / top, 1) * (HEIGHT - 2);

// The runs of steps of which something is known.
function runs(series) {
  const found = [];
  series.forEach((value, step) => {
    if (value === null) return;
    const last = found.at(-1);
    if (last && last.at(-1) === step - 1) last.push(step);
    else found.push([step]);
  });
  return found;
}

function linePath(series, top) {
  const steps = series.length;
  const half = 0.5 / steps * WIDTH;
  return runs(series).map((run) => {
    const at = (step) => `${x(step, steps).toFixed(1)} ${y(series[step][1], top).toFixed(1)}`;
    // One step alone is a short line, not nothing.
    if (run.length === 1) {
      const [place, height] = at(run[0]).split(" ");
      return `M${(place - half).toFixed(1)} ${height}H${(+place + half).toFixed(1)}`;
    }
    return "M" + run.map(at).join("L");
  }).join("");
}

function bandPath(series, top) {
  const steps = series.length;
  return runs(series).map((run) => {
    const at = (step, which) => `${x(step, steps).toFixed(1)} ${y(series[step][which], top).toFixed(1)}`;
    const back = [...run].reverse();
    return "M" + run.map((step) => at(step, 2)).join("L") + "L" + back.map((step) => at(step, 0)).join("L") + "Z";
  }).join("");
}

function makePlot(kinds) {
  const plot = element("div", "plot");
  const svg = shape("svg", "");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const grid = shape("path", "grid");
  grid.setAttribute("d", `M0 ${HEIGHT / 2}H${WIDTH}`);
  svg.append(grid);
  for (const kind of kinds) svg.append(shape("path", `band ${kind}`), shape("path", `line ${kind}`));
  svg.append(shape("path", "cursor"));
  plot.append(svg, element("span", "top"));
  watchPointer(plot);
  return plot;
}

// The pointer over any chart looks at a time, in all of them.
function watchPointer(plot) {
  plot.addEventListener("pointermove", (event) => {
    if (!page.report) return;
    const box = plot.getBoundingClientRect();
    const step = Math.floor(((event.clientX - box.left) / box.width) * page.report.steps);
    lookAt(Math.max(0, Math.min(page.report.steps - 1, step)));
  });
  plot.addEventListener("pointerleave", () => lookAt(null));
}

function drawCursor(plot, steps) {
  const line = plot.querySelector(".cursor");
  line.setAttribute("d", page.at === null ? "" : `M${x(page.at, steps).toFixed(1)} 0V${HEIGHT}`);
}

// One value of a link: its name, its number, least and largest, its course.
function makeChart(label, kinds) {
  const chart = element("div", "chart");
  const head = element("div", "chart-head");
  head.append(element("span", "label", label), element("span", "number"), element("span", "range"));
  chart.append(head, makePlot(kinds));
  return chart;
}

// The step of which a series tells: the one that is looked at, or its newest. A newest that is old tells nothing.
function told(series) {
  if (page.at !== null) return series[page.at];
  return series.at(-1) ?? series.at(-2) ?? null;
}

function fillChart(chart, lines, top, format) {
  const plot = chart.querySelector(".plot");
  for (const [kind, series] of lines) {
    plot.querySelector(`.line.${kind}`).setAttribute("d", linePath(series, top));
    plot.querySelector(`.band.${kind}`).setAttribute("d", bandPath(series, top));
  }
  say(plot.querySelector(".top"), format(top));
  drawCursor(plot, lines[0][1].length);
  const number = chart.querySelector(".number");
  const values = lines.map(([kind, series]) => [kind, told(series)]);
  const text = (value) => (value ? format(value[1]) : "-");
  if (values.length === 1) {
    say(number, text(values[0][1]));
  } else {
    keep(number, values, ([kind]) => kind, ([kind]) => element("span", `text-${kind}`), (child, [kind, value]) => {
      say(child, `${kind === "sent" ? "\u2191" : "\u2193"} ${text(value)} `);
    });
  }
  const wide = values.map(([, value]) => value).filter((value) => value && value[2] > value[0]);
  say(chart.querySelector(".range"), wide.length === 1 || (wide.length && values.length === 1)
    ? `${format(wide[0][0])} to ${format(wide[0][2])}` : "");
}

// ---- Links

function stateOf(member) {
  if (!member) return ["gone", "soft"];
  const kind = { active: "good", probing: "warn", suspected: "bad", exhausted: "bad" }[member.state] ?? "soft";
  const word = { active: "works", probing: "is tried", suspected: "down", exhausted: "quota spent" }[member.state];
  return [word ?? member.state, kind];
}

function because(thing) {
  return thing && thing.cause ? `${thing.cause}: ${thing.remedy}` : "";
}

function makeLink() {
  const card = element("article", "card link");
  const head = element("div", "head");
  const title = element("h3");
  title.append(element("span", "swatch"), element("span", "title"));
  head.append(title, element("span", "state"), element("span", "soft to"), element("span", "why"));
  const charts = element("div", "charts");
  charts.append(makeChart("rate", ["sent", "received"]), makeChart("delay", ["value"]), makeChart("loss", ["value"]),
    makeChart("share", ["value"]), makeChart("queue", ["value"]));
  card.append(head, charts);
  return card;
}

function fillLink(card, link, place, tops) {
  const member = link.member;
  const uplink = link.uplink !== link.name ? ` (over ${link.uplink})` : "";
  say(card.querySelector(".title"), link.name + uplink);
  card.querySelector(".swatch").className = `swatch link-${place % 8}`;
  const [word, kind] = stateOf(member);
  const state = card.querySelector(".state");
  say(state, word);
  state.className = `state ${kind}`;
  const can = member && member.rate_bps ? `, can carry ${rate(member.rate_bps)}` : "";
  const mtu = member && member.path_mtu_bytes ? `, path MTU ${member.path_mtu_bytes}` : "";
  say(card.querySelector(".to"), member ? `to ${member.remote}${can}${mtu}` : "");
  const why = card.querySelector(".why");
  say(why, because(member));
  why.hidden = !why.textContent;
  const [rates, delays, losses, shares, queues] = card.querySelector(".charts").children;
  fillChart(rates, [["sent", link.sent], ["received", link.received]], tops.rate, rate);
  fillChart(delays, [["value", link.delay]], tops.delay, delay);
  fillChart(losses, [["value", link.loss]], tops.loss, loss);
  fillChart(shares, [["value", link.share]], 1, percent);
  fillChart(queues, [["value", link.queue]], tops.queue, delay);
}

// The scales of a peer's charts: the same for all its links, so that they compare.
function scales(links) {
  const most = (of) => Math.max(0, ...links.flatMap((link) => of(link)).map((value) => (value ? value[2] : 0)));
  return {
    rate: roundUp(Math.max(1000, most((link) => [...link.sent, ...link.received]))),
    delay: roundUp(Math.max(1000, most((link) => link.delay))),
    loss: roundUp(Math.max(10000, most((link) => link.loss))),
    queue: roundUp(Math.max(1000, most((link) => link.queue))),
  };
}

function makePeer() {
  const part = element("section", "peer");
  const head = element("div", "peer-head");
  head.append(element("h2"), element("span", "state"), element("span", "soft queue"), element("span", "why"));
  const all = element("div", "card sum");
  const axis = element("div", "axis");
  axis.append(element("span", "from"), element("span", "to", "now"));
  const title = element("div", "chart-head");
  title.append(element("span", "label", "all links, both ways"), element("span", "number"));
  all.append(title, makePlot([]), axis);
  part.append(head, all, element("div", "cards"));
  return part;
}

function fillPeer(part, one, report) {
  say(part.querySelector("h2"), one.name);
  const state = part.querySelector(".peer-head .state");
  const { peer } = one;
  say(state, peer ? (peer.up ? "up" : "down") : "not in the file");
  state.className = `state ${peer && peer.up ? "good" : "bad"}`;
  say(part.querySelector(".queue"), peer ? `queue ${peer.queue_packets} packets, MTU ${peer.mtu_bytes}` : "");
  const why = part.querySelector(".peer-head .why");
  const waits = peer && peer.waits_for ? `waits for ${peer.waits_for}` : "";
  say(why, because(peer) || waits);
  why.hidden = !why.textContent;
  part.querySelector(".sum").hidden = one.links.length === 0;
  if (one.links.length > 0) fillSum(part.querySelector(".sum"), one, report);
  const tops = scales(one.links);
  keep(part.querySelector(".cards"), one.links, (link) => `${link.uplink} ${link.name}`, makeLink,
    (card, link) => fillLink(card, link, one.links.indexOf(link), tops));
}

// What the links carry, one upon the other.
function fillSum(card, one, report) {
  const plot = card.querySelector(".plot");
  const svg = plot.querySelector("svg");
  const top = roundUp(Math.max(1000, ...one.all));
  const below = new Array(report.steps).fill(0);
  svg.querySelectorAll(".area").forEach((area) => area.remove());
  one.links.forEach((link, place) => {
    const series = link.carried.map((own, step) => {
      const from = below[step];
      below[step] += own;
      return link.sent[step] ? [from, from, from + own] : null;
    });
    const area = shape("path", `area link-${place % 8}`);
    area.setAttribute("d", bandPath(series, top));
    svg.insertBefore(area, svg.querySelector(".cursor"));
  });
  drawCursor(plot, report.steps);
  say(plot.querySelector(".top"), rate(top));
  const known = one.all.map((value, step) => (one.links.some((link) => link.sent[step]) ? [value, value, value] : null));
  const value = told(known);
  say(card.querySelector(".number"), value ? rate(value[1]) : "-");
  say(card.querySelector(".from"), `${duration(report.steps * report.step_s)} ago`);
}

// ---- Uplinks, quotas, events

function fillUplinks(report) {
  const kinds = { open: "good", off: "soft" };
  keep(find("uplinks"), report.status.uplinks, (uplink) => uplink.name, () => {
    const row = element("tr");
    for (let cell = 0; cell < 5; cell += 1) row.append(element("td"));
    return row;
  }, (row, uplink) => {
    const [name, state, addresses, sent, received] = row.children;
    say(name, uplink.device && uplink.device !== uplink.name ? `${uplink.name} (${uplink.device})` : uplink.name);
    const why = because(uplink);
    say(state, why ? `${uplink.state}, ${why}` : uplink.state);
    state.className = kinds[uplink.state] ?? "bad";
    say(addresses, uplink.addresses.join(" "));
    say(sent, bytes(uplink.sent_bytes));
    say(received, bytes(uplink.received_bytes));
  });
}

function fillQuotas(report) {
  const metered = report.status.uplinks.filter((uplink) => uplink.quota_bytes !== null);
  find("quota-part").hidden = metered.length === 0;
  keep(find("quotas"), metered, (uplink) => uplink.name, () => {
    const row = element("li");
    row.append(element("span", "name"), element("meter"), element("span", "soft used"));
    return row;
  }, (row, { name, quota_bytes: quota, month_bytes: used }) => {
    say(row.querySelector(".name"), name);
    const meter = row.querySelector("meter");
    meter.setAttribute("aria-label", `quota of ${name}`);
    Object.assign(meter, { max: quota, high: 0.8 * quota, optimum: 0, value: used });
    say(row.querySelector(".used"), `${bytes(used)} of ${bytes(quota)} this month`);
  });
}

function fillEvents(report) {
  const shown = page.allEvents ? report.events : report.events.slice(0, EVENTS);
  // Events of one second may be alike: each has its place among those.
  const times = new Map();
  const named = shown.map((event) => {
    const text = `${event.time_s} ${event.what} ${event.peer ?? ""} ${event.text}`;
    times.set(text, (times.get(text) ?? 0) + 1);
    return { event, key: `${text} ${times.get(text)}` };
  });
  const kinds = { "link-down": "bad", "link-gone": "bad", "uplink-away": "bad", "session-down": "bad",
    "quota-spent": "bad", "history-damaged": "warn", "key-shared": "bad", cause: "warn", "link-moved": "warn",
    "link-up": "good", "session-up": "good", "uplink-open": "good" };
  keep(find("events"), named, ({ key }) => key, ({ event }) => {
    const row = element("li");
    const time = element("time", "", date(event.time_s));
    time.dateTime = new Date(event.time_s * 1000).toISOString();
    const text = element("p");
    const peer = event.peer && event.link ? `${event.peer}: ` : "";
    text.append(element("span", `word ${kinds[event.what] ?? "soft"}`, event.what), peer + event.text);
    if (event.cause) text.append(" ", element("span", "word warn", event.cause));
    row.append(time, text);
    return row;
  }, () => {});
  const more = find("more");
  more.hidden = report.events.length <= EVENTS;
  say(more, page.allEvents ? `show the last ${EVENTS}` : `show all ${report.events.length}`);
}

// ---- The whole

function fillHead(report) {
  const { status } = report;
  say(find("name"), status.name);
  say(find("about"), `${status.interface}, MTU ${status.mtu_bytes}, up for ${duration(status.uptime_s)}`);
  const members = status.peers.flatMap((peer) => peer.members);
  const working = members.filter((member) => member.state === "active").length;
  document.title = `${page.goneSince ? "no answer, " : ""}${status.name}: ${working} of ${members.length} links`;
}

function fillTime(report) {
  const cursor = find("cursor");
  cursor.max = report.steps - 1;
  cursor.value = page.at ?? report.steps - 1;
  const time = (firstStep(report) + Number(cursor.value)) * report.step_s;
  const text = page.at === null ? "now" : report.span === "minute" || report.span === "hour" ? clock(time) : date(time);
  say(find("look-at"), text);
  cursor.setAttribute("aria-valuetext", text);
}

function fillState() {
  const state = find("state");
  const gone = page.goneSince > 0;
  document.body.classList.toggle("gone", gone);
  state.classList.toggle("gone", gone);
  if (!gone) {
    say(state, "answers");
    return;
  }
  const since = page.answered || page.goneSince;
  const ago = duration((Date.now() - since) / 1000);
  const shown = page.answered ? "; what is shown is of then" : "";
  say(state, `The daemon has not answered since ${clock(since / 1000)} (${ago})${shown}.`);
}

function fill() {
  fillState();
  const { report } = page;
  if (!report) return;
  fillHead(report);
  fillTime(report);
  keep(find("links"), peersOf(report), (one) => one.name, makePeer, (part, one) => fillPeer(part, one, report));
  say(find("left-out"), `${report.left_out} more links are not recorded: there is place for 32.`);
  find("left-out").hidden = report.left_out === 0;
  fillUplinks(report);
  fillQuotas(report);
  fillEvents(report);
}

function lookAt(step) {
  page.at = step;
  fill();
}

async function ask() {
  const span = page.span;
  try {
    const answer = await fetch(`/history?span=${span}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(answer.statusText);
    const report = await answer.json();
    // Another span may have been chosen meanwhile.
    if (span === page.span) page.report = report;
    page.answered = Date.now();
    page.goneSince = 0;
  } catch {
    page.goneSince ||= Date.now();
  }
  fill();
}

let next = 0;

// One question after the other, a second apart; none while nobody looks.
async function turn() {
  clearTimeout(next);
  if (!document.hidden) await ask();
  clearTimeout(next);
  next = setTimeout(turn, PAUSE_MS);
}

find("spans").addEventListener("change", (event) => {
  page.span = event.target.value;
  page.at = null;
  turn();
});
find("cursor").addEventListener("input", (event) => {
  const step = Number(event.target.value);
  lookAt(step >= Number(event.target.max) ? null : step);
});
find("more").addEventListener("click", () => {
  page.allEvents = !page.allEvents;
  fill();
});
document.addEventListener("visibilitychange", turn);
turn();
