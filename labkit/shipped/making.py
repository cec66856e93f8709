"""Rebuild the bundled runs: their scores, their pictures, and the page that lists them.

In: fitted methods and their corpora. Out: files under `data/`. `labkit data make runs` trains the runs with `labkit
train` and the settings of the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labkit.arrays import unit
from labkit.atomic import write_text
from labkit.corpora.records import Corpus
from labkit.evaluation.comparison import lead_of
from labkit.evaluation.scores import Scores, score
from labkit.experiment import Experiment
from labkit.figure_names import spoken
from labkit.progress import Progress, silent
from labkit.projection import project
from labkit.shipped.cards import between_marks
from labkit.shipped.pictures import SHAPES, Origin, pictured, write_pictures
from labkit.shipped.runs import BASELINE, DEMONSTRATIONS, Demonstration, Standing

if TYPE_CHECKING:
    from labkit.method import Method

PLAIN = ("mean-vectors", "sif", "lsa", "tfidf")  # methods with a picture for every corpus, fitted on the spot


def standing_of(method: Method, corpus: Corpus) -> Standing:
    """Compare the method on test with mean word vectors and with its base, by the corpus's own metric."""
    baseline = Experiment(BASELINE, corpus).fit()
    ours = score(method, corpus, apart=True)
    base = getattr(method, "base", None)  # for methods on top of another's vectors
    own = None if base is None else _beside(ours, score(base, corpus, apart=True), f"its base {base.name}")
    return replace(_beside(ours, score(baseline, corpus, apart=True), Standing.beside), base=own)


def _beside(ours: Scores, theirs: Scores, name: str) -> Standing:
    lead = lead_of([ours.parts[ours.measure]], [theirs.parts[ours.measure]])
    return Standing(ours.measure, ours.headline, theirs.headline, lead, name)


def draw_pictures(method: Method, corpus: Corpus, folder: Path, progress: Progress = silent) -> Path:
    """Write all pictures of a fitted method's vectors of the corpus's test sentences to one file.

    PCA of sparse rows is left out: its basis is as long as the vocabulary, and it is computed in a moment.
    """
    shown = pictured(corpus)
    rows = unit(method.encode(shown.texts).astype(np.float32))
    wanted = [shape for shape in SHAPES if isinstance(rows, np.ndarray) or shape[0] != "pca"]
    projections = []
    for number, (how, dimensions) in enumerate(wanted):
        progress(number, len(wanted), f"{how} in {dimensions}-D of {method.name}, {corpus.name}")
        projections.append(project(rows, how, dimensions))
    return write_pictures(Origin.of(method), shown.texts, projections, folder)


def plain_methods(corpora: Mapping[str, Corpus]) -> Iterator[tuple[Method, Corpus]]:
    """Every corpus with every method that needs no training, fitted."""
    for corpus in corpora.values():
        for name in PLAIN:
            yield Experiment(name, corpus).fit(), corpus


def write_standings(standings: Mapping[str, Standing], runs: Path) -> None:
    """Write `standings.json`, with the checksum of each run's model, and the table in the folder's README."""
    records = {name: each.to_json(runs / name) for name, each in standings.items()}
    write_text(runs / "standings.json", json.dumps(records, indent=2) + "\n")
    page = runs / "README.md"
    before = page.read_text("utf-8") if page.is_file() else "# The bundled runs\n"
    write_text(page, between_marks(before, runs_table(standings, lambda name: runs / name)))


def runs_table(standings: Mapping[str, Standing], folder: Callable[[str], Path]) -> str:
    """The runs as a table in Markdown."""
    head = [
        "| run | made by | epochs | kB | measure on test | figure | mean word vectors | difference, 95 % |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *(_line(DEMONSTRATIONS[name], each, folder(name)) for name, each in standings.items())])


def _line(shipped: Demonstration, standing: Standing, folder: Path) -> str:
    epochs = max(0, (folder / "history.csv").read_text("utf-8").count("\n") - 1)
    size = sum(path.stat().st_size for path in folder.iterdir())
    difference = _difference(standing)
    if standing.base is not None:
        difference += f"; with {standing.base.beside} ({standing.base.baseline:.3f}): {_difference(standing.base)}"
    return (
        f"| {shipped.name} | `{shipped.command}` | {epochs or '-'} | {size / 1000:,.0f} "
        f"| {spoken(standing.measure)} | {standing.figure:.3f} | {standing.baseline:.3f} | {difference} |"
    )


def _difference(standing: Standing) -> str:
    outcome = {"first": "", "second": ", worse", "open": ", open"}[standing.verdict]
    low, high = standing.lead.interval()
    return f"{standing.margin:+.3f} [{low:+.3f}, {high:+.3f}]{outcome}"
