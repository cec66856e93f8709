"""What the page "FILM rows" keeps: the rows of the learned map in words, the map, and the rule of mutual neighbours."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from cached.keeping import kept
from labkit.corpora import Corpus
from labkit.corpora.relations import points

if TYPE_CHECKING:
    from labkit.film.method import Film
    from labkit.film.reading import WordRow
    from labkit.film.rule import Rule


@kept(show_spinner="Turning the rows …")
def film_rows(_film: Film, key: str, rotated: bool, stable: bool, _corpus: Corpus) -> tuple[WordRow, ...]:
    """The rows in words, the strongest first; `stable`: with the stability of each, which takes three fits."""
    film = copy.copy(_film)  # measuring writes into the method
    if stable:
        film.measure_stability(_corpus)
    return tuple(sorted(film.rows(rotated=rotated, top=10), key=lambda row: -row.share))


@kept(show_spinner="Turning the rows …")
def film_matrix(_film: Film, key: str, rotated: bool) -> np.ndarray:
    """L (d, D), as learned or turned by varimax."""
    from labkit.film import readable

    return readable(_film.L.astype(np.float64), _film.words) if rotated else _film.L


@kept(show_spinner="Ranking neighbours …")
def film_rule(_film: Film, key: str, _corpus: Corpus, corpus: str) -> Rule:
    """The rule of mutual neighbours for every k."""
    from labkit.film.rule import mutual_rule

    return mutual_rule(_film, _corpus)


@kept(show_spinner="Choosing sentences …")
def some_sentences(_corpus: Corpus, key: str, most: int) -> tuple[str, ...]:
    """A few hundred sentences to choose from, those of one class side by side."""
    return tuple(points(_corpus, classes=60, most=most).texts)
