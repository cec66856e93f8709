"""Why two sentences are similar for any model: a method, a run, or a sentence-transformers model.

    explain(model, "a cat naps", "a cat sleeps")      model: an object, or the folder of a run or a model

In: the model and two sentences. Out: an `Explanation`. Its parts, one per word, add up to the cosine that the model's
own `encode` gives, except for the stated `gap`. A transformer is explained by integrated Jacobians, with enough steps
to bring the gap below `TOLERANCE`; a static model is explained exactly, and any other model by leaving words out.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from labkit.baselines.sbert import Sbert
from labkit.explanation import LEFT_OUT, Explanation
from labkit.method import Method
from labkit.methods import load_run
from labkit.pretrained import model_source, opened_model

TOLERANCE, ROUNDING = 0.01, 1e-5  # of a cosine
STEPS = (8, 16, 32, 64, 128, 256)  # numbers of steps of the integral


def explain(model: Any, a: str, b: str, *, way: str = "", steps: int = 0) -> Explanation:
    """Explain the cosine of two sentences by their words.

    `way` is one of `labkit.explanation.WAYS`, by default the model's best. `steps` is the number of steps of the
    integrated Jacobians; 0 chooses it.

    >>> from labkit import MeanVectors, load
    >>> method = MeanVectors().fit(load("captions").take(range(50)))
    >>> found = explain(method, "a dog runs", "a dog sleeps")
    >>> abs(sum(found.own_a) + sum(found.own_b) - found.cosine) < 1e-6
    True
    """
    method = method_of(model)
    if way == LEFT_OUT or method.ways[0] == LEFT_OUT:
        return method.explain(a, b, way=way, steps=steps)
    cosine = float(method.similarity_pairwise([a], [b])[0])
    integrated = (way or method.ways[0]) == "integrated"
    for count in STEPS if integrated and not steps else (steps,):
        found = method.explain(a, b, way=way, steps=count)
        if abs(found.similarity - cosine) > ROUNDING:  # the model's `encode` does more than its parts show
            found = replace(found, similarity=cosine, gap=cosine - sum(found.own_a) - sum(found.own_b))
        if abs(found.gap) <= TOLERANCE:
            break
    return found


def method_of(model: Any) -> Method:
    """Return the method for a run, a model, a folder of either, or a name on the Hub."""
    if isinstance(model, Method):
        return model
    if isinstance(model, str | Path):
        return load_run(model) if (Path(model) / "run.json").is_file() else Sbert.around(_model_named(str(model)))
    if not hasattr(model, "encode") or not hasattr(model, "tokenizer"):
        raise ValueError(
            f"model has type {type(model).__name__}, expected a fitted method, a SentenceTransformer, or the folder "
            "of a run or a model"
        )
    return Sbert.around(model)


def _model_named(name: str) -> Any:
    """Open a sentence-transformers model; the Hub, which may take minutes to fail, is tried only for a name."""
    source = model_source(name)
    owner, _, rest = name.partition("/")
    if not Path(source).is_dir() and (not rest or "/" in rest or owner in ("", ".", "..", "~") or Path(owner).is_dir()):
        raise ValueError(
            f"model {name!r} is neither the folder of a run or sentence-transformers model nor a name on the Hub, such "
            "as sentence-transformers/all-MiniLM-L6-v2; check the path"
        )
    return opened_model(source, "cpu")
