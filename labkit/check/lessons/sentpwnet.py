"""Notebook 02: what is asked of encoders, ablations, thresholds, places and cross-encoders, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import sentpwnet as looks

PREDICTIONS = ("02.a", "02.b", "02.c", "02.d", "02.e", "02.f")

EXERCISES = (
    Exercise(
        "02.1",
        "Take each filter's largest answer over the words of a sentence, padding left out.",
        looks.largest_answers,
        (
            "Make the answers beside the sentence so small that they never win. Then: the maximum over the last axis.",
            "`answers.masked_fill(outside[:, None, :], ...)`: which number is below every answer, however negative?",
            "`answers.masked_fill(outside[:, None, :], -torch.inf).amax(2)`",
        ),
        "a sentence's vector depends on the sentence alone, not on how long its neighbour in the batch is",
    ),
    Exercise(
        "02.2",
        "Share out attention among the words of a sentence.",
        looks.attend,
        (
            "A softmax turns logits to shares that sum to 1. Over which axis? And what must a padded place get?",
            "Over axis 1. A place of -∞ has the share e^(-∞) = 0: `logits.masked_fill(outside, -torch.inf)`.",
            "`shares = logits.masked_fill(outside, -torch.inf).softmax(1)`; the line below it sums the states.",
        ),
        "all words take part, each with a share of its own",
    ),
    Exercise(
        "02.3",
        "Write the rule of the house: who leads by more than the larger spread, and what is a tie?",
        looks.tie,
        (
            "You need two means and two standard deviations. Of a few seeds, divide by n - 1.",
            "`statistics.stdev` and `np.std(x, ddof=1)` divide by n - 1. Compare the gap with the larger of the two.",
            '`gap = mean(a) - mean(b)`; "tie" if `abs(gap) <= max(stdev(a), stdev(b))`, else by the sign of `gap`.',
        ),
        "a difference inside the spread is a tie, whoever's name stands first",
    ),
    Exercise(
        "02.4",
        "At which similarity do a lone positive and a lone negative weigh the same?",
        looks.balance,
        (
            "Eq. 9 and 10 with one positive and one negative are σ(α(λ - S)) and σ(β(S - λ)). Set them equal.",
            "σ is the same function on both sides and rises: so α(λ - S) = β(S - λ). Solve for S.",
            "(α + β) S = (α + β) λ.",
        ),
        "below λ the pull wins, above it the push, whatever α and β are: λ decides where the space comes to rest",
    ),
    Exercise(
        "02.5",
        "Threshold from dev, accuracy on test.",
        looks.honest_accuracy,
        (
            "Two steps. Which of the four arrays may the first step see?",
            "`threshold = best_threshold(dev_scores, dev_labels)`; a pair is called the same if its score is above it.",
            "`((test_scores > threshold) == (test_labels == 1)).mean()`",
        ),
        "no label of test has been seen before it is scored",
    ),
    Exercise(
        "02.6",
        "What accuracy does pure noise report when its threshold is searched on the same 50 pairs?",
        looks.leak_of_noise,
        (
            "Draw 50 random scores; the labels are 0 and 1 in turn. Search the best threshold on these very pairs.",
            "`best_threshold(scores, labels)`, the share of right decisions; the same some hundred times; the mean.",
            "`np.mean([best_accuracy(random.random(50)) for _ in range(400)])` comes to 0.58.",
        ),
        "eight points out of nothing: that is what 'chosen on the test set' can be worth",
    ),
    Exercise(
        "02.7",
        "Find the larger cell around an S2 cell.",
        looks.parent,
        (
            "The level's marker is the lowest bit that is set, bit 2 (30 - level). Below it all bits are 0.",
            "`marker = 1 << (2 * (30 - level))`; `cell & -marker` clears all bits below the marker.",
            "`(cell & -marker) | marker`",
        ),
        "a larger cell takes away bits, two a level; decimal digits do not line up with them",
    ),
    Exercise(
        "02.8",
        "Count how often a network must read: bi-encoder and cross-encoder.",
        looks.readings,
        (
            "A bi-encoder makes a vector of each text and keeps it. A cross-encoder scores two texts together.",
            "The bi-encoder reads every query once and every sentence once.",
            "`(queries + sentences, queries * sentences)`",
        ),
        "a sum against a product",
    ),
)
