"""A corpus in shards on disk: the same shape, rows and fingerprint as in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit import scale
from labkit.corpora import Corpus, Labelled, Triplets, load
from labkit.corpora.records import Column
from labkit.corpora.shards import write_texts
from labkit.methods import METHODS
from labkit.sentpwnet.batches import in_one_spelling
from labkit.thematic.from_dumps import triplets_and_funnel
from tests.sharded import sharded


@pytest.fixture(scope="module")
def made() -> Triplets:
    return triplets_and_funnel(load("articles").take(range(12)))[0]


@pytest.fixture(scope="module", params=["arrow", "parquet"])
def corpus(request: pytest.FixtureRequest) -> Corpus:
    return sharded(load("articles").take(range(12)), 1, ending=request.param)


def test_equals_the_corpus_in_memory(corpus: Corpus, made: Triplets) -> None:
    assert type(corpus) is Triplets
    assert corpus.mapped
    assert not made.mapped
    assert corpus.sizes == made.sizes
    assert corpus.fingerprint == made.fingerprint
    for split in made.sizes:
        found, expected = corpus.part(split), made.part(split)
        assert list(found.rows()) == list(expected.rows())
        assert found.sentences() == expected.sentences()
    assert tuple(corpus.anchors) == made.anchors
    assert corpus.anchors[3:1:-1] == made.anchors[3:1:-1]
    assert corpus.anchors[-1] == made.anchors[-1]
    assert list(corpus.part("train").take([3, 1]).rows()) == list(made.part("train").take([3, 1]).rows())
    assert len(corpus.fewer(0.3)) == len(made.fewer(0.3))


def test_other_code_can_change_and_learn_from_it(corpus: Corpus, made: Triplets) -> None:
    """Both callers change the corpus: SBERT-LP its splits, `in_one_spelling` its texts."""
    settings = {"base": "mean-vectors", "dimension": 3, "neighbours": 4, "embedded": "all"}
    method, other = (METHODS["sbert-lp"](**settings) for _ in range(2))
    method.fit(corpus)
    other.fit(made)
    np.testing.assert_array_equal(method.encode(["a town"]), other.encode(["a town"]))
    twice = in_one_spelling(sharded(load("articles").take(range(3)), 1))
    assert len(twice) > 0


def test_a_folder_of_shards_is_a_corpus_of_that_name(tmp_path: Path) -> None:
    rows = [{"text": f"text {n}", "label": "ab"[n % 2], "split": "train", "more": str(n)} for n in range(20)]
    scale.folder(tmp_path / "out", {"kind": "distinct"})
    for number in (0, 1):
        write_texts(rows[10 * number : 10 * number + 10], tmp_path / "out" / f"part-{number}.arrow", tuple(rows[0]))
    with pytest.raises(ValueError, match="out"):
        load(tmp_path / "out")
    scale.finish(tmp_path / "out", {"kind": "distinct"})
    corpus = load(tmp_path / "out")
    assert type(corpus) is Labelled
    assert corpus.name == "out"
    assert list(corpus.rows()) == rows
    (tmp_path / "out" / "part-0.arrow").write_bytes(b"broken")
    with pytest.raises(ValueError, match=r"part-0\.arrow"):
        load(tmp_path / "out")
    (tmp_path / "out" / "part-1.arrow").unlink()
    write_texts([{"word": "a"}], tmp_path / "out" / "part-0.arrow", ("word",))
    with pytest.raises(ValueError, match="'word'"):
        load(tmp_path / "out")


def test_a_column_is_read_across_files_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as arrow

    values = arrow.chunked_array([["a", "b"], [], ["c"], ["d", "e", None]])
    column = Column(values)
    monkeypatch.setattr("labkit.corpora.records.TOGETHER", 2)
    assert list(column) == ["a", "b", "c", "d", "e", None]
    some = column.take(np.array([5, 0, 3, 0]))
    assert list(some) == [None, "a", "d", "a"]
    assert list(some.take(np.array([2, 1]))) == ["d", "a"]
    assert "d" in column
    with pytest.raises(IndexError):
        column[6]
