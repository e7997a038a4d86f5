// Measures a timeline.html in headless Chromium: time to the first picture and to the last frame, and pictures a
// second while it is zoomed and moved, with the processor time that a picture takes of all the browser's processes.
//
//   node benches/timeline.mjs DIR/timeline.html [CHROMIUM]
//
// NICE=-15 (root) puts the browser before what else the machine does.
// Needs node 22 (or 20 with --experimental-websocket) and Chromium, and nothing else: it speaks the DevTools protocol.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [file, chromium = "/usr/bin/chromium"] = process.argv.slice(2);
if (!file) {
  console.error("usage: node benches/timeline.mjs DIR/timeline.html [CHROMIUM]");
  process.exit(2);
}

const profile = mkdtempSync(join(tmpdir(), "timeline-"));
const options = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-sync",
  "--disable-background-networking",
  "--disable-component-update",
  "--remote-debugging-port=0",
  "--window-size=1440,900",
];
const browser = spawn(
  "nice",
  ["-n", process.env.NICE ?? "0", chromium, ...options, `--user-data-dir=${profile}`, "about:blank"],
  { stdio: "ignore" },
);
process.on("exit", () => browser.kill());
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function connect() {
  for (let tries = 0; tries < 200; tries++) {
    await pause(100);
    try {
      const port = readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n")[0];
      const pages = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
      const page = pages.find((target) => target.type === "page");
      if (page) return new WebSocket(page.webSocketDebuggerUrl);
    } catch {
      /* not yet there */
    }
  }
  throw new Error("Chromium does not answer");
}

const socket = await connect();
await new Promise((open) => socket.addEventListener("open", open));
const answers = new Map();
let number = 0;
socket.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  if (message.method === "Runtime.exceptionThrown") console.error(message.params.exceptionDetails.text);
  answers.get(message.id)?.(message.result);
});
const call = (method, params = {}) =>
  new Promise((done) => {
    answers.set(++number, done);
    socket.send(JSON.stringify({ id: number, method, params }));
  });
const ask = async (expression) =>
  (await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value;

// Pictures a second of 120 pictures, each after one more event; the longest wait for one.
const MOTION = (event) => `new Promise((done) => {
  const waits = []; let last = performance.now(), count = 0;
  const next = (now) => {
    waits.push(now - last); last = now;
    if (++count > 120) {
      const late = waits.slice(2);
      return done({ rate: 1000 * late.length / late.reduce((a, b) => a + b), longest: Math.max(...late) });
    }
    ${event};
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;
const wheel = (fields) =>
  `canvas.dispatchEvent(new WheelEvent("wheel", { clientX: 700, clientY: 300, cancelable: true, ${fields} }))`;

// Processor time of the browser's processes so far [ms]; the kernel counts it in hundredths of a second.
function processorTime() {
  const parents = new Map(),
    times = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number)) {
    try {
      const fields = readFileSync(`/proc/${id}/stat`, "utf8").split(") ").pop().split(" ");
      parents.set(id, Number(fields[1]));
      times.set(id, 10 * (Number(fields[11]) + Number(fields[12])));
    } catch {
      /* gone */
    }
  }
  let sum = 0;
  for (const [id, time] of times) {
    let above = id;
    while (above > 1 && above !== browser.pid) above = parents.get(above) ?? 0;
    if (above === browser.pid) sum += time;
  }
  return sum;
}

async function move(name, event) {
  const before = processorTime(),
    { rate, longest } = await ask(MOTION(event)),
    cost = (processorTime() - before) / 120;
  console.log(
    `${name.padEnd(24)}${rate.toFixed(0).padStart(4)} pictures/s, longest wait ${longest.toFixed(0)} ms, ` +
      `${cost.toFixed(1)} ms of processor a picture`,
  );
}

try {
  await call("Page.enable");
  await call("Runtime.enable");
  await call("Page.navigate", { url: `file://${resolve(file)}` });
  while (!(await ask("performance.getEntriesByName('all').length"))) await pause(100);
  await pause(500);
  const marks = await ask("['picture', 'all'].map((name) => performance.getEntriesByName(name)[0].startTime)");
  const [frames, size] = [await ask("run.frames.length"), statSync(file).size];
  console.log(`frames            ${frames}`);
  console.log(
    `size              ${(size / 1e6).toFixed(1)} MB, ${(size / frames).toFixed(1)} byte a frame`,
  );
  console.log(`first picture     ${(marks[0] / 1e3).toFixed(2)} s`);
  console.log(`all frames read   ${(marks[1] / 1e3).toFixed(2)} s`);
  const motions = [
    ["zoom out and in, far", wheel("deltaY: count % 40 < 20 ? -60 : 60")],
    ["zoom to microseconds", wheel("deltaY: -60")],
    ["move, near", wheel("deltaX: 40, deltaY: 0")],
    ["zoom to the whole run", wheel("deltaY: 60")],
  ];
  for (const [name, event] of motions) await move(name, event);
  for (const share of [0.5, 0.15, 0.05, 0.005]) {
    await ask(`setView(run.header.duration_ns * 0.3, run.header.duration_ns * ${share})`);
    await move(`move, ${100 * share} % in view`, wheel("deltaX: 20, deltaY: 0"));
  }
} finally {
  browser.kill();
  await new Promise((gone) => browser.once("exit", gone));
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(0);
