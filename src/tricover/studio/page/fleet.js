// A fleet that is watched: how far it is, one of its agents, orders of the operator, and faults on demand.

import { cell, number, row } from "./panels.js";
import { all, button, field, part } from "./parts.js";

/** @import { FleetFacts, Flight, Member } from "./live.js" */
/** @import { Mark } from "./map.js" */
/** @import { Studio } from "./studio.js" */

const SURE = 4000; // milliseconds in which an order has to be clicked once more
const FINAL = ["home", "land", "end"]; // orders that cannot be taken back
const orders = () => /** @type {NodeListOf<HTMLButtonElement>} */ (all("orders", "button"));

/** @type {[name: string, text: (flight: Flight, count: number) => string][]} */
const FIGURES = [
  ["alive", ({ living }, count) => `${living.length} of ${count}`],
  ["beliefs", ({ agreed, beliefs }) => (agreed ? "all agree" : `${beliefs}, not agreed`)],
  ["steps", ({ step, fastest }) => (step < 0 ? "not all have spoken" : `${step} to ${fastest}`)],
  ["rounds a second", ({ rounds }) => number(rounds)],
  ["at their goals", ({ settled }) => `${settled}`],
  ["settled", ({ done }) => (done ? "yes" : "no")],
  ["latency, median", ({ latency }) => `${number(1000 * latency[0])} ms`],
  ["latency, 99 %", ({ latency }) => `${number(1000 * latency[1])} ms`],
  ["messages", ({ messages }) => number(messages, 9)],
  ["dropped", ({ refused }) => Object.entries(refused).map(([why, count]) => `${count} ${why}`).join(", ") || "none"],
];

export class Fleet {
  /** @param {Studio} studio */
  constructor(studio) {
    this.studio = studio;
    this.watches = false;
    this.doubting = 0;
    /** @type {FleetFacts | null} */
    this.facts = null;
    /** @type {Flight | null} */
    this.flight = null;
    /** @type {Member | null} */
    this.member = null; // the agent that was clicked
    this.listen();
  }

  /** @param {string} name @param {object} words */
  say(name, words = {}) {
    this.studio.say(name, words);
  }

  // --- what the studio says ---

  // A fleet, or its network has changed.
  /** @param {FleetFacts} facts */
  begin(facts) {
    const { studio } = this;
    this.watches = studio.tools.fixed = true;
    this.facts = facts;
    document.body.dataset.watching = "true";
    Object.assign(studio.camera, { size: facts.size, corner: facts.corner });
    const nothing = { agents: 0, targets: 0, length: 0, ended: false, most: 0, by_hand: false, recorded: false, goal: "", values: {} };
    const variants = [{ ...nothing, ...facts, motion: "a fleet in the air" }];
    const { size, corner } = facts;
    studio.state = { step: 0, playing: true, speed: 10, undo: 0, redo: 0, size, corner, variants };
    studio.fit(variants);
    studio.maps[0].tell(variants[0]);
    studio.maps[0].play(true);
    studio.maps[0].above.setAttribute("aria-label", `Map of ${facts.name}. Up and down choose an agent, Tab leaves.`);
    studio.deepen(facts.depth);
    for (const one of orders()) one.disabled = !facts.orders;
    part("no-orders").hidden = facts.orders;
    field("whom").disabled = !facts.orders;
    part("not-ours").hidden = facts.processes;
    part("faults", "form").hidden = !facts.processes;
    part("freeze").textContent = `Freeze ${facts.frozen_for} s`;
  }

  // How far the flight is.
  /** @param {Flight} flight */
  show(flight) {
    const { facts } = this;
    if (!facts) return;
    this.flight = flight;
    const map = this.studio.maps[0];
    const there = new Set(flight.living);
    const crossed = new Set(flight.missed); // by most
    for (let agent = 0; agent < map.team.count; agent++) if (!there.has(agent) && !flight.over) crossed.add(agent);
    /** @type {(agents: Iterable<number>, mark: Mark) => [number, Mark][]} */
    const marked = (agents, mark) => Array.from(agents, (agent) => [agent, mark]);
    const marks = [...marked(crossed, "cross"), ...marked(flight.apart, "ring"), ...marked(flight.frozen, "bars")];
    if (marks.length !== map.marks.length) map.draw();
    map.marks = marks;
    part("flight", "tbody").replaceChildren(...FIGURES.map(([name, text]) => row(name, text(flight, map.team.count))));
    sentences(part("flight", "div"), flight.says);
    for (const one of orders()) {
      one.setAttribute("aria-pressed", String(one.dataset.order === flight.ordered));
      one.disabled = !facts.orders || flight.over !== null;
    }
    this.showFaults(flight);
    this.showEnd(facts, flight.over);
    this.studio.ask();
  }

  // What is asked for stays as it is while somebody changes it.
  /** @param {Flight} flight */
  showFaults({ faults: { loss, apart }, over }) {
    if (document.activeElement !== part("loss")) field("loss").value = String(100 * loss);
    part("lost").textContent = `${field("loss").value} %`;
    if (apart && document.activeElement !== part("apart")) field("apart").value = apart;
    part("part").textContent = apart ? "Heal" : "Cut off";
    part("part").setAttribute("aria-pressed", String(Boolean(apart)));
    for (const name of ["loss", "apart"]) field(name).disabled = over !== null;
    for (const name of ["half", "part"]) button(name).disabled = over !== null;
  }

  // What is over has no figures any more: nobody is alive.
  /** @param {FleetFacts} facts @param {Flight["over"]} over */
  showEnd(facts, over) {
    part("over").hidden = over === null;
    part("flight").hidden = part("faults").hidden = over !== null;
    this.studio.maps[0].label.textContent = `${facts.name}: a fleet ${over === null ? "in the air" : "that has flown"}`;
    if (over === null) return;
    sentences(part("over", "div"), over.says);
    part("flown").hidden = !over.opens;
  }

  // One agent.
  /** @param {Member} member */
  look(member) {
    const { facts, flight } = this;
    if (!facts || !flight || this.studio.chosen?.agent !== member.agent) return;
    this.member = member;
    const [x, y] = member.position;
    const hears = member.hears.map(([other, age]) => `${other} (${age < 0 ? "never" : age === 0 ? "now" : `${age} steps old`})`);
    const last = member.alive ? "" : "last ";
    const rows = [
      ["is", member.alive ? (member.frozen ? "alive, frozen" : "alive") : "not there"],
      [`${last}role`, member.role],
      [`${last}step`, member.step < 0 ? "–" : `${member.step}`],
      [`${last}at`, `(${number(x, 4)}, ${number(y, 4)}) m`],
      [member.alive ? "hears" : "heard", hears.join(", ") || "nobody"],
    ];
    if (member.alive) rows.push(["believes gone", ranges(member.gone).replaceAll(",", ", ") || "nobody"]);
    if (member.alive) rows.push(["agrees with most", member.agrees ? "yes" : "no"]);
    if (!member.alive) rows.push(["taken for dead", flight.missed.includes(member.agent) ? "yes" : "not yet"]);
    else if (member.holds) rows.push(["holds", "stays where it is"]);
    else if (member.settled) rows.push(["goal", "is there"]);
    else if (member.off) rows.push(["to its goal", `${number(member.off)} m`]);
    const body = document.createElement("table");
    body.append(...rows.map(([name, text]) => row(name, text)));
    part("member", ".hint").hidden = true;
    part("member", "div").replaceChildren(cell("h3", `Agent ${member.agent}`), body);
    part("to-process").hidden = !facts.processes;
    const flies = flight.over === null;
    button("kill").disabled = !flies || !member.running;
    button("freeze").disabled = !flies || !member.running || member.frozen;
    button("join").disabled = !flies || member.running;
  }

  forget() {
    this.member = null;
    part("member", ".hint").hidden = false;
    part("member", "div").replaceChildren();
    part("to-process").hidden = true;
  }

  // The page is a studio as any other again.
  leave() {
    if (!this.watches) return;
    const { studio } = this;
    this.watches = studio.tools.fixed = false;
    document.body.dataset.watching = "false";
    studio.state = null;
    studio.choose(null);
    studio.maps[0].marks = [];
  }

  // --- what the reader does ---

  listen() {
    for (const one of orders()) one.addEventListener("click", () => this.press(one));
    for (const name of ["kill", "freeze", "join"]) {
      part(name).addEventListener("click", () => this.member && this.say(name, { agent: this.member.agent }));
    }
    part("flown").addEventListener("click", () => this.say("flown"));
    part("loss").addEventListener("input", () => (part("lost").textContent = `${field("loss").value} %`));
    part("loss").addEventListener("change", () => this.disturb(this.flight?.faults.apart ?? ""));
    part("half").addEventListener("click", () => (field("apart").value = ranges(this.leftHalf())));
    part("faults", "form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.disturb(this.flight?.faults.apart ? "" : field("apart").value);
    });
  }

  // What cannot be taken back is asked for twice.
  /** @param {HTMLElement} pressed */
  press(pressed) {
    const word = pressed.dataset.order ?? "";
    const sure = pressed.classList.contains("sure") || !FINAL.includes(word);
    if (sure) this.order(word, field("whom").value);
    this.doubt(sure ? null : pressed);
  }

  // The one order that waits to be asked for again.
  /** @param {HTMLElement | null} pressed */
  doubt(pressed) {
    clearTimeout(this.doubting);
    for (const other of all("orders", ".sure")) {
      other.classList.remove("sure");
      other.textContent = other.dataset.name ?? "";
    }
    if (pressed === null) return;
    pressed.classList.add("sure");
    pressed.dataset.name = pressed.textContent ?? "";
    pressed.textContent += ": sure?";
    this.doubting = setTimeout(() => this.doubt(null), SURE);
  }

  /** @param {string} word @param {string} agents such as "0-5,7"; empty: all */
  order(word, agents = "") {
    this.say("order", { word, agents });
  }

  /** @param {string} apart */
  disturb(apart) {
    this.say("disturb", { loss: Number(field("loss").value) / 100, apart });
  }

  leftHalf() {
    const { team } = this.studio.maps[0];
    const agents = Array.from({ length: team.count }, (_, agent) => agent);
    agents.sort((one, other) => team.positions[2 * one] - team.positions[2 * other]);
    return agents.slice(0, Math.floor(team.count / 2)).sort((one, other) => one - other);
  }

  // Keys of the map.
  /** @returns {Record<string, () => void>} */
  keys() {
    const { studio } = this;
    return {
      " ": () => this.order(this.flight?.ordered === "pause" ? "go" : "pause"),
      ArrowUp: () => studio.neighbour(1),
      ArrowDown: () => studio.neighbour(-1),
      "+": () => studio.zoom(1.5),
      "-": () => studio.zoom(1 / 1.5),
      0: () => studio.zoom(0),
      "[": () => studio.layer(-1),
      "]": () => studio.layer(1),
      Escape: () => studio.choose(null),
    };
  }
}

// Sentences, written anew only where they changed: a reader may be marking them.
/** @param {HTMLElement} box @param {string[]} says */
function sentences(box, says) {
  const text = says.join("\n");
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  box.replaceChildren(...says.map((sentence) => cell("p", sentence)));
}

// Agents in ascending order as they are written: "0-5,7".
/** @param {number[]} agents */
function ranges(agents) {
  /** @type {[number, number][]} */
  const parts = [];
  for (const agent of agents) {
    const last = parts.at(-1);
    if (last && last[1] === agent - 1) last[1] = agent;
    else parts.push([agent, agent]);
  }
  return parts.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
