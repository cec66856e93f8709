"""Batches hold every triplet once, neighbours together, each sentence once; parts hold every sentence once."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labkit.corpora.records import Triplets
from labkit.thematic.task import PART, TripletRows, batches, of_like_length

CORPUS = Triplets(list("aabbc"), list("bbccd"), list("xyxyz"), name="letters")

rows_of = st.integers(1, 60).flatmap(
    lambda count: st.lists(st.tuples(*[st.integers(0, 20)] * 3), min_size=count, max_size=count)
)


def made(triplets: list[tuple[int, int, int]]) -> TripletRows:
    return TripletRows([str(number) for number in range(21)], np.array(triplets, dtype=np.int64))


def test_rows_by_hand() -> None:
    rows = TripletRows.of(CORPUS)
    assert [[rows.texts[number] for number in triplet] for triplet in rows.triplets] == [
        ["a", "b", "x"],
        ["a", "b", "y"],
        ["b", "c", "x"],
        ["b", "c", "y"],
        ["c", "d", "z"],
    ]
    assert len(set(rows.texts)) == len(rows.texts) == 7


@given(rows_of, st.integers(2, 40), st.integers(1, 20), st.integers(0, 5))
def test_every_triplet_once_and_every_sentence_once(
    triplets: list[tuple[int, int, int]], size: int, neighbours: int, seed: int
) -> None:
    found = batches(made(triplets), size, neighbours, seed=seed, network=3)
    back = [tuple(batch.sentences[place] for place in row) for batch in found for row in batch.triplets]
    assert Counter(back) == Counter(triplets)
    for batch in found:
        assert len(set(batch.sentences)) == len(batch.sentences)
        assert set(batch.triplets.ravel()) == set(range(len(batch.sentences)))
        assert len(batch.triplets) <= max(size, neighbours)
        assert batch.network == 3


def test_neighbours_stay_together_and_the_seed_mixes_the_rest() -> None:
    rows = TripletRows([str(number) for number in range(64)], np.arange(192, dtype=np.int64).reshape(64, 3) % 64)
    first, again, other = (batches(rows, 16, 4, seed=seed) for seed in (0, 0, 1))

    def anchors(found: list) -> list[int]:
        return [batch.sentences[place] for batch in found for place in batch.triplets[:, 0]]

    assert anchors(first) == anchors(again) != anchors(other)
    in_order = rows.triplets[:, 0].tolist()
    runs = [in_order[start : start + 4] for start in range(0, 64, 4)]
    mixed = [anchors(first)[start : start + 4] for start in range(0, 64, 4)]
    assert mixed != runs
    assert sorted(mixed) == sorted(runs)


@given(st.lists(st.integers(1, 50), max_size=300))
def test_parts_are_of_like_length(lengths: list[int]) -> None:
    found = list(of_like_length(lengths))
    assert sorted(place for part in found for place in part) == list(range(len(lengths)))
    assert all(len(part) <= PART for part in found)
    in_order = [lengths[place] for part in found for place in part]
    assert in_order == sorted(in_order)
