"""Articles in, triplets out: of a corpus in memory as a record, of any source as a file with flat memory.

    article_source      a name, a JSONL file or a Wikipedia dump -> one stream of articles with their splits
    triplets_of         a corpus in memory -> `Triplets`            write_triplets   any source -> a file
    write_shards        many sources -> a folder of shards, each made by itself: for what one reader would take days for
    Funnel              what each rule removed: what was read, less what the rules removed, is what is left

Into a file: articles are read by one process and sifted in parallel; triplets are drawn where all articles come
together, in their order, so that the number of processes changes nothing. Into shards: each piece of the sources is a
task; the rule `other` draws among the articles of a piece.

Of a title that stands twice the first article stays, and so no title, and no article, is in two splits. Only who sees
all articles can know of it: into a file, the one reader. Shards are made as if there were no such title; when all are
there their titles are compared, and those with a title that an earlier one has are made once more without it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from labkit.corpora.files import read_articles, write_rows
from labkit.corpora.records import Article, Articles, Triplets, hashed_split
from labkit.corpora.shards import WORK, Making, Manifest, first_seen, plan_of, text_key, write_keys, write_parquet
from labkit.corpora.table import CORPORA, load
from labkit.executors import Executor, Local
from labkit.progress import Progress, silent
from labkit.thematic import rules, triplets, wikipedia
from labkit.thematic.rules import READ, UNCLOSED, Tally, sifted
from labkit.thematic.triplets import Plan, Prepared, Row, triplet_rows
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
FURTHER = ("article", "section", "negative_article", "negative_section")  # columns beside those of the shape


def triplets_of(
    corpus: Articles,
    *,
    rule: str = "adjacent",
    seed: int = 0,
    max_per_anchor: int | None = None,
    by: str = "top",
    progress: Progress = silent,
) -> Triplets:
    """The triplets of all articles by one rule, each in the split of its article."""
    return triplets_and_funnel(corpus, Plan(rule, seed, max_per_anchor, by), progress=progress)[0]


def triplets_and_funnel(
    corpus: Articles, plan: Plan | None = None, *, progress: Progress = silent
) -> tuple[Triplets, Funnel]:
    """Make the triplets of all articles, and count what the rules removed."""
    if not isinstance(corpus, Articles):
        raise ValueError(f"corpus is {type(corpus).__name__}, expected Articles: triplets are made of their sections")
    tally: Tally = Counter()
    rows = list(_rows(in_memory(corpus), plan or Plan(), tally, executor=Local(1), progress=progress))
    return _record(corpus.name, rows), Funnel(tally)


def write_triplets(
    articles: str,
    path: Path | str,
    plan: Plan | None = None,
    *,
    workers: int = 1,
    limit: int | None = None,
    progress: Progress = silent,
    executor: Executor | None = None,
) -> Funnel:
    """The triplets of a corpus, a JSONL file or a dump, to a file; `limit`: of its first articles only.

    Several workers are processes started anew: call this below `if __name__ == "__main__":` in a script then.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}, expected at least 1 article; leave it out for all")
    tally: Tally = Counter()
    source, executor = article_source(articles), executor or Local(workers)
    write_rows(_rows(source, plan or Plan(), tally, executor=executor, limit=limit, progress=progress), path)
    return Funnel(tally)


def _rows(
    source: ArticleSource,
    plan: Plan,
    tally: Tally,
    *,
    executor: Executor,
    limit: int | None = None,
    progress: Progress,
) -> Iterator[Row]:
    """The rows; at least one. The tally is complete when they are through."""

    def prepared() -> Iterator[Prepared]:
        items = _once(islice(source.items, limit), tally)
        done = 0
        for articles, read, removed in executor.map(partial(_prepared, by=plan.by), _lists(items)):
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


def usual() -> int:
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


# --- shards ------------------------------------------------------------------------------------------------------

COLUMNS = (*Triplets.COLUMNS.values(), "split", *FURTHER)


@dataclass(frozen=True)
class _Share:
    """What one task reads, how it makes triplets of it, and which of its articles, by their places, it leaves out."""

    piece: Piece
    plan: Plan
    repeats: tuple[int, ...] = ()


def write_shards(
    articles: Sequence[str],
    folder: Path | str,
    plan: Plan | None = None,
    *,
    executor: Executor | None = None,
    size: int = PIECE,
    progress: Progress = silent,
) -> tuple[Manifest, Funnel]:
    """The triplets of corpora, JSONL files and dumps to a folder of shards, each of about `size` bytes of a dump.

    Whatever stops it, the same call goes on from there. Several workers are processes started anew: call this below
    `if __name__ == "__main__":` in a script then.
    """
    plan, executor = plan or Plan(), executor or Local(1)
    if size < 1:
        raise ValueError(f"size is {size}, expected at least 1 byte of a dump; leave it out for 8 MB")
    sources = [_file_of(name) for name in articles]
    cut = [piece for path in sources for piece in (pieces(path, size) if is_dump(path) else [Piece(str(path))])]
    shares = [_Share(replace(piece, path=str(Path(piece.path).resolve())), plan) for piece in cut]
    with Making(folder, plan_of("triplets", {**asdict(plan), "size": size}, sources)) as making:
        if making.finished:
            manifest = making.manifest
            return manifest, Funnel({(rule, unit): count for rule, unit, count in manifest.further["funnel"]})
        total = len(shares)
        making.run(_made, dict(enumerate(shares)), executor, progress=progress)
        repeats = [tuple(found.tolist()) for found in first_seen([_keys(making.folder, n) for n in range(total)])]
        again = {n: replace(shares[n], repeats=repeats[n]) for n in range(total) if _left_out(making, n) != repeats[n]}
        making.run(_made, again, executor, anew=True, total=total, progress=progress)
        tally: Tally = Counter()
        for n in range(total):
            tally.update({(rule, unit): count for rule, unit, count in (making.record(n) or {})["tally"]})
        funnel = Funnel({key: count for key, count in sorted(tally.items()) if count})
        if not funnel.left("triplets"):
            raise ValueError(_nothing(", ".join(path.name for path in sources), funnel))
        return making.finish(total, funnel=[(*key, count) for key, count in funnel.counts.items()]), funnel


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


def _keys(folder: Path, number: int) -> Path:
    return folder / WORK / f"{number:05}.npy"


def _left_out(making: Making, number: int) -> tuple[int, ...]:
    return tuple((making.record(number) or {})["repeats"])


def _made(share: _Share, path: Path) -> dict[str, Any]:
    """One shard, with the keys of its articles' titles beside it."""
    tally: Tally = Counter()
    source = article_source(share.piece.path, share.piece.start, share.piece.stop)
    keys: list[bytes] = []
    left_out = set(share.repeats)

    def prepared() -> Iterator[Prepared]:
        for place, item in enumerate(source.items):
            keys.append(text_key(item[0].title))
            if place in left_out:
                tally.update({(READ, "articles"): 1, (rules.REPEATED, "articles"): 1})
                continue
            articles, _, removed = _prepared([item], by=share.plan.by)
            tally.update(removed)
            yield from articles

    record = write_parquet(triplet_rows(prepared(), share.plan, tally), path, COLUMNS)
    tally.update(source.tally)
    write_keys(keys, path.parent / WORK / f"{path.stem.rpartition('-')[2]}.npy")
    return {**record, "repeats": share.repeats, "tally": [(rule, unit, n) for (rule, unit), n in tally.items()]}


def _record(name: str, rows: list[Row]) -> Triplets:
    anchors, positives, negatives, splits, *further = ([row[column] for row in rows] for column in rows[0])
    extra = dict(zip(FURTHER, further, strict=True))
    return Triplets(anchors, positives, negatives, name=name, splits=splits, extra=extra)
