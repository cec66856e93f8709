"""Notebook 07: what is asked about comparing methods, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import together as looks

PREDICTIONS = ("07.a", "07.b")

EXERCISES = (
    Exercise(
        "07.1",
        "Write the verdict on two methods from their figures over the seeds.",
        looks.verdict,
        (
            "Compare the difference of the means with the spreads.",
            "A spread is the standard deviation over the seeds, `ddof=1`. Take the larger one of the two.",
            "tie if abs(a.mean() - b.mean()) <= max(a.std(ddof=1), b.std(ddof=1)), else whoever is larger",
        ),
        "with three seeds this is a rough rule; it keeps most accidents out of a table",
    ),
    Exercise(
        "07.2",
        "Write AUC from scores and labels.",
        looks.auc,
        (
            "Take every couple of one pair that is the same and one that is not. Which has the higher score?",
            "`scores[labels == 1][:, None]` against `scores[labels == 0][None, :]` has them all at once.",
            "`(same > other).mean() + 0.5 * (same == other).mean()`",
        ),
        "no threshold in it: it asks whether the order is right",
    ),
    Exercise(
        "07.3",
        "Name the methods that tie with sentpwnet by AUC.",
        looks.tied,
        (
            "Use your verdict of 07.1 on every line and that of sentpwnet.",
            "`verdict(values['sentpwnet'], values[name]) == 'tie'`",
            "There is one, just below it in the table.",
        ),
        "two losses, one encoder, one figure: whoever says that one is better has not looked at the spread",
    ),
    Exercise(
        "07.4",
        "Write a split that never puts one group into both parts.",
        looks.split,
        (
            "The split must depend on the group's name and on nothing else.",
            "A hash turns a name into a number: `zlib.crc32(name.encode())` is the same on every machine.",
            '`["test" if zlib.crc32(group.encode()) % 5 == 0 else "train" for group in groups]`',
        ),
        "a leak between the parts is the most common way to a figure that is too good",
    ),
)
