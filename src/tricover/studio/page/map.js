// A map of one variant: WebGL for what moves, a canvas below it for targets, and one above it for zones, axes and the
// chosen agent. What stands still is drawn once: in software WebGL takes a microsecond for each point, in every frame.

import { cellCentre, cellCorners, within } from "./cells.js";
import { drawAxes, drawZone } from "./ground.js";
import { cellWidth, clamp, drawArrow } from "./marks.js";
import { Painter } from "./gl.js";
import { Team, bytes, radius } from "./team.js";

/** @import { Block } from "./team.js" */
/** @import { Facts, Inside } from "./live.js" */
/** @import { Parts } from "./cells.js" */
/** @import { Point, Triangle } from "./marks.js" */
/** @typedef {{ size: Point, corner: Point, zoom: number, centre: Point | null }} Camera shared by all maps */
/** @typedef {{ scale: number, left: number, top: number }} Lens from metres to pixels */
/** @typedef {{ centre: Point, radius: number } | { corners: Point[] }} Sketch */
/** @typedef {[number, number, number]} Colour */
/** @typedef {"cross" | "ring" | "bars"} Mark of an agent of a fleet: told apart by its shape, whatever the colours */

const REACH = 18; // pixels from an agent within which a pointer means it
const ROOM = 34; // pixels around everything
const MOVING = 3000; // links that are drawn of a team in motion, in software: they take a quarter of a frame
const FEWEST = 200; // links that are drawn in motion however slow it is
const SLOW = 42; // milliseconds: frames that take longer are too few, and links are left out
const IN_A_ROW = 5; // slow frames after which that is so
const ARROW = 13; // pixels that an arrow of the policy needs
/** @type {Colour} */
const LOW = [68, 1, 84]; // ends of the colours of values: as of viridis, told apart by everybody
/** @type {Colour} */
const MIDDLE = [33, 145, 140];
/** @type {Colour} */
const HIGH = [253, 231, 37];

export class MapView {
  /** @param {Camera} camera @param {number} variant */
  constructor(camera, variant) {
    this.camera = camera;
    this.variant = variant;
    this.team = new Team();
    /** @type {Facts | null} */
    this.facts = null;
    /** @type {number | null} */
    this.chosen = null;
    /** @type {number | null} */
    this.zone = null; // that is chosen
    /** @type {Inside | null} */
    this.inside = null;
    /** @type {Sketch | null} */
    this.sketch = null; // what a tool draws: a circle, or corners of a zone
    /** @type {[agent: number, mark: Mark][]} */
    this.marks = [];
    this.built = Infinity;
    this.playing = false;
    /** @type {Record<string, boolean> & { links: boolean, triangles: boolean }} */
    this.show = { links: true, triangles: false, targets: true, cells: true };
    this.element = document.createElement("div");
    this.element.className = "map";
    this.ground = this.element.appendChild(document.createElement("canvas"));
    this.above = this.element.appendChild(document.createElement("canvas"));
    this.field = this.element.appendChild(document.createElement("canvas"));
    this.field.className = "field";
    /** @type {{ numbers: Float32Array, count: number }} */
    this.spots = { numbers: new Float32Array(), count: 0 };
    this.above.tabIndex = 0;
    this.above.setAttribute("role", "application");
    this.label = this.element.appendChild(document.createElement("p"));
    this.painter = new Painter(this.ground);
    this.rest();
    this.pen = penOf(this.above);
    this.width = this.height = 0; // in pixels
    this.dots = 1; // device pixels per pixel
    this.dressed = -1; // agents that colours and links are there for
    this.stale = true; // whether all is to be drawn anew
    this.slow = 0; // frames in a row
    this.known = ""; // of the facts that a dress depends on
    this.shown = this.spots; // targets as they were drawn last
    this.viewed = ""; // and the view
    this.last = Infinity; // when the last frame of a motion was
    this.frames = 0; // drawn so far
    this.began = 0;
    this.lasts = 0; // milliseconds from one step to the next
    this.waiting = false;
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  // --- what is shown ---

  // What is known besides numbers. Most of it stays as it is from step to step, and then so does the team's dress.
  // Returns whether it is to be drawn otherwise.
  /** @param {Facts} facts @returns {boolean} */
  tell(facts) {
    const known = JSON.stringify([facts.boundary, facts.cores, facts.colours, facts.zones]);
    this.facts = facts;
    if (known === this.known) return false;
    this.known = known;
    this.zone = null; // zones may have other numbers now
    this.dress();
    this.draw();
    return true;
  }

  // Whether the team goes on by itself; at rest it is drawn in full.
  /** @param {boolean} playing */
  play(playing) {
    if (playing === this.playing) return;
    this.playing = playing;
    if (!playing) this.rest();
    this.draw(true);
  }

  rest() {
    this.most = this.painter.smooth ? Infinity : MOVING; // links in motion
  }

  // The last layer that is shown.
  /** @param {number} layer */
  build(layer) {
    if (layer === this.built) return;
    this.built = layer;
    this.dress();
  }

  /** @param {Block} block @param {number} lasts milliseconds on the way to it */
  see({ kind, numbers, heard, layer, count }, lasts) {
    if (kind === 1) {
      this.team.move(numbers);
      this.painter.agents.move(this.team.before, this.team.positions);
      this.began = performance.now();
      this.lasts = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : lasts;
      if (this.dressed !== count) this.dress();
    } else if (kind === 2) {
      Object.assign(this.team, { heard, layer });
      this.dress();
    } else this.spots = { numbers, count };
    this.draw(true);
  }

  // Colours, sizes, links and triangles of the team as it is.
  dress() {
    if (!this.facts || this.team.layer.length !== this.team.count) return this.draw();
    this.painter.agents.dress(...this.team.looks(this.facts, this.built, this.chosen, this.larger()));
    this.painter.connect("links", this.team.links(this.built));
    this.painter.connect("triangles", this.team.triangles(this.built));
    this.dressed = this.team.count;
    this.draw(true);
  }

  /** @param {number | null} agent @param {number | null} zone */
  choose(agent, zone = null) {
    this.chosen = agent;
    this.zone = zone;
    if (agent === null) this.inside = null;
    this.dress();
    this.draw();
  }

  // --- where things are ---

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const dots = devicePixelRatio;
    for (const canvas of [this.ground, this.above, this.field]) {
      canvas.width = Math.round(width * dots);
      canvas.height = Math.round(height * dots);
    }
    Object.assign(this, { width, height, dots });
    this.dress();
    this.draw();
  }

  // How much larger than usual things are drawn: a projector's picture is seen from afar.
  larger() {
    return clamp(Math.min(this.width, this.height) / 620 || 1, 1, 2.2);
  }

  /** @returns {Lens} */
  lens() {
    const { size, zoom, centre } = this.camera;
    const room = 2 * ROOM * this.larger();
    const fits = [this.width, this.height].map((pixels, axis) => (pixels - room) / Math.max(size[axis], 1e-9));
    const scale = zoom * Math.max(Math.min(...fits), 1e-9);
    const [x, y] = centre || [size[0] / 2, size[1] / 2];
    return { scale, left: this.width / 2 - x * scale, top: this.height / 2 + y * scale };
  }

  /** @param {Point} place @returns {Point} */
  project([x, y]) {
    const { scale, left, top } = this.lens();
    return [left + scale * x, top - scale * y];
  }

  /** @param {Point} pixel @returns {Point} */
  unproject([x, y]) {
    const { scale, left, top } = this.lens();
    return [(x - left) / scale, (top - y) / scale];
  }

  // The agent that a pointer means, or null.
  /** @param {Point} pixel @returns {number | null} */
  nearest([x, y]) {
    const { scale, left, top } = this.lens();
    let best = REACH ** 2;
    let found = null;
    const { positions, layer } = this.team;
    for (let agent = 0; agent < this.team.count; agent++) {
      const away = (left + scale * positions[2 * agent] - x) ** 2 + (top - scale * positions[2 * agent + 1] - y) ** 2;
      if (away < best && layer[agent] > -2) [best, found] = [away, agent];
    }
    return found;
  }

  // The zone that a pointer is in, or null; of several the last, which is drawn above the others.
  /** @param {Point} pixel @returns {number | null} */
  zoneAt([x, y]) {
    const zones = this.facts?.zones ?? [];
    const around = (/** @type {Point[]} */ zone) =>
      this.pen.isPointInPath(outline(zone.map((corner) => this.project(corner))), x * this.dots, y * this.dots);
    const found = zones.findLastIndex(around);
    return found < 0 ? null : found;
  }

  // --- drawing ---

  part() {
    return this.lasts ? clamp((performance.now() - this.began) / this.lasts, 0, 1) : 1;
  }

  // Everything anew, or with `moved` the team alone.
  draw(moved = false) {
    this.stale ||= !moved;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => {
      this.waiting = false;
      this.paint();
      this.spare(now);
      if (this.part() < 1) this.draw(true);
    });
  }

  // Fewer links where several frames in a row were slow. They come back where the team rests.
  /** @param {number} now */
  spare(now) {
    const moves = this.part() < 1;
    this.slow = moves && now - this.last > SLOW ? this.slow + 1 : 0;
    this.last = moves ? now : Infinity;
    if (this.slow < IN_A_ROW) return;
    this.slow = 0;
    this.most = Math.max(FEWEST, Math.min(this.most, this.painter.links.count / 2) / 2);
  }

  paint() {
    const { facts, width, height, dots } = this;
    if (!facts || !width) return;
    const lens = this.lens();
    const style = getComputedStyle(this.element);
    const ink = bytes(style.getPropertyValue("--sheet-ink").trim());
    const most = this.playing || this.part() < 1 ? this.most : Infinity;
    this.paintField(facts, lens);
    this.painter.draw({ width, height, dots, lens, part: this.part(), show: this.show, most, ink: ink.map((byte) => byte / 255) });
    this.frames += 1;
    if (this.stale || this.chosen !== null || this.marks.length) this.paintAbove(facts, lens, style, `rgb(${ink})`);
  }

  // Targets, where they or the view are others than before.
  /** @param {Facts} facts @param {Lens} lens */
  paintField(facts, lens) {
    const { width, height, dots, spots } = this;
    const view = String([width, height, dots, lens.left, lens.top, lens.scale, this.show.targets, facts.ground]);
    if (spots === this.shown && view === this.viewed) return;
    this.shown = spots;
    this.viewed = view;
    const pen = penOf(this.field);
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!this.show.targets) return;
    pen.fillStyle = `rgba(${bytes(facts.ground)}, ${clamp(280 - spots.count / 30, 110, 230) / 255})`;
    const size = clamp(90 / Math.sqrt(spots.count), 1.5, 4) * this.larger();
    for (let target = 0; target < spots.count; target++) {
      const [east, north, weight] = spots.numbers.subarray(3 * target, 3 * target + 3);
      const across = size * Math.sqrt(clamp(weight, 0.2, 16));
      drawSpot(pen, lens.left + lens.scale * east, lens.top - lens.scale * north, across);
    }
  }

  // What seldom changes is drawn anew only when it has: to hand over a whole canvas takes longer than to draw a team.
  /** @param {Facts} facts @param {Lens} lens @param {CSSStyleDeclaration} style @param {string} ink */
  paintAbove(facts, lens, style, ink) {
    const { width, height, dots, pen } = this;
    this.stale = false;
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.lineJoin = pen.lineCap = "round";
    for (const zone of facts.zones) drawZone(pen, zone.map((corner) => this.project(corner)), width, height);
    const [left, top] = this.unproject([0, 0]);
    const { corner } = this.camera;
    const view = { width, height, left: left + corner[0], top: top + corner[1], perMetre: lens.scale };
    drawAxes(pen, view, style.getPropertyValue("--sheet-quiet").trim());
    this.drawMarks(ink);
    if (this.zone !== null && facts.zones[this.zone]) this.drawZoneChosen(facts.zones[this.zone], ink);
    if (this.inside) this.drawInside(this.inside, facts, ink);
    if (this.chosen !== null && this.chosen < this.team.count) this.drawChosen(this.chosen, ink);
    if (this.sketch) this.drawSketch(this.sketch, ink);
  }

  /** @param {string} ink */
  drawMarks(ink) {
    const { pen } = this;
    const away = (radius(this.team.count) + 4) * this.larger();
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    for (const [agent, mark] of this.marks) {
      if (agent < this.team.count) drawMark(pen, mark, this.project(this.team.at(agent, this.part())), away);
    }
    pen.setLineDash([]);
  }

  /** @param {number} agent @param {string} ink */
  drawChosen(agent, ink) {
    const { pen } = this;
    const [x, y] = this.project(this.team.at(agent, this.part()));
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, (radius(this.team.count) + 7) * this.larger(), 0, 7);
    pen.stroke();
  }

  /** @param {Point[]} zone @param {string} ink */
  drawZoneChosen(zone, ink) {
    this.pen.strokeStyle = ink;
    this.pen.lineWidth = 2;
    this.pen.stroke(outline(zone.map((corner) => this.project(corner))));
  }

  // From metres of the world to pixels.
  /** @param {Point} place @returns {Point} */
  place([x, y]) {
    return this.project([x - this.camera.corner[0], y - this.camera.corner[1]]);
  }

  // Where an agent is, in metres of the world.
  /** @param {number} agent @returns {Point} */
  agent(agent) {
    const [x, y] = this.team.at(agent);
    return [x + this.camera.corner[0], y + this.camera.corner[1]];
  }

  /** @param {Inside} inside @param {Facts} facts @param {string} ink */
  drawInside(inside, facts, ink) {
    const { pen } = this;
    pen.save();
    if (inside.triangle) {
      const [a, b, c] = inside.triangle;
      /** @type {Triangle} */
      const triangle = [this.place(a), this.place(b), this.place(c)];
      if (this.show.cells) this.drawCells(triangle, inside, ink);
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.stroke(outline(triangle));
    }
    if (inside.goal) {
      const [x, y] = this.place(inside.goal);
      pen.strokeStyle = facts.coreColour;
      pen.lineWidth = 3;
      pen.beginPath();
      for (const side of [-1, 1]) {
        pen.moveTo(x - 7, y - 7 * side);
        pen.lineTo(x + 7, y + 7 * side);
      }
      pen.stroke();
    }
    pen.restore();
  }

  // Values as colours, the policy as arrows where they have room.
  /** @param {Triangle} triangle @param {Inside} inside @param {string} ink */
  drawCells(triangle, { resolution, value, policy, cell: at = -1 }, ink) {
    const { pen } = this;
    if (!resolution || !value || !policy) return;
    const low = value.reduce((least, one) => Math.min(least, one), Infinity);
    const high = value.reduce((most, one) => Math.max(most, one), -Infinity);
    const pixel = (/** @type {Parts} */ parts) => within(triangle, parts);
    pen.globalAlpha = 0.5;
    value.forEach((one, cell) => {
      pen.fillStyle = `rgb(${ramp(high > low ? (one - low) / (high - low) : 1)})`;
      pen.fill(outline(cellCorners(cell, resolution).map(pixel)));
    });
    pen.globalAlpha = 0.85;
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.beginPath();
    if (cellWidth(triangle, resolution) >= ARROW) {
      policy.forEach((next, cell) => {
        if (next !== cell) drawArrow(pen, pixel(cellCentre(cell, resolution)), pixel(cellCentre(next, resolution)));
      });
    }
    pen.stroke();
    if (at >= 0) pen.stroke(outline(cellCorners(at, resolution).map(pixel)));
    pen.globalAlpha = 1;
  }

  /** @param {Sketch} sketch @param {string} ink */
  drawSketch(sketch, ink) {
    const { pen } = this;
    pen.strokeStyle = ink;
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 4]);
    if ("corners" in sketch) pen.stroke(outline(sketch.corners.map((corner) => this.project(corner))));
    else {
      const [x, y] = this.project(sketch.centre);
      pen.beginPath();
      pen.arc(x, y, sketch.radius * this.lens().scale, 0, 7);
      pen.stroke();
    }
    pen.setLineDash([]);
  }
}

/** @param {CanvasRenderingContext2D} pen @param {Mark} mark @param {Point} place @param {number} away */
function drawMark(pen, mark, [x, y], away) {
  pen.setLineDash(mark === "ring" ? [4, 3] : []);
  pen.beginPath();
  if (mark === "ring") pen.arc(x, y, away + 3, 0, 7);
  for (const side of [-1, 1]) {
    if (mark === "cross") {
      pen.moveTo(x - away, y - side * away);
      pen.lineTo(x + away, y + side * away);
    }
    if (mark === "bars") {
      pen.moveTo(x + 0.4 * side * away, y - away);
      pen.lineTo(x + 0.4 * side * away, y + away);
    }
  }
  pen.stroke();
}

// A small spot is a square: nobody sees its shape.
/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} across */
function drawSpot(pen, x, y, across) {
  if (across <= 4) return pen.fillRect(x - across / 2, y - across / 2, across, across);
  pen.beginPath();
  pen.arc(x, y, across / 2, 0, 7);
  pen.fill();
}

/** @param {HTMLCanvasElement} canvas */
export function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("This page needs a canvas to draw on.");
  return pen;
}

/** @param {Point[]} points */
function outline(points) {
  const shape = new Path2D();
  for (const point of points) shape.lineTo(...point);
  shape.closePath();
  return shape;
}

// A colour between the ends, for a value from 0 to 1.
/** @param {number} value */
function ramp(value) {
  const [from, to] = value < 0.5 ? [LOW, MIDDLE] : [MIDDLE, HIGH];
  const part = value < 0.5 ? 2 * value : 2 * value - 1;
  return from.map((byte, k) => Math.round(byte + part * (to[k] - byte)));
}
