"""Our methods and losses with the interfaces of other libraries, to be evaluated, trained and served there.

evaluators   any method as a model for sentence-transformers' evaluators                     extra: sbert
mteb         any method as an encoder for MTEB 2                                             extra: mteb
sklearn      any method as a transformer of texts in scikit-learn's pipelines and searches
losses       any loss for sentence-transformers' trainer, or for pytorch-metric-learning     extra: sbert
explain      why two sentences are similar for any method or model                           extra: sbert for models
recorder     the vectors of any training as a run for Space, with a collapse alarm        extra: sbert for trainers
export       a method as a folder that works without labkit                               extra: export, sbert
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.adapters.recorder import Recorder

__all__ = ["Recorder"]


def __getattr__(name: str) -> Any:
    """Import the recorder on first use, because transformers takes seconds."""
    if name == "Recorder":
        from labkit.adapters.recorder import Recorder

        return Recorder
    raise AttributeError(f"module 'labkit.adapters' has no attribute {name!r}")
