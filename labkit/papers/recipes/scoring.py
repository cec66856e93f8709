"""Train a method on a corpus and score it on test: the most common rows of the tables, paper by paper.

`scored` is the most common recipe; then come FILM's rows, paraphrases, pretrained models, sections of articles, and
grades. In: a `Case`. Out: a `Result`.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from labkit.arrays import unit
from labkit.corpora import Articles, Corpus, Pairs
from labkit.corpora.relations import linked
from labkit.evaluation import Parts, correlation, correlation_parts, inter_intra, relatedness
from labkit.evaluation.scores import called_parts, score
from labkit.film.method import Film
from labkit.film.rule import MOST, curves, hard_log_loss, mutual_ranks, two_level
from labkit.method import Method
from labkit.papers.recipes import Case
from labkit.papers.records import Recipe
from labkit.projection import pca
from labkit.pthought.method import PThought
from labkit.thematic.sections import ALGORITHMS, FIGURES, section_agreement
from labkit.trials.engine import Result
from labkit.trials.metrics import probe

Compute: TypeAlias = Callable[[Case], Result]
PICTURED = 5  # classes
PICTURED_SENTENCES = 8  # sentences per class in a picture


def scored(case: Case) -> Result:
    """The scores for the corpus's shape; after training, also the last epoch's means and the best dev score."""
    method = case.fitted()
    scores = score(method, case.corpus, apart=True, most=None)
    last = method.history.rows[-1] if method.history.rows else {}
    kept = {name: value for name, value in last.items() if name.startswith("kept_")}
    best = {
        name: max(row[name] for row in method.history.rows if name in row) for name in last if name.startswith("dev_")
    }
    return Result({**scores.figures, **kept, **best}, parts=scores.parts)


def all_the_same(case: Case) -> Result:
    """The scores of labelling every test pair as same, without training."""
    test = _pairs(case)
    return _of_parts(called_parts(np.ones(len(test), bool), test))


def classified(case: Case) -> Result:
    """Classify pairs by a logistic regression on |u - v| and u · v instead of a threshold on the cosine."""
    test = _pairs(case)
    right, same = probe(case.fitted(), case.corpus, "test"), np.asarray(test.labels) == 1
    return _of_parts(called_parts(np.where(right, same, ~same), test))


def _pairs(case: Case, split: str = "test") -> Pairs:
    part = case.corpus.part(split)
    assert isinstance(part, Pairs)
    return part


def _of_parts(parts: dict[str, Parts]) -> Result:
    """The scores that these parts add up to."""
    return Result({name: each.figure for name, each in parts.items()}, parts=parts)


def picture(case: Case) -> Result:
    """Five classes of the test split, drawn from the seed (section 4.4).

    `ratio` is inter / intra of the vectors, `ratio of the picture` the same in the plane of two principal directions.
    """
    texts, labels = _drawn(case, PICTURED_SENTENCES)
    vectors = np.asarray(case.fitted().encode(texts), np.float64)
    plane = pca(vectors, seed=case.seed).points
    return Result(
        {"ratio": inter_intra(vectors, labels).ratio, "ratio of the picture": inter_intra(plane, labels).ratio}
    )


def _drawn(case: Case, most: int | None = None) -> tuple[list[str], list[str]]:
    """Test sentences from five classes with at least three sentences, up to `most` per class, and their classes."""
    members: dict[str, list[str]] = {}
    for text, label in zip(*case.corpus.part("test").classified(), strict=True):
        members.setdefault(label, []).append(text)
    enough = sorted(label for label, texts in members.items() if len(texts) >= 3)
    labels = np.random.default_rng(case.seed).choice(enough, PICTURED, replace=False).tolist()
    rows = [(text, label) for label in labels for text in members[label][:most]]
    return [text for text, _ in rows], [label for _, label in rows]


# --- FILM: its descent, the rule of mutual neighbours over k, the words of a row of L, its cost -----------------------

PAPERS_K = 36


def descent(case: Case) -> Result:
    """`7 objective` and `7 gradient` of each step; the last step is repeated if the descent ended early."""
    rows = [row for row in case.fitted().history.rows if "objective" in row]
    figures: dict[str, float] = {}
    for step in range(1, int(case.settings["iterations"]) + 1):
        row = rows[min(step, len(rows) - 1)]
        figures |= {f"{step} objective": row["objective"], f"{step} gradient": row["stationarity"]}
    return Result(figures)


def neighbour_curves(case: Case) -> Result:
    """`5 tpr` and so on for k = 5: rates and log losses on test; probabilities of yes and no come from dev."""
    method = case.fitted()
    parts = [_pairs(case, split) for split in ("dev", "test")]
    dev, test = (curves(_ranks(method, part), part.labels) for part in parts)
    columns = {name: test.rates[name] for name in ("tpr", "tnr", "fpr", "fnr")}
    columns |= {"two-level": two_level(dev, test), "hard": hard_log_loss(test)}
    return Result({f"{k} {name}": float(values[k - 1]) for name, values in columns.items() for k in range(1, MOST + 1)})


def _ranks(method: Method, part: Pairs) -> np.ndarray:
    """The worse of the two ranks of each pair's sentences among each other's neighbours, (n,)."""
    texts, pairs = part.numbered()
    return mutual_ranks(method.encode(texts), pairs)


def mutual_neighbours(case: Case) -> Result:
    """The paper's rule: two sentences are the same if each is among the other's 36 nearest (section 4)."""
    test = _pairs(case)
    return _of_parts(called_parts(_ranks(case.fitted(), test) <= PAPERS_K, test))


def readable_rows(case: Case) -> Result:
    """How few words dominate a row of L (each word by `L · rms of its TF-IDF`), and how well rows recur in a refit.

    `half`: the fewest words whose squares add up to half; `ten`: the share of the largest ten.
    """
    method = case.fitted()
    assert isinstance(method, Film)
    stability = method.measure_stability(case.corpus, rounds=2, seed=case.seed)
    squares = np.sort((method.L.astype(np.float64) * method.words.rms) ** 2, axis=1)[:, ::-1]
    shares = np.cumsum(squares, axis=1) / squares.sum(axis=1, keepdims=True)
    half, ten = (shares < 0.5).sum(axis=1) + 1, shares[:, min(9, shares.shape[1] - 1)]
    first = {"half": float(half[0]), "ten": float(ten[0]), "stability": float(stability[0])}
    means = {"all half": float(half.mean()), "all ten": float(ten.mean()), "all stability": float(stability.mean())}
    return Result(first | means)


def cost_of_training(case: Case) -> Result:
    """CPU minutes of a run without any cache, and its accuracy."""
    start = time.process_time()
    method = replace(case, runs=None, memory={}).fitted()
    minutes = (time.process_time() - start) / 60
    return Result({"minutes": minutes, "accuracy": score(method, case.corpus).figures["accuracy"]})


# --- groups of sentences that mean the same: coherence, the weight λ, a map -------------------------------------------


def coherence(case: Case) -> Result:
    """P-coherence (eq. 4, 5) with its companion scores."""
    return Result(dict(score(case.fitted(), case.corpus, most=None).figures))


def emphasis(case: Case) -> Result:
    """(1 - λ) copy + (1 + λ) paraphrase on dev, its two parts, and the lift on dev, at the best epoch with this λ."""
    method = case.fitted()
    assert isinstance(method, PThought)
    losses = method.losses(case.corpus, split="dev")
    weight = method.settings.emphasis
    objective = (1 - weight) * losses["auto"] + (1 + weight) * losses["paraphrase"]
    lift = max(row["dev_lift"] for row in method.history.rows)
    return Result({"objective": objective, "copy": losses["auto"], "paraphrase": losses["paraphrase"], "lift": lift})


def parted_groups(case: Case) -> Result:
    """The distances between five groups of the test split, drawn from the seed (figure 3)."""
    texts, labels = _drawn(case)
    encoded = case.fitted().encode(texts)
    vectors = np.asarray(encoded.toarray() if hasattr(encoded, "toarray") else encoded, np.float64)
    return Result({"ratio": inter_intra(vectors, labels).ratio})


# --- pretrained encoders ---------------------------------------------------------------------------------------------

# : the paper's row -> the name of the published model
MODELS = {
    "Avg.BERT embeddings": "bert-base-uncased",
    "Avg. BERT embeddings": "bert-base-uncased",
    "BERT cls-vector": "bert-base-uncased-cls",
    "Sentence-BERT": "bert-base-nli-mean-tokens",
    "SBERT base": "bert-base-nli-mean-tokens",
    "SBERT large": "bert-large-nli-mean-tokens",
}


def pretrained(row: str, run: Compute = scored, **more: Any) -> Recipe:
    """The recipe of a row with a pretrained model."""
    return Recipe(run, "sbert", {"model": MODELS[row]}, **{"seeds": 1, **more})


def at_hand(model: str) -> str | None:
    """The name with which to open the model; None if the model is not on this machine.

    The folder LABKIT_MODELS is searched first, then the Hub's cache. Nothing is downloaded.
    """
    root = os.environ.get("LABKIT_MODELS")
    if root and (Path(root) / model).is_dir():
        return str(Path(root) / model)
    hub = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface") / "hub"
    for owner in ("", "sentence-transformers--"):
        if (hub / f"models--{owner}{model}").is_dir():
            return owner.replace("--", "/") + model
    return None


# --- sentences from sections of articles: as triplets, or clustered --------------------------------------------------

RESTARTS = 5


class SideBySide:
    """The concatenated unit vectors of two methods, whose cosine is the mean of the two cosines."""

    def __init__(self, first: Any, second: Any) -> None:
        self._methods = first, second

    def encode(self, sentences: Sequence[str], batch_size: int = 32) -> np.ndarray:
        return np.hstack([unit(method.encode(list(sentences), batch_size)) for method in self._methods])

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        return np.asarray((unit(a) * unit(b)).sum(axis=1))


def method_of(case: Case) -> Any:
    """The method of this cell, or its two networks concatenated, which are shared with the rows of the single networks.

    A method learns from the case's articles, or from triplets drawn from a corpus in `case.also`. Two networks are
    trained separately, as in the paper, each on its own corpus if `case.also` has two.
    """
    corpora = list(case.also.values())
    if not case.sides:
        return case.fitted(corpora[0] if corpora else None)
    lessons = corpora if len(corpora) == 2 else [corpora[0] if corpora else None] * 2
    pairs = zip(case.sides, lessons, strict=True)
    return SideBySide(*(case.fitted(corpus, **settings) for settings, corpus in pairs))


def told_apart(case: Case) -> Result:
    """The share of test triplets whose positive is nearer than the negative, by the method's own similarity."""
    assert isinstance(case.corpus, Articles)
    scores = score(method_of(case), case.corpus, apart=True)
    return Result(scores.figures, parts=scores.parts)


def clustered(case: Case) -> Result:
    """Cluster each test article's opening sentences, with as many clusters as sections; means over articles."""
    assert isinstance(case.corpus, Articles)
    agreement = section_agreement(method_of(case), case.corpus.part("test"), seed=case.seed, restarts=RESTARTS)
    count = len(agreement.articles)
    parts = {
        f"{algorithm} {name}": Parts.by(range(count), agreement.values(algorithm, name))
        for algorithm in ALGORITHMS
        for name in FIGURES
    }
    outcome = _of_parts(parts)
    return replace(outcome, figures={**outcome.figures, "articles": float(count)})


# --- grades of relatedness: compared with similarities, or learned from two vectors -----------------------------------


def learned_grades(case: Case) -> Result:
    """Grades learned from |u - v| and u · v (section 5.2 of the thematic paper, 5.3 of P-thought); also the cosine.

    The method is trained on `case.also` if given, else on the training pairs.
    """
    train, test = (graded(case.corpus, split) for split in ("train", "test"))
    method = method_of(case)
    scale = range(math.floor(min(train.values)), math.ceil(max(train.values)) + 1)
    sides = [method.encode(list(texts)) for part in (train, test) for texts in (part.text_a, part.text_b)]
    learned = relatedness(sides[0], sides[1], train.scores, sides[2], sides[3], test.scores, grades=scale)
    cosines, units = _cosines(sides[2], sides[3]), linked(test)
    parts = correlation_parts(learned.predicted, test.scores, units)
    parts["mse"] = Parts.by(units, (learned.predicted - test.scores) ** 2)
    parts |= {f"cosine {name}": each for name, each in correlation_parts(cosines, test.scores, units).items()}
    plain = correlation(cosines, test.scores)
    figures = {"pearson": learned.pearson, "spearman": learned.spearman, "mse": learned.mse}
    return Result(figures | {"cosine pearson": plain.pearson, "cosine spearman": plain.spearman}, parts=parts)


def grades_by_year(case: Case) -> Result:
    """Pearson and Spearman of the method's own similarity with the grades of the test pairs."""
    test = graded(case.corpus, "test")
    scores = _similarities(case.fitted(), test)
    whole = correlation(scores, test.scores)
    figures = {"pearson": whole.pearson, "spearman": whole.spearman}
    return Result(figures, parts=correlation_parts(scores, test.scores, linked(test)))


def graded(corpus: Corpus, split: str) -> Pairs:
    """The pairs of a split, which must have grades."""
    part = corpus.part(split)
    if not isinstance(part, Pairs) or not part.graded:
        raise ValueError(f"corpus {corpus.name!r} has no grades; use a dataset of pairs with a score")
    return part


def _similarities(method: Method, pairs: Pairs) -> np.ndarray:
    rows = method.encode([*pairs.text_a, *pairs.text_b])
    return np.asarray(method.similarity_pairwise(rows[: len(pairs)], rows[len(pairs) :]), np.float64)


def _cosines(a: Any, b: Any) -> np.ndarray:
    products = unit(a).multiply(unit(b)) if hasattr(a, "multiply") else unit(a) * unit(b)
    return np.asarray(products.sum(axis=1), np.float64).ravel()
