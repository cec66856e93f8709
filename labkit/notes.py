"""What there is to say beside a result, in a sentence: a note.

It goes to whoever collects the notes of this call, and is a `UserWarning` where nobody does. Warnings belong to the
whole process: of two visitors of the app whose files were read at once, one would hear what is wrong with the other's.

    with collected() as notes:
        corpus = read_corpus("mine.csv")
    print(notes)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)  # each thread has its own


def note(text: str, *, stacklevel: int = 1) -> None:
    """Say it; `stacklevel` counts from the caller, as that of `warnings.warn`."""
    notes = _NOTES.get()
    if notes is None:
        warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)
    else:
        notes.append(text)


@contextmanager
def collected() -> Iterator[list[str]]:
    """The notes of all that is called inside, in this thread."""
    notes: list[str] = []
    before = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(before)
