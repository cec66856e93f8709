// The space: every sentence a point, sentences never trained on as rings, the heaviest pairs of the batch as lines.

import { heaviestPairs } from "./metrics.js";
import { look, pen, theme, trace } from "./palette.js";
import { Projection } from "./projection.js";

const LINES = 3; // pairs of the batch that are drawn, at least one of each kind
const OF_ROW = 24; // pairs of a chosen row
const HOLD = 25; // steps that lines are held while training goes on, so that the eye can follow them
const BENDS = 12; // pieces of a line along the sphere
const REACH = 16; // pixels around a point that count as on it
const FORCE = 0.35; // length of the longest arrow, in radii
const LABELLED = { 2: 0.72, 3: 0.5, 32: 0.36 }; // by dimension: a class whose mean is as long as this carries its name

/** Where a force would move a vector, by at most `FORCE`: any force is seen, and none leaves the picture. */
function moved(v, force) {
  const size = Math.hypot(...force);
  return size ? v.map((x, k) => x + ((1 - Math.exp(-size)) * FORCE * force[k]) / size) : v;
}

export class Space {
  constructor(canvas, camera) {
    Object.assign(this, { canvas, camera, projection: null, spots: [], lines: [], kept: null });
  }

  /**
   * Draw a training. `marks`: {row, pair, typed, held, at, about, playing}: a chosen row, a pair [i, j] of the batch,
   * the vector of a typed sentence, that of a held point, for the chosen row where it is and what `explainPoint` says of
   * it, and whether training goes on.
   */
  draw(training, marks = {}) {
    const { d } = training.model;
    if (this.projection?.d !== d) this.projection = new Projection(d, this.camera);
    this.tones = theme();
    const { context, width, height } = pen(this.canvas);
    Object.assign(this, { context, width, height, radius: 0.44 * Math.min(width, height) });
    this.flat = this.projection.points(training.vectors());
    this.drawGlobe();
    this.drawLines(training, marks);
    this.drawPoints(training);
    this.drawNames(training);
    this.drawMarks(training, marks);
  }

  /** A point (3,) as [x, y, depth] on the canvas, depth 1 nearest to the eye. */
  place(point) {
    const [x, y, z] = this.projection.turned(point);
    return [this.width / 2 + this.radius * x, this.height / 2 - this.radius * y, z];
  }

  drawGlobe() {
    const { context: c, radius, tones } = this;
    c.strokeStyle = tones.line;
    c.lineWidth = 1;
    c.beginPath();
    c.arc(this.width / 2, this.height / 2, radius, 0, 2 * Math.PI);
    c.stroke();
    if (this.projection.d === 2) return;
    const circles = [(a, b) => [a, b, 0], (a, b) => [a, 0, b], (a, b) => [0, a, b]];
    for (const circle of circles) {
      c.beginPath();
      for (let step = 0; step <= 72; step++) {
        const angle = (step * Math.PI) / 36;
        c.lineTo(...this.place(circle(Math.cos(angle), Math.sin(angle))).slice(0, 2));
      }
      c.globalAlpha = 0.6;
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  /** The batch's heaviest pairs, held for some steps, or those of the chosen row alone. */
  drawLines(training, { pair = null, at = null, about = null, playing = false }) {
    const { batch } = training;
    const chosen = ({ i, j }) => pair?.includes(i) && pair.includes(j);
    const pairs = about
      ? about.pairs.slice(0, OF_ROW).map(({ j, row, slope }) => ({ i: about.at, j, slope, rows: [null, row] }))
      : this.heaviest(training, playing, chosen);
    const most = Math.abs(pairs[0]?.slope ?? 1);
    const end = (row) => (row === null ? this.projection.point(at) : this.flat[row]);
    const lines = pairs.map((one) => ({ ...one, path: this.path(...one.rows.map(end)) }));
    const clickable = about ? !about.joined : this.kept.batch === batch; // a pair of the batch
    this.lines = clickable ? lines : [];
    for (const line of lines) this.line(line, Math.abs(line.slope) / most, chosen(line));
  }

  /** The heaviest pairs of the batch with their rows, and the chosen one; while it trains, those of a few steps ago. */
  heaviest(training, playing, chosen) {
    const { batch, steps } = training;
    const age = this.kept?.training === training ? steps - this.kept.steps : -1;
    if (!playing || age < 0 || age >= HOLD) {
      const all = heaviestPairs(batch);
      const first = all.slice(0, LINES);
      const other = all.find(({ slope }) => slope * first[0].slope < 0); // the heaviest of the other kind
      if (other && all.indexOf(other) >= LINES) first.splice(-1, 1, other);
      const pairs = [...first, ...all.filter((one) => chosen(one) && !first.includes(one))];
      const named = pairs.map((one) => ({ ...one, rows: [batch.rows[one.i], batch.rows[one.j]] }));
      this.kept = { training, batch, steps, pairs: named };
    }
    return this.kept.pairs;
  }

  /** From point to point on the canvas; on the sphere along it, so that a force begins where its line does. */
  path(a, b) {
    if (this.projection.d !== 3) return [a, b].map((point) => this.place(point));
    const cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const angle = Math.acos(Math.max(-1, Math.min(1, cosine)));
    const share = (t) => (Math.sin(angle) > 1e-6 ? Math.sin(t * angle) / Math.sin(angle) : t);
    return Array.from({ length: BENDS + 1 }, (_, at) => {
      const [one, other] = [share(1 - at / BENDS), share(at / BENDS)];
      return this.place(a.map((x, k) => one * x + other * b[k]));
    });
  }

  /** Pulls are solid and blue, pushes dashed and orange; width and strength tell the weight. */
  line({ path, slope }, share, chosen) {
    const { context: c, tones } = this;
    c.strokeStyle = slope < 0 ? tones.pull : tones.push;
    c.setLineDash(slope < 0 ? [] : [6, 4]);
    c.globalAlpha = chosen ? 1 : 0.2 + 0.6 * share;
    c.lineWidth = chosen ? 4 : 0.8 + 2 * share;
    c.beginPath();
    for (const [x, y] of path) c.lineTo(x, y);
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  drawPoints({ corpus, labels, removed }) {
    const size = Math.max(4, this.radius / 60);
    this.spots = this.flat
      .map((point, row) => ({ row, at: this.place(point) }))
      .filter(({ row }) => !removed.has(row))
      .sort((a, b) => a.at[2] - b.at[2]); // those behind first
    for (const { row, at } of this.spots) {
      const { label, unseen } = corpus.rows[row];
      const near = this.projection.d === 2 ? 1 : (at[2] + 1) / 2;
      this.context.globalAlpha = 0.35 + 0.65 * near;
      this.point(label, at[0], at[1], size * (0.7 + 0.5 * near), unseen);
      if (!unseen && labels[row] !== label) this.cross(at[0], at[1], size * 1.5);
    }
    this.context.globalAlpha = 1;
  }

  point(label, x, y, size, ring) {
    const { context: c, tones } = this;
    const { colour, shape } = look(label);
    trace(c, shape, x, y, size);
    c.fillStyle = ring ? tones.ground : colour;
    c.fill();
    c.strokeStyle = ring ? colour : tones.ground;
    c.lineWidth = ring ? 2 : 0.8;
    c.stroke();
  }

  /** A wrong label. */
  cross(x, y, r) {
    const { context: c } = this;
    c.strokeStyle = this.tones.ink;
    c.lineWidth = 1.8;
    c.beginPath();
    for (const side of [-1, 1]) {
      c.moveTo(x - r, y - side * r);
      c.lineTo(x + r, y + side * r);
    }
    c.stroke();
  }

  /** The name of each class at the middle of its training sentences, once they gather there; those behind are grey. */
  drawNames({ corpus }) {
    const { context: c, tones } = this;
    const { d } = this.projection;
    const middles = corpus.classes.map((name, label) => {
      const own = this.flat.filter((_, row) => corpus.rows[row].label === label && !corpus.rows[row].unseen);
      const middle = [0, 1, 2].map((k) => own.reduce((total, point) => total + point[k], 0) / (own.length || 1));
      const length = Math.hypot(...middle);
      const stretch = { 2: 0.94 / length, 3: 1 / length }[d] ?? 1; // onto the sphere, inside the circle
      return { name, length, at: this.place(middle.map((value) => value * stretch)) };
    });
    const gathered = middles.filter(({ length }) => length >= LABELLED[d]);
    const size = Math.max(13, this.radius / 22);
    const taken = [];
    c.font = `600 ${size}px ${tones.font}`;
    c.lineJoin = "round";
    c.lineWidth = 6;
    c.strokeStyle = tones.ground;
    gathered.sort((one, other) => other.at[2] - one.at[2]); // those in front come first, and keep their place
    for (const { name, at: [x, y, z] } of gathered) {
      const half = c.measureText(name).width / 2;
      const inwards = d === 2 ? (half * (x - this.width / 2)) / this.radius : 0;
      const left = Math.min(this.width - 2 * half - 4, Math.max(4, x - half - inwards));
      const base = d === 2 ? y + size / 3 : y - size;
      const beside = ([a, b, w]) => Math.abs(b - base) < 1.6 * size && a < left + 2 * half && left < a + w;
      if (taken.some(beside)) continue; // a heap is seen, not its names
      taken.push([left, base, 2 * half]);
      c.strokeText(name, left, base);
      c.fillStyle = z < -0.3 ? tones.soft : tones.ink;
      c.fillText(name, left, base);
    }
  }

  /** The chosen row, ringed, with the force on it; held, it is a ghost. And the sentence that somebody typed. */
  drawMarks({ corpus }, { row = null, typed = null, held = null, at = null, about = null }) {
    const { context: c, tones } = this;
    if (at) {
      const [x, y] = this.place(this.projection.point(at));
      c.strokeStyle = tones.ink;
      c.lineWidth = 2;
      c.beginPath();
      c.arc(x, y, 12, 0, 2 * Math.PI);
      c.stroke();
      if (held) this.point(corpus.rows[row].label, x, y, 7, true);
      if (about) this.arrow([x, y], this.place(this.projection.point(moved(at, about.force))));
    }
    if (typed) {
      const [x, y] = this.place(this.projection.point(typed));
      c.fillStyle = tones.ink;
      trace(c, "star", x, y, 9);
      c.fill();
    }
  }

  arrow([x, y], [toX, toY]) {
    const { context: c } = this;
    const length = Math.hypot(toX - x, toY - y);
    if (length < 3) return;
    const [ux, uy] = [(toX - x) / length, (toY - y) / length];
    c.strokeStyle = c.fillStyle = this.tones.ink;
    c.lineWidth = 3;
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(toX, toY);
    c.stroke();
    c.beginPath();
    c.moveTo(toX + 8 * ux, toY + 8 * uy);
    c.lineTo(toX - 6 * uy, toY + 6 * ux);
    c.lineTo(toX + 6 * uy, toY - 6 * ux);
    c.fill();
  }

  /** The row under a place of the canvas, the nearest to the eye first; null where there is none. */
  rowAt(x, y) {
    let best = null;
    for (const { row, at } of this.spots) {
      const distance = Math.hypot(at[0] - x, at[1] - y) - 3 * at[2];
      if (distance < (best?.distance ?? REACH)) best = { row, distance };
    }
    return best?.row ?? null;
  }

  /** The line under a place of the canvas. */
  lineAt(x, y) {
    const near = (from, to) => {
      const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
      const along = ((x - from[0]) * dx + (y - from[1]) * dy) / (dx * dx + dy * dy || 1);
      const t = Math.min(1, Math.max(0, along));
      return Math.hypot(from[0] + t * dx - x, from[1] + t * dy - y);
    };
    const under = ({ path }) => path.slice(1).some((to, at) => near(path[at], to) < 5);
    return this.lines.find(under) ?? null;
  }

  /** The unit vector under a place of the canvas. */
  vectorAt(x, y) {
    return this.projection.vectorAt((x - this.width / 2) / this.radius, (this.height / 2 - y) / this.radius);
  }
}
