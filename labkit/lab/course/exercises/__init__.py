"""The exercises of the notebooks, a module each (SentPWNet's training has its own); a new notebook is one more here."""

from __future__ import annotations

from labkit.lab.course.exercise import Exercise, Lesson
from labkit.lab.course.exercises import (
    break_it,
    film,
    from_something,
    own_training,
    pairs_and_weights,
    pthought,
    sbert_lp,
    sentpwnet,
    thematic,
    together,
    tour,
    which_loss,
    why_alike,
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
    break_it,
    which_loss,
    from_something,
    why_alike,
)
LESSONS: dict[str, Lesson] = {module.LESSON.number: module.LESSON for module in _MODULES}


def exercise(key: str) -> Exercise:
    """The exercise of this key."""
    exercises = _notebook(key).exercises
    if key not in exercises:
        raise ValueError(f"key is {key!r}, expected one of {', '.join(exercises)}, the exercises of this notebook")
    return exercises[key]


def lesson(key: str) -> Lesson:
    """The lesson a prediction belongs to."""
    lesson = _notebook(key)
    if key not in lesson.predictions:
        raise ValueError(
            f"key is {key!r}, expected one of {', '.join(lesson.predictions)}, this notebook's predictions"
        )
    return lesson


def _notebook(key: str) -> Lesson:
    number = str(key).partition(".")[0]
    if number not in LESSONS:
        raise ValueError(f"key is {key!r}, expected a notebook's number first, one of {', '.join(LESSONS)}, as in 01.3")
    return LESSONS[number]
