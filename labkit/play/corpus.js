// Sentences with classes, their words as numbers, and the reading of a pasted CSV.
//
//   data     {name, classes: [name], rows: [[text, class, unseen]]}, as Python writes it or `fromCsv` reads it
//   corpus   {name, classes, words: Map, rows: [{text, label, unseen, ids}]}, `ids` the numbers of the known words

import { generator, shuffled } from "./random.js";

export const LIMITS = { characters: 1_000_000, rows: 1200, classes: 12, text: 300, name: 40 };
const UNSEEN_EVERY = 5; // of a pasted class, one sentence in so many is never trained on

/** The words of a text: runs of letters, digits and apostrophes, in lower case. */
export function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];
}

/** The numbers of a text's known words; a word that no training sentence has is left out. */
export function idsOf(text, words) {
  return wordsOf(text).map((word) => words.get(word)).filter((id) => id !== undefined);
}

/**
 * The first `classes` classes with `sentences` training sentences each. Words are numbered by these alone; a word that
 * is in half of the classes or more, such as "the", says little about any: without `common` it is left out.
 */
export function makeCorpus(data, { classes, sentences, common }) {
  const count = new Map();
  const rows = data.rows
    .map(([text, label, unseen]) => ({ text, label, unseen: Boolean(unseen) }))
    .filter(({ label }) => label < classes)
    .filter(({ label, unseen }) => {
      if (unseen) return true;
      count.set(label, (count.get(label) ?? 0) + 1);
      return count.get(label) <= sentences;
    });
  const labels = new Map(); // of each word
  for (const { text, label } of rows.filter((row) => !row.unseen)) {
    for (const word of wordsOf(text)) labels.set(word, (labels.get(word) ?? new Set()).add(label));
  }
  const telling = [...labels].filter(([, seen]) => common || seen.size < Math.max(2, classes / 2));
  const words = new Map(telling.map(([word], number) => [word, number]));
  for (const row of rows) row.ids = idsOf(row.text, words);
  const known = rows.filter((row) => row.ids.length);
  return { name: data.name, classes: data.classes.slice(0, classes), words, rows: known };
}

/** How many training sentences the largest class has. */
export function mostSentences(data) {
  const counts = data.classes.map((_, label) => data.rows.filter((row) => row[1] === label && !row[2]).length);
  return Math.max(...counts);
}

/** Labels for training: those of the corpus, a share of them flipped to another class, and those set by hand. */
export function givenLabels(corpus, { flipped, seed }, byHand) {
  const random = generator(seed, 7);
  const training = corpus.rows.map((_, i) => i).filter((i) => !corpus.rows[i].unseen);
  const order = shuffled(training, random); // a larger share flips the same sentences and more
  const shift = corpus.rows.map(() => 1 + Math.floor(random() * (corpus.classes.length - 1)));
  const labels = corpus.rows.map((row) => row.label);
  for (const i of order.slice(0, Math.round(flipped * order.length))) {
    labels[i] = (labels[i] + shift[i]) % corpus.classes.length;
  }
  for (const [i, label] of byHand) labels[i] = label;
  return labels;
}

/** A batch of sentences, class by class: at least `perClass` of each class in it, as far as there are so many. */
export function drawBatch(places, labels, { batch, perClass }, random) {
  const members = new Map();
  for (const i of shuffled(places, random)) members.set(labels[i], [...(members.get(labels[i]) ?? []), i]);
  const count = Math.min(members.size, Math.max(2, Math.round(batch / perClass)));
  const chosen = shuffled([...members.keys()], random).slice(0, count).sort((a, b) => a - b);
  return chosen.flatMap((label, at) => members.get(label).slice(0, Math.floor((batch + at) / count)));
}

/** The data of a pasted or chosen CSV with the columns text and label; an Error says what is wrong with it. */
export function fromCsv(text) {
  if (text.length > LIMITS.characters) throw new Error("The file is larger than 1 MB. Paste fewer rows.");
  const [head, ...lines] = csvRows(text);
  const columns = (head ?? []).map((name) => name.trim().toLowerCase());
  const [textAt, labelAt] = [columns.indexOf("text"), columns.indexOf("label")];
  if (textAt < 0 || labelAt < 0) throw new Error("The first line must name the columns text and label.");
  const pairs = lines
    .map((cells) => [cells[textAt]?.trim().slice(0, LIMITS.text), cells[labelAt]?.trim().slice(0, LIMITS.name)])
    .filter(([sentence, label]) => sentence && label && wordsOf(sentence).length)
    .slice(0, LIMITS.rows);
  const counts = new Map();
  for (const [, label] of pairs) counts.set(label, (counts.get(label) ?? 0) + 1);
  const largest = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1]);
  const classes = largest.slice(0, LIMITS.classes).map(([label]) => label);
  if (classes.length < 2) throw new Error("At least two labels with two sentences each are needed.");
  const seen = classes.map(() => 0);
  const rows = pairs
    .filter(([, label]) => classes.includes(label))
    .map(([sentence, label]) => {
      const number = classes.indexOf(label);
      return [sentence, number, ++seen[number] % UNSEEN_EVERY === 0];
    });
  return { name: "your sentences", classes, rows };
}

/** The cells of a CSV: commas, double quotes around cells, doubled inside them. */
function csvRows(text) {
  const rows = [[]];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (letter === '"' && !cell) quoted = true;
    else if (letter === "," || letter === "\n") {
      rows.at(-1).push(cell);
      cell = "";
      if (letter === "\n") rows.push([]);
    } else if (letter !== "\r") cell += letter;
  }
  rows.at(-1).push(cell);
  return rows.filter((row) => row.some((value) => value.trim()));
}
