"""The table of methods, name -> class. A class is imported on first use, because some imports take seconds.

    METHODS["tfidf"](max_ngram=2)    a method with these settings        load_run(folder)    the method of any run

To add a method, write a module and add a line here.
"""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.settings import nearest_name

if TYPE_CHECKING:
    from labkit.method import Method

__all__ = ["METHODS", "SUMMARIES", "Methods", "load_run"]


class Methods(UserDict[str, Any]):
    """Method name -> class.

    Until its first use, a class is stored in `data` as "module:class", with the module's path relative to labkit.
    """

    def __getitem__(self, name: str) -> type[Method]:
        if name not in self.data:
            raise KeyError(f"no method is called {name!r}; {nearest_name(str(name), self.data, str(self))}")
        module, _, kind = self.data[name].partition(":")
        method: type[Method] = getattr(import_module(f"labkit.{module}"), kind)
        return method

    def __repr__(self) -> str:
        return f"METHODS contains {', '.join(self.data)}"


# fmt: off
_TABLE = {  # name: (class, summary)
    "sentpwnet": ("sentpwnet.method:SentPWNet",
                  "weights each pair of a batch by its own similarity and those of its neighbours (locality loss)"),
    "siamese": ("sentpwnet.method:Siamese", "the same encoder with the contrastive loss: all pairs have equal weight"),
    "triplet": ("sentpwnet.method:Triplet", "the same encoder with the soft-margin triplet loss on the hardest pairs"),
    "bag": ("sentpwnet.method:Bag",
            "the mean of learned word-piece vectors: the simplest model that learns"),
    "static": ("sentpwnet.method:Static",
               "a bag initialised with a large model's vector of each word piece; epochs=0 keeps these vectors"),
    "pthought": ("pthought.method:PThought",
                 "a GRU encoder with two decoders, one for the sentence and one for its paraphrase"),
    "thematic": ("thematic.method:Thematic",
                 "BiLSTM with attention, trained on triplets from the sections of articles"),
    "sbert-lp": ("sbert_lp.method:SbertLp",
                 "another method's vectors, re-embedded by locally linear embedding; needs no labels"),
    "film": ("film.method:Film", "a low-rank metric on TF-IDF, learned from triplets, with readable rows"),
    "film-deep": ("film.deep:FilmDeep", "FILM's triplets and hinge loss with a small convolutional network"),
    "pv-dbow": ("baselines.pv_dbow:PvDbow",
                "paragraph vectors: a vector that predicts the words of the sentence"),
    "mean-vectors": ("baselines.averages:MeanVectors", "the mean of the word vectors"),
    "sif": ("baselines.averages:Sif",
            "a mean that down-weights frequent words, without the common direction"),
    "tfidf": ("baselines.counts:Tfidf", "counts of words, with more weight for rare words; sparse"),
    "lsa": ("baselines.counts:Lsa", "TF-IDF reduced by singular value decomposition"),
    "sbert": ("baselines.sbert:Sbert", "a frozen sentence-transformers model"),
    "pca": ("baselines.transforms:Pca", "another method's vectors, reduced by PCA"),
    "whitening": ("baselines.transforms:Whitening",
                  "another method's vectors, whitened: equal variance in every direction"),
    "all-but-the-top": ("baselines.transforms:AllButTheTop",
                        "another method's vectors without their mean and dominant directions"),
}
# fmt: on
METHODS = Methods({name: where for name, (where, _) in _TABLE.items()})
SUMMARIES = {name: summary for name, (_, summary) in _TABLE.items()}
#: the methods whose runs can be opened, including recorded vectors (`labkit.adapters.recorder`)
OF_RUNS = Methods({**METHODS.data, "matrix": "baselines.base:Matrix"})


def load_run(folder: Path | str) -> Method:
    """Load the trained method of a run folder, ready to encode.

    >>> from labkit import load, load_run, score
    >>> method = load_run("data/runs/film-questions")
    >>> score(method, load("questions")).headline > 0.5
    True
    """
    from labkit.runs import read_record

    name = read_record(folder)["method"]
    if name not in OF_RUNS:
        raise ValueError(
            f"run {str(folder)!r} uses method {name!r}, expected one of {', '.join(METHODS)}. Install the version of "
            "labkit-embeddings that wrote it"
        )
    return OF_RUNS[name]().load(folder)
