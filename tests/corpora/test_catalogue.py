"""The contract of every bundled corpus."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from itertools import islice
from pathlib import Path

import pytest

from labkit.baselines.difficulty import Difficulty, difficulty
from labkit.corpora import CORPORA, Articles, Corpus, Groups, Labelled, Pairs
from labkit.corpora.catalogue import DATA, EMBEDDED, Embedded
from labkit.corpora.files import write_rows
from labkit.corpora.records import SPLITS
from labkit.shipped.making import BEGIN, END, corpus_figures


@pytest.mark.parametrize("embedded", EMBEDDED.values(), ids=EMBEDDED)
class TestEveryCorpus:
    def test_has_its_shape_and_all_splits(self, embedded: Embedded) -> None:
        corpus = embedded.load()
        assert type(corpus).__name__ == embedded.shape
        assert len(corpus) == embedded.rows == CORPORA[embedded.name].rows
        assert all(len(corpus.part(split)) >= 0.05 * len(corpus) for split in SPLITS)

    def test_the_committed_file_equals_the_generated_one(self, embedded: Embedded, tmp_path: Path) -> None:
        made = tmp_path / embedded.path.name
        write_rows(embedded.stream(), made)
        assert made.read_bytes() == embedded.path.read_bytes()

    def test_rows_depend_on_the_seed_and_come_lazily_in_whole_units(self, embedded: Embedded) -> None:
        one, two, again = (list(islice(embedded.stream(seed=s), 50)) for s in (1, 2, 1))
        assert one == again != two
        whole = list(embedded.stream(rows=5))
        assert len(whole) >= 5
        assert list(islice(embedded.stream(rows=10**12), len(whole))) == whole
        with pytest.raises(ValueError, match="rows"):
            list(embedded.stream(rows=0))

    def test_no_row_is_repeated_and_no_unit_is_in_two_splits(self, embedded: Embedded) -> None:
        corpus = embedded.load()
        assert len({str({**row, "split": ""}) for row in corpus.rows()}) == len(corpus)
        where = defaultdict(set)
        for row in corpus.rows():
            for unit in units_of(corpus, row):
                where[unit].add(row["split"])
        assert [unit for unit, splits in where.items() if len(splits) > 1] == []

    def test_the_card_has_the_current_counts(self, embedded: Embedded) -> None:
        card = (DATA / f"{embedded.name}.md").read_text(encoding="utf-8")
        block = card.split(BEGIN)[1].split(END)[0].strip()
        today = corpus_figures(embedded, embedded.load(), Difficulty("m", 0.1, 0.2, 0.3))
        assert block.split("How hard it is")[0] == today.split("How hard it is")[0]


@pytest.mark.whole
@pytest.mark.parametrize("embedded", EMBEDDED.values(), ids=EMBEDDED)
def test_the_card_has_the_current_difficulty(embedded: Embedded) -> None:
    card = (DATA / f"{embedded.name}.md").read_text(encoding="utf-8")
    line = next(line for line in card.splitlines() if line.startswith(("| 0.", "| -0.")))
    found = difficulty(embedded.load())
    written = [float(cell) for cell in line.strip("| ").split("|")]
    # the last digits of the SVD differ between machines
    assert written == pytest.approx([found.chance, found.tfidf, found.mean_vectors], abs=0.006)


ROWS_OF_ALL = """
import json
from itertools import islice
from labkit.corpora.catalogue import EMBEDDED, KINDS, PAIRED, generator

found = generator("minimal").found
pairs = [pair for corpus in PAIRED for kind in KINDS for pair, _ in islice(found(corpus, kind, 0, "test"), 3)]
told = [(pair.text_a, pair.text_b, sorted(pair.changed_a), sorted(pair.changed_b)) for pair in pairs]
print(json.dumps([told, [list(islice(embedded.stream(seed=5), 100)) for embedded in EMBEDDED.values()]]))
"""


@pytest.mark.whole
def test_the_hash_seed_changes_no_row() -> None:
    made = [
        subprocess.run(
            [sys.executable, "-c", ROWS_OF_ALL],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1] != ""


def units_of(corpus: Corpus, row: dict) -> list[str]:
    """What must not be in two splits: the sentences and, unless the task is to recognise it, their class."""
    if isinstance(corpus, Articles):
        return [row["title"]]
    if isinstance(corpus, Pairs):
        return [row["text_a"], row["text_b"]]
    if isinstance(corpus, Groups):
        return [row["text"], "group " + row["group"]]
    assert isinstance(corpus, Labelled)
    return [row["text"]] + (["label " + row["label"]] if corpus.name == "places" else [])
