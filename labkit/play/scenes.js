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
      "Drag the temperature to the left: fewer pairs carry the weight.",
      "At 0.02, fewer than one pair in six carry nearly all the weight; at 2.00, three in four do.",
    ],
    control: "temperature",
    readout: "carrying",
    settings: { loss: "infonce", temperature: 0.1 },
    until: 400,
  },
  {
    name: "margin",
    title: "A margin within reach, and one beyond it",
    sentences: [
      "Raise the margin to 2: two cosines differ by at most 2, so no triplet ever satisfies it, and every pair " +
        "pulls or pushes forever.",
      "Take it back to 0.1: every triplet is soon in order, no pair weighs anything any more, and training " +
        "stops by itself.",
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
      "With a margin of 1 nothing is pushed apart, and shared words such as “the” drag every sentence into one spot. " +
        "Look at the similarity below the slider: hit@1 rises all the same, for it only asks who is nearest.",
      "Drag the margin down to 0.5: what is too similar is pushed again, and the heap falls apart into topics.",
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
      "One label in ten is wrong (×), and wrong labels make hard pairs. At step 60, the hardest pairs alone put more " +
        "than a third of the weight on pairs with a wrong label; the informative ones, nearly half.",
      "Choose All: about a fifth, their fair share. But margin triplet (under More) looks for hard pairs itself: " +
        "nearly half again. Hit@1 uses the true labels.",
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
      "The informative miner keeps the pairs that are out of order, or nearly so: nine in ten at the start, and " +
        "none once the topics have parted. What is left out costs no work: that is why one mines.",
      "Drag ε to 1: half of the pairs stay in to the end, though most of them are in order.",
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
      "On a circle, a topic between two others has no way round them: after 300 steps, between a third and two " +
        "thirds of the sentences have a nearest neighbour of another topic.",
      "Choose the sphere: with one number more, nearly every sentence finds its topic.",
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
      "After 40 steps from the same start, the batch of 8 (left, 28 pairs per step) has one sentence in three next " +
        "to its topic; the batch of 96 (right, 4,560 pairs per step) has nearly all.",
      "Press Play again: the small batch gets there, too, but needs ten times the steps.",
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
        "contrastive (right) are one loss: the spaces are equal.",
      "Take three per topic: the two positives compete on the right only, and the sides part.",
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
      "With three training sentences per topic, hit@1 is perfect at once for these, and stays below 0.3 for " +
        "unseen ones (rings): it has learned sentences, not topics.",
      "Drag to 32: words recur, and unseen sentences reach about 0.6.",
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
      "Locality with β = 10 (left) and 80 (right): β divides the push among a sentence's negatives, but the " +
        "hardest miner keeps only one, so the sides stay alike.",
      "Choose All: now there is something to divide, and the sides part.",
    ],
    control: "miner",
    fresh: true,
    readout: "apart",
    settings: { loss: "locality", miner: "hardest", base: 0, beta: 10 },
    right: { beta: 80 },
    until: 200,
  },
];
