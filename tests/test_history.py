"""History and snapshots: what is written is what is read, and what is no history is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.runs import History, Snapshots, probe_rows

ROWS = ({"epoch": 1, "loss": 0.5, "dev": 0.25}, {"epoch": 2, "loss": 1 / 3})


def test_table_by_hand() -> None:
    history = History(ROWS)
    assert history.csv() == "epoch,loss,dev\n1,0.5,0.25\n2,0.3333333333333333,\n"
    assert history.columns == ["epoch", "loss", "dev"]
    assert history.column("loss") == [0.5, 1 / 3]
    assert history.column("dev")[0] == 0.25
    assert math.isnan(history.column("dev")[1])
    assert len(history) == 2
    with pytest.raises(ValueError, match="name is 'los', expected one of epoch, loss, dev"):
        history.column("los")
    assert History().csv() == "epoch\n"
    assert History().column("anything") == []


@given(
    st.lists(
        st.dictionaries(
            st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1),
            st.integers() | st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False),
        ).map(lambda row: {"epoch": 1} | row)
    )
)
def test_comes_back_as_it_was(rows: list[dict[str, float]]) -> None:
    history = History(tuple(rows))
    back = History.of_csv(history.csv())
    assert back == history
    for row, found in zip(rows, back.rows, strict=True):
        assert {name: type(value) for name, value in found.items()} == {n: type(v) for n, v in row.items()}
    assert back.csv() == history.csv()


def test_numbers_of_numpy_are_numbers() -> None:
    row = {"epoch": np.int64(1), "loss": np.float64(0.1), "dev": np.float32(0.5), "spread": np.nan}
    history = History((row,))
    assert history.csv() == "epoch,loss,dev,spread\n1,0.1,0.5,nan\n"
    back = History.of_csv(history.csv())
    assert back.rows[0]["loss"] == 0.1
    assert math.isnan(back.rows[0]["spread"])


def test_rows_are_its_own() -> None:
    row = {"epoch": 1, "loss": 0.5}
    history = History((row,))
    row["loss"] = 9.0
    assert history.column("loss") == [0.5]


@pytest.mark.parametrize(
    "text",
    ["", "epoch,loss\n1,half\n", "epoch,loss\n1,0.5,3\n", "epoch,loss\n1\n", 'epoch\n"1', "epoch\n--1\n"],
)
def test_what_is_no_history(text: str) -> None:
    with pytest.raises(ValueError, match=r"history.csv is not a table of numbers .* it was edited or cut off"):
        History.of_csv(text)


def test_snapshots_grow_by_an_epoch() -> None:
    empty = Snapshots(("a", "b"), ("x", "y"))
    one = empty.with_epoch(0, np.ones((2, 3)))
    two = one.with_epoch(5, np.zeros((2, 3), np.float32))
    assert len(empty.epochs) == 0
    assert one.vectors.shape == (1, 2, 3)
    assert two.epochs.tolist() == [0, 5]
    assert two.vectors.dtype == np.float32
    assert two.vectors[0].sum() == 6
    assert list(probe_rows(two)) == [{"text": "a", "label": "x"}, {"text": "b", "label": "y"}]
