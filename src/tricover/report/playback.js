// Plays a run on a canvas. Each <figure class="playback"> holds its data as JSON, written by playback.py, which says
// what is in it. Nothing is fetched. `figure.playback` is the player, for scripts.

import { cellBase, cellCentre, cellCorners, within } from "./cells.js";
import { drawAxes, drawZone } from "./ground.js";
import { cellWidth, clamp, drawArrow } from "./marks.js";
import { Run } from "./run.js";

/** @import { Parts } from "./cells.js" */
/** @import { Pen } from "./ground.js" */
/** @import { Point, Triangle } from "./marks.js" */
/** @import { Data, Epoch } from "./run.js" */
/** @typedef {{ x: number, y: number, moved: boolean }} Held where a pointer went down, or was dragged to */
/** @typedef {(x: number, y: number, r: number) => void} Outline of a marker */

const NOWHERE = 65535; // of a target that is not there
const REACH = 18; // pixels from an agent within which a pointer means it
const ROOM = 34; // pixels around everything, for the numbers at the axes
const MOST_APART = 300; // agents: larger teams are not drawn apart
const ARROW = 15; // pixels that an arrow of the policy needs

class Player {
  /** @param {HTMLElement} figure */
  constructor(figure) {
    this.figure = figure;
    /** @type {Data} */
    this.data = JSON.parse(this.one("script", HTMLScriptElement).text);
    this.run = new Run(this.data);
    this.canvas = this.one("canvas", HTMLCanvasElement);
    this.pen = penOf(this.canvas);
    this.time = 0; // in frames
    this.playing = false;
    /** @type {number | null} */
    this.hovered = null;
    /** @type {number | null} */
    this.selected = null;
    this.zoom = 1;
    /** @type {Point | null} */
    this.centre = null; // of the view, in units; null: the middle of the box
    this.xs = new Float32Array(this.run.agents); // on the canvas, at the time that is shown
    this.ys = new Float32Array(this.run.agents);
    this.realX = new Float32Array(this.run.agents); // and where they really are: others may stand in their way
    this.realY = new Float32Array(this.run.agents);
    this.colours = this.data.colours;
    this.arrows = 0; // of the policy that was drawn last
    this.width = this.height = 0; // in pixels
    this.dots = 1; // device pixels per pixel
    /** @type {HTMLCanvasElement | null} */
    this.ground = null; // targets that stand still, drawn
    this.pace = clamp(this.run.frames / 12, 1.5, 30); // frames per second at speed 1
    this.box = boxOf(this.run);
    this.view = this.lens();
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    this.ink = this.inks();
    /** @type {number[][]} */
    this.byLayer = []; // agents that are drawn, those of each layer
    /** @type {number[]} */
    this.lost = [];
    /** @type {number[]} */
    this.waiting = []; // of layers that are not built yet
    this.scaleBar = { metres: 0, pixels: 0 };
    this.colourKey();
    this.listen();
    this.resize();
  }

  // The first element that a selector names, of a kind where that matters.
  /**
   * @template {Element} Kind
   * @param {string} selector
   * @param {new () => Kind} kind
   */
  one(selector, kind) {
    const element = this.figure.querySelector(selector);
    if (element instanceof kind) return element;
    throw new Error(`the playback has no ${selector}`);
  }

  /** @param {string} name */
  part(name) {
    return this.one(`[data-part="${name}"]`, HTMLElement);
  }

  /** @param {string} name */
  field(name) {
    return this.one(`[data-part="${name}"]`, HTMLInputElement);
  }

  // --- controls ------------------------------------------------------------------------------------------------------

  listen() {
    this.part("play").addEventListener("click", () => this.toggle());
    this.part("back").addEventListener("click", () => this.step(-1));
    this.part("forward").addEventListener("click", () => this.step(1));
    this.part("closer").addEventListener("click", () => this.zoomBy(1.5));
    this.part("wider").addEventListener("click", () => this.zoomBy(1 / 1.5));
    this.part("scrub").addEventListener("input", () => this.jump(Number(this.field("scrub").value)));
    for (const name of ["links", "trails", "targets", "desired", "cells", "apart"]) {
      this.part(name).addEventListener("change", () => this.draw());
    }
    this.part("layers").addEventListener("input", () => this.draw());
    this.part("agent").addEventListener("input", () => this.choose(this.field("agent").value));
    this.listenToPointer();
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(this.figure);
  }

  listenToPointer() {
    const canvas = this.canvas;
    /** @type {Held | null} */
    let held = null; // where the pointer went down
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.offsetX, y: event.offsetY, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held && this.zoom > 1) this.drag(event, held);
      else this.hover(this.nearest(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) this.select(this.next(event.offsetX, event.offsetY));
      held = null;
    });
    for (const end of ["pointerleave", "pointercancel"]) {
      canvas.addEventListener(end, () => {
        held = null;
        this.hover(null);
      });
    }
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
        event.preventDefault();
        this.zoomBy(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, () => void>} */
    const keys = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.neighbour(1),
      ArrowDown: () => this.neighbour(-1),
      Home: () => this.jump(0),
      End: () => this.jump(this.run.frames - 1),
      "+": () => this.zoomBy(1.5),
      "-": () => this.zoomBy(1 / 1.5),
      0: () => this.zoomBy(0),
      "[": () => this.build(this.built() - 1),
      "]": () => this.build(this.built() + 1),
      Escape: () => this.select(null),
    };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.time >= this.run.frames - 1) this.time = 0;
    this.playing = true;
    let before = performance.now();
    const tick = (/** @type {number} */ now) => {
      if (!this.playing) return;
      const speed = Number(this.one('[data-part="speed"]', HTMLSelectElement).value);
      this.time = Math.min(this.time + (Math.max(now - before, 0) / 1000) * this.pace * speed, this.run.frames - 1);
      before = now;
      if (this.time >= this.run.frames - 1) this.playing = false;
      this.draw();
      if (this.playing) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    this.draw();
  }

  pause() {
    this.playing = false;
    this.draw();
  }

  // To a whole frame, and stay there.
  /** @param {number} frame */
  jump(frame) {
    this.playing = false;
    this.time = clamp(frame, 0, this.run.frames - 1);
    this.draw();
  }

  /** @param {number} by */
  step(by) {
    this.jump(by > 0 ? Math.floor(this.time) + 1 : Math.ceil(this.time) - 1);
  }

  /** @param {number | null} agent */
  hover(agent) {
    if (agent === this.hovered) return;
    this.hovered = agent;
    this.draw();
  }

  /** @param {number | null} agent */
  select(agent) {
    this.selected = agent;
    this.field("agent").value = agent === null ? "" : String(this.run.id(agent));
    this.draw();
  }

  // By the number that the reader typed.
  /** @param {string} text */
  choose(text) {
    const id = text === "" ? -1 : Number(text);
    const agent = this.run.ids ? this.run.ids.indexOf(id) : id;
    this.selected = agent >= 0 && agent < this.run.agents ? agent : null;
    this.draw();
  }

  /** @param {number} by */
  neighbour(by) {
    const from = this.selected === null ? (by > 0 ? -1 : 0) : this.selected;
    this.select((from + by + this.run.agents) % this.run.agents);
  }

  // The last layer that is shown.
  built() {
    return Number(this.field("layers").value);
  }

  /** @param {number} layer */
  build(layer) {
    this.field("layers").value = String(clamp(layer, 0, this.colours.length - 1));
    this.draw();
  }

  // --- the view ------------------------------------------------------------------------------------------------------

  resize() {
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    const tall = (width * this.box.height) / this.box.width;
    const height = Math.round(clamp(tall, Math.min(300, width), Math.min(0.78 * innerHeight, 680)));
    if (width === this.width && height === this.height && devicePixelRatio === this.dots) return;
    this.width = width;
    this.height = height;
    this.dots = devicePixelRatio;
    this.canvas.width = Math.round(width * this.dots);
    this.canvas.height = Math.round(height * this.dots);
    this.canvas.style.height = `${height}px`;
    this.ground = null;
    this.draw();
  }

  /** @param {number} factor 0: everything */
  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const fixed = this.unproject(x, y);
    this.zoom = clamp(this.zoom * factor, 1, 400);
    if (this.zoom === 1) this.centre = null;
    else {
      const moved = this.unproject(x, y);
      const [a, b] = this.middle();
      this.centre = [a + fixed[0] - moved[0], b + fixed[1] - moved[1]];
    }
    this.canvas.style.touchAction = this.zoom > 1 ? "none" : "pan-y";
    this.ground = null;
    this.draw();
  }

  /** @param {PointerEvent} event @param {Held} held */
  drag(event, held) {
    const dx = event.offsetX - held.x;
    const dy = event.offsetY - held.y;
    if (!held.moved && Math.hypot(dx, dy) < 4) return;
    const [a, b] = this.middle();
    this.centre = [a - dx / this.scale(), b + dy / this.scale()];
    Object.assign(held, { x: event.offsetX, y: event.offsetY, moved: true });
    this.ground = null;
    this.draw();
  }

  /** @returns {Point} */
  middle() {
    const { low, width, height } = this.box;
    return this.centre || [low[0] + width / 2, low[1] + height / 2];
  }

  // Pixels per unit.
  scale() {
    const { width, height } = this.box;
    return this.zoom * Math.min((this.width - 2 * ROOM) / width, (this.height - 2 * ROOM) / height);
  }

  // What turns units into pixels: (left + scale · x, top - scale · y).
  lens() {
    const scale = this.scale();
    const [a, b] = this.middle();
    return { scale, left: this.width / 2 - a * scale, top: this.height / 2 + b * scale };
  }

  /** @param {Point} place in units @returns {Point} */
  project([x, y]) {
    return [this.view.left + this.view.scale * x, this.view.top - this.view.scale * y];
  }

  /** @param {number} x @param {number} y @returns {Point} */
  unproject(x, y) {
    const [a, b] = this.middle();
    return [a + (x - this.width / 2) / this.scale(), b - (y - this.height / 2) / this.scale()];
  }

  // The agents that a pointer may mean, the nearest first.
  /** @param {number} x @param {number} y */
  around(x, y) {
    const layer = this.run.epoch(this.frame()).layer;
    /** @type {[away: number, agent: number][]} */
    const found = [];
    for (let agent = 0; agent < this.run.agents; agent++) {
      const away = (this.xs[agent] - x) ** 2 + (this.ys[agent] - y) ** 2;
      if (away < REACH ** 2 && layer[agent] > -2) found.push([away, agent]);
    }
    return found.sort((a, b) => a[0] - b[0]).map(([, agent]) => agent);
  }

  // The agent that a pointer means, or null.
  /** @param {number} x @param {number} y */
  nearest(x, y) {
    return this.around(x, y)[0] ?? null;
  }

  // The agent that a tap means: the nearest, and where that is chosen already the next one.
  /** @param {number} x @param {number} y */
  next(x, y) {
    const found = this.around(x, y);
    if (!found.length) return null;
    return found[(found.findIndex((agent) => agent === this.selected) + 1) % found.length];
  }

  // --- drawing -------------------------------------------------------------------------------------------------------

  inks() {
    const style = getComputedStyle(this.figure);
    const named = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    return { ink: named("--sheet-ink"), paper: named("--sheet"), quiet: named("--sheet-quiet") };
  }

  colourKey() {
    const { core, ground } = this.data;
    this.part("strip").style.background =
      `linear-gradient(to right, ${this.colours.slice(1).join(", ")}, ${this.colours.at(-1)})`;
    for (const [name, colour] of [["boundary", this.colours[0]], ["core", core], ["cell-key", core], ["ground", ground]]) {
      this.part(name).style.color = colour;
    }
  }

  frame() {
    return Math.floor(this.time);
  }

  // What the reader sees: without motion between frames where that is not wanted.
  shown() {
    return this.reduced.matches ? this.frame() : this.time;
  }

  draw() {
    if (!this.width) return;
    const run = this.run;
    const time = this.shown();
    this.view = this.lens();
    const epoch = run.epoch(this.frame());
    for (let agent = 0; agent < run.agents; agent++) {
      [this.xs[agent], this.ys[agent]] = this.project(run.at(agent, time));
    }
    this.realX.set(this.xs);
    this.realY.set(this.ys);
    if (this.field("apart").checked) this.moveApart(epoch);
    const pen = this.pen;
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineJoin = pen.lineCap = "round";
    this.sort(epoch);
    this.drawZones();
    this.drawTargets();
    this.drawAxes();
    if (this.field("desired").checked) this.drawDesired();
    if (this.field("trails").checked) this.drawTrails(time);
    if (this.field("links").checked) this.drawLinks(epoch);
    this.drawAgents(epoch);
    const agent = this.hovered ?? this.selected;
    if (agent !== null) this.drawStory(agent, epoch);
    this.tell(agent, epoch);
  }

  // Agents of each layer; those who are lost come last, those who have not joined yet nowhere.
  /** @param {Epoch} epoch */
  sort(epoch) {
    const last = this.built();
    this.byLayer = this.colours.map(() => []);
    this.lost = [];
    this.waiting = [];
    epoch.layer.forEach((layer, agent) => {
      if (layer > last) this.waiting.push(agent);
      else if (layer >= 0) this.byLayer[layer].push(agent);
      else if (layer === -1) this.lost.push(agent);
    });
  }

  // Push markers apart that hide each other; lines lead from them to where the agents really are.
  /** @param {Epoch} epoch */
  moveApart(epoch) {
    const { xs, ys } = this;
    if (this.run.agents > MOST_APART) return;
    const gap = 2 * this.radius() + 2;
    const there = [...xs.keys()].filter((agent) => epoch.layer[agent] > -2);
    for (let round = 0, close = true; close && round < 30; round++) {
      close = false;
      for (let i = 0; i < there.length; i++) {
        for (let j = 0; j < i; j++) {
          const [a, b] = [there[i], there[j]];
          let dx = xs[a] - xs[b];
          let dy = ys[a] - ys[b];
          if (Math.abs(dx) >= gap || Math.abs(dy) >= gap || Math.hypot(dx, dy) >= gap - 0.01) continue;
          close = true;
          if (Math.hypot(dx, dy) < 1e-3) [dx, dy] = [Math.cos(2.4 * a), Math.sin(2.4 * a)]; // on one spot: anywhere
          const push = (gap / Math.hypot(dx, dy) - 1) / 2;
          const share = Math.min(push, (gap / 2) / Math.hypot(dx, dy));
          xs[a] += share * dx;
          ys[a] += share * dy;
          xs[b] -= share * dx;
          ys[b] -= share * dy;
        }
      }
    }
  }

  drawAxes() {
    const { pen, width, height } = this;
    const [left, top] = this.run.metres(this.unproject(0, 0));
    const perMetre = this.view.scale / this.run.unit;
    this.scaleBar = drawAxes(pen, { width, height, left, top, perMetre }, this.ink.quiet);
  }

  drawZones() {
    for (const corners of this.data.zones || []) {
      drawZone(this.pen, corners.map((corner) => this.project(corner)), this.width, this.height);
    }
  }

  // Targets that stand still are drawn once, on a sheet of their own.
  drawTargets() {
    if (!this.field("targets").checked) return;
    const still = this.run.targetFrames === 1;
    if (!still) return this.dotTargets(this.pen, this.frame());
    this.ground ??= this.sheetOfTargets();
    this.pen.drawImage(this.ground, 0, 0, this.width, this.height);
  }

  sheetOfTargets() {
    const sheet = document.createElement("canvas");
    sheet.width = this.canvas.width;
    sheet.height = this.canvas.height;
    const pen = penOf(sheet);
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    this.dotTargets(pen, 0);
    return sheet;
  }

  /** @param {Pen} pen @param {number} frame */
  dotTargets(pen, frame) {
    const points = this.run.targets;
    const count = points.length / 2 / this.run.targetFrames;
    const size = clamp(60 / Math.sqrt(count), 1, 3) * (this.run.weights ? 1.6 : 1);
    const { scale, left, top } = this.view;
    pen.fillStyle = this.data.ground;
    pen.globalAlpha = clamp(1.1 - count / 8000, 0.5, 0.9);
    for (let target = 0; target < count; target++) {
      const k = 2 * (frame * count + target);
      if (points[k] === NOWHERE) continue;
      const side = size * Math.sqrt(this.run.weight(target));
      pen.fillRect(left + scale * points[k] - side / 2, top - scale * points[k + 1] - side / 2, side, side);
    }
    pen.globalAlpha = 1;
  }

  drawDesired() {
    const pen = this.pen;
    const arm = this.radius() + 1.5;
    pen.strokeStyle = this.ink.quiet;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let agent = 0; agent < this.run.agents; agent++) {
      const [x, y] = this.project([this.run.desired[2 * agent], this.run.desired[2 * agent + 1]]);
      pen.moveTo(x - arm, y);
      pen.lineTo(x + arm, y);
      pen.moveTo(x, y - arm);
      pen.lineTo(x, y + arm);
    }
    pen.stroke();
  }

  // The way of the last steps, as many as stay fluent.
  /** @param {number} time */
  drawTrails(time) {
    const { pen, run } = this;
    const { scale, left, top } = this.view;
    const points = run.positions;
    const last = Math.ceil(time) - 1;
    const first = Math.max(0, last - Math.min(80, Math.floor(15000 / run.agents)));
    pen.globalAlpha = 0.4;
    pen.lineWidth = this.fine(1.4);
    this.byLayer.forEach((agents, layer) => {
      pen.strokeStyle = this.colours[layer];
      pen.beginPath();
      for (const agent of agents) {
        pen.moveTo(this.realX[agent], this.realY[agent]);
        for (let frame = last; frame >= first; frame--) {
          const k = 2 * (frame * run.agents + agent);
          pen.lineTo(left + scale * points[k], top - scale * points[k + 1]);
        }
      }
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

  /** @param {Epoch} epoch */
  drawLinks(epoch) {
    const pen = this.pen;
    pen.globalAlpha = this.hovered === null && this.selected === null ? 0.42 : 0.18;
    pen.lineWidth = this.fine(0.9);
    for (let layer = this.byLayer.length - 1; layer > 0; layer--) {
      pen.strokeStyle = this.colours[layer];
      pen.beginPath();
      for (const agent of this.byLayer[layer]) {
        for (let k = 0; k < 3; k++) {
          const heard = epoch.heard[3 * agent + k];
          if (heard < 0) continue;
          pen.moveTo(this.xs[heard], this.ys[heard]);
          pen.lineTo(this.xs[agent], this.ys[agent]);
        }
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // Lines of large teams are one dot wide: browsers draw those much faster than wider ones.
  /** @param {number} width */
  fine(width) {
    return this.run.agents > 300 ? 1 / this.dots : width;
  }

  radius() {
    return clamp((75 / Math.sqrt(this.run.agents)) * Math.sqrt(this.zoom), 1.5, 7) * (this.width < 500 ? 0.75 : 1);
  }

  /** @param {Epoch} epoch */
  drawAgents(epoch) {
    const pen = this.pen;
    pen.strokeStyle = this.ink.paper;
    pen.lineWidth = this.radius() > 3 ? 1 : 0.5;
    this.drawLost();
    this.drawWaiting();
    this.drawReal();
    for (let layer = this.byLayer.length - 1; layer > 0; layer--) {
      this.fillMarkers(this.byLayer[layer], this.colours[layer], (x, y, r) => {
        pen.moveTo(x + r, y);
        pen.arc(x, y, r, 0, 2 * Math.PI);
      });
    }
    this.fillMarkers(epoch.boundary, this.colours[0], (x, y, r) => pen.rect(x - r, y - r, 2 * r, 2 * r));
    this.fillMarkers([epoch.core], this.data.core, (x, y, r) => {
      const arm = 1.4 * r;
      pen.moveTo(x + arm, y);
      pen.lineTo(x, y + arm);
      pen.lineTo(x - arm, y);
      pen.lineTo(x, y - arm);
      pen.closePath();
    });
  }

  /** @param {number[]} agents @param {string} colour @param {Outline} outline */
  fillMarkers(agents, colour, outline) {
    const pen = this.pen;
    const radius = colour === this.colours[0] || colour === this.data.core ? Math.max(this.radius(), 3) : this.radius();
    pen.fillStyle = colour;
    pen.beginPath();
    for (const agent of agents) if (agent >= 0) outline(this.xs[agent], this.ys[agent], radius);
    pen.fill();
    pen.stroke();
  }

  // Agents of layers that are not built yet.
  drawWaiting() {
    const pen = this.pen;
    const radius = clamp(0.5 * this.radius(), 1, 2.5);
    pen.save();
    pen.strokeStyle = this.ink.quiet;
    pen.beginPath();
    for (const agent of this.waiting) {
      pen.moveTo(this.xs[agent] + radius, this.ys[agent]);
      pen.arc(this.xs[agent], this.ys[agent], radius, 0, 2 * Math.PI);
    }
    pen.stroke();
    pen.restore();
  }

  // Lines from markers that were moved apart to where their agents are.
  drawReal() {
    const pen = this.pen;
    pen.save();
    pen.strokeStyle = this.ink.quiet;
    pen.lineWidth = 0.75;
    pen.beginPath();
    for (let agent = 0; agent < this.run.agents; agent++) {
      if (this.xs[agent] === this.realX[agent] && this.ys[agent] === this.realY[agent]) continue;
      pen.moveTo(this.realX[agent], this.realY[agent]);
      pen.lineTo(this.xs[agent], this.ys[agent]);
    }
    pen.stroke();
    pen.restore();
  }

  drawLost() {
    const pen = this.pen;
    const arm = Math.max(this.radius() * 0.8, 2);
    pen.save();
    pen.strokeStyle = this.data.lost;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const agent of this.lost) {
      const [x, y] = [this.xs[agent], this.ys[agent]];
      pen.moveTo(x - arm, y - arm);
      pen.lineTo(x + arm, y + arm);
      pen.moveTo(x - arm, y + arm);
      pen.lineTo(x + arm, y - arm);
    }
    pen.stroke();
    pen.restore();
  }

  // One agent's own view: its triangle with its cells and its policy, and whom it hears.
  /** @param {number} agent @param {Epoch} epoch */
  drawStory(agent, epoch) {
    const pen = this.pen;
    const heard = this.heard(agent, epoch);
    const colour = this.colours[Math.max(epoch.layer[agent], 0)];
    if (heard.length === 3) {
      /** @type {(corner: number) => Point} */
      const real = (corner) => [this.realX[corner], this.realY[corner]];
      /** @type {Triangle} */
      const triangle = [real(heard[0]), real(heard[1]), real(heard[2])];
      this.fill(triangle, colour, 0.14);
      const size = this.run.resolution;
      for (const { record, shade } of [{ record: this.run.goals, shade: this.data.core }, { record: this.run.cells, shade: colour }]) {
        const cell = this.run.cell(record, this.frame(), agent);
        if (cell !== null) this.fill(cellCorners(cell, size).map((parts) => within(triangle, parts)), shade, 0.55);
      }
      if (this.field("cells").checked) {
        this.drawGrid(triangle, colour);
        this.drawPolicy(triangle, this.run.policy(this.frame(), agent, heard));
      }
      pen.strokeStyle = colour;
      pen.lineWidth = 1.8;
      pen.beginPath();
      for (const [x, y] of triangle) {
        pen.moveTo(x, y);
        pen.lineTo(this.realX[agent], this.realY[agent]);
      }
      pen.stroke();
    }
    pen.strokeStyle = this.ink.ink;
    pen.lineWidth = 1.5;
    for (const one of [agent, ...heard]) this.ring(one, one === agent ? 5 : 3);
  }

  // The lines that cut a triangle into cells, as far as they can be told apart.
  /** @param {Triangle} triangle @param {string} colour */
  drawGrid(triangle, colour) {
    const { pen } = this;
    const size = this.run.resolution;
    if (cellWidth(triangle, size) < 4) return;
    pen.save();
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.35;
    pen.lineWidth = 0.6;
    pen.beginPath();
    for (let corner = 0; corner < 3; corner++) {
      for (let cut = 1; cut < size; cut++) {
        const at = (/** @type {number} */ end) => {
          /** @type {Parts} */
          const parts = [0, 0, 0];
          parts[corner] = cut / size;
          parts[end] = 1 - cut / size;
          return within(triangle, parts);
        };
        pen.moveTo(...at((corner + 1) % 3));
        pen.lineTo(...at((corner + 2) % 3));
      }
    }
    pen.stroke();
    pen.restore();
  }

  // An arrow per cell to the next one; where cells are small, on every few of them, for as many moves.
  /** @param {Triangle} triangle @param {Int32Array | null} next */
  drawPolicy(triangle, next) {
    this.arrows = 0;
    if (!next) return;
    const { pen } = this;
    const size = this.run.resolution;
    const stride = Math.max(1, Math.ceil(ARROW / cellWidth(triangle, size)));
    pen.save();
    pen.strokeStyle = this.ink.ink;
    pen.globalAlpha = 0.7;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let cell = 0; cell < size * size; cell++) {
      const { down, base } = cellBase(cell, size);
      if (stride > 1 && (down || base[0] % stride || base[1] % stride)) continue;
      let end = cell;
      for (let move = 0; move < stride; move++) end = next[end];
      if (end === cell) continue;
      drawArrow(pen, within(triangle, cellCentre(cell, size)), within(triangle, cellCentre(end, size)));
      this.arrows++;
    }
    pen.stroke();
    pen.restore();
  }

  /** @param {number} agent @param {Epoch} epoch */
  heard(agent, epoch) {
    return [...epoch.heard.subarray(3 * agent, 3 * agent + 3)].filter((other) => other >= 0);
  }

  /** @param {Point[]} points @param {string} colour @param {number} alpha */
  fill(points, colour, alpha) {
    const pen = this.pen;
    pen.globalAlpha = alpha;
    pen.fillStyle = pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.beginPath();
    points.forEach(([x, y]) => pen.lineTo(x, y));
    pen.closePath();
    pen.fill();
    pen.stroke();
    pen.globalAlpha = 1;
  }

  // A ring around an agent, and its number beside it.
  /** @param {number} agent @param {number} gap */
  ring(agent, gap) {
    const pen = this.pen;
    const [x, y, r] = [this.xs[agent], this.ys[agent], this.radius() + gap];
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.stroke();
    pen.save();
    pen.font = "600 12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = x > this.width - 40 ? "right" : "left";
    /** @type {[string, number, number]} */
    const at = [String(this.run.id(agent)), x + (x > this.width - 40 ? -r - 4 : r + 4), clamp(y, 8, this.height - 8)];
    pen.strokeStyle = this.ink.paper;
    pen.lineWidth = 4;
    pen.strokeText(...at);
    pen.fillStyle = this.ink.ink;
    pen.fillText(...at);
    pen.restore();
  }

  // --- words ---------------------------------------------------------------------------------------------------------

  /** @param {number | null} agent @param {Epoch} epoch */
  tell(agent, epoch) {
    const run = this.run;
    const step = run.steps[this.frame()];
    const play = this.part("play");
    this.say("clock", `step ${step} of ${run.steps[run.frames - 1]}`);
    this.say("built", this.built() < this.colours.length - 1 ? `0–${this.built()}` : "all");
    this.field("scrub").value = String(Math.round(this.time));
    this.part("scrub").setAttribute("aria-valuetext", `step ${step}`);
    play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    play.dataset.state = this.playing ? "playing" : "paused";
    this.figure.dataset.chosen = agent === null ? "" : String(run.id(agent));
    if (agent === null) return;
    const frame = this.frame();
    const heard = this.heard(agent, epoch);
    const [x, y] = run.metres(run.at(agent, this.shown()));
    const digits = clamp(Math.ceil(-Math.log10(run.unit)) - 1, 0, 9);
    this.say("name", `Agent ${run.id(agent)}`);
    this.say("role", this.role(agent, epoch));
    this.say("layer", epoch.layer[agent] < 0 ? "none" : String(epoch.layer[agent]));
    this.say("heard", heard.length ? heard.map((other) => run.id(other)).join(", ") : "nobody");
    this.say("cell", run.cellText(run.cells, frame, agent));
    this.say("goal", run.cellText(run.goals, frame, agent));
    this.say("next", this.nextText(frame, agent, heard));
    this.say("place", `(${x.toFixed(digits)}, ${y.toFixed(digits)}) m`);
  }

  /** @param {number} frame @param {number} agent @param {number[]} heard */
  nextText(frame, agent, heard) {
    const cell = this.run.cell(this.run.cells, frame, agent);
    const next = cell === null ? null : this.run.policy(frame, agent, heard);
    if (cell !== null && next) return next[cell] === cell ? `${cell}: it stays` : String(next[cell]);
    if (cell === null) return "none";
    return this.data.walks ? "not worked out here" : "straight to its goal";
  }

  /** @param {number} agent @param {Epoch} epoch */
  role(agent, epoch) {
    if (agent === epoch.core) return "core";
    if (epoch.boundary.includes(agent)) return "boundary";
    if (epoch.layer[agent] >= 0) return "follower";
    return epoch.layer[agent] === -1 ? "lost" : "not yet there";
  }

  /** @param {string} name @param {string} words */
  say(name, words) {
    const place = this.part(name);
    if (place.textContent !== words) place.textContent = words;
  }
}

// The box of everything that is shown, in units.
/** @param {Run} run */
function boxOf(run) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (const points of [run.positions, run.desired, run.targets]) {
    for (let k = 0; k < points.length; k++) {
      if (points[k] === NOWHERE) continue;
      low[k % 2] = Math.min(low[k % 2], points[k]);
      high[k % 2] = Math.max(high[k % 2], points[k]);
    }
  }
  return { low, high, width: Math.max(high[0] - low[0], 1), height: Math.max(high[1] - low[1], 1) };
}

/** @param {HTMLCanvasElement} canvas */
function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (pen) return pen;
  throw new Error("this browser draws on no canvas");
}

for (const figure of document.querySelectorAll("figure.playback")) {
  if (figure instanceof HTMLElement) Object.assign(figure, { playback: new Player(figure) });
}
