// What the words of the page mean, one line each: shown where a word is met, and all of them under "More".

import { el } from "./dom.js";
import { MINERS } from "./mining.js";

export const TERMS = {
  Dot: "a sentence: the mean of its words' vectors, at unit length. The word vectors are what learns.",
  Similarity: "the cosine of the angle between two sentences: 1 where they coincide, −1 where they are opposite.",
  Cosine: "the similarity of two sentences: 1 where they point the same way, −1 where they point opposite ways.",
  Weight: "how strongly the loss moves the pair, m · |∂L/∂S|: it pulls pairs of one class, and pushes the others.",
  Temperature: "how sharply the loss tells similar pairs from less similar ones; the lower, the fewer pairs count.",
  Margin:
    "the lead in similarity that a triplet must reach; in the contrastive loss, the similarity above which it pushes.",
  Triplet: "a sentence, one of its topic and one of another topic. The first two should be more similar.",
  Positive: "a sentence with the same label as the one in question: the loss pulls the two together.",
  Negative: "a sentence with another label than the one in question: the loss pushes the two apart.",
  Batch: "the sentences of one step; the loss compares each of them with all others.",
  Miner: "the rule that decides which pairs of a batch the loss sees.",
  ε: "how close to being out of order a pair must be for the informative miner to keep it.",
  Informative: MINERS.informative.note,
  Hardest: MINERS.hardest.note,
  InfoNCE: "a loss in which each positive competes with all negatives for a share of 1, by e^(similarity/τ).",
  "Supervised contrastive": "a loss like InfoNCE, but the positives of a sentence compete with one another, too.",
  "Margin triplet": "a loss in which a triplet counts until it is in order by the margin, and then not at all.",
  Locality: "a loss that divides one pull among a sentence's positives and one push among its negatives.",
  β: "how sharply locality picks: the larger, the more of the push goes to the most similar negative.",
  "Hit@1":
    "the share of sentences whose nearest other sentence is of their true class; 1 is best. Flipped labels do not count.",
  "Inter/intra": "the distance from a class to the nearest other one, over that within a class; larger is better.",
  Unseen: "never trained on: drawn as rings. These sentences go where the words they share with others go.",
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
    parts.push(text.slice(end, match.index), term(match[0], TERMS[name]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

function term(word, meaning) {
  const id = `term-${(count += 1)}`;
  const button = el("button", { className: "term", type: "button", "aria-describedby": id }, word);
  return el("span", {}, button, el("span", { id, className: "tip", role: "tooltip" }, meaning));
}
