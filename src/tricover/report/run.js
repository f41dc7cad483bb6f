// The run that a playback shows, decoded: who is where, in which cell, in which network. playback.py says what is in the data.

const FIRST_CELL = 3; // in the record of cells: 0 not known, 1 no follower, 2 outside its triangle, 3 + cell otherwise
const LARGEST_POLICY = 100; // cells along a side: policies of finer grids take too long, and are too fine to see

function decoded(text, kind) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  return new kind(bytes.buffer);
}

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
    this.weights = data.weights && decoded(data.weights, Uint8Array);
    this.gamma = data.gamma;
    this.solved = { key: null, next: null };
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

  // How much larger than usual the area of a target is drawn.
  weight(target) {
    return this.weights ? this.weights[target] / 64 : 1;
  }

  // The policy of an agent at a frame, or null where it has none, or none that can be worked out here.
  policy(frame, agent, heard) {
    const goal = this.cell(this.goals, frame, agent);
    if (this.gamma === null || goal === null || heard.length < 3 || this.resolution > LARGEST_POLICY) return null;
    const key = `${frame} ${agent}`;
    if (this.solved.key !== key) {
      const triangle = heard.map((corner) => this.at(corner, frame));
      this.solved = { key, next: policy(triangle, goal, this.resolution, this.gamma) };
    }
    return this.solved.next;
  }
}
