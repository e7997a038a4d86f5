// Reads the blocks of the page's data (their format is told in crates/sim/src/record/frames.rs).

/** The header: names behind all numbers. Called by the first script of the data. */
function begin(header) {
  run.header = header;
  document.title = `Timeline: ${header.title}`;
  run.bins = new Density(header);
  run.lengths = header.radios.map(() => 0);
  run.queues = header.radios.map((_, radio) => new Series(`queue of ${queueName(radio)}`, "packets", "queues"));
  run.backoffs = header.radios.map((radio) => new Series(`backoff of ${radio.name}`, "slots", "backoff"));
  const group = (level) =>
    level.unit === "byte" ? "windows" : level.name.startsWith("resequencer") ? "resequencer" : "queues";
  run.levels = header.levels.map((level) => new Series(level.name, level.unit, group(level)));
  run.sentLast = header.radios.map(() => null);
  run.receivedLast = header.nodes.map(() => null);
  run.attempts = new Map();
  onBegin();
}

/** Bytes of a block, and a place in them. */
class Reader {
  constructor(text) {
    const binary = atob(text);
    this.bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) this.bytes[i] = binary.charCodeAt(i);
    this.place = 0;
  }
  byte() {
    return this.bytes[this.place++];
  }
  varint() {
    let byte = this.bytes[this.place++];
    if (byte < 128) return byte;
    let value = byte & 127,
      scale = 128;
    do {
      byte = this.bytes[this.place++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }
  change() {
    const value = this.varint();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

/** A block of records, as base64. Called by each script of the data, which then leaves the document. */
function block(text) {
  document.currentScript.remove();
  const reader = new Reader(text);
  const last = { time: 0, shapes: [], sets: [], numbers: new Map(), levels: [] };
  const records = [
    readShape,
    readTransmission,
    readReception,
    readQueued,
    readFinished,
    readDelivery,
    readDrop,
    readLevel,
  ];
  while (reader.place < reader.bytes.length) {
    const tag = reader.byte();
    if ((tag & 7) !== 0) last.time += reader.change();
    records[tag & 7](reader, last, tag);
  }
  run.latest = Math.max(run.latest, last.time);
  onData();
}

/** The last block: how much there is. */
function end(totals) {
  document.currentScript.remove();
  run.end = totals;
  countUnheard();
  onEnd();
}

function readPacket(reader, last) {
  const stream = reader.varint();
  const number = (last.numbers.get(stream) ?? 0) + reader.change();
  last.numbers.set(stream, number);
  const created = last.time - reader.change();
  return { stream, number, created };
}

const NO_PACKET = { stream: -1, number: -1, created: -1 };

function pushPacket(columns, packet) {
  columns.stream.push(packet.stream);
  columns.number.push(packet.number);
  columns.created.push(packet.created);
}

const knownShapes = new Map();

function readShape(reader, last) {
  const kind = reader.byte();
  const [channel, size, rate, airtime, nav, more] = [0, 0, 0, 0, 0, 0].map(() => reader.varint());
  const key = [kind, channel, size, rate, airtime, nav, more].join();
  if (!knownShapes.has(key)) {
    knownShapes.set(key, run.shapes.length);
    const name = run.header.kinds[kind];
    const isData = name === "DATA" || name === "POLL" || name === "ANSWER";
    run.shapes.push({ kind: name, isData, channel, size, rate: rate / 10, airtime, nav, dozes: more % 2, mpdus: more >> 1 });
    run.longest = Math.max(run.longest, airtime);
  }
  last.shapes.push(knownShapes.get(key));
}

function readTransmission(reader, last, tag) {
  const { frames } = run;
  const radio = reader.varint();
  const peer = tag & 64 ? -1 : reader.varint();
  const shape = last.shapes[reader.varint()];
  const seq = tag & 32 ? reader.varint() : -1;
  const access = reader.varint();
  const window = access >= 2 ? reader.varint() : 0;
  const packet = tag & 16 ? readPacket(reader, last) : NO_PACKET;
  frames.start.push(last.time);
  frames.shape.push(shape);
  frames.radio.push(radio);
  frames.peer.push(peer);
  frames.seq.push(seq);
  frames.retry.push(attempts(radio, peer, shape, seq, tag & 8, packet));
  frames.drawn.push(access - 2);
  frames.window.push(window);
  frames.first.push(-1);
  frames.lost.push(peer < 0 ? OK : UNHEARD);
  pushPacket(frames, packet);
  if (tag & 16) run.sentLast[radio] = packet;
  if (access >= 2) run.backoffs[radio].push(last.time, access - 2);
  run.bins.add(radio, last.time, run.shapes[shape], tag & 8 ? RETRY : run.shapes[shape].isData ? DATA : CONTROL, 1);
  run.latest = Math.max(run.latest, last.time + run.shapes[shape].airtime);
}

/** How often a frame was sent before: of data by the retry bit, of RTS by the same packet's... those in a row. */
function attempts(radio, peer, shape, seq, isRetry, packet) {
  const before = run.attempts.get(radio);
  const kind = run.shapes[shape].kind;
  if (kind !== "RTS" && !run.shapes[shape].isData) return 0;
  const goesOn =
    before &&
    before.kind === kind &&
    before.peer === peer &&
    (kind === "RTS" ? isRetry || before.rts : isRetry && before.seq === seq);
  const count = goesOn ? Math.min(before.count + 1, 255) : 0;
  run.attempts.set(radio, { kind, peer, seq, count, rts: kind === "RTS" });
  return count;
}

function readReception(reader, last, tag) {
  const { receptions, frames } = run;
  if (!(tag & 16)) last.frame = frames.length - 1 - reader.varint();
  const frame = last.frame ?? run.lastReception;
  run.lastReception = last.frame = frame;
  const result = tag >> 6;
  let radio,
    signal = 255;
  if (tag & 32) {
    radio = -1 - readSet(reader, last);
  } else {
    radio = reader.varint();
    signal = reader.byte();
    if (result === OK && frames.stream.at(frame) >= 0) {
      run.receivedLast[run.header.radios[radio].node] = packetOf(frames, frame);
    }
    frames.lost.array[frame] = result;
    if (result !== OK) countLoss(frame);
  }
  receptions.next.push(frames.first.at(frame));
  frames.first.array[frame] = receptions.length;
  receptions.end.push(last.time);
  receptions.frame.push(frame);
  receptions.radio.push(radio);
  receptions.signal.push(signal);
  receptions.result.push(result);
}

/** The airtime of a frame counts as lost. */
function countLoss(frame) {
  const { frames } = run,
    shape = shapeOf(frame),
    own = frames.retry.at(frame) ? RETRY : shape.isData ? DATA : CONTROL;
  run.bins.add(frames.radio.at(frame), frames.start.at(frame), shape, own, -1);
  run.bins.add(frames.radio.at(frame), frames.start.at(frame), shape, LOST, 1);
}

/** Frames that their addressee never began to receive, at the end of a run or of what is there of it. */
function countUnheard() {
  for (let i = run.unheardUntil ?? 0; i < run.frames.length; i++)
    if (run.frames.lost.at(i) === UNHEARD) countLoss(i);
  run.unheardUntil = run.frames.length;
}

const knownSets = new Map();

function readSet(reader, last) {
  const number = reader.varint();
  if (number > 0) return last.sets[number - 1];
  const radios = [];
  for (let runs = reader.varint(), radio = 0; runs > 0; runs--) {
    radio += reader.varint();
    for (let count = reader.varint(); count > 0; count--) radios.push(radio++);
  }
  const key = radios.join();
  if (!knownSets.has(key)) {
    knownSets.set(key, run.sets.length);
    run.sets.push(Uint16Array.from(radios));
  }
  last.sets.push(knownSets.get(key));
  return knownSets.get(key);
}

const packetOf = (columns, index) => ({
  stream: columns.stream.at(index),
  number: columns.number.at(index),
  created: columns.created.at(index),
});

function setQueue(radio, time, change) {
  run.lengths[radio] = Math.max(0, run.lengths[radio] + change);
  run.queues[radio].push(time, run.lengths[radio]);
}

function readQueued(reader, last, tag) {
  const { queued } = run;
  const radio = reader.varint();
  if (!(tag & 64)) reader.varint();
  queued.time.push(last.time);
  queued.radio.push(radio);
  queued.ahead.push(run.lengths[radio]);
  pushPacket(queued, tag & 8 ? readPacket(reader, last) : NO_PACKET);
  setQueue(radio, last.time, 1);
}

function readFinished(reader, last, tag) {
  const { finished } = run;
  const radio = reader.varint(),
    outcome = reader.byte(),
    count = reader.varint();
  const packet = tag & 16 ? readPacket(reader, last) : tag & 8 ? run.sentLast[radio] : null;
  finished.time.push(last.time);
  finished.radio.push(radio);
  finished.outcome.push(outcome);
  finished.attempts.push(count);
  pushPacket(finished, packet ?? NO_PACKET);
  setQueue(radio, last.time, -1);
}

function pushEvent(time, node, reason, packet) {
  const { events } = run;
  events.time.push(time);
  events.node.push(node);
  events.reason.push(reason);
  pushPacket(events, packet ?? NO_PACKET);
  run.bins.mark(node, time, reason >= 0);
}

function readDelivery(reader, last, tag) {
  const node = reader.varint();
  pushEvent(last.time, node, -1, tag & 16 ? readPacket(reader, last) : run.receivedLast[node]);
}

function readDrop(reader, last) {
  const node = reader.varint(),
    reason = reader.varint();
  pushEvent(last.time, node, reason, readPacket(reader, last));
}

function readLevel(reader, last) {
  const level = reader.varint();
  last.levels[level] = (last.levels[level] ?? 0) + reader.change();
  run.levels[level].push(last.time, last.levels[level]);
}
