"""Which loss for labelled pairs: every loss, on the labelled pairs alone and with the rest of the batch as negatives.

The learning rate of each is chosen on dev with seed 0; test is scored once with three seeds. Two encoders: a bag of
word pieces, and a linear map after all-MiniLM-L6-v2, where it is installed. `LABKIT_PAIRS` names another corpus.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from labkit.corpora import load
from labkit.corpora.records import Corpus
from labkit.evaluation.scores import score
from labkit.methods import METHODS
from labkit.pairs.losses import LOSSES
from labkit.pretrained import PACKAGED, packaged_folder

SEEDS = (0, 1, 2)
ENCODERS: Mapping[str, tuple[str, dict[str, Any], tuple[float, ...]]] = {
    "bag": ("bag", {"epochs": 4}, (0.003, 0.01, 0.03)),
    "MiniLM, map": ("sentpwnet", {"encoder": "transformer", "layers": 0, "epochs": 4}, (0.001, 0.003, 0.01)),
}


def main() -> str:
    """A row for each loss, two columns for each encoder: the labelled pairs alone, and the batch."""
    corpus = load(os.environ.get("LABKIT_PAIRS", "questions"))
    encoders = [name for name in ENCODERS if name == "bag" or packaged_folder()]
    head = [f"{name}, {which}" for name in encoders for which in ("labelled", "batch")]
    lines = [f"AUC on test of {corpus.name}: mean of three seeds (least to most), rate", ""]
    lines += [f"| loss | {' | '.join(head)} |", "| --- |" + " --- |" * len(head)]
    for loss in (name for name in LOSSES if name != "simcse"):
        cells = [cell(corpus, name, loss, labelled) for name in encoders for labelled in (True, False)]
        lines.append(f"| {loss} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if PACKAGED and len(encoders) > 1:
        untouched = METHODS["sbert"]()
        untouched.fit(corpus)
        lines += ["", f"all-MiniLM-L6-v2, untouched: {score(untouched, corpus).figures['auc']:.3f}"]
    return "\n".join(lines)


def cell(corpus: Corpus, encoder: str, loss: str, labelled: bool) -> str:
    """The AUC of a loss at the rate that is best on dev, or why it learns nothing."""
    _, _, rates = ENCODERS[encoder]
    try:
        dev = {
            rate: fitted(corpus, encoder, loss, labelled, rate, 0).selection(corpus.part("dev"))[1] for rate in rates
        }
    except ValueError as reason:
        return str(reason).partition(":")[0]
    rate = max(dev, key=lambda each: dev[each])
    found = [score(fitted(corpus, encoder, loss, labelled, rate, seed), corpus).figures["auc"] for seed in SEEDS]
    return f"{np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f}), {rate:g}"


def fitted(corpus: Corpus, encoder: str, loss: str, labelled: bool, rate: float, seed: int) -> Any:
    """A method with this loss, without a miner."""
    method, settings, _ = ENCODERS[encoder]
    name = "layer_rate" if settings.get("encoder") else "learning_rate"
    changed = {**settings, "loss": loss, "miner": "none", "labelled": labelled, name: rate}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one = METHODS[method](**changed)
        one.fit(corpus, seed=seed)
    return one
