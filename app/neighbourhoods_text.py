"""What the page "Neighbourhoods" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
SBERT-LP takes the vectors of another method and asks of every sentence: of which **mixture of its k nearest** is it
made? It then looks for new vectors, of p numbers, in which the **same mixtures hold** as well as can be, and compares
these by cosine. It learns from no label, and it is *transductive*: sentences to be compared are embedded together.

**Does it help?** Often not. The view *k and p* says it for this base and corpus, with four simpler ways beside; the
view *Changed order* counts the pairs that it mends and those that it spoils.
"""
FORMULAS = (
    r"d_i \approx \sum_{j\in N_i} w_{ij} d_j, \qquad \sum_j w_{ij} = 1",
    r"\text{error}_i = \Big\lVert d_i - \sum_j w_{ij} d_j \Big\rVert^2 \big/ \lVert d_i \rVert^2",
    r"\min_Y \sum_i \Big\lVert y_i - \sum_j w_{ij} y_j \Big\rVert^2,\quad Y^\top Y/m = I,\ \sum_i y_i = 0",
    r"M = (I-W)^\top (I-W), \qquad M v = \lambda v,\ \text{the } p \text{ smallest after the constant}",
)
SIDES = (
    "Number at a mark: the sentence in the table. Far out: far away. Thick line: large weight; dotted: negative. "
    "Full mark: near on both sides, and in the same direction in both stars."
)
FORM = "These vectors are a run of SBERT-LP: its base is taken, and embedded anew with the k and p of the sliders."
CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import {figure}
from labkit.methods import load as load_run
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.sweeps import compared
from labkit.sbert_lp.view import {name}

corpus = load({corpus!r})
{method}
told = compared(corpus, most={most})
anew = SbertLp.over(method, told.sentences, SbertLpSettings(neighbours={k}, dimension={p}))
{lines}
"""
TRIED_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import tried_curves
from labkit.methods import load as load_run
from labkit.sbert_lp.sweeps import tried

corpus = load({corpus!r})
{method}
found = tried({base}, corpus, most={most})
print(found.verdict)
tried_curves(found).show()
"""
