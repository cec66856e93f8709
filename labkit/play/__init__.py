"""Play: watch a pair loss train in the browser, with real sentences. One page, no server, no network.

    sentences.py   the sentences of the page                page.py   the modules below in one HTML file
    pairs.js, mining.js, model.js, training.js             the losses, miners, encoder and optimiser of the page
    scenes.js, lab.js                                      the scenes, and the state of the page
    space.js, curve.js, matrix.js, charts.js               the plots
    page.js and what it imports                            controls, keys, links

A test compares losses, weights and Adam with `labkit.pairs` and torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from labkit.atomic import write_text
from labkit.corpora import Corpus, load
from labkit.play.page import build_page
from labkit.play.sentences import bundled, from_corpus

__all__ = ["Playground", "playground"]

LOSSES = (
    "infonce", "supcon", "contrastive", "soft-triplet", "margin-triplet", "locality", "logistic", "cosent",
)  # fmt: skip
MINERS = ("all", "informative", "hardest", "random")
DIMENSIONS = (2, 3, 32)


@dataclass(frozen=True)
class Playground:
    """The page as HTML, which a notebook shows in a frame."""

    html: str = field(repr=False)
    height: int = 780  # height of the frame in pixels

    def _repr_html_(self) -> str:
        """Return a frame with the page, which can access neither the notebook nor the network."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="Play: a pair loss at work" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the page to a file that any browser can open."""
        write_text(Path(path), self.html)
        return Path(path)


def playground(
    corpus: Corpus | str | Path | None = None,
    *,
    loss: str | None = None,
    miner: str | None = None,
    dimension: int | None = None,
) -> Playground:
    """Return the page with the bundled sentences and their scenes, or with sentences of a labelled corpus or file.

    If a loss, miner or dimension is given, the page starts without the scenes.

    >>> playground("topics", loss="contrastive", miner="hardest")
    Playground(height=780)
    """
    chosen = (("loss", loss, LOSSES), ("miner", miner, MINERS), ("dimension", dimension, DIMENSIONS))
    for name, value, choices in chosen:
        if value is not None and value not in choices:
            raise ValueError(f"{name} is {value!r}, expected one of {', '.join(map(str, choices))}")
    start = {name: value for name, value, _ in chosen if value is not None}
    if corpus is None:
        return Playground(build_page(bundled(), scenes=not start, start=start))
    return Playground(
        build_page(from_corpus(load(corpus) if isinstance(corpus, str | Path) else corpus), scenes=False, start=start)
    )
