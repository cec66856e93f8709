// The ten scenes: settings, the one control that is shown, and two sentences, each true of what is then seen.
//
//   control   the hyperparameter below the sentences        right   what differs on the right of two sides
//   readout   the number below the control (readouts.js)    until   steps after which the scene rests, until touched
//   fresh     whether another value of the control begins again, for what it changes shows from the start only
//   also      hyperparameters that its sentences speak of, too: who moves one has not left the scene
//
// A test runs every scene and asserts its sentences: who changes one, changes the test.

export const SCENES = [
  {
    name: "temperature",
    title: "Who gets the weight?",
    sentences: [
      "At 2.00, three quarters of the pairs carry 90 % of the weight. Drag the temperature to the left and watch the " +
        "number below it.",
      "At 0.02, it takes less than a quarter of the pairs, and hardly any once the topics have formed. A low " +
        "temperature trains on the most difficult pairs only.",
    ],
    control: "temperature",
    readout: "carrying",
    settings: { loss: "infonce", temperature: 2 },
    until: 400,
  },
  {
    name: "margin",
    title: "A margin within reach, and one beyond it",
    sentences: [
      "Raise the margin to 2. Two cosines differ by at most 2, so no triplet ever reaches this margin, and every " +
        "pair pulls or pushes forever.",
      "Set it back to 0.1. Soon every triplet is in order, no pair has any weight left, and training stops by itself.",
    ],
    control: "margin",
    readout: "weighing",
    settings: { loss: "margin-triplet", margin: 0.1 },
    until: 300,
  },
  {
    name: "collapse",
    title: "Collapse",
    sentences: [
      "With a margin of 1, nothing is pushed apart, and shared words such as “the” pull all sentences into one spot. " +
        "Watch the similarity below the slider. Hit@1 rises anyway, because it only looks at the nearest sentence.",
      "Drag the margin down to 0.5. Negatives that are too similar are pushed apart again, and topics form.",
    ],
    control: "margin",
    readout: "other",
    settings: { loss: "contrastive", margin: 1, common: 1 },
    until: 150,
  },
  {
    name: "wrong-labels",
    title: "The hardest pairs may be the wrong ones",
    sentences: [
      "One label in ten is wrong (×), and wrong labels make hard pairs. At step 60, pairs with a wrong label get more " +
        "than a third of the weight from the hardest miner, and nearly half from the informative one.",
      "Choose All, and they get their fair share, about a fifth. But margin triplet (under More) looks for hard " +
        "pairs itself: nearly half again. Hit@1 uses the true labels.",
    ],
    control: "miner",
    also: ["loss"],
    fresh: true,
    readout: "wrong",
    settings: { loss: "supcon", miner: "hardest", flipped: 0.1, dimension: 32 },
    until: 60,
  },
  {
    name: "mining",
    title: "What mining leaves out",
    sentences: [
      "The informative miner keeps pairs that are out of order or nearly so: nine in ten at the start, and none " +
        "once the topics are separated. The other pairs cost no work, which is the point of mining.",
      "Drag ε to 1, and half of the pairs are kept until the end, although most of them are in order.",
    ],
    control: "epsilon",
    fresh: true,
    readout: "kept",
    settings: { loss: "locality", miner: "informative", epsilon: 0.1 },
    until: 200,
  },
  {
    name: "circle",
    title: "Twelve topics on a circle",
    sentences: [
      "On a circle, a topic cannot get past its two neighbours. After 300 steps, between a third and two thirds of " +
        "the sentences still have a nearest neighbour from another topic.",
      "Choose the sphere. With one more number per vector, nearly every sentence finds its topic.",
    ],
    control: "dimension",
    readout: "hit",
    settings: { loss: "contrastive", dimension: 2, classes: 12, batch: 60 },
    until: 300,
  },
  {
    name: "batch",
    title: "A batch of 8 against 96",
    sentences: [
      "Watch 40 steps from the same start. Batches of 8 (left, 28 pairs per step) bring one sentence in three next to " +
        "its topic, and batches of 96 (right, 4,560 pairs) bring nearly all.",
      "Then press Play. The small batches get there, too, but need ten times as many steps.",
    ],
    control: "batch",
    readout: "hits",
    settings: { loss: "infonce", batch: 8, perClass: 4 },
    right: { batch: 96 },
    until: 40,
  },
  {
    name: "two-names",
    title: "One loss under two names",
    sentences: [
      "With two sentences per topic, every sentence has a single positive, and InfoNCE (left) and supervised " +
        "contrastive (right) are the same loss. Both spaces are equal.",
      "Choose three per topic. The two positives of a sentence now compete, but only on the right, and the two spaces " +
        "drift a little apart.",
    ],
    control: "perClass",
    fresh: true,
    readout: "apart",
    settings: { loss: "infonce", batch: 12, perClass: 2 },
    right: { loss: "supcon" },
    until: 150,
  },
  {
    name: "by-heart",
    title: "Learned by heart",
    sentences: [
      "With three training sentences per topic, Hit@1 is soon perfect for these, but stays below 0.3 for unseen " +
        "ones (rings). The model has learned sentences, not topics.",
      "Drag the slider to 32. Now words occur in many sentences, and unseen sentences reach about 0.65.",
    ],
    control: "sentences",
    readout: "unseen",
    settings: { loss: "infonce", dimension: 32, sentences: 3 },
    until: 200,
  },
  {
    name: "beta",
    title: "When β hardly matters",
    sentences: [
      "Locality with β = 10 (left) and 80 (right). β divides the push among the negatives of a sentence, but the " +
        "hardest miner keeps only one negative, so both sides stay alike.",
      "Choose All. Now there is something to divide, and the sides diverge.",
    ],
    control: "miner",
    fresh: true,
    readout: "apart",
    settings: { loss: "locality", miner: "hardest", base: 0, beta: 10 },
    right: { beta: 80 },
    until: 200,
  },
];
