// Miners: which pairs of the batch the loss gets to see. (S, P, N) -> (P', N'), as in labkit.pairs.mining.

import { shuffled } from "./random.js";

const lowest = (row, places) => places.reduce((low, j) => Math.min(low, row[j]), Infinity);
const highest = (row, places) => places.reduce((high, j) => Math.max(high, row[j]), -Infinity);

/** Every pair. */
function all(S, P, N) {
  return { P, N };
}

/** Negatives with S_ij > min_{k∈P_i} S_ik - ε (eq. 11), positives with S_ij < max_{k∈N_i} S_ik + ε (eq. 12). */
function informative(S, P, N, { epsilon }) {
  const m = P.length;
  const row = (i) => S.subarray(i * m, (i + 1) * m);
  const floor = P.map((places, i) => lowest(row(i), places) - epsilon); // below it a negative is easy
  const ceiling = N.map((places, i) => highest(row(i), places) + epsilon); // above it a positive is easy
  return {
    P: P.map((places, i) => places.filter((j) => row(i)[j] < ceiling[i])),
    N: N.map((places, i) => places.filter((j) => row(i)[j] > floor[i])),
  };
}

/** Each anchor's least similar positive and most similar negative, the first among equals; both or neither. */
function hardest(S, P, N) {
  const m = P.length;
  const best = (places, i, sign) => places.reduce((a, b) => (sign * S[i * m + b] > sign * S[i * m + a] ? b : a));
  const complete = (i) => P[i].length && N[i].length;
  return {
    P: P.map((places, i) => (complete(i) ? [best(places, i, -1)] : [])),
    N: N.map((places, i) => (complete(i) ? [best(places, i, 1)] : [])),
  };
}

/** This share of all positives and of all negatives, drawn without looking at S. */
function randomPairs(S, P, N, { share }, random) {
  return { P: drawn(P, share, random), N: drawn(N, share, random) };
}

function drawn(lists, share, random) {
  const pairs = lists.flatMap((row, i) => row.map((j) => [i, j]));
  const kept = lists.map(() => []);
  for (const [i, j] of shuffled(pairs, random).slice(0, Math.round(share * pairs.length))) kept[i].push(j);
  return kept;
}

export const MINERS = {
  all: { title: "All", mine: all, dials: [], note: "Every pair of the batch counts." },
  informative: {
    title: "Informative",
    mine: informative,
    dials: ["epsilon"],
    note: "Leaves out pairs in order by ε: negatives farther than all positives, positives nearer than all negatives.",
  },
  hardest: {
    title: "Hardest",
    mine: hardest,
    dials: [],
    note: "Keeps two pairs per sentence: the one with its farthest positive and the one with its nearest negative.",
  },
  random: {
    title: "Random",
    mine: randomPairs,
    dials: ["share"],
    note: "Keeps a share of the pairs, drawn at random.",
  },
};
