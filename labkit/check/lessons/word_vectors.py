"""Notebook 08: what is asked of counts and word vectors, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import word_vectors as looks

PREDICTIONS = ("08.a", "08.b")

EXERCISES = (
    Exercise(
        "08.1",
        "How much do 'the' and 'sleeps' count together in the three sentences?",
        looks.counted,
        (
            "In which of the sentences do both stand, and how far apart?",
            "Twice at distance 2.",
            "2 times 1/2.",
        ),
        "near neighbours count more than far ones, and no window's edge has to be chosen with great care",
    ),
    Exercise(
        "08.2",
        "Write PPMI of a table of counts.",
        looks.information,
        (
            "Divide the table by its sum: p(i, j). Its row sums are p(i), its column sums p(j).",
            "`p / (p.sum(1, keepdims=True) * p.sum(0, keepdims=True))`, then the logarithm, then the maximum with 0.",
            "Where a count is 0 the logarithm is -∞; `np.maximum(0, ...)` turns that into 0.",
        ),
        "what is left is only what is above chance: most of the table is zero",
    ),
    Exercise(
        "08.3",
        "Find the nearest word: the largest cosine, itself left out.",
        looks.neighbour,
        (
            "A cosine is a dot product of vectors of length 1.",
            "Divide each row by its length first; then one matrix product gives all cosines.",
            "Put -∞ at the word's own place before `argmax`.",
        ),
        "frequent words have long vectors; the cosine looks at the direction only",
    ),
    Exercise(
        "08.4",
        "Write a sentence's vector: the mean of its words' vectors.",
        looks.average,
        (
            "Which words have a vector at all?",
            "Collect the vectors of the known words, a word that stands there twice two times, and take the mean.",
            "With no known word, `np.zeros` of the right length.",
        ),
        "the simplest sentence vector, and the one that every method of this lab has to beat",
    ),
    Exercise(
        "08.5",
        "Which kind of pairs that are not the same looks most alike to the mean of words?",
        looks.fooled,
        (
            "Look at the table: label 0 is 'not the same'.",
            "Take the highest mean cosine among the lines with label 0.",
            "0.82 is the highest of them.",
        ),
        "one word in eight hardly moves a mean, and can make another question of it",
    ),
)
