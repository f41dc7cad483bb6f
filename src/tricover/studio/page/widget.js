// A view in a notebook: one map with play, scrub and drag. The session is in Python, and messages go through the widget.

import { MapView } from "./map.js";
import { blockOf } from "./team.js";
import { Tools } from "./tools.js";

const GLIDE = 160; // milliseconds to a step that was asked for by hand

/** @import { Camera } from "./map.js" */
/** @import { Message, State } from "./live.js" */
/**
 * @typedef {object} Model of the widget, as notebooks have it
 * @property {(message: object) => void} send
 * @property {(event: "msg:custom", hear: (message: Message, blocks?: DataView<ArrayBuffer>[]) => void) => void} on
 */

class Glance {
  /** @param {Model} model @param {HTMLElement} element */
  constructor(model, element) {
    this.model = model;
    /** @type {State | null} */
    this.state = null;
    /** @type {Camera} */
    this.camera = { size: [1, 1], corner: [0, 0], zoom: 1, centre: null };
    this.map = new MapView(this.camera, 0);
    this.playing = false;
    this.coming = 0; // the timer of the next step
    this.tools = new Tools({
      say: (name, words) => this.say(name, words),
      choose: (_, agent) => this.choose(agent),
      redraw: () => this.map.draw(),
      brush: () => ({ radius: 1, weight: 1 }),
    });
    this.tools.listen(this.map);
    this.play = Object.assign(document.createElement("button"), { textContent: "Play", onclick: () => this.toggle() });
    this.scrub = Object.assign(document.createElement("input"), { type: "range", min: "0", step: "1", value: "0" });
    this.scrub.setAttribute("aria-label", "Step");
    this.scrub.addEventListener("input", () => this.say("seek", { step: Number(this.scrub.value) }));
    this.clock = document.createElement("output");
    const row = Object.assign(document.createElement("div"), { className: "row" });
    row.append(this.play, this.scrub, this.clock);
    element.classList.add("tricover-view");
    element.append(this.map.element, row);
    model.on("msg:custom", (message, blocks) => this.hear(message, blocks));
    this.say("everything");
  }

  /** @param {string} name */
  say(name, words = {}) {
    this.model.send({ do: name, ...words });
  }

  // JSON messages come as they are, blocks of numbers as views of bytes.
  /** @param {Message} message @param {DataView<ArrayBuffer>[]} blocks */
  hear(message, blocks = []) {
    if (message.is === "state") this.update(message);
    if (message.is === "inside" && message.agent === this.map.chosen) {
      this.map.inside = message;
      this.map.draw();
    }
    if (message.is === "error") {
      this.clock.textContent = message.text;
      this.tools.following = false;
    }
    for (const bytes of blocks) {
      const block = blockOf(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
      this.map.see(block, this.tools.following ? 0 : GLIDE);
      if (block.kind === 1 && this.tools.following) this.tools.follow();
    }
    if (message.is !== "state") return;
    clearTimeout(this.coming);
    if (this.playing) this.coming = setTimeout(() => this.next(), 1000 / message.speed);
  }

  /** @param {State} state */
  update(state) {
    const first = this.state === null;
    this.state = state;
    Object.assign(this.camera, { size: state.size, corner: state.corner });
    const facts = state.variants[0];
    this.map.tell(facts);
    this.map.label.textContent = facts.name;
    Object.assign(this.scrub, { max: String(facts.ended ? facts.length : facts.most), value: String(state.step) });
    this.clock.textContent = `step ${state.step}`;
    if (first && facts.recorded) this.playing = true; // a run plays, a scenario waits for the reader
    if (facts.ended && state.step >= facts.length) this.playing = false;
    this.play.textContent = this.playing ? "Pause" : "Play";
    if (this.map.chosen !== null) this.say("inside", { agent: this.map.chosen });
  }

  toggle() {
    if (!this.state) return;
    this.playing = !this.playing;
    const { step, variants } = this.state;
    const over = variants[0].ended && step >= variants[0].length;
    this.say("seek", { step: this.playing && over ? 0 : step });
  }

  next() {
    if (this.playing && this.state) this.say("seek", { step: this.state.step + 1 });
  }

  /** @param {number | null} agent */
  choose(agent) {
    this.map.choose(agent);
    this.say("choose", { agent });
    if (agent !== null) this.say("inside", { agent });
  }
}

export default {
  /** @param {{ model: Model, el: HTMLElement }} cell */
  render({ model, el }) {
    Object.assign(el, { view: new Glance(model, el) }); // for scripts
  },
};
