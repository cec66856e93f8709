"""Notebook 00: what the tour asks, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import tour as looks

PREDICTIONS = ("00.a", "00.b")

EXERCISES = (
    Exercise(
        "00.1",
        "Write the cosine of two vectors.",
        looks.cosine,
        (
            "The dot product says how much two vectors go the same way, times both lengths.",
            "Divide the dot product by the two lengths.",
            "`u @ v / (np.linalg.norm(u) * np.linalg.norm(v))`",
        ),
        "1 means the same direction, 0 nothing in common; length plays no part",
    ),
    Exercise(
        "00.2",
        "Write Hit@1: the share of sentences whose nearest other sentence has their label.",
        looks.hit,
        (
            "A sentence is nearest to itself: what must happen to the diagonal of S first?",
            "Set the diagonal to -∞. `S.argmax(1)` is then the nearest other sentence of each row.",
            "`np.fill_diagonal(S, -np.inf)`, then `(labels[S.argmax(1)] == labels).mean()`.",
        ),
        "one number for how well a space knows the classes, measured in the space and not in a picture",
    ),
    Exercise(
        "00.3",
        "Write the inter/intra ratio.",
        looks.ratio,
        (
            "First the centre of each class: the mean of its rows.",
            "Intra: the mean distance of the sentences to their own centre. Inter: the mean, over the centres, of the "
            "distance to the nearest other one.",
            "Fill the diagonal of the centres' distances with +∞ before taking the minimum.",
        ),
        "above 1 the classes are farther apart than they are wide",
    ),
    Exercise(
        "00.4",
        "Write a sentence of your own that lands among those on cooking.",
        looks.own_sentence,
        (
            "What would somebody write who stands in a kitchen and needs advice?",
            "Words that many sentences on cooking share pull most: soup, oven, sauce.",
            "Something like: Why does my sauce burn in the pan every time?",
        ),
        "a new sentence needs no training: its words bring it to its place",
    ),
)
