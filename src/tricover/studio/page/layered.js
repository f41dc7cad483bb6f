// The layered view: a column for each layer, anchors first; lines lead from who is heard. It is linked with the map.

import { clamp } from "./marks.js";
import { bytes } from "./team.js";

const ROOM = 16; // pixels around
const MOST = 2000; // agents that are drawn
const REACH = 12; // pixels from an agent within which a pointer means it

export class Layered {
  constructor(canvas, choose) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.places = new Map();
    canvas.addEventListener("click", ({ offsetX, offsetY }) => choose(this.nearest(offsetX, offsetY)));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(map) {
    this.map = map;
    this.draw();
  }

  nearest(x, y) {
    let [best, found] = [REACH ** 2, null];
    for (const [agent, [a, b]] of this.places) {
      const away = (a - x) ** 2 + (b - y) ** 2;
      if (away < best) [best, found] = [away, agent];
    }
    return found;
  }

  draw() {
    const { canvas, pen, map } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!map?.facts || !width) return;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.arrange(width, height);
    this.drawLinks();
    this.drawAgents();
  }

  arrange(width, height) {
    const { layer } = this.map.team;
    const columns = [];
    this.places.clear();
    for (let agent = 0; agent < Math.min(layer.length, MOST); agent++) {
      if (layer[agent] >= 0 && layer[agent] <= this.map.built) (columns[layer[agent]] ||= []).push(agent);
    }
    const apart = (width - 2 * ROOM) / Math.max(this.map.facts.depth, 1);
    columns.forEach((agents, column) =>
      agents.forEach((agent, line) => {
        const y = ROOM + ((line + 0.5) / agents.length) * (height - 2 * ROOM);
        this.places.set(agent, [ROOM + column * apart, y]);
      }),
    );
  }

  drawLinks() {
    const { pen, map, places } = this;
    const palette = map.facts.colours;
    pen.lineWidth = 1;
    map.team.each(map.built, (agent, heard) => {
      if (!places.has(agent)) return;
      pen.globalAlpha = agent === map.chosen ? 1 : clamp(20 / places.size, 0.08, 0.5);
      pen.strokeStyle = palette[Math.min(map.team.layer[agent], palette.length - 1)];
      pen.beginPath();
      for (const other of heard) {
        if (!places.has(other)) continue;
        pen.moveTo(...places.get(other));
        pen.lineTo(...places.get(agent));
      }
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

  drawAgents() {
    const { pen, map, places } = this;
    const size = clamp(40 / Math.sqrt(places.size), 1.5, 5);
    for (const [agent, [x, y]] of places) {
      const colour = agent === map.facts.core ? map.facts.coreColour : map.facts.colours[map.team.layer[agent]];
      pen.fillStyle = `rgb(${bytes(colour)})`;
      pen.beginPath();
      pen.arc(x, y, agent === map.chosen ? 2 * size : size, 0, 7);
      pen.fill();
    }
  }
}
