"""Do trials on a quarter of the rows, for half of the epochs, stand in the order that they have on the whole?

    python -m benchmarks.fair "sentpwnet/6" "CNN + SentPWNet"      after `labkit reproduce sentpwnet/6 --data DATA`

Takes the trials of a row from the store, trains each of them on all training rows for all epochs, and sets their dev
figures against each other: Spearman's correlation, and what is lost on dev by choosing on the quarter. Test is not
looked at. Real data is read from the folder that LABKIT_DATA names.
"""

from __future__ import annotations

import os
import sys
import warnings

from scipy.stats import spearmanr

from labkit.evaluation.scores import selection
from labkit.papers.cell_store import Store
from labkit.papers.cells import plan
from labkit.papers.data import Desk
from labkit.papers.published import tables
from labkit.scale import one_thread


def order(table: str, row: str) -> str:
    """One line: how well the order is kept, and what the choice costs."""
    store, desk = Store(), Desk(os.environ["LABKIT_DATA"])
    planned = plan(tables(table)[0], desk)
    (tuning,) = planned.cells(row, planned.table.data[0])[0].tunings
    known = store.find(tuning.key)
    if known is None:
        raise SystemExit(f"{table}, {row}: its trials are not known; labkit reproduce {table} computes them")
    trials = [trial for trial in known.notes["trials"] if trial["figure"] is not None]
    seen = tuning.data.corpus.take(row for row, split in enumerate(tuning.data.corpus.splits) if split != "test")
    whole = []
    for trial in trials:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")
            method = tuning.recipe.methods[tuning.recipe.method](**{**tuning.settings, **trial["tried"]})
            method.fit(seen)
            whole.append(selection(method, seen.part("dev"))[1])
    quarter = [trial["figure"] for trial in trials]
    kept = spearmanr(quarter, whole).statistic
    chosen, best = whole[quarter.index(max(quarter))], max(whole)
    return (
        f"{table}, {row}, {len(trials)} trials: Spearman {kept:.2f}; chosen on the quarter {chosen:.4f} on the whole, "
        f"the best there {best:.4f}, the first trial {whole[0]:.4f}"
    )


if __name__ == "__main__":
    print(order(*sys.argv[1:3]))
