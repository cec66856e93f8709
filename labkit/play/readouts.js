// One number that a scene is about, as a sentence. `sides` are the stages of the page, one or two.

import { carrying, mean, meanOther, pairCounts, weighingPairs } from "./metrics.js";
import { LOSSES, pairGradient } from "./pairs.js";

const share = (x) => `${Math.round(100 * x)} %`;
const n2 = (x) => x.toFixed(2).replace("-", "−");

/** Share of all pairs of a batch that the miner kept. */
export function keptShare({ P, N, m }) {
  return [...P, ...N].reduce((total, row) => total + row.length, 0) / (m * (m - 1));
}

/** [weight of the pairs with a sentence whose label is wrong, weight of all] in a batch. */
export function wrongWeight({ corpus, labels, batch }) {
  const wrong = batch.rows.map((row) => labels[row] !== corpus.rows[row].label);
  const total = [0, 0];
  for (const { i, j, slope } of weighingPairs(batch)) {
    total[1] += Math.abs(slope);
    if (wrong[i] || wrong[j]) total[0] += Math.abs(slope);
  }
  return total;
}

/** For each loss, [title, share of the weight of wrong labels] on the vectors of now, with the mined pairs. */
export function wrongShares(training) {
  const { settings, batch } = training;
  return Object.entries(LOSSES).map(([loss, { title }]) => {
    const G = pairGradient({ ...settings, loss }, batch.S, batch.P, batch.N);
    const [part, all] = wrongWeight({ ...training, batch: { ...batch, G } });
    return [title, all ? part / all : 0];
  });
}

/** Mean cosine between where a sentence is in one training and in another, over all sentences. */
export function agreement(one, other) {
  const [a, b] = [one.vectors(), other.vectors()];
  return a.reduce((total, x, k) => total + x * b[k], 0) / one.corpus.rows.length;
}

export const READOUTS = {
  carrying: ([{ training: { batch } }]) =>
    `${carrying(batch)} of ${pairCounts(batch).all} pairs (${share(carrying(batch) / pairCounts(batch).all)}) carry ` +
    "90 % of the weight",
  weighing: ([{ training: { batch } }]) =>
    `${pairCounts(batch).weighing} of ${pairCounts(batch).all} pairs have any weight`,
  other: ([{ training }]) => `Mean similarity of sentences from different topics: ${n2(meanOther(training.batch))}`,
  wrong: ([{ wrong }]) => {
    const [part, all] = [0, 1].map((at) => mean(wrong.map((pair) => pair[at])));
    return `Weight on pairs with a wrong label: ${all ? share(part / all) : "none left"}`;
  },
  kept: ([{ training: { batch } }]) => `The miner keeps ${share(keptShare(batch))} of the pairs`,
  hit: ([{ history }]) => `Hit@1 on training sentences: ${n2(history.at(-1).train.hit)}`,
  hits: (sides) => `Hit@1: ${sides.map(({ history }) => n2(history.at(-1).train.hit)).join(" left, ")} right`,
  unseen: ([{ history }]) =>
    `Hit@1: ${n2(history.at(-1).train.hit)} on training, ${n2(history.at(-1).unseen.hit)} on unseen sentences`,
  apart: (sides) =>
    sides[1] && sides[0].training.model.d === sides[1].training.model.d
      ? `Mean cosine between left and right: ${agreement(sides[0].training, sides[1].training).toFixed(3)}`
      : READOUTS.carrying(sides),
};
