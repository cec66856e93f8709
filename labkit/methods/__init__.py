"""The table of methods. A new one is a file in this folder and a line here.

METHODS["tfidf"](longest=2)    the method with these settings        load(folder)    the method of any run
"""

from __future__ import annotations

from pathlib import Path

from labkit.methods.all_but_the_top import AllButTheTop
from labkit.methods.contract import Entry, History, Method
from labkit.methods.film import Film
from labkit.methods.film_deep import FilmDeep
from labkit.methods.lsa import Lsa
from labkit.methods.mean_vectors import MeanVectors
from labkit.methods.pca import Pca
from labkit.methods.pthought import PThought
from labkit.methods.pv_dbow import PvDbow
from labkit.methods.sbert import Sbert
from labkit.methods.sbert_lp import SbertLp
from labkit.methods.sentpwnet import SentPWNet, Siamese, Triplet
from labkit.methods.sif import Sif
from labkit.methods.tfidf import Tfidf
from labkit.methods.thematic import Thematic
from labkit.methods.whitening import Whitening
from labkit.runs import read_record

__all__ = ["METHODS", "Entry", "History", "Method", "load"]

METHODS: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(SentPWNet, "every pair of a batch weighs what its own and its neighbours' similarity say"),
        Entry(Siamese, "same encoder, contrastive loss: every pair weighs the same"),
        Entry(Triplet, "same encoder, soft-margin triplet loss on the hardest pair of each kind"),
        Entry(PThought, "a GRU's states, from which two others write the sentence again and a paraphrase of it"),
        Entry(Thematic, "sentences of one section of an article lie closer than those of two; attention shows why"),
        Entry(SbertLp, "another method's vectors anew, each sentence staying by its neighbours; learns from no label"),
        Entry(Film, "a low-rank metric on TF-IDF, learned from triplets; its rows can be read"),
        Entry(FilmDeep, "FILM's triplets and hinge with a small convolutional network in the place of its map"),
        Entry(PvDbow, "a vector from which a sentence's words can be told from noise; new ones are inferred"),
        Entry(MeanVectors, "the mean of a sentence's word vectors"),
        Entry(Sif, "a mean in which frequent words count little, without what all sentences share"),
        Entry(Tfidf, "words count the more, the fewer sentences have them; stays sparse"),
        Entry(Lsa, "TF-IDF in the few directions that keep most of it"),
        Entry(Sbert, "a sentence-transformers model, frozen, as somebody else trained it"),
        Entry(Pca, "another method's vectors in the directions along which they vary most"),
        Entry(Whitening, "another method's vectors with the same variance in every direction"),
        Entry(AllButTheTop, "another method's vectors without their mean and their dominant directions"),
    )
}


def load(folder: Path | str) -> Method:
    """The method that this run was trained with, ready to encode."""
    name = read_record(folder)["method"]
    if name not in METHODS:
        raise ValueError(
            f"run {str(folder)!r} is of method {name!r}, expected one of {', '.join(METHODS)}; "
            "install the version of labkit-embeddings that wrote it"
        )
    return METHODS[name]().load(folder)
