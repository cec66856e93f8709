// What is measured: hit@1 and inter/intra of sentences, as in labkit.evaluation, and how a batch's weight is spread.

/** Share of sentences whose most similar other one is of their class; ties never flatter, loners do not ask. */
export function hitAt1(V, labels, d) {
  let hits = 0;
  let asking = 0;
  labels.forEach((label, i) => {
    let own = -Infinity;
    let other = -Infinity;
    labels.forEach((theirs, j) => {
      if (i === j) return;
      let dot = 0;
      for (let k = 0; k < d; k++) dot += V[i * d + k] * V[j * d + k];
      if (theirs === label) own = Math.max(own, dot);
      else other = Math.max(other, dot);
    });
    if (own === -Infinity) return;
    asking += 1;
    if (own > other) hits += 1;
  });
  return hits / asking;
}

/** Mean distance from a class centre to the nearest other one, over that from a sentence to the centre of its class. */
export function interIntra(V, labels, d) {
  const classes = [...new Set(labels)];
  const centres = classes.map((label) => {
    const members = labels.map((_, i) => i).filter((i) => labels[i] === label);
    return Array.from({ length: d }, (_, k) => members.reduce((total, i) => total + V[i * d + k], 0) / members.length);
  });
  const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
  const inter = centres.map((one) => Math.min(...centres.filter((c) => c !== one).map((c) => distance(one, c))));
  const row = (i) => [...V.subarray(i * d, (i + 1) * d)];
  const intra = labels.map((label, i) => distance(row(i), centres[classes.indexOf(label)]));
  return mean(inter) / mean(intra);
}

/** Hit@1 and inter/intra on training sentences and on unseen ones, by their true classes. */
export function measure(training) {
  const { corpus, removed, model } = training;
  const V = training.vectors();
  const part = (unseen) => {
    const rows = corpus.rows.map((_, i) => i).filter((i) => corpus.rows[i].unseen === unseen && !removed.has(i));
    const labels = rows.map((i) => corpus.rows[i].label);
    const own = Float64Array.from(rows.flatMap((i) => [...V.subarray(i * model.d, (i + 1) * model.d)]));
    return { hit: hitAt1(own, labels, model.d), ratio: interIntra(own, labels, model.d) };
  };
  return { step: training.steps, train: part(false), unseen: part(true) };
}

/** The batch's pairs that weigh anything: [{i, j, slope}], (i, j) and (j, i) together, below 0 pulls. */
export function weighingPairs({ G, m }) {
  const pairs = [];
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < i; j++) {
      const slope = G[i * m + j] + G[j * m + i];
      if (slope) pairs.push({ i, j, slope });
    }
  }
  return pairs;
}

/** The same, the heaviest first. */
export function heaviestPairs(batch) {
  return weighingPairs(batch).sort((a, b) => Math.abs(b.slope) - Math.abs(a.slope));
}

/** How many of the batch's pairs carry this share of all its weight. */
export function carrying(batch, share = 0.9) {
  const pairs = heaviestPairs(batch);
  const total = pairs.reduce((sum, { slope }) => sum + Math.abs(slope), 0);
  let carried = 0;
  return total && 1 + pairs.findIndex(({ slope }) => (carried += Math.abs(slope)) >= share * total - 1e-12);
}

/** How many pairs (i, j), i < j, the batch has in all, and how many of them weigh anything. */
export function pairCounts(batch) {
  return { all: (batch.m * (batch.m - 1)) / 2, weighing: weighingPairs(batch).length };
}

/** Mean cosine of two sentences of different classes: 1 where all have collapsed into one point. */
export function meanOther({ S, known, m }) {
  return mean(known.N.flatMap((row, i) => row.map((j) => S[i * m + j])));
}

export const mean = (numbers) => numbers.reduce((total, x) => total + x, 0) / numbers.length;
