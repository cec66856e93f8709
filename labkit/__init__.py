"""labkit: how sentence embeddings are learned, in five papers.

    corpora -> text, vectors -> training: encoders, loop -> (n, d) -> pairs: S, P, N -> loss, weights, mining
                                   |                                      |
                  sentpwnet  thematic  sbert_lp  pthought  film  baselines: one fit and encode each (METHODS)
                                                     |
                           evaluation, projection, runs on disk, figures
                                                     |
                   course, papers' tables, shipped runs, command line · app · notebooks

>>> from labkit import Lsa, load
>>> method = Lsa(dimension=50).fit(load("topics"))
>>> method.encode("The chain of my bicycle slips.").shape
(50,)
>>> method.similarity("my bicycle", ["a worn chain", "a cake"]).shape
(1, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.adapters.explain import explain
    from labkit.baselines.averages import MeanVectors, Sif
    from labkit.baselines.counts import Lsa, Tfidf
    from labkit.baselines.pv_dbow import PvDbow
    from labkit.baselines.sbert import Sbert
    from labkit.baselines.transforms import AllButTheTop, Pca, Whitening
    from labkit.corpora import load
    from labkit.evaluation.scores import score
    from labkit.evaluation.threshold import threshold
    from labkit.film.deep import FilmDeep
    from labkit.film.method import Film
    from labkit.methods import METHODS, load_run
    from labkit.play import playground
    from labkit.pthought.method import PThought
    from labkit.sbert_lp.method import SbertLp
    from labkit.sentpwnet.method import Bag, SentPWNet, Siamese, Static, Triplet
    from labkit.thematic.method import Thematic
    from labkit.trials.bench import bench

# fmt: off
__all__ = [
    "METHODS", "AllButTheTop", "Bag", "Film", "FilmDeep", "Lsa", "MeanVectors", "PThought", "Pca", "PvDbow", "Sbert",
    "SbertLp", "SentPWNet", "Siamese", "Sif", "Static", "Tfidf", "Thematic", "Triplet", "Whitening", "__version__",
    "bench", "explain", "load", "load_run", "playground", "score", "threshold",
]
# fmt: on
__version__ = "0.2.0"
_PACKAGES = ("adapters", "corpora", "evaluation", "pairs", "projection")
_FUNCTIONS = {
    "METHODS": "methods",
    "bench": "trials.bench",
    "explain": "adapters.explain",
    "load": "corpora",
    "load_run": "methods",
    "playground": "play",
    "score": "evaluation.scores",
    "threshold": "evaluation.threshold",
}


def __getattr__(name: str) -> Any:
    """Import a name only when it is used, because torch alone takes seconds."""
    if name in _PACKAGES:
        return import_module(f"labkit.{name}")
    if name in _FUNCTIONS:
        return getattr(import_module(f"labkit.{_FUNCTIONS[name]}"), name)
    if name[:1].isupper():  # a method; Python asks here for modules, too, before it looks for their files
        from labkit.methods import METHODS

        for where in METHODS.data.values():
            module, _, kind = where.partition(":")
            if kind == name:
                return getattr(import_module(f"labkit.{module}"), name)
    raise AttributeError(f"module 'labkit' has no attribute {name!r}")
