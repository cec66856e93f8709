"""labkit: how sentence embeddings are learned, in five papers.

corpora -> text, vectors -> training: encoders, loop -> (n, d) -> pairs: S, P, N -> loss, weights, mining
                               |                                      |
              sentpwnet  thematic  sbert_lp  pthought  film  baselines: one fit and encode each (METHODS)
                                                 |
                       evaluation, projection, runs on disk, figures
                                                 |
               lab: course, papers' tables, shipped runs, command line · app · notebooks
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.methods import METHODS
    from labkit.play import playground

__all__ = ["METHODS", "__version__", "playground"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The table of methods is opened when it is first asked for: it needs torch, which takes seconds to import."""
    if name == "playground":
        from labkit.play import playground

        return playground
    if name == "METHODS":
        from labkit.methods import METHODS

        return METHODS
    raise AttributeError(f"module 'labkit' has no attribute {name!r}")
