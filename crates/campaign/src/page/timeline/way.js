// The way of a packet: everything that the run says of it, in order, with each wait and its cause.

const ROLES = ["data", "ACK", "datagram", "from outside"];
const isSame = (columns, i, packet) =>
  columns.created.array[i] === packet.created &&
  columns.number.array[i] === packet.number &&
  columns.stream.array[i] === packet.stream;

/** The records of a packet in a table, from its making on. */
function recordsOf(columns, time, packet) {
  const found = [];
  for (let i = lowerBound(columns[time], packet.created - AHEAD), n = columns.length; i < n; i++) {
    if (isSame(columns, i, packet)) found.push(i);
  }
  return found;
}

const flowName = (packet) => run.header.flows[packet.stream >> 2]?.name ?? "external";

/** Lengths of time as people read them. */
function lasting(ns) {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${+(ns / 1e3).toFixed(1)} µs`;
  return ns < 1e9 ? `${+(ns / 1e6).toFixed(3)} ms` : `${+(ns / 1e9).toFixed(3)} s`;
}

/** How long the medium was busy at a radio within [from, to), and with whose frames. */
function busy(radio, from, to) {
  let total = 0,
    until = from;
  const by = new Map();
  for (let i = firstFrame(from); i < run.frames.length && run.frames.start.at(i) < to; i++) {
    const sender = run.frames.radio.at(i);
    if (sender !== radio && receptionAt(i, radio) < 0) continue;
    const start = Math.max(until, run.frames.start.at(i)),
      end = Math.min(to, endOf(i));
    if (end <= start) continue;
    total += end - start;
    until = end;
    const name = sender === radio ? "its own answers" : radioName(sender);
    by.set(name, (by.get(name) ?? 0) + 1);
  }
  return {
    total,
    by: [...by]
      .map(([name, count]) => `${name} (${count})`)
      .slice(0, 4)
      .join(", "),
  };
}

/** Frames on the same channel that overlap a frame. */
function overlapping(frame) {
  const names = new Set(),
    { start, radio } = run.frames,
    end = endOf(frame);
  for (let i = firstFrame(start.at(frame)); i < run.frames.length && start.at(i) < end; i++) {
    if (i === frame || endOf(i) <= start.at(frame) || shapeOf(i).channel !== shapeOf(frame).channel) continue;
    names.add(`${shapeOf(i).kind} of ${radioName(radio.at(i))}`);
  }
  return [...names].slice(0, 4).join(", ");
}

/** The fate of a frame at its addressee. */
function fate(frame) {
  const { frames } = run,
    peer = frames.peer.at(frame);
  if (peer < 0) return { text: "to everybody", good: true };
  const reception = receptionAt(frame, peer);
  if (reception < 0) {
    for (
      let i = firstFrame(frames.start.at(frame));
      i < run.frames.length && frames.start.at(i) < endOf(frame);
      i++
    ) {
      if (frames.radio.at(i) === peer && endOf(i) > frames.start.at(frame))
        return { text: `${radioName(peer)} was sending itself` };
    }
    return { text: `${radioName(peer)} could not lock on to it: out of range, dozing, or busy with another frame` };
  }
  const time = run.receptions.end.at(reception);
  switch (run.receptions.result.at(reception)) {
    case OK:
      return { text: `received by ${radioName(peer)}`, good: true, time };
    case COLLISION:
      return { text: `collision at ${radioName(peer)} with ${overlapping(frame) || "another frame"}`, time };
    default:
      return { text: `damaged by noise on the way to ${radioName(peer)}`, time };
  }
}

/** The time at which a packet that a MAC got came to the head of its queue: when all before it had left. */
function headOfLine(queued) {
  let ahead = run.queued.ahead.at(queued);
  const radio = run.queued.radio.at(queued),
    time = run.queued.time.at(queued);
  for (let i = lowerBound(run.finished.time, time); ahead > 0 && i < run.finished.length; i++) {
    if (run.finished.radio.at(i) === radio && --ahead === 0) return run.finished.time.at(i);
  }
  return time;
}

/** Why a frame did not go out at once. */
function contention(frame, from) {
  const { frames } = run,
    radio = frames.radio.at(frame),
    start = frames.start.at(frame),
    drawn = frames.drawn.at(frame);
  const { slot_ns: slot, sifs_ns: sifs } = run.header.radios[radio];
  if (drawn === RESPONSE) return "goes on after an answer";
  if (drawn === IMMEDIATE) return "the medium had been idle; what is left of DIFS and turnaround";
  const other = busy(radio, from, start);
  const parts =
    drawn > 0 ? [`backoff of ${drawn} slots, ${lasting(drawn * slot)} (window ${frames.window.at(frame)})`] : [];
  parts.push(`DIFS ${lasting(sifs + 2 * slot)}`);
  if (other.total > 0) parts.push(`medium busy for ${lasting(other.total)} with frames of ${other.by}`);
  return parts.join("; ");
}

const crowd = (ahead) => (ahead ? `behind ${ahead} in its queue` : "which has no other");

/** The steps of a packet's way: `{time, text, wait, good, bad, frame}` in the order of time. */
function wayOf(packet) {
  const { frames, queued, finished, events } = run,
    steps = [];
  const sent = recordsOf(frames, "start", packet),
    given = recordsOf(queued, "time", packet);
  steps.push({ time: packet.created, text: `made by flow ${flowName(packet)}` });
  for (const i of given)
    steps.push({
      time: queued.time.at(i),
      given: i,
      text: `given to ${queueName(queued.radio.at(i))}, ${crowd(queued.ahead.at(i))}`,
    });
  for (const i of sent) {
    const end = fate(i),
      again = frames.retry.at(i) ? `, retry ${frames.retry.at(i)}` : "";
    steps.push({
      time: frames.start.at(i),
      frame: i,
      text: `${shapeOf(i).kind} by ${radioName(frames.radio.at(i))}${again}: ${lasting(shapeOf(i).airtime)} on the air`,
    });
    steps.push({
      time: end.time ?? endOf(i),
      frame: i,
      text: end.text,
      good: end.good,
      bad: !end.good,
      arrives: end.good && frames.peer.at(i),
    });
  }
  for (const i of recordsOf(finished, "time", packet)) {
    const outcome = run.header.outcomes[finished.outcome.at(i)];
    steps.push({
      time: finished.time.at(i),
      text: `${queueName(finished.radio.at(i))} is done: ${outcome} after ${finished.attempts.at(i)}`,
      done: true,
      bad: finished.outcome.at(i) > 1 && finished.outcome.at(i) < 6,
    });
  }
  for (const i of recordsOf(events, "time", packet)) {
    const node = run.header.nodes[events.node.at(i)],
      reason = events.reason.at(i);
    const text =
      reason < 0
        ? `delivered at ${node}, ${lasting(events.time.at(i) - packet.created)} after it was made`
        : `dropped at ${node}: ${run.header.reasons[reason].replaceAll("_", " ")}`;
    steps.push({ time: events.time.at(i), text, good: reason < 0, bad: reason >= 0, event: i });
  }
  steps.sort((a, b) => a.time - b.time);
  return withWaits(steps);
}

/** Puts the cause of each wait between the steps. */
function withWaits(steps) {
  const all = [];
  let before = null,
    head = null;
  for (const step of steps) {
    const gap = before ? step.time - before.time : 0;
    const wait = (from, text) => {
      if (step.time > from) all.push({ wait: true, text: `${lasting(step.time - from)}: ${text}` });
    };
    if (before && step.given !== undefined) {
      const radio = run.header.radios[run.queued.radio.at(step.given)];
      if (gap > 0)
        wait(
          before.time,
          before.arrives >= 0 && before.good
            ? "in the node, before it goes on"
            : radio.trunk && !radio.queue
              ? `above the MAC: no member of trunk ${radio.trunk} was free, or its window was full`
              : "above the MAC: for a route, an address, or a place in a queue",
        );
      head = headOfLine(step.given);
    } else if (step.frame !== undefined && !step.good && !step.bad) {
      if (head !== null && before?.given !== undefined && head > before.time) {
        all.push({
          wait: true,
          text: `${lasting(head - before.time)}: in the queue, until all before it had left`,
        });
        wait(head, contention(step.frame, head));
      } else if (gap > 0) {
        wait(before.time, `${before.bad ? "no answer, then " : ""}${contention(step.frame, before.time)}`);
      }
    } else if (step.event !== undefined && gap > 0) {
      wait(before.time, resequenced(step, steps));
    }
    all.push(step);
    if (!step.done) before = step;
  }
  return all;
}

/** Why a packet that had come was not delivered at once: what came at the time at which it was. */
function resequenced(step, steps) {
  const arrival = steps.findLast((other) => other.arrives >= 0 && other.good && other.time <= step.time);
  if (!arrival || run.events.reason.at(step.event) >= 0) return "waiting";
  const own = run.header.radios[arrival.arrives];
  if (!own.trunk) return "in the node";
  for (
    let i = lowerBound(run.receptions.end, step.time - GATHERED);
    i < run.receptions.length && run.receptions.end.at(i) <= step.time + GATHERED;
    i++
  ) {
    const radio = run.receptions.radio.at(i);
    const isThen = Math.abs(step.time - run.receptions.end.at(i) - 0.5) < 1;
    if (radio >= 0 && isThen && run.header.radios[radio].node === own.node && run.receptions.result.at(i) === OK) {
      const { kind } = shapeOf(run.receptions.frame.at(i));
      return `held by the resequencer of trunk ${own.trunk}, until ${kind} came by ${radioName(radio)}`;
    }
  }
  return `held by the resequencer of trunk ${own.trunk}, until its timer`;
}
