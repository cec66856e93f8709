"""Where articles come from: a corpus with a name, a JSONL file, a Wikipedia dump. All of them as one stream.

In: a name or a path. Out: a `Source` to go through once: (article or page, its split), with how far it has come, and
the tally of what it left out itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labkit.articles.dump import Dump, Page, is_dump
from labkit.articles.rules import Tally
from labkit.corpora.files import read_articles
from labkit.corpora.records import Article, Articles, hashed_split
from labkit.corpora.table import CORPORA, load

Item = tuple[Article | Page, str]


@dataclass
class Source:
    """Articles with their splits, to be read once."""

    name: str
    items: Iterable[Item]
    tally: Tally = field(default_factory=Counter)
    total: int | None = None  # articles, or bytes of a dump
    dump: Dump | None = None

    def done(self, articles: int) -> int:
        """How far it has come, in the unit of `total`, when so many articles are done."""
        return self.dump.done if self.dump else articles

    @property
    def unit(self) -> str:
        return "B" if self.dump else "article"


def source_of(name: str) -> Source:
    """The articles of that name or in that file."""
    path = Path(name)
    if is_dump(path):
        tally: Tally = Counter()
        dump = Dump(path, tally)
        return Source(path.name, _split_pages(dump), tally, dump.total, dump)
    if name not in CORPORA and path.exists():
        return Source(path.name, read_articles(path))
    corpus = load(name)
    if not isinstance(corpus, Articles):
        shape = type(corpus).__name__
        raise ValueError(f"corpus {name!r} has the shape {shape}, expected Articles: titles, sections, paragraphs")
    return in_memory(corpus)


def in_memory(corpus: Articles) -> Source:
    """The articles of a corpus."""
    return Source(corpus.name, zip(corpus.articles, corpus.splits, strict=True), total=len(corpus))


def _split_pages(dump: Dump) -> Iterator[Item]:
    for page in dump:
        yield page, hashed_split(page.title)
