// One side of the page: its space, its curve, its legend, and what pointer and keys do there.

import { Curve } from "./curve.js";
import { el } from "./dom.js";
import { explainPoint } from "./explain.js";
import { look, pen, theme, trace } from "./palette.js";
import { LOSSES } from "./pairs.js";
import { Space } from "./space.js";

const HINT =
  "A sentence embedding turns a sentence into numbers: a dot in space. Training pulls dots of one topic together and " +
  "pushes the others apart.";
const MOVED = 4; // pixels from which a press is a drag

export class Stage {
  /** `page` is told what was chosen, choose({row} | {pair} | null, side), and that a picture is due, redraw(). */
  constructor(number, page) {
    Object.assign(this, { number, page, held: null, hovered: null, inside: false });
    this.title = el("h2");
    this.canvas = el("canvas", { className: "space", tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.tip = el("div", { className: "tip", hidden: true });
    this.legend = el("ul", { className: "legend" });
    const side = number ? " right" : "";
    const hint = el("p", { className: "hint" }, HINT);
    this.figure = el("section", { className: `stage${side}` }, this.title, hint, this.canvas, this.legend, this.tip);
    this.figure.setAttribute("aria-label", number ? "The space, right side" : "The space");
    this.leftOut = el("span", {}, " ┃ left out by the miner");
    const caption = el(
      "figcaption", {},
      el("b", {}, "Weight"), ": how strongly the loss pulls or pushes a pair", el("br"),
      tinted("pull", "■ same topic, pulls"), " ", tinted("push", "◆ different topics, pushes"), this.leftOut,
    );
    this.curveCanvas = el("canvas");
    this.curveCanvas.setAttribute("role", "img");
    this.curveCanvas.setAttribute("aria-label", "Weight of each pair of the batch against its similarity");
    this.curveFigure = el("figure", { className: `curve${side}` }, caption, this.curveCanvas);
    this.space = new Space(this.canvas, page.camera);
    this.curve = new Curve(this.curveCanvas);
    this.listen();
  }

  /** Draw what the side of the lab is now. */
  draw(side, { chosen, typed, playing }) {
    const { training } = side;
    this.training = training;
    const { row = null, pair = null } = chosen ?? {};
    const v = this.held?.vector ?? (row === null ? null : this.vectorOf(row));
    const about = v && !training.removed.has(row) ? explainPoint(training, row, v, training.labels[row]) : null;
    const typedVector = typed.length ? this.vectorOfIds(typed) : null;
    const held = this.held?.vector ?? null;
    this.space.draw(training, { row, pair, typed: typedVector, held, at: v, about, playing });
    this.curve.draw(training.settings, training.batch, pair);
    this.canvas.setAttribute("aria-label", this.describe());
  }

  vectorOf(row) {
    return this.vectorOfIds(this.training.corpus.rows[row].ids);
  }

  vectorOfIds(ids) {
    const v = new Float64Array(this.training.model.d);
    this.training.model.encode(ids, v);
    return v;
  }

  describe() {
    const { corpus, model, steps } = this.training;
    const shapes = { 2: "a circle", 3: "a sphere" };
    return `${corpus.rows.length} sentences of ${corpus.classes.length} classes as points on ${
      shapes[model.d] ?? `the main directions of ${model.d} numbers`
    }, after ${steps} steps. Shift and the arrow keys rotate it.`;
  }

  /** Names and shapes of the classes; `two` gives the side its title. */
  label({ training }, two) {
    const loss = LOSSES[training.settings.loss].title;
    this.title.textContent = `${this.number ? "Right" : "Left"}: ${loss}${this.page.differences(this.number)}`;
    this.title.hidden = !two;
    const classes = training.corpus.classes.map((name, label) => el("li", {}, this.swatch(label, false), name));
    const wrong = training.labels.some((label, row) => label !== training.corpus.rows[row].label);
    const key = el(
      "li", { className: "key" },
      this.swatch(0, false), "trained", this.swatch(0, true), "unseen", wrong ? el("b", {}, "× wrong label") : null,
    );
    const lines = el("li", {}, "Lines:", tinted("pull", "━ pull"), tinted("push", "╍ push"));
    this.leftOut.hidden = training.settings.miner === "all";
    this.legend.replaceChildren(lines, el("li", {}, "Points:"), ...classes, key);
    for (const canvas of this.legend.querySelectorAll("canvas")) paint(canvas);
  }

  swatch(label, ring) {
    const canvas = el("canvas");
    canvas.setAttribute("aria-hidden", "true");
    Object.assign(canvas.dataset, { label, ring });
    return canvas;
  }

  listen() {
    const { canvas } = this;
    let press = null;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = at(event);
      press = { x, y, lastX: x, lastY: y, row: this.space.rowAt(x, y), moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      this.inside = true;
      if (!press) return this.hover(x, y);
      press.moved ||= Math.hypot(x - press.x, y - press.y) > MOVED;
      if (!press.moved) return;
      this.tip.hidden = true;
      const vector = press.row === null ? null : this.space.vectorAt(x, y);
      if (vector) this.hold(press.row, vector);
      else this.turn((x - press.lastX) / 150, (y - press.lastY) / 150);
      Object.assign(press, { lastX: x, lastY: y });
    });
    const release = (event) => {
      if (!press) return;
      const [x, y] = at(event);
      const { moved, row } = press;
      press = null;
      if (this.held) this.hold(null);
      if (!moved) this.choose(row, x, y);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", () => {
      press = null;
      this.hold(null);
    });
    canvas.addEventListener("pointerleave", () => {
      this.inside = false;
      this.hovered = null;
      this.tip.hidden = true;
      this.page.redraw();
    });
    canvas.addEventListener("keydown", (event) => {
      const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] };
      if (!event.shiftKey || !turns[event.key]) return; // without Shift, arrow keys lead through the scenes
      event.preventDefault();
      event.stopPropagation();
      this.turn(...turns[event.key]);
    });
  }

  choose(row, x, y) {
    this.tip.hidden = true; // the card says it
    const line = row === null ? this.space.lineAt(x, y) : null;
    this.page.choose(row !== null ? { row } : line ? { pair: [line.i, line.j] } : null, this.number);
  }

  /** Hold a row's point elsewhere; let go, and it springs back: a point is the mean of its words, and has no place. */
  hold(row, vector) {
    this.held = row === null ? null : { row, vector };
    if (this.held) this.page.choose({ row }, this.number);
    else this.page.showCard();
    this.page.redraw();
  }

  turn(across, up) {
    const { camera } = this.page;
    camera.turn += across;
    camera.tilt = Math.max(-1.5, Math.min(1.5, camera.tilt + up));
    this.page.redraw();
  }

  hover(x, y) {
    const row = this.space.rowAt(x, y);
    this.tip.hidden = row === null;
    if (row !== this.hovered) this.page.redraw();
    this.hovered = row;
    if (row === null) return;
    const { text, label, unseen } = this.training.corpus.rows[row];
    const { corpus, labels } = this.training;
    const kind = unseen ? ", unseen" : labels[row] === label ? "" : `, labelled ${corpus.classes[labels[row]]}`;
    this.tip.replaceChildren(el("small", {}, corpus.classes[label] + kind), el("div", {}, text));
    const { clientWidth: width, clientHeight: height } = this.figure;
    this.tip.style.left = `${Math.max(0, Math.min(x + 14, width - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${Math.max(0, Math.min(this.canvas.offsetTop + y + 16, height - this.tip.offsetHeight))}px`;
  }
}

const tinted = (kind, text) => el("span", { className: kind }, text);

/** The shape of a class in the legend. */
function paint(canvas) {
  const { context, width, height } = pen(canvas);
  const { colour, shape } = look(Number(canvas.dataset.label));
  const key = canvas.closest(".key");
  trace(context, key ? "circle" : shape, width / 2, height / 2, width / 3.2);
  context.fillStyle = context.strokeStyle = key ? theme().soft : colour;
  context.lineWidth = 1.6;
  if (canvas.dataset.ring === "true") context.stroke();
  else context.fill();
}
