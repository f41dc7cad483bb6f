"use strict";
// Plays a run on a canvas. Each <figure class="playback"> holds its data as JSON, written by playback.py, which says
// what is in it. Nothing is fetched. `figure.playback` is the player, for scripts.

const FIRST_CELL = 3; // in the record of cells: 0 not known, 1 no follower, 2 outside its triangle, 3 + cell otherwise
const NOWHERE = 65535; // of a target that is not there
const REACH = 18; // pixels from an agent within which a pointer means it

function decoded(text, kind) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  return new kind(bytes.buffer);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

// The run itself: who is where, in which cell, in which network.
class Run {
  constructor(data) {
    this.agents = data.agents;
    this.ids = data.ids;
    this.steps = data.steps;
    this.frames = data.steps.length;
    this.corner = data.corner;
    this.unit = data.unit;
    this.resolution = data.resolution;
    this.positions = decoded(data.positions, Uint16Array);
    this.desired = decoded(data.desired, Uint16Array);
    this.targets = decoded(data.targets, Uint16Array);
    this.targetFrames = data.targetFrames;
    const cells = data.cellBytes === 2 ? Uint16Array : Uint32Array;
    this.cells = decoded(data.cells, cells);
    this.goals = decoded(data.goals, cells);
    this.epochs = data.epochs.map((epoch) => ({
      ...epoch,
      layer: decoded(epoch.layer, Int16Array),
      heard: decoded(epoch.heard, Int32Array),
    }));
  }

  id(agent) {
    return this.ids ? this.ids[agent] : agent;
  }

  // The network in use at a frame. After the last step it is still that of the last step.
  epoch(frame) {
    const step = Math.min(this.steps[frame], Math.max(this.steps[this.frames - 1] - 1, 0));
    return this.epochs.findLast((epoch) => epoch.start <= step) || this.epochs[0];
  }

  // Where an agent is at a time in frames, in units; between frames on the straight line.
  at(agent, time) {
    const frame = Math.floor(time);
    const next = Math.min(frame + 1, this.frames - 1);
    const part = time - frame;
    const a = 2 * (frame * this.agents + agent);
    const b = 2 * (next * this.agents + agent);
    const from = this.positions;
    return [from[a] + part * (from[b] - from[a]), from[a + 1] + part * (from[b + 1] - from[a + 1])];
  }

  metres([x, y]) {
    return [this.corner[0] + this.unit * x, this.corner[1] + this.unit * y];
  }

  cell(record, frame, agent) {
    const entry = record[frame * this.agents + agent];
    return entry >= FIRST_CELL ? entry - FIRST_CELL : null;
  }

  // The cell as words.
  cellText(record, frame, agent) {
    const entry = record[frame * this.agents + agent];
    if (entry === 0) return "not known after the last step";
    if (entry === 1) return "none";
    if (entry === 2) return record === this.cells ? "outside its triangle" : "none: its triangle has no area";
    return `${entry - FIRST_CELL} of ${this.resolution ** 2}`;
  }

  // Barycentric corners of a cell: row r from corner 0 holds 2r + 1 cells, up and down in turn, from number r² on.
  cellCorners(cell) {
    const size = this.resolution;
    const row = Math.floor(Math.sqrt(cell));
    const place = cell - row * row;
    const down = place % 2;
    const j = Math.floor(place / 2);
    const base = [size - 1 - row, j, row - j - down];
    return [0, 1, 2].map((corner) => base.map((part, k) => (part + (down ? k !== corner : k === corner)) / size));
  }
}

class Player {
  constructor(figure) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    this.figure = figure;
    this.run = new Run(data);
    this.data = data;
    this.canvas = figure.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.time = 0; // in frames
    this.playing = false;
    this.hovered = null;
    this.selected = null;
    this.zoom = 1;
    this.centre = null; // of the view, in units; null: the middle of the box
    this.xs = new Float32Array(this.run.agents); // on the canvas, at the time that is shown
    this.ys = new Float32Array(this.run.agents);
    this.pace = clamp(this.run.frames / 12, 1.5, 30); // frames per second at speed 1
    this.measure();
    this.listen();
    this.resize();
  }

  part(name) {
    return this.figure.querySelector(`[data-part="${name}"]`);
  }

  // --- controls ------------------------------------------------------------------------------------------------------

  listen() {
    this.part("play").addEventListener("click", () => this.toggle());
    this.part("back").addEventListener("click", () => this.step(-1));
    this.part("forward").addEventListener("click", () => this.step(1));
    this.part("closer").addEventListener("click", () => this.zoomBy(1.5));
    this.part("wider").addEventListener("click", () => this.zoomBy(1 / 1.5));
    this.part("scrub").addEventListener("input", (event) => this.jump(Number(event.target.value)));
    for (const name of ["links", "trails", "targets", "desired"]) {
      this.part(name).addEventListener("change", () => this.draw());
    }
    this.part("agent").addEventListener("input", (event) => this.choose(event.target.value));
    this.listenToPointer();
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.recolour());
    new ResizeObserver(() => this.resize()).observe(this.figure);
    this.recolour();
  }

  listenToPointer() {
    const canvas = this.canvas;
    let held = null; // where the pointer went down
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.offsetX, y: event.offsetY, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held && this.zoom > 1) this.drag(event, held);
      else this.hover(this.nearest(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) this.select(this.nearest(event.offsetX, event.offsetY));
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

  key(event) {
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
    const tick = (now) => {
      if (!this.playing) return;
      const speed = Number(this.part("speed").value);
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
  jump(frame) {
    this.playing = false;
    this.time = clamp(frame, 0, this.run.frames - 1);
    this.draw();
  }

  step(by) {
    this.jump(by > 0 ? Math.floor(this.time) + 1 : Math.ceil(this.time) - 1);
  }

  hover(agent) {
    if (agent === this.hovered) return;
    this.hovered = agent;
    this.draw();
  }

  select(agent) {
    this.selected = agent;
    this.part("agent").value = agent === null ? "" : this.run.id(agent);
    this.draw();
  }

  // By the number that the reader typed.
  choose(text) {
    const id = text === "" ? -1 : Number(text);
    const agent = this.run.ids ? this.run.ids.indexOf(id) : id;
    this.selected = agent >= 0 && agent < this.run.agents ? agent : null;
    this.draw();
  }

  neighbour(by) {
    const from = this.selected === null ? (by > 0 ? -1 : 0) : this.selected;
    this.select((from + by + this.run.agents) % this.run.agents);
  }

  // --- the view ------------------------------------------------------------------------------------------------------

  // The box of everything that is shown, in units.
  measure() {
    const run = this.run;
    const low = [Infinity, Infinity];
    const high = [-Infinity, -Infinity];
    for (const points of [run.positions, run.desired, run.targets]) {
      for (let k = 0; k < points.length; k++) {
        if (points[k] === NOWHERE) continue;
        low[k % 2] = Math.min(low[k % 2], points[k]);
        high[k % 2] = Math.max(high[k % 2], points[k]);
      }
    }
    this.box = { low, high, width: Math.max(high[0] - low[0], 1), height: Math.max(high[1] - low[1], 1) };
  }

  resize() {
    const width = this.canvas.parentElement.clientWidth;
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

  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const fixed = this.unproject(x, y);
    this.zoom = clamp(this.zoom * factor, 1, 40);
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

  middle() {
    const { low, width, height } = this.box;
    return this.centre || [low[0] + width / 2, low[1] + height / 2];
  }

  // Pixels per unit.
  scale() {
    const room = 22;
    const { width, height } = this.box;
    return this.zoom * Math.min((this.width - 2 * room) / width, (this.height - 2 * room) / height);
  }

  // What turns units into pixels: (left + scale · x, top - scale · y).
  lens() {
    const scale = this.scale();
    const [a, b] = this.middle();
    return { scale, left: this.width / 2 - a * scale, top: this.height / 2 + b * scale };
  }

  project([x, y]) {
    return [this.view.left + this.view.scale * x, this.view.top - this.view.scale * y];
  }

  unproject(x, y) {
    const [a, b] = this.middle();
    return [a + (x - this.width / 2) / this.scale(), b - (y - this.height / 2) / this.scale()];
  }

  // The agent that a pointer means, or null.
  nearest(x, y) {
    const layer = this.run.epoch(this.frame()).layer;
    let best = null;
    let least = REACH ** 2;
    for (let agent = 0; agent < this.run.agents; agent++) {
      const away = (this.xs[agent] - x) ** 2 + (this.ys[agent] - y) ** 2;
      if (away < least && layer[agent] > -2) [best, least] = [agent, away];
    }
    return best;
  }

  // --- drawing -------------------------------------------------------------------------------------------------------

  recolour() {
    const style = getComputedStyle(this.figure);
    const named = (name) => style.getPropertyValue(name).trim();
    this.ink = { ink: named("--ink"), paper: named("--paper"), quiet: named("--quiet"), target: named("--target") };
    this.colours = this.dark.matches ? this.data.dark : this.data.light;
    this.part("strip").style.background =
      `linear-gradient(to right, ${this.colours.slice(1).join(", ")}, ${this.colours.at(-1)})`;
    this.part("boundary").style.color = this.colours[0];
    this.part("core").style.color = this.data.core;
    this.ground = null;
    this.draw();
  }

  frame() {
    return Math.floor(this.time);
  }

  // What the reader sees: without motion between frames where that is not wanted.
  shown() {
    return this.reduced && this.reduced.matches ? this.frame() : this.time;
  }

  draw() {
    if (!this.ink || !this.width) return;
    const run = this.run;
    const time = this.shown();
    this.view = this.lens();
    const epoch = run.epoch(this.frame());
    for (let agent = 0; agent < run.agents; agent++) {
      [this.xs[agent], this.ys[agent]] = this.project(run.at(agent, time));
    }
    const pen = this.pen;
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineJoin = pen.lineCap = "round";
    this.byLayer = this.sorted(epoch);
    this.drawTargets();
    if (this.part("desired").checked) this.drawDesired();
    if (this.part("trails").checked) this.drawTrails(time);
    if (this.part("links").checked) this.drawLinks(epoch);
    this.drawAgents(epoch);
    const agent = this.hovered ?? this.selected;
    if (agent !== null) this.drawStory(agent, epoch);
    this.tell(agent, epoch);
  }

  // Agents of each layer; those who are lost come last, those who have not joined yet nowhere.
  sorted(epoch) {
    const found = this.colours.map(() => []);
    found.lost = [];
    epoch.layer.forEach((layer, agent) => {
      if (layer >= 0) found[layer].push(agent);
      else if (layer === -1) found.lost.push(agent);
    });
    return found;
  }

  // Targets that stand still are drawn once, on a sheet of their own.
  drawTargets() {
    if (!this.part("targets").checked) return;
    const still = this.run.targetFrames === 1;
    if (!still) return this.dotTargets(this.pen, this.frame());
    if (!this.ground) {
      this.ground = document.createElement("canvas");
      this.ground.width = this.canvas.width;
      this.ground.height = this.canvas.height;
      const pen = this.ground.getContext("2d");
      pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
      this.dotTargets(pen, 0);
    }
    this.pen.drawImage(this.ground, 0, 0, this.width, this.height);
  }

  dotTargets(pen, frame) {
    const points = this.run.targets;
    const count = points.length / 2 / this.run.targetFrames;
    const size = clamp(60 / Math.sqrt(count), 1, 3);
    const { scale, left, top } = this.view;
    pen.fillStyle = this.ink.target;
    for (let k = 2 * frame * count; k < 2 * (frame + 1) * count; k += 2) {
      if (points[k] === NOWHERE) continue;
      pen.fillRect(left + scale * points[k] - size / 2, top - scale * points[k + 1] - size / 2, size, size);
    }
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
        pen.moveTo(this.xs[agent], this.ys[agent]);
        for (let frame = last; frame >= first; frame--) {
          const k = 2 * (frame * run.agents + agent);
          pen.lineTo(left + scale * points[k], top - scale * points[k + 1]);
        }
      }
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

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
  fine(width) {
    return this.run.agents > 300 ? 1 / this.dots : width;
  }

  radius() {
    return clamp((75 / Math.sqrt(this.run.agents)) * Math.sqrt(this.zoom), 1.5, 7) * (this.width < 500 ? 0.75 : 1);
  }

  drawAgents(epoch) {
    const pen = this.pen;
    pen.strokeStyle = this.ink.paper;
    pen.lineWidth = this.radius() > 3 ? 1 : 0.5;
    this.drawLost();
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

  fillMarkers(agents, colour, outline) {
    const pen = this.pen;
    const radius = colour === this.colours[0] || colour === this.data.core ? Math.max(this.radius(), 3) : this.radius();
    pen.fillStyle = colour;
    pen.beginPath();
    for (const agent of agents) if (agent >= 0) outline(this.xs[agent], this.ys[agent], radius);
    pen.fill();
    pen.stroke();
  }

  drawLost() {
    const pen = this.pen;
    const arm = Math.max(this.radius() * 0.8, 2);
    pen.save();
    pen.strokeStyle = this.data.lost;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const agent of this.byLayer.lost) {
      const [x, y] = [this.xs[agent], this.ys[agent]];
      pen.moveTo(x - arm, y - arm);
      pen.lineTo(x + arm, y + arm);
      pen.moveTo(x - arm, y + arm);
      pen.lineTo(x + arm, y - arm);
    }
    pen.stroke();
    pen.restore();
  }

  // One agent's own view: its triangle, its cell and its goal cell, whom it hears, and the way that it went.
  drawStory(agent, epoch) {
    const pen = this.pen;
    const heard = this.heard(agent, epoch);
    const colour = this.colours[Math.max(epoch.layer[agent], 0)];
    if (heard.length === 3) {
      const triangle = heard.map((corner) => [this.xs[corner], this.ys[corner]]);
      this.fill(triangle, colour, 0.14);
      const frame = this.frame();
      for (const [record, shade] of [[this.run.goals, this.data.core], [this.run.cells, colour]]) {
        const cell = this.run.cell(record, frame, agent);
        if (cell !== null) this.fill(this.within(triangle, this.run.cellCorners(cell)), shade, 0.55);
      }
      pen.strokeStyle = colour;
      pen.lineWidth = 1.8;
      pen.beginPath();
      for (const [x, y] of triangle) {
        pen.moveTo(x, y);
        pen.lineTo(this.xs[agent], this.ys[agent]);
      }
      pen.stroke();
    }
    pen.strokeStyle = this.ink.ink;
    pen.lineWidth = 1.5;
    for (const one of [agent, ...heard]) this.ring(one, one === agent ? 5 : 3);
  }

  heard(agent, epoch) {
    return [...epoch.heard.subarray(3 * agent, 3 * agent + 3)].filter((other) => other >= 0);
  }

  // Points of a triangle by their barycentric coordinates.
  within(triangle, corners) {
    return corners.map((parts) => [0, 1].map((axis) => parts.reduce((sum, part, k) => sum + part * triangle[k][axis], 0)));
  }

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
    const at = [String(this.run.id(agent)), x + (x > this.width - 40 ? -r - 4 : r + 4), clamp(y, 8, this.height - 8)];
    pen.strokeStyle = this.ink.paper;
    pen.lineWidth = 4;
    pen.strokeText(...at);
    pen.fillStyle = this.ink.ink;
    pen.fillText(...at);
    pen.restore();
  }

  // --- words ---------------------------------------------------------------------------------------------------------

  tell(agent, epoch) {
    const run = this.run;
    const step = run.steps[this.frame()];
    const play = this.part("play");
    this.say("clock", `step ${step} of ${run.steps[run.frames - 1]}`);
    this.part("scrub").value = String(Math.round(this.time));
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
    this.say("place", `(${x.toFixed(digits)}, ${y.toFixed(digits)}) m`);
  }

  role(agent, epoch) {
    if (agent === epoch.core) return "core";
    if (epoch.boundary.includes(agent)) return "boundary";
    return { "-1": "lost", "-2": "not yet there" }[epoch.layer[agent]] || "follower";
  }

  say(name, words) {
    const place = this.part(name);
    if (place.textContent !== words) place.textContent = words;
  }
}

for (const figure of document.querySelectorAll("figure.playback")) figure.playback = new Player(figure);
