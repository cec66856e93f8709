"""Articles as triplets in a folder of shards, for tests of all that reads such folders."""

from __future__ import annotations

import tempfile
from pathlib import Path

from labkit.corpora import Corpus
from labkit.corpora.files import write_rows
from labkit.corpora.streamed import Streamed
from labkit.thematic.making import write_shards


def sharded(corpus: Corpus, shards: int = 2) -> Streamed:
    """In a folder of their own; two shards are fewer than the lanes of most batches, so that some lanes are empty."""
    folder = Path(tempfile.mkdtemp(prefix="sharded-"))
    sources = [folder / f"{number}.jsonl" for number in range(shards)]
    for number, source in enumerate(sources):
        write_rows(list(corpus.rows())[number::shards], source)
    return Streamed(write_shards([str(source) for source in sources], folder / "out")[0], "sharded")
