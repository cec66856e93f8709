// Why a pair weighs what it weighs, and what a sentence is made of: the numbers behind a click.

import { wordsOf } from "./corpus.js";
import { LOSSES } from "./pairs.js";

const n2 = (x) => x.toFixed(2).replace("-", "−");
const n3 = (x) => (Math.abs(x) < 0.0005 && x ? x.toExponential(1) : x.toFixed(3)).replace("-", "−");
const sum = (places, term) => places.reduce((total, place) => total + term(place), 0);

// For each loss, [formula, formula with numbers] of the weight of pair (i, j). `s` is the anchor's row, or for CoSENT
// the whole matrix, and `j` the place in it; P and N are those that the loss saw.
const FORMULAS = {
  contrastive: ({ positive, s, j, margin }) =>
    positive
      ? ["1 for every positive", "1"]
      : ["1 if S > margin, else 0", `S = ${n2(s[j])} ${s[j] > margin ? ">" : "≤"} ${n2(margin)}`],
  "soft-triplet": ({ positive, s, j, P, N, temperature }) => {
    const others = positive ? N : P;
    const gap = (k) => (positive ? s[k] - s[j] : s[j] - s[k]);
    const shares = others.map((k) => 1 / (1 + Math.exp(-gap(k) / temperature)));
    const range = `from ${n2(Math.min(...shares))} to ${n2(Math.max(...shares))}`;
    return [`Σ_${positive ? "N" : "P"} σ((Sₙ − Sₚ)/τ)`, `${others.length} triplets, each ${range}:`];
  },
  "margin-triplet": ({ positive, s, j, P, N, margin }) => {
    const others = positive ? N : P;
    const short = others.filter((k) => (positive ? s[k] - s[j] : s[j] - s[k]) + margin > 0);
    return ["triplets with Sₙ − Sₚ + margin > 0", `${short.length} of ${others.length} triplets`];
  },
  locality: ({ positive, s, j, P, N, alpha, beta, base }) => {
    const [sign, scale, name, kind] = positive ? [-1, alpha, "−α", "P"] : [1, beta, "β", "N"];
    const e = (k) => Math.exp(sign * scale * (s[k] - base));
    return [
      `e^(${name}(S − λ)) / (1 + Σ_${kind} e^(${name}(S − λ)))`,
      `${n3(e(j))} / (1 + ${n3(sum(positive ? P : N, e))})`,
    ];
  },
  logistic: ({ positive, s, j, base, temperature }) =>
    positive
      ? ["σ((λ − S)/τ)", `σ((${n2(base)} − ${n2(s[j])})/${n2(temperature)})`]
      : ["σ((S − λ)/τ)", `σ((${n2(s[j])} − ${n2(base)})/${n2(temperature)})`],
  infonce: ({ positive, s, j, P, N, temperature }) => {
    const e = (k) => Math.exp((s[k] - s[j]) / temperature); // all shares relative to this pair's own e^(S/τ)
    const negatives = sum(N, e);
    const [q, scale] = ["qₚ = e^(Sₚ/τ) + Σ_N e^(Sₙ/τ)", `(${P.length} · ${n2(temperature)})`];
    if (positive) return [`(1 − e^(Sₚ/τ)/qₚ) / (|P| τ), ${q}`, `(1 − ${n3(1 / (1 + negatives))}) / ${scale}`];
    return [`Σₚ e^(Sₙ/τ)/qₚ / (|P| τ), ${q}`, `${n3(sum(P, (p) => 1 / (e(p) + negatives)))} / ${scale}`];
  },
  supcon: ({ positive, s, j, P, N, temperature }) => {
    const q = 1 / sum([...P, ...N], (k) => Math.exp((s[k] - s[j]) / temperature));
    return positive
      ? ["|1/|P| − q| / τ, q = e^(S/τ) / Σ_P∪N e^(S/τ)", `|1/${P.length} − ${n3(q)}| / ${n2(temperature)}`]
      : ["q / τ, q = e^(S/τ) / Σ_P∪N e^(S/τ)", `${n3(q)} / ${n2(temperature)}`];
  },
  cosent: ({ positive, s, j, P, N, m, temperature }) => {
    const low = sum(P, (p) => Math.exp(-s[p] / temperature));
    const high = sum(N, (n) => Math.exp(s[n] / temperature));
    const own = positive ? Math.exp(-s[j] / temperature) * high : Math.exp(s[j] / temperature) * low;
    const terms = n3(own / (1 + low * high));
    return ["m/τ · its terms / (1 + all terms e^((Sₙ − Sₚ)/τ))", `${m}/${n2(temperature)} · ${terms}`];
  },
};

/** The pair (i, j) of a batch: its similarity, kind and weight, and the formula of the weight, with numbers. */
export function explainPair(settings, batch, i, j) {
  const { S, G, P, N, m } = batch;
  const { wholeBatch } = LOSSES[settings.loss];
  const positive = batch.known.P[i].includes(j);
  const seen = (positive ? P : N)[i].includes(j);
  const weight = Math.abs(G[i * m + j]);
  const everywhere = (all) => all.flatMap((row, at) => row.map((k) => at * m + k));
  const view = wholeBatch
    ? { s: S, j: i * m + j, P: everywhere(P), N: everywhere(N) }
    : { s: S.subarray(i * m, (i + 1) * m), j, P: P[i], N: N[i] };
  const [formula, numbers] = seen
    ? FORMULAS[settings.loss]({ positive, m, ...settings, ...view })
    : ["0: the miner leaves this pair out", "0"];
  return { positive, seen, similarity: S[i * m + j], weight, formula, numbers, result: `= ${n3(weight)}` };
}

/**
 * The parts of a text with the share of its vector that each makes up: the part of the word's vector along the
 * sentence's, over the sum of all. Shares sum to 1; null for a word that training does not know.
 */
export function wordShares(model, corpus, text) {
  const parts = text.match(/[\p{L}\p{N}'’]+|[^\p{L}\p{N}'’]+/gu) ?? []; // words, and what is between them
  const ids = parts.map((part) => corpus.words.get(wordsOf(part)[0]));
  const v = new Float64Array(model.d);
  const length = model.encode(ids.filter((id) => id !== undefined), v);
  const known = ids.filter((id) => id !== undefined).length;
  const along = (id) => v.reduce((total, x, k) => total + x * model.E[id * model.d + k], 0);
  return parts.map((part, at) => ({
    part,
    share: ids[at] === undefined ? null : along(ids[at]) / (length * known),
  }));
}

/**
 * A sentence among the batch: its pairs by weight, and the force on it, -dL/dv · m along the sphere. It may be a row of
 * the batch, another row or a typed text, which then joins the batch; `v` is where it is, or is held.
 */
export function explainPoint(training, row, v, label) {
  const { batch, labels } = training;
  const d = training.model.d;
  const inside = batch.rows.indexOf(row);
  const at = inside < 0 ? batch.m : inside;
  const V = new Float64Array((inside < 0 ? batch.m + 1 : batch.m) * d);
  V.set(batch.V);
  V.set(v, at * d);
  const given = batch.rows.map((i) => labels[i]);
  if (inside < 0) given.push(label);
  const weighed = training.weigh(V, given);
  const force = new Float64Array(d);
  const pairs = [];
  for (let j = 0; j < weighed.m; j++) {
    const slope = weighed.G[at * weighed.m + j] + weighed.G[j * weighed.m + at];
    if (slope) pairs.push({ j, row: batch.rows[j], slope });
    for (let k = 0; k < d; k++) force[k] -= slope * V[j * d + k];
  }
  const along = force.reduce((total, x, k) => total + x * v[k], 0);
  force.forEach((x, k) => (force[k] = x - along * v[k]));
  pairs.sort((a, b) => Math.abs(b.slope) - Math.abs(a.slope));
  return { pairs, force, joined: inside < 0, weighed, at };
}
