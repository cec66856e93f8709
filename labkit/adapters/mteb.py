"""Use any method as an encoder in MTEB 2. In: a fitted method. Out: `AsEncoder`.

    mteb.evaluate(AsEncoder(method), tasks)        mteb.mock_run(AsEncoder(method))

MTEB passes batches of texts and information about the task; only the texts are used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from labkit.adapters.evaluators import AsModel
from labkit.extras import require
from labkit.method import Method
from labkit.runs import Run, versions


class AsEncoder(AsModel):
    """MTEB's EncoderProtocol, implemented by a method in its current state; after fitting again, make a new encoder.

    >>> from labkit import Lsa, load
    >>> encoder = AsEncoder(Lsa(dimension=10).fit(load("questions").take(range(100))))  # doctest: +SKIP
    >>> encoder.encode([{"text": ["How do I keep a cat?", "What does a cat need?"]}]).shape  # doctest: +SKIP
    (2, 10)
    """

    def __init__(self, method: Method, name: str | None = None) -> None:
        super().__init__(method)
        self.mteb_model_meta = model_meta(method, name or f"labkit/{method.name}")

    def encode(self, inputs: Iterable[Mapping[str, Any]], **options: Any) -> np.ndarray:  # type: ignore[override]
        """Encode batches of {"text": [...]} into one matrix (n, d)."""
        return np.asarray(super().encode([text for batch in inputs for text in batch["text"]], **options))


def model_meta(method: Method, name: str) -> Any:
    """Return the record that MTEB stores with its scores; it makes no claims about the licence of weights that others
    have trained."""
    require("mteb", "mteb")
    from mteb.models.model_meta import ModelMeta, ScoringFunction

    if "/" not in name:
        raise ValueError(f"name is {name!r}, but MTEB needs owner/model; add an owner and a slash")
    run = method.run("finished")
    known = {
        "name": name,
        "revision": revision(run),
        "n_parameters": sum(array.size for array in run.arrays.values()),
        "memory_usage_mb": sum(array.nbytes for array in run.arrays.values()) / 2**20,
        "embed_dim": method.encode([]).shape[1],
        "framework": ["PyTorch"],
        "similarity_fn_name": ScoringFunction(method.similarity_name),
        "use_instructions": False,
    }
    required = (name for name, each in ModelMeta.model_fields.items() if each.is_required())
    return ModelMeta(**{**dict.fromkeys(required), **known})


def revision(run: Run) -> str:
    """Return our version and a checksum of everything that determines the vectors.

    MTEB caches its scores by name and revision. If two runs of one method had the same revision, the second would get
    the scores of the first.
    """
    digest = hashlib.sha256(json.dumps([run.method, dict(run.settings), dict(run.words)]).encode())
    for name, array in sorted(run.arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return f"{versions()['labkit']}-{digest.hexdigest()[:12]}"
