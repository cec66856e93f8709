"""Notebook 06: what is asked of triplets, the Stiefel manifold and what FILM can say, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import film as looks

PREDICTIONS = ("06.a", "06.b", "06.c", "06.d", "06.e")

EXERCISES = (
    Exercise(
        "06.1",
        "Write the loss of eq. 5: the hinge of each anchor's mean, summed over the anchors.",
        looks.anchor_loss,
        (
            "Two steps: first a sum over the triplets of each anchor, then a hinge of each sum.",
            "`np.bincount(i, something, len(Y))` sums something over the triplets of each anchor.",
            "`np.maximum(0, np.bincount(i, nearer + m, len(Y)) / (size + 1)).sum()`",
        ),
        "an anchor is content when its triplets are in order on average; one bad one among good ones may be forgiven",
    ),
    Exercise(
        "06.2",
        "Write the margin m_i that makes the hinge of z_i + m_i the one of eq. 5.",
        looks.margin,
        (
            "m stands inside the sum over the triplets. How often is it added? By what is the sum divided?",
            "It is added |T_i| times, and the sum is divided by |T_i| + 1.",
            "`m * size / (size + 1)`",
        ),
        "an anchor with one triplet has half the margin that eq. 10 gives it",
    ),
    Exercise(
        "06.3",
        "By which factor is μ(0.01) larger than max(0, 0.01)?",
        looks.smoothing,
        (
            "Put x = 0.01 into eq. 18. σ(-0.01) is a little below one half.",
            "μ(x) = -log σ(-x) = log(1 + e^x), and at 0.01 that is log 2 and a little more.",
            "0.698 / 0.01",
        ),
        "near 0 the smoothed hinge is log 2, whatever goes in: there is no temperature that says what small means",
    ),
    Exercise(
        "06.4",
        "Write the Cayley step of eq. 24.",
        looks.cayley_step,
        (
            "A needs the gradient, an (r, d) matrix. φ itself is a number: eq. 24's A cannot be made of that.",
            "`A = G @ P.T - P @ G.T`. Then the inverse belongs to the factor with the plus sign: solve, do not invert.",
            "`np.linalg.solve(I + length / 2 * A, (I - length / 2 * A) @ P)` with `I = np.eye(len(P))`",
        ),
        "A is skew-symmetric, so the factor in front of P is a rotation, and a rotation keeps columns orthonormal",
    ),
    Exercise(
        "06.5",
        "Write the long Barzilai-Borwein length, eq. 26.",
        looks.long_step,
        (
            "tr(XᵀY) is the sum of the products of their entries: `(X * Y).sum()`.",
            "Above the line: how far P went, squared. Below: how F changed along the way, without its sign.",
            "`(dP * dP).sum() / abs((dP * dF).sum())`",
        ),
        "how far we went, over how much the slope changed on the way: one over the curvature",
    ),
    Exercise(
        "06.6",
        "Write what each pair of words adds to yᵀy', for all pairs of words at once.",
        looks.word_parts,
        (
            "yᵀy' = xᵀ Lᵀ L x'. Write it as a double sum over words u and v.",
            "The summand is x_u (LᵀL)_uv x'_v.",
            "`x_a[:, None] * (L.T @ L) * x_b[None, :]`",
        ),
        "nothing is estimated here: the parts add up to the similarity, and no other account of it is needed",
    ),
    Exercise(
        "06.7",
        "Write R of the pairwise rule: the larger of the two ranks.",
        looks.mutual_rank,
        (
            "The rank of b among a's neighbours: 1 + how many others are nearer to a than b is. a is no other.",
            "Take a out of its own list first: whoever is nearer than b, but neither a nor b.",
            "`1 + sum(S[a, c] > S[a, b] for c in range(len(S)) if c != a)`, the same with a and b swapped, and `max`.",
        ),
        "the larger rank counts: a sentence that is near to everybody does not make everybody its twin",
    ),
    Exercise(
        "06.8",
        "Choose the share of TF-IDF by the AUC on dev.",
        looks.best_share,
        (
            "Mix the two scores for each share, and take the AUC of each mixture.",
            "`share * plain + (1 - share) * learned`: a share of 1 is TF-IDF alone.",
            "`max(shares, key=lambda share: auc(labels, share * plain + (1 - share) * learned))`",
        ),
        "chosen on dev, to be reported on test: the other way round it would be a figure about luck",
    ),
)
