// The state behind the page, without the page: sentences, settings, and one or two trainings on one clock.

import { givenLabels, makeCorpus, mostSentences } from "./corpus.js";
import { measure } from "./metrics.js";
import { wrongWeight } from "./readouts.js";
import { SCENES } from "./scenes.js";
import { CHOICES, DEFAULTS, RANGES } from "./settings.js";
import { Training } from "./training.js";
import { LOSSES } from "./pairs.js";

const CLOSELY = 40; // the first steps, which are shown slowly, are measured one by one
const MEASURED = 10; // steps between two measurements after that
const WINDOW = 40; // batches over which the weight of wrong labels is averaged

export class Lab {
  /** `data` is the page's; `data.start` are settings to begin with, of which the first scene knows nothing. */
  constructor(data) {
    this.bundled = data;
    this.begin();
  }

  /** The page's own sentences, and the scene that it begins with. */
  begin() {
    const { bundled } = this;
    this.open(bundled.scenes ? SCENES[0] : ownScene(bundled, bundled.start), bundled);
  }

  /** The scenes that can be shown: ours, unless the sentences are somebody's own. */
  get scenes() {
    return this.data.scenes ? SCENES : [];
  }

  /** Open a scene: its settings, its sides, its own start. */
  open(scene, data = this.bundled) {
    this.data = data;
    this.scene = scene;
    this.settings = { ...DEFAULTS, ...scene.settings };
    this.right = scene.right ? { ...scene.right } : null;
    this.typed = "";
    this.restart(true);
  }

  /** Settings of a side: the right one has the left one's, but for what is set on the right. */
  settingsOf(side) {
    return side ? { ...this.settings, ...this.right } : this.settings;
  }

  /** Begin again with the same seed. With `fresh` labels set and sentences removed by hand are forgotten. */
  restart(fresh = false) {
    if (fresh) Object.assign(this, { byHand: new Map(), removed: new Set() });
    this.sides = (this.right ? [0, 1] : [0]).map((side) => {
      const settings = this.settingsOf(side);
      const corpus = makeCorpus(this.data, settings);
      const training = new Training(corpus, settings, givenLabels(corpus, settings, this.byHand), this.removed);
      training.look();
      return { training, history: [measure(training)], wrong: [wrongWeight(training)] };
    });
  }

  /** Change a hyperparameter of a side. It acts at once, but for other sentences, another space and fresh scenes. */
  set(name, value, side = 0) {
    if (side) this.right[name] = value;
    else this.settings[name] = value;
    const other = (RANGES[name] ?? CHOICES[name]).restarts;
    if (other) this.restart(name !== "dimension");
    else if (this.scene.fresh && this.free.includes(name)) this.restart();
    else this.refresh();
  }

  /** Labels, settings and weights of now, after something changed between two steps. */
  refresh() {
    this.sides.forEach((side, number) => {
      const { training } = side;
      const { batch } = training;
      const before = training.settings;
      training.settings = this.settingsOf(number);
      training.labels = givenLabels(training.corpus, training.settings, this.byHand);
      const same = ["batch", "perClass", "flipped"].every((name) => before[name] === training.settings[name]);
      training.look(same && !batch.rows.some((row) => this.removed.has(row)) ? batch.rows : undefined);
      side.wrong = [wrongWeight(training)];
    });
  }

  /** A second side with its own loss, or none. */
  setTwo(two) {
    this.right = two ? { loss: this.settings.loss === "contrastive" ? "infonce" : "contrastive" } : null;
    this.restart();
  }

  /** One step of every side. */
  step() {
    for (const side of this.sides) {
      const { training } = side;
      training.step();
      side.wrong = [...side.wrong, wrongWeight(training)].slice(-WINDOW);
      if (training.steps <= CLOSELY || training.steps % MEASURED === 0) side.history.push(measure(training));
    }
  }

  /** A row's label set by hand; its own label again takes that back. */
  setLabel(row, label) {
    this.byHand.set(row, label);
    this.measureNow();
  }

  /** Remove a sentence from training, or take it back. */
  toggleRemoved(row) {
    if (!this.removed.delete(row)) this.removed.add(row);
    this.measureNow();
  }

  measureNow() {
    this.refresh();
    for (const side of this.sides) side.history.push(measure(side.training));
  }

  /** Names of the settings that the scene's sentences speak of. */
  get free() {
    return [this.scene.control, ...(this.scene.also ?? [])];
  }

  /** Names of the settings that are no longer the scene's, but for what its sentences speak of. */
  get changed() {
    const scene = { ...DEFAULTS, ...this.scene.settings };
    const names = Object.keys(DEFAULTS).filter((name) => name !== "seed" && !this.free.includes(name));
    const left = names.filter((name) => this.settings[name] !== scene[name]);
    const sides = JSON.stringify(this.right) === JSON.stringify(this.scene.right ?? null) ? [] : ["sides"];
    const byHand = [...(this.byHand.size ? ["labels"] : []), ...(this.removed.size ? ["sentences"] : [])];
    return [...left, ...sides, ...byHand];
  }

  /** The hyperparameter shown below the sentences: the scene's, or the loss' first where that changes nothing. */
  get control() {
    const dials = Object.values(LOSSES).flatMap((loss) => loss.dials);
    const { control } = this.scene;
    return dials.includes(control) && !LOSSES[this.settings.loss].dials.includes(control)
      ? LOSSES[this.settings.loss].dials[0]
      : control;
  }

  /** The most that a hyperparameter can be with these sentences; undefined where they set no limit. */
  most(name) {
    return { sentences: mostSentences(this.data), classes: this.data.classes.length }[name];
  }

  /** What a screen reader is told: where the training is. */
  get summary() {
    const parts = this.sides.map(({ history, training }, side) => {
      const { train, unseen } = history.at(-1);
      const name = this.right ? `${side ? "Right" : "Left"}, ${LOSSES[training.settings.loss].title}: ` : "";
      const other = Number.isNaN(unseen.hit) ? "" : `, ${unseen.hit.toFixed(2)} on unseen ones`;
      return `${name}hit@1 ${train.hit.toFixed(2)} on training sentences${other}`;
    });
    return `Step ${this.sides[0].training.steps}. ${parts.join(". ")}.`;
  }
}

/** The scene of somebody's own sentences or settings: nothing is claimed of it but what its loss is. */
export function ownScene(data, start = {}) {
  const settings = { ...start, classes: data.classes.length, sentences: mostSentences(data) };
  settings.batch ??= Math.min(96, Math.max(8, 6 * data.classes.length));
  const loss = settings.loss ?? DEFAULTS.loss;
  const unseen = data.rows.filter((row) => row[2]).length;
  return {
    name: "own",
    title: LOSSES[loss].title,
    sentences: [
      `${data.rows.length} sentences of ${data.classes.length} classes, ${unseen} of them unseen in training (rings).`,
      "Drag the slider during training. The curve shows the weight of a pair at each similarity.",
    ],
    control: LOSSES[loss].dials[0],
    readout: "carrying",
    settings,
    until: 400,
  };
}

