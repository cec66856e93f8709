"""Make triplets of articles from corpora, JSONL files and Wikipedia dumps, in a folder of files or in one file.

One process makes a file from each piece of the sources; the rule `other` draws among the articles of a piece. If a
title occurs twice, only its first article is used, so that no article is in two splits. Each piece is first processed
regardless of repetitions. Then all titles are compared, and pieces that repeat a title are processed again without it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
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
from labkit.corpora.article_triplets import FURTHER, Plan, Prepared, triplet_rows, triplets_of
from labkit.corpora.catalogue import CORPORA, load
from labkit.corpora.files import check_output, read_articles, write_rows
from labkit.corpora.records import Article, Articles, Triplets, hashed_split
from labkit.corpora.rows import SHAPES_BY_NAME
from labkit.corpora.shards import Part, first_seen, key_rows, splits_of, tables, write_texts
from labkit.progress import Progress, silent
from labkit.thematic import wikipedia
from labkit.thematic.wikipedia import PIECE, Dump, Page, Piece, is_dump, pieces

# --- funnel ------------------------------------------------------------------------------------------------------

UNITS = ("articles", "sections", "sentences", "pairs", "triplets")
LEFT = "left"
# of all rules, in the order in which they apply
RULE_ORDER = (*wikipedia.REMOVED, *rules.REMOVED, *triplets.REMOVED)


@dataclass(frozen=True)
class Funnel:
    """Counts by (rule, unit), as a table that adds up."""

    counts: Mapping[tuple[str, str], int]

    @property
    def rules(self) -> list[str]:
        """The rules that removed something, in the order in which they apply."""
        used = {rule for (rule, _), count in self.counts.items() if count}
        return [rule for rule in RULE_ORDER if rule in used]

    def removed(self, rule: str, unit: str) -> int:
        return self.counts.get((rule, unit), 0)

    def read(self, unit: str) -> int:
        """The number of units before any rule."""
        return self.removed(READ, unit)

    def left(self, unit: str) -> int:
        """The number of units left after all rules."""
        return self.read(unit) - sum(self.removed(rule, unit) for rule in self.rules)

    def rows(self) -> list[tuple[str, ...]]:
        """Cells of the table with its header; a cell is empty if the rule does not apply to the unit."""
        body = [(READ, *(f"{self.read(unit):,}" for unit in UNITS))]
        for rule in self.rules:
            body.append((rule, *(f"-{gone:,}" if (gone := self.removed(rule, unit)) else "" for unit in UNITS)))
        return [("", *UNITS), *body, (LEFT, *(f"{self.left(unit):,}" for unit in UNITS))]


def _funnel(tally: Tally) -> Funnel:
    return Funnel({key: count for key, count in sorted(tally.items()) if count})


# --- many files --------------------------------------------------------------------------------------------------

COLUMNS = (*Triplets.COLUMNS.values(), "split", *FURTHER)


class Share(NamedTuple):
    """The input of one file and how to process it; `note` is the file that stores its counts and titles."""

    piece: Piece
    plan: Plan
    note: Path
    limit: int | None = None  # only the first articles
    repeats: tuple[int, ...] = ()  # positions of the articles that are skipped


def write_shards(
    articles: Sequence[str],
    folder: Path | str,
    plan: Plan | None = None,
    *,
    ending: str = "arrow",
    size: int = PIECE,
    limit: int | None = None,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> tuple[dict[str, Any], Funnel]:
    """Write the triplets of corpora, JSONL files and dumps to a folder, with one file per `size` bytes of a dump.

    Arrow files are read from disk as needed; `ending="parquet"` takes less disk space but is read into memory. With a
    `limit`, one process reads only the first articles of each source. Repeat an interrupted call to resume it.
    """
    plan, folder = plan or Plan(), Path(folder)
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}, expected at least 1 article; omit it for all")
    sources = [_file_of(name).resolve() for name in articles]
    settings = {"kind": "triplets", **asdict(plan), "size": size, "limit": limit, "format": ending}
    settings |= {"sources": [[path.name, path.stat().st_size] for path in sources]}
    if scale.folder(folder, settings):
        manifest = scale.manifest(folder)
        return manifest, Funnel({(rule, unit): count for rule, unit, count in manifest["funnel"]})
    work = (folder / scale.WORK).resolve()
    cut = [
        piece
        for path in sources
        for piece in (pieces(path, max(1, size)) if is_dump(path) and limit is None else [Piece(str(path))])
    ]
    first = {scale.part(work, n, ending): Share(piece, plan, work / f"{n}.json", limit) for n, piece in enumerate(cut)}
    # a single piece is made in this process, which can report progress
    inside, outside = (progress, silent) if len(first) == 1 and ray is None else (silent, progress)
    scale.each(partial(_write_piece, progress=inside), first, workers=workers, ray=ray, progress=outside)
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
    funnel = _funnel(tally)
    if not funnel.left("triplets"):
        raise ValueError(_nothing(", ".join(path.name for path in sources), funnel))
    counts = [(*key, count) for key, count in funnel.counts.items()]
    made = scale.finish(folder, settings, rows=funnel.left("triplets"), splits=splits_of(last), funnel=counts)
    return made, funnel


def _file_of(name: str) -> Path:
    """The file of this name, or of this corpus."""
    path = Path(name)
    if path.is_file():
        return path
    if name not in CORPORA:
        load(name)  # raises an error that says what is wrong
    elif (shape := CORPORA[name].shape) != "Articles":
        raise ValueError(f"corpus {name!r} has {SHAPES_BY_NAME[shape].KIND}, expected articles with sections")
    elif (place := CORPORA[name].here()) and place.is_file():
        return place
    raise ValueError(f"{name} is not a file of articles; give a .jsonl or a dump (list a folder's files one by one)")


def _noted(share: Share) -> dict[str, Any]:
    noted: dict[str, Any] = json.loads(share.note.read_text(encoding="utf-8"))
    return noted


def _nothing(name: str, funnel: Funnel) -> str:
    """One sentence that explains why no triplet was made."""
    worst = max(funnel.rules, key=lambda rule: funnel.removed(rule, "articles"), default="")
    read, gone = funnel.read("articles"), funnel.removed(worst, "articles")
    why = f"the rule {worst!r} removed {gone:,} of {read:,} articles" if gone else f"{read:,} articles were read"
    return f"{name} gives no triplets: {why}. Use articles with five or more sections, each with several paragraphs"


# --- one file ----------------------------------------------------------------------------------------------------

Items = Iterable[tuple[Article | Page, str]]  # articles or pages with their splits


def _write_piece(share: Share, path: Path, progress: Progress = silent) -> None:
    """Write the triplets of a piece; a note records what the rules removed and the keys of its articles' titles."""
    tally: Tally = Counter()
    titles: list[str] = []
    source = Path(share.piece.path)
    dump = Dump(source, tally, share.piece.start, share.piece.stop) if is_dump(source) else None
    items: Items = read_articles(source) if dump is None else ((page, hashed_split(page.title)) for page in dump)

    def noted() -> Items:
        for done, item in enumerate(islice(items, share.limit)):
            titles.append(item[0].title)
            progress(dump.done if dump else done, dump.total if dump else share.limit, f"triplets of {source.name}")
            yield item

    rows = triplet_rows(_prepared(noted(), share.plan.by, tally, share.repeats), share.plan, tally)
    write_texts(rows, path, COLUMNS)
    counts = [(rule, unit, count) for (rule, unit), count in tally.items()]
    write_text(share.note, json.dumps({"titles": key_rows(titles).tobytes().hex(), "tally": counts}))


def _prepared(items: Items, by: str, tally: Tally, repeats: Collection[int]) -> Iterator[Prepared]:
    """The prepared articles; iterating updates the tally."""
    left_out = set(repeats)
    for place, (item, split) in enumerate(items):
        if place in left_out:
            tally.update({(READ, "articles"): 1, (rules.REPEATED, "articles"): 1})
            continue
        if isinstance(item, Page):
            from labkit.thematic.wikitext import article_of  # needs the extra wikipedia, and only a dump has pages

            article, unclosed = article_of(item.title, item.wikitext, item.namespaces)
            tally.update({(READ, "sentences"): unclosed, (UNCLOSED, "sentences"): unclosed})
        else:
            article = item
        themes, removed = sifted(article, by=by)
        tally.update(removed)
        if themes:
            yield Prepared(article.title, split, themes)


def _write_last(given: tuple[Share, Path], path: Path) -> None:
    """Write the final piece: unchanged, or again without articles whose title occurred before."""
    share, first = given
    if share.repeats:
        _write_piece(share, path)
    else:
        shutil.copyfile(first, path)


def write_triplets(
    articles: Sequence[str],
    path: Path | str,
    plan: Plan | None = None,
    *,
    limit: int | None = None,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> Funnel:
    """Write the same triplets to one file (.csv, .tsv or .jsonl, optionally .gz), completely or not at all."""
    path = Path(path)
    check_output(path)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        made, funnel = write_shards(
            articles, Path(folder) / "pieces", plan, limit=limit, workers=workers, ray=ray, progress=progress
        )
        files = sorted((Path(folder) / "pieces").glob("part-*"))
        rows = (row for file in files for table in tables(Part(str(file))) for row in table.to_pylist())
        write_rows(rows, path, total=made["rows"])
    return funnel


def triplets_and_funnel(corpus: Articles, plan: Plan | None = None) -> tuple[Triplets, Funnel]:
    """The triplets of a corpus in memory, and what the rules removed."""
    tally: Tally = Counter()
    return triplets_of(corpus, **asdict(plan or Plan()), tally=tally), _funnel(tally)
