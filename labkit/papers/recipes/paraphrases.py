"""Groups of sentences that mean the same: how near they lie, what the weight λ does, and a map of five groups."""

from __future__ import annotations

import numpy as np

from labkit.corpora import Groups
from labkit.evaluation import inter_intra
from labkit.methods.pthought import PThought
from labkit.papers.case import Case
from labkit.papers.records import Outcome
from labkit.projection import tsne
from labkit.scores import score

PICTURED = 5  # groups


def coherence(case: Case) -> Outcome:
    """P-coherence (eq. 4, 5) and what it must be read beside."""
    return Outcome(dict(score(case.fitted(), case.corpus, most=None).figures))


def emphasis(case: Case) -> Outcome:
    """(1 - λ) copy + (1 + λ) paraphrase on dev, its two parts, and the lift there, of the best epoch with this λ."""
    method = case.fitted()
    assert isinstance(method, PThought)
    losses = method.losses(case.corpus, split="dev")
    weight = method.settings.emphasis
    return Outcome(
        {
            "objective": (1 - weight) * losses["auto"] + (1 + weight) * losses["paraphrase"],
            "copy": losses["auto"],
            "paraphrase": losses["paraphrase"],
            "lift": max(row["dev_lift"] for row in method.history.rows),
        }
    )


def map_of_groups(case: Case) -> Outcome:
    """Five groups of the test split, drawn by the seed, as points of the plane (figure 3)."""
    test = case.corpus.part("test")
    assert isinstance(test, Groups)
    members = {name: texts for name, texts in test.members().items() if len(texts) > 2}
    drawn = np.random.default_rng(case.seed).choice(sorted(members), PICTURED, replace=False).tolist()
    rows = [(text, name) for name in drawn for text in members[name]]
    labels = [name for _, name in rows]
    encoded = case.fitted().encode([text for text, _ in rows])
    vectors = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded, np.float64)
    points = tsne(vectors, seed=case.seed).points
    found = tuple((label, float(x), float(y)) for label, (x, y) in zip(labels, points, strict=True))
    return Outcome({"ratio": inter_intra(vectors, labels).ratio}, found)
