"""The exercises of the notebooks, a module each. A new notebook is one module here and one line in `LESSONS`."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.check.exercise import Exercise
from labkit.check.lessons import (
    film,
    locally_linear,
    pairs_and_weights,
    paraphrase,
    sentpwnet,
    thematic,
    together,
    tour,
    word_vectors,
)


@dataclass(frozen=True)
class Lesson:
    """A notebook's exercises by their keys, and the keys of its predictions."""

    exercises: dict[str, Exercise]
    predictions: tuple[str, ...]


def _lesson(exercises: tuple[Exercise, ...], predictions: tuple[str, ...]) -> Lesson:
    return Lesson({each.key: each for each in exercises}, predictions)


LESSONS: dict[str, Lesson] = {
    "00": _lesson(tour.EXERCISES, tour.PREDICTIONS),
    "01": _lesson(pairs_and_weights.EXERCISES, pairs_and_weights.PREDICTIONS),
    "02": _lesson(sentpwnet.EXERCISES, sentpwnet.PREDICTIONS),
    "03": _lesson(thematic.EXERCISES, thematic.PREDICTIONS),
    "04": _lesson(locally_linear.EXERCISES, locally_linear.PREDICTIONS),
    "05": _lesson(paraphrase.EXERCISES, paraphrase.PREDICTIONS),
    "06": _lesson(film.EXERCISES, film.PREDICTIONS),
    "07": _lesson(together.EXERCISES, together.PREDICTIONS),
    "08": _lesson(word_vectors.EXERCISES, word_vectors.PREDICTIONS),
}


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
