"""What the page "Neighbourhoods" keeps: sentences embedded anew, what became of them, and many k and p."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cached.keeping import kept
from labkit.corpora import Corpus
from labkit.progress import collected

if TYPE_CHECKING:
    from labkit.method import Method
    from labkit.sbert_lp.method import SbertLp
    from labkit.sbert_lp.sweeps import Compared, Tried
    from labkit.sbert_lp.view import Changed, Structure


@kept(show_spinner="Choosing sentences …")
def compared(_corpus: Corpus, key: str, most: int) -> Compared:
    """The sentences of test that are embedded together."""
    from labkit.sbert_lp.sweeps import compared

    return compared(_corpus, most=most)


@kept(show_spinner="Embedding the sentences together …")
def embedded_anew(
    _base: Method, base: str, _sample: Compared, sample: tuple[Any, ...], k: int, p: int
) -> tuple[SbertLp, tuple[str, ...]]:
    """SBERT-LP over a base, and what it had to say."""
    from labkit.sbert_lp.method import SbertLp, SbertLpSettings

    with collected() as notes:
        made = SbertLp.over(_base, _sample.sentences, SbertLpSettings(neighbours=k, dimension=p))
    return made, tuple(notes)


@kept(show_spinner="Measuring all sentences …")
def structure_of(_method: SbertLp, key: tuple[Any, ...]) -> Structure:
    """Errors, parts, copies and eigenvalues of an embedding."""
    from labkit.sbert_lp.view import structure

    return structure(_method.space)


@kept(show_spinner="Trying many k and p …")
def tried(_base: Method, base: str, _corpus: Corpus, key: str, most: int) -> Tried:
    """The sweep on dev, and what was chosen there on test."""
    from labkit.sbert_lp.sweeps import tried

    with collected():  # small parts at large p: their points are in the picture
        return tried(_base, _corpus, most=most)


@kept(show_spinner="Comparing the pairs …")
def changed(
    _method: SbertLp, key: tuple[Any, ...], _sample: Compared, sample: tuple[Any, ...], least: float
) -> Changed:
    """The pairs that changed order."""
    from labkit.baselines.base import base_rows
    from labkit.progress import silent
    from labkit.sbert_lp.view import changed

    before = base_rows(_method.base, _sample.sentences, 256, silent)
    return changed(_sample, before, _method.fit_encode(_sample.sentences), least=least)
