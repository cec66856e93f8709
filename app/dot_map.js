// A map of up to a million points, drawn by WebGL 2: pan, zoom, hover, click, lasso. Written for this project (MIT);
// `dot_map.py` describes the input. The output is the event `marked`: {rows: one bit per row, in base64}, {row: number},
// or {} for nothing.
//
// Places here are in the unit of the picture's longer side: (0, 0) is its lowest corner, y goes up.

const MOVING = 200000, FEWEST = 20000; // points drawn while the map moves: more on fast machines, fewer on slow ones
const CORNERS = 300, NEAR = 10; // of a lasso; pixels from the mouse to a point that counts as hit
const CLOSE = 3; // zoom from which the words of finer regions are written
const SLOTS = new Map(); // the name of a side -> its points, which stay when only marks change
const MAPS = new Set(); // all maps of the page: points in view in one are bright in the others

const VERTEX = `#version 300 es
in vec2 place;
in uint look;
in uint chosen;
uniform vec2 middle, scale;
uniform float size;
uniform int only;
uniform sampler2D looks;
out vec4 colour;
flat out int mark;
void main() {
  colour = texelFetch(looks, ivec2(look, 0), 0);
  mark = int(texelFetch(looks, ivec2(look, 1), 0).r * 255.0 + 0.5);
  bool away = only >= 0 && int(chosen) != only;
  gl_Position = away ? vec4(2.0, 2.0, 0.0, 1.0) : vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = size;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
flat in int mark;
uniform float size, opacity;
out vec4 drawn;
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0, far = abs(at);
  bool inside = size < 4.0 || (mark == 1 ? far.x + far.y < 1.0 : mark == 2 ? max(far.x, far.y) < 0.8
    : mark == 3 ? min(far.x, far.y) < 0.35 : mark == 4 ? far.x < 0.5 * (at.y + 1.0)
    : mark == 5 ? min(far.x, far.y) < 0.2 || far.x + far.y < 0.7 : length(at) < 0.9);
  if (!inside) discard;
  float alpha = colour.a * opacity;
  drawn = vec4(colour.rgb * alpha, alpha);
}`;

// --- points ---------------------------------------------------------------------------------------------------------

// Bytes to points: the length of a header, the header as JSON, uint16 (x, y) of each, uint16 code of each.
function unpacked(bytes) {
  const buffer = bytes.slice().buffer, length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const n = header.count, places = new Uint16Array(buffer, 4 + length, 2 * n);
  const codes = new Uint16Array(buffer, 4 + length + 4 * n, n);
  return { ...header, places, codes, order: shuffled(n), grid: gridOf(places, n) };
}

// The order of drawing is random, so that no class covers all others, and any first part is a fair sample.
function shuffled(n) {
  const order = Uint32Array.from({ length: n }, (_, at) => at);
  let seed = 1;
  for (let at = n - 1; at > 0; at--) {
    seed ^= seed << 13; seed ^= seed >>> 17; seed ^= seed << 5;
    const other = (seed >>> 0) % (at + 1), kept = order[at];
    order[at] = order[other];
    order[other] = kept;
  }
  return order;
}

// Rows by cells of a grid: those of cell c are rows[starts[c]] to rows[starts[c + 1] - 1].
function gridOf(places, n) {
  const side = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(n / 4)))), width = 65536 / side;
  const cell = row => Math.floor(places[2 * row + 1] / width) * side + Math.floor(places[2 * row] / width);
  const starts = new Uint32Array(side * side + 1), rows = new Uint32Array(n);
  for (let row = 0; row < n; row++) starts[cell(row) + 1]++;
  for (let at = 0; at < side * side; at++) starts[at + 1] += starts[at];
  const next = starts.slice();
  for (let row = 0; row < n; row++) rows[next[cell(row)]++] = row;
  return { side, starts, rows };
}

// The row nearest to (x, y), at most `far` away, or -1.
function nearest(points, x, y, far) {
  const { side, starts, rows } = points.grid, { places } = points;
  const [left, right, low, high] = [x - far, x + far, y - far, y + far]
    .map(end => Math.max(0, Math.min(side - 1, Math.floor(end * side))));
  let best = -1, least = far * far;
  for (let line = low; line <= high; line++)
    for (let at = starts[line * side + left]; at < starts[line * side + right + 1]; at++) {
      const row = rows[at], dx = places[2 * row] / 65535 - x, dy = places[2 * row + 1] / 65535 - y;
      if (dx * dx + dy * dy <= least) [best, least] = [row, dx * dx + dy * dy];
    }
  return best;
}

// One bit per row: whether its place passes a test. Null if all do.
function bitsOf(points, passes) {
  const n = points.count, bits = new Uint8Array(Math.ceil(n / 8));
  let count = 0;
  for (let row = 0; row < n; row++)
    if (passes(points.places[2 * row] / 65535, points.places[2 * row + 1] / 65535)) {
      bits[row >> 3] |= 1 << (row & 7);
      count += 1;
    }
  return count === n ? null : bits;
}

// Whether (x, y) is in a polygon: a ray to the right crosses an odd number of edges, whose upper ends do not count.
function within(corners, x, y) {
  let odd = false;
  corners.forEach(([x1, y1], at) => {
    const [x2, y2] = corners.at(at - 1);
    if (y1 > y !== y2 > y && x < x1 + (y - y1) / (y2 - y1) * (x2 - x1)) odd = !odd;
  });
  return odd;
}

// --- a map ----------------------------------------------------------------------------------------------------------

const HTML = `<style>
.map {position: relative; font-size: 0.8rem; color: var(--st-text-color)}
.field {position: relative; width: 100%}
canvas {position: absolute; inset: 0; width: 100%; height: 100%}
.over {cursor: crosshair; touch-action: pan-y}
.over:focus-visible, button:focus-visible {outline: 3px solid #0072B2; outline-offset: -1px}
.hint {position: absolute; z-index: 1; max-width: 15rem; padding: 0.2rem 0.5rem; border-radius: 0.3rem; pointer-events: none;
  background: var(--st-background-color); border: 1px solid var(--st-border-color)}
.tools {position: absolute; top: -1.9rem; right: 0}
.tools, .legend {display: flex; flex-wrap: wrap; gap: 0.2rem 0.6rem}
.tools {gap: 0.2rem}
button {font: inherit; color: inherit; cursor: pointer; min-height: 24px; min-width: 24px; border-radius: 0.3rem;
  background: none; border: 1px solid var(--st-border-color)}
.tools button[aria-pressed=true] {border-color: var(--st-primary-color); box-shadow: inset 0 -2px var(--st-primary-color)}
.note {margin: 0.2rem 0; font-size: 0.75rem}
</style>
<div class="tools" role="toolbar" aria-label="Tools of the map">
  <button data-does="pan" aria-pressed="true">Pan</button><button data-does="lasso" aria-pressed="false">Lasso</button>
  <button data-does="closer" aria-label="Zoom in">+</button><button data-does="wider" aria-label="Zoom out">−</button>
  <button data-does="fit">Fit</button><button data-does="save">PNG</button>
</div>
<div class="field"><canvas class="dots"></canvas><canvas class="over" tabindex="0" role="application"
  aria-roledescription="map of points"></canvas><div class="hint" hidden></div></div>
<div class="legend"></div>
<p class="note">Drag to move, scroll to zoom, and click a point to read it. Lasso (or Shift and drag) marks points. Keys:
arrows, +, −, 0 (show all), Enter (mark the view), Escape (clear). Points in view are bright in the other map.</p>`;

class DotMap {
  constructor(host) {
    this.host = host.appendChild(document.createElement('div'));
    this.host.className = 'map';
    this.host.innerHTML = HTML; // constant: what comes from a corpus is only ever set as text
    const part = name => this.host.querySelector(name);
    [this.dots, this.over, this.hint, this.legend] = ['.dots', '.over', '.hint', '.legend'].map(part);
    [this.last, this.gap, this.most] = [0, 0, MOVING];
    [this.view, this.tool, this.lasso] = [{ x: 0.5, y: 0.5, zoom: 1 }, 'pan', null];
    this.written = new Map(); // the names that are on the map now, by their number -> [text, left, top, half of the width]
    this.host.querySelector('.note').hidden = MAPS.size > 0; // once a page
    this.over.setAttribute('aria-description', this.host.querySelector('.note').textContent);
    this.listen();
    this.dots.addEventListener('webglcontextlost', lost => lost.preventDefault());
    this.dots.addEventListener('webglcontextrestored', () => { this.ready(); this.load(); this.draw(); });
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.over);
    this.works = this.ready();
    MAPS.add(this);
  }

  end() {
    MAPS.delete(this);
    this.watch.disconnect();
    clearTimeout(this.rest);
    this.gl?.getExtension('WEBGL_lose_context')?.loseContext();
  }

  ready() {
    const gl = this.gl = this.dots.getContext('webgl2', { antialias: false, preserveDrawingBuffer: true });
    if (!gl) return false;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ['place', 'look', 'chosen'].forEach((name, at) => gl.bindAttribLocation(program, at, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return false;
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    this.uniform = name => gl.getUniformLocation(program, name);
    this.buffers = [0, 1, 2].map(() => gl.createBuffer());
    return true;
  }

  // Update the map: new points, new marks, or another theme.
  show(data) {
    this.data = data;
    this.over.setAttribute('aria-label', data.alt);
    this.over.parentElement.style.height = 'var(--tall)';
    if (!this.works) {
      this.host.textContent = 'This browser does not support WebGL. Choose at most 2,000 sentences under Picture.';
      return;
    }
    const points = SLOTS.get(data.slot);
    if (points?.key !== data.points) return; // they have not arrived yet
    if (this.points !== points) {
      if (this.points?.place !== points.place) {
        [this.view, this.lasso, this.seen] = [{ x: points.wide[0] / 2, y: points.wide[1] / 2, zoom: 1 }, null, null];
        for (const map of MAPS) map.seen = null;
      }
      this.points = points;
      this.load();
      this.explain();
    }
    if (!data.marked) this.lasso = null;
    this.mark();
    this.draw();
  }

  // Fill the buffers, in the order of drawing.
  load() {
    const { gl, points } = this;
    if (!points) return;
    const n = points.count, places = new Uint32Array(points.places.buffer.slice(points.places.byteOffset, points.places.byteOffset + 4 * n));
    this.fill(0, Uint32Array.from(points.order, row => places[row]));
    gl.vertexAttribPointer(0, 2, gl.UNSIGNED_SHORT, true, 0, 0);
    this.fill(1, Uint8Array.from(points.order, row => points.looks[points.codes[row]]));
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_BYTE, 0, 0);
    this.chosen = undefined;
    this.mark();
    this.colour();
  }

  fill(at, values) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[at]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(at);
  }

  // One bit per row: whether it is chosen or, if nothing is chosen, whether it is in view in the other map.
  mark() {
    const { gl, points } = this, chosen = this.data.chosen ?? this.seen;
    if (this.chosen === chosen) return;
    this.chosen = chosen;
    if (!chosen) {
      gl.disableVertexAttribArray(2);
      gl.vertexAttribI4ui(2, 0, 0, 0, 0);
      return;
    }
    const bits = typeof chosen === 'string' ? Uint8Array.from(atob(chosen), letter => letter.charCodeAt(0)) : chosen;
    this.fill(2, Uint8Array.from(points.order, row => (bits[row >> 3] >> (row & 7)) & 1));
    gl.vertexAttribIPointer(2, 1, gl.UNSIGNED_BYTE, 0, 0);
  }

  // The colours, and in a second line the marks, of all looks.
  colour() {
    const { gl, points } = this, texels = new Uint8Array(2 * 4 * 256);
    points.colours.forEach((colour, look) => {
      const number = parseInt(colour.slice(1), 16), opacity = look === points.rest ? 140 : 255;
      texels.set([number >> 16, (number >> 8) & 255, number & 255, opacity], 4 * look);
      texels[4 * (256 + look)] = points.marks[look] ?? 0;
    });
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
  }

  // A few numbers of a scale and their colours; classes are explained next to the map.
  explain() {
    this.legend.replaceChildren(...this.points.legend.map(([name, look]) => {
      const entry = document.createElement('span'), sign = document.createElement('span');
      [sign.textContent, sign.style.color] = ['● ', this.points.colours[look]];
      entry.append(sign, name);
      return entry;
    }));
  }

  // --- drawing ---

  // Pixels for the unit of the picture, and the size of the field.
  measure() {
    const { clientWidth: width, clientHeight: height } = this.over, [wide, high] = this.points.wide;
    return { width, height, pixels: 0.94 * Math.min(width / wide, height / high) * this.view.zoom };
  }

  // Draw at the next frame: fewer points while the map moves, all of them as soon as it rests.
  draw(moving = false) {
    this.moving = moving;
    clearTimeout(this.rest);
    this.frame ??= requestAnimationFrame(now => {
      this.frame = undefined;
      this.pace(now);
      this.drawNow();
      if (this.moving) this.rest = setTimeout(() => { this.draw(); this.light(); }, 120 + 3 * this.gap);
    });
  }

  pace(now) {
    const gap = now - this.last;
    this.last = now;
    if (!this.moving || gap > 2000) return;
    this.gap = gap;
    this.most = Math.max(FEWEST, Math.min(1e6, this.most * (gap > 60 ? 0.7 : gap < 25 ? 1.4 : 1)));
  }

  drawNow() {
    const { gl, points, view } = this;
    if (!points || !this.over.clientWidth || gl.isContextLost()) return;
    const { width, height, pixels } = this.measure(), ratio = devicePixelRatio, n = points.count;
    for (const canvas of [this.dots, this.over])
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))
        [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const few = (3000 / n) ** 0.22, size = Math.max(1.5, Math.min(12, 6 * few * view.zoom ** 0.5));
    const opacity = Math.min(0.85, 0.7 * few * view.zoom ** 0.3), count = this.moving ? Math.min(n, Math.round(this.most)) : n;
    gl.viewport(0, 0, this.dots.width, this.dots.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.uniform('middle'), view.x, view.y);
    gl.uniform2f(this.uniform('scale'), 2 * pixels / width, 2 * pixels / height);
    gl.uniform1f(this.uniform('size'), size * ratio);
    for (const [only, share] of this.chosen ? [[0, 0.35], [1, 1.4]] : [[-1, 1]]) {
      gl.uniform1i(this.uniform('only'), only);
      gl.uniform1f(this.uniform('opacity'), Math.min(1, opacity * share));
      gl.drawArrays(gl.POINTS, 0, count);
    }
    this.drawOver(width, height, pixels, ratio);
  }

  // Names, rings, a star and the lasso are few, and are drawn over the points.
  drawOver(width, height, pixels, ratio) {
    const { points, view, data } = this, pen = this.over.getContext('2d');
    const at = (x, y) => [width / 2 + (x - view.x) * pixels, height / 2 - (y - view.y) * pixels];
    const row = number => at(points.places[2 * number] / 65535, points.places[2 * number + 1] / 65535);
    const style = getComputedStyle(this.host), ink = style.getPropertyValue('--st-text-color') || '#111';
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.lineJoin = 'round';
    const ring = (number, radius, line) => { pen.beginPath(); pen.arc(...row(number), radius, 0, 7); pen.lineWidth = line; pen.stroke(); };
    pen.strokeStyle = '#D55E00';
    for (const number of data.found) ring(number, 7, 3);
    if (data.ring !== null) ring(data.ring, 13, 4);
    if (this.lasso) {
      pen.beginPath();
      for (const corner of this.lasso) pen.lineTo(...at(...corner));
      pen.closePath();
      pen.lineWidth = 2;
      pen.strokeStyle = ink;
      pen.stroke();
    }
    [pen.textAlign, pen.textBaseline] = ['center', 'middle'];
    const write = (text, x, y, fill) => {
      [pen.lineWidth, pen.strokeStyle, pen.fillStyle] = [4, style.getPropertyValue('--st-background-color') || '#fff', fill];
      pen.strokeText(text, x, y);
      pen.fillText(text, x, y);
    };
    pen.font = '600 12px sans-serif';
    this.placeNames(width, height, at, text => pen.measureText(text).width);
    for (const [text, left, top] of this.written.values()) write(text, left, top, ink);
    pen.font = '24px sans-serif';
    for (const [x, y] of data.landed) write('★', ...at(...this.inUnit(x, y)), '#F0E442');
  }

  // Names as [text, x, y], large regions first: classes, or words for the current zoom.
  names() {
    const { points, data, view } = this;
    return data.words?.[view.zoom < CLOSE ? 0 : 1].map(([text, x, y]) => [text, ...this.inUnit(x, y)]) ?? points.labels;
  }

  // The names that fit: none overlaps another, none is cut. A visible name stays while the map is moved.
  placeNames(width, height, at, wide) {
    const before = this.zoomed === this.view.zoom ? this.written : new Map(), names = [...this.names().entries()];
    names.sort(([a], [b]) => before.has(b) - before.has(a));
    [this.zoomed, this.written] = [this.view.zoom, new Map()];
    const ring = this.data.ring === null ? null : at(...[0, 1].map(axis => this.points.places[2 * this.data.ring + axis] / 65535));
    for (const [number, [text, x, y]] of names) {
      const [left, top] = at(x, y);
      if (left < 0 || left > width || top < 0 || top > height) continue;
      const half = wide(text) / 2 + 3, middle = Math.max(half, Math.min(width - half, left)), line = Math.max(9, Math.min(height - 9, top));
      const taken = [...this.written.values()].some(([, a, b, other]) => Math.abs(a - middle) <= half + other && Math.abs(b - line) <= 15);
      const ringed = ring && Math.abs(ring[0] - middle) <= half + 15 && Math.abs(ring[1] - line) <= 22;
      if (!taken && !ringed && 2 * half <= width) this.written.set(number, [text, middle, line, half]);
    }
  }

  // --- input ---

  inUnit(x, y) { const { low, span } = this.points; return [(x - low[0]) / span, (y - low[1]) / span]; }

  // The position of the mouse in the picture.
  place(event) {
    const box = this.over.getBoundingClientRect(), { width, height, pixels } = this.measure();
    return [this.view.x + (event.clientX - box.left - width / 2) / pixels, this.view.y - (event.clientY - box.top - height / 2) / pixels];
  }

  go(view) {
    view.zoom = Math.max(0.5, Math.min(500, view.zoom));
    this.view = view;
    this.draw(true);
  }

  // The rows in view, one bit each; null if all are.
  inView() {
    const { view } = this, { width, height, pixels } = this.measure(), [w, h] = [width / pixels / 2, height / pixels / 2];
    return bitsOf(this.points, (x, y) => Math.abs(x - view.x) <= w && Math.abs(y - view.y) <= h);
  }

  // The other map has its own coordinates, so the same sentences are bright there.
  light() {
    const seen = this.inView();
    for (const map of MAPS) if (map !== this && map.points?.count === this.points.count) { map.seen = seen; map.mark(); map.draw(); }
  }

  zoom(times, [x, y] = [this.view.x, this.view.y]) {
    const { view } = this, after = Math.max(0.5, Math.min(500, view.zoom * times)), share = view.zoom / after;
    this.go({ x: x + (view.x - x) * share, y: y + (view.y - y) * share, zoom: after });
  }

  // Mark the points in a polygon, of which a few hundred corners at most are kept.
  send(corners) {
    const step = Math.ceil(corners.length / CORNERS), lasso = corners.filter((_, at) => at % step === 0);
    const bits = bitsOf(this.points, (x, y) => within(lasso, x, y)) ?? new Uint8Array(this.points.count / 8 + 1).fill(255);
    this.lasso = lasso;
    this.tell({ rows: btoa(Array.from(bits, byte => String.fromCharCode(byte)).join('')) });
    this.draw();
  }

  rowAt(event) {
    return nearest(this.points, ...this.place(event), NEAR / this.measure().pixels);
  }

  point(event) {
    const row = this.rowAt(event), box = this.over.getBoundingClientRect();
    this.hint.hidden = row < 0;
    if (row < 0) return;
    this.hint.textContent = `${this.points.names[this.points.codes[row]]} · row ${row.toLocaleString('en')}`;
    this.hint.style.left = `${Math.min(event.clientX - box.left + 12, box.width - this.hint.offsetWidth)}px`;
    this.hint.style.top = `${event.clientY - box.top + 14}px`;
  }

  choose(tool) {
    this.tool = tool;
    for (const each of ['pan', 'lasso']) this.host.querySelector(`[data-does=${each}]`).setAttribute('aria-pressed', String(each === tool));
  }

  fit() { this.go({ x: this.points.wide[0] / 2, y: this.points.wide[1] / 2, zoom: 1 }); }

  save() {
    const sheet = Object.assign(document.createElement('canvas'), { width: this.dots.width, height: this.dots.height });
    const pen = sheet.getContext('2d'), link = document.createElement('a');
    pen.fillStyle = getComputedStyle(this.host).getPropertyValue('--st-background-color') || '#fff';
    pen.fillRect(0, 0, sheet.width, sheet.height);
    for (const canvas of [this.dots, this.over]) pen.drawImage(canvas, 0, 0);
    Object.assign(link, { href: sheet.toDataURL('image/png'), download: 'map.png' }).click();
  }

  clear() {
    this.lasso = null;
    this.tell({});
    this.draw();
  }

  markView() {
    const { width, height, pixels } = this.measure(), { x, y } = this.view, [w, h] = [width / pixels / 2, height / pixels / 2];
    this.send([[x - w, y - h], [x + w, y - h], [x + w, y + h], [x - w, y + h]]);
  }

  listen() {
    const { over } = this, step = (x, y) => {
      const { width, height, pixels } = this.measure();
      this.go({ x: this.view.x + x * width / pixels / 10, y: this.view.y + y * height / pixels / 10, zoom: this.view.zoom });
    };
    const does = {
      pan: () => this.choose('pan'), lasso: () => this.choose('lasso'), closer: () => this.zoom(1.5),
      wider: () => this.zoom(1 / 1.5), fit: () => this.fit(), save: () => this.save(),
    };
    const keys = {
      ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, 1), ArrowDown: () => step(0, -1),
      '+': does.closer, '=': does.closer, '-': does.wider, 0: does.fit, Enter: () => this.markView(), Escape: () => this.clear(),
    };
    for (const button of this.host.querySelectorAll('.tools button')) button.onclick = () => this.points && does[button.dataset.does]();
    over.onkeydown = key => {
      if (!this.points || !keys[key.key] || key.ctrlKey || key.metaKey || key.altKey) return;
      key.preventDefault();
      keys[key.key]();
    };
    over.addEventListener('wheel', event => {
      if (!this.points) return;
      event.preventDefault();
      this.zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 300), this.place(event));
    }, { passive: false });
    over.onpointerdown = event => {
      if (!this.points || event.button) return;
      over.setPointerCapture(event.pointerId);
      this.down = { x: event.clientX, y: event.clientY, view: this.view, lasso: this.tool === 'lasso' || event.shiftKey ? [this.place(event)] : null };
    };
    over.onpointermove = event => this.points && (this.down ? this.drag(event) : this.point(event));
    over.onpointerleave = () => { this.hint.hidden = true; };
    over.onpointercancel = () => { this.down = null; };
    over.onpointerup = event => {
      const { down } = this;
      this.down = null;
      if (!down) return;
      if (down.lasso && down.moved) this.send(down.lasso.length > 2 ? down.lasso : []);
      else if (!down.moved) this.click(event);
    };
  }

  drag(event) {
    const { down } = this, [dx, dy] = [event.clientX - down.x, event.clientY - down.y];
    if (!down.moved && Math.hypot(dx, dy) < 4) return;
    down.moved = true;
    this.hint.hidden = true;
    if (down.lasso) {
      down.lasso.push(this.place(event));
      this.lasso = down.lasso;
      this.draw(true);
    } else {
      const { pixels } = this.measure();
      this.go({ x: down.view.x - dx / pixels, y: down.view.y + dy / pixels, zoom: down.view.zoom });
    }
  }

  click(event) {
    const row = this.rowAt(event);
    if (row >= 0) this.tell({ row });
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  if (data instanceof Uint8Array) {
    const points = unpacked(data);
    SLOTS.set(points.slot, points);
    for (const map of MAPS) if (map.data?.slot === points.slot) map.show(map.data);
    return;
  }
  const map = parentElement.labkitMap ??= new DotMap(parentElement);
  map.tell = mark => setTriggerValue('marked', mark);
  map.show(data);
  return () => map.end();
}
