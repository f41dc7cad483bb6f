// A team as a map draws it: blocks of numbers from the studio made into colours, sizes, links and triangles.

import { clamp } from "./marks.js";
import { SHAPES } from "./gl.js";

const FAINT = 38; // of 255: agents of layers that are not built yet

/** @import { Facts } from "./live.js" */
/** @import { Point } from "./marks.js" */
/**
 * @typedef {object} Block numbers by agent or target: see messages.py
 * @property {number} kind 1: positions, 2: network, 3: targets
 * @property {number} variant
 * @property {number} step
 * @property {number} count
 * @property {Float32Array} numbers of kinds 1 and 3
 * @property {Int32Array} heard of kind 2
 * @property {Int32Array} layer of kind 2
 */

/** @param {string} colour */
export function bytes(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

// What a layer has of a list of colours. While an agent is dragged, and until the state of a new step is there, a network
// may be deeper than what is known of it: layers that no colour is known of yet have that of the last.
/** @template Colour @param {Colour[]} colours @param {number} layer @returns {Colour} */
export function ofLayer(colours, layer) {
  return colours[Math.min(layer, colours.length - 1)];
}

// Agents are smaller where there are many.
/** @param {number} count */
export function radius(count) {
  return clamp(42 / Math.sqrt(count), 1.2, 5.5);
}

// A block of numbers from the studio: see messages.py.
/** @param {ArrayBuffer} buffer @returns {Block} */
export function blockOf(buffer) {
  const [kind, variant, step, count] = new Uint32Array(buffer, 0, 4);
  const none = new Int32Array();
  if (kind !== 2) return { kind, variant, step, count, numbers: new Float32Array(buffer, 16), heard: none, layer: none };
  const heard = new Int32Array(buffer, 16, 3 * count);
  const layer = new Int32Array(buffer, 16 + 12 * count, count);
  return { kind, variant, step, count, numbers: new Float32Array(), heard, layer };
}

export class Team {
  constructor() {
    this.count = 0;
    /** @type {Float32Array} */
    this.positions = new Float32Array();
    this.before = this.positions;
    /** @type {Int32Array} */
    this.heard = new Int32Array();
    /** @type {Int32Array} */
    this.layer = new Int32Array();
  }

  // New positions; who was there before comes from there.
  /** @param {Float32Array} positions */
  move(positions) {
    this.before = this.positions.length === positions.length ? this.positions : positions;
    this.positions = positions;
    this.count = positions.length / 2;
  }

  /** @param {number} agent @returns {Point} */
  at(agent, part = 1) {
    const { before, positions } = this;
    const along = (/** @type {number} */ k) => before[k] + part * (positions[k] - before[k]);
    return [along(2 * agent), along(2 * agent + 1)];
  }

  // Colours (count, 4) as bytes, and diameters with shapes (count, 2), so many times larger than usual.
  /**
   * @param {Facts} facts
   * @param {number} built the last layer that is shown
   * @param {number | null} chosen
   * @param {number} larger
   * @returns {[Uint8Array, Float32Array]}
   */
  looks({ boundary, cores, colours, coreColour, lostColour }, built, chosen, larger) {
    const paint = new Uint8Array(4 * this.count);
    const looks = new Float32Array(2 * this.count);
    const palette = colours.map(bytes);
    const lost = bytes(lostColour);
    const size = 2 * radius(this.count) * larger;
    for (let agent = 0; agent < this.count; agent++) {
      const layer = this.layer[agent];
      const colour = layer < 0 ? lost : ofLayer(palette, layer);
      paint.set(colour, 4 * agent);
      paint[4 * agent + 3] = layer === -2 ? 0 : layer > built ? FAINT : layer < 0 ? 120 : 255;
      looks.set([agent === chosen ? 1.6 * size : size, SHAPES.circle], 2 * agent);
    }
    for (const agent of boundary) {
      if (agent < this.count) looks.set([1.7 * size, SHAPES.square], 2 * agent);
    }
    for (const core of cores) {
      if (core >= this.count) continue; // facts of a team that is still on its way here
      looks.set([2 * size, SHAPES.diamond], 2 * core);
      paint.set(bytes(coreColour), 4 * core);
    }
    return [paint, looks];
  }

  // Pairs of agents: who is heard, and who hears, layer by layer. Colours are those of the second.
  /** @param {number} built */
  links(built) {
    /** @type {number[][]} */
    const byLayer = [];
    this.each(built, (agent, heard) => {
      const pairs = (byLayer[this.layer[agent]] ||= []);
      for (const other of heard) pairs.push(other, agent);
    });
    return new Uint32Array(byLayer.flat());
  }

  /** @param {number} built */
  triangles(built) {
    /** @type {number[]} */
    const corners = [];
    this.each(built, (_, heard) => corners.push(...heard));
    return new Uint32Array(corners);
  }

  /** @param {number} built @param {(agent: number, heard: Int32Array) => void} use */
  each(built, use) {
    for (let agent = 0; agent < this.layer.length; agent++) {
      if (this.layer[agent] < 1 || this.layer[agent] > built) continue;
      const heard = this.heard.subarray(3 * agent, 3 * agent + 3);
      if (heard[0] >= 0) use(agent, heard);
    }
  }
}
