// What a click shows: a sentence with the words that make its vector and its pairs, or a pair with its formula.

import { idsOf, wordsOf } from "./corpus.js";
import { el, formula } from "./dom.js";
import { explainPair, explainPoint, wordShares } from "./explain.js";
import { mean } from "./metrics.js";
import { LOSSES } from "./pairs.js";

const PAIRS = 5; // of a sentence
const WORDS = 5; // named beside a typed sentence
const n2 = (x) => x.toFixed(2).replace("-", "−");

/** A sentence, its words with their shares of the vector; what the model does not know is grey. */
function sentence(model, corpus, text) {
  const shares = wordShares(model, corpus, text).map(({ part, share }) => {
    if (share === null) return el("span", { className: "unknown" }, part);
    const mark = el("mark", { title: `${Math.round(100 * share)} % of the sentence's vector` }, part);
    mark.style.setProperty("--share", Math.max(0, Math.min(0.8, share)).toFixed(2));
    return mark;
  });
  return el("p", {}, ...shares);
}

const size = (x) => (x && x < 0.005 ? "< 0.01" : n2(x));

/** A pair's weight as the mean over its two anchors, so that it is in the unit of the curve. */
const weightWords = (slope) => `${slope < 0 ? "pulls" : "pushes"} ${size(Math.abs(slope) / 2)}`;

/** The heaviest pairs of a sentence, as buttons. */
function pairList(training, { pairs, at, joined }, choose) {
  const items = pairs.slice(0, PAIRS).map(({ j, row, slope }) => {
    const button = el(
      "button", { disabled: joined },
      el("span", { className: slope < 0 ? "pull" : "push" }, weightWords(slope)),
      el("span", {}, training.corpus.rows[row].text),
    );
    button.addEventListener("click", () => choose({ pair: [at, j] }));
    return el("li", {}, button);
  });
  return el("ol", {}, ...items);
}

/** A row: what it is, its pairs where it is or is held, and what can be done with it. */
export function rowCard(training, row, held, { choose, setLabel, remove }) {
  const { corpus, labels, model, removed } = training;
  const { text, label, unseen, ids } = corpus.rows[row];
  const v = held ?? new Float64Array(model.d);
  if (!held) model.encode(ids, v);
  const about = explainPoint(training, row, v, labels[row]);
  const wrong = labels[row] === label ? "" : ` with the wrong label ${corpus.classes[labels[row]]}`;
  const seen = removed.has(row) ? "removed from training" : `used in training${wrong}`;
  const status = unseen ? "unseen, not used in training" : seen;
  const force = Math.hypot(...about.force);
  const where = held ? "You hold it here. When you let go, it springs back, because it is the mean of its words."
    : about.joined ? "It is not in this batch. If it were, these would be its pairs:" : "Its heaviest pairs:";
  const parts = [
    el("small", {}, `${corpus.classes[label]} · ${status}`),
    sentence(model, corpus, text),
    el("small", {}, "Darker words contribute more to its vector. Grey words are left out."),
    el("small", {}, `The arrow is the sum of all pulls and pushes. Its length is ${size(force)}. ${where}`),
    about.pairs.length ? pairList(training, about, choose) : el("p", {}, "None of its pairs has any weight."),
  ];
  if (!unseen) parts.push(actions(training, row, { setLabel, remove }));
  return parts;
}

function actions({ corpus, labels, removed }, row, { setLabel, remove }) {
  const select = el("select", {}, ...corpus.classes.map((name, label) => el("option", { value: label }, name)));
  select.setAttribute("aria-label", "Label used for training");
  select.value = labels[row];
  select.addEventListener("change", () => setLabel(row, Number(select.value)));
  const button = el("button", {}, removed.has(row) ? "Put back" : "Remove");
  button.addEventListener("click", () => remove(row));
  return el("div", { className: "row" }, el("span", {}, "Label:"), select, button);
}

/** A pair of the batch: both sentences, and the formula of its weight with numbers. */
export function pairCard(training, [i, j], { choose }) {
  const { batch, corpus, settings } = training;
  const one = explainPair(settings, batch, i, j);
  const other = explainPair(settings, batch, j, i);
  const button = (at) => {
    const { label, text } = corpus.rows[batch.rows[at]];
    const made = el("button", {}, el("small", {}, corpus.classes[label]), el("span", {}, text));
    made.addEventListener("click", () => choose({ row: batch.rows[at] }));
    return el("li", {}, made);
  };
  const wrong = [i, j].some((at) => training.labels[batch.rows[at]] !== corpus.rows[batch.rows[at]].label);
  const kind = one.positive ? "the same label" : "different labels";
  return [
    el("small", {}, `A pair with ${kind}${wrong ? ", one of them wrong" : ""}, similarity ${n2(one.similarity)}`),
    el("ol", {}, button(i), button(j)),
    el("small", {}, `Its weight under ${LOSSES[settings.loss].title}, with the first sentence as the anchor:`),
    el("p", { className: "formula" }, ...formula(one.formula)),
    el("p", { className: "formula" }, "= ", ...formula(one.numbers), ` ${one.result}`),
    el("small", {}, `With the second sentence as the anchor ${other.result}`),
  ];
}

/** The answer to a typed sentence: the words that are not known, the topic that it lands in, and the words there. */
export function typedAnswer(training, text) {
  const { corpus, model } = training;
  const { d, E } = model;
  if (!text.trim()) return [];
  const unknown = wordsOf(text).filter((word) => !corpus.words.has(word));
  const left = unknown.length ? `Words that are too common or in no training sentence: ${unknown.join(", ")}. ` : "";
  const ids = idsOf(text, corpus.words);
  if (!ids.length) {
    const some = [...corpus.words.keys()].slice(0, WORDS).join(", ");
    const none = `None of its words is known, so the sentence has no place. Some known words are ${some}.`;
    return [el("p", {}, left + none)];
  }
  const v = new Float64Array(d);
  model.encode(ids, v);
  const along = (all, at) => v.reduce((total, x, k) => total + x * all[at * d + k], 0);
  const V = training.vectors();
  const trained = (label) => corpus.rows.map((_, row) => row).filter((row) => isOf(corpus.rows[row], label));
  const topics = corpus.classes.map((name, label) => [mean(trained(label).map((row) => along(V, row))), name]);
  const [[similarity, topic]] = topics.sort((a, b) => b[0] - a[0]);
  const cosine = (id) => along(E, id) / Math.hypot(...E.subarray(id * d, (id + 1) * d));
  const words = [...corpus.words].sort((a, b) => cosine(b[1]) - cosine(a[1])).slice(0, WORDS).map(([word]) => word);
  return [
    el("p", {}, `${left}The star is your sentence. Nearest topic: ${topic} (mean similarity ${n2(similarity)}).`),
    sentence(model, corpus, text),
    el("small", {}, `Darker words contribute more to its vector. Words in a similar direction: ${words.join(", ")}.`),
  ];
}

const isOf = (row, label) => row.label === label && !row.unseen;
