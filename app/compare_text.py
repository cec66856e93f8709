"""What the page "Compare" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
Runs on the **test** split of one corpus. Runs that differ only in the seed are one line: its mean and, from three seeds
on, its spread. A difference inside the spread is a **tie**, and so is one that the paired test on the same test items
cannot tell from chance. SBERT-LP's run that comes with the lab embedded the test sentences together with all others,
without their classes, as its paper does; no other run has seen them.

The papers' tables stand beside what `labkit reproduce` found with public or made data: other data, so that what counts
is the order of the rows and the size of a lead, not the third digit.
"""
FORMULAS = (
    r"\bar x = \tfrac1n \sum_s x_s,\qquad \text{spread} = \sqrt{\tfrac{1}{n-1}\sum_s (x_s-\bar x)^2}",
    r"\text{tie} \iff |\bar x_a - \bar x_b| \le \max(\text{spread}_a, \text{spread}_b)\ \text{ or }\ p \ge 0.05",
)
NO_RUN = "No run and no baseline is chosen: choose some above. Runs are made on the page Train."
CODE = """\
from labkit.corpora import load
from labkit.figures import leader_bars
from labkit.leaderboard import Result, leaderboard
from labkit.methods import load as load_run
from labkit.runs import read_record
from labkit.scores import score

corpus = load({corpus!r})
folders = {folders}
results = [Result.of(folder, read_record(folder), score(load_run(folder), corpus)) for folder in folders]
leader_bars(leaderboard(results)).show()
"""
CURVES_CODE = """\
from labkit.figures import training_curves
from labkit.jobs import history

folders = {folders}
training_curves({{folder: history(folder) for folder in folders}}, [{column!r}]).show()
"""
PAPER_CODE = """\
from labkit.figures import ours_beside_paper
from labkit.papers.beside import beside

ours_beside_paper(beside()[{table!r}], {column!r}).show()
"""
