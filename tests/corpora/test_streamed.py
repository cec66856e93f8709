"""Streamed triplets: the same rows as in memory, each once per epoch, however lanes are shared out."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.corpora import Triplets, load, shards, streamed
from labkit.corpora.shards import MANIFEST, Making, manifest_of, write_parquet
from labkit.corpora.streamed import Lanes, Streamed
from labkit.executors import Local
from labkit.progress import collected
from labkit.thematic.making import triplets_and_funnel
from tests.sharded import sharded

SPLITS = ("train", "train", "dev", "train", "test")
COLUMNS = ("anchor", "positive", "negative", "split")


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "GROUP", 16)


def numbered(task: tuple[int, int], path: Path) -> dict[str, object]:
    """So many rows, whose texts say who they are."""
    number, count = task
    rows = [
        dict(zip(COLUMNS, (*(f"{role}{number}/{n}" for role in "apn"), SPLITS[n % 5]), strict=True))
        for n in range(count)
    ]
    return write_parquet(rows, path, COLUMNS)


def folder_of(place: Path, counts: list[int]) -> Streamed:
    """A folder of shards with so many rows each."""
    with Making(
        place, {"kind": "triplets", "settings": {}, "sources": [], "versions": shards.versions_here()}
    ) as making:
        making.run(numbered, {n: (n, count) for n, count in enumerate(counts)}, Local(1))
        return Streamed(making.finish(len(counts)))


def train_of(corpus: Streamed) -> list[tuple[str, ...]]:
    rows = shards.read_shards(corpus.manifest)
    return [tuple(row[name] for name in COLUMNS[:3]) for row in rows if row["split"] == "train"]


def of_batch(lanes: Lanes, number: int) -> list[tuple[str, ...]]:
    share = lanes[number]
    return [row for lane in range(len(share)) for row in zip(*share.rows(lane), strict=True)]


# --- the corpus ----------------------------------------------------------------------------------------------------


def test_it_has_the_rows_of_the_corpus_in_memory() -> None:
    articles = load("articles").take(range(12))
    corpus = sharded(articles, 1)
    made, _ = triplets_and_funnel(articles)
    assert isinstance(corpus, Triplets)
    assert corpus.sizes == made.sizes
    assert len(corpus) == len(made)
    for split in made.sizes:
        found, expected = corpus.part(split), made.part(split)
        assert list(found.rows()) == list(expected.rows())
        assert found.sentences() == expected.sentences()
    assert corpus.anchors == made.anchors
    assert corpus.extra == made.extra
    assert list(corpus.take([3, 1]).rows()) == list(made.take([3, 1]).rows())
    assert corpus.fingerprint == corpus.manifest.fingerprint


def test_names_of_folders_are_names_of_corpora(tmp_path: Path) -> None:
    corpus = folder_of(tmp_path / "out", [40])
    opened = load(tmp_path / "out")
    assert isinstance(opened, Streamed)
    assert (opened.name, opened.fingerprint) == ("out", corpus.fingerprint)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "plan.json").write_text("{}")
    with pytest.raises(ValueError, match="half"):
        load(tmp_path / "half")


def test_a_large_dev_split_is_sampled_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = folder_of(tmp_path / "out", [100, 60])
    monkeypatch.setattr(streamed, "MOST_MEASURED", 10)
    with collected() as notes:
        dev = corpus.part("dev")
    assert 8 <= len(dev) <= 10
    assert {anchor.partition("/")[0] for anchor in dev.anchors} == {"a0", "a1"}  # from all over
    assert "32" in notes[0]
    assert set(dev.splits) == {"dev"}


def test_a_sample_is_spread_over_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = folder_of(tmp_path / "out", [160, 160, 160])
    monkeypatch.setattr(streamed, "SPREAD", 6)
    sample = corpus.sample(60)
    assert 6 * 9 <= len(sample) <= 60
    assert {anchor.partition("/")[0] for anchor in sample.anchors} == {"a0", "a1", "a2"}
    assert len(corpus.sample(10**6)) == 288


def test_more_rows_than_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = folder_of(tmp_path / "out", [40])
    monkeypatch.setattr(streamed, "MOST_HELD", 39)
    with pytest.raises(ValueError, match="40 triplets"):
        corpus.sentences()
    assert len(corpus.part("train").sentences()) == 3 * 24


def test_missing_splits_and_other_folders_are_refused(tmp_path: Path) -> None:
    corpus = folder_of(tmp_path / "out", [2])
    with pytest.raises(ValueError, match="dev"):
        corpus.part("dev")
    with pytest.raises(ValueError, match="vectors"):
        Streamed(replace(corpus.manifest, plan={"kind": "vectors"}))
    with pytest.raises(ValueError, match="no rows"):
        folder_of(tmp_path / "none", [0])


# --- an epoch ------------------------------------------------------------------------------------------------------


@given(
    counts=st.lists(st.integers(0, 70), min_size=1, max_size=6).filter(any),
    lanes=st.integers(1, 9),
    size=st.integers(1, 40),
    run=st.integers(1, 5),
    window=st.integers(1, 6),
)
def test_each_row_of_train_once_an_epoch(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], lanes: int, size: int, run: int, window: int
) -> None:
    corpus = folder_of(tmp_path_factory.mktemp("some") / "out", counts)
    if not corpus.sizes.get("train"):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed, "WINDOWS", window)
        order = Lanes(corpus, lanes=lanes, size=size, run=run, seed=3)
        batches = [of_batch(order, number) for number in range(len(order))]
        again = Lanes(corpus, lanes=lanes, size=size, run=run, seed=3)
        for number in range(len(order) - 1, -1, -1):  # asked for in any order, and by whoever
            assert of_batch(again, number) == batches[number]
    assert Counter(row for batch in batches for row in batch) == Counter(train_of(corpus))
    assert all(len(batch) <= max(size, run) + lanes * run for batch in batches)


def test_another_epoch_has_another_order_and_runs_stay_together(tmp_path: Path) -> None:
    corpus = folder_of(tmp_path / "out", [200, 200, 200])
    one, other = (Lanes(corpus, lanes=2, size=8, run=4, seed=seed) for seed in (1, 2))
    assert [of_batch(one, n) for n in range(len(one))] != [of_batch(other, n) for n in range(len(other))]
    place = {row: at for at, row in enumerate(train_of(corpus))}
    rows = [place[row] for n in range(len(one)) for row in of_batch(one, n)]
    following = sum(later == earlier + 1 for earlier, later in pairwise(rows))
    assert following >= len(rows) // 2  # of four in a run three follow the one before
    assert following < len(rows) * 0.8


def test_shards_come_in_a_drawn_order_and_no_two_windows_are_shuffled_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = folder_of(tmp_path / "out", [16] * 8)
    monkeypatch.setattr(streamed, "WINDOWS", 2)
    came, within = [], set()
    for seed in (1, 2):
        order = Lanes(corpus, lanes=2, size=4, run=1, seed=seed)
        texts = [text for lane in (0, 1) for number in range(len(order)) for text in order.rows(number, lane)[0]]
        rows = [text.split("/") for text in texts]
        came.append(list(dict.fromkeys(shard for shard, _ in rows)))
        within |= {tuple(place for shard, place in rows if shard == each) for each in came[0]}
    assert sorted(came[0]) == sorted(came[1]) == [f"a{n}" for n in range(8)]
    assert sorted(came[0]) != came[0] != came[1]
    assert len(within) == 16


def test_lanes_share_no_shard(tmp_path: Path) -> None:
    order = Lanes(folder_of(tmp_path / "out", [40] * 4), lanes=4, size=32, run=4, seed=0)
    seen = [
        {anchor.partition("/")[0] for number in range(len(order)) for anchor in order[number].rows(lane)[0]}
        for lane in range(4)
    ]
    assert sorted(map(sorted, seen)) == [["a0"], ["a1"], ["a2"], ["a3"]]


def test_all_lanes_together_hold_few_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = folder_of(tmp_path / "out", [320] * 4)
    monkeypatch.setattr(streamed, "WINDOWS", 8)
    opened: list[int] = []
    read = streamed._group
    monkeypatch.setattr(streamed, "_group", lambda *given: opened.append(given[2]) or read(*given))
    order = Lanes(corpus, lanes=4, size=32, run=4, seed=0)
    of_batch(order, 0)
    assert len(opened) == 8
    for number in range(1, len(order)):
        of_batch(order, number)
    assert len(opened) == 4 * 20  # each group once: no batch opens again what an earlier one had
    assert all(lane._opened.cache_info().currsize == 1 for lane in order._lanes)  # the windows in hand


@pytest.mark.parametrize("harm", ["rows", "groups", "gone", "column"])
def test_a_folder_unlike_its_manifest_is_refused(tmp_path: Path, harm: str) -> None:
    folder_of(tmp_path / "out", [40])
    path, said = tmp_path / "out" / "part-00000.parquet", json.loads((tmp_path / "out" / MANIFEST).read_text())
    if harm == "rows":
        said["shards"][0]["train"][0] = 3
    elif harm == "groups":
        said["shards"][0]["train"] = [10] * 9
    elif harm == "gone":
        path.unlink()
    else:
        parquet.write_table(arrow.table({"anchor": ["a"]}), path)
    (tmp_path / "out" / MANIFEST).write_text(json.dumps(said))
    order = Lanes(Streamed(manifest_of(tmp_path / "out")), lanes=1, size=8, run=4, seed=0)
    with pytest.raises(ValueError, match="part-00000.parquet"):
        list(map(partial(of_batch, order), range(len(order))))
