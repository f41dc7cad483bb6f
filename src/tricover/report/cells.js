// The cells of a triangle, and the policy of an agent among them; numbered as in Python (geometry.CellGrid).

/** @import { Point, Triangle } from "./marks.js" */
/** @typedef {[number, number, number]} Parts barycentric, or three whole numbers of cells */

// A cell by its number: up or down, and the least of the barycentric coordinates of its corners, in cells.
/** @param {number} cell @param {number} size @returns {{ down: number, base: Parts }} */
export function cellBase(cell, size) {
  const row = Math.floor(Math.sqrt(cell)); // row r from corner 0 holds 2r + 1 cells, up and down in turn
  const place = cell - row * row;
  const down = place % 2;
  const j = Math.floor(place / 2);
  return { down, base: [size - 1 - row, j, row - j - down] };
}

/** @param {number} down @param {Parts} base @param {number} size */
export function cellNumber(down, base, size) {
  const row = size - 1 - base[0];
  return row * row + 2 * base[1] + down;
}

// Barycentric corners of a cell.
/** @param {number} cell @param {number} size @returns {Parts[]} */
export function cellCorners(cell, size) {
  const { down, base } = cellBase(cell, size);
  const shifted = (/** @type {number} */ corner, /** @type {number} */ k) => Number((k === corner) !== Boolean(down));
  return [0, 1, 2].map((corner) => three((k) => (base[k] + shifted(corner, k)) / size));
}

/** @param {number} cell @param {number} size @returns {Parts} */
export function cellCentre(cell, size) {
  const { down, base } = cellBase(cell, size);
  return three((k) => (base[k] + (down ? 2 : 1) / 3) / size);
}

// The cells that share an edge. One that points up has those below its sides, one that points down always three.
/** @param {number} cell @param {number} size */
export function cellNeighbours(cell, size) {
  const { down, base } = cellBase(cell, size);
  const found = [];
  for (let k = 0; k < 3; k++) {
    const other = three((axis) => base[axis] + (axis === k ? (down ? 1 : -1) : 0));
    if (other[k] >= 0) found.push(cellNumber(1 - down, other, size));
  }
  return found;
}

// Points of a triangle by their barycentric coordinates.
/** @param {Triangle} triangle @param {Parts} parts @returns {Point} */
export function within(triangle, parts) {
  const [[a, b], [c, d], [e, f]] = triangle;
  return [parts[0] * a + parts[1] * c + parts[2] * e, parts[0] * b + parts[1] * d + parts[2] * f];
}

/** @param {(axis: number) => number} part @returns {Parts} */
function three(part) {
  return [part(0), part(1), part(2)];
}

// The next cell of every cell: with the default reward, of all shortest walks to the goal that with the least
// discounted sum of distances to it. Cells are met in the order of their walks' length.
/** @param {Triangle} triangle @param {number} goal @param {number} size @param {number} gamma */
export function policy(triangle, goal, size, gamma) {
  const count = size * size;
  const moves = new Int32Array(count).fill(-1);
  const cost = new Float64Array(count);
  const next = new Int32Array(count);
  const [x, y] = within(triangle, cellCentre(goal, size));
  const queue = [goal];
  moves[goal] = 0;
  next[goal] = goal;
  for (let head = 0; head < queue.length; head++) {
    const cell = queue[head];
    let best = Infinity;
    for (const other of cellNeighbours(cell, size)) {
      if (moves[other] < 0) {
        moves[other] = moves[cell] + 1;
        queue.push(other);
      } else if (moves[other] < moves[cell] && cost[other] < best) {
        best = cost[other];
        next[cell] = other;
      }
    }
    if (cell === goal) continue;
    const [a, b] = within(triangle, cellCentre(cell, size));
    cost[cell] = Math.hypot(a - x, b - y) + gamma * best;
  }
  return next;
}
