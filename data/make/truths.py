"""Two files with facts that only the generators know, for the package to read.

minimal_pairs.csv       pairs of sentences that differ in one known way, with the words that differ
questions.meanings.csv  the bundled questions, each with a number; questions with the same meaning share it
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from labkit.corpora.catalogue import KINDS, PAIRED
from labkit.corpora.files import write_rows

from . import minimal, questions
from .language import Row

PAIRS = 1000  # of each kind


def write(folder: Path) -> None:
    """Write both files into a folder."""
    write_rows(minimal_rows(), folder / "minimal_pairs.csv")
    write_rows(meaning_rows(), folder / "questions.meanings.csv")


def minimal_rows() -> Iterator[Row]:
    """The minimal pairs of each corpus and kind."""
    for corpus in PAIRED:
        for kind in KINDS:
            for pair, _ in islice(minimal.found(corpus, kind, 0, "test"), PAIRS):
                changed = {"changed_a": pair.changed_a, "changed_b": pair.changed_b}
                yield {**vars(pair), **{column: " ".join(sorted(words)) for column, words in changed.items()}}


def meaning_rows() -> Iterator[Row]:
    """Each bundled question once, with the number of its meaning."""
    units = islice(questions.meanings(questions.SEED), questions.UNITS)
    meant = dict(chain.from_iterable(unit.items() for unit in units))
    numbers: dict[questions.Intent, int] = {}
    return ({"text": text, "meaning": numbers.setdefault(intent, len(numbers))} for text, intent in meant.items())
