"""The map of many points: what is sent to the browser, what the page makes of it, and a hand at it in a real one."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from dot_map import bits, map_bytes
from marking import in_polygon

from labkit.corpora import Labelled
from labkit.projection import Projection

from .conftest import FLAGS, Opened, fine

WEBGL = [flag for flag in FLAGS if flag != "--disable-gpu"] + ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
NO_WEBGL = [*FLAGS, "--disable-3d-apis"]
MANY = {"corpus": "captions", "left": "SIF", "how": "PCA", "part": "of all splits", "amount": "5,000"}
SHOWN = Labelled(
    ["a b", "c", "d e f", "g"], ["x", "<b>y", "x", "z"], splits=["train"] * 4, extra={"size": [1.0, 2.0, 3.0, 4.0]}
)
PICTURE = Projection("PCA", np.array([[-1, 0], [1, 0], [0, 1], [3, -1]], np.float32))


# --- what is sent ------------------------------------------------------------------------------------------------


def read(content: bytes) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """A map's bytes as its browser reads them: header, places (n, 2), codes (n,)."""
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
    assert [name for name, _ in header["legend"]] == ["<b>y", "x", "others"]
    assert [name for name, *_ in header["labels"]] == ["x", "<b>y"]  # the largest first, and none for the others
    assert header["labels"][0][1:3] == pytest.approx([0.125, 0.375], abs=1e-4)  # the middle of (0, 1/4), (1/4, 1/2)


def test_numbers_are_levels_of_a_scale() -> None:
    shown = Labelled([f"w{i}" for i in range(16)], ["x", "y"] * 8, extra={"size": [float(i) for i in range(16)]})
    points = np.random.default_rng(0).normal(size=(16, 2)).astype(np.float32)
    header, _, codes = read(map_bytes("left", Projection("PCA", points), shown, "size", 12, ())[1])
    assert codes.tolist() == [17 * i for i in range(16)]
    assert [header["names"][code] for code in codes] == [str(i) for i in range(16)]
    assert [name for name, _ in header["legend"]] == ["0", "5", "10", "15"]
    assert (len(header["colours"]), header["labels"]) == (256, [])


@pytest.mark.parametrize("points", [np.zeros((4, 3)), np.full((4, 2), np.nan), np.full((4, 2), np.inf)])
def test_what_is_no_plane_is_refused(points: np.ndarray) -> None:
    with pytest.raises(ValueError, match="expected finite ones in the plane"):
        map_bytes("left", Projection("PCA", points), SHOWN, "class", 2, ())


def test_points_on_one_spot_have_a_place() -> None:
    spot = Projection("PCA", np.ones((4, 2), np.float32))
    header, places, _ = read(map_bytes("left", spot, SHOWN, "class", 2, ())[1])
    assert (header["low"], header["span"], places.tolist()) == ([1, 1], 1, [[0, 0]] * 4)


def test_other_points_colours_or_sides_have_other_names() -> None:
    moved = Projection("PCA", PICTURE.points[::-1])
    made = [map_bytes("left", PICTURE, SHOWN, "class", 2, ()), map_bytes("right", PICTURE, SHOWN, "class", 2, ())]
    made += [map_bytes("left", moved, SHOWN, "class", 2, ()), map_bytes("left", PICTURE, SHOWN, "class", 1, ())]
    assert len({key for key, _ in made}) == 4
    places = [read(content)[0]["place"] for _, content in made]
    assert (places[0] == places[3], places[0] == places[2]) == (True, False)  # new colours keep the zoom


def test_one_bit_a_row() -> None:
    assert b64decode(bits([0, 9], 11)) == bytes([0b1, 0b10])


# --- the page ----------------------------------------------------------------------------------------------------


def maps(page: Any) -> list[Any]:
    """The components of a page that are maps: of each its points and its marks."""
    return [element.proto for element in page.get("bidi_component")]


def test_above_two_thousand_sentences_there_is_a_map_and_no_sentence_leaves_for_it(opened: Opened) -> None:
    page = fine(opened("clusters_page", right="nothing", row="17", **MANY).run())
    points, map_ = maps(page)
    header, places, _ = read(points.bytes)
    data = json.loads(map_.json)
    assert not page.get("plotly_chart")
    assert (header["count"], len(places), data["points"], data["ring"]) == (5_000, 5_000, header["key"], 17)
    assert data["alt"].startswith("The space of SIF by PCA, left: 5,000 sentences")
    assert len(points.bytes) < 6 * 5_000 + 100_000
    sentence = next(text.value for text in page.text).split("\n")[0]
    assert sentence.encode() not in points.bytes + map_.json.encode()
    fine(page.toggle(key="plotly").set_value(True).run())
    assert (len(page.get("plotly_chart")), maps(page)) == (1, [])
    fine(page.select_slider(key="amount").set_value(2_000).run())
    assert len(page.get("plotly_chart")) == 1


def test_a_map_has_the_labels_that_the_page_chooses(opened: Opened) -> None:
    page = fine(opened("clusters_page", right="nothing", **MANY).run())

    def words() -> Any:
        return json.loads(maps(page)[1].json)["words"]

    key = json.loads(maps(page)[1].json)["points"]
    assert words() is None  # names of classes, which the points have
    fine(page.selectbox(key="labels").select("words").run())
    header, _, _ = read(maps(page)[0].bytes)
    low, high = np.array(header["low"]), np.array(header["low"]) + header["span"]
    seen_whole, close = words()
    assert 4 <= len(seen_whole) <= 12 < len(close) <= 50  # its 800 classes are no few regions
    for name, *place in seen_whole + close:
        assert 0 < len(name) <= 24
        assert (low <= place).all()
        assert (place <= high).all()
    fine(page.selectbox(key="labels").select("words, finer").run())
    assert len(words()[0]) > 12
    fine(page.selectbox(key="labels").select("none").run())
    assert words() == [[], []]
    assert json.loads(maps(page)[1].json)["points"] == key  # megabytes that are not sent again


def test_a_polygon_marks_rows_in_both_maps(opened: Opened) -> None:
    page = fine(opened("clusters_page", right="TF-IDF", **MANY).run())
    state = page.session_state["marked"]
    corners = ((-0.1, -0.1), (0.1, -0.1), (0.0, 0.2))
    state.source, state.now = "left", type(state.now)(polygons=(corners,))
    fine(page.run())
    (points, left), (_, right) = maps(page)[:2], maps(page)[2:]
    header, places, _ = read(points.bytes)
    inside = in_polygon(places / 65_535 * header["span"] + header["low"], corners)
    sent = [b64decode(json.loads(each.json)["chosen"]) for each in (left, right)]
    held = [np.unpackbits(np.frombuffer(each, np.uint8), bitorder="little") for each in sent]
    assert np.array_equal(held[0], held[1])
    assert 50 < held[0].sum() < 4_950
    assert abs(int(held[0].sum()) - int(inside.sum())) < 5  # whose places are rounded
    fine(page.selectbox(key="right").select("nothing").run())
    assert not page.session_state["marked"].now  # a place says nothing of another picture


def test_without_webgl_plotly_draws_without_it(opened: Opened) -> None:
    page = opened("clusters_page", right="nothing", **MANY)
    page.session_state["no-webgl"] = True
    fine(page.run())
    chart = json.loads(page.get("plotly_chart")[0].proto.spec)
    assert "scattergl" not in {trace["type"] for trace in chart["data"]}
    assert not maps(page)
    fine(page.select_slider(key="amount").set_value(20_000).run())
    assert "at most 5,000" in page.sidebar.warning[0].value


# --- a hand at it ------------------------------------------------------------------------------------------------

ADDRESS = "?corpus=captions&left=SIF&right=TF-IDF&how=PCA&part=of+all+splits&amount=5%2C000"
INSTANCES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map(host => host.shadowRoot.labkitMap).filter(map => map)"""
VIEWS = f"() => ({INSTANCES})().map(map => [map.view.x, map.view.y, map.view.zoom])"
DRAWN = f"""() => ({INSTANCES})().map(map => {{
    const gl = map.gl, [w, h] = [map.dots.width, map.dots.height], pixels = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    const seen = new Set();
    for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3]) seen.add(pixels.slice(at, at + 3).join());
    return seen.size; }})"""


def with_maps(address: str, listener, more: str = "") -> Any:  # type: ignore[no-untyped-def]
    """The page with two maps that are drawn."""
    view = listener.view
    view.goto(f"{address}/{ADDRESS}{more}")
    view.wait_for_function(f"({INSTANCES})().filter(map => map.points && map.frame === undefined).length === 2")
    listener.settle()
    return view


def field(view, number: int = 0) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Where a map lies on the screen."""
    box: dict[str, float] = view.locator(".over").nth(number).bounding_box()
    return box


def drag(view, shares: list[tuple[float, float]]) -> None:  # type: ignore[no-untyped-def]
    """The mouse goes over these shares of the first map's width and height, pressed."""
    box = field(view)
    (first, *others) = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in shares]
    view.mouse.move(*first)
    view.mouse.down()
    for place in others:
        view.mouse.move(*place, steps=6)
    view.mouse.up()


@pytest.mark.whole
@pytest.mark.parametrize("listener", [WEBGL], indirect=True)
def test_two_maps_are_drawn_move_together_and_a_lasso_marks_in_both(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = with_maps(address, listener)
    assert min(view.evaluate(DRAWN)) > 50  # colours in each: nothing is blank
    assert view.locator(".js-plotly-plot").count() == 0
    before = view.evaluate(VIEWS)
    drag(view, [(0.5, 0.5), (0.7, 0.4)])
    left, right = view.evaluate(VIEWS)
    assert left[0] < before[0][0]
    assert left == right
    view.mouse.wheel(0, -300)
    view.wait_for_function(f"({VIEWS})()[1][2] > 1.5")
    view.get_by_role("button", name="Fit").first.click()

    view.get_by_role("button", name="Lasso").first.click()
    drag(view, [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7), (0.3, 0.32)])
    view.wait_for_selector("text=Marked sentences")
    view.wait_for_function(f"({INSTANCES})().every(map => map.chosen)")
    listener.settle()
    said = view.locator("p:has-text('Marked sentences')").inner_text()
    count = int(said.split(": ")[1].split(" of")[0].replace(",", ""))
    bits_held = (
        f"({INSTANCES})().map(map => [...atob(map.chosen)].reduce((sum, letter) => "
        "sum + letter.charCodeAt(0).toString(2).replaceAll('0', '').length, 0))"
    )
    assert view.evaluate(bits_held) == [count, count]
    assert 20 < count < 4_980
    assert view.locator("[data-testid=stException]").count() == 0
    listener.quiet(address)


NAMES = f"() => ({INSTANCES})().map(map => [map.view.zoom, map.names().length, [...map.written]])"


def written(view) -> list[dict[int, list]]:  # type: ignore[no-untyped-def]
    """The names on each map, by their number, as [text, left, top, half of the width]: none on another, none cut."""
    view.wait_for_function(f"({INSTANCES})().every(map => map.frame === undefined && !map.moving)")
    box, every = field(view), []
    for _, _, names in view.evaluate(NAMES):
        for at, (_, (_, left, top, half)) in enumerate(names):
            assert half <= left <= box["width"] - half + 1
            assert 9 <= top <= box["height"] - 9
            assert all(abs(left - a) > half + b or abs(top - c) > 15 for _, (_, a, c, b) in names[:at])
        every.append(dict(names))
    return every


@pytest.mark.whole
@pytest.mark.parametrize("listener", [WEBGL], indirect=True)
def test_words_of_large_regions_and_from_close_by_of_finer_ones(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = with_maps(address, listener, "&labels=words")
    view.wait_for_function(f"({INSTANCES})().every(map => map.data.words)")
    counts = [count for _, count, _ in view.evaluate(NAMES)]
    assert all(4 <= count <= 12 for count in counts)
    assert all(len(names) >= 3 for names in written(view))
    before = view.evaluate(VIEWS)[0][2]
    view.locator(".over").first.focus()
    for _ in range(3):
        view.keyboard.press("+")
    view.wait_for_function(f"({NAMES})().every(([zoom, count]) => zoom > 3 && count > 12)")
    near = written(view)
    assert all(near)
    drag(view, [(0.5, 0.5), (0.56, 0.46)])
    moved, box = written(view), field(view)
    for names, after in zip(near, moved, strict=True):
        inside = {
            at: place
            for at, place in names.items()
            if 0.2 * box["width"] < place[1] < 0.7 * box["width"]
            and 0.2 * box["height"] < place[2] < 0.8 * box["height"]  # what is cut at no edge
        }
        for at, (text, left, top, _) in inside.items():  # what was to be read stays, and goes with the points
            assert after[at][0] == text
            assert after[at][1] - left == pytest.approx(0.06 * box["width"], abs=2)
            assert after[at][2] - top == pytest.approx(-0.04 * box["height"], abs=2)
    view.get_by_role("button", name="Fit").first.click()
    view.wait_for_function(f"({VIEWS})()[1][2] === {before}")
    assert [count for _, count, _ in view.evaluate(NAMES)] == counts
    listener.quiet(address)


@pytest.mark.whole
@pytest.mark.parametrize("listener", [WEBGL], indirect=True)
def test_a_map_by_mouse_and_keyboard(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = with_maps(address, listener)
    field_of = view.locator(".over").first
    assert field_of.get_attribute("aria-label").startswith("The space of SIF by PCA, left: 5,000 sentences")
    x, y = view.evaluate(f"""() => {{
        const map = ({INSTANCES})()[0], box = map.over.getBoundingClientRect(), row = map.points.grid.rows[0];
        const {{ width, height, pixels }} = map.measure(), [x, y] = map.points.places.slice(2 * row, 2 * row + 2);
        return [box.left + width / 2 + (x / 65535 - map.view.x) * pixels,
            box.top + height / 2 - (y / 65535 - map.view.y) * pixels]; }}""")
    view.mouse.move(x, y)
    hint = view.locator(".hint").first
    hint.wait_for()
    assert "row" in hint.inner_text()
    view.mouse.click(x, y)
    view.wait_for_selector("text=The sentence read: nearest")
    listener.settle()
    read_row = int(parse_qs(urlsplit(view.url).query)["row"][0])
    assert f"row {read_row:,}" in hint.inner_text()
    assert view.evaluate(f"({INSTANCES})().map(map => map.data.ring)") == [read_row, read_row]

    field_of.focus()
    before = view.evaluate(VIEWS)[0]
    for key in ("ArrowRight", "ArrowUp", "+"):
        view.keyboard.press(key)
    left, right = view.evaluate(VIEWS)
    assert left == right
    assert (left[0] > before[0], left[1] > before[1], left[2] > before[2]) == (True, True, True)
    view.keyboard.press("-")
    assert view.evaluate(VIEWS)[0][2] == pytest.approx(before[2])
    view.keyboard.press("Enter")
    view.wait_for_function(f"({INSTANCES})().every(map => map.chosen)")
    listener.settle()
    assert view.evaluate(VIEWS)[0][:2] == left[:2]  # the page ran again, and the map stays where it is
    view.keyboard.press("Escape")
    view.wait_for_function(f"({INSTANCES})().every(map => !map.chosen && map.data.ring === null)")
    view.wait_for_selector("text=Marked sentences", state="detached")
    assert "row=" not in view.url
    listener.quiet(address)


@pytest.mark.whole
@pytest.mark.parametrize("listener", [NO_WEBGL], indirect=True)
def test_a_browser_without_webgl_has_plotly(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.view
    view.goto(f"{address}/{ADDRESS}")
    view.wait_for_selector(".js-plotly-plot .scatterlayer .point", state="attached")
    listener.settle()
    assert view.locator(".js-plotly-plot").count() == 2
    assert view.locator(".over").count() == 0
    assert view.locator("[data-testid=stException]").count() == 0
