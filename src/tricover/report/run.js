// The run that a playback shows, decoded: who is where, in which cell, in which network. playback.py says what is in the data.

import { policy } from "./cells.js";

/** @import { Point, Triangle } from "./marks.js" */
/** @typedef {Uint16Array | Uint32Array} Cells of agents, frame by frame */
/**
 * @typedef {object} Data of a playback, as the page has it; blocks of numbers are base64
 * @property {number} agents
 * @property {number[] | null} ids of agents, where not all are shown
 * @property {number[]} steps that are shown
 * @property {Point} corner in metres
 * @property {number} unit metres
 * @property {number} resolution
 * @property {string} positions
 * @property {string} desired
 * @property {string} targets
 * @property {number} targetFrames 1: they stand still
 * @property {string | null} weights
 * @property {number | null} gamma null: no policies
 * @property {boolean} walks
 * @property {number} cellBytes
 * @property {string} cells
 * @property {string} goals
 * @property {{ start: number, layer: string, heard: string, boundary: number[], core: number }[]} epochs
 * @property {Point[][]} [zones]
 * @property {string[]} colours
 * @property {string} core
 * @property {string} lost
 * @property {string} ground
 */
/**
 * @typedef {object} Epoch a network, from a step on
 * @property {number} start
 * @property {Int16Array} layer
 * @property {Int32Array} heard
 * @property {number[]} boundary
 * @property {number} core
 */

const FIRST_CELL = 3; // in the record of cells: 0 not known, 1 no follower, 2 outside its triangle, 3 + cell otherwise
const LARGEST_POLICY = 100; // cells along a side: policies of finer grids take too long, and are too fine to see

/**
 * @template Block
 * @param {string} text
 * @param {new (buffer: ArrayBuffer) => Block} kind
 */
function decoded(text, kind) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  return new kind(bytes.buffer);
}

export class Run {
  /** @param {Data} data */
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
    this.weights = data.weights && decoded(data.weights, Uint8Array);
    this.gamma = data.gamma;
    this.solved = { key: "", next: new Int32Array() };
    /** @type {new (buffer: ArrayBuffer) => Cells} */
    const cells = data.cellBytes === 2 ? Uint16Array : Uint32Array;
    this.cells = decoded(data.cells, cells);
    this.goals = decoded(data.goals, cells);
    /** @type {Epoch[]} */
    this.epochs = data.epochs.map((epoch) => ({
      ...epoch,
      layer: decoded(epoch.layer, Int16Array),
      heard: decoded(epoch.heard, Int32Array),
    }));
  }

  /** @param {number} agent */
  id(agent) {
    return this.ids ? this.ids[agent] : agent;
  }

  // The network in use at a frame. After the last step it is still that of the last step.
  /** @param {number} frame @returns {Epoch} */
  epoch(frame) {
    const step = Math.min(this.steps[frame], Math.max(this.steps[this.frames - 1] - 1, 0));
    return this.epochs.findLast((epoch) => epoch.start <= step) || this.epochs[0];
  }

  // Where an agent is at a time in frames, in units; between frames on the straight line.
  /** @param {number} agent @param {number} time @returns {Point} */
  at(agent, time) {
    const frame = Math.floor(time);
    const next = Math.min(frame + 1, this.frames - 1);
    const part = time - frame;
    const a = 2 * (frame * this.agents + agent);
    const b = 2 * (next * this.agents + agent);
    const from = this.positions;
    return [from[a] + part * (from[b] - from[a]), from[a + 1] + part * (from[b + 1] - from[a + 1])];
  }

  /** @param {Point} place in units @returns {Point} */
  metres([x, y]) {
    return [this.corner[0] + this.unit * x, this.corner[1] + this.unit * y];
  }

  // The cell of an agent at a frame, or null.
  /** @param {Cells} record @param {number} frame @param {number} agent */
  cell(record, frame, agent) {
    const entry = record[frame * this.agents + agent];
    return entry >= FIRST_CELL ? entry - FIRST_CELL : null;
  }

  // The cell as words.
  /** @param {Cells} record @param {number} frame @param {number} agent */
  cellText(record, frame, agent) {
    const entry = record[frame * this.agents + agent];
    if (entry === 0) return "not known after the last step";
    if (entry === 1) return "none";
    if (entry === 2) return record === this.cells ? "outside its triangle" : "none: its triangle has no area";
    return `${entry - FIRST_CELL} of ${this.resolution ** 2}`;
  }

  // How much larger than usual the area of a target is drawn.
  /** @param {number} target */
  weight(target) {
    return this.weights ? this.weights[target] / 64 : 1;
  }

  // The policy of an agent at a frame, or null where it has none, or none that can be worked out here.
  /** @param {number} frame @param {number} agent @param {number[]} heard */
  policy(frame, agent, heard) {
    const goal = this.cell(this.goals, frame, agent);
    if (this.gamma === null || goal === null || heard.length < 3 || this.resolution > LARGEST_POLICY) return null;
    const key = `${frame} ${agent}`;
    if (this.solved.key !== key) {
      const [a, b, c] = heard.map((corner) => this.at(corner, frame));
      /** @type {Triangle} */
      const triangle = [a, b, c];
      this.solved = { key, next: policy(triangle, goal, this.resolution, this.gamma) };
    }
    return this.solved.next;
  }
}
