"""Articles in, triplets out: of a corpus in memory as a record, of any source as a file with flat memory.

    article_source      a name, a JSONL file or a Wikipedia dump -> one stream of articles with their splits
    write_triplets      any source -> a file
    triplets_and_funnel   a corpus in memory -> `Triplets` (as `labkit.corpora.article_triplets`), and what was removed
    write_shards        many sources -> a folder of files, each made by itself: for what one reader would take days for
    Funnel              what each rule removed: what was read, less what the rules removed, is what is left

Into a file: articles are read by one process and sifted in parallel; triplets are drawn where all articles come
together, in their order, so that the number of processes changes nothing. Into a folder: each piece of the sources
gives a file; the rule `other` draws among the articles of a piece.

If a title appears twice, only its first article is used, so that no article is in two splits. In a folder, each piece
is first made as if there were no such title. Then the titles of all pieces are compared, and a piece with a title of an
earlier one is made again without it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labkit import scale
from labkit.atomic import write_text
from labkit.corpora import article_rules as rules
from labkit.corpora import article_triplets as triplets
from labkit.corpora.article_rules import READ, UNCLOSED, Tally, sifted
from labkit.corpora.article_triplets import FURTHER, Plan, Prepared, Row, triplet_record, triplet_rows
from labkit.corpora.files import read_articles, write_rows
from labkit.corpora.records import Article, Articles, Triplets, hashed_split
from labkit.corpora.shards import first_seen, key_rows, splits_of, write_texts
from labkit.corpora.table import CORPORA, load
from labkit.progress import Progress, silent
from labkit.thematic import wikipedia
from labkit.thematic.wikipedia import PIECE, Dump, Page, Piece, article_of, is_dump, pieces

# --- funnel ------------------------------------------------------------------------------------------------------

UNITS = ("articles", "sections", "sentences", "pairs", "triplets")
LEFT = "left"
# of all rules, as they are asked
RULE_ORDER = (*wikipedia.REMOVED, *rules.REMOVED, *triplets.REMOVED)


@dataclass(frozen=True)
class Funnel:
    """Counts by rule and unit, (rule, what it counts) -> how many, as a table that adds up."""

    counts: Mapping[tuple[str, str], int]

    @property
    def rules(self) -> list[str]:
        """Those that removed something, in the order in which they are asked."""
        used = {rule for (rule, _), count in self.counts.items() if count}
        return [rule for rule in RULE_ORDER if rule in used]

    def removed(self, rule: str, unit: str) -> int:
        return self.counts.get((rule, unit), 0)

    def read(self, unit: str) -> int:
        """How many there were before any rule."""
        return self.removed(READ, unit)

    def left(self, unit: str) -> int:
        """How many are left after all of them."""
        return self.read(unit) - sum(self.removed(rule, unit) for rule in self.rules)

    def rows(self) -> list[tuple[str, ...]]:
        """Cells of the table, its header first; an empty cell is a rule that does not ask about this unit."""
        body = [(READ, *(f"{self.read(unit):,}" for unit in UNITS))]
        for rule in self.rules:
            body.append((rule, *(f"-{gone:,}" if (gone := self.removed(rule, unit)) else "" for unit in UNITS)))
        return [("", *UNITS), *body, (LEFT, *(f"{self.left(unit):,}" for unit in UNITS))]


# --- sources -----------------------------------------------------------------------------------------------------

Item = tuple[Article | Page, str]


@dataclass
class ArticleSource:
    """Articles or pages with their splits, to be read once; the tally has what the source left out itself."""

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


def article_source(name: str, start: int = 0, stop: int | None = None) -> ArticleSource:
    """The articles of that name or in that file; of a dump those that begin in these bytes."""
    path = Path(name)
    if is_dump(path):
        tally: Tally = Counter()
        dump = Dump(path, tally, start, stop)
        pages = ((page, hashed_split(page.title)) for page in dump)
        return ArticleSource(path.name, pages, tally, dump.total, dump)
    if name not in CORPORA and path.exists():
        return ArticleSource(path.name, read_articles(path))
    corpus = load(name)
    if not isinstance(corpus, Articles):
        shape = type(corpus).__name__
        raise ValueError(f"corpus {name!r} has the shape {shape}, expected Articles: titles, sections, paragraphs")
    return in_memory(corpus)


def in_memory(corpus: Articles) -> ArticleSource:
    """The articles of a corpus."""
    return ArticleSource(corpus.name, zip(corpus.articles, corpus.splits, strict=True), total=len(corpus))


# --- making ------------------------------------------------------------------------------------------------------

BATCH, READERS = 32, 8  # articles that a process prepares at once; processes that one reader can feed


def triplets_and_funnel(
    corpus: Articles, plan: Plan | None = None, *, progress: Progress = silent
) -> tuple[Triplets, Funnel]:
    """Make the triplets of all articles, and count what the rules removed."""
    if not isinstance(corpus, Articles):
        raise ValueError(f"corpus is {type(corpus).__name__}, expected Articles: triplets are made of their sections")
    tally: Tally = Counter()
    rows = list(_triplets(in_memory(corpus), plan or Plan(), tally, workers=1, progress=progress))
    return triplet_record(corpus.name, rows), Funnel(tally)


def write_triplets(
    articles: str,
    path: Path | str,
    plan: Plan | None = None,
    *,
    workers: int = 1,
    limit: int | None = None,
    progress: Progress = silent,
) -> Funnel:
    """The triplets of a corpus, a JSONL file or a dump, to a file; `limit`: of its first articles only.

    Workers are processes that import the script anew: call this below `if __name__ == "__main__":` then.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}, expected at least 1 article; leave it out for all")
    tally: Tally = Counter()
    source = article_source(articles)
    write_rows(_triplets(source, plan or Plan(), tally, workers=workers, limit=limit, progress=progress), path)
    return Funnel(tally)


def _triplets(
    source: ArticleSource,
    plan: Plan,
    tally: Tally,
    *,
    workers: int,
    limit: int | None = None,
    progress: Progress,
) -> Iterator[Row]:
    """The rows; at least one. The tally is complete when they are through."""

    def prepared() -> Iterator[Prepared]:
        items = _once(islice(source.items, limit), tally)
        done = 0
        for articles, read, removed in scale.ordered(partial(_prepared, by=plan.by), _lists(items), workers):
            tally.update(removed)
            yield from articles
            done += read
            progress(source.done(done), source.total, f"triplets of {source.name}")

    rows = triplet_rows(prepared(), plan, tally)
    first = next(rows, None)
    if first is not None:
        yield first
        yield from rows
    tally.update(source.tally)
    if first is None:
        raise ValueError(_nothing(source.name, Funnel(tally)))


def usual_workers() -> int:
    """One process for each core, as many as one reader can feed."""
    return min(READERS, os.cpu_count() or 1)


def _lists(items: Iterable[Item]) -> Iterator[list[Item]]:
    stream = iter(items)
    while part := list(islice(stream, BATCH)):
        yield part


def _prepared(items: list[Item], by: str) -> tuple[list[Prepared], int, Tally]:
    """Give what of these articles is of use, how many they were, what was removed: the work of a process."""
    prepared: list[Prepared] = []
    tally: Tally = Counter()
    for item, split in items:
        if isinstance(item, Page):
            article, unclosed = article_of(item.title, item.wikitext, item.namespaces)
            tally.update({(READ, "sentences"): unclosed, (UNCLOSED, "sentences"): unclosed})
        else:
            article = item
        themes, removed = sifted(article, by=by)
        tally.update(removed)
        if themes:
            prepared.append(Prepared(article.title, split, themes))
    return prepared, len(items), tally


def _once(items: Iterable[Item], tally: Tally) -> Iterator[Item]:
    """The items whose title was not seen before. Only a number of 64 bits is kept: about 70 bytes an article."""
    seen: set[int] = set()
    for item in items:
        key = hash(item[0].title)
        if key in seen:
            tally.update({(READ, "articles"): 1, (rules.REPEATED, "articles"): 1})
        else:
            seen.add(key)
            yield item


def _nothing(name: str, funnel: Funnel) -> str:
    """Why there is no triplet, in one sentence."""
    worst = max(funnel.rules, key=lambda rule: funnel.removed(rule, "articles"), default="")
    read, gone = funnel.read("articles"), funnel.removed(worst, "articles")
    why = f"{gone:,} of {read:,} articles went by the rule {worst!r}" if gone else f"{read:,} articles were read"
    return f"{name} makes no triplet: {why}; give articles with five sections or more, of several paragraphs each"


# --- folders -----------------------------------------------------------------------------------------------------

COLUMNS = (*Triplets.COLUMNS.values(), "split", *FURTHER)


class Share(NamedTuple):
    """What one file is made of, and how; `note` is where what is known of it is written beside it."""

    piece: Piece
    plan: Plan
    note: Path
    repeats: tuple[int, ...] = ()  # places of the articles that are left out


def write_shards(
    articles: Sequence[str],
    folder: Path | str,
    plan: Plan | None = None,
    *,
    ending: str = "arrow",
    size: int = PIECE,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> tuple[dict[str, Any], Funnel]:
    """The triplets of corpora, JSONL files and dumps to a folder of files, one for about `size` bytes of a dump.

    Arrow files are read from disk as they are needed; `ending="parquet"` takes less room there, and is read into
    memory. The same call resumes what was stopped.
    """
    plan, folder = plan or Plan(), Path(folder)
    if size < 1:
        raise ValueError(f"size is {size}, expected at least 1 byte of a dump; leave it out for 8 MB")
    sources = [_file_of(name) for name in articles]
    settings = {"kind": "triplets", **asdict(plan), "size": size, "format": ending}
    settings |= {"sources": [[path.name, path.stat().st_size] for path in sources]}
    if scale.folder(folder, settings):
        manifest = scale.manifest(folder)
        return manifest, Funnel({(rule, unit): count for rule, unit, count in manifest["funnel"]})
    work = (folder / scale.WORK).resolve()
    first = {
        scale.part(work, n, ending): Share(piece, plan, work / f"{n}.json")
        for n, piece in enumerate(piece for path in sources for piece in _pieces(path.resolve(), size))
    }
    scale.each(_write_piece, first, workers=workers, ray=ray, progress=progress)
    titles = [bytes.fromhex(_noted(share)["titles"]) for share in first.values()]
    keys = [np.frombuffer(each, np.uint64).reshape(-1, 2) for each in titles]
    shares = [
        share._replace(repeats=tuple(np.flatnonzero(~new).tolist()), note=share.note.with_suffix(".again"))
        if not new.all()
        else share
        for share, new in zip(first.values(), first_seen(keys), strict=True)
    ]
    last = {scale.part(folder.resolve(), n, ending): (share, list(first)[n]) for n, share in enumerate(shares)}
    scale.each(_write_last, last, workers=workers, ray=ray, progress=progress)
    tally: Tally = Counter()
    for share in shares:
        tally.update({(rule, unit): count for rule, unit, count in _noted(share)["tally"]})
    funnel = Funnel({key: count for key, count in sorted(tally.items()) if count})
    if not funnel.left("triplets"):
        raise ValueError(_nothing(", ".join(path.name for path in sources), funnel))
    counts = [(*key, count) for key, count in funnel.counts.items()]
    made = scale.finish(folder, settings, rows=funnel.left("triplets"), splits=splits_of(last), funnel=counts)
    return made, funnel


def _noted(share: Share) -> dict[str, Any]:
    noted: dict[str, Any] = json.loads(share.note.read_text(encoding="utf-8"))
    return noted


def _write_piece(share: Share, path: Path) -> None:
    """The triplets of a piece; what the rules removed and the keys of its articles' titles are noted beside them."""
    tally: Tally = Counter()
    source = article_source(share.piece.path, share.piece.start, share.piece.stop)
    titles: list[str] = []
    left_out = set(share.repeats)

    def prepared() -> Iterator[Prepared]:
        for place, item in enumerate(source.items):
            titles.append(item[0].title)
            if place in left_out:
                tally.update({(READ, "articles"): 1, (rules.REPEATED, "articles"): 1})
                continue
            articles, _, removed = _prepared([item], by=share.plan.by)
            tally.update(removed)
            yield from articles

    write_texts(triplet_rows(prepared(), share.plan, tally), path, COLUMNS)
    tally.update(source.tally)
    counts = [(rule, unit, count) for (rule, unit), count in tally.items()]
    write_text(share.note, json.dumps({"titles": key_rows(titles).tobytes().hex(), "tally": counts}))


def _write_last(given: tuple[Share, Path], path: Path) -> None:
    """The piece as it is, or again without articles whose title an earlier one has."""
    share, first = given
    if share.repeats:
        _write_piece(share, path)
    else:
        shutil.copyfile(first, path)


def _pieces(path: Path, size: int) -> list[Piece]:
    return pieces(path, size) if is_dump(path) else [Piece(str(path))]


def _file_of(name: str) -> Path:
    """The file of a corpus or of that name."""
    path = Path(name)
    if name in CORPORA and not path.exists():
        place = CORPORA[name].here()
        if place is None or not place.is_file():
            raise ValueError(f"corpus {name!r} is no file of articles here; name a .jsonl or a dump")
        return place
    if not path.is_file():
        article_source(name)  # says what is wrong with it
        raise ValueError(f"{name} is no file, expected a .jsonl or a dump; name the files in a folder one by one")
    return path
