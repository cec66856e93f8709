"""Notebook 04: what is asked of weights, eigenvectors, choosing, new sentences and reversals, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import locally_linear as looks

PREDICTIONS = ("04.a", "04.b", "04.c", "04.d")

EXERCISES = (
    Exercise(
        "04.1",
        "Write the weights that rebuild one sentence from its neighbours.",
        looks.weights,
        (
            "Three steps: G from the differences, one linear system, one division.",
            "`G = (near - x) @ (near - x).T`, and `reg * np.trace(G)` goes on its diagonal.",
            "`w = np.linalg.solve(G + reg * np.trace(G) * np.eye(len(G)), np.ones(len(G)))`, then `w / w.sum()`.",
        ),
        "no inverse, no loop: one small linear system for each sentence",
    ),
    Exercise(
        "04.2",
        "Of how many free directions can the weights be changed while x is still rebuilt exactly?",
        looks.freedom,
        (
            "Count the unknowns, then the equations.",
            "k unknowns; d equations from Σ w_j x_j = x, and one more from Σ w_j = 1.",
            "`max(0, k - d - 1)`",
        ),
        "where something is free, G has no inverse; reg settles it: of all such weights, nearly the smallest",
    ),
    Exercise(
        "04.3",
        "Write the embedding: rows y with YᵀY/m = I, of the smallest cost, without the constant.",
        looks.embedded,
        (
            "`np.linalg.eigh(M)` gives eigenvalues, rising, and eigenvectors as columns of length 1.",
            "The first column is the constant. The next p are wanted, times a factor.",
            "`np.sqrt(len(M)) * np.linalg.eigh(M)[1][:, 1 : p + 1]`",
        ),
        "no descent and no learning rate: the best Y is read off",
    ),
    Exercise(
        "04.4",
        "How many eigenvalues of M are 0?",
        looks.zeros,
        (
            "Find the sets of sentences that rebuild each other, and that no arrow leaves.",
            "Sentences 0, 1 and 2 know only each other. Who else does?",
            "{0, 1, 2} and {3, 4, 5}. Sentence 6 is rebuilt from both, and rebuilds nobody.",
        ),
        "on each such set one value may be chosen freely, and all other sentences follow from these values",
    ),
    Exercise(
        "04.5",
        "Write the honest figure: dev chooses, test reports.",
        looks.chosen,
        (
            "Where is dev largest? What stands there in test?",
            "`dev.argmax()` is a number into the flattened table.",
            "`test.flat[dev.argmax()]`",
        ),
        "test is asked once, after everything has been chosen",
    ),
    Exercise(
        "04.6",
        "Write where a new sentence goes.",
        looks.placed,
        (
            "Its neighbours and its weights come from the old space, X.",
            "`near = np.linalg.norm(X - x, axis=1).argsort()[:k]`",
            "`rebuild(x, X[near], reg) @ Y[near]`",
        ),
        "the same mixture in the new space: nothing is solved anew",
    ),
    Exercise(
        "04.7",
        "Count what was mended and what was spoilt.",
        looks.both_ways,
        (
            "Couples (i, j) with gold[i] > gold[j]: right where score[i] > score[j].",
            "`asked = gold[:, None] > gold` is such a table; make one of each score too.",
            "`(asked & ~old & new).sum(), (asked & old & ~new).sum()`",
        ),
        "one example shows that something changed; only both counts show whether it was for the better",
    ),
)
