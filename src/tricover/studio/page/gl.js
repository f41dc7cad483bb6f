// Draws agents, links and triangles by WebGL2. Positions go over from one step to the next in the shader.

const VERTEX = `#version 300 es
layout(location = 0) in vec2 from;
layout(location = 1) in vec2 to;
layout(location = 2) in vec4 colour;
layout(location = 3) in vec2 look; // diameter in pixels, shape
uniform float part; // of the way from one step to the next
uniform vec3 lens; // left, top and pixels per metre
uniform vec2 size; // of the canvas in pixels
uniform float dots; // device pixels per pixel
uniform vec4 tint; // colour of everything, where its alpha is not 0
flat out vec4 paint;
flat out vec2 form;
void main() {
  vec2 place = mix(from, to, part);
  vec2 pixel = vec2(lens.x + lens.z * place.x, lens.y - lens.z * place.y);
  gl_Position = vec4(2.0 * pixel.x / size.x - 1.0, 1.0 - 2.0 * pixel.y / size.y, 0.0, 1.0);
  gl_PointSize = look.x * dots;
  paint = tint.a > 0.0 ? tint : colour;
  form = look;
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
flat in vec4 paint;
flat in vec2 form;
uniform float shaped; // 1 for points, 0 for lines and triangles
out vec4 colour;
void main() {
  float edge = 1.0;
  if (shaped > 0.5 && form.x > 4.0) { // smaller ones are squares: nobody sees their shape
    vec2 at = abs(2.0 * gl_PointCoord - 1.0);
    float away = form.y < 0.5 ? length(at) : form.y < 1.5 ? max(at.x, at.y) + 0.12 : at.x + at.y;
    edge = smoothstep(1.0, 1.0 - 3.0 / max(form.x, 3.0), away);
  }
  colour = vec4(paint.rgb * paint.a * edge, paint.a * edge);
}`;

const FLOATS = 2; // per place
const CIRCLE = 0;
const LOST = "This page has lost its graphics: load it again.";
export const SHAPES = { circle: CIRCLE, square: 1, diamond: 2 };

/** @param {WebGL2RenderingContext} gl */
function compiled(gl) {
  const program = gl.createProgram();
  const parts = /** @type {const} */ ([[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]);
  for (const [kind, text] of parts) {
    const shader = gl.createShader(kind);
    if (!shader) throw new Error(LOST);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? LOST);
  return program;
}

// Points with colours, sizes and shapes, on the graphics card.
class Points {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.count = 0;
    this.array = gl.createVertexArray();
    this.buffers = [0, 1, 2, 3].map(() => gl.createBuffer());
    gl.bindVertexArray(this.array);
    const place = { size: FLOATS, type: gl.FLOAT, normalised: false };
    const colour = { size: 4, type: gl.UNSIGNED_BYTE, normalised: true };
    [place, place, colour, place].forEach(({ size, type, normalised }, place) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[place]);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, type, normalised, 0, 0);
    });
  }

  /** @param {number} place @param {AllowSharedBufferSource} data */
  fill(place, data) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[place]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  }

  /** @param {Float32Array} from @param {Float32Array} to */
  move(from, to) {
    this.count = to.length / FLOATS;
    this.fill(0, from);
    this.fill(1, to);
  }

  // Colours as bytes (count, 4), and diameters with shapes as floats (count, 2).
  /** @param {Uint8Array} colours @param {Float32Array} looks */
  dress(colours, looks) {
    this.fill(2, colours);
    this.fill(3, looks);
  }
}

// Whether there is a graphics card: in software, smooth edges take two to three times as long as all the rest.
function smooth() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software/i.test(name);
}

/** @typedef {{ buffer: WebGLBuffer, count: number }} Elements pairs or triples of agents, on the graphics card */
/**
 * @typedef {object} Picture
 * @property {number} width
 * @property {number} height
 * @property {number} dots device pixels per pixel
 * @property {{ left: number, top: number, scale: number }} lens
 * @property {number} part of the way from one step to the next
 * @property {{ links: boolean, triangles: boolean }} show
 * @property {number[]} ink
 * @property {number} most links
 */

export class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.smooth = smooth();
    const gl = canvas.getContext("webgl2", { antialias: this.smooth, premultipliedAlpha: true });
    if (!gl) throw new Error("This page needs WebGL 2, which every current browser has: switch it on.");
    this.gl = gl;
    this.program = compiled(gl);
    const place = (/** @type {string} */ name) => gl.getUniformLocation(this.program, name);
    this.names = {
      part: place("part"),
      lens: place("lens"),
      size: place("size"),
      dots: place("dots"),
      tint: place("tint"),
      shaped: place("shaped"),
    };
    this.agents = new Points(gl);
    this.links = { buffer: gl.createBuffer(), count: 0 };
    this.triangles = { buffer: gl.createBuffer(), count: 0 };
  }

  // Pairs or triples of agents.
  /** @param {"links" | "triangles"} which @param {Uint32Array} indices */
  connect(which, indices) {
    const { gl } = this;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this[which].buffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.DYNAMIC_DRAW);
    this[which].count = indices.length;
  }

  // Of the links only so many, those of the first layers, where there is little time.
  /** @param {Picture} picture */
  draw({ width, height, dots, lens, part, show, ink, most }) {
    const { gl, names } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.program);
    gl.uniform1f(names.part, part);
    gl.uniform3f(names.lens, lens.left, lens.top, lens.scale);
    gl.uniform2f(names.size, width, height);
    gl.uniform1f(names.dots, dots);
    if (show.triangles) this.elements(this.triangles, gl.TRIANGLES, [ink[0], ink[1], ink[2], 0.05]);
    const { buffer, count } = this.links;
    if (show.links) this.elements({ buffer, count: Math.min(count, 2 * most) }, gl.LINES, [0, 0, 0, 0]);
    this.points(this.agents);
  }

  /** @param {Points} points */
  points(points) {
    const { gl, names } = this;
    if (!points.count) return;
    gl.uniform1f(names.shaped, 1);
    gl.uniform4f(names.tint, 0, 0, 0, 0);
    gl.bindVertexArray(points.array);
    gl.drawArrays(gl.POINTS, 0, points.count);
  }

  /** @param {Elements} elements @param {number} kind @param {[number, number, number, number]} tint */
  elements({ buffer, count }, kind, tint) {
    const { gl, names } = this;
    if (!count) return;
    gl.uniform1f(names.shaped, 0);
    gl.uniform4f(names.tint, ...tint);
    gl.bindVertexArray(this.agents.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.drawElements(kind, count, gl.UNSIGNED_INT, 0);
  }
}
