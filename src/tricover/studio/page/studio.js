// The page of a studio: what it is told goes to the maps and panels, what the reader does goes to the studio.

import { Fleet } from "./fleet.js";
import { Live } from "./live.js";
import { MapView } from "./map.js";
import { Layered } from "./layered.js";
import { Settings } from "./settings.js";
import { all, button, choice, field, found, part } from "./parts.js";
import { showClaims, showFigures, showInside } from "./panels.js";
import { Tools } from "./tools.js";

const GLIDE = 160; // milliseconds to a step that was asked for by hand
const LONGEST_GLIDE = 1000;
const NOTICE = 8000; // milliseconds that a notice stays

/** @import { Claim, Inside, Message, State, Facts } from "./live.js" */
/** @import { Block } from "./team.js" */
/** @import { Camera } from "./map.js" */

export class Studio {
  constructor() {
    /** @type {Camera} */
    this.camera = { size: [1, 1], corner: [0, 0], zoom: 1, centre: null };
    /** @type {MapView[]} */
    this.maps = [];
    this.variant = 0; // whose settings are shown
    /** @type {State | null} */
    this.state = null;
    /** @type {{ agent: number, variant: number } | null} */
    this.chosen = null;
    this.dragging = false;
    this.linked = false; // whether a link was followed
    this.box = "";
    this.fading = 0;
    this.tools = new Tools({
      say: (name, words) => this.say(name, words),
      choose: (map, agent, zone) => this.choose(agent, map.variant, zone),
      redraw: () => this.maps.forEach((map) => map.draw()),
      brush: () => ({ radius: Number(field("radius").value), weight: Number(field("weight").value) }),
    });
    this.settings = new Settings(found("settings", HTMLFormElement, "form"), (key, value) =>
      this.say("set", { key, value, variant: this.variant }),
    );
    this.layered = new Layered(found("layered", HTMLCanvasElement, "canvas"), (agent) => this.choose(agent));
    this.fleet = new Fleet(this);
    this.listen();
    this.live = new Live({
      hear: (message) => this.hear(message),
      see: (block) => this.see(block),
      change: (there) => this.connected(there),
    });
  }

  /** @param {string} name @param {object} [words] */
  say(name, words) {
    if (name === "drag") this.dragging = true;
    this.live.say(name, words);
  }

  // --- what the studio says ---

  /** @param {boolean} there */
  connected(there) {
    document.body.dataset.connected = String(there);
    if (!there) this.notice("The studio does not answer. This page finds it again when it is back.", true);
    else if (this.state) this.notice("The studio is back.");
    const link = new URLSearchParams(location.hash.slice(1)).get("state");
    if (there && link) {
      this.linked = true;
      this.say("follow", { link });
      history.replaceState(null, "", location.pathname);
    } else if (there) this.say("files");
  }

  /** @param {Message} message */
  hear(message) {
    switch (message.is) {
      case "controls": return this.settings.build(message.controls);
      case "state": return this.update(message);
      case "figures": return showFigures(part("figures", "tbody"), message.variants);
      case "inside": return this.look(message);
      case "claims": return showClaims(part("certificate", "div"), message, (claim) => this.go(claim));
      case "files": return this.list(message.files);
      case "link": return this.link(message.link);
      case "fleet": return this.fleet.begin(message);
      case "flight": return this.fleet.show(message);
      case "member": return this.fleet.look(message);
      case "done": return this.notice(message.text);
      case "error": return this.complain(message);
    }
  }

  /** @param {State} state */
  update(state) {
    this.fleet.leave();
    const first = this.state === null;
    this.state = state;
    const box = String([state.size, state.corner]);
    Object.assign(this.camera, { size: state.size, corner: state.corner });
    this.fit(state.variants);
    const told = state.variants.map((facts, number) => this.maps[number].tell(facts));
    this.maps.forEach((map) => map.play(state.playing));
    if (box !== this.box) this.maps.forEach((map) => map.draw());
    this.box = box;
    this.showPlayer(state);
    this.showVariants(state.variants);
    if (told[0]) this.layered.show(this.maps[0]); // after a step its network is there already
    button("undo").disabled = !state.undo;
    button("redo").disabled = !state.redo;
    this.keep(state.variants);
    this.ask();
    if (first && !state.step && !state.undo && !this.linked) this.say("play"); // a team that moves
  }

  /** @param {State} state */
  showPlayer({ step, playing, speed, variants }) {
    const length = Math.max(...variants.map((facts) => facts.length));
    const ended = variants.every((facts) => facts.ended);
    const most = Math.max(...variants.map((facts) => facts.most));
    field("scrub").max = String(ended ? length : Math.min(most, Math.max(length, step) + 20));
    field("scrub").value = String(step);
    part("clock").textContent = ended && step >= length ? `step ${step}, the end` : `step ${step}`;
    part("play").textContent = playing ? "Pause" : "Play";
    part("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    choice("speed").value = String(speed);
  }

  /** @param {Facts[]} variants */
  showVariants(variants) {
    part("compare").setAttribute("aria-pressed", String(variants.length > 1));
    part("which").hidden = variants.length < 2;
    this.variant = Math.min(this.variant, variants.length - 1);
    this.settings.show(variants[this.variant].values);
    this.deepen(Math.max(...variants.map((facts) => facts.depth)));
  }

  // As many layers to choose from as there are.
  /** @param {number} depth */
  deepen(depth) {
    const layers = field("layers");
    const whole = Number(layers.value) >= Number(layers.max);
    layers.max = String(depth);
    if (whole) layers.value = layers.max;
    this.build();
  }

  // As many maps as there are variants.
  /** @param {Facts[]} variants */
  fit(variants) {
    while (this.maps.length > variants.length) this.maps.pop()?.element.remove();
    while (this.maps.length < variants.length) {
      const map = new MapView(this.camera, this.maps.length);
      part("maps").append(map.element);
      this.tools.listen(map);
      map.above.addEventListener("keydown", (event) => this.key(event));
      if (this.maps[0]) Object.assign(map, { show: this.maps[0].show, built: this.maps[0].built });
      this.maps.push(map);
    }
    part("maps").dataset.count = String(variants.length);
    for (const map of this.maps) {
      const { name, motion, goal, values, recorded, by_hand: byHand } = variants[map.variant];
      const remarks = [motion, goal, values["network.mentee"], recorded && "a record", byHand && "changed by hand"];
      map.label.textContent = `${name}: ${remarks.filter(Boolean).join(", ")}`;
      map.above.setAttribute("aria-label", `Map of ${map.label.textContent}. Arrow keys step, Tab leaves.`);
    }
  }

  /** @param {Block} block */
  see(block) {
    const map = this.maps[block.variant];
    if (!map || !this.state) return;
    const glide = this.state.playing ? Math.min(1000 / this.state.speed, LONGEST_GLIDE) : GLIDE;
    map.see(block, this.dragging ? 0 : glide);
    if (block.kind === 1 && this.dragging && block.variant === this.maps.length - 1) {
      this.dragging = false;
      this.tools.follow();
    }
    if (block.kind === 2) this.layered.show(this.maps[0]);
  }

  // Who was chosen may be gone, with its variant or by an undo.
  /** @param {Facts[]} variants */
  keep(variants) {
    const { chosen } = this;
    if (chosen && chosen.agent >= (variants[chosen.variant]?.agents ?? 0)) this.choose(null);
  }

  // An answer that comes when another agent is chosen, or none, is not waited for any more.
  /** @param {Inside} inside */
  look(inside) {
    if (this.chosen?.agent !== inside.agent || this.chosen.variant !== inside.variant) return;
    const map = this.maps[inside.variant];
    map.inside = inside;
    map.draw();
    part("inside", ".hint").hidden = true;
    showInside(part("inside", "div"), inside, (agent) => this.choose(agent, inside.variant));
  }

  /** @param {string[]} files */
  list(files) {
    part("file").replaceChildren(...files.map((name) => new Option(name, name)));
  }

  /** @param {string} link */
  link(link) {
    const address = new URL(location.href);
    address.hash = `state=${link}`;
    Object.assign(field("address"), { value: address.href, hidden: false });
    field("address").select();
    this.notice("This link opens the same scenario at the same step.");
  }

  /** @param {{ key: string | null, text: string }} error */
  complain({ key, text }) {
    this.dragging = this.tools.following = false;
    if (!key || !this.settings.complain(key, text)) this.notice(text, true);
  }

  /** @param {string} text */
  notice(text, bad = false) {
    const notice = part("notice");
    notice.textContent = text;
    notice.className = bad ? "bad" : "good";
    clearTimeout(this.fading);
    if (!bad) this.fading = setTimeout(() => (notice.textContent = ""), NOTICE);
  }

  // --- what the reader does ---

  /** @param {number | null} agent @param {number | null} zone */
  choose(agent, variant = 0, zone = null) {
    this.chosen = agent === null ? null : { agent, variant };
    for (const map of this.maps) map.choose(agent, zone);
    button("delete").disabled = agent === null && zone === null;
    if (agent === null) {
      this.fleet.forget();
      part("inside", ".hint").hidden = false;
      part("inside", "div").replaceChildren();
    } else this.ask();
    this.layered.draw();
  }

  // What is inside the chosen agent now. While the team moves fast this is asked for at every step.
  ask() {
    if (this.chosen) this.say("inside", this.chosen);
  }

  /** @param {Claim} claim */
  go({ agent, step }) {
    if (step !== null) this.say("seek", { step });
    if (agent !== null) this.choose(agent);
  }

  build() {
    const { value, max } = field("layers");
    part("built").textContent = value === max ? "all" : `0 to ${value}`;
    for (const map of this.maps) {
      map.build(value === max ? Infinity : Number(value));
    }
  }

  /** @param {string} tool */
  take(tool) {
    this.tools.take(tool);
    for (const one of all("tools", "[data-tool]")) one.setAttribute("aria-pressed", String(one.dataset.tool === tool));
    for (const map of this.maps) this.tools.sketch(map, null);
  }

  delete() {
    const zone = this.maps[0]?.zone ?? null;
    if (this.chosen) this.say("delete", { agents: [this.chosen.agent] });
    else if (zone !== null) this.say("unfence", { number: zone });
    this.choose(null);
  }

  listen() {
    /** @param {string} name @param {() => void} act */
    const click = (name, act) => part(name).addEventListener("click", act);
    click("play", () => this.toggle());
    click("back", () => this.step(-1));
    click("forward", () => this.step(1));
    for (const name of ["undo", "redo", "restart", "claims", "link"]) click(name, () => this.say(name));
    click("compare", () => this.say(this.maps.length > 1 ? "single" : "compare"));
    click("delete", () => this.delete());
    click("closer", () => this.zoom(1.5));
    click("wider", () => this.zoom(1 / 1.5));
    click("whole", () => this.zoom(0));
    click("open", () => this.say("open", { path: choice("file").value }));
    click("save", () => {
      this.say("save", { path: field("name").value });
      this.say("files");
    });
    part("scrub").addEventListener("input", () => this.say("seek", { step: Number(field("scrub").value) }));
    part("speed").addEventListener("change", () => this.say("speed", { value: Number(choice("speed").value) }));
    part("layers").addEventListener("input", () => {
      this.build();
      this.layered.show(this.maps[0]);
    });
    for (const one of all("tools", "[data-tool]")) {
      one.addEventListener("click", () => this.take(one.dataset.tool ?? "choose"));
    }
    for (const box of all("view", "[data-view]")) {
      box.addEventListener("change", () => this.maps.forEach((map) => {
        map.show[box.dataset.view ?? ""] = box.matches(":checked");
        map.draw();
      }));
    }
    for (const one of all("which", "button")) {
      one.addEventListener("click", () => this.show(Number(one.dataset.variant)));
    }
    part("take").addEventListener("click", (event) => this.fetch(event));
    addEventListener("keydown", (event) => this.shortcut(event));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => this.drop(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.maps.forEach((map) => map.draw()));
  }

  toggle() {
    this.say(this.state?.playing ? "pause" : "play");
  }

  /** @param {number} by */
  step(by) {
    this.say("seek", { step: Math.max((this.state?.step ?? 0) + by, 0) });
  }

  /** @param {number} variant */
  show(variant) {
    this.variant = variant;
    for (const one of all("which", "button")) {
      one.setAttribute("aria-pressed", String(Number(one.dataset.variant) === variant));
    }
    if (this.state) this.settings.show(this.state.variants[variant].values);
  }

  // A refusal is shown on the page instead of taking its place.
  /** @param {Event} event */
  async fetch(event) {
    if (!(event.target instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    const { href } = event.target;
    const name = href.split("/").at(-1);
    this.notice(`Making ${name} …`);
    const answer = await fetch(href);
    if (!answer.ok) return this.notice(await answer.text(), true);
    const address = URL.createObjectURL(await answer.blob());
    Object.assign(document.createElement("a"), { href: address, download: name }).click();
    URL.revokeObjectURL(address);
    this.notice(`Made ${name}.`);
  }

  /** @param {DragEvent} event */
  async drop(event) {
    event.preventDefault();
    for (const file of event.dataTransfer?.files ?? []) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let binary = "";
      for (let k = 0; k < bytes.length; k += 8192) binary += String.fromCharCode(...bytes.subarray(k, k + 8192));
      this.say("bring", { name: file.name, content: btoa(binary), use: choice("use").value });
    }
  }

  // Keys of the map.
  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, () => void>} */
    const keys = this.fleet.watches ? this.fleet.keys() : {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.neighbour(1),
      ArrowDown: () => this.neighbour(-1),
      Home: () => this.say("seek", { step: 0 }),
      "+": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      0: () => this.zoom(0),
      "[": () => this.layer(-1),
      "]": () => this.layer(1),
      Enter: () => this.maps.forEach((map) => map.sketch && this.tools.close(map)),
      Escape: () => this.choose(null),
      Delete: () => this.delete(),
      v: () => this.take("choose"),
      a: () => this.take("agent"),
      s: () => this.take("scatter"),
      p: () => this.take("paint"),
      e: () => this.take("erase"),
      z: () => this.take("zone"),
    };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** @param {KeyboardEvent} event */
  shortcut(event) {
    if (this.fleet.watches || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if (event.target instanceof Element && event.target.matches("input:not([type=range]):not([type=checkbox])")) return; // its own undo
    event.preventDefault();
    this.say(event.shiftKey ? "redo" : "undo");
  }

  // There is no map before the first state.
  /** @param {number} factor 0: everything */
  zoom(factor) {
    if (this.maps.length) this.tools.zoom(this.maps[0], factor);
  }

  /** @param {number} by */
  neighbour(by) {
    const count = this.maps[0].team.count;
    if (!count) return; // positions come after the state
    const from = this.chosen ? this.chosen.agent : by > 0 ? -1 : 0;
    this.choose((from + by + count) % count);
  }

  /** @param {number} by */
  layer(by) {
    field("layers").value = String(Number(field("layers").value) + by);
    part("layers").dispatchEvent(new Event("input"));
  }
}

Object.assign(document.querySelector("main") ?? {}, { studio: new Studio() }); // for scripts
