// Puts the page's data into its places: cells to choose among, plots, map, tables.

const ROWS_SHOWN = 50;
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// A value of a table as text, and as what it is sorted by.
const valueOf = (value) => (Array.isArray(value) ? value[0] : value);
function cellText(value, unit) {
  if (!Array.isArray(value)) return shown(value, unit);
  if (value[1] !== "m") return shown(value[0], value[1]);
  return value[0] === null ? "any distance" : digits(value[0]) + " m";
}

// A table whose headings sort it; a long one shows its first rows until it is asked for all.
function table({ title, head, rows }) {
  const body = element("tbody");
  const all = { rows, shown: rows.length > ROWS_SHOWN + 10 ? ROWS_SHOWN : rows.length, by: null, down: true };
  const fill = () => {
    body.replaceChildren(...all.rows.slice(0, all.shown).map((row) => {
      const line = element("tr", {}, element("th", { scope: "row" }, row[0]));
      row.slice(1).forEach((value, i) => line.append(element("td", { class: "n" }, cellText(value, head[i][1]))));
      return line;
    }));
  };
  const headings = [["name", ""], ...head].map(([name], column) => {
    const button = element("button", { type: "button" }, name);
    const heading = element("th", { scope: "col", class: column ? "n" : "" }, button);
    button.addEventListener("click", () => {
      all.down = all.by === column ? !all.down : column > 0;
      all.by = column;
      const isText = (a, b) => typeof a === "string" || typeof b === "string";
      const number = (a) => a ?? -Number.MAX_VALUE;
      const order = (a, b) => (isText(a, b) ? String(a).localeCompare(String(b)) : number(a) - number(b));
      all.rows = [...rows].sort((a, b) => order(valueOf(a[column]), valueOf(b[column])) * (all.down ? -1 : 1));
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", all.down ? "descending" : "ascending");
      fill();
    });
    return heading;
  });
  fill();
  const top = element("thead", {}, element("tr", {}, ...headings));
  const made = element("table", {}, element("caption", {}, title), top, body);
  const place = element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": title }, made);
  if (all.shown === rows.length) return place;
  const more = element("button", { type: "button", class: "more" }, "Show all " + rows.length + " rows");
  more.addEventListener("click", () => { all.shown = rows.length; fill(); more.remove(); });
  return element("div", {}, place, more);
}

let plan = null;

function show(index) {
  const cell = data.cells[index];
  showCharts(cell, byId("charts"));
  byId("rows").replaceChildren(...cell.tables.map(table));
  if (plan && plan.stop) plan.stop();
  const map = data.maps[cell.map];
  plan = map ? new PlanOfNodes(map, data.duration) : null;
  byId("plan").replaceChildren(...(plan ? plan.place() : [element("p", {}, "The result has no map.")]));
}

time.end = time.to = data.duration || 1;
const choice = byId("cell");
if (choice) {
  choice.append(...data.cells.map((cell, i) => element("option", { value: String(i) }, cell.label || "cell " + i)));
  choice.addEventListener("change", () => show(Number(choice.value)));
}
byId("looked").hidden = false;
if (data.cells.length > 0) show(0);
