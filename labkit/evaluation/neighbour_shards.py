"""Nearest neighbours by cosine among more vectors than fit in memory.

    write_neighbours(base, folder, queries=None, count=10, index="exact")

In: files of vectors (`labkit.embedding_shards`), read one tile at a time. Out: Parquet files with a row for each query:
its number `row`, the numbers `neighbours` of the nearest rows, nearest first, and their `cosines`. Without `queries`,
all rows are queries, and a row never finds itself, but it may find a copy. A row of zeros has cosine 0 with every row.
Cosines are in float32, so rows whose cosines differ by less than about 1e-6 may be swapped. `neighbours.py` searches
exactly among vectors that fit in memory.

    exact    compares every query with every row: queries x rows x columns multiplications, which is quadratic. The
             time is estimated from a small block and announced first.
    faiss    uses an inverted index (faiss, an extra): rows are in lists around centres, and a query searches the lists
             of its nearest centres. Building needs the index in memory (4 bytes per number); searching maps the
             file. Its recall, the share of exact neighbours that it finds, is measured on a sample of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # `scale.one_thread` would import torch: 190 MB in each process

from labkit import scale
from labkit.arrays import unit, whole
from labkit.corpora.shards import identified, write_tables
from labkit.embedding_shards import VectorShards, in_float32, opened_vectors
from labkit.evaluation.neighbours import foreseen, sampled
from labkit.extras import require
from labkit.progress import Progress, silent

INDEXES = ("exact", "faiss")
ASKED = 2**14  # queries per task
TILE, TOGETHER = 2**14, 2**10  # rows and queries compared at once: 64 MB of cosines
REMEDY = "use --index faiss, or confirm with --yes"
RECALLED = 1_000  # queries for which an index is compared with exact search
LOOKED_THROUGH, LEARNED_FROM = 32, 64  # lists searched per query; rows per list used to learn its centre

Search = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # numbers of queries -> rows, cosines (m, count)


def write_neighbours(
    base: Path | str,
    folder: Path | str,
    *,
    queries: Path | str | None = None,
    count: int = 10,
    index: str = "exact",
    insist: bool = False,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write the `count` nearest rows of `base` for each row of `queries` (or of `base`) to a folder of Parquet files.

    Repeating the call resumes it after an interruption. An exact search of more than a day is refused without `insist`.
    """
    if index not in INDEXES:
        raise ValueError(f"index is {index!r}, expected one of {', '.join(INDEXES)}")
    folder, rows = Path(folder), opened_vectors(base)
    asking = rows if queries is None else opened_vectors(queries)
    if asking.dimension != rows.dimension:
        raise ValueError(
            f"queries have {asking.dimension} columns but the base has {rows.dimension}; encode both with the same run"
        )
    whole("count", count, 1, len(rows) - (queries is None), "the number of other rows")
    if index == "faiss":
        _faiss()  # raises an error if faiss is not installed
    sources = [identified(map(Path, each.paths)) for each in ((rows,) if queries is None else (rows, asking))]
    plan = {"kind": "neighbours", "index": index, "count": count, "sources": sources}
    if scale.folder(folder, plan):
        return scale.manifest(folder)
    starts = range(0, len(asking), ASKED)
    files = {scale.part(folder, number, "parquet"): start for number, start in enumerate(starts)}
    question = (rows, asking, queries is None, count)
    search: Search = partial(_exact, *question)
    results: dict[str, Any] = {"rows": len(asking), "nearest": count, "index": index, "base": len(rows)}
    if index == "faiss":
        file = folder / scale.WORK / "index.faiss"
        scale.each(partial(_build, progress=progress), {file: rows})
        search = partial(_approximate, str(file), *question)
        progress(0, None, "measuring the recall")
        numbers = sampled(np.arange(len(asking)), RECALLED)
        with threadpool_limits(1):
            both = (_exact(*question, numbers)[0][:, :, None] == search(numbers)[0][:, None, :]).any(axis=2)
        results |= {"recall": float(both.mean()), "recalled": len(numbers)}
    elif missing := sum(not path.is_file() for path in files):
        block = np.ones((min(TILE, len(rows)), rows.dimension), np.float32)
        left = len(asking) * missing / len(files)
        with threadpool_limits(1):
            foreseen(left, block, len(rows), workers=workers, insist=insist, remedy=REMEDY)
    scale.each(partial(_answer, search, len(asking)), files, workers=workers, ray=ray, progress=progress)
    return scale.finish(folder, plan, **results)


# --- answers -----------------------------------------------------------------------------------------------------


def _answer(search: Search, total: int, start: int, path: Path) -> None:
    """Write one file of neighbours."""
    import pyarrow as arrow

    numbers = np.arange(start, min(start + ASKED, total))
    with threadpool_limits(1):
        near, cosines = search(numbers)
    lists = (arrow.FixedSizeListArray.from_arrays(each.ravel(), near.shape[1]) for each in (near, cosines))
    table = arrow.table(dict(zip(("row", "neighbours", "cosines"), (arrow.array(numbers), *lists), strict=True)))
    write_tables([table], path, table.schema)


def _exact(
    base: VectorShards, queries: VectorShards, themselves: bool, count: int, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest rows of `base` for these queries, and their cosines, (m, count) each.

    `themselves`: the queries are rows of `base`, and none finds itself.
    """
    asked = _directions(queries, numbers)
    near = np.full((len(numbers), count), -1, np.int64)
    cosines = np.full(near.shape, -np.inf, np.float32)
    for first, tile in _tiles(base):
        for start in range(0, len(asked), TOGETHER):
            block = slice(start, start + TOGETHER)
            scores = asked[block] @ tile.T
            if themselves:
                own = numbers[block] - first
                here = np.flatnonzero((own >= 0) & (own < len(tile)))
                scores[here, own[here]] = -np.inf
            _merge(near[block], cosines[block], scores, first)
    return near, cosines


def _merge(near: np.ndarray, cosines: np.ndarray, scores: np.ndarray, first: int) -> None:
    """Merge the nearer rows of a tile into the result; ties keep the earlier row."""
    m, count = near.shape
    least = cosines[:, -1:]
    if scores.shape[1] > count and np.isneginf(least).any():  # at first, most rows are nearer
        least = np.maximum(least, np.partition(scores, -count, axis=1)[:, -count, None])
    rows, columns = np.nonzero((scores > cosines[:, -1:]) & (scores >= least))
    owner = np.concatenate([np.repeat(np.arange(m), count), rows])
    which = np.concatenate([near.ravel(), columns + first])
    score = np.concatenate([cosines.ravel(), scores[rows, columns]])
    order = np.lexsort((which, -score, owner))
    best = order[np.searchsorted(owner[order], np.arange(m))[:, None] + np.arange(count)]
    near[:], cosines[:] = which[best], score[best]


def _tiles(vectors: VectorShards) -> Iterator[tuple[int, np.ndarray]]:
    """All rows scaled to length 1, in tiles, each with the number of its first row."""
    for number, first in enumerate(vectors.bounds[:-1]):
        array = vectors.array(number)
        for start in range(0, len(array), TILE):
            rows = in_float32(array[start : start + TILE], vectors.paths[number], start)
            yield first + start, unit(rows)


def _directions(vectors: VectorShards, numbers: np.ndarray) -> np.ndarray:
    directions: np.ndarray = unit(in_float32(vectors.rows(numbers), vectors.name, int(numbers[0])))
    return directions


# --- an index ----------------------------------------------------------------------------------------------------


def _faiss() -> Any:
    """Import faiss and limit it to one thread; raise an error if it is not installed."""
    require("faiss", "faiss")
    import faiss

    faiss.omp_set_num_threads(1)
    return faiss


def _build(rows: VectorShards, path: Path, *, progress: Progress) -> None:
    """Learn the centres, add all rows to their lists, and save the index in a file."""
    faiss = _faiss()
    lists = max(1, min(int(2 * len(rows) ** 0.5), len(rows) // LEARNED_FROM))
    with threadpool_limits(1):
        index = faiss.index_factory(rows.dimension, f"IVF{lists},Flat", faiss.METRIC_INNER_PRODUCT)
        index.cp.niter = 10
        progress(0, None, "learning the centres of the index")
        index.train(_directions(rows, sampled(np.arange(len(rows)), lists * LEARNED_FROM)))
        for first, tile in _tiles(rows):
            progress(first, len(rows), "adding rows to the index")
            index.add(tile)
    faiss.write_index(index, str(path))


@lru_cache(maxsize=1)
def _opened_index(path: str) -> Any:
    """The memory-mapped index, opened once per process."""
    faiss = _faiss()
    index = faiss.read_index(path, faiss.IO_FLAG_MMAP)
    index.nprobe = LOOKED_THROUGH
    return index


def _approximate(
    file: str, base: VectorShards, queries: VectorShards, themselves: bool, count: int, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The neighbours that the index in this file finds for these queries, ordered by cosine."""
    cosines, near = _opened_index(file).search(_directions(queries, numbers), min(count + 1, len(base)))
    cosines[near < 0] = -np.inf
    if themselves:
        cosines[near == numbers[:, None]] = -np.inf
    order = np.lexsort((near, -cosines))[:, :count]
    near, cosines = np.take_along_axis(near, order, 1), np.take_along_axis(cosines, order, 1)
    few = np.flatnonzero(np.isneginf(cosines).any(axis=1))  # the lists of their centres have too few rows
    if len(few):
        near[few], cosines[few] = _exact(base, queries, themselves, count, numbers[few])
    return near, cosines
