// The layered view: a column for each layer, anchors first; lines lead from who is heard. It is linked with the map.

import { clamp } from "./marks.js";
import { penOf } from "./map.js";
import { bytes, ofLayer } from "./team.js";

/** @import { Facts } from "./live.js" */
/** @import { MapView } from "./map.js" */
/** @import { Point } from "./marks.js" */

const ROOM = 16; // pixels around
const MOST = 2000; // agents that are drawn
const REACH = 12; // pixels from an agent within which a pointer means it

export class Layered {
  /** @param {HTMLCanvasElement} canvas @param {(agent: number | null) => void} choose */
  constructor(canvas, choose) {
    this.canvas = canvas;
    this.pen = penOf(canvas);
    /** @type {Map<number, Point>} */
    this.places = new Map();
    canvas.addEventListener("click", ({ offsetX, offsetY }) => choose(this.nearest(offsetX, offsetY)));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** @param {MapView} map */
  show(map) {
    this.map = map;
    this.draw();
  }

  /** @param {number} x @param {number} y */
  nearest(x, y) {
    let best = REACH ** 2;
    /** @type {number | null} */
    let found = null;
    for (const [agent, [a, b]] of this.places) {
      const away = (a - x) ** 2 + (b - y) ** 2;
      if (away < best) [best, found] = [away, agent];
    }
    return found;
  }

  draw() {
    const { canvas, pen } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!this.map?.facts || !width) return;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.arrange(this.map, this.map.facts, width, height);
    this.drawLinks(this.map, this.map.facts);
    this.drawAgents(this.map, this.map.facts);
  }

  /** @param {MapView} map @param {Facts} facts @param {number} width @param {number} height */
  arrange(map, facts, width, height) {
    const { layer } = map.team;
    /** @type {number[][]} */
    const columns = [];
    this.places.clear();
    for (let agent = 0; agent < Math.min(layer.length, MOST); agent++) {
      if (layer[agent] >= 0 && layer[agent] <= map.built) (columns[layer[agent]] ||= []).push(agent);
    }
    const apart = (width - 2 * ROOM) / Math.max(facts.depth, columns.length - 1, 1); // it may be deeper than is known
    columns.forEach((agents, column) =>
      agents.forEach((agent, line) => {
        const y = ROOM + ((line + 0.5) / agents.length) * (height - 2 * ROOM);
        this.places.set(agent, [ROOM + column * apart, y]);
      }),
    );
  }

  /** @param {MapView} map @param {Facts} facts */
  drawLinks(map, facts) {
    const { pen, places } = this;
    pen.lineWidth = 1;
    map.team.each(map.built, (agent, heard) => {
      const end = places.get(agent);
      if (!end) return;
      pen.globalAlpha = agent === map.chosen ? 1 : clamp(20 / places.size, 0.08, 0.5);
      pen.strokeStyle = ofLayer(facts.colours, map.team.layer[agent]);
      pen.beginPath();
      for (const other of heard) {
        const start = places.get(other);
        if (!start) continue;
        pen.moveTo(...start);
        pen.lineTo(...end);
      }
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

  /** @param {MapView} map @param {Facts} facts */
  drawAgents(map, facts) {
    const { pen, places } = this;
    const size = clamp(40 / Math.sqrt(places.size), 1.5, 5);
    for (const [agent, [x, y]] of places) {
      const colour = facts.cores.includes(agent) ? facts.coreColour : ofLayer(facts.colours, map.team.layer[agent]);
      pen.fillStyle = `rgb(${bytes(colour)})`;
      pen.beginPath();
      pen.arc(x, y, agent === map.chosen ? 2 * size : size, 0, 7);
      pen.fill();
    }
  }
}
