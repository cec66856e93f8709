"""`CORPORA`, the table of all named corpora, and `load`, which takes a name or your own file.

Six corpora are bundled. Each is generated from a seed by a module in `data/make` and stored next to it as a readable
file. The file contains the generator's first units; rows of a unit belong together, such as the records of a place or
an article. `Embedded.stream` generates rows for any seed and any number of rows, with constant memory.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from labkit.corpora.files import FORMATS, read_corpus, read_rows
from labkit.corpora.published import PUBLISHED, Published
from labkit.corpora.records import Corpus
from labkit.corpora.shards import corpus_of_folder
from labkit.scale import is_folder

_PACKAGE = Path(__file__).resolve().parents[1]
# A checkout has the files in data/ next to the package; an installed wheel has them inside the package.
DATA = next(
    (folder for folder in (_PACKAGE / "_data", _PACKAGE.parent / "data") if folder.is_dir()), _PACKAGE / "_data"
)


def generator(name: str) -> ModuleType:
    """A module of `data/make`, which is distributed with the package but is not part of it."""
    package = "labkit_data_make"
    if package not in sys.modules:
        folder = DATA / "make"
        spec = spec_from_file_location(package, folder / "__init__.py", submodule_search_locations=[str(folder)])
        assert spec is not None
        sys.modules[package] = module_from_spec(spec)
    return import_module(f"{package}.{name}")


@dataclass(frozen=True)
class Embedded:
    """A bundled corpus: a file next to the generator that made it. `Published` has the same attributes.

    >>> CORPORA["topics"].shape, CORPORA["topics"].licence
    ('Labelled', 'MIT, made for this project')
    """

    name: str
    shape: str
    summary: str
    rows: int
    ending: str = ".csv"
    licence: str = "MIT, made for this project"
    kind: ClassVar[str] = "embedded"

    @property
    def path(self) -> Path:
        """The path of the bundled file."""
        return DATA / f"{self.name}{self.ending}"

    @property
    def generator(self) -> Any:
        """The module with SEED, UNITS and units(seed)."""
        return generator(self.name)

    def load(self) -> Corpus:
        """The corpus, read from its file."""
        return read_corpus(self.path, name=self.name)

    def here(self) -> Path | None:
        """The file to read, or None if it is missing."""
        return self.path if self.path.is_file() else None

    def size(self) -> int:
        """The size of the bundled file in bytes."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def stream(self, *, seed: int | None = None, rows: int | None = None) -> Iterator[dict[str, Any]]:
        """Generated rows: as many units as the bundled file has, or whole units up to `rows`."""
        units = self.generator.units(self.generator.SEED if seed is None else seed)
        if rows is None:
            for unit in islice(units, self.generator.UNITS):
                yield from unit
            return
        if rows < 1:
            raise ValueError(f"rows is {rows}, expected at least 1")
        while rows > 0:
            unit = next(units)
            yield from unit
            rows -= len(unit)

    def meanings(self) -> dict[str, str]:
        """The meaning of each sentence, equal for sentences with the same meaning; empty if the labels suffice."""
        path = DATA / f"{self.name}.meanings.csv"
        return {row["text"]: row["meaning"] for _, row in read_rows(path)} if path.is_file() else {}


EMBEDDED: dict[str, Embedded] = {
    corpus.name: corpus
    for corpus in (
        Embedded("questions", "Pairs", "two questions with the same meaning, or two that only look alike", 4911),
        Embedded("captions", "Groups", "scenes, each described in five ways", 5000),
        Embedded(
            "articles", "Articles", "articles on invented subjects, with sections and paragraphs", 160, ending=".jsonl"
        ),
        Embedded("places", "Labelled", "places, each recorded by several people in several scripts", 2845),
        Embedded("relatedness", "Pairs", "two sentences and how similar their meanings are, 0 to 5", 2400),
        Embedded("topics", "Labelled", "short posts on everyday topics, some of them closely related", 2000),
    )
}


CORPORA: dict[str, Embedded | Published] = {**EMBEDDED, **PUBLISHED}


def load(name: str | Path, columns: Mapping[str, str] | None = None) -> Corpus:
    """Load a corpus by name, or from a file or a folder of tables.

    `columns` maps our column names to the file's, such as {"text": "body", "label": "topic"}.

    >>> load("topics").name
    'topics'
    """
    if not isinstance(name, str | Path):
        raise ValueError(
            f"corpus has type {type(name).__name__}, expected a name or a file. For data in memory use "
            "labkit.corpora.from_frame, from_dataset, from_classes, from_pairs and others"
        )
    if str(name) in CORPORA:
        return CORPORA[str(name)].load()
    path = Path(name)
    if is_folder(path):
        return corpus_of_folder(path)
    if path.exists() or any(ending in path.suffixes for ending in (*FORMATS, ".txt")):
        return read_corpus(path, columns=columns)
    raise ValueError(f"corpus {str(name)!r} is neither a known corpus nor a file; {nearest_corpus(name)}")


def nearest_corpus(name: str | Path) -> str:
    """A hint for an unknown corpus name."""
    near = get_close_matches(str(name), CORPORA, n=1)
    return f"did you mean {near[0]!r}?" if near else "`labkit data list` lists all names"


# --- minimal pairs: two sentences that differ in one known detail, to test explanations of similarity -----------------

PAIRED = ("questions", "relatedness", "captions")  # corpora that have minimal pairs
KINDS = (
    "detail",  # a thing, number, place, colour or action changes: A dog chases a gull. / A dog chases a crow.
    "order",  # two things swap places: A dog chases a cat. / A cat chases a dog.
    "synonym",  # another expression of the same meaning: A dog chases a gull. / A hound chases a gull.
    "negation",  # "not" is inserted
)


@dataclass(frozen=True)
class MinimalPair:
    """Two sentences, and the words of each that make the difference, in lower case.

    `source`: the number of the topic, event or activity that both sentences describe.
    """

    corpus: str
    kind: str
    text_a: str
    text_b: str
    changed_a: frozenset[str]
    changed_b: frozenset[str]
    source: int = field(default=0, compare=False)


def minimal_pairs(corpus: str, kind: str, count: int) -> list[MinimalPair]:
    """The first `count` pairs of one kind; each sentence occurs in only one pair."""
    for name, value, known in (("corpus", corpus, PAIRED), ("kind", kind, KINDS)):
        if value not in known:
            raise ValueError(f"{name} is {value!r}, expected one of {', '.join(known)}")
    pairs = _bundled()[corpus, kind]
    if not 1 <= count <= len(pairs):
        raise ValueError(f"count is {count}, expected 1 to {len(pairs)}; choose a smaller count, or more kinds")
    return pairs[:count]


@cache
def _bundled() -> dict[tuple[str, str], list[MinimalPair]]:
    """All bundled pairs, by corpus and kind."""
    pairs: dict[tuple[str, str], list[MinimalPair]] = defaultdict(list)
    with (DATA / "minimal_pairs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            a, b = (frozenset(row[column].split()) for column in ("changed_a", "changed_b"))
            pair = MinimalPair(row["corpus"], row["kind"], row["text_a"], row["text_b"], a, b, int(row["source"]))
            pairs[pair.corpus, pair.kind].append(pair)
    return pairs
