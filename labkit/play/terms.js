// What the words of the page mean, one line each, shown where a word is met.

import { el } from "./dom.js";
import { MINERS } from "./mining.js";

export const TERMS = {
  Dot: "a sentence. Its vector is the mean of its words' vectors, scaled to unit length. Training moves the words.",
  Similarity: "the cosine of the angle between two sentences: 1 if they coincide, −1 if they are opposite.",
  Cosine: "the similarity of two sentences: 1 if they point in the same direction, −1 if in opposite directions.",
  Weight: "how strongly the loss moves a pair, m · |∂L/∂S|. It pulls pairs of the same class and pushes all others.",
  Temperature: "how much the loss favours the most similar pairs. The lower it is, the fewer pairs count.",
  Margin:
    "for triplets, how much more similar the positive must be than the negative. In the contrastive loss, the " +
    "similarity above which negatives are pushed.",
  Triplet: "a sentence, another from its topic, and one from a different topic. The first two should be more similar.",
  Positive: "a sentence with the same label as the anchor. The loss pulls the two together.",
  Negative: "a sentence with a different label from the anchor. The loss pushes the two apart.",
  Batch: "the sentences of one step. The loss compares each of them with all the others.",
  Miner: "the rule that decides which pairs of a batch the loss sees.",
  ε: "the tolerance of the informative miner: the larger it is, the more pairs count as nearly out of order.",
  Informative: MINERS.informative.note,
  Hardest: MINERS.hardest.note,
  InfoNCE: "a loss in which each positive competes with all negatives for a share of 1, by e^(similarity/τ).",
  "Supervised contrastive": "a loss like InfoNCE in which the positives of a sentence also compete with each other.",
  "Margin triplet": "a loss that counts a triplet until it is in order by the margin, and then ignores it.",
  Locality: "a loss that divides one pull among the positives of a sentence and one push among its negatives.",
  β: "a setting of the locality loss. The larger it is, the more of the push goes to the most similar negative.",
  "Hit@1":
    "the share of sentences whose nearest neighbour belongs to their true class, whatever label they were trained " +
    "with. 1 is best.",
  "Inter/intra": "the distance between a class and the nearest other class, divided by the distance within a class.",
  Unseen: "not used in training and drawn as rings. These sentences only move because their words do.",
};

const names = Object.keys(TERMS).sort((a, b) => b.length - a.length); // the longest match wins
const PATTERN = new RegExp(`(?<!\\p{L})(${names.join("|")})s?(?!\\p{L})`, "giu");
let count = 0; // for ids, by which a word points to its meaning

/** A text whose terms show their meaning on hover and focus; each once, as `seen` remembers. */
export function withTerms(text, seen = new Set()) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(PATTERN)) {
    const name = names.find((each) => each.toLowerCase() === match[1].toLowerCase());
    if (seen.has(name)) continue;
    seen.add(name);
    const from = match.index + match[0].length;
    const [stop] = text.slice(from).match(/^[,.:;)]*/); // which stays on the line of its word
    parts.push(text.slice(end, match.index), term(match[0], TERMS[name], stop));
    end = from + stop.length;
  }
  return [...parts, text.slice(end)];
}

function term(word, meaning, stop) {
  const id = `term-${(count += 1)}`;
  const button = el("button", { className: "term", type: "button", "aria-describedby": id }, word);
  return el("span", { className: "word" }, button, el("span", { id, className: "tip", role: "tooltip" }, meaning), stop);
}
