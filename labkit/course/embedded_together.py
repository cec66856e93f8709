"""SBERT-LP for the notebooks' question "what does it cost that a sentence comes later?": the test sentences together.

The lab's method embeds sentences of train and puts others where their neighbours are. The paper embeds all that it
compares together, without labels. In: a corpus with a test split. Out: a method like SBERT-LP that has embedded this.
"""

from __future__ import annotations

from labkit.corpora.records import Corpus
from labkit.methods.base import base_of
from labkit.methods.contract import History, Keeper
from labkit.methods.sbert_lp import SbertLp
from labkit.progress import Progress


class EmbeddedTogether(SbertLp):
    """SBERT-LP of which every sentence of test is one of those embedded; the base still learns from train alone."""

    name = "sbert-lp, test together"

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        self.base = base_of(self.settings.base, corpus, seed=seed, progress=progress)
        self.space = self._together(corpus.part("test").sentences(), seed, progress)
        return History()
