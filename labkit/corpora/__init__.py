"""Corpora: their shapes, a table of named corpora, and readers for your own files, frames, data sets and lists."""

from labkit.corpora.catalogue import CORPORA, load
from labkit.corpora.files import read_corpus
from labkit.corpora.frames import (
    from_classes,
    from_dataset,
    from_frame,
    from_groups,
    from_pairs,
    from_rows,
    from_sentences,
    from_triplets,
    to_dataset,
    to_pandas,
    to_polars,
)
from labkit.corpora.records import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Sentences, Triplets

__all__ = [
    "CORPORA",
    "Article",
    "Articles",
    "Corpus",
    "Groups",
    "Labelled",
    "Pairs",
    "Section",
    "Sentences",
    "Triplets",
    "from_classes",
    "from_dataset",
    "from_frame",
    "from_groups",
    "from_pairs",
    "from_rows",
    "from_sentences",
    "from_triplets",
    "load",
    "read_corpus",
    "to_dataset",
    "to_pandas",
    "to_polars",
]
