"""The table of methods, name -> class. A class is imported when it is asked for: some take seconds.

    METHODS["tfidf"](max_ngram=2)    a method with these settings        load_run(folder)    the method of any run

A new method is a module and a line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labkit.method import Method

__all__ = ["METHODS", "SUMMARIES", "Methods", "load_run"]


class Methods(Mapping[str, "type[Method]"]):
    """Name -> class of a method, out of name -> "module:class" below labkit."""

    def __init__(self, where: Mapping[str, str]) -> None:
        self.where = dict(where)

    def __getitem__(self, name: str) -> type[Method]:
        if name not in self.where:
            near = get_close_matches(str(name), self.where, n=1)
            raise KeyError(f"no method is called {name!r}; " + (f"did you mean {near[0]!r}?" if near else str(self)))
        module, _, kind = self.where[name].partition(":")
        method: type[Method] = getattr(import_module(f"labkit.{module}"), kind)
        return method

    def __repr__(self) -> str:
        return f"METHODS has {', '.join(self.where)}"

    def __contains__(self, name: object) -> bool:
        return name in self.where

    def __iter__(self) -> Iterator[str]:
        return iter(self.where)

    def __len__(self) -> int:
        return len(self.where)


# fmt: off
_TABLE = {  # name: (class, what it is)
    "sentpwnet": ("sentpwnet.method:SentPWNet",
                  "every pair of a batch weighs what its own and its neighbours' similarity say"),
    "siamese": ("sentpwnet.method:Siamese", "same encoder, contrastive loss: every pair weighs the same"),
    "triplet": ("sentpwnet.method:Triplet", "same encoder, soft-margin triplet loss on the hardest pair of each kind"),
    "bag": ("sentpwnet.method:Bag",
            "the mean of word pieces that learn from the labelled pairs alone: the simplest thing that learns"),
    "static": ("sentpwnet.method:Static",
               "a bag whose word pieces start with what a large model makes of each; with epochs=0 they stay so"),
    "pthought": ("pthought.method:PThought",
                 "a GRU's states, from which two others write the sentence again and a paraphrase of it"),
    "thematic": ("thematic.method:Thematic",
                 "sentences of one section of an article lie closer than those of two; attention shows why"),
    "sbert-lp": ("sbert_lp.method:SbertLp",
                 "another method's vectors in fewer dimensions, each sentence among its neighbours; needs no label"),
    "film": ("film.method:Film", "a low-rank metric on TF-IDF, learned from triplets; its rows can be read"),
    "film-deep": ("film.deep:FilmDeep", "FILM's triplets and hinge with a small convolutional network as the map"),
    "pv-dbow": ("baselines.pv_dbow:PvDbow",
                "a vector from which a sentence's words can be told from noise; new ones are inferred"),
    "mean-vectors": ("baselines.averages:MeanVectors", "the mean of a sentence's word vectors"),
    "sif": ("baselines.averages:Sif",
            "a mean in which frequent words count little, without what all sentences share"),
    "tfidf": ("baselines.counts:Tfidf", "words count the more, the fewer sentences have them; stays sparse"),
    "lsa": ("baselines.counts:Lsa", "TF-IDF in the few directions that keep most of it"),
    "sbert": ("baselines.sbert:Sbert", "a sentence-transformers model, frozen, as somebody else trained it"),
    "pca": ("baselines.transforms:Pca", "another method's vectors in the directions along which they vary most"),
    "whitening": ("baselines.transforms:Whitening",
                  "another method's vectors with the same variance in every direction"),
    "all-but-the-top": ("baselines.transforms:AllButTheTop",
                        "another method's vectors without their mean and their dominant directions"),
}
# fmt: on
METHODS = Methods({name: where for name, (where, _) in _TABLE.items()})
SUMMARIES = {name: summary for name, (_, summary) in _TABLE.items()}


#: the methods whose runs can be opened: also vectors that somebody recorded (`labkit.adapters.recorder`)
OF_RUNS = Methods({**METHODS.where, "matrix": "baselines.base:Matrix"})


def load_run(folder: Path | str) -> Method:
    """The method that this run was trained with, ready to encode.

    >>> from labkit import load, load_run, score
    >>> method = load_run("data/runs/film-questions")
    >>> score(method, load("questions")).headline > 0.5
    True
    """
    from labkit.runs import read_record

    name = read_record(folder)["method"]
    if name not in OF_RUNS:
        raise ValueError(
            f"run {str(folder)!r} is of method {name!r}, expected one of {', '.join(METHODS)}; "
            "install the version of labkit-embeddings that wrote it"
        )
    return OF_RUNS[name]().load(folder)
