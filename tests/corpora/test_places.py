"""The code of a position against S2's own definitions and the paper's examples; the text of a place and its tokens."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
import s2cell

from labkit.corpora.places import place_text, place_tokens, s2_code

# Table 5, then table 7, with the town each address names.
PAPER = {
    3760125996951404544: (30.59, 114.43),
    3919372159020957696: (34.79, 108.58),
    3919372159557828608: (34.79, 108.58),
    3748128673543225344: (22.33, 114.19),
    3748128669416030208: (22.33, 114.19),
    3854134548551958528: (37.56, 126.98),
    3854134551471194112: (37.56, 126.98),
    6924438286450556928: (35.67, 139.76),
    6924438283631984640: (35.67, 139.76),
    6924437782026780672: (35.66, 139.73),
    6924437782261661696: (35.66, 139.73),
}


def metres(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Distance of two positions near each other."""
    return math.hypot(a[0] - b[0], (a[1] - b[1]) * math.cos(math.radians(a[0]))) * 111_195


def positions(count: int) -> list[tuple[float, float]]:
    rng = random.Random(3)
    return [(rng.uniform(-89.9, 89.9), rng.uniform(-180, 180)) for _ in range(count)]


# --- the code --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", PAPER)
def test_the_papers_codes_are_s2_cells_of_level_18_in_the_right_town(code: int) -> None:
    assert s2cell.cell_id_is_valid(code)
    assert s2cell.cell_id_to_level(code) == 18
    assert metres(s2cell.cell_id_to_lat_lon(code), PAPER[code]) < 2_000
    assert s2_code(*s2cell.cell_id_to_lat_lon(code)) == str(code)


def test_table_5_has_the_position_of_one_datum_and_the_code_of_another() -> None:
    paper = "3760125996951404544"
    printed = (30.5890440, 114.4297680)
    assert s2_code(*printed) == "3760120123885617152"
    assert metres(printed, s2cell.cell_id_to_lat_lon(int(paper))) == pytest.approx(590, abs=2)
    # The printed position taken from GCJ-02 back to WGS 84 (the published formula, inverted by fixed-point steps).
    assert s2_code(30.591331, 114.424244) == paper


def test_the_code_names_the_cell_that_holds_the_position() -> None:
    for position in positions(2_000):
        code = int(s2_code(*position))
        assert s2cell.cell_id_to_level(code) == 18
        assert metres(position, s2cell.cell_id_to_lat_lon(code)) < 40
        assert code == s2cell.lat_lon_to_cell_id(*position, 18)


def test_a_coarser_cell_is_the_finer_one_cut_in_binary() -> None:
    for position in positions(300):
        leaf = int(s2_code(*position, level=30))
        for level in range(30):
            last = 1 << 2 * (30 - level)
            assert int(s2_code(*position, level=level)) == leaf & -last | last


def test_a_cut_decimal_is_no_coarser_cell() -> None:
    """Two neighbours in one cell of level 12 (2 km) share fewer digits than two positions in different ones."""

    def shared(a: str, b: str) -> int:
        return next((i for i in range(19) if a[i] != b[i]), 19)

    rng = random.Random(1)
    near = [(48 + rng.uniform(0, 0.05), 9 + rng.uniform(0, 0.05)) for _ in range(200)]
    codes = [(s2_code(*position), s2_code(*position, level=12)) for position in near]
    pairs = [(shared(a[0], b[0]), a[1] == b[1]) for a in codes for b in codes if a[0] != b[0]]
    assert min(digits for digits, same in pairs if same) < max(digits for digits, same in pairs if not same)


def test_numbers_of_numpy_and_whole_numbers_are_numbers() -> None:
    nine: Any = np.float32(9)
    assert s2_code(np.float64(48), nine) == s2_code(48, 9) == s2_code(48.0, 9.0)
    assert s2cell.cell_id_is_valid(int(s2_code(90, 180)))
    assert s2cell.cell_id_is_valid(int(s2_code(-90, -180)))


@pytest.mark.parametrize(
    ("argument", "latitude", "longitude"),
    [
        ("latitude", 90.1, 0.0),
        ("latitude", -91.0, 0.0),
        ("latitude", math.nan, 0.0),
        ("latitude", math.inf, 0.0),
        ("latitude", "48.1", 0.0),
        ("latitude", None, 0.0),
        ("latitude", 114.4, 30.6),  # exchanged
        ("longitude", 0.0, 180.5),
        ("longitude", 0.0, -181.0),
        ("longitude", 0.0, math.nan),
        ("longitude", 0.0, -math.inf),
        ("longitude", 0.0, "9"),
    ],
)
def test_a_position_that_is_none_is_refused(argument: str, latitude: float, longitude: float) -> None:
    wrong = latitude if argument == "latitude" else longitude
    with pytest.raises(ValueError) as error:
        s2_code(latitude, longitude)
    message = str(error.value)
    assert message.startswith(f"{argument} is {wrong!r}, expected")
    assert "degrees" in message
    assert "exchanged" in message
    with pytest.raises(ValueError, match=argument):
        place_text("12 Mill Lane", "Heron Bakery", latitude, longitude)


@pytest.mark.parametrize("level", [-1, 31, 18.0, "18", None])
def test_a_level_that_is_none_is_refused(level: int) -> None:
    with pytest.raises(ValueError) as error:
        s2_code(48.0, 9.0, level)
    assert str(error.value).startswith(f"level is {level!r}, expected a whole number from 0 to 30")


# --- the text and its tokens -----------------------------------------------------------------------------------


def test_a_text_is_address_name_code() -> None:
    text = place_text("武汉路12号", "青禾书店", 30.6, 114.4)
    assert text == f"武汉路12号 <PAD> 青禾书店 <PAD> {s2_code(30.6, 114.4)}"
    assert text.split(" <PAD> ") == ["武汉路12号", "青禾书店", s2_code(30.6, 114.4, level=18)]


@pytest.mark.parametrize(("address", "name", "argument"), [("a <PAD> b", "c", "address"), ("a", "<PAD>", "name")])
def test_a_part_that_holds_the_separator_is_refused(address: str, name: str, argument: str) -> None:
    with pytest.raises(ValueError, match=rf"^{argument} is .*expected a text without <PAD>.*remove it$"):
        place_text(address, name, 48.0, 9.0)


def test_tokens_are_characters_without_spaces_and_the_separator_whole() -> None:
    text = place_text("Köprü Cad. 3", "푸른솔 약국", 39.05, 31.2)
    tokens = place_tokens(text)
    assert "".join(tokens) == text.replace(" ", "")
    assert tokens.count("<PAD>") == 2
    assert all(len(token) == 1 for token in tokens if token != "<PAD>")
    first, second = (i for i, token in enumerate(tokens) if token == "<PAD>")
    assert (first, second) == (10, 16)
    assert tokens[second + 1 :] == list(s2_code(39.05, 31.2))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \t\n", []),
        ("<PAD>", ["<PAD>"]),
        ("<PAD<PAD>", ["<", "P", "A", "D", "<PAD>"]),
        ("<pad>", ["<", "p", "a", "d", ">"]),
        ("2\u3000階", ["2", "階"]),
    ],
)
def test_tokens_of_odd_texts(text: str, tokens: list[str]) -> None:
    assert place_tokens(text) == tokens
