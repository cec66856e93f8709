"""Corpora: their five shapes, the table of all that have a name, and the reader of a file of your own."""

from labkit.corpora.files import read_corpus
from labkit.corpora.records import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Triplets
from labkit.corpora.table import CORPORA, Entry, load

__all__ = [
    "CORPORA",
    "Article",
    "Articles",
    "Corpus",
    "Entry",
    "Groups",
    "Labelled",
    "Pairs",
    "Section",
    "Triplets",
    "load",
    "read_corpus",
]
