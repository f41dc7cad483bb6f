// Small things that a playback draws with: arrows, ticks, numbers.

/** @typedef {[number, number]} Point in metres or in pixels */
/** @typedef {[Point, Point, Point]} Triangle */

/** @param {number} value @param {number} low @param {number} high */
export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

// The side of a cell in pixels, were its triangle equilateral.
/** @param {Triangle} triangle @param {number} size cells along a side */
export function cellWidth([[a, b], [c, d], [e, f]], size) {
  const area = Math.abs((c - a) * (f - b) - (e - a) * (d - b)) / 2;
  return Math.sqrt((4 * area) / Math.sqrt(3)) / size;
}

// From a little after one point to a little before another, with a head.
/** @param {CanvasRenderingContext2D} pen @param {Point} from @param {Point} to */
export function drawArrow(pen, [a, b], [c, d]) {
  const [dx, dy] = [0.7 * (c - a), 0.7 * (d - b)];
  const [x, y] = [a + dx, b + dy];
  const head = Math.min(0.45, 4 / Math.hypot(dx, dy));
  pen.moveTo(a, b);
  pen.lineTo(x, y);
  for (const side of [0.6, -0.6]) {
    pen.moveTo(x, y);
    pen.lineTo(x - head * (dx - side * dy), y - head * (dy + side * dx));
  }
}

// The least of 1, 2 and 5, times a power of ten, that is not below a length.
/** @param {number} least */
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((digit) => digit * power >= least * (1 - 1e-9)) ?? 10) * power;
}

// A length with as many digits as the step between ticks needs.
/** @param {number} value @param {number} step */
export function metres(value, step) {
  const digits = clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 12);
  return (value + 0).toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
