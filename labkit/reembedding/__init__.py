"""Sentences embedded anew by SBERT-LP, as records: what it does to one of them, to all, and whether it helps.

    compared    a corpus -> the sentences of a split that are embedded together, and what the corpus says of them
    around      one sentence -> its neighbours and their weights, before and after
    structure   all of them -> reconstruction errors, eigenvalues, copies and components, and what was done about these
    tried       many k and p, with raw, PCA, whitening, all-but-the-top beside: chosen on dev, told on test
    order       pairs -> which of them changed order, in the manner of the paper's table 4

The mathematics is `labkit.locally_linear`, the method `labkit.methods.sbert_lp`. Nothing here learns.
"""

from labkit.reembedding.around import Around, Spoke, around
from labkit.reembedding.compared import Compared, compared
from labkit.reembedding.order import Changed, changed
from labkit.reembedding.structure import Structure, structure
from labkit.reembedding.tried import Tried, tried

__all__ = [
    "Around",
    "Changed",
    "Compared",
    "Spoke",
    "Structure",
    "Tried",
    "around",
    "changed",
    "compared",
    "structure",
    "tried",
]
