"""Triplets of articles in a folder of shards, for tests of code that reads such folders."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from labkit.corpora import Corpus
from labkit.corpora.files import write_rows
from labkit.corpora.shards import corpus_of_folder, write_distinct
from labkit.embedding_shards import write_vectors
from labkit.evaluation.neighbour_shards import write_neighbours
from labkit.thematic.from_dumps import write_shards


def sharded(corpus: Corpus, shards: int = 2, *, ending: str = "arrow") -> Corpus:
    """The triplets of these articles, written to a temporary folder and read from disk."""
    folder = Path(tempfile.mkdtemp(prefix="sharded-"))
    sources = [folder / f"{number}.jsonl" for number in range(shards)]
    for number, source in enumerate(sources):
        write_rows(list(corpus.rows())[number::shards], source)
    write_shards([str(source) for source in sources], folder / "out", ending=ending)
    return corpus_of_folder(folder / "out", "sharded")


def all_stages(run: Path, triplets: Path, out: Path, **who: Any) -> list[Path]:
    """Run every stage after the triplets, each with at least two tasks, and return their folders in `out`."""
    folders = [out / name for name in ("distinct", "vectors", "near")]
    write_distinct([triplets], folders[0], column="anchor", size=40, **who)
    write_vectors(run, [folders[0]], folders[1], column="anchor", size=40, **who)
    write_neighbours(folders[1], folders[2], count=3, **who)
    return folders
