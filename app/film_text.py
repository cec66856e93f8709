"""What the page "FILM rows" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
FILM learns a linear map **L** of TF-IDF rows from triplets "i is closer to j than to k". Each **row** of L is one
number of the new vector; a word pulls it up or down by its component times how much of the word sentences usually have.
The similarity of two sentences is a sum over rows, over words, or over pairs of words: the parts add up to it exactly.
Rows themselves are less firm than similarities: refitted to other anchors many do not return, which **stability** says
(1: the row returns). **Varimax** turns the rows, without changing a single similarity, until few words carry each.
"""
FORMULAS = (
    r"y = L x",
    r"\text{similarity} = s\,\hat x_a \cdot \hat x_b + (1-s)\,\hat y_a \cdot \hat y_b",
    r"\text{part of row } l = (1-s)\,\hat y_{al}\,\hat y_{bl}",
    r"\text{same} \iff \max(\text{rank}_a(b),\, \text{rank}_b(a)) \le k",
)
CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import {figure}
from labkit.film.rule import mutual_rule
from labkit.methods import load as load_run

corpus = load({corpus!r})
{method}
{lines}
"""
