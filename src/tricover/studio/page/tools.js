// What a pointer does on a map: choose, drag and place agents, scatter, paint and erase targets, draw zones, move the view.

import { clamp } from "./marks.js";

const MOVED = 4; // pixels after which a press is a drag
const PER_STROKE = 3; // targets that a stroke of the brush leaves
const SCATTERED = 20; // targets of a click that scatters

export class Tools {
  // `say` asks the studio for something, `choose` an agent, `redraw` all maps.
  constructor({ say, choose, redraw, brush }) {
    Object.assign(this, { say, choose, redraw, brush });
    this.tool = "choose";
    this.corners = [];
    this.draggedTo = null; // where the agent is that waits for the studio to follow
    this.following = false;
    this.fingers = new Map();
  }

  take(tool) {
    this.tool = tool;
    this.corners = [];
  }

  listen(map) {
    const sheet = map.above;
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

  press(map, event, pixel) {
    map.above.setPointerCapture(event.pointerId);
    map.above.focus();
    this.fingers.set(event.pointerId, pixel);
    const agent = this.tool === "choose" ? map.nearest(pixel) : null;
    this.held = { start: pixel, last: pixel, agent, from: agent === null ? null : map.agent(agent), moved: false };
    if (this.tool === "paint" || this.tool === "erase") this.stroke(map, pixel);
  }

  move(map, event, pixel) {
    if (this.fingers.size === 2) return this.pinch(map, event, pixel);
    if (["paint", "erase", "scatter"].includes(this.tool)) this.sketch(map, { centre: map.unproject(pixel), radius: this.brush().radius });
    const { held } = this;
    if (!held) return;
    held.moved ||= Math.hypot(pixel[0] - held.start[0], pixel[1] - held.start[1]) > MOVED;
    if (!held.moved) return;
    if (this.tool === "paint" || this.tool === "erase") this.stroke(map, pixel);
    else if (held.agent !== null) this.drag(held.agent, world(map, pixel));
    else this.pan(map, pixel);
    held.last = pixel;
  }

  release(map, event, pixel) {
    this.fingers.delete(event.pointerId);
    const { held } = this;
    this.held = null;
    if (!held) return;
    if (held.moved && held.agent !== null) this.drop(held.agent, world(map, pixel));
    if (held.moved) return;
    if (this.tool === "choose") this.choose(map, held.agent);
    if (this.tool === "agent") this.say("place", { place: world(map, pixel) });
    if (this.tool === "scatter") this.scatter(map, pixel, SCATTERED);
    if (this.tool === "zone") this.corner(map, pixel);
  }

  cancel(map, event) {
    this.fingers.delete(event.pointerId);
    this.letGo();
    this.held = null;
    this.sketch(map, null);
  }

  // The network follows as fast as the studio answers, and no question waits for another.
  drag(agent, place) {
    this.draggedTo = { agent, place };
    if (!this.following) this.follow();
  }

  // Where it was on its way to is not asked for any more: that would be shown after what comes of the drop.
  drop(agent, place) {
    this.draggedTo = null;
    this.say("drop", { agent, place });
  }

  // An agent that is not dragged after all is shown where it was.
  letGo() {
    const { held } = this;
    if (!held || held.agent === null) return;
    if (held.moved) this.drag(held.agent, held.from);
    held.agent = null;
  }

  follow() {
    this.following = this.draggedTo !== null;
    if (this.following) this.say("drag", this.draggedTo);
    this.draggedTo = null;
  }

  stroke(map, pixel) {
    const { radius } = this.brush();
    if (this.tool === "erase") this.say("erase", { centre: world(map, pixel), radius });
    else this.scatter(map, pixel, PER_STROKE);
  }

  scatter(map, pixel, count) {
    const { radius, weight } = this.brush();
    const [x, y] = world(map, pixel);
    const points = Array.from({ length: count }, () => {
      const [angle, away] = [2 * Math.PI * Math.random(), radius * Math.sqrt(Math.random())];
      return [x + away * Math.cos(angle), y + away * Math.sin(angle)];
    });
    this.say("scatter", { points, weight });
  }

  corner(map, pixel) {
    this.corners.push(map.unproject(pixel));
    this.sketch(map, { corners: this.corners });
  }

  // The corners that were set are a zone.
  close(map) {
    const { corner } = map.camera;
    const corners = this.corners.map(([x, y]) => [x + corner[0], y + corner[1]]);
    if (corners.length >= 3) this.say("fence", { corners });
    this.corners = [];
    this.sketch(map, null);
  }

  sketch(map, what) {
    if (!what && this.corners.length) return;
    map.sketch = what;
    map.draw();
  }

  pan(map, pixel) {
    const { camera } = map;
    const [x, y] = map.unproject(this.held.last);
    const [a, b] = map.unproject(pixel);
    const centre = camera.centre || [camera.size[0] / 2, camera.size[1] / 2];
    camera.centre = [centre[0] + x - a, centre[1] + y - b];
    this.redraw();
  }

  zoom(map, factor, pixel = [map.width / 2, map.height / 2]) {
    const { camera } = map;
    const fixed = map.unproject(pixel);
    camera.zoom = factor ? clamp(camera.zoom * factor, 0.3, 1000) : 1;
    camera.centre = factor ? camera.centre || [camera.size[0] / 2, camera.size[1] / 2] : null;
    if (factor) {
      const moved = map.unproject(pixel);
      camera.centre = [camera.centre[0] + fixed[0] - moved[0], camera.centre[1] + fixed[1] - moved[1]];
    }
    this.redraw();
  }

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
function world(map, pixel) {
  const [x, y] = map.unproject(pixel);
  return [x + map.camera.corner[0], y + map.camera.corner[1]];
}
