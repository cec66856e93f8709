"""Rows of encoders that others have trained: they run where the user has the model, in the sentence-transformers form.

A model is looked for by its name in the folder that LABKIT_MODELS names, then among those that the hub's own cache
holds. Nothing is fetched.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from labkit.papers.case import Case
from labkit.papers.recipes.scoring import scored
from labkit.papers.records import Outcome, Recipe

#: the paper's row -> the model's name, as its authors publish it
MODELS = {
    "Avg.BERT embeddings": "bert-base-uncased",
    "Avg. BERT embeddings": "bert-base-uncased",
    "BERT cls-vector": "bert-base-uncased-cls",
    "Sentence-BERT": "bert-base-nli-mean-tokens",
    "SBERT base": "bert-base-nli-mean-tokens",
    "SBERT large": "bert-large-nli-mean-tokens",
}


def pretrained(row: str, run: Callable[[Case], Outcome] = scored, **more: Any) -> Recipe:
    """The recipe of such a row."""
    return Recipe(run, "sbert", {"model": MODELS[row]}, cost=20.0, **{"random": False, **more})


def at_hand(model: str) -> str | None:
    """What to call the model by, None where it is not on this machine."""
    root = os.environ.get("LABKIT_MODELS")
    if root and (Path(root) / model).is_dir():
        return str(Path(root) / model)
    hub = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface") / "hub"
    for owner in ("", "sentence-transformers--"):
        if (hub / f"models--{owner}{model}").is_dir():
            return owner.replace("--", "/") + model
    return None
