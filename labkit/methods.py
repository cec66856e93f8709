"""The table of methods. A new one is a module and a line here; what stands in a line is imported when it is asked for.

METHODS["tfidf"](max_ngram=2)    the method with these settings        load(folder)    the method of any run
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.method import History, Method

__all__ = ["METHODS", "Entry", "History", "Method", "load"]


@dataclass(frozen=True)
class Entry:
    """One line of the table of methods; calling it makes the method with these settings."""

    name: str
    where: str  # "module:class" below labkit, opened when asked for: modules of methods take seconds to import
    summary: str

    @cached_property
    def method(self) -> type[Method]:
        """The class of the method."""
        module, _, kind = self.where.partition(":")
        method: type[Method] = getattr(import_module(f"labkit.{module}"), kind)
        return method

    def __call__(self, **settings: Any) -> Method:
        return self.method(self.method.Settings.of(settings))


# fmt: off
METHODS: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("sentpwnet", "sentpwnet.method:SentPWNet",
              "every pair of a batch weighs what its own and its neighbours' similarity say"),
        Entry("siamese", "sentpwnet.method:Siamese", "same encoder, contrastive loss: every pair weighs the same"),
        Entry("triplet", "sentpwnet.method:Triplet",
              "same encoder, soft-margin triplet loss on the hardest pair of each kind"),
        Entry("bag", "sentpwnet.method:Bag",
              "the mean of word pieces that learn from the labelled pairs alone: the simplest thing that learns"),
        Entry("static", "sentpwnet.method:Static",
              "a bag whose word pieces start with what a large model makes of each; with epochs=0 they stay so"),
        Entry("pthought", "pthought.method:PThought",
              "a GRU's states, from which two others write the sentence again and a paraphrase of it"),
        Entry("thematic", "thematic.method:Thematic",
              "sentences of one section of an article lie closer than those of two; attention shows why"),
        Entry("sbert-lp", "sbert_lp.method:SbertLp",
              "another method's vectors anew, each sentence staying by its neighbours; learns from no label"),
        Entry("film", "film.method:Film", "a low-rank metric on TF-IDF, learned from triplets; its rows can be read"),
        Entry("film-deep", "film.deep:FilmDeep",
              "FILM's triplets and hinge with a small convolutional network in the place of its map"),
        Entry("pv-dbow", "baselines.pv_dbow:PvDbow",
              "a vector from which a sentence's words can be told from noise; new ones are inferred"),
        Entry("mean-vectors", "baselines.averages:MeanVectors", "the mean of a sentence's word vectors"),
        Entry("sif", "baselines.averages:Sif",
              "a mean in which frequent words count little, without what all sentences share"),
        Entry("tfidf", "baselines.counts:Tfidf", "words count the more, the fewer sentences have them; stays sparse"),
        Entry("lsa", "baselines.counts:Lsa", "TF-IDF in the few directions that keep most of it"),
        Entry("sbert", "baselines.sbert:Sbert", "a sentence-transformers model, frozen, as somebody else trained it"),
        Entry("pca", "baselines.transforms:Pca",
              "another method's vectors in the directions along which they vary most"),
        Entry("whitening", "baselines.transforms:Whitening",
              "another method's vectors with the same variance in every direction"),
        Entry("all-but-the-top", "baselines.transforms:AllButTheTop",
              "another method's vectors without their mean and their dominant directions"),
    )
}
# fmt: on


def load(folder: Path | str) -> Method:
    """The method that this run was trained with, ready to encode."""
    from labkit.runs import read_record

    name = read_record(folder)["method"]
    if name not in METHODS:
        raise ValueError(
            f"run {str(folder)!r} is of method {name!r}, expected one of {', '.join(METHODS)}; "
            "install the version of labkit-embeddings that wrote it"
        )
    return METHODS[name]().load(folder)


def __getattr__(name: str) -> Any:
    """What a method is, is imported when somebody asks for it: a shell asks for the names alone, at every key."""
    if name in ("History", "Method"):
        return getattr(import_module("labkit.method"), name)
    raise AttributeError(f"module 'labkit.methods' has no attribute {name!r}")
