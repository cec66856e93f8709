"""The six corpora that come with the lab: made by a generator from a seed, kept as a file one can read.

In: a name. Out: the corpus from its committed file; or, by `stream`, the generator's rows for any seed and any number
of them, with flat memory. The committed file is the stream of the generator's own seed, cut after its own number of
units. A unit is what belongs together: a place with its records, a question with its rewordings, an article.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from labkit.corpora.files import read_corpus
from labkit.corpora.records import Corpus

_PACKAGE = Path(__file__).resolve().parents[1]
# In a checkout the files lie in data/ beside the package, in an installed wheel inside it.
DATA = next(
    (folder for folder in (_PACKAGE / "_data", _PACKAGE.parent / "data") if folder.is_dir()), _PACKAGE / "_data"
)


@dataclass(frozen=True)
class Embedded:
    """What is known of one embedded corpus without opening it."""

    name: str
    shape: str
    summary: str
    rows: int  # in the committed file
    ending: str = ".csv"
    licence: str = "MIT, made for this project"

    @property
    def path(self) -> Path:
        """The committed file."""
        return DATA / f"{self.name}{self.ending}"

    @property
    def generator(self) -> Any:
        """The module with SEED, UNITS and units(seed)."""
        return import_module(f"labkit.corpora.generators.{self.name}")

    def load(self) -> Corpus:
        """The corpus of the committed file."""
        return read_corpus(self.path, name=self.name)

    def stream(self, *, seed: int | None = None, rows: int | None = None) -> Iterator[dict[str, Any]]:
        """Rows as the generator makes them: as many units as the committed file has, or whole units up to `rows`."""
        units = self.generator.units(self.generator.SEED if seed is None else seed)
        if rows is None:
            for unit in islice(units, self.generator.UNITS):
                yield from unit
            return
        if rows < 1:
            raise ValueError(f"rows is {rows}, expected at least 1")
        made = 0
        while made < rows:
            unit = next(units)
            yield from unit
            made += len(unit)


EMBEDDED: dict[str, Embedded] = {
    corpus.name: corpus
    for corpus in (
        Embedded("questions", "Pairs", "two questions: the same in other words, or another that looks like it", 4911),
        Embedded("captions", "Groups", "scenes, each described in five ways", 5000),
        Embedded("articles", "Articles", "articles on invented subjects, with sections and paragraphs", 160, ".jsonl"),
        Embedded("places", "Labelled", "places, each written down by several hands in several scripts", 2845),
        Embedded("relatedness", "Pairs", "two sentences and how near their meanings are, 0 to 5", 2400),
        Embedded("topics", "Labelled", "short posts on everyday topics, some of them close", 2000),
    )
}
