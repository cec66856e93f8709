"""The exercises of the notebooks, a module each. A new notebook is one module here and one line in `LESSONS`."""

from __future__ import annotations

from labkit.lab.course.exercise import Exercise, Lesson
from labkit.lab.course.exercises import (
    film,
    pairs_and_weights,
    pthought,
    sbert_lp,
    sentpwnet,
    thematic,
    together,
    tour,
    word_vectors,
)

_MODULES = (
    tour,
    pairs_and_weights,
    sentpwnet,
    thematic,
    sbert_lp,
    pthought,
    film,
    together,
    word_vectors,
)
LESSONS: dict[str, Lesson] = {module.LESSON.number: module.LESSON for module in _MODULES}


def exercise(key: str) -> Exercise:
    """The exercise of this key."""
    found = _notebook(key).exercises
    if key not in found:
        raise ValueError(f"key is {key!r}, expected one of {', '.join(found)}, the exercises of this notebook")
    return found[key]


def lesson(key: str) -> Lesson:
    """The lesson a prediction belongs to."""
    found = _notebook(key)
    if key not in found.predictions:
        raise ValueError(f"key is {key!r}, expected one of {', '.join(found.predictions)}, this notebook's predictions")
    return found


def _notebook(key: str) -> Lesson:
    number = str(key).partition(".")[0]
    if number not in LESSONS:
        raise ValueError(f"key is {key!r}, expected a notebook's number first, one of {', '.join(LESSONS)}, as in 01.3")
    return LESSONS[number]
