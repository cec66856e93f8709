"""The data cards `data/NAME.md`: handwritten prose, with measured numbers between two marks.

`python -m labkit.shipped.cards` measures all bundled corpora again, and writes the numbers into their cards and a table
into `data/README.md`. A test compares the cards with the corpora.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labkit.atomic import write_text
from labkit.corpora.catalogue import DATA, EMBEDDED, Embedded
from labkit.corpora.records import SPLITS, Articles, Corpus, Groups, Labelled, Pairs
from labkit.text import words

if TYPE_CHECKING:  # corpora know nothing of methods
    from labkit.baselines.difficulty import Difficulty

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
COMMAND = "make corpora"


def corpus_figures(embedded: Embedded, corpus: Corpus, measured: Difficulty) -> str:
    """The measured numbers of one corpus as Markdown."""
    size = embedded.path.stat().st_size
    lengths = [len(words(text)) for text in corpus.sentences()]
    counts = ", ".join(f"{split} {corpus.splits.count(split):,}" for split in SPLITS)
    generator = embedded.generator
    return "\n".join(
        [
            "| | |",
            "| --- | --- |",
            f"| rows | {len(corpus):,} ({counts}) |",
            f"| {_unit(corpus)} |",
            f"| words in a {'paragraph' if isinstance(corpus, Articles) else 'text'} | "
            f"median {np.median(lengths):.0f}, "
            f"5 % under {np.quantile(lengths, 0.05):.0f}, 5 % over {np.quantile(lengths, 0.95):.0f} |",
            f"| made by | `data/make/{embedded.name}.py`, seed {generator.SEED}, {generator.UNITS:,} units |",
            f"| file | `{embedded.path.name}`, {size / 1000:,.0f} kB |",
            "",
            f"How hard it is, on the test split ({measured.measure}):",
            "",
            "| chance | TF-IDF cosine | mean word vectors |",
            "| --- | --- | --- |",
            f"| {measured.chance:.3f} | {measured.tfidf:.3f} | {measured.mean_vectors:.3f} |",
            "",
            f"Measured by `{COMMAND}` (seed 0): TF-IDF is scikit-learn's vectorizer as it is, the word vectors are "
            "PPMI + SVD in 100 dimensions, both from the training split alone.",
        ]
    )


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
    return f"pairs that are the same | {corpus.labels.mean():.1%}"


def between_marks(card: str, block: str) -> str:
    """Replace the text between the card's marks with `block`; a card without marks gets them at its end."""
    marked = f"{BEGIN}\n{block}\n{END}"
    if BEGIN not in card:
        return f"{card.rstrip()}\n\n{marked}\n"
    return re.sub(f"{BEGIN}.*?{END}", lambda _: marked, card, flags=re.DOTALL)


def corpora_table(measured: dict[str, Difficulty]) -> str:
    """All corpora in one table."""
    head = [
        "| corpus | measure on test | chance | TF-IDF cosine | mean word vectors |",
        "| --- | --- | --- | --- | --- |",
    ]
    rows = [
        f"| [{name}]({name}.md) | {d.measure} | {d.chance:.3f} | {d.tfidf:.3f} | {d.mean_vectors:.3f} |"
        for name, d in measured.items()
    ]
    return "\n".join([*head, *rows])


def main(folder: Path = DATA) -> None:
    """Write the numbers of every corpus into its card."""
    from labkit.baselines.difficulty import difficulty

    measured: dict[str, Difficulty] = {}
    for name, embedded in EMBEDDED.items():
        corpus = embedded.load()
        measured[name] = difficulty(corpus)
        _write(folder / f"{name}.md", corpus_figures(embedded, corpus, measured[name]))
    _write(folder / "README.md", corpora_table(measured))


def _write(card: Path, block: str) -> None:
    write_text(card, between_marks(card.read_text(encoding="utf-8"), block))


if __name__ == "__main__":
    main()
