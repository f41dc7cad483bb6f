// A fleet that is watched: how far it is, one of its agents, orders of the operator, and faults on demand.

import { cell, number, row } from "./panels.js";

const SURE = 4000; // milliseconds in which an order has to be clicked once more
const FINAL = ["home", "land", "end"]; // orders that cannot be taken back
const part = (name) => document.getElementById(name);
const table = (name) => part(name).querySelector("tbody");

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
  constructor(studio) {
    this.studio = studio;
    this.watches = false;
    this.facts = null; // who is watched, and what can be done
    this.flight = null; // how far it is
    this.member = null; // the agent that was clicked
    this.listen();
  }

  say(name, words) {
    this.studio.say(name, words);
  }

  // --- what the studio says ---

  // A fleet, or its network has changed.
  begin(facts) {
    const { studio } = this;
    this.watches = studio.tools.fixed = true;
    this.facts = facts;
    document.body.dataset.watching = true;
    Object.assign(studio.camera, { size: facts.size, corner: facts.corner });
    studio.state = { step: 0, playing: true, speed: 10, variants: [{ ...facts, values: {}, motion: "a fleet in the air" }] };
    studio.fit(1);
    studio.maps[0].tell(facts);
    studio.maps[0].play(true);
    studio.maps[0].above.setAttribute("aria-label", `Map of ${facts.name}. Up and down choose an agent, Tab leaves.`);
    studio.deepen(facts.depth);
    for (const button of part("orders").querySelectorAll("button")) button.disabled = !facts.orders;
    part("no-orders").hidden = facts.orders;
    part("not-ours").hidden = facts.processes;
    part("faults").querySelector("form").hidden = !facts.processes;
    part("freeze").textContent = `Freeze ${facts.frozen_for} s`;
  }

  // How far the flight is.
  show(flight) {
    this.flight = flight;
    const map = this.studio.maps[0];
    const there = new Set(flight.living);
    const crossed = new Set(flight.missed);
    for (let agent = 0; agent < map.team.count; agent++) if (!there.has(agent) && !flight.over) crossed.add(agent);
    const marks = [
      ...[...crossed].map((agent) => [agent, "cross"]),
      ...flight.apart.map((agent) => [agent, "ring"]),
      ...flight.frozen.map((agent) => [agent, "bars"]),
    ];
    if (marks.length !== map.marks.length) map.draw();
    map.marks = marks;
    table("flight").replaceChildren(...FIGURES.map(([name, text]) => row(name, text(flight, map.team.count))));
    sentences(part("flight").querySelector("div"), flight.says);
    for (const button of part("orders").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.order === flight.ordered));
      button.disabled = !this.facts.orders || flight.over !== null;
    }
    this.showFaults(flight.faults);
    this.showEnd(flight.over);
    this.studio.ask();
  }

  // What is asked for stays as it is while somebody changes it.
  showFaults({ loss, apart }) {
    const ended = this.flight.over !== null;
    if (document.activeElement !== part("loss")) part("loss").value = 100 * loss;
    part("lost").textContent = `${part("loss").value} %`;
    if (apart && document.activeElement !== part("apart")) part("apart").value = apart;
    part("part").textContent = apart ? "Heal" : "Cut off";
    part("part").setAttribute("aria-pressed", String(Boolean(apart)));
    for (const name of ["loss", "apart", "half", "part"]) part(name).disabled = ended;
  }

  // What is over has no figures any more: nobody is alive.
  showEnd(over) {
    part("over").hidden = over === null;
    part("flight").hidden = part("faults").hidden = over !== null;
    if (over === null) return;
    this.studio.maps[0].label.textContent = `${this.facts.name}: a fleet that has flown`;
    sentences(part("over").querySelector("div"), over.says);
    part("flown").hidden = !over.opens;
  }

  // One agent.
  look(member) {
    if (this.studio.chosen?.agent !== member.agent) return;
    this.member = member;
    const { processes } = this.facts;
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
    if (!member.alive) rows.push(["taken for dead", this.flight.missed.includes(member.agent) ? "yes" : "not yet"]);
    else if (member.holds) rows.push(["holds", "stays where it is"]);
    else if (member.settled) rows.push(["goal", "is there"]);
    else if (member.off) rows.push(["to its goal", `${number(member.off)} m`]);
    const body = document.createElement("table");
    body.append(...rows.map((one) => row(...one)));
    part("member").querySelector(".hint").hidden = true;
    part("member").querySelector("div").replaceChildren(cell("h3", `Agent ${member.agent}`), body);
    part("to-process").hidden = !processes;
    const flies = this.flight.over === null;
    part("kill").disabled = !flies || !member.running;
    part("freeze").disabled = !flies || !member.running || member.frozen;
    part("join").disabled = !flies || member.running;
  }

  forget() {
    this.member = null;
    part("member").querySelector(".hint").hidden = false;
    part("member").querySelector("div").replaceChildren();
    part("to-process").hidden = true;
  }

  // The page is a studio as any other again.
  leave() {
    if (!this.watches) return;
    const { studio } = this;
    this.watches = studio.tools.fixed = false;
    document.body.dataset.watching = false;
    studio.state = null;
    studio.choose(null);
    studio.maps[0].marks = [];
  }

  // --- what the reader does ---

  listen() {
    for (const button of part("orders").querySelectorAll("button")) {
      button.addEventListener("click", () => this.press(button));
    }
    for (const name of ["kill", "freeze", "join"]) {
      part(name).addEventListener("click", () => this.say(name, { agent: this.member.agent }));
    }
    part("flown").addEventListener("click", () => this.say("flown"));
    part("loss").addEventListener("input", () => (part("lost").textContent = `${part("loss").value} %`));
    part("loss").addEventListener("change", () => this.disturb(this.flight.faults.apart));
    part("half").addEventListener("click", () => (part("apart").value = ranges(this.leftHalf())));
    part("faults").querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.disturb(this.flight.faults.apart ? "" : part("apart").value);
    });
  }

  // What cannot be taken back is asked for twice.
  press(button) {
    const word = button.dataset.order;
    const sure = button.classList.contains("sure") || !FINAL.includes(word);
    if (sure) this.order(word);
    this.doubt(sure ? null : button);
  }

  // The one order that waits to be asked for again.
  doubt(button) {
    clearTimeout(this.doubting);
    for (const other of part("orders").querySelectorAll(".sure")) {
      other.classList.remove("sure");
      other.textContent = other.dataset.name;
    }
    if (button === null) return;
    button.classList.add("sure");
    button.dataset.name = button.textContent;
    button.textContent += ": sure?";
    this.doubting = setTimeout(() => this.doubt(null), SURE);
  }

  order(word) {
    this.say("order", { word });
  }

  disturb(apart) {
    this.say("disturb", { loss: Number(part("loss").value) / 100, apart });
  }

  leftHalf() {
    const { team } = this.studio.maps[0];
    const agents = Array.from({ length: team.count }, (_, agent) => agent);
    agents.sort((one, other) => team.positions[2 * one] - team.positions[2 * other]);
    return agents.slice(0, Math.floor(team.count / 2)).sort((one, other) => one - other);
  }

  // Keys of the map.
  keys() {
    const { studio } = this;
    return {
      " ": () => this.order(this.flight.ordered === "pause" ? "go" : "pause"),
      ArrowUp: () => studio.neighbour(1),
      ArrowDown: () => studio.neighbour(-1),
      "+": () => studio.tools.zoom(studio.maps[0], 1.5),
      "-": () => studio.tools.zoom(studio.maps[0], 1 / 1.5),
      0: () => studio.tools.zoom(studio.maps[0], 0),
      "[": () => studio.layer(-1),
      "]": () => studio.layer(1),
      Escape: () => studio.choose(null),
    };
  }
}

// Sentences, written anew only where they changed: a reader may be marking them.
function sentences(box, says) {
  const text = says.join("\n");
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  box.replaceChildren(...says.map((sentence) => cell("p", sentence)));
}

// Agents in ascending order as they are written: "0-5,7".
function ranges(agents) {
  const parts = [];
  for (const agent of agents) {
    const last = parts.at(-1);
    if (last && last[1] === agent - 1) last[1] = agent;
    else parts.push([agent, agent]);
  }
  return parts.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
