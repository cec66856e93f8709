"""Text for spreadsheets: no cell starts a formula."""

from __future__ import annotations

import csv
import io

import pytest

from labkit.spreadsheet import MARK, spreadsheet, without_formula


@pytest.mark.parametrize("start", [*"=+-@＝|%\"'", "\n", "  =", "\t=", "\u00a0=", "\ufeff=", "\u200b ="])
def test_a_formula_is_prefixed_with_a_quote(start: str) -> None:
    text = f'{start}HYPERLINK("http://x")'
    assert without_formula(text) == "'" + text
    cell = next(csv.reader(io.StringIO(spreadsheet([{"a": text}]).removeprefix(MARK).split("\n", 1)[1], newline="")))[0]
    assert cell == "'" + text


@pytest.mark.parametrize("value", ["a = b", "", " ", -0.5, 3, True, None, "naïve"])
def test_other_values_are_unchanged(value: object) -> None:
    assert without_formula(value) is value


def test_rows_are_written_with_every_column() -> None:
    text = spreadsheet([{"a": 'say "hi", now', "=b": 1}, {"a": "two\nlines", "c": -2.5}])
    assert text.startswith(MARK)
    rows = list(csv.reader(io.StringIO(text.removeprefix(MARK), newline="")))
    assert rows == [["a", "'=b", "c"], ['say "hi", now', "1", ""], ["two\nlines", "", "-2.5"]]
    assert spreadsheet([]) == MARK + "\n"
