// Search: words and comparisons, all of which must hold, over frames or over what became of packets.

/** Numbers of a frame by name. */
const FRAME_FIELDS = {
  retry: (i) => run.frames.retry.at(i),
  size: (i) => shapeOf(i).size,
  rate: (i) => shapeOf(i).rate,
  seq: (i) => run.frames.seq.at(i),
  cw: (i) => run.frames.window.at(i),
  backoff: (i) => run.frames.drawn.at(i),
  channel: (i) => shapeOf(i).channel,
  airtime: (i) => shapeOf(i).airtime,
  duration: (i) => shapeOf(i).nav,
  number: (i) => run.frames.number.at(i),
  time: (i) => run.frames.start.at(i),
};
/** Numbers of what became of a packet. */
const EVENT_FIELDS = {
  delay: (i) => run.events.time.at(i) - run.events.created.at(i),
  number: (i) => run.events.number.at(i),
  time: (i) => run.events.time.at(i),
};
const TIMES = new Set(["delay", "airtime", "duration", "time"]);
const UNITS = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9 };
const COMPARE = {
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

/** The delay that 99 of 100 packets of a flow's stream do not exceed. */
function lateLimits() {
  const delays = new Map();
  for (let i = 0; i < run.events.length; i++) {
    if (run.events.reason.at(i) >= 0) continue;
    const stream = run.events.stream.at(i);
    if (!delays.has(stream)) delays.set(stream, new Column(Float64Array));
    delays.get(stream).push(EVENT_FIELDS.delay(i));
  }
  return new Map(
    [...delays].map(([stream, column]) => {
      const sorted = column.array.slice(0, column.length).sort();
      return [stream, sorted[Math.ceil(0.99 * sorted.length) - 1]];
    }),
  );
}

/** Reads a query: `{events, tests}`, or `{error}`. */
function readQuery(text) {
  const words = text
    .trim()
    .replace(/(>=|<=|!=|=|>|<)/g, " $1 ")
    .split(/[\s,]+/)
    .filter((word) => word && word !== "and");
  const tests = [];
  let events = false;
  const kinds = new Set(run.header.kinds);
  while (words.length) {
    const word = words.shift().toLowerCase();
    if (COMPARE[words[0]] && (word in FRAME_FIELDS || word in EVENT_FIELDS)) {
      const compare = COMPARE[words.shift()],
        match = /^(-?[\d.]+)(\D*)$/.exec(words.shift() ?? "");
      if (!match) return { error: `${word}: a number is missing` };
      const unit = match[2] || (words[0] in UNITS ? words.shift() : "");
      if (unit && !(unit in UNITS)) return { error: `${unit}: no unit of time` };
      const value = Number(match[1]) * (TIMES.has(word) ? UNITS[unit || "s"] : 1);
      if (!(word in FRAME_FIELDS)) events = true;
      tests.push((isEvents) => {
        const field = (isEvents ? EVENT_FIELDS : FRAME_FIELDS)[word];
        return field && ((i) => compare(field(i), value));
      });
    } else if (["node", "radio", "flow", "kind", "to", "channel"].includes(word)) {
      if (words[0] === "=") words.shift();
      const value = words.shift();
      if (value === undefined) return { error: `${word}: a name is missing` };
      const problem = named(word, value, tests);
      if (problem) return { error: problem };
    } else if (["drop", "drops", "dropped", "late", "delivered"].includes(word)) {
      events = true;
      const limits = word === "late" ? lateLimits() : null,
        { reason, stream } = run.events;
      tests.push(() =>
        word === "late"
          ? (i) => reason.at(i) < 0 && EVENT_FIELDS.delay(i) > limits.get(stream.at(i))
          : word === "delivered"
            ? (i) => reason.at(i) < 0
            : (i) => reason.at(i) >= 0,
      );
    } else if (["retry", "lost", "collision", "unheard", "damaged", "broadcast"].includes(word)) {
      const { retry, lost, peer } = run.frames;
      const by = {
        retry: (i) => retry.at(i) > 0,
        lost: (i) => lost.at(i) > 0,
        collision: (i) => lost.at(i) === COLLISION,
        unheard: (i) => lost.at(i) === UNHEARD,
        damaged: (i) => lost.at(i) === CHANNEL,
        broadcast: (i) => peer.at(i) < 0,
      };
      tests.push((isEvents) => (isEvents ? null : by[word]));
    } else if (kinds.has(word.toUpperCase())) {
      named("kind", word, tests);
    } else if (run.header.reasons.includes(word)) {
      events = true;
      const reason = run.header.reasons.indexOf(word);
      tests.push(() => (i) => run.events.reason.at(i) === reason);
    } else {
      return { error: `${word}: not known` };
    }
  }
  const built = tests.map((test) => test(events));
  return built.every(Boolean) ? { events, tests: built } : { error: "frames and packets do not mix in one search" };
}

/** A word with a name behind it: adds a test, or says what is wrong. */
function named(word, value, tests) {
  const { header, frames, events } = run,
    index = (list) => list.indexOf(value);
  const radioNode = (radio) => (radio >= 0 ? header.radios[radio].node : -1);
  const radiosNamed = header.radios.map((radio) => radio.name === value || radio.name.split("/").pop() === value);
  if (word === "node") {
    const node = index(header.nodes);
    if (node < 0) return `there is no node ${value}`;
    tests.push((isEvents) =>
      isEvents
        ? (i) => events.node.at(i) === node
        : (i) => radioNode(frames.radio.at(i)) === node || radioNode(frames.peer.at(i)) === node,
    );
  } else if (word === "flow") {
    const flow = header.flows.findIndex((other) => other.name === value);
    if (flow < 0) return `there is no flow ${value}`;
    tests.push((isEvents) => (i) => (isEvents ? events : frames).stream.at(i) >> 2 === flow);
  } else if (word === "kind") {
    const kind = value.toUpperCase();
    if (!header.kinds.includes(kind)) return `kinds are ${header.kinds.join(", ")}`;
    tests.push((isEvents) => (isEvents ? null : (i) => shapeOf(i).kind === kind));
  } else if (word === "channel") {
    tests.push((isEvents) => (isEvents ? null : (i) => shapeOf(i).channel === Number(value)));
  } else {
    const node = index(header.nodes);
    if (node < 0 && !radiosNamed.includes(true))
      return `there is no ${word === "to" ? "node or radio" : "radio"} ${value}`;
    const column = word === "to" ? frames.peer : frames.radio;
    tests.push((isEvents) =>
      isEvents ? null : (i) => column.at(i) >= 0 && (radiosNamed[column.at(i)] || radioNode(column.at(i)) === node),
    );
  }
  return null;
}

/** All that a query finds: `{events, found}` with the places in the table in the order of time, or `{error}`. */
function find(text) {
  const query = readQuery(text);
  if (query.error) return query;
  const found = new Column(Int32Array),
    count = query.events ? run.events.length : run.frames.length;
  for (let i = 0; i < count; i++) {
    if (query.tests.every((test) => test(i))) found.push(i);
  }
  return { events: query.events, found };
}
