"""One contract for every corpus that comes with the lab, whatever its shape."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections import defaultdict
from itertools import islice
from pathlib import Path

import pytest

from labkit.baselines.difficulty import Difficulty, difficulty
from labkit.corpora import CORPORA, Articles, Corpus, Groups, Labelled, Pairs
from labkit.corpora.files import write_rows
from labkit.corpora.records import SPLITS
from labkit.corpora.table import DATA, EMBEDDED, Embedded
from labkit.lab.shipped.cards import BEGIN, END, between_marks, corpora_table, corpus_figures

FOUND: dict[str, Difficulty] = {}


def found(embedded: Embedded) -> Difficulty:
    if embedded.name not in FOUND:
        FOUND[embedded.name] = difficulty(embedded.load())
    return FOUND[embedded.name]


@pytest.mark.parametrize("embedded", EMBEDDED.values(), ids=EMBEDDED)
class TestEveryCorpus:
    def test_has_its_shape_and_all_splits(self, embedded: Embedded) -> None:
        corpus = embedded.load()
        assert type(corpus).__name__ == embedded.shape
        assert len(corpus) == embedded.rows == CORPORA[embedded.name].rows
        assert all(len(corpus.part(split)) >= 0.05 * len(corpus) for split in SPLITS)

    def test_committed_file_is_the_generators_byte_for_byte(self, embedded: Embedded, tmp_path: Path) -> None:
        made = tmp_path / embedded.path.name
        write_rows(embedded.stream(), made)
        assert made.read_bytes() == embedded.path.read_bytes()

    def test_another_seed_gives_other_rows(self, embedded: Embedded) -> None:
        one, two, again = (list(islice(embedded.stream(seed=s), 50)) for s in (1, 2, 1))
        assert one == again
        assert one != two

    @pytest.mark.whole
    def test_the_order_of_hashes_is_nothing_to_it(self, embedded: Embedded) -> None:
        code = (
            "import json; from itertools import islice; from labkit.corpora.table import EMBEDDED;"
            f"print(json.dumps(list(islice(EMBEDDED[{embedded.name!r}].stream(seed=5), 100))))"
        )
        here = json.dumps(list(islice(embedded.stream(seed=5), 100)))
        for seed in ("1", "2"):
            environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
            command = [sys.executable, "-c", code]
            there = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            assert there.strip() == here

    def test_rows_come_in_whole_units_and_lazily(self, embedded: Embedded) -> None:
        whole = list(embedded.stream(rows=5))
        assert len(whole) >= 5
        assert list(islice(embedded.stream(rows=10**12), len(whole))) == whole
        with pytest.raises(ValueError, match="rows is 0, expected at least 1"):
            list(embedded.stream(rows=0))

    @pytest.mark.whole
    def test_memory_of_the_stream_is_flat(self, embedded: Embedded) -> None:
        stream = embedded.stream(rows=10**12)
        _ = list(islice(stream, embedded.rows))  # word lists are read, caches are warm
        tracemalloc.start()
        for _ in islice(stream, 50):
            pass
        first = tracemalloc.get_traced_memory()[0]
        for _ in islice(stream, 500):
            pass
        grown = tracemalloc.get_traced_memory()[0] - first
        tracemalloc.stop()
        assert grown < 100_000  # the rows themselves: more than 180,000

    def test_no_row_twice_and_nothing_in_two_splits(self, embedded: Embedded) -> None:
        corpus = embedded.load()
        assert len({str({**row, "split": ""}) for row in corpus.rows()}) == len(corpus)
        where = defaultdict(set)
        for row in corpus.rows():
            for unit in units_of(corpus, row):
                where[unit].add(row["split"])
        assert [unit for unit, splits in where.items() if len(splits) > 1] == []

    def test_teaches_something(self, embedded: Embedded) -> None:
        scores = found(embedded)
        assert max(scores.tfidf, scores.mean_vectors) < 0.95
        assert max(scores.tfidf, scores.mean_vectors) > scores.chance + 0.03

    def test_card_has_the_figures_of_today(self, embedded: Embedded) -> None:
        card = (DATA / f"{embedded.name}.md").read_text(encoding="utf-8")
        block = card.split(BEGIN)[1].split(END)[0].strip()
        today = corpus_figures(embedded, embedded.load(), found(embedded))
        assert without_scores(block) == without_scores(today)
        for written, now in zip(scores_of(block), scores_of(today), strict=True):
            assert abs(written - now) < 0.006  # the SVD's last digits differ from machine to machine


def units_of(corpus: Corpus, row: dict) -> list[str]:
    """What must not lie in two splits: the sentences, and the class they share unless the task is to know it again."""
    if isinstance(corpus, Articles):
        return [row["title"]]
    if isinstance(corpus, Pairs):
        return [row["text_a"], row["text_b"]]
    if isinstance(corpus, Groups):
        return [row["text"], "group " + row["group"]]
    assert isinstance(corpus, Labelled)
    return [row["text"]] + (["label " + row["label"]] if corpus.name == "places" else [])


def scores_of(block: str) -> list[float]:
    line = next(line for line in block.splitlines() if line.startswith("| 0.") or line.startswith("| -0."))
    return [float(cell) for cell in line.strip("| ").split("|")]


def without_scores(block: str) -> list[str]:
    return [line for line in block.splitlines() if not line.startswith(("| 0.", "| -0."))]


def test_together_under_four_megabytes() -> None:
    assert sum(embedded.path.stat().st_size for embedded in EMBEDDED.values()) < 4_000_000


def test_overview_has_every_corpus() -> None:
    text = (DATA / "README.md").read_text(encoding="utf-8")
    head, *rows = corpora_table({name: Difficulty("m", 0.1, 0.2, 0.3) for name in EMBEDDED}).splitlines()
    assert head in text
    for row in rows[1:]:
        assert row.split("|")[1] in text


def test_marks_are_replaced_and_added() -> None:
    once = between_marks("# Card\n\nProse.", "new")
    assert once == f"# Card\n\nProse.\n\n{BEGIN}\nnew\n{END}\n"
    assert between_marks(once + "\nMore.\n", r"newer \1") == once.replace("new", r"newer \1") + "\nMore.\n"
