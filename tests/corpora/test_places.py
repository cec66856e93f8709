"""S2 codes against the package s2cell and the paper's examples; texts of places and their tokens."""

from __future__ import annotations

import math

import numpy as np
import pytest
import s2cell

from labkit.corpora.places import place_text, place_tokens, s2_code

# Tables 5 and 7, with the position of the town in the address.
PAPER = {
    3760125996951404544: (30.59, 114.43),
    3919372159020957696: (34.79, 108.58),
    3748128673543225344: (22.33, 114.19),
    3854134548551958528: (37.56, 126.98),
    6924438286450556928: (35.67, 139.76),
    6924437782261661696: (35.66, 139.73),
}


def metres(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The distance between two nearby positions."""
    return math.hypot(a[0] - b[0], (a[1] - b[1]) * math.cos(math.radians(a[0]))) * 111_195


@pytest.mark.parametrize("code", PAPER)
def test_the_papers_codes_are_s2_cells_of_level_18_in_the_right_town(code: int) -> None:
    assert s2cell.cell_id_to_level(code) == 18
    assert metres(s2cell.cell_id_to_lat_lon(code), PAPER[code]) < 2_000
    assert s2_code(*s2cell.cell_id_to_lat_lon(code)) == str(code)


def test_table_5_mixes_two_datums() -> None:
    paper = "3760125996951404544"
    printed = (30.5890440, 114.4297680)
    assert s2_code(*printed) == "3760120123885617152"
    assert metres(printed, s2cell.cell_id_to_lat_lon(int(paper))) == pytest.approx(590, abs=2)
    # The printed position, converted from GCJ-02 to WGS 84 (the published formula, inverted by fixed-point iteration).
    assert s2_code(30.591331, 114.424244) == paper


def test_numpy_numbers_and_the_poles_are_accepted() -> None:
    assert s2_code(np.float64(48), np.float32(9)) == s2_code(48, 9) == s2_code(48.0, 9.0)
    assert s2cell.cell_id_is_valid(int(s2_code(90, 180)))
    assert s2cell.cell_id_is_valid(int(s2_code(-90, -180)))


@pytest.mark.parametrize(
    ("argument", "latitude", "longitude"),
    [
        ("latitude", 90.1, 0.0),
        ("latitude", math.nan, 0.0),
        ("latitude", "48.1", 0.0),
        ("latitude", 114.4, 30.6),  # swapped
        ("longitude", 0.0, -181.0),
        ("longitude", 0.0, math.inf),
    ],
)
def test_a_position_off_the_globe_is_refused(argument: str, latitude: float, longitude: float) -> None:
    for call in (lambda: s2_code(latitude, longitude), lambda: place_text("a", "b", latitude, longitude)):
        with pytest.raises(ValueError, match=f"^{argument}"):
            call()


# --- the text and its tokens -----------------------------------------------------------------------------------


def test_a_text_is_address_name_code() -> None:
    text = place_text("武汉路12号", "青禾书店", 30.6, 114.4)
    assert text == f"武汉路12号 <PAD> 青禾书店 <PAD> {s2_code(30.6, 114.4)}"
    for address, name, argument in (("a <PAD> b", "c", "address"), ("a", "<PAD>", "name")):
        with pytest.raises(ValueError, match=f"^{argument}"):
            place_text(address, name, 48.0, 9.0)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Köprü 3 <PAD> 푸른솔 약국", [*"Köprü3", "<PAD>", *"푸른솔약국"]),
        (" \t\n", []),
        ("<PAD<PAD>", ["<", "P", "A", "D", "<PAD>"]),
        ("<pad>", ["<", "p", "a", "d", ">"]),
        ("2\u3000階", ["2", "階"]),
    ],
)
def test_tokens_are_characters_and_separators_without_spaces(text: str, tokens: list[str]) -> None:
    assert place_tokens(text) == tokens
