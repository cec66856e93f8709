"""Typical mistakes: what each of them would give, and the word for it."""

from __future__ import annotations

from typing import Any

from labkit.check.numbers import array, close


def slip(given: Any, slips: tuple[tuple[Any, str], ...]) -> str | None:
    """The word for the typical mistake that gives just this."""
    return next((says for wrong, says in slips if close(given, wrong)), None)


def wrong_entries(given: Any, right: Any) -> str:
    """Where the first wrong number stands."""
    found, wanted = array(given), array(right)
    if found.shape != wanted.shape:
        return f"the shape is {found.shape}, expected {wanted.shape}"
    place = tuple(int(each) for each in abs(found - wanted).argmax().reshape(1).tolist())
    row = divmod(place[0], wanted.shape[-1]) if wanted.ndim == 2 else place
    return f"at {row} yours is {found.flat[place[0]]:.4f}, expected {wanted.flat[place[0]]:.4f}"
