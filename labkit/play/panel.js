// Behind "More": the other hyperparameters, the matrix, the second side, and what if.

import { control } from "./controls.js";
import { typedAnswer } from "./card.js";
import { fromCsv, LIMITS } from "./corpus.js";
import { el, remark, typeset } from "./dom.js";
import { Matrix } from "./matrix.js";
import { LOSSES } from "./pairs.js";
import { wrongShares } from "./readouts.js";
import { dialsOf } from "./settings.js";
import { TERMS } from "./terms.js";

const KEYS =
  "← → or Page Up, Page Down: change the scene. Space bar: play. S: step. R: restart. M: more. P: present. Arrow " +
  "keys move a focused slider and, with Shift, rotate a focused space.";
const COMMON = ["dimension", "learningRate", "batch", "perClass", "classes", "sentences", "common"];

export class Panel {
  /** `page` has the lab, and is told of every change. */
  constructor(root, page) {
    Object.assign(this, { root, page, matrix: new Matrix(el("canvas", { className: "matrix" })) });
    this.canvas = this.matrix.canvas;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Weights of all pairs of the batch, one row per anchor, sorted by class");
    this.note = remark("Each row is an anchor. Point at a cell to see its pair.");
    const pair = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return this.matrix.pairAt(event.clientX - box.left, event.clientY - box.top, page.batch.m);
    };
    this.canvas.addEventListener("pointermove", (event) => this.hover(pair(event)));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("click", (event) => pair(event) && page.choose({ pair: pair(event) }, 0));
  }

  hover(pair) {
    this.page.hovered = pair;
    this.page.redraw();
  }

  /** What the cell under the pointer says. */
  tell(pair) {
    const { batch, corpus } = this.page.lab.sides[0].training;
    if (pair?.some((at) => at >= batch.m)) return;
    const text = (at) => `“${corpus.rows[batch.rows[at]].text}”`;
    this.note.textContent = pair
      ? `${text(pair[0])} and ${text(pair[1])}: weight ${Math.abs(batch.G[pair[0] * batch.m + pair[1]]).toFixed(3)}`
      : "Each row is an anchor. Point at a cell to see its pair.";
  }

  /** Build all controls for the settings of now. */
  fill() {
    const focused = document.activeElement?.dataset?.keep;
    this.root.replaceChildren(
      presentButton(this.page),
      this.section("Loss and miner", ...this.loss(0)),
      this.section("Weights of the batch", this.canvas, this.note),
      this.section("Two side by side", ...this.two()),
      this.section("Training", ...COMMON.map((name) => this.control(name, 0))),
      this.section("What if", ...this.whatIf()),
      this.section("Keys", remark(KEYS)),
      this.section("Terms", terms()),
    );
    if (focused) this.root.querySelector(`[data-keep="${focused}"]`)?.focus();
  }

  section(title, ...parts) {
    return el("section", {}, el("h2", {}, title), ...parts);
  }

  control(name, side) {
    const { lab } = this.page;
    if (!side && name === lab.control) return null; // it is next to the picture
    const change = (changed, value) => this.page.change(changed, value, side);
    const made = control(name, lab.settingsOf(side)[name], change, { most: lab.most(name), side });
    const input = made.querySelector("input, select");
    input.dataset.keep = `${name}-${side}`;
    return made;
  }

  loss(side) {
    const settings = this.page.lab.settingsOf(side);
    return [
      this.control("loss", side),
      el("p", { className: "formula" }, ...typeset(LOSSES[settings.loss].formula)),
      this.control("miner", side),
      ...dialsOf(settings).map((name) => this.control(name, side)),
    ];
  }

  two() {
    const { lab } = this.page;
    const button = el("button", {}, lab.right ? "Back to one side" : "Compare two losses");
    button.dataset.keep = "two";
    button.addEventListener("click", () => this.page.setTwo(!lab.right));
    if (!lab.right) return [button, remark("Both sides start alike and get the same batches.")];
    const shown = ["loss", "miner", ...dialsOf(lab.settingsOf(1))];
    const more = Object.keys(lab.right).filter((name) => !shown.includes(name));
    return [button, remark("The right side:"), ...this.loss(1), ...more.map((name) => this.control(name, 1))];
  }

  whatIf() {
    const hint = remark("Drag a point to hold it elsewhere and watch its lines. When you let go, it springs back.");
    this.bars = el("ul", { className: "bars" }); // what each loss would weigh at wrong labels, where there are any
    return [this.typed(), this.control("flipped", 0), this.bars, this.sentences(), hint, ...this.csv()];
  }

  labelled(text, field) {
    return el("div", { className: "control" }, el("label", { htmlFor: field.id }, text), field);
  }

  typed() {
    const id = "typed-sentence";
    const input = el("input", { type: "text", id, maxLength: 200, placeholder: "My telescope shows the moon" });
    input.value = this.page.lab.typed;
    input.dataset.keep = "typed";
    input.addEventListener("input", () => this.page.type(input.value));
    this.answer = el("div", { id: "typed-answer", className: "card" });
    this.answerTyped();
    return el("div", {}, this.labelled("Type a sentence to see where it lands", input), this.answer);
  }

  answerTyped() {
    const { lab } = this.page;
    this.answer.replaceChildren(...typedAnswer(lab.sides[0].training, lab.typed));
  }

  drawWrong(training) {
    const { corpus, labels } = training;
    this.bars.hidden = labels.every((label, row) => label === corpus.rows[row].label);
    if (this.bars.hidden) return;
    const bar = ([title, share]) => {
      const line = el("li", {}, el("span", {}, title), `${Math.round(100 * share)} %`);
      line.style.setProperty("--share", share);
      return line;
    };
    const words = "How much weight each loss would put on pairs with a wrong label, for this batch and this miner.";
    const said = el("li", { className: "note" }, words);
    this.bars.replaceChildren(said, ...wrongShares(training).map(bar));
  }

  /** A list of all sentences: what a click on a point does, for the keyboard. */
  sentences() {
    this.select = el("select", { id: "all-sentences" });
    this.select.dataset.keep = "sentences";
    const choose = () => this.page.choose(this.select.value === "" ? null : { row: Number(this.select.value) }, 0);
    this.select.addEventListener("change", choose);
    this.listSentences();
    return this.labelled("Choose a sentence to change its label or remove it", this.select);
  }

  listSentences() {
    const { corpus } = this.page.lab.sides[0].training;
    const { value } = this.select;
    const groups = corpus.classes.map((name) => el("optgroup", { label: name }));
    corpus.rows.forEach(({ text, unseen, label }, row) => {
      groups[label].append(el("option", { value: row }, unseen ? `${text} (unseen)` : text));
    });
    this.select.replaceChildren(el("option", { value: "" }, "Choose a sentence"), ...groups);
    this.select.value = corpus.rows[value] ? value : "";
  }

  csv() {
    const area = el("textarea", { id: "csv", maxLength: LIMITS.characters });
    area.placeholder = "text,label\nThe bread is in the oven.,baking";
    const file = el("input", { type: "file", accept: ".csv,text/csv" });
    file.setAttribute("aria-label", "Choose a CSV file");
    const said = remark("A CSV file with the columns text and label. Your sentences never leave this page.");
    said.setAttribute("role", "status");
    const use = (text) => {
      try {
        this.page.bring(fromCsv(text));
      } catch (mistake) {
        said.textContent = mistake.message;
      }
    };
    const button = el("button", {}, "Use these sentences");
    button.addEventListener("click", () => use(area.value));
    file.addEventListener("change", async () => {
      const [chosen] = file.files;
      if (chosen) use(chosen.size > LIMITS.characters ? " ".repeat(LIMITS.characters + 1) : await chosen.text());
    });
    const { data, bundled } = this.page.lab;
    const back = el("button", { hidden: data === bundled }, "Back to the original sentences");
    back.addEventListener("click", () => this.page.bring(null));
    const buttons = el("div", { className: "row" }, button, back);
    return [this.labelled("Paste your own sentences", area), buttons, file, said];
  }

  draw(pair, row) {
    const { training } = this.page.lab.sides[0];
    const { batch, labels } = training;
    this.drawWrong(training);
    this.matrix.draw(batch, labels, pair, batch.rows.indexOf(row));
    this.tell(this.page.hovered);
  }
}

/** Every term of the page with its meaning. */
function terms() {
  const each = Object.entries(TERMS).flatMap(([name, meaning]) => [el("dt", {}, name), el("dd", {}, meaning)]);
  return el("details", { className: "note" }, el("summary", {}, "What every term means"), el("dl", {}, ...each));
}

/** Phones have no room for this button in the header. */
function presentButton(page) {
  const button = el("button", { className: "phone" }, "Present");
  button.addEventListener("click", () => page.present(true));
  return button;
}
