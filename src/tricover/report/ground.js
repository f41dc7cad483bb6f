// What lies under a team: axes in metres, a bar to measure by, and zones.

import { clamp, metres, niceStep } from "./marks.js";

/** @import { Point } from "./marks.js" */
/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {{ width: number, height: number, left: number, top: number, perMetre: number }} View */

const ZONE = "#b3361f"; // where nobody may be
const HATCH = 9; // pixels between the lines in it

// Ticks with their metres at the left and at the bottom, and a bar. The view has its size in pixels, the metres at its
// upper left corner, and the pixels of a metre. Returns the bar: its metres and its pixels.
/** @param {Pen} pen @param {View} view @param {string} colour */
export function drawAxes(pen, { width, height, left, top, perMetre }, colour) {
  const step = niceStep(80 / perMetre);
  const size = clamp(width / 110, 11, 19);
  pen.save();
  pen.font = `${size}px system-ui, sans-serif`;
  pen.fillStyle = pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.textAlign = "center";
  pen.textBaseline = "bottom";
  for (let k = Math.ceil(left / step); k * step < left + width / perMetre; k++) {
    const x = (k * step - left) * perMetre;
    pen.moveTo(x, height);
    pen.lineTo(x, height - 5);
    if (x > 40 && x < width - 15) pen.fillText(metres(k * step, step), x, height - 7);
  }
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  for (let k = Math.ceil((top - height / perMetre) / step); k * step < top; k++) {
    const y = (top - k * step) * perMetre;
    pen.moveTo(0, y);
    pen.lineTo(5, y);
    if (y > 10 && y < height - 25) pen.fillText(metres(k * step, step), 7, y);
  }
  drawBar(pen, width - 12, 1.6 * size, step, step * perMetre);
  pen.stroke();
  pen.restore();
  return { metres: step, pixels: step * perMetre };
}

/** @param {Pen} pen @param {number} right @param {number} bottom @param {number} step @param {number} length */
function drawBar(pen, right, bottom, step, length) {
  pen.moveTo(right - length, bottom - 4);
  pen.lineTo(right - length, bottom);
  pen.lineTo(right, bottom);
  pen.lineTo(right, bottom - 4);
  pen.textAlign = "right";
  pen.fillText(`${metres(step, step)} m`, right - 4, 0.55 * bottom);
}

// Where nobody may be, by its corners in pixels: shaded and hatched.
/** @param {Pen} pen @param {Point[]} corners @param {number} width @param {number} height */
export function drawZone(pen, corners, width, height) {
  const shape = new Path2D();
  for (const corner of corners) shape.lineTo(...corner);
  shape.closePath();
  pen.save();
  pen.strokeStyle = pen.fillStyle = ZONE;
  pen.globalAlpha = 0.12;
  pen.fill(shape);
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1;
  pen.stroke(shape);
  pen.clip(shape);
  hatch(pen, corners, width, height);
  pen.restore();
}

// Lines at a slant through all of some points, as far as they are on the page.
/** @param {Pen} pen @param {Point[]} points @param {number} width @param {number} height */
function hatch(pen, points, width, height) {
  const xs = points.map(([x]) => clamp(x, 0, width));
  const ys = points.map(([, y]) => clamp(y, 0, height));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  pen.lineWidth = 0.5;
  pen.beginPath();
  const first = Math.ceil((left + top) / HATCH) * HATCH;
  for (let sum = first; sum <= right + bottom; sum += HATCH) {
    pen.moveTo(sum - top, top);
    pen.lineTo(sum - bottom, bottom);
  }
  pen.stroke();
}
