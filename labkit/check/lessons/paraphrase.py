"""Notebook 05: what is asked of eq. 10, table B.9, P-coherence, collapse and decoding, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import paraphrase as looks

PREDICTIONS = ("05.a", "05.b", "05.c", "05.d")

EXERCISES = (
    Exercise(
        "05.1",
        "Write eq. 10.",
        looks.objective,
        (
            "What the paraphrase counts more, the copy counts less.",
            "The copy has the factor 1 - λ. The two factors add up to 2.",
            "`(1 - emphasis) * copy + (1 + emphasis) * paraphrase`",
        ),
        "a weighted sum, and no more: nothing in it ever finds λ",
    ),
    Exercise(
        "05.2",
        "Fit a line: its value at 0 and its slope.",
        looks.line,
        (
            "`np.polyfit(x, y, 1)` fits a line; in which order does it give its two numbers?",
            "The slope comes first. It is asked for second.",
            "`slope, start = np.polyfit(x, y, 1); return start, slope`",
        ),
        "a line says how eight experiments hang together, and which one does not",
    ),
    Exercise(
        "05.3",
        "Find both losses from the line's value at 0 and its slope.",
        looks.parts,
        (
            "Sort (1 - λ) copy + (1 + λ) paraphrase by powers of λ.",
            "The value at 0 is copy + paraphrase, the slope is paraphrase - copy.",
            "`(start - slope) / 2, (start + slope) / 2`",
        ),
        "an objective that is a line in λ comes from two losses that λ does not move",
    ),
    Exercise(
        "05.4",
        "Write P-coherence.",
        looks.coherence,
        (
            "Rows of length 1 first: then a product is a cosine. For each group, the mean over its pairs i < j.",
            "`np.triu_indices(len(S), 1)` gives each pair once, and no sentence with itself.",
            "`np.mean([(rows[g == c] @ rows[g == c].T)[np.triu_indices((g == c).sum(), 1)].mean() for c in set(g)])`",
        ),
        "it looks within groups only: what lies between them it never sees",
    ),
    Exercise(
        "05.5",
        "Mix every vector, at length 1, with one common vector.",
        looks.mixed,
        (
            "Divide each row by its length, so that t means the same for all.",
            "A share 1 - t of the row, a share t of the common vector.",
            "`(1 - t) * vectors / np.linalg.norm(vectors, axis=1, keepdims=True) + t * common`",
        ),
        "the same vector for every sentence, whatever it says: no one could call this understanding",
    ),
    Exercise(
        "05.6",
        "Write the root of the mean squared distance in a group of n, each of d dimensions divided by the group's own "
        "spread.",
        looks.own_distance,
        (
            "One dimension first: what is the mean of (x - y)² over all pairs of two different sentences?",
            "Over all n² ordered pairs it is 2 · variance = 2. The n pairs of a sentence with itself give 0.",
            "`math.sqrt(2 * n * d / (n - 1))`",
        ),
        "no vector stands in the answer: it is the same for every encoder",
    ),
    Exercise(
        "05.7",
        "Write greedy decoding.",
        looks.greedy,
        (
            "Each step gives log p of all words and the next state. Take the word with the largest, and read it next.",
            "Word 0 is the end: stop there, and do not write it.",
            "`log_p, state = step(state, word); word = int(log_p.argmax())`; if it is 0, break; else append it.",
        ),
        "each word is the best one at its place; that does not make the best sentence",
    ),
)
