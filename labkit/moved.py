"""The paths that modules had before 0.2, for notebooks that people hold copies of: `from labkit.check import answer`.

An import that finds nothing under its old path is answered with the names of the modules that stand there now. Nothing
in the lab itself imports by an old path, and no new module is listed here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: the old path -> where its names are now, all below `labkit`
MOVED = {
    "articles": "thematic.making thematic.rules thematic.triplets",
    "check": "lab.course.answers",
    "check.trying": "lab.course.exercise",
    "cli": "lab.cli.main",
    "corpora.classes": "corpora.relations",
    "corpora.location": "corpora.places",
    "corpora.points": "corpora.relations",
    "course": "lab.course",
    "course.ablation": "lab.course.ablation",
    "course.coverage": "lab.course.variants",
    "course.plans": "lab.course.plans",
    "demonstrations": "lab.shipped",
    "difficulty": "baselines.difficulty",
    "encoders": "training.encoders",
    "evaluation.separation": "evaluation.classes",
    "figures.colouring": "figures.clusters",
    "figures.encoders": "figures.themes",
    "figures.leaders": "figures.comparison",
    "figures.training": "figures.epochs",
    "film.rows": "film.reading",
    "film.sources": "film.triplets",
    "film.tfidf": "film.triplets",
    "film.walking": "film.stiefel",
    "history": "runs",
    "jobs": "runs",
    "journey": "projection.epochs",
    "leaderboard": "evaluation.leaderboard",
    "locally_linear": "sbert_lp",
    "methods.contract": "method methods",
    "methods.matrix": "baselines.base",
    "methods.sbert_lp": "sbert_lp.method",
    "methods.sentpwnet": "sentpwnet.method",
    "neighbourhood": "projection.placement",
    "papers": "lab.papers.published",
    "papers.beside": "lab.papers.stored",
    "papers.published": "lab.papers.published",
    "papers.published.pthought": "lab.papers.published.pthought",
    "papers.recipes": "lab.papers.recipes",
    "papers.recipes.cross": "lab.papers.recipes.speed",
    "papers.stored": "lab.papers.stored",
    "paraphrase": "pthought.batches pthought.network pthought.writing",
    "paraphrase.companions": "pthought.view",
    "paraphrase.planes": "pthought.view",
    "paraphrase.search": "pthought.writing",
    "paraphrase.task": "pthought.task",
    "paraphrase.writing": "pthought.writing",
    "reader": "training.reader",
    "reembedding": "sbert_lp.view sbert_lp.sweeps",
    "scores": "evaluation.scores",
    "sweeps": "sbert_lp.sweeps",
    "thematic.clustering": "thematic.sections",
    "thematic.losses": "thematic.network",
    "weighing": "sentpwnet.view sentpwnet.wording",
}


class _Old(ModuleType):
    """A module under its old path, whose names are those of the modules that stand there now."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            for module in MOVED[self.__name__.removeprefix("labkit.")].split():
                new = import_module(f"labkit.{module}")
                if hasattr(new, name):
                    return getattr(new, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        old = name.removeprefix("labkit.")
        return ModuleSpec(name, self, is_package=True) if old != name and old in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Old(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def remember() -> None:
    """Let imports by old paths be answered, after all others have found nothing."""
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.append(_Finder())
