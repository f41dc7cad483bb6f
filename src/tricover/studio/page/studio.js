// The page of a studio: what it is told goes to the maps and panels, what the reader does goes to the studio.

import { Fleet } from "./fleet.js";
import { Live } from "./live.js";
import { MapView } from "./map.js";
import { Layered } from "./layered.js";
import { Settings } from "./settings.js";
import { showClaims, showFigures, showInside } from "./panels.js";
import { Tools } from "./tools.js";

const GLIDE = 160; // milliseconds to a step that was asked for by hand
const LONGEST_GLIDE = 1000;
const NOTICE = 8000; // milliseconds that a notice stays
const part = (name) => document.getElementById(name);

class Studio {
  constructor() {
    this.camera = { size: [1, 1], corner: [0, 0], zoom: 1, centre: null };
    this.maps = [];
    this.variant = 0; // whose settings are shown
    this.state = null;
    this.dragging = false;
    this.tools = new Tools({
      say: (name, words) => this.say(name, words),
      choose: (map, agent) => this.choose(agent, map.variant),
      redraw: () => this.maps.forEach((map) => map.draw()),
      brush: () => ({ radius: Number(part("radius").value), weight: Number(part("weight").value) }),
    });
    this.settings = new Settings(part("settings").querySelector("form"), (key, value) =>
      this.say("set", { key, value, variant: this.variant }),
    );
    this.layered = new Layered(part("layered").querySelector("canvas"), (agent) => this.choose(agent));
    this.fleet = new Fleet(this);
    this.listen();
    this.live = new Live({
      hear: (message) => this.hear(message),
      see: (block) => this.see(block),
      change: (there) => this.connected(there),
    });
  }

  say(name, words) {
    if (name === "drag") this.dragging = true;
    this.live.say(name, words);
  }

  // --- what the studio says ---

  connected(there) {
    document.body.dataset.connected = there;
    if (!there) this.notice("The studio does not answer. This page finds it again when it is back.", true);
    else if (this.state) this.notice("The studio is back.");
    const link = new URLSearchParams(location.hash.slice(1)).get("state");
    if (there && link) {
      this.linked = true;
      this.say("follow", { link });
      history.replaceState(null, "", location.pathname);
    } else if (there) this.say("files");
  }

  hear(message) {
    const does = {
      controls: () => this.settings.build(message.controls),
      state: () => this.update(message),
      figures: () => showFigures(part("figures").querySelector("tbody"), message.variants),
      inside: () => this.look(message),
      claims: () => showClaims(part("certificate").querySelector("div"), message, (claim) => this.go(claim)),
      files: () => this.list(message.files),
      link: () => this.link(message.link),
      fleet: () => this.fleet.begin(message),
      flight: () => this.fleet.show(message),
      member: () => this.fleet.look(message),
      done: () => this.notice(message.text),
      error: () => this.complain(message),
    };
    does[message.is]();
  }

  update(state) {
    this.fleet.leave();
    const first = this.state === null;
    this.state = state;
    const box = String([state.size, state.corner]);
    Object.assign(this.camera, { size: state.size, corner: state.corner });
    this.fit(state.variants.length);
    state.variants.forEach((facts, number) => this.maps[number].tell(facts));
    this.maps.forEach((map) => map.play(state.playing));
    if (box !== this.box) this.maps.forEach((map) => map.draw());
    this.box = box;
    this.showPlayer(state);
    this.showVariants(state.variants);
    part("undo").disabled = !state.undo;
    part("redo").disabled = !state.redo;
    this.ask();
    if (first && !state.step && !state.undo && !this.linked) this.say("play"); // a team that moves
  }

  showPlayer({ step, playing, speed, variants }) {
    const length = Math.max(...variants.map((facts) => facts.length));
    const ended = variants.every((facts) => facts.ended);
    const most = Math.max(...variants.map((facts) => facts.most));
    Object.assign(part("scrub"), { max: ended ? length : Math.min(most, Math.max(length, step) + 20), value: step });
    part("clock").textContent = ended && step >= length ? `step ${step}, the end` : `step ${step}`;
    part("play").textContent = playing ? "Pause" : "Play";
    part("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    part("speed").value = String(speed);
  }

  showVariants(variants) {
    part("compare").setAttribute("aria-pressed", String(variants.length > 1));
    part("which").hidden = variants.length < 2;
    this.variant = Math.min(this.variant, variants.length - 1);
    this.settings.show(variants[this.variant].values);
    this.deepen(Math.max(...variants.map((facts) => facts.depth)));
  }

  // As many layers to choose from as there are.
  deepen(depth) {
    const all = Number(part("layers").value) >= Number(part("layers").max);
    part("layers").max = depth;
    if (all) part("layers").value = depth;
    this.build();
  }

  // As many maps as there are variants.
  fit(count) {
    while (this.maps.length > count) this.maps.pop().element.remove();
    while (this.maps.length < count) {
      const map = new MapView(this.camera, this.maps.length);
      part("maps").append(map.element);
      this.tools.listen(map);
      map.above.addEventListener("keydown", (event) => this.key(event));
      if (this.maps[0]) Object.assign(map, { show: this.maps[0].show, built: this.maps[0].built });
      this.maps.push(map);
    }
    part("maps").dataset.count = count;
    for (const map of this.maps) {
      const { name, motion, goal, values, recorded, by_hand: byHand } = this.state.variants[map.variant];
      const remarks = [motion, goal, values["network.mentee"], recorded && "a record", byHand && "changed by hand"];
      map.label.textContent = `${name}: ${remarks.filter(Boolean).join(", ")}`;
      map.above.setAttribute("aria-label", `Map of ${map.label.textContent}. Arrow keys step, Tab leaves.`);
    }
  }

  see(block) {
    const map = this.maps[block.variant];
    if (!map) return;
    const glide = this.state.playing ? Math.min(1000 / this.state.speed, LONGEST_GLIDE) : GLIDE;
    map.see(block, this.dragging ? 0 : glide);
    if (block.kind === 1 && this.dragging && block.variant === this.maps.length - 1) {
      this.dragging = false;
      this.tools.follow();
    }
    if (block.kind === 2) this.layered.show(this.maps[0]);
  }

  look(inside) {
    const map = this.maps[inside.variant];
    map.inside = inside;
    map.draw();
    part("inside").querySelector(".hint").hidden = true;
    showInside(part("inside").querySelector("div"), inside, (agent) => this.choose(agent, inside.variant));
  }

  list(files) {
    part("file").replaceChildren(...files.map((name) => new Option(name, name)));
  }

  link(link) {
    const address = new URL(location.href);
    address.hash = `state=${link}`;
    Object.assign(part("address"), { value: address.href, hidden: false });
    part("address").select();
    this.notice("This link opens the same scenario at the same step.");
  }

  complain({ key, text }) {
    this.dragging = this.tools.following = false;
    if (!key || !this.settings.complain(key, text)) this.notice(text, true);
  }

  notice(text, bad = false) {
    const notice = part("notice");
    notice.textContent = text;
    notice.className = bad ? "bad" : "good";
    clearTimeout(this.fading);
    if (!bad) this.fading = setTimeout(() => (notice.textContent = ""), NOTICE);
  }

  // --- what the reader does ---

  choose(agent, variant = 0) {
    this.chosen = agent === null ? null : { agent, variant };
    for (const map of this.maps) map.choose(agent);
    part("delete").disabled = agent === null;
    if (agent === null) {
      this.fleet.forget();
      part("inside").querySelector(".hint").hidden = false;
      part("inside").querySelector("div").replaceChildren();
    } else this.ask();
    this.layered.draw();
  }

  // What is inside the chosen agent now. While the team moves fast this is asked for at every step.
  ask() {
    if (this.chosen) this.say("inside", this.chosen);
  }

  go({ agent, step }) {
    if (step !== null) this.say("seek", { step });
    if (agent !== null) this.choose(agent);
  }

  build() {
    const { value, max } = part("layers");
    part("built").textContent = value === max ? "all" : `0 to ${value}`;
    for (const map of this.maps) {
      map.build(value === max ? Infinity : Number(value));
    }
  }

  take(tool) {
    this.tools.take(tool);
    for (const button of part("tools").querySelectorAll("[data-tool]")) {
      button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
    }
    for (const map of this.maps) this.tools.sketch(map, null);
  }

  delete() {
    if (!this.chosen) return;
    this.say("delete", { agents: [this.chosen.agent] });
    this.choose(null);
  }

  listen() {
    const click = (name, act) => part(name).addEventListener("click", act);
    click("play", () => this.say(this.state.playing ? "pause" : "play"));
    click("back", () => this.say("seek", { step: Math.max(this.state.step - 1, 0) }));
    click("forward", () => this.say("seek", { step: this.state.step + 1 }));
    for (const name of ["undo", "redo", "restart", "claims", "link"]) click(name, () => this.say(name));
    click("compare", () => this.say(this.maps.length > 1 ? "single" : "compare"));
    click("delete", () => this.delete());
    click("closer", () => this.tools.zoom(this.maps[0], 1.5));
    click("wider", () => this.tools.zoom(this.maps[0], 1 / 1.5));
    click("whole", () => this.tools.zoom(this.maps[0], 0));
    click("open", () => this.say("open", { path: part("file").value }));
    click("save", () => {
      this.say("save", { path: part("name").value });
      this.say("files");
    });
    part("scrub").addEventListener("input", ({ target }) => this.say("seek", { step: Number(target.value) }));
    part("speed").addEventListener("change", ({ target }) => this.say("speed", { value: Number(target.value) }));
    part("layers").addEventListener("input", () => {
      this.build();
      this.layered.show(this.maps[0]);
    });
    for (const button of part("tools").querySelectorAll("[data-tool]")) {
      button.addEventListener("click", () => this.take(button.dataset.tool));
    }
    for (const box of part("view").querySelectorAll("[data-view]")) {
      box.addEventListener("change", () => this.maps.forEach((map) => {
        map.show[box.dataset.view] = box.checked;
        map.draw();
      }));
    }
    for (const button of part("which").querySelectorAll("button")) {
      button.addEventListener("click", () => this.show(Number(button.dataset.variant)));
    }
    part("take").addEventListener("click", (event) => this.fetch(event));
    addEventListener("keydown", (event) => this.shortcut(event));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => this.drop(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.maps.forEach((map) => map.draw()));
  }

  show(variant) {
    this.variant = variant;
    for (const button of part("which").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.variant) === variant));
    }
    this.settings.show(this.state.variants[variant].values);
  }

  // A refusal is shown on the page instead of taking its place.
  async fetch(event) {
    if (!event.target.href) return;
    event.preventDefault();
    const name = event.target.href.split("/").at(-1);
    this.notice(`Making ${name} …`);
    const answer = await fetch(event.target.href);
    if (!answer.ok) return this.notice(await answer.text(), true);
    const address = URL.createObjectURL(await answer.blob());
    Object.assign(document.createElement("a"), { href: address, download: name }).click();
    URL.revokeObjectURL(address);
    this.notice(`Made ${name}.`);
  }

  async drop(event) {
    event.preventDefault();
    for (const file of event.dataTransfer.files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let binary = "";
      for (let k = 0; k < bytes.length; k += 8192) binary += String.fromCharCode(...bytes.subarray(k, k + 8192));
      this.say("bring", { name: file.name, content: btoa(binary), use: part("use").value });
    }
  }

  // Keys of the map.
  key(event) {
    const { step } = this.state;
    const keys = this.fleet.watches ? this.fleet.keys() : {
      " ": () => this.say(this.state.playing ? "pause" : "play"),
      ArrowLeft: () => this.say("seek", { step: Math.max(step - 1, 0) }),
      ArrowRight: () => this.say("seek", { step: step + 1 }),
      ArrowUp: () => this.neighbour(1),
      ArrowDown: () => this.neighbour(-1),
      Home: () => this.say("seek", { step: 0 }),
      "+": () => this.tools.zoom(this.maps[0], 1.5),
      "-": () => this.tools.zoom(this.maps[0], 1 / 1.5),
      0: () => this.tools.zoom(this.maps[0], 0),
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

  shortcut(event) {
    if (this.fleet.watches || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if (event.target.matches?.("input:not([type=range]):not([type=checkbox])")) return; // its own undo
    event.preventDefault();
    this.say(event.shiftKey ? "redo" : "undo");
  }

  neighbour(by) {
    const count = this.maps[0].team.count;
    const from = this.chosen ? this.chosen.agent : by > 0 ? -1 : 0;
    this.choose((from + by + count) % count);
  }

  layer(by) {
    part("layers").value = Number(part("layers").value) + by;
    part("layers").dispatchEvent(new Event("input"));
  }
}

document.querySelector("main").studio = new Studio();
