"""What the page "Train" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
A method learns from the training split of a corpus, epoch by epoch; after each, the **dev** split says how good it is,
and the best weights stay. The figures of **test** come once, at the end. One training runs at a time, in a process of
its own, and is the same as `labkit train` would make it: the others wait in line. A stopped training keeps its last
checkpoint, and goes on from there to the numbers it would have had.
"""
FORMULAS = (
    r"\theta_{t+1} = \theta_t - \eta\,\nabla_\theta L(\theta_t)",
    r"\theta^* = \theta_{e^*},\quad e^* = \arg\max_e\ \text{dev}(\theta_e)",
)
OWN_FILE = (
    "The file is kept for the training alone and removed after it. The run keeps its words and some sentences of dev "
    "to follow over the epochs: whoever uses this app can look at them."
)
ELSEWHERE = "Word vectors from a file, another base, or more epochs than are offered here: with `labkit train`."
CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import training_curves

corpus = load({corpus!r})
method = METHODS[{method!r}]({settings})
history = method.fit(corpus, seed={seed})
training_curves({{{method!r}: history}}).show()
"""
