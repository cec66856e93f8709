"""The data of the tables: published sets, combined as needed, or a bundled corpus as a substitute.

In: released corpora. Out: one corpus with the splits that a recipe expects.

A `Desk` knows the data on this machine: published sets in a folder or the cache, else bundled corpora. In: a folder, or
none. Out: `DataAtHand` by name. A corpus is read when its sentences are needed; its size and fingerprint are cached
next to the cells, so planning never rereads it. An incomplete set is reported and not used.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np
from platformdirs import user_cache_path

from labkit.atomic import write_text
from labkit.corpora import CORPORA, Articles, Corpus, Groups, Labelled, Pairs
from labkit.corpora.article_triplets import triplets_of
from labkit.corpora.catalogue import PAIRED
from labkit.corpora.published import PUBLISHED
from labkit.corpora.relations import components, linked
from labkit.experiment import VERSION, digest
from labkit.progress import Progress, silent

CITY = "pit"  # the smallest city of GeoER: training takes minutes
LEARNED = 40_000  # training triplets, of 176,000: training takes minutes instead of hours
CAPTIONS = 45_000  # training captions of Flickr30k, of 143,000


@dataclass(frozen=True)
class DataSet:
    """The data of a measurement. All `parts`, published corpora, are needed, and `together` combines them.

    `derived` builds a substitute from the bundled corpus. Sentences of `apart`, corpora that score other rows,
    are removed from the training split if these corpora are available.
    """

    name: str
    embedded: str = ""
    parts: tuple[str, ...] = ()
    together: Callable[[Sequence[Corpus]], Corpus] = itemgetter(0)
    derived: bool = False
    apart: tuple[str, ...] = ()
    note: str = ""  # differences between the published form and the paper's


# --- data sets combined from corpora -----------------------------------------------------------------------------


def _quora(corpora: Sequence[Corpus]) -> Corpus:
    """Quora's pairs in Wang et al.'s split.

    If only its dev is available, that becomes test, and dev is a part of train of which half are duplicates, as in Wang
    et al.'s dev; no two splits then share a question in any spelling.
    """
    train, bimpm = corpora
    assert isinstance(train, Pairs) and isinstance(bimpm, Pairs)  # noqa: PT018
    if {"train", "dev", "test"} <= set(bimpm.splits):
        return replace(bimpm, name="quora", extra={})
    asked = set(map(spelt, bimpm.sentences()))
    marked = train.extra.get("question_in_bimpm_eval", ("0",) * len(train))
    rows = [
        row
        for row, (a, b) in enumerate(zip(train.text_a, train.text_b, strict=True))
        if str(marked[row]) != "1" and spelt(a) not in asked and spelt(b) not in asked
    ]
    seen = train.take(rows)
    held = _held(seen, len(seen) // 8)
    duplicates, others = (np.flatnonzero(held & (seen.labels == label)) for label in (1, 0))
    few = min(len(duplicates), len(others))
    dev = np.sort(np.concatenate([duplicates[:few], others[:few]])).tolist()
    learned = np.flatnonzero(~held).tolist()
    parts = [replace(seen.take(at), splits=(split,) * len(at)) for at, split in ((learned, "train"), (dev, "dev"))]
    return _joined("quora", [*parts, replace(bimpm, splits=("test",) * len(bimpm))])


def _held(pairs: Pairs, count: int) -> np.ndarray:
    """Mark up to `count` random pairs, in groups that share a question; the first group too large ends the draw."""
    joined, sizes = np.unique(linked(_spelt_alike(pairs)), return_inverse=True, return_counts=True)[1:]
    order = np.random.default_rng(0).permutation(len(sizes))
    held = np.zeros(len(sizes), bool)
    held[order[np.cumsum(sizes[order]) <= count]] = True
    return held[joined]


def spelt(text: str) -> str:
    """The letters and digits of a text, so that "I wo n't ." equals "I won't."; a text without these is unchanged."""
    return "".join(filter(str.isalnum, text.casefold())) or text


def _spelt_alike(pairs: Pairs) -> Pairs:
    """The pairs, with texts that differ only in spelling made equal."""
    return replace(pairs, text_a=tuple(map(spelt, pairs.text_a)), text_b=tuple(map(spelt, pairs.text_b)))


def _captions(corpora: Sequence[Corpus]) -> Corpus:
    """Train on Flickr30k, score on COCO: unlike in the paper's own setup, no picture is in both."""
    flickr, coco = corpora
    learned = [flickr.part(split) for split in ("train", "dev") if split in flickr.splits]
    whole = _joined("captions", [*learned, replace(coco, splits=("test",) * len(coco))])
    return cut(whole, CAPTIONS)


def _few_captions(corpora: Sequence[Corpus]) -> Corpus:
    """Like `_captions` with fewer training captions, for tables with many runs."""
    return cut(_captions(corpora), CAPTIONS // 3)


def _places(corpora: Sequence[Corpus]) -> Corpus:
    """Turn pairs of one city's places into classes: places connected by pairs labelled 1.

    The release splits pairs, so a place may have records in several splits. Here all records of a place are in one
    split: test if any of them is there, else dev, else train.
    """
    (pairs,) = corpora
    assert isinstance(pairs, Pairs)
    cities = pairs.extra.get("city", (CITY,) * len(pairs))
    here = pairs.take([row for row, city in enumerate(cities) if city == CITY])
    place = dict(zip(*components(_spelt_alike(here)), strict=True))
    split: dict[int, str] = {}
    for name in ("test", "dev", "train"):
        if name in here.splits:
            for text in here.part(name).sentences():
                split.setdefault(place[spelt(text)], name)
    texts = here.sentences()
    labels = [place[spelt(text)] for text in texts]
    splits = [split[label] for label in labels]
    return Labelled(texts, [f"place {label}" for label in labels], splits=splits, name="places")


def _sentences(corpora: Sequence[Corpus]) -> Corpus:
    """Triplets of sentences, with negatives from neighbouring sections; a sample of large sets."""
    (articles,) = corpora
    assert isinstance(articles, Articles)
    return at_random(triplets_of(articles), {"train": LEARNED, "dev": LEARNED // 8})


def _titles(corpora: Sequence[Corpus]) -> Corpus:
    """Triplets of a section's first sentence, its title, and a neighbouring title."""
    (articles,) = corpora
    assert isinstance(articles, Articles)
    return triplets_of(articles, rule="titles")


def _scored_on_dev(corpora: Sequence[Corpus]) -> Corpus:
    """The corpus with dev in place of a missing test split; no setting is chosen on it."""
    (corpus,) = corpora
    if "test" in corpus.splits:
        return corpus
    return replace(corpus, splits=tuple("test" if split == "dev" else split for split in corpus.splits))


def _held_out(corpora: Sequence[Corpus]) -> Corpus:
    """Hold out a fifth of the training pairs as dev; drop training pairs that share a sentence with dev or test."""
    corpus = without(corpora[0], [corpora[0].part("test")])
    if "dev" in corpus.splits:
        return corpus
    train = [row for row, split in enumerate(corpus.splits) if split == "train"]
    held = set(np.random.default_rng(0).permutation(train)[: max(1, len(train) // 5)].tolist())
    splits = ["dev" if row in held else split for row, split in enumerate(corpus.splits)]
    divided = replace(corpus, splits=splits)
    return without(divided, [divided.part("dev")])


def _joined(name: str, corpora: Sequence[Corpus]) -> Corpus:
    """Concatenate corpora, dropping extra columns."""
    kind = type(corpora[0])
    columns: dict[str, Any] = {
        field: [value for corpus in corpora for value in getattr(corpus, field)] for field in kind.COLUMNS
    }
    splits = [split for corpus in corpora for split in corpus.splits]
    return kind(name=name, splits=splits, **columns)


_FEWER = "fewer and broader articles than the paper's"
_OTHER_PICTURES = (
    "trained on a part of Flickr30k, so that no scored picture was seen in training, and without the captions that "
    "occur in STS-B or SICK"
)
_CAPTIONS: dict[str, Any] = {"apart": ("stsb", "sick"), "note": _OTHER_PICTURES}
_ALL = (
    DataSet("quora", "questions", ("qqp", "qqp-bimpm"), _quora,
            note=(
                "only the dev set of Wang et al.'s split is available, so its 10,000 pairs are the test set here. One "
                "eighth of the labelled training pairs is the dev split, half of them duplicates, as in their sample. "
                "No two splits share a question, whatever its spelling"
            )),
    DataSet("mrpc", "", ("mrpc",), _held_out,
            note="in the official split, one test pair in eight shares a sentence with a training pair; such training "
            "pairs are left out. There is no dev split, and pairs used for training lie further apart than others, so "
            "the threshold comes from a held-out fifth of the training pairs"),
    DataSet("articles", "articles", ("wikipedia",), note=_FEWER),
    DataSet("triplets-sen", "articles", ("wikipedia",), _sentences, derived=True,
            note=f"{_FEWER}; training uses {LEARNED:,} of the triplets, drawn at random"),
    DataSet("triplets-titles", "articles", ("wikipedia",), _titles, derived=True, note=_FEWER),
    DataSet("places", "places", ("geoer",), _places,
            note="places in Pittsburgh instead of the paper's own; all records of a place are in one split here, but "
            "not in the release, which is divided by pairs"),
    DataSet("stsb", "relatedness", ("stsb",),
            note="as released, sentences of some test pairs also occur in training"),
    DataSet("sick", "relatedness", ("sick",), _scored_on_dev,
            note=(
                "scored on the trial pairs, not on the test set; as released, most of their sentences occur in "
                "training"
            )),
    DataSet("captions", "captions", ("flickr30k", "coco"), _captions, **_CAPTIONS),
    DataSet("captions-few", "captions", ("flickr30k", "coco"), _few_captions, **_CAPTIONS),
    DataSet("sts", "", ("sts12-16",)),
    *(DataSet(name, "", (name,)) for name in ("mr", "cr", "subj", "mpqa")),
    DataSet("sst", "", ("sst-phrases",), _scored_on_dev, note="trained on phrases, scored on the dev sentences"),
    DataSet("trec", "topics", ("trec",)),
    DataSet("20news", "topics", ("20news",)),
    *(DataSet(f"minimal-{name}", name) for name in PAIRED),
)  # fmt: skip
DATASETS: dict[str, DataSet] = {each.name: each for each in _ALL}


def without(corpus: Corpus, apart: Sequence[Corpus]) -> Corpus:
    """The corpus without training rows that contain an exact sentence of another corpus."""
    if not apart:
        return corpus
    scored = {spelt(text) for other in apart for text in other.sentences()}
    columns = [getattr(corpus, name) for name in corpus.TEXTS]
    return corpus.take(
        row
        for row, split in enumerate(corpus.splits)
        if split != "train" or not any(spelt(column[row]) in scored for column in columns)
    )


def at_random(corpus: Corpus, most: Mapping[str, int]) -> Corpus:
    """A sample of at most this many rows per split, drawn with a fixed seed, in the original order."""
    left = []
    for split in dict.fromkeys(corpus.splits):
        rows = [row for row, name in enumerate(corpus.splits) if name == split]
        if len(rows) > most.get(split, len(rows)):
            rows = np.random.default_rng(0).choice(rows, most[split], replace=False).tolist()
        left += rows
    return corpus.take(sorted(left))


def cut(corpus: Corpus, rows: int) -> Corpus:
    """At most the first `rows` training rows (groups stay whole), and all of dev and test."""
    train = [row for row, split in enumerate(corpus.splits) if split == "train"]
    if len(train) <= rows:
        return corpus
    last = train[rows - 1]
    if isinstance(corpus, Groups):
        last = max(row for row in train if corpus.groups[row] == corpus.groups[last])
    return corpus.take(row for row, split in enumerate(corpus.splits) if split != "train" or row <= last)


# --- available data ----------------------------------------------------------------------------------------------

QUICK_ROWS = 1_200  # training rows
REMEMBERED = {"sizes", "fingerprint", "articles"}  # facts about a data set, valid while its files are unchanged


class Missing(ValueError):
    """A data set that is not available."""


@dataclass(frozen=True, eq=False)
class DataAtHand:
    """A dataset: its name, rows per split and fingerprint; the corpus is opened when used.

    The rows of `articles` are whole articles; `quick` is a small part of a bundled corpus.
    """

    title: str
    published: bool
    sizes: Mapping[str, int]
    fingerprint: str
    read: Callable[[], Corpus] = field(repr=False)
    articles: bool = False
    quick: bool = False

    @classmethod
    def of(cls, corpus: Corpus, title: str, *, published: bool = False, quick: bool = False) -> Self:
        """The record of a corpus that has been read."""
        is_articles = isinstance(corpus, Articles)
        return cls(title, published, corpus.sizes, corpus.fingerprint, lambda: corpus, is_articles, quick)

    @cached_property
    def corpus(self) -> Corpus:
        return self.read()

    def __str__(self) -> str:
        return f"{self.title} ({', '.join(f'{split} {size:,}' for split, size in self.sizes.items())})"


def default_folder() -> Path:
    """The folder of this user's results and of facts about data sets."""
    return user_cache_path("labkit") / "papers"


def read_json(path: Path) -> dict[str, Any]:
    """The record in a file; empty if the file is missing or damaged."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record to a file, whose folder is created if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(record, allow_nan=False))


class Desk:
    """The available data sets. With `quick` all are bundled, and only a small part of their training split is used."""

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
        self._opened: dict[tuple[str, bool], DataAtHand] = {}

    def missing(self, name: str) -> list[str]:
        """The missing parts of the published form: files of the plain form, else names of corpora."""
        return [lack for part in DATASETS[name].parts for lack in PUBLISHED[part].missing(self.folder)]

    def published(self, names: Sequence[str]) -> bool:
        """Whether a table on these data sets uses published data, which needs at least one of them."""
        return not self.quick and any(DATASETS[name].parts and not self.missing(name) for name in names)

    def why_not(self, name: str, *, published: bool) -> str:
        """Why this data set cannot be opened; empty if it can be opened."""
        if published:
            lacks = self.missing(name)
            return f"{', '.join(lacks)} {'is' if len(lacks) == 1 else 'are'} not here" if lacks else ""
        return "" if DATASETS[name].embedded else f"no bundled corpus stands in for {name}"

    def open(self, name: str, *, published: bool) -> DataAtHand:
        """The data set, read at most once; its record is cached as long as its files are unchanged."""
        if reason := self.why_not(name, published=published):
            raise Missing(f"{name} cannot be opened: {reason}")
        if (name, published) in self._opened:
            return self._opened[name, published]
        wanted = DATASETS[name]
        title = ", ".join(wanted.parts) if published else f"{wanted.embedded}, embedded"
        read = partial(self._published if published else self._embedded, wanted)
        files = self._files(wanted, published)
        key = digest({"set": name, "quick": self.quick, "version": VERSION, "files": files})
        memo = read_json(self._memo)
        if (known := memo.get(key, {})).keys() == REMEMBERED:
            data = DataAtHand(title, published, read=read, quick=self.quick, **known)
        else:
            self._progress(len(self._opened), None, f"reading {title}")
            data = DataAtHand.of(read(), title, published=published, quick=self.quick)
            write_json(self._memo, memo | {key: {each: getattr(data, each) for each in sorted(REMEMBERED)}})
        self._opened[name, published] = data
        return data

    def _files(self, wanted: DataSet, published: bool) -> list[list[Any]]:
        """Path, size and modification time of every file that is read."""
        parts = (*wanted.parts, *wanted.apart) if published else ()
        paths = [path for part in parts for path in PUBLISHED[part].paths(self.folder)]
        if not published and (here := CORPORA[wanted.embedded].here()) is not None:
            paths.append(here)
        return [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in paths if path.is_file()]

    def _embedded(self, wanted: DataSet) -> Corpus:
        corpus = CORPORA[wanted.embedded].load()
        corpus = wanted.together([corpus]) if wanted.derived else corpus
        return cut(corpus, QUICK_ROWS) if self.quick else corpus

    def _published(self, wanted: DataSet) -> Corpus:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # `missing` reports the gaps of a release
            corpora = [PUBLISHED[part].load(self.folder) for part in wanted.parts]
            others = [PUBLISHED[name] for name in wanted.apart]
            apart = [other.load(self.folder) for other in others if not other.missing(self.folder)]
        return without(wanted.together(corpora), apart)
