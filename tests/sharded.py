"""Articles as triplets in a folder of shards, for tests of all that reads such folders."""

from __future__ import annotations

import tempfile
from pathlib import Path

from labkit.corpora import Corpus
from labkit.corpora.files import write_rows
from labkit.corpora.repeats import write_distinct
from labkit.corpora.shards import Manifest
from labkit.corpora.streamed import Streamed
from labkit.embedding_shards import write_vectors
from labkit.evaluation.neighbour_shards import write_neighbours
from labkit.executors import Executor
from labkit.thematic.making import write_shards


def sharded(corpus: Corpus, shards: int = 2) -> Streamed:
    """In a folder of their own; two shards are fewer than the lanes of most batches, so that some lanes are empty."""
    folder = Path(tempfile.mkdtemp(prefix="sharded-"))
    sources = [folder / f"{number}.jsonl" for number in range(shards)]
    for number, source in enumerate(sources):
        write_rows(list(corpus.rows())[number::shards], source)
    return Streamed(write_shards([str(source) for source in sources], folder / "out")[0], "sharded")


def all_stages(run: Path, triplets: Path, out: Path, executor: Executor) -> list[Manifest]:
    """What is made of triplets by every further stage, in folders in `out`: two tasks or more each."""
    distinct = write_distinct([triplets], out / "distinct", columns=["anchor", "positive"], size=40, executor=executor)
    vectors = write_vectors(run, [distinct.folder], out / "vectors", size=40, executor=executor)
    near = write_neighbours(vectors.folder, out / "near", count=3, executor=executor)
    return [distinct, vectors, near]
