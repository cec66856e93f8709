// Every hyperparameter of the page: its name on screen, its range, and what it starts with.

import { LOSSES } from "./pairs.js";
import { MINERS } from "./mining.js";

/** `log`: the slider moves in equal ratios. `restarts`: another value makes other sentences or another space. */
export const RANGES = {
  temperature: { title: "Temperature τ", low: 0.02, high: 2, log: true, digits: 2 },
  margin: { title: "Margin", low: -0.5, high: 2, step: 0.05, digits: 2 },
  alpha: { title: "α, sharpness of the pull", low: 0.5, high: 20, log: true, digits: 1 },
  beta: { title: "β, sharpness of the push", low: 1, high: 80, log: true, digits: 1 },
  base: { title: "λ, where pull and push meet", low: -0.5, high: 1, step: 0.05, digits: 2 },
  epsilon: { title: "Mining margin ε", low: 0, high: 1, step: 0.05, digits: 2 },
  share: { title: "Share of pairs kept", low: 0.01, high: 1, log: true, digits: 2 },
  learningRate: { title: "Learning rate", low: 0.001, high: 0.3, log: true, digits: 3 },
  batch: { title: "Batch size", low: 8, high: 96, step: 4, digits: 0 },
  perClass: { title: "Sentences per class in a batch", low: 2, high: 12, step: 1, digits: 0 },
  flipped: { title: "Share of flipped labels", low: 0, high: 0.5, step: 0.05, digits: 2 },
  classes: { title: "Classes", low: 2, high: 12, step: 1, digits: 0, restarts: true },
  sentences: { title: "Training sentences per class", low: 2, high: 32, step: 1, digits: 0, restarts: true },
};

export const CHOICES = {
  loss: { title: "Loss", options: Object.entries(LOSSES).map(([name, { title }]) => [name, title]) },
  miner: {
    title: "Miner",
    options: Object.entries(MINERS).map(([name, { title }]) => [name, title]),
    notes: Object.fromEntries(Object.entries(MINERS).map(([name, { note }]) => [name, note])),
  },
  dimension: {
    title: "Numbers in a vector",
    options: [[2, "2: a circle"], [3, "3: a sphere"], [32, "32: seen along 3 main directions"]],
    restarts: true,
  },
  common: {
    title: "Words such as “the”",
    options: [[0, "left out"], [1, "kept"]],
    restarts: true,
  },
};

export const DEFAULTS = {
  loss: "infonce", miner: "all", dimension: 3, temperature: 0.1, margin: 0.5, alpha: 2, beta: 50, base: 0.5,
  epsilon: 0.1, share: 0.1, learningRate: 0.03, batch: 40, perClass: 5, flipped: 0, classes: 6, sentences: 32,
  common: 0, seed: 1,
};

/** A value as it may be used: inside its range, one of its choices; otherwise what it starts with. */
export function checked(name, value) {
  if (name in CHOICES) {
    const match = CHOICES[name].options.find(([option]) => String(option) === String(value));
    return match ? match[0] : DEFAULTS[name];
  }
  const number = Number(value);
  if (!Number.isFinite(number)) return DEFAULTS[name];
  if (!(name in RANGES)) return Math.min(2 ** 31, Math.max(0, Math.round(number))); // the seed
  return Math.min(RANGES[name].high, Math.max(RANGES[name].low, number));
}

/** A hyperparameter's value as it is shown. */
export function shown(name, value) {
  return name in RANGES ? value.toFixed(RANGES[name].digits) : CHOICES[name].options.find(([o]) => o === value)[1];
}

/** The hyperparameters that change anything under these settings: the loss's, the miner's. */
export function dialsOf(settings) {
  return [...LOSSES[settings.loss].dials, ...MINERS[settings.miner].dials];
}
