"""What the page "Pairs" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
Every row is a sentence of one batch as *anchor*, every column another sentence. Those of the anchor's class are its
positives, the others its negatives. A **miner** keeps some pairs; a **loss** is a function of their cosines, and its
slope is how hard it pulls (positives) or pushes (negatives): the **weight** of a pair. For the locality loss a weight
has two parts: how similar the pair is *by itself*, and how it stands *among the anchor's other pairs*.

The locality loss with informative pairs is the multi-similarity loss with its miner (Wang et al. 2019). Where λ 0.9,
β 20 and ε 0.3 are set, they were chosen on dev for SentPWNet alone; with the values usual for this loss (λ 0.5, β 50,
ε 0.1) it is behind the triplet network on `questions` (notebook 2).
"""
FORMULAS = (
    r"w_{ij} = m \left|\frac{\partial L}{\partial S_{ij}}\right|",
    r"\text{positive: } w = \frac{1}{e^{\alpha(S_{ij}-\lambda)} + \sum_{k\in P_i} e^{\alpha(S_{ij}-S_{ik})}}",
    r"\text{negative: } w = \frac{1}{e^{\beta(\lambda-S_{ij})} + \sum_{k\in N_i} e^{\beta(S_{ik}-S_{ij})}}",
    r"\text{kept positive: } S_{ij} < \max_{k\in N_i} S_{ik} + \varepsilon",
    r"\text{kept negative: } S_{ij} > \min_{k\in P_i} S_{ik} - \varepsilon",
)
NO_EPOCHS = (
    "These vectors were not trained in epochs. Choose “a stored run” under Vectors. A run that keeps its probe's "
    "vectors at every epoch is made by this line:"
)
IN_ORDER = (
    "Every pair of this batch is in order by more than ε: the miner keeps none, and none has a weight. Choose another "
    "batch or split, let the miner keep more (ε), or let the loss see every pair."
)
CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import {figure}
from labkit.methods import load as load_run
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import anchor_curves, cosines, examine, sentence_batch

corpus = load({corpus!r})
{method}
batch = sentence_batch(corpus, size={size}, per_class={per_class}, seed={seed}, split={split!r})
settings = PairSettings(
    loss={loss!r}, miner={miner!r}, alpha={alpha}, beta={beta}, base={base}, margin={base}, epsilon={epsilon}
)
found = examine(batch, cosines(method.encode(list(batch.texts))), settings)
{figure}({arguments}).show()
"""
EPOCHS_CODE = """\
from labkit.figures import weights_over_epochs
from labkit.methods import load as load_run
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import epoch_weights

{method}
settings = PairSettings(
    loss={loss!r}, miner={miner!r}, alpha={alpha}, beta={beta}, base={base}, margin={base}, epsilon={epsilon}
)
weights_over_epochs(epoch_weights(method.snapshots, settings)).show()
"""
