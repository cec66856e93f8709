"""The map of many points: the bytes for the browser, and the page."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from dot_map import bits, map_bytes

from labkit.corpora import Labelled
from labkit.projection import Projection

from .conftest import Opened, fine

MANY = {"corpus": "captions", "left": "SIF", "how": "PCA", "part": "of all splits", "amount": "5,000"}
SHOWN = Labelled(
    ["a b", "c", "d e f", "g"], ["x", "<b>y", "x", "z"], splits=["train"] * 4, extra={"size": [1.0, 2.0, 3.0, 4.0]}
)
PICTURE = Projection("PCA", np.array([[-1, 0], [1, 0], [0, 1], [3, -1]], np.float32))


# --- the bytes ---------------------------------------------------------------------------------------------------


def read(content: bytes) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """A map's bytes as the browser reads them: header, places (n, 2), codes (n,)."""
    end = 4 + int.from_bytes(content[:4], "little")
    header = json.loads(content[4:end])
    n = header["count"]
    numbers = np.frombuffer(content[end:], "<u2")
    assert (end % 4, len(numbers)) == (0, 3 * n)
    return header, numbers[: 2 * n].reshape(n, 2), numbers[2 * n :]


def test_points_come_back_from_their_bytes_with_class_colour_and_mark() -> None:
    key, content = map_bytes("left", PICTURE, SHOWN, "class", 2, ("<b>y", "x", "z"))
    header, places, codes = read(content)
    assert (header["slot"], header["key"], header["low"], header["span"]) == ("left", key, [-1, -1], 4)
    np.testing.assert_allclose(places / 65_535 * 4 - 1, PICTURE.points, atol=4 / 65_535)
    assert [header["names"][code] for code in codes] == list(SHOWN.labels)  # the class of a point, coloured or not
    looks = [header["looks"][code] for code in codes]
    assert (looks, header["rest"]) == ([1, 0, 1, 2], 2)
    assert header["colours"] == ["#0072B2", "#E69F00", "#767676"]
    assert [name for name, *_ in header["labels"]] == ["x", "<b>y", "1 other"]  # the largest first, others last
    assert header["labels"][0][1:3] == pytest.approx([0, 0.25], abs=1e-4)  # on a point, not in an empty middle


def test_numbers_become_levels_of_a_scale() -> None:
    shown = Labelled([f"w{i}" for i in range(16)], ["x", "y"] * 8, extra={"size": [float(i) for i in range(16)]})
    points = np.random.default_rng(0).normal(size=(16, 2)).astype(np.float32)
    header, _, codes = read(map_bytes("left", Projection("PCA", points), shown, "size", 12, ())[1])
    assert codes.tolist() == [17 * i for i in range(16)]
    assert [header["names"][code] for code in codes] == [str(i) for i in range(16)]
    assert [name for name, _ in header["legend"]] == ["0", "5", "10", "15"]
    assert (len(header["colours"]), header["labels"]) == (256, [])


def test_points_on_one_spot_have_a_place() -> None:
    spot = Projection("PCA", np.ones((4, 2), np.float32))
    header, places, _ = read(map_bytes("left", spot, SHOWN, "class", 2, ())[1])
    assert (header["low"], header["span"], places.tolist()) == ([1, 1], 1, [[0, 0]] * 4)


def test_other_points_colours_or_sides_have_other_keys() -> None:
    moved = Projection("PCA", PICTURE.points[::-1])
    made = [map_bytes("left", PICTURE, SHOWN, "class", 2, ()), map_bytes("right", PICTURE, SHOWN, "class", 2, ())]
    made += [map_bytes("left", moved, SHOWN, "class", 2, ()), map_bytes("left", PICTURE, SHOWN, "class", 1, ())]
    assert len({key for key, _ in made}) == 4
    places = [read(content)[0]["place"] for _, content in made]
    assert (places[0] == places[3], places[0] == places[2]) == (True, False)  # new colours keep the zoom


def test_one_bit_per_row() -> None:
    assert b64decode(bits([0, 9], 11)) == bytes([0b1, 0b10])


# --- the page ----------------------------------------------------------------------------------------------------


def maps(page: Any) -> list[Any]:
    """The components of the maps of a page: for each map its points, then its marks."""
    every = [element.proto for element in page.get("bidi_component")]
    return [each for each in every if each.component_name != "labkit_pictures"]


def test_above_two_thousand_sentences_there_is_a_map_and_no_sentence_is_sent_for_it(opened: Opened) -> None:
    page = fine(opened("space_page", right="nothing", row="17", **MANY).run())
    points, map_ = maps(page)
    header, places, _ = read(points.bytes)
    data = json.loads(map_.json)
    assert not page.get("plotly_chart")
    assert (header["count"], len(places), data["points"], data["ring"]) == (5_000, 5_000, header["key"], 17)
    assert "5,000 sentences" in data["alt"]
    assert len(points.bytes) < 6 * 5_000 + 100_000
    sentence = next(text.value for text in page.text).split("\n")[0]
    assert sentence.encode() not in points.bytes + map_.json.encode()
    assert data["words"] is None  # the names of classes come with the points
    fine(page.selectbox(key="labels").select("words").run())
    low, high = np.array(header["low"]), np.array(header["low"]) + header["span"]
    seen_whole, close = json.loads(maps(page)[1].json)["words"]
    assert 4 <= len(seen_whole) <= 12 < len(close) <= 50  # though there are 800 classes
    assert all((low <= place).all() and (place <= high).all() for _, *place in seen_whole + close)
    fine(page.selectbox(key="labels").select("none").run())
    assert json.loads(maps(page)[1].json)["words"] == [[], []]
    assert json.loads(maps(page)[1].json)["points"] == data["points"]  # the points are not sent again
