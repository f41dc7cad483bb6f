// What a pointer does on a map: choose, drag and place agents, scatter, paint and erase targets, draw zones, move the view.

import { clamp } from "./marks.js";

/** @import { MapView } from "./map.js" */
/** @import { Point } from "./marks.js" */
/**
 * @typedef {object} Held a press
 * @property {Point} start
 * @property {Point} last
 * @property {number | null} agent
 * @property {Point | null} from where the agent was
 * @property {boolean} moved
 */
/**
 * @typedef {object} Hand what tools need of a page
 * @property {(name: string, words: object) => void} say asks the studio for something
 * @property {(map: MapView, agent: number | null, zone: number | null) => void} choose
 * @property {() => void} redraw all maps
 * @property {() => { radius: number, weight: number }} brush
 */

const MOVED = 4; // pixels after which a press is a drag
const PER_STROKE = 3; // targets that a stroke of the brush leaves
const SCATTERED = 20; // targets of a click that scatters

export class Tools {
  /** @param {Hand} hand */
  constructor({ say, choose, redraw, brush }) {
    this.say = say;
    this.choose = choose;
    this.redraw = redraw;
    this.brush = brush;
    this.tool = "choose";
    this.fixed = false; // whether agents stay where they are, however they are dragged
    /** @type {Point[]} */
    this.corners = [];
    /** @type {{ agent: number, place: Point } | null} */
    this.draggedTo = null; // where the agent is that waits for the studio to follow
    this.following = false;
    /** @type {Map<number, Point>} */
    this.fingers = new Map();
    /** @type {Held | null} */
    this.held = null;
  }

  /** @param {string} tool */
  take(tool) {
    this.tool = tool;
    this.corners = [];
  }

  /** @param {MapView} map */
  listen(map) {
    const sheet = map.above;
    /** @param {MouseEvent} event @returns {Point} */
    const at = (event) => [event.offsetX, event.offsetY];
    sheet.addEventListener("pointerdown", (event) => this.press(map, event, at(event)));
    sheet.addEventListener("pointermove", (event) => this.move(map, event, at(event)));
    sheet.addEventListener("pointerup", (event) => this.release(map, event, at(event)));
    sheet.addEventListener("pointercancel", (event) => this.cancel(map, event));
    sheet.addEventListener("pointerleave", () => this.sketch(map, null));
    sheet.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(map, Math.exp(-event.deltaY / 400), at(event));
      },
      { passive: false },
    );
  }

  /** @param {MapView} map @param {PointerEvent} event @param {Point} pixel */
  press(map, event, pixel) {
    map.above.setPointerCapture(event.pointerId);
    map.above.focus();
    this.fingers.set(event.pointerId, pixel);
    const agent = this.tool === "choose" ? map.nearest(pixel) : null;
    this.held = { start: pixel, last: pixel, agent, from: agent === null ? null : map.agent(agent), moved: false };
    if (this.tool === "paint" || this.tool === "erase") this.stroke(map, pixel);
  }

  /** @param {MapView} map @param {PointerEvent} event @param {Point} pixel */
  move(map, event, pixel) {
    if (this.fingers.size === 2) return this.pinch(map, event, pixel);
    if (["paint", "erase", "scatter"].includes(this.tool)) this.sketch(map, { centre: map.unproject(pixel), radius: this.brush().radius });
    const { held } = this;
    if (!held) return;
    held.moved ||= Math.hypot(pixel[0] - held.start[0], pixel[1] - held.start[1]) > MOVED;
    if (!held.moved) return;
    if (this.tool === "paint" || this.tool === "erase") this.stroke(map, pixel);
    else if (held.agent !== null && !this.fixed) this.drag(held.agent, world(map, pixel));
    else this.pan(map, held.last, pixel);
    held.last = pixel;
  }

  /** @param {MapView} map @param {PointerEvent} event @param {Point} pixel */
  release(map, event, pixel) {
    this.fingers.delete(event.pointerId);
    const { held } = this;
    this.held = null;
    if (!held) return;
    if (held.moved && held.agent !== null && !this.fixed) this.drop(held.agent, world(map, pixel));
    if (held.moved) return;
    if (this.tool === "choose") this.choose(map, held.agent, held.agent === null ? map.zoneAt(pixel) : null);
    if (this.tool === "agent") this.say("place", { place: world(map, pixel) });
    if (this.tool === "scatter") this.scatter(map, pixel, SCATTERED);
    if (this.tool === "zone") this.corner(map, pixel);
  }

  /** @param {MapView} map @param {PointerEvent} event */
  cancel(map, event) {
    this.fingers.delete(event.pointerId);
    this.letGo();
    this.held = null;
    this.sketch(map, null);
  }

  // The network follows as fast as the studio answers, and no question waits for another.
  /** @param {number} agent @param {Point} place */
  drag(agent, place) {
    this.draggedTo = { agent, place };
    if (!this.following) this.follow();
  }

  // Where it was on its way to is not asked for any more: that would be shown after what comes of the drop.
  /** @param {number} agent @param {Point} place */
  drop(agent, place) {
    this.draggedTo = null;
    this.say("drop", { agent, place });
  }

  // An agent that is not dragged after all is shown where it was.
  letGo() {
    const { held } = this;
    if (!held || held.agent === null) return;
    if (held.moved && held.from) this.drag(held.agent, held.from);
    held.agent = null;
  }

  follow() {
    this.following = this.draggedTo !== null;
    if (this.draggedTo) this.say("drag", this.draggedTo);
    this.draggedTo = null;
  }

  /** @param {MapView} map @param {Point} pixel */
  stroke(map, pixel) {
    const { radius } = this.brush();
    if (this.tool === "erase") this.say("erase", { centre: world(map, pixel), radius });
    else this.scatter(map, pixel, PER_STROKE);
  }

  /** @param {MapView} map @param {Point} pixel @param {number} count */
  scatter(map, pixel, count) {
    const { radius, weight } = this.brush();
    const [x, y] = world(map, pixel);
    const points = Array.from({ length: count }, () => {
      const [angle, away] = [2 * Math.PI * Math.random(), radius * Math.sqrt(Math.random())];
      return [x + away * Math.cos(angle), y + away * Math.sin(angle)];
    });
    this.say("scatter", { points, weight });
  }

  /** @param {MapView} map @param {Point} pixel */
  corner(map, pixel) {
    this.corners.push(map.unproject(pixel));
    this.sketch(map, { corners: this.corners });
  }

  // The corners that were set are a zone.
  /** @param {MapView} map */
  close(map) {
    const { corner } = map.camera;
    const corners = this.corners.map(([x, y]) => [x + corner[0], y + corner[1]]);
    if (corners.length >= 3) this.say("fence", { corners });
    this.corners = [];
    this.sketch(map, null);
  }

  /** @param {MapView} map @param {import("./map.js").Sketch | null} what */
  sketch(map, what) {
    if (!what && this.corners.length) return;
    map.sketch = what;
    map.draw();
  }

  /** @param {MapView} map @param {Point} from @param {Point} pixel */
  pan(map, from, pixel) {
    const { camera } = map;
    const [x, y] = map.unproject(from);
    const [a, b] = map.unproject(pixel);
    const centre = camera.centre || [camera.size[0] / 2, camera.size[1] / 2];
    camera.centre = [centre[0] + x - a, centre[1] + y - b];
    this.redraw();
  }

  /** @param {MapView} map @param {number} factor 0: everything @param {Point} pixel that stays where it is */
  zoom(map, factor, pixel = [map.width / 2, map.height / 2]) {
    const { camera } = map;
    const fixed = map.unproject(pixel);
    const [x, y] = camera.centre || [camera.size[0] / 2, camera.size[1] / 2];
    camera.zoom = factor ? clamp(camera.zoom * factor, 0.3, 1000) : 1;
    camera.centre = factor ? [x, y] : null;
    const moved = map.unproject(pixel);
    if (factor) camera.centre = [x + fixed[0] - moved[0], y + fixed[1] - moved[1]];
    this.redraw();
  }

  /** @param {MapView} map @param {PointerEvent} event @param {Point} pixel */
  pinch(map, event, pixel) {
    const apart = () => {
      const [[a, b], [c, d]] = this.fingers.values();
      return Math.hypot(a - c, b - d);
    };
    const before = apart();
    this.fingers.set(event.pointerId, pixel);
    this.letGo();
    if (this.held) this.held.moved = true;
    if (before > 0) this.zoom(map, apart() / before, pixel);
  }
}

// Metres in the world.
/** @param {MapView} map @param {Point} pixel @returns {Point} */
function world(map, pixel) {
  const [x, y] = map.unproject(pixel);
  return [x + map.camera.corner[0], y + map.camera.corner[1]];
}
