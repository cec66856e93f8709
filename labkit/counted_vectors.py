"""Word vectors of more sentences than fit into memory: the counts of `vectors.py`, made a stretch of rows a task.

    counted_vectors(sources, folder)   exactly the vectors that `ppmi_vectors` makes of all the sentences at once

In: Parquet files, folders of shards and other files with a column of texts, of which the training rows count, where
rows have splits. Out: `WordVectors`, and how often each word occurs, which `sif` needs. Two rounds: words are counted,
which gives the vocabulary; then which words stand near which. What is in memory is a stretch of sentences, the counts
of words and those of pairs of the vocabulary, which grow no further once the words have met.

A sentence that stands twice counts twice: `labkit data dedup` before, where it should not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.atomic import in_place
from labkit.corpora.shards import Making, manifest_of, plan_of, read_shards, write_parquet
from labkit.corpora.stretches import ROWS, Stretch, stretches_of, text_blocks
from labkit.executors import Executor, Local, one_thread
from labkit.progress import Progress, silent
from labkit.text import Vocabulary, words
from labkit.vectors import WordVectors, counted_units, vectors_of_units


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
    with Making(folder / "pairs", plan_of("pairs", settings, source.files, "scipy"), ending="npz") as making:
        if not making.finished:
            place = str((folder / "words").resolve())
            tasks = {
                number: _Counting(stretch, columns, place, least, most, window)
                for number, stretch in enumerate(source.each)
            }
            making.run(_pairs, tasks, executor, progress=progress)
            making.finish(total)
        units = sparse.csr_array((len(vocabulary), len(vocabulary)), dtype=np.int64)
        for number in range(total):
            units += sparse.csr_array(sparse.load_npz(making.manifest.path(number)))
            progress(number + 1, total, "counts added up")
    return CountedVectors(vectors_of_units(vocabulary, units, dimension=dimension, least=least, seed=seed), counts)


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
    """Count which words of the vocabulary stand near which in a stretch."""
    vocabulary = _vocabulary(task.words, task.least, task.most)
    rows = 0

    def numbers() -> Any:
        nonlocal rows
        for texts in text_blocks(task.stretch, task.columns, split="train"):
            rows += len(texts)
            yield from (vocabulary.encode(words(text)) for text in texts)

    with one_thread():
        units = counted_units(numbers(), len(vocabulary), window=task.window)
    units.sort_indices()
    with in_place(path) as file:
        sparse.save_npz(file, units, compressed=True)
    return {"rows": rows}


def _vocabulary(folder: str, least: int, most: int) -> Vocabulary:
    key = (folder, manifest_of(folder).fingerprint, least, most)
    if _KEPT.get("key") != key:
        _KEPT.update(key=key, vocabulary=Vocabulary.of_counts(_all_words(folder), least=least, most=most))
    vocabulary: Vocabulary = _KEPT["vocabulary"]
    return vocabulary


_KEPT: dict[str, Any] = {}  # the last vocabulary of this process: of hundreds of tasks all have the same
