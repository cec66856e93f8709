"""What the page "Compare" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
Runs on the **test** split of one corpus, ordered and judged by the figure that is chosen. Runs that differ only in the
seed are one line: its mean and, from three seeds on, its spread. Against the best stands the **95 % interval** of the
difference, over other test items and other seeds; where it holds 0, the difference is a **tie**, and nothing else
decides.

The papers' tables stand beside what `labkit reproduce` found with public or made data: other data, so that what counts
is the order of the rows and the size of a lead, not the third digit.
"""
FORMULAS = (
    r"\bar x = \tfrac1n \sum_s x_s,\qquad \text{spread} = \sqrt{\tfrac{1}{n-1}\sum_s (x_s-\bar x)^2}",
    r"\text{tie} \iff |\bar x_a - \bar x_b| \le t_{0.975}\, \text{se},\qquad \text{se}^2 = \text{var over seeds} "
    r"+ \text{var over items} - \text{what both share}",
)
SAW_TEST = (
    "{names}: made with the test sentences, without their classes, which it embeds together with all others, as its "
    "paper does. No other run here has seen them."
)
NO_ORDER = "{figure} says how a space is: a larger one is neither better nor worse, so no run is called the best."
NO_RUN = "No run and no baseline is chosen: choose some above. Runs are made on the page Train."
CODE = """\
from labkit.corpora import load
from labkit.figures import leader_bars
from labkit.evaluation.leaderboard import Result, leaderboard
from labkit.methods import load as load_run
from labkit.runs import read_record
from labkit.evaluation.scores import score

corpus = load({corpus!r})
folders = {folders}
results = [Result.of(folder, read_record(folder), score(load_run(folder), corpus, apart=True)) for folder in folders]
leader_bars(leaderboard(results, {figure!r})).show()
"""
CURVES_CODE = """\
from labkit.figures import training_curves
from labkit.runs import history

folders = {folders}
training_curves({{folder: history(folder) for folder in folders}}, [{column!r}]).show()
"""
PAPER_CODE = """\
from labkit.figures import ours_beside_paper
from labkit.lab.papers.stored import beside

ours_beside_paper(beside()[{table!r}], {column!r}).show()
"""
