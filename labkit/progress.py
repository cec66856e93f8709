"""One callback for everything that takes longer than a second: `progress(done, total, what)`.

Library code calls it and draws nothing; terminal, notebook and app each hand in a drawer of their own. `total` is
None where the end is not known. Work that nobody watches gets `silent`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int | None, str], None]


def silent(done: int, total: int | None, what: str) -> None:
    """Draw nothing."""


@contextmanager
def terminal(unit: str = "") -> Iterator[Progress]:
    """A bar on standard error with the time left; only where a person looks on, and only after a second."""
    from tqdm import tqdm

    bar: tqdm | None = None

    def draw(done: int, total: int | None, what: str) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=total, unit=unit, unit_scale=True, delay=1, leave=False, disable=None)
        bar.set_description(what, refresh=False)
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield draw
    finally:
        if bar is not None:
            bar.close()
