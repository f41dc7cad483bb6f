// Panels beside the map: figures, inside an agent, the certificate; text and tables, numbers with their units.

/** @import { Claim, Figures, Inside } from "./live.js" */

/** @param {number | null | undefined} value */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  return value.toLocaleString("en-GB", { maximumSignificantDigits: digits });
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string} text
 * @param {Partial<HTMLElementTagNameMap[Name]>} attributes
 */
export function cell(name, text, attributes = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...attributes });
}

/** @param {string} name @param {string[]} values */
export function row(name, ...values) {
  const line = document.createElement("tr");
  line.append(cell("th", name, { scope: "row" }), ...values.map((value) => cell("td", value)));
  return line;
}

/** @type {[string, (figures: Figures) => string][]} */
const FIGURES = [
  ["settled layers", ({ layers, depth }) => `${layers ?? "–"} of ${depth + 1}`],
  ["coverage", ({ coverage }) => `${number(coverage)} m²`],
  ["Lloyd's", ({ lloyd }) => (lloyd === null ? "–" : `${number(lloyd)} m²`)],
  ["beside Lloyd's", ({ coverage, lloyd }) => (lloyd && coverage !== null ? `× ${number(coverage / lloyd)}` : "–")],
  ["least distance", ({ closest }) => (closest === null ? "–" : `${number(closest)} m`)],
  ["misses", ({ missed }) => number(missed)],
  ["oldest message", ({ oldest }) => (oldest === null ? "at once" : `${oldest} steps`)],
  ["agents", ({ agents }) => number(agents, 7)],
];

/** @param {Element} body @param {Figures[]} variants */
export function showFigures(body, variants) {
  const rows = FIGURES.map(([name, text]) => row(name, ...variants.map(text)));
  if (variants.length > 1) rows.unshift(heads("", "first", "second"));
  body.replaceChildren(...rows);
}

/** @param {string[]} names */
function heads(...names) {
  const line = document.createElement("tr");
  line.append(...names.map((name) => cell("th", name, { scope: "col" })));
  return line;
}

// What an agent is about.
/** @param {Element} box @param {Inside} inside @param {(agent: number) => void} choose */
export function showInside(box, inside, choose) {
  const table = document.createElement("table");
  const add = (/** @type {string} */ name, /** @type {string} */ value) => table.append(row(name, value));
  add("role", inside.layer < 0 ? "lost" : inside.layer ? `follower, layer ${inside.layer}` : `${inside.role}, anchor`);
  add("at", `(${inside.position.map((part) => number(part, 4)).join(", ")}) m`);
  if (inside.goal) add("goal", `(${inside.goal.map((part) => number(part, 4)).join(", ")}) m`);
  const { cell: at = -1, goal_cell: end = -1, next_cell: next = -1, miss = 0 } = inside;
  if (inside.resolution && at >= 0) add("in cell", `${at} of ${inside.resolution ** 2}`);
  if (end >= 0) add("goal cell", `${end}`);
  if (inside.motion === "walk" && next >= 0) add("next cell", `${next}`);
  if (miss > 0) add("lands off its reach set by", `${number(miss)} m`);
  if (inside.learned) {
    const { slip, deviation, records } = inside.learned;
    add("learned", `slips ${number(100 * slip)} ± ${number(100 * deviation)} % (${records} moves)`);
  }
  box.replaceChildren(cell("h3", `Agent ${inside.agent}`), table);
  if (inside.hears) box.append(neighbours(inside, inside.hears, choose));
  if (inside.note) box.append(cell("p", inside.note, { className: "hint" }));
}

// Whom it hears, how old that is, and its weights: now, and after the step, its row of Γ.
/** @param {Inside} inside @param {number[]} hears @param {(agent: number) => void} choose */
function neighbours({ weights, becomes, ages }, hears, choose) {
  const table = document.createElement("table");
  table.className = "neighbours";
  table.append(heads("hears", "age", "weight", "becomes"));
  hears.forEach((agent, corner) => {
    const line = document.createElement("tr");
    const button = cell("button", `${agent}`, { type: "button", onclick: () => choose(agent) });
    const name = document.createElement("td");
    name.append(button);
    const age = ages ? (ages[corner] < 0 ? "never" : `${ages[corner]} steps`) : "now";
    line.append(name, ...[age, number(weights?.[corner]), number(becomes?.[corner])].map((text) => cell("td", text)));
    table.append(line);
  });
  return table;
}

// Claim by claim; one that speaks of an agent or a step leads there.
/** @param {Element} box @param {{ title: string, claims: Claim[] }} found @param {(claim: Claim) => void} go */
export function showClaims(box, { title, claims }, go) {
  const list = document.createElement("ul");
  for (const claim of claims) {
    const line = cell("li", "", { className: claim.verdict.replaceAll(" ", "-") });
    line.append(cell("b", claim.title), cell("i", claim.verdict), cell("span", claim.summary), cell("code", claim.equation));
    if (claim.agent !== null || claim.step !== null) {
      const where = [claim.agent !== null && `agent ${claim.agent}`, claim.step !== null && `step ${claim.step}`];
      line.append(cell("button", `Show ${where.filter(Boolean).join(", ")}`, { type: "button", onclick: () => go(claim) }));
    }
    list.append(line);
  }
  box.replaceChildren(cell("h3", title), list);
}
