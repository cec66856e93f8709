"""The metrics of a comparison: one for each shape of corpus, used for selection on dev and reported on test.

    Pairs with labels    auc                by default; also accuracy, f1, precision, recall, probe
    graded Pairs         spearman           also pearson
    Labelled             probe              accuracy of a linear classifier; also knn_accuracy, hit@1
    new classes, Groups  hit@1              also hit@3, hit@10, map@r
    Triplets, Articles   triplet_accuracy

A `Metric` is a measure of the engine. On dev, it returns its own score. On test, it returns all scores with their
parts, its own first, and the cost of the model: microseconds per sentence, and megabytes. In its `folder` it keeps the
vectors of a frozen model, which are the same in all trials.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from labkit.arrays import unit
from labkit.atomic import in_place
from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Triplets
from labkit.corpora.relations import linked
from labkit.evaluation.classes import logistic_right, tuned_logistic
from labkit.evaluation.comparison import Parts
from labkit.evaluation.pairs import pair_features
from labkit.evaluation.scores import score, selection
from labkit.locks import locked
from labkit.method import Method
from labkit.methods import METHODS

PROBE = "probe"
NAMES = {
    "auc": "AUC",
    "accuracy": "accuracy",
    "f1": "F1",
    "spearman": "Spearman correlation",
    "pearson": "Pearson correlation",
    PROBE: "accuracy of a linear probe",
    "knn_accuracy": "accuracy of three nearest neighbours",
    "hit@1": "Hit@1",
    "triplet_accuracy": "triplet accuracy",
}
TIMED = 500  # sentences encoded to measure the time


@dataclass(frozen=True)
class Metric:
    """The metric that a comparison uses, given by its name."""

    name: str
    folder: Path | None = field(default=None, repr=False)

    @property
    def lowest(self) -> float:
        """The lowest possible value; the highest is 1."""
        return -1.0 if self.name in ("spearman", "pearson") else 0.0

    def __call__(self, method: Method, corpus: Corpus, split: str) -> tuple[dict[str, float], dict[str, Parts]]:
        costs = _costs(method, corpus, split) if split == "test" else {}
        method = encoded(method, corpus, self.folder)
        if split == "dev":
            return {self.name: self._on_dev(method, corpus)}, {}
        scores = score(method, corpus, split=split, apart=True)
        figures, parts = dict(scores.figures), dict(scores.parts)
        if self.name == PROBE:
            parts[PROBE] = Parts.by(_units(corpus.part(split)), probe(method, corpus, split))
            figures[PROBE] = parts[PROBE].figure
        self._require(parts, split)
        figures |= costs
        return {self.name: figures[self.name]} | figures, {name: parts[name] for name in parts if name in NAMES}

    def _on_dev(self, method: Method, corpus: Corpus) -> float:
        if self.name == PROBE:
            return float(probe(method, corpus, "dev").mean())
        name, value = selection(method, corpus.part("dev"))
        if name == f"dev_{self.name}" or (name, self.name) == ("dev_triplets", "triplet_accuracy"):
            return value
        figures = score(method, corpus, split="dev").figures
        self._require(figures, "dev")
        return figures[self.name]

    def _require(self, found: Mapping[str, Any], split: str) -> None:
        if self.name not in found:
            raise ValueError(
                f"{NAMES[self.name]} cannot be computed on the {split} rows; add rows with labels that the training "
                "rows have, or choose another metric"
            )


def encoded(method: Method, corpus: Corpus, folder: Path | None) -> Method:
    """The method with cached vectors of all sentences of a corpus, because several metrics need them."""
    texts = corpus.sentences()
    frozen = folder is not None and isinstance(method, METHODS["sbert"])
    rows = frozen_rows(method, texts, folder) if frozen and folder else method.encode(texts)
    return cast(Method, _Encoded(method, texts, rows))


def frozen_rows(method: Method, texts: Sequence[str], folder: Path) -> np.ndarray:
    """The vectors of a frozen model; the folder keeps them, so that each sentence is encoded once."""
    with locked(folder, patience=-1):
        file = folder / f"{vars(method)['weights'][:16]}.npz"
        stored: dict[str, np.ndarray] = {}
        with suppress(FileNotFoundError, ValueError, BadZipFile):  # a damaged file is written again
            stored = dict(np.load(file, allow_pickle=False))
        known: list[str] = json.loads(stored["texts"].tobytes()) if stored else []
        place = {text: row for row, text in enumerate(dict.fromkeys([*known, *texts]))}
        new = [*place][len(known) :]
        rows = stored.get("rows", np.zeros((0, 0), np.float32))
        if new:
            found = method.encode(new)
            rows = np.concatenate([rows, found]) if known else found
            with in_place(file) as beside:
                np.savez(beside, texts=np.frombuffer(json.dumps([*place]).encode(), np.uint8), rows=rows)
    return np.asarray(rows[[place[text] for text in texts]])


class _Encoded:
    def __init__(self, method: Method, texts: Sequence[str], rows: Any) -> None:
        self._method, self._rows = method, rows
        self._row = {text: row for row, text in enumerate(texts)}

    def encode(self, sentences: Sequence[str]) -> Any:
        rows = [self._row.get(text, -1) for text in sentences]
        return self._method.encode(sentences) if -1 in rows else self._rows[rows]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)


def metrics_for(corpus: Corpus) -> tuple[str, ...]:
    """The metrics for this corpus; the first is the default."""
    if isinstance(corpus, Pairs):
        return ("spearman", "pearson") if corpus.graded else ("auc", "accuracy", "f1", PROBE)
    if isinstance(corpus, Triplets | Articles):
        return ("triplet_accuracy",)
    if isinstance(corpus, Labelled):
        known, asked = set(corpus.part("train").labels), corpus.part("test").labels
        learned = sum(label in known for label in asked)
        if learned > len(asked) / 2:  # the probe is wrong about a few test rows of other classes
            return (PROBE, "knn_accuracy", "hit@1") if learned == len(asked) else (PROBE, "hit@1")
    assert isinstance(corpus, Labelled | Groups)
    return ("hit@1",)


def probe(method: Method, corpus: Corpus, split: str) -> np.ndarray:
    """Whether a logistic regression, fitted to the training rows and tuned on dev, is right for each row of a split."""
    return logistic_right(*(side for name in ("train", "dev", split) for side in _sides(method, corpus.part(name))))


def fitted_probe(method: Method, corpus: Corpus) -> Any:
    """The logistic regression of `probe`, as a classifier of scikit-learn."""
    return tuned_logistic(*(side for name in ("train", "dev") for side in _sides(method, corpus.part(name))))


def _sides(method: Method, part: Corpus) -> tuple[Any, list[str]]:
    """The features of the rows, and their labels."""
    if isinstance(part, Labelled):
        return unit(method.encode(list(part.texts))), list(part.labels)
    assert isinstance(part, Pairs)
    rows = unit(method.encode([*part.text_a, *part.text_b]))
    return pair_features(rows[: len(part)], rows[len(part) :]), [str(int(value)) for value in part.values]


def _units(part: Corpus) -> Any:
    """The unit of each row: rows that share a sentence, directly or through others, belong together."""
    if isinstance(part, Labelled):
        return list(part.texts)
    assert isinstance(part, Pairs)
    return linked(part)


def _costs(method: Method, corpus: Corpus, split: str) -> Mapping[str, float]:
    texts = corpus.part(split).sentences()[:TIMED]
    began = time.process_time()
    method.encode(texts)
    microseconds = 1e6 * (time.process_time() - began) / len(texts)
    run = method.run("finished")
    size = sum(array.nbytes for array in run.arrays.values()) + len(json.dumps(run.words))
    if isinstance(method, METHODS["sbert"]):  # its run stores only the name of the model
        model: Any = vars(method)["model"]
        size += sum(weights.nbytes for weights in model.parameters())
    return {"microseconds": microseconds, "megabytes": size / 1e6}
