// Loads pages in Chromium as a reader does, wide and narrow, dark and light, and fails for a message on the console, a
// request to anywhere (from an address: to anybody else), a serious finding of axe-core, or keys that do not reach what
// can be used.
//
// usage: check.mjs [--keep DIR] NAME=FILE-OR-ADDRESS...   (--keep writes a screenshot of each page in each shape)

import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const WIDTHS = [1440, 390];
const SCHEMES = ["light", "dark"];
// Findings below this do not keep anybody from reading or using a page.
const SERIOUS = ["serious", "critical"];
// Presses of the tab key that are followed.
const TABS = 40;

const words = process.argv.slice(2);
const keep = words[0] === "--keep" ? (words.shift(), resolve(words.shift())) : null;
const place = (text) => (text.startsWith("http://") ? text : pathToFileURL(resolve(text)).href);
const pages = words.map((word) => [word.slice(0, word.indexOf("=")), place(word.slice(word.indexOf("=") + 1))]);
if (pages.length === 0) throw new Error("name pages: NAME=FILE-OR-ADDRESS");
if (keep) mkdirSync(keep, { recursive: true });

// Each press moves on, to something that can be seen and stands further down or on the right of what was before.
async function tabOrder(page, wrong) {
  let before = null;
  for (let i = 0; i < TABS; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const one = document.activeElement;
      if (!one || one === document.body) return null;
      const box = one.getBoundingClientRect();
      const place = [...document.querySelectorAll("*")].indexOf(one);
      return { place, seen: box.width > 0 && box.height > 0, name: one.outerHTML.slice(0, 80) };
    });
    if (at === null) return i;
    if (!at.seen) wrong.push("the tab key reaches what cannot be seen: " + at.name);
    if (before !== null && at.place <= before) wrong.push("the tab key goes back: " + at.name);
    before = at.place;
  }
  return TABS;
}

async function check(browser, name, url, width, scheme) {
  const wrong = [];
  const isOwn = (to) => (url.startsWith("http://") ? to.startsWith(url) : to === url);
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, bypassCSP: false });
  const page = await context.newPage();
  page.on("console", (message) => wrong.push("console: " + message.text()));
  page.on("pageerror", (error) => wrong.push("error: " + error.message));
  page.on("request", (request) => {
    const to = request.url();
    if (!isOwn(to) && !to.startsWith("data:")) wrong.push("request: " + to);
  });
  await page.goto(url, { waitUntil: "load" });
  // Canvases are drawn with the next frames.
  await page.waitForTimeout(300);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (beyond > 0) wrong.push("the page is " + beyond + " px wider than the screen");
  if (keep) await page.screenshot({ path: join(keep, `${name}-${width}-${scheme}.png`), fullPage: true });
  const reached = await tabOrder(page, wrong);
  if (reached === 0) wrong.push("the tab key reaches nothing");
  await context.close();
  // What axe-core finds depends on the width or on the colours: two of the four shapes have each of both.
  if ((width === WIDTHS[0]) !== (scheme === SCHEMES[0])) return wrong;
  // The page's policy forbids foreign scripts, axe-core too: it gets a page of its own whose policy is passed over.
  const examined = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, bypassCSP: true });
  const other = await examined.newPage();
  await other.goto(url, { waitUntil: "load" });
  await other.addScriptTag({ path: AXE });
  const { violations } = await other.evaluate(() => globalThis.axe.run());
  for (const found of violations.filter(({ impact }) => SERIOUS.includes(impact))) {
    const where = found.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ");
    wrong.push(`axe-core: ${found.impact}: ${found.help} (${found.nodes.length}: ${where})`);
  }
  await examined.close();
  return wrong;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
let failed = 0;
for (const [name, url] of pages) {
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      const wrong = await check(browser, name, url, width, scheme);
      wrong.forEach((what) => console.error(`${name}, ${width} px, ${scheme}: ${what}`));
      failed += wrong.length > 0;
    }
  }
  console.log(`${name}: looked at in ${WIDTHS.length * SCHEMES.length} shapes`);
}
await browser.close();
process.exit(failed ? 1 : 0);
