"""Which loss works best for labelled pairs, alone and with the rest of the batch as negatives?

The learning rate is chosen on dev with seed 0; test is scored with three seeds. Two encoders: a bag of word pieces, and
a linear map after all-MiniLM-L6-v2 if it is installed. `LABKIT_PAIRS` names another corpus.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from labkit.corpora import load
from labkit.corpora.records import Corpus
from labkit.evaluation.scores import score
from labkit.methods import METHODS
from labkit.pairs.losses import LOSSES
from labkit.pretrained import packaged_folder

SEEDS = (0, 1, 2)
# encoder -> the method, its settings, the setting of the learning rate and its candidates
ENCODERS: dict[str, tuple[str, dict[str, Any], str, tuple[float, ...]]] = {
    "bag": ("bag", {}, "learning_rate", (0.003, 0.01, 0.03)),
    "MiniLM, map": ("sentpwnet", {"encoder": "transformer", "layers": 0}, "layer_rate", (0.001, 0.003, 0.01)),
}


def main() -> str:
    """One row for each loss, two columns for each encoder: the labelled pairs alone, and the batch."""
    corpus = load(os.environ.get("LABKIT_PAIRS", "questions"))
    encoders = [name for name in ENCODERS if name == "bag" or packaged_folder()]
    head = [f"{name}, {which}" for name in encoders for which in ("labelled", "batch")]
    lines = [f"AUC on test of {corpus.name}: mean of three seeds (least to most), rate", ""]
    lines += [f"| loss | {' | '.join(head)} |", "| --- |" + " --- |" * len(head)]
    for loss in (name for name in LOSSES if name != "simcse"):
        cells = [cell(corpus, name, loss, labelled) for name in encoders for labelled in (True, False)]
        lines.append(f"| {loss} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if len(encoders) > 1:
        untrained = METHODS["sbert"]()
        untrained.fit(corpus)
        lines += ["", f"all-MiniLM-L6-v2 without training: {score(untrained, corpus).figures['auc']:.3f}"]
    return "\n".join(lines)


def cell(corpus: Corpus, encoder: str, loss: str, labelled: bool) -> str:
    """The AUC of a loss at the rate that is best on dev, or why it cannot be trained."""
    method, settings, rate_name, rates = ENCODERS[encoder]

    def fitted(rate: float, seed: int) -> Any:
        changed = {"epochs": 4, "loss": loss, "miner": "none", "labelled": labelled, rate_name: rate}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            one = METHODS[method](**settings, **changed)
            one.fit(corpus, seed=seed)
        return one

    try:
        rate = max(rates, key=lambda each: fitted(each, 0).selection(corpus.part("dev"))[1])
    except ValueError as reason:
        return str(reason).partition(":")[0]
    found = [score(fitted(rate, seed), corpus).figures["auc"] for seed in SEEDS]
    return f"{np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f}), {rate:g}"
