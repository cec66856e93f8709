"""Measure and rebuild bundled files: the data cards `data/NAME.md`, and the runs with their scores and pictures.

`python -m labkit.shipped.making` measures all bundled corpora again and writes the numbers between two marks of their
cards and into a table in `data/README.md`. `labkit data make runs` trains the runs with `labkit train` and the settings
of `DEMONSTRATIONS`; this module computes their scores, pictures and table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labkit.arrays import unit
from labkit.atomic import write_text
from labkit.corpora.catalogue import DATA, EMBEDDED, Embedded
from labkit.corpora.records import SPLITS, Articles, Corpus, Groups, Labelled, Pairs
from labkit.evaluation.comparison import lead_of
from labkit.evaluation.scores import score
from labkit.experiment import Experiment
from labkit.figure_names import spoken
from labkit.progress import Progress, terminal
from labkit.projection import project
from labkit.shipped.pictures import SHAPES, Origin, pictured, write_known, write_pictures
from labkit.shipped.runs import BASELINE, DEMONSTRATIONS, Standing, model_checksum
from labkit.text import words

if TYPE_CHECKING:  # torch takes seconds
    from labkit.baselines.difficulty import Difficulty
    from labkit.method import Method

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PLAIN = ("mean-vectors", "sif", "lsa", "tfidf")  # methods with a picture for every corpus, fitted on the spot


# --- cards -------------------------------------------------------------------------------------------------------


def corpus_figures(embedded: Embedded, corpus: Corpus, measured: Difficulty) -> str:
    """The measured numbers of one corpus as Markdown."""
    lengths = [len(words(text)) for text in corpus.sentences()]
    short, median, long = np.quantile(lengths, (0.05, 0.5, 0.95))
    counts = ", ".join(f"{split} {corpus.splits.count(split):,}" for split in SPLITS)
    text, generator = "paragraph" if isinstance(corpus, Articles) else "text", embedded.generator
    return f"""| | |
| --- | --- |
| rows | {len(corpus):,} ({counts}) |
| {_unit(corpus)} |
| words in a {text} | median {median:.0f}, 5 % under {short:.0f}, 5 % over {long:.0f} |
| made by | `data/make/{embedded.name}.py`, seed {generator.SEED}, {generator.UNITS:,} units |
| file | `{embedded.path.name}`, {embedded.path.stat().st_size / 1000:,.0f} kB |

How hard it is, on the test split ({measured.measure}):

| chance | TF-IDF cosine | mean word vectors |
| --- | --- | --- |
| {_cells(measured)} |

Measured by `make corpora` (seed 0): TF-IDF is scikit-learn's vectorizer as it is, the word vectors are PPMI + SVD in \
100 dimensions, both from the training split alone."""


def _cells(measured: Difficulty) -> str:
    return f"{measured.chance:.3f} | {measured.tfidf:.3f} | {measured.mean_vectors:.3f}"


def _unit(corpus: Corpus) -> str:
    """The row type and its count, as two cells."""
    if isinstance(corpus, Labelled):
        return f"classes | {len(corpus.classes):,}"
    if isinstance(corpus, Groups):
        return f"groups | {len(corpus.members()):,}"
    if isinstance(corpus, Articles):
        counts = [sum(bool(section.title) for section in article.sections) for article in corpus.articles]
        return f"sections | {sum(counts):,} with a title, {min(counts)} to {max(counts)} an article"
    assert isinstance(corpus, Pairs)
    if corpus.graded:
        return f"mean score | {corpus.scores.mean():.2f}, spread {corpus.scores.std():.2f}"
    return f"pairs that are the same | {100 * corpus.labels.mean():.1f} %"


def between_marks(card: str, block: str) -> str:
    """Replace the text between the card's marks with `block`; a card without marks gets them at its end."""
    marked = f"{BEGIN}\n{block}\n{END}"
    if BEGIN not in card:
        return f"{card.rstrip()}\n\n{marked}\n"
    return re.sub(f"{BEGIN}.*?{END}", lambda _: marked, card, flags=re.DOTALL)


def _write(card: Path, block: str) -> None:
    write_text(card, between_marks(card.read_text(encoding="utf-8"), block))


def main(folder: Path = DATA) -> None:
    """Write the measured numbers of every corpus into its card."""
    from labkit.baselines.difficulty import difficulty

    table = [
        "| corpus | measure on test | chance | TF-IDF cosine | mean word vectors |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, embedded in EMBEDDED.items():
        corpus = embedded.load()
        measured = difficulty(corpus)
        _write(folder / f"{name}.md", corpus_figures(embedded, corpus, measured))
        table.append(f"| [{name}]({name}.md) | {measured.measure} | {_cells(measured)} |")
    _write(folder / "README.md", "\n".join(table))


# --- runs --------------------------------------------------------------------------------------------------------


def standing_of(method: Method, corpus: Corpus) -> Standing:
    """Compare the method on test with mean word vectors and with its base, by the corpus's own metric."""
    ours, base = score(method, corpus, apart=True), getattr(method, "base", None)

    def beside(other: Method, name: str) -> Standing:
        theirs = score(other, corpus, apart=True)
        lead = lead_of([ours.parts[ours.measure]], [theirs.parts[ours.measure]])
        return Standing(ours.measure, ours.headline, theirs.headline, lead, name)

    own = None if base is None else beside(base, f"its base {base.name}")
    return replace(beside(Experiment(BASELINE, corpus).fit(), Standing.beside), base=own)


def draw_all(trained: Iterable[tuple[Method, Corpus]], corpora: Iterable[Corpus], folder: Path) -> None:
    """Write the pictures of runs, and of `PLAIN` fitted to every corpus; remove all other pictures in the folder."""
    plain = [Experiment(name, corpus) for corpus in corpora for name in PLAIN]
    fitted = ((one.fit(), one.opened()) for one in plain)
    with terminal("picture") as progress:
        drawn = {_draw(method, corpus, folder, progress) for method, corpus in chain(trained, fitted)}
    write_known((Origin.unfitted(one.method, one.opened()) for one in plain), folder)
    for old in set(folder.glob("*.npz")) - drawn:
        old.unlink()


def _draw(method: Method, corpus: Corpus, folder: Path, progress: Progress) -> Path:
    """Write all pictures of a fitted method's vectors of the corpus's test sentences to one file.

    PCA of sparse rows is omitted: its basis is as long as the vocabulary, and it can be computed in a moment.
    """
    shown = pictured(corpus)
    rows = unit(method.encode(shown.texts).astype(np.float32))
    wanted = [shape for shape in SHAPES if isinstance(rows, np.ndarray) or shape[0] != "pca"]
    projections = []
    for number, (how, dimensions) in enumerate(wanted):
        progress(number, len(wanted), f"{how} in {dimensions}-D of {method.name}, {corpus.name}")
        projections.append(project(rows, how, dimensions))
    return write_pictures(Origin.of(method), shown.texts, projections, folder)


def write_standings(standings: Mapping[str, Standing], runs: Path) -> None:
    """Write `standings.json`, with the checksum of each run's model, and the table in the folder's README."""
    records = {name: {"model": model_checksum(runs / name), **asdict(each)} for name, each in standings.items()}
    write_text(runs / "standings.json", json.dumps(records, indent=2) + "\n")
    page = runs / "README.md"
    before = page.read_text("utf-8") if page.is_file() else "# The bundled runs\n"
    write_text(page, between_marks(before, runs_table(standings, runs)))


def runs_table(standings: Mapping[str, Standing], runs: Path) -> str:
    """The runs in this folder as a table in Markdown."""
    lines = [
        "| run | made by | epochs | kB | measure on test | figure | mean word vectors | difference, 95 % |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, each in standings.items():
        epochs = max(0, (runs / name / "history.csv").read_text("utf-8").count("\n") - 1) or "-"
        size = sum(path.stat().st_size for path in (runs / name).iterdir()) / 1000
        more = f"; with {each.base.beside} ({each.base.baseline:.3f}): {_difference(each.base)}" if each.base else ""
        lines.append(
            f"| {name} | `{DEMONSTRATIONS[name].command}` | {epochs} | {size:,.0f} | {spoken(each.measure)} "
            f"| {each.figure:.3f} | {each.baseline:.3f} | {_difference(each)}{more} |"
        )
    return "\n".join(lines)


def _difference(standing: Standing) -> str:
    outcome = {"first": "", "second": ", worse", "open": ", open"}[standing.verdict]
    low, high = standing.lead.interval()
    return f"{standing.margin:+.3f} [{low:+.3f}, {high:+.3f}]{outcome}"


if __name__ == "__main__":
    main()
