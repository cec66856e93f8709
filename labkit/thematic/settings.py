"""The settings of the thematic method. Defaults were chosen on dev of the embedded articles; `PAPER` is the paper's."""

from __future__ import annotations

from dataclasses import dataclass

from labkit import articles
from labkit.settings import setting
from labkit.thematic.losses import DISTANCES, LOSSES
from labkit.thematic.network import BODIES
from labkit.training import Training

RULES = (*articles.RULES, "both")


@dataclass(frozen=True, kw_only=True)
class ThematicSettings(Training):
    """Triplets, network, loss."""

    batch: int = setting(256, "triplets a step learns from", least=2, most=100_000, only="epochs")
    neighbours: int = setting(
        16, "triplets of one place that stay in one batch: they share sentences", least=1, only="epochs"
    )
    rule: str = setting("adjacent", "articles: where the negative comes from; both: adjacent and titles", choices=RULES)
    encoder: str = setting("attention", "how words become a sentence", choices=BODIES)
    loss: str = setting("ratio", "what a triplet's two distances cost", choices=tuple(LOSSES), only="epochs")
    distance: str = setting("cosine", "between two sentences; cosine: of vectors of length 1", choices=tuple(DISTANCES))
    scale: float = setting(8.0, "distances are multiplied by this before the loss", above=0, only="epochs")
    size: int = setting(300, "length of a sentence's vector, of one network", least=2, most=10_000)
    dropout: float = setting(0.2, "share of word vector entries dropped in training", least=0, most=0.95, only="epochs")
    vectors: str = setting("ppmi", "word vectors to start with: ppmi, random, or a file (GloVe, word2vec, .npz)")
    dimension: int = setting(300, "length of a word vector made here", least=1, most=10_000, only="vectors=ppmi|random")
    pace: float = setting(1.0, "step size of the word vectors, as a share of learning_rate; 0: frozen", least=0, most=1)
    a: float = setting(
        0.001, "word vectors times a / (a + the word's share in training), as in sif; 0: as they are", least=0
    )
    least: int = setting(2, "a word must occur so often in training to be known", least=1)
    longest: int = setting(60, "words of a sentence that are read", least=1, most=100_000)


#: section 4 of the paper, with dropout read as the share that is dropped; the other reading is 0.2
PAPER = {
    "encoder": "bilstm",
    "distance": "l1",
    "loss": "ratio",
    "scale": 1.0,
    "size": 600,
    "dropout": 0.8,
    "dimension": 300,
    "pace": 0.0,
    "a": 0.0,
    "learning_rate": 0.001,
}
