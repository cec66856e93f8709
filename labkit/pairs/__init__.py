"""The algebra of pairs: a loss is a function of similarities and two masks, and a pair's weight is its derivative.

    embeddings -> similarity S (m, m) -> miner (S, P, N) -> (P', N') -> loss (S, P', N') -> scalar
    labels     -> positive P, negative N                            -> pair_weights: m · |dL/dS|

`P[i, j]` says that j is a positive of anchor i, `N[i, j]` that it is a negative; a pair in neither is unknown and
ignored. A method combines a miner, a loss and an encoder. `losses.py` has every loss and the table `LOSSES`;
`large_batch.py` handles batches whose S would be too large.

>>> import torch
>>> S = torch.tensor([[1.0, 0.8, 0.1], [0.8, 1.0, 0.3], [0.1, 0.3, 1.0]])
>>> P, N = masks_from_labels(torch.tensor([0, 0, 1]))
>>> round(float(contrastive(S, P, N, margin=0.5)), 3)
-0.533
>>> [name for name, loss in LOSSES.items() if loss.needs == "grades"]
['cosent']
"""

from labkit.pairs.large_batch import streaming_locality
from labkit.pairs.losses import (
    LOSSES,
    PairLoss,
    contrastive,
    cosent,
    infonce,
    locality,
    logistic,
    margin_triplet,
    soft_triplet,
    supcon,
)
from labkit.pairs.masks import masks_from_labels
from labkit.pairs.mining import hardest, informative, random_pairs
from labkit.pairs.pml import as_pml
from labkit.pairs.weights import pair_weights, weight_parts

__all__ = [
    "LOSSES",
    "PairLoss",
    "as_pml",
    "contrastive",
    "cosent",
    "hardest",
    "infonce",
    "informative",
    "locality",
    "logistic",
    "margin_triplet",
    "masks_from_labels",
    "pair_weights",
    "random_pairs",
    "soft_triplet",
    "streaming_locality",
    "supcon",
    "weight_parts",
]
