"""Word vectors of more sentences than fit into memory: the counts of `vectors.py`, made a stretch of rows a task.

    counted_vectors(sources, folder)   exactly the vectors that `ppmi_vectors` makes of all the sentences at once

In: Parquet files, folders of shards and other files with a column of texts, of which the training rows count, where
rows have splits. Out: `WordVectors`, and how often each word occurs, which `sif` needs. Two rounds: words are counted,
which gives the vocabulary; then which words stand near which. What is in memory is a stretch of sentences, the counts
of words, some words' counts of pairs, and at last the information of all pairs that stand together more than by
chance: 12 bytes each, which grow no further once the words have met.

A sentence that stands twice counts twice: `labkit data dedup` before, where it should not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.corpora.shards import (
    GROUP,
    Making,
    Manifest,
    manifest_of,
    plan_of,
    read_shards,
    write_parquet,
    write_tables,
)
from labkit.corpora.stretches import ROWS, Stretch, stretches_of, text_blocks
from labkit.executors import Executor, Local, one_thread
from labkit.progress import Progress, silent
from labkit.text import Vocabulary, words
from labkit.vectors import WordVectors, counted_units, vectors_of_units

ENTRIES = 2**24  # counts of pairs that are added up at once: 128 MB
PAIRS = ("word", "near", "units")


@dataclass(frozen=True)
class CountedVectors:
    """Word vectors, and how often each word occurs in all the sentences, of the vocabulary or not."""

    vectors: WordVectors
    counts: Counter[str]


@dataclass(frozen=True)
class _Counting:
    """What a task reads, and, where pairs are counted, the bounds of the vocabulary and where its words stand."""

    stretch: Stretch
    columns: tuple[str, ...]
    words: str = ""
    least: int = 0
    most: int = 0
    window: int = 0


def counted_vectors(
    sources: Sequence[Path | str],
    folder: Path | str,
    *,
    columns: Sequence[str] = ("text",),
    dimension: int = 100,
    window: int = 10,
    least: int = 2,
    most: int = 30_000,
    seed: int = 0,
    size: int = ROWS,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> CountedVectors:
    """The vectors of the words of all rows; the counts stay in `folder`, in `words` and in `pairs`.

    Whatever stops it, the same call goes on from there. Several workers are processes started anew: call this below
    `if __name__ == "__main__":` in a script then.
    """
    folder, columns, executor = Path(folder), tuple(columns), executor or Local(1)
    source = stretches_of(sources, columns, rows=size, progress=progress)
    total = len(source.each)
    settings: dict[str, Any] = {"columns": columns, "size": size, "rows": source.fingerprint}
    with Making(folder / "words", plan_of("words", settings, source.files)) as making:
        if not making.finished:
            tasks = {number: _Counting(stretch, columns) for number, stretch in enumerate(source.each)}
            making.run(_words, tasks, executor, progress=progress)
            making.finish(total)
    counts = _all_words(str(folder / "words"))
    vocabulary = Vocabulary.of_counts(counts, least=least, most=most)
    settings |= {"window": window, "least": least, "most": most}
    with Making(folder / "pairs", plan_of("pairs", settings, source.files, "scipy")) as making:
        if not making.finished:
            place = str((folder / "words").resolve())
            tasks = {
                number: _Counting(stretch, columns, place, least, most, window)
                for number, stretch in enumerate(source.each)
            }
            making.run(_pairs, tasks, executor, progress=progress)
            making.finish(total)
        blocks = partial(_summed, making.manifest, len(vocabulary), progress)
        made = vectors_of_units(vocabulary, blocks, dimension=dimension, least=least, seed=seed)
    return CountedVectors(made, counts)


def _summed(manifest: Manifest, size: int, progress: Progress) -> Iterator[sparse.csr_array]:
    """The counts of all shards, some words at a time: of a shard only the groups of rows are read that have them."""
    step = max(1, ENTRIES // size)
    for first in range(0, size, step):
        last = min(first + step, size)
        block = np.zeros((last - first, size), np.int64)
        for number in range(len(manifest.shards)):
            for words_there, near, units in _counted(manifest.path(number), first, last):
                block[words_there - first, near] += units  # a pair stands once in a shard
        yield sparse.csr_array(block)
        progress(last, size, "counts of words added up")


def _counted(path: Path, first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Pairs whose word is one of these, and their counts in units, a group of rows of a shard at a time."""
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        groups = [file.metadata.row_group(number).column(0).statistics for number in range(file.num_row_groups)]
        there = [
            number for number, each in enumerate(groups) if each.has_min_max and each.max >= first and each.min < last
        ]
        for batch in file.iter_batches(GROUP, row_groups=there, use_threads=False) if there else ():
            columns = [column.to_numpy() for column in batch.columns]
            low, high = np.searchsorted(columns[0], [first, last])
            yield columns[0][low:high], columns[1][low:high], columns[2][low:high]


def _words(task: _Counting, path: Path) -> dict[str, Any]:
    """How often each word of a stretch occurs, in alphabetical order."""
    counts: Counter[str] = Counter()
    for texts in text_blocks(task.stretch, task.columns, split="train"):
        for text in texts:
            counts.update(words(text))
    rows = ({"word": word, "times": times} for word, times in sorted(counts.items()))
    return write_parquet(rows, path) if counts else write_parquet([], path, ("word", "times"))


def _all_words(folder: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in read_shards(manifest_of(folder)):
        counts[row["word"]] += row["times"]
    return counts


def _pairs(task: _Counting, path: Path) -> dict[str, Any]:
    """Count which words of the vocabulary stand near which in a stretch, by word and by what is near it."""
    import pyarrow as arrow

    vocabulary = _vocabulary(task.words, task.least, task.most)
    texts = chain.from_iterable(text_blocks(task.stretch, task.columns, split="train"))
    with one_thread():
        numbers = (vocabulary.encode(words(text)) for text in texts)
        units = counted_units(numbers, len(vocabulary), window=task.window).tocoo()
    pairs = arrow.table([units.row.astype(np.int32), units.col.astype(np.int32), units.data], names=PAIRS)
    return write_tables([pairs], path, pairs.schema)


def _vocabulary(folder: str, least: int, most: int) -> Vocabulary:
    key = (folder, manifest_of(folder).fingerprint, least, most)
    if _KEPT.get("key") != key:
        _KEPT.update(key=key, vocabulary=Vocabulary.of_counts(_all_words(folder), least=least, most=most))
    vocabulary: Vocabulary = _KEPT["vocabulary"]
    return vocabulary


_KEPT: dict[str, Any] = {}  # the last vocabulary of this process: of hundreds of tasks all have the same
