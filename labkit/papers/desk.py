"""What of the data is on this machine: published sets in a folder or the cache, else embedded corpora.

In: a folder, or none. Out: `Opened` data sets by name. A corpus is read when its sentences are wanted; its size and its
fingerprint are kept beside the cells, so that asking what there is to do reads nothing again. A set that is there in
part is not used, and said to be.
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from labkit.atomic import in_place
from labkit.corpora import CORPORA, Corpus, Labelled
from labkit.corpora.published import load_published, located
from labkit.corpora.published.plain import has_plain, plain_files
from labkit.papers import datasets
from labkit.papers.case import digest
from labkit.papers.datasets import DATASETS, DataSet, cut, without
from labkit.papers.store import default_folder
from labkit.papers.versions import code_of
from labkit.progress import Progress, silent

QUICK_ROWS = 1_200  # of training


class Missing(ValueError):
    """A data set that is not at hand."""


@dataclass(frozen=True, eq=False)
class Opened:
    """A data set: what it is called, how many rows each split has, its fingerprint; and the corpus, when asked for.

    `partnered`: test rows of a class with more than one, the queries that can be answered; 0 without classes.
    """

    title: str
    published: bool
    sizes: Mapping[str, int]
    fingerprint: str
    read: Callable[[], Corpus] = field(repr=False)
    partnered: int = 0

    @cached_property
    def corpus(self) -> Corpus:
        return self.read()

    @property
    def learned(self) -> int:
        """Rows to learn from; where there is no training split, all."""
        return self.sizes.get("train") or sum(self.sizes.values())

    def __str__(self) -> str:
        return f"{self.title} ({', '.join(f'{split} {size:,}' for split, size in self.sizes.items())})"


class Desk:
    """The data sets at hand. With `quick` all are embedded, and little of their training split is used."""

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        quick: bool = False,
        memo: Path | None = None,
        progress: Progress = silent,
    ) -> None:
        if folder is not None and not Path(folder).is_dir():
            raise ValueError(
                f"--data is {str(folder)!r}, expected the folder of the published datasets; check the path"
            )
        self.folder = None if folder is None else Path(folder)
        self.quick = quick
        self._memo = (default_folder() if memo is None else memo) / "data.json"
        self._progress = progress
        self._opened: dict[tuple[str, bool], Opened] = {}

    def missing(self, name: str) -> list[str]:
        """What of the published form is not here: files of the plain form, else names of corpora."""
        return [lack for part in DATASETS[name].parts for lack in self._lacks(part)]

    def published(self, names: Sequence[str]) -> bool:
        """Whether a table on these data sets runs on published data: one of them is at hand."""
        return not self.quick and any(not self.missing(name) for name in names)

    def why_not(self, name: str, *, published: bool) -> str:
        """Why this data set cannot be opened; empty where it can."""
        if published:
            lacks = self.missing(name)
            return f"{', '.join(lacks)} {'is' if len(lacks) == 1 else 'are'} not here" if lacks else ""
        return "" if DATASETS[name].embedded else f"no embedded corpus stands in for {name}"

    def open(self, name: str, *, published: bool) -> Opened:
        """The data set, its corpus read at most once."""
        if reason := self.why_not(name, published=published):
            raise Missing(f"{name} cannot be opened: {reason}")
        key = (name, published)
        if key not in self._opened:
            self._opened[key] = self._about(DATASETS[name], published)
        return self._opened[key]

    def _lacks(self, part: str) -> list[str]:
        plain = self._plain()
        if plain is not None and has_plain(part, plain):
            return [file for file in plain_files(part) if not (plain / file).is_file()]
        return [] if located(part, self.folder) is not None else [part]

    def _plain(self) -> Path | None:
        named = os.environ.get("LABKIT_DATA")
        return self.folder or (Path(named) if named else None)

    # --- reading ---------------------------------------------------------------------------------------------

    def _about(self, found: DataSet, published: bool) -> Opened:
        """From the memo where the files are the same as then, else from the corpus."""
        title = ", ".join(found.parts) if published else f"{found.embedded}, embedded"
        read: Callable[[], Corpus] = (lambda: self._published(found)) if published else (lambda: self._embedded(found))
        code = code_of(Path(datasets.__file__).read_text("utf-8"))
        key = digest({"set": found.name, "quick": self.quick, "code": code, "files": self._files(found, published)})
        memo = _remembered(self._memo)
        known = memo.get(key, {})
        if {"sizes", "fingerprint", "partnered"} <= known.keys():
            return Opened(title, published, known["sizes"], known["fingerprint"], read, known["partnered"])
        self._progress(len(self._opened), None, f"reading {title}")
        corpus = read()
        sizes = {split: corpus.splits.count(split) for split in ("train", "dev", "test") if split in corpus.splits}
        fingerprint, partnered = corpus.fingerprint, _partnered(corpus)
        _remember(self._memo, memo | {key: {"sizes": sizes, "fingerprint": fingerprint, "partnered": partnered}})
        return Opened(title, published, sizes, fingerprint, lambda: corpus, partnered)

    def _files(self, found: DataSet, published: bool) -> list[list[Any]]:
        """Path, size and time of change of every file that is read."""
        paths: list[Path] = []
        for part in (*found.parts, *found.apart) if published else ():
            plain = self._plain()
            if plain is not None and has_plain(part, plain):
                paths += [plain / file for file in plain_files(part)]
            elif (place := located(part, self.folder)) is not None:
                paths += sorted(place.rglob("*")) if place.is_dir() else [place]
        if not published and (here := CORPORA[found.embedded].here()) is not None:
            paths.append(here)
        return [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in paths if path.is_file()]

    def _embedded(self, found: DataSet) -> Corpus:
        corpus = CORPORA[found.embedded].load()
        corpus = found.together([corpus]) if found.derived else corpus
        return cut(corpus, QUICK_ROWS) if self.quick else corpus

    def _published(self, found: DataSet) -> Corpus:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what a release lacks is said by `missing`
            corpora = [load_published(part, self.folder) for part in found.parts]
            apart = [load_published(name, self.folder) for name in found.apart if not self._lacks(name)]
        return without(found.together(corpora), apart)


def _partnered(corpus: Corpus) -> int:
    if not isinstance(corpus, Labelled):
        return 0
    classes = Counter(label for label, split in zip(corpus.labels, corpus.splits, strict=True) if split == "test")
    return sum(count for count in classes.values() if count > 1)


def _remembered(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(path: Path, memo: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_place(path) as file:
        file.write(json.dumps(memo).encode())
