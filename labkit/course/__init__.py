"""The functions for notebooks: `from labkit.course import answer, hint, predict, progress, recall, solve`.

Notebooks are generated: each source gives the student's notebook and the solved one.

notebooks/src/01_*.py -> notebooks/01_*.ipynb              exercises open, no outputs
                      -> notebooks/solutions/01_*.ipynb    solved and run, with outputs

python -m labkit.course.notebooks [01 ...]          generates both (`make notebooks`)
python -m labkit.course.plans [NAME ...] measures the ablations whose tables the notebooks show
"""

from typing import Any

__all__ = ["answer", "array", "hint", "predict", "progress", "recall", "solve"]


def __getattr__(name: str) -> Any:
    """The functions of `answers`, imported on first use, because the command line needs none of the checks."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from labkit.course import answers

    return getattr(answers, name)
