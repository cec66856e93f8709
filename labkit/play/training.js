// A training: settings, a model and its batches, one step at a time. The same seed gives the same steps.
//
//   step()   draw a batch -> V (m, d) -> S (m, m) -> miner -> G = m · dL/dS -> dE -> Adam
//
// `batch` holds what is on screen of the last step, as it was before the weights moved: rows, V, S, masks and G.

import { drawBatch } from "./corpus.js";
import { MINERS } from "./mining.js";
import { Adam, MeanOfWords, vectorGradient } from "./model.js";
import { masksFromLabels, pairGradient, similarities } from "./pairs.js";
import { generator } from "./random.js";

export class Training {
  /** `labels` are those it trains on, `removed` the rows it never draws. */
  constructor(corpus, settings, labels, removed = new Set()) {
    Object.assign(this, { corpus, settings, labels, removed, steps: 0, batch: null });
    this.model = new MeanOfWords(corpus.words.size, settings.dimension, generator(settings.seed, 1));
    this.adam = new Adam(this.model.E.length);
  }

  /** The rows that may be drawn. */
  get places() {
    return this.corpus.rows.map((_, i) => i).filter((i) => !this.corpus.rows[i].unseen && !this.removed.has(i));
  }

  /** The rows of the step that comes next. They depend on seed and step alone, so that two losses get the same. */
  nextRows() {
    return drawBatch(this.places, this.labels, this.settings, generator(this.settings.seed, 2, this.steps));
  }

  /** What the loss makes of these rows with the vectors of now. `mined` are masks from outside, for tests. */
  look(rows = this.nextRows(), mined = null) {
    const sentences = rows.map((i) => this.corpus.rows[i].ids);
    const { V, lengths } = this.model.encodeAll(sentences);
    const labels = rows.map((i) => this.labels[i]);
    this.batch = { rows, sentences, lengths, ...this.weigh(V, labels, mined) };
    return this.batch;
  }

  /** Similarities, masks before (`known`) and after mining (`P`, `N`), and G = m · dL/dS of unit vectors V (m, d). */
  weigh(V, labels, mined = null) {
    const m = labels.length;
    const S = similarities(V, m, this.model.d);
    const known = masksFromLabels(labels);
    const random = generator(this.settings.seed, 3, this.steps);
    const { P, N } = mined ?? MINERS[this.settings.miner].mine(S, known.P, known.N, this.settings, random);
    return { V, S, known, P, N, G: pairGradient(this.settings, S, P, N), m };
  }

  /** One step of the optimiser. */
  step(rows, mined) {
    const { sentences, V, lengths, G, m } = this.look(rows, mined);
    const dV = vectorGradient(G, V, m, this.model.d);
    this.adam.step(this.model.E, this.model.backward(sentences, V, lengths, dV), this.settings.learningRate);
    this.steps += 1;
  }

  /** The vectors of all sentences of the corpus (rows, d), those never trained on among them. */
  vectors() {
    return this.model.encodeAll(this.corpus.rows.map((row) => row.ids)).V;
  }
}
