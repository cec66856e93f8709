"""A loss at work on one batch, as records to look at: which pairs it sees, what each weighs, and why.

    sentences   a corpus -> a batch of sentences in class order, with its masks P and N
    examined    vectors and settings -> similarities, pairs kept, weights and their two parts
    wording     one pair -> kept or why dropped, and its weight written out with its own numbers
    curves      one anchor, or settings -> weight against similarity for every loss
    epochs      the probe of a run -> how the weights moved while it was trained

The mathematics is `labkit.pairs`; what trains with it is `labkit.methods.sentpwnet`. Nothing here learns.
"""

from labkit.weighing.curves import AnchorCurve, LoneCurve, Triplet, anchor_curves, lone_curves, one_triplet
from labkit.weighing.epochs import EpochWeights, epoch_weights
from labkit.weighing.examined import Examined, cosines, examine
from labkit.weighing.sentences import SentenceBatch, sentence_batch
from labkit.weighing.wording import PairRow, batch_rows, pair_rows, why, written

__all__ = [
    "AnchorCurve",
    "EpochWeights",
    "Examined",
    "LoneCurve",
    "PairRow",
    "SentenceBatch",
    "Triplet",
    "anchor_curves",
    "batch_rows",
    "cosines",
    "epoch_weights",
    "examine",
    "lone_curves",
    "one_triplet",
    "pair_rows",
    "sentence_batch",
    "why",
    "written",
]
