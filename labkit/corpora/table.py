"""`CORPORA`, the one table of all corpora that have a name, and `load`, which takes a name or a file of your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from labkit.corpora.embedded import EMBEDDED, Embedded
from labkit.corpora.files import read_corpus
from labkit.corpora.published import PUBLISHED, load_published, located, rows_here
from labkit.corpora.published.official import Published
from labkit.corpora.published.plain import plain_files
from labkit.corpora.records import Corpus
from labkit.corpora.tables import FORMATS


@dataclass(frozen=True)
class Entry:
    """One corpus of the table: what it is, under which licence, and how to have it."""

    name: str
    kind: str  # "embedded" or "published"
    shape: str
    summary: str
    licence: str
    rows: int | None  # of the whole, as it was published; None where it is not known before it is read
    load: Callable[[], Corpus]
    here: Callable[[], Path | None]  # the file or folder it would be read from, None where it has to be fetched
    rows_here: Callable[[], int | None]  # that lie there, which may be a part; None where it is not known

    def size(self) -> int:
        """Bytes on disk of what it would be read from."""
        place = self.here()
        if place is None:
            return 0
        folder = place if place.is_dir() else place.parent
        named = [folder / Path(file).name for file in plain_files(self.name)] if self.kind == "published" else []
        files = [file for file in named if file.is_file()] or ([place] if place.is_file() else place.rglob("*"))
        return sum(file.stat().st_size for file in files if file.is_file())


def _embedded(corpus: Embedded) -> Entry:
    return Entry(
        name=corpus.name,
        kind="embedded",
        shape=corpus.shape,
        summary=corpus.summary,
        licence=corpus.licence,
        rows=corpus.rows,
        load=corpus.load,
        here=lambda: corpus.path if corpus.path.is_file() else None,
        rows_here=lambda: corpus.rows,
    )


def _published(corpus: Published) -> Entry:
    return Entry(
        name=corpus.name,
        kind="published",
        shape=corpus.shape,
        summary=corpus.title,
        licence=corpus.licence,
        rows=corpus.count,
        load=partial(load_published, corpus.name),
        here=partial(located, corpus.name),
        rows_here=partial(rows_here, corpus.name),
    )


CORPORA: dict[str, Entry] = {
    **{name: _embedded(corpus) for name, corpus in EMBEDDED.items()},
    **{name: _published(corpus) for name, corpus in PUBLISHED.items()},
}


def load(name: str | Path) -> Corpus:
    """The corpus of that name, or the one in that file.

    >>> load("topics").name
    'topics'
    """
    if not isinstance(name, str | Path):
        raise ValueError(
            f"corpus is a {type(name).__name__}, expected a name or a file; Labelled(texts, labels), Pairs, Triplets "
            "and Groups of labkit.corpora make one of lists"
        )
    if str(name) in CORPORA:
        return CORPORA[str(name)].load()
    path = Path(name)
    if path.exists() or any(ending in path.suffixes for ending in FORMATS):
        return read_corpus(path)
    raise ValueError(f"corpus is {str(name)!r}, expected a known corpus or a file of your own; {nearest(name)}")


def nearest(name: str | Path) -> str:
    """What somebody may have meant who names no corpus."""
    near = get_close_matches(str(name), CORPORA, n=1)
    return f"did you mean {near[0]!r}?" if near else "`labkit data list` names them all"
