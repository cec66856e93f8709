"""The app in a real browser, without requests to other hosts, and the host names that it answers to.

Visits: clusters, maps, all pages by keyboard, the report of a comparison, and a training in a classroom.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import classroom
import pytest
from trainings import Job, write_job

from tests.browser import FLAGS
from tests.waiting import HANG

from .conftest import HOSTILE, Listener, started

pytestmark = pytest.mark.whole

TOKEN = "blue-house-77"
WEBGL = [flag for flag in FLAGS if flag != "--disable-gpu"] + ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


# --- addresses and names ------------------------------------------------------------------------------------------


def listening(address: str) -> list[str]:
    """The addresses, in hexadecimal, of the sockets that listen at this port."""
    port = int(address.rsplit(":", 1)[1])
    tables = [Path(table) for table in ("/proc/net/tcp", "/proc/net/tcp6") if Path(table).is_file()]
    if not tables:
        pytest.skip("needs /proc/net/tcp to see who listens")
    lines = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    return [line[1].split(":")[0] for line in lines if line[1].endswith(f":{port:04X}") and line[3] == "0A"]


def answered(address: str, host: str) -> int:
    """The status of a WebSocket request with this host name; 101 if it is accepted."""
    place = urlsplit(address)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=HANG)
    key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version": "13"}
    talk = {"Host": f"{host}:{place.port}", "Upgrade": "websocket", "Connection": "Upgrade", **key}
    connection.request("GET", "/_stcore/stream", headers=talk)
    status = connection.getresponse().status
    connection.close()
    return status


def test_it_listens_on_this_machine_only_and_answers_to_its_own_names(address: str) -> None:
    assert listening(address) == ["0100007F"]  # 127.0.0.1, and nothing else
    assert [answered(address, host) for host in ("127.0.0.1", "localhost", "[::1]")] == [101, 101, 101]
    assert answered(address, "evil.example") == 403


def test_streamlit_run_from_any_folder_is_safe_too(tmp_path: Path) -> None:
    with started(tmp_path, "--server.headless", "true", by_streamlit=True) as (address, _):
        assert listening(address) == ["0100007F"]
        assert answered(address, "evil.example") == 403


# --- clusters -----------------------------------------------------------------------------------------------------

SELECTED = """() => [...document.querySelectorAll('.js-plotly-plot')].map(picture => picture._fullData
    .filter(trace => trace.customdata).flatMap(trace => [...(trace.selectedpoints || [])]
    .map(at => trace.customdata[at])).sort((a, b) => a - b))"""
RINGS = """() => [...document.querySelectorAll('.js-plotly-plot')].map(picture =>
    picture.querySelectorAll('.labkit-ring').length
    + picture._fullData.filter(trace => trace.marker?.symbol === 'circle-open').length)"""
EPOCHS = (
    "() => [...document.querySelectorAll('.js-plotly-plot')].map(one => one.querySelector('.textpoint')?.textContent"
    ".replace(' (kept)', ''))"
)
SLIDER = "() => document.querySelector('.st-key-epoch input').getAttribute('aria-valuetext')"
# slow down the clock of the animation to 16 ms per drawn frame, so that a busy machine skips no epoch
SLOWLY = """() => {
    window.seen = new Set(); let at = Date.now(); Date.now = () => at;
    const note = () => { seen.add(String(EPOCHS())); at += 16; requestAnimationFrame(note); }; note(); }"""


def click(view: Any, chart: int, point: int) -> None:
    """Click a point of a picture."""
    box = view.locator(".js-plotly-plot").nth(chart).locator(".scatterlayer .point").nth(point).bounding_box()
    view.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def drag(view: Any, box: dict[str, float], shares: list[tuple[float, float]]) -> None:
    """Drag the mouse through these places, given as shares of a box."""
    first, *others = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in shares]
    view.mouse.move(*first)
    view.mouse.down()
    for place in others:
        view.mouse.move(*place, steps=6)
    view.mouse.up()


def row_in(url: str) -> str:
    """The `row` in an address."""
    return parse_qs(urlsplit(url).query).get("row", [""])[0]


def test_clusters_from_a_click_to_a_link_and_the_epochs(address: str, listener: Listener) -> None:
    view = listener.go(f"{address}/space?left=SIF&right=TF-IDF&how=PCA")
    view.evaluate("document.querySelector('.js-plotly-plot').here = true")
    click(view, 0, 7)
    view.wait_for_selector(".st-key-reading li")
    listener.settle()
    row = int(row_in(view.url))  # of the topmost point there
    assert view.evaluate(SELECTED) == [[row], [row]]
    assert view.evaluate(RINGS) == [1, 1]
    assert view.evaluate("document.querySelector('.js-plotly-plot').here")  # not redrawn, so the zoom is kept

    picture = view.locator(".js-plotly-plot").nth(1)
    picture.get_by_role("button", name="Box").click()
    drag(view, picture.locator(".nsewdrag").last.bounding_box(), [(0.3, 0.3), (0.7, 0.7)])
    view.wait_for_function(f"(all => String(all[0]) == String(all[1]) && all[0].length > 20)(({SELECTED})())")
    listener.settle()
    view.get_by_role("button", name="Clear", exact=True).click()
    view.wait_for_function(f"({RINGS})().every(count => count == 0)")
    listener.settle()

    click(view, 0, 30)
    view.wait_for_selector(".st-key-reading li")
    listener.settle()
    second = row_in(view.url)
    click(view, 0, 7)
    view.wait_for_function(f"new URL(location).searchParams.get('row') != '{second}'")
    listener.settle()
    view.go_back()  # to the previous sentence
    view.wait_for_function(f"new URL(location).searchParams.get('row') == '{second}'")
    listener.settle()
    typed = view.get_by_label("Type a new sentence and see where it lands")
    typed.fill("The <i>rain</i> came through the roof")
    typed.press("Enter")
    star = "[...document.querySelectorAll('.js-plotly-plot')].every(one => one.data.at(-1).name == 'typed')"
    view.wait_for_function(star)
    listener.settle()
    assert "rain" not in view.url
    assert view.locator("main i").count() == 0
    listener.go(view.url)  # as opened from a shared link
    view.wait_for_selector(".st-key-reading li")
    assert row_in(view.url) == second

    listener.go(f"{address}/space?left=run+sentpwnet-topics&right=run+siamese-topics&how=PCA&view=While+it+trained")
    last = int(view.get_by_role("slider", name="Epoch").get_attribute("max"))
    at_the_end = f"String(({EPOCHS})()) == 'epoch {last},epoch {last}'"
    view.wait_for_function(at_the_end)  # it plays once on its own
    view.wait_for_function(f"({SLIDER})() === '{last}'")
    listener.settle()
    view.wait_for_function("document.querySelectorAll('.labkit-tools button').length == 16")  # in both pictures
    view.evaluate(SLOWLY.replace("EPOCHS", f"({EPOCHS})"))
    for _ in range(90):
        view.keyboard.press("Tab")
        if view.evaluate("document.activeElement.getAttribute('aria-label')") == "Play":
            break
    view.keyboard.press("Enter")  # both pictures play together
    view.wait_for_function("seen.has('epoch 1,epoch 1')")
    view.get_by_role("button", name="Stop", exact=True).last.click()
    listener.settle()
    view.wait_for_function(
        f"({EPOCHS})().every(said => said.split(' ')[1] === ({SLIDER})())"
    )  # slider and pictures agree
    view.get_by_role("button", name="Play", exact=True).first.click()
    view.wait_for_function("seen.has('epoch 2,epoch 2')")
    view.get_by_role("slider", name="Epoch").press("End")  # while it plays
    view.wait_for_function(f"({SLIDER})() === '{last}'")
    listener.settle()
    turn_to(listener, "Why")
    turn_to(listener, "Space")
    view.get_by_role("slider", name="Epoch").wait_for()  # the view is restored
    with view.expect_file_chooser():
        view.locator(".st-key-bring-file button").first.click()
    view.get_by_role("slider", name="Epoch").focus()
    view.keyboard.press("ArrowLeft")
    view.wait_for_selector(f"td:has-text('space, epoch {last - 1}')", state="attached")
    listener.settle()
    listener.quiet(address)


# --- maps ---------------------------------------------------------------------------------------------------------

MAPS = "space?corpus=captions&left=SIF&right=TF-IDF&how=PCA&part=of+all+splits&amount=5%2C000&labels=words"
INSTANCES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map(host => host.shadowRoot?.labkitMap).filter(map => map)"""
VIEWS = f"() => ({INSTANCES})().map(map => [map.view.x, map.view.y, map.view.zoom])"
COLOURS = f"""() => ({INSTANCES})().map(map => {{
    const gl = map.gl, [w, h] = [map.dots.width, map.dots.height], pixels = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    const seen = new Set();
    for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3]) seen.add(pixels.slice(at, at + 3).join());
    return seen.size; }})"""
CHOSEN = f"""() => ({INSTANCES})().map(map => [...atob(map.chosen)].reduce((sum, letter) =>
    sum + letter.charCodeAt(0).toString(2).replaceAll('0', '').length, 0))"""
FIRST_POINT = f"""() => {{
    const map = ({INSTANCES})()[0], box = map.over.getBoundingClientRect(), row = map.points.grid.rows[0];
    const {{ width, height, pixels }} = map.measure(), [x, y] = map.points.places.slice(2 * row, 2 * row + 2);
    return [box.left + width / 2 + (x / 65535 - map.view.x) * pixels,
        box.top + height / 2 - (y / 65535 - map.view.y) * pixels]; }}"""


@pytest.mark.parametrize("listener", [WEBGL], indirect=True)
def test_maps_by_mouse_and_keyboard(address: str, listener: Listener) -> None:
    view = listener.view
    view.goto(f"{address}/{MAPS}")
    view.wait_for_function(f"({INSTANCES})().filter(map => map.points && map.frame === undefined).length === 2")
    listener.settle()
    assert min(view.evaluate(COLOURS)) > 50  # neither map is blank
    over = view.locator(".over").first
    box = over.bounding_box()
    before = view.evaluate(VIEWS)
    drag(view, box, [(0.5, 0.5), (0.7, 0.4)])
    left, right = view.evaluate(VIEWS)
    assert left[0] < before[0][0]
    assert right == before[1]  # its coordinates are unrelated
    view.mouse.wheel(0, -300)
    view.wait_for_function(f"({VIEWS})()[0][2] > 1.5")
    view.wait_for_function(f"!({INSTANCES})()[0].chosen && ({INSTANCES})()[1].chosen")  # highlights those in view
    view.get_by_role("button", name="Fit").first.click()
    view.wait_for_function(f"({VIEWS})()[0][2] === {before[0][2]} && !({INSTANCES})()[1].chosen")

    view.get_by_role("button", name="Lasso").first.click()
    drag(view, box, [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7), (0.3, 0.32)])
    view.wait_for_function(f"({INSTANCES})().every(map => map.chosen)")
    listener.settle()
    left, right = view.evaluate(CHOSEN)
    assert 20 < left == right < 4_980
    over.focus()
    view.keyboard.press("Escape")
    view.wait_for_function(f"({INSTANCES})().every(map => !map.chosen)")
    listener.settle()

    x, y = view.evaluate(FIRST_POINT)
    view.mouse.move(x, y)
    view.locator(".hint").first.wait_for()
    view.mouse.click(x, y)
    view.wait_for_selector(".st-key-reading li")
    listener.settle()
    row = int(row_in(view.url))
    assert f"row {row:,}" in view.locator(".hint").first.inner_text()
    assert view.evaluate(f"({INSTANCES})().map(map => map.data.ring)") == [row, row]
    over.focus()
    before = view.evaluate(VIEWS)
    for key in ("ArrowRight", "ArrowUp", "+"):
        view.keyboard.press(key)
    left, right = view.evaluate(VIEWS)
    assert right == before[1]
    assert all(now > then for now, then in zip(left, before[0], strict=True))
    view.keyboard.press("Enter")
    view.wait_for_function(f"({INSTANCES})().every(map => map.chosen)")
    listener.settle()
    assert view.evaluate(VIEWS)[0][:2] == left[:2]  # the map keeps its position through the rerun

    listener.go(f"{address}/space?left=SIF&right=nothing&how=PCA&solid=true")
    view.wait_for_selector(".gl-container canvas", state="attached")
    listener.settle()
    view.evaluate("document.querySelector('.js-plotly-plot').emit('plotly_click', {points: [{customdata: 7}]})")
    view.wait_for_selector(".st-key-reading li")
    assert row_in(view.url) == "7"
    listener.quiet(address)


# --- all pages ----------------------------------------------------------------------------------------------------

# Streamlit fades text in and out, and axe-core would measure the contrast during a fade
SETTLED = """() => !document.querySelector('[data-stale=true]') && document.getAnimations().every(
    each => each.playState !== 'running' || each.effect.getComputedTiming().iterations === Infinity)"""

# Streamlit's own Stop button, shown while a page runs, and disabled controls, which need no contrast
OURS = {"exclude": [["[data-testid=stBaseButton-header]"], ["label[disabled]"]]}


def turn_to(listener: Listener, title: str) -> None:
    """Open another page with the keyboard, through its link."""
    link = listener.view.get_by_role("link", name=title, exact=True)
    link.focus()
    listener.view.keyboard.press("Enter")
    listener.view.wait_for_selector(f"[data-testid=stTopNavLink][aria-current=page]:has-text('{title}')")
    listener.view.locator("h3").first.wait_for()
    listener.settle()


def choose(listener: Listener, name: str, value: str) -> None:
    """Click the option that begins with `value`, because Enter would submit it as a typed sentence."""
    listener.view.get_by_role("combobox", name=name, exact=True).fill(value)
    listener.view.get_by_role("option").filter(has_text=re.compile(f"^{value}")).first.click()
    listener.settle()


def test_every_page_is_accessible_and_carries_the_corpus_the_file_and_the_way_back(
    address: str, listener: Listener
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    view = listener.view
    view.goto(f"{address}/corpora_page")
    view.get_by_role("button", name="Show other rows").wait_for()
    links = view.locator("[data-testid=stTopNavLink]").all_inner_texts()
    titles = [title.strip() for title in links if title.strip() != "Play"]  # Play has an axe test of its own
    assert len(titles) >= 4
    found = {}
    for title in titles:
        turn_to(listener, title)
        assert view.locator("[data-testid=stException]").count() == 0
        view.wait_for_function(SETTLED)
        violations = axe.run(view, OURS, {"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
        found[title] = [(each["id"], [(node["html"], node["any"]) for node in each["nodes"]]) for each in violations]
    assert {title: each for title, each in found.items() if each} == {}

    turn_to(listener, "Why")
    been = []
    data = view.locator(".st-key-data button").first  # it opens the choice of the corpus
    data.click()
    for name, value in (("Corpus", "captions"), ("Vectors", "LSA"), ("Sentence a, the anchor", "5 ·")):
        been.append((name, view.get_by_role("combobox", name=name, exact=True).input_value()))
        choose(listener, name, value)
        if name == "Corpus":
            view.keyboard.press("Escape")
    for name, value in been[::-1]:  # each Back undoes one choice
        view.go_back()
        listener.settle()
        if name == "Corpus":
            data.click()
        assert view.get_by_role("combobox", name=name, exact=True).input_value() == value
    view.keyboard.press("Escape")
    for _ in been:
        view.go_forward()
        listener.settle()
    turn_to(listener, "Space")
    view.go_back()  # one step back to the previous page with its settings
    listener.settle()
    left = urlsplit(view.url)
    assert (left.path, parse_qs(left.query)["vectors"]) == ("/why", ["LSA"])
    alpha = view.get_by_role("slider", name="α, far positives")
    alpha.focus()
    view.keyboard.press("ArrowRight")
    view.wait_for_function("new URL(location).searchParams.get('alpha') == '2.5'")
    listener.settle()
    for kind in ("PNG", "SVG"):
        view.locator(".st-key-anchor_bars-save button").click()
        with view.expect_download() as waited:
            view.get_by_role("button", name=f"Picture as {kind}").click()
        assert waited.value.suggested_filename == f"captions-anchor-bars.{kind.lower()}"
        if kind == "SVG":
            assert "Similarity and weight of anchor" in waited.value.path().read_text()
        view.keyboard.press("Escape")
    view.goto(f"{address}/pairs_page?corpus=captions&vectors=LSA&beta=22")  # an old address
    view.get_by_role("slider", name="β, near negatives").wait_for()
    listener.settle()
    assert urlsplit(view.url).path == "/why"
    assert float(parse_qs(urlsplit(view.url).query)["beta"][0]) == 22
    assert view.get_by_role("combobox", name="Vectors", exact=True).input_value() == "LSA"
    turn_to(listener, "Why")
    data.click()
    choose(listener, "Corpus", "your own file")
    upload = {"name": "Secret<img src=x onerror=alert(1)>.csv", "mimeType": "text/csv", "buffer": HOSTILE.encode()}
    view.locator("input[type=file]").set_input_files(upload)
    view.get_by_role("button", name="Add files").wait_for()  # the file can be replaced
    view.wait_for_selector(".js-plotly-plot .main-svg")
    view.keyboard.press("Escape")
    turn_to(listener, "Train and compare")
    assert view.get_by_text("Secret<img").count() >= 1
    assert parse_qs(urlsplit(view.url).query)["file"] == [upload["name"]]  # a page opened from it asks for this file
    view.get_by_role("button", name="Secret<img").click()
    view.locator(".st-key-file-forget button").click()
    listener.settle()
    assert view.get_by_text("Secret<img").count() == 0

    view.set_viewport_size({"width": 390, "height": 844})
    view.goto(f"{address}/space?corpus=captions&left=TF-IDF&right=SIF&how=PCA&row=5")
    view.get_by_role("button", name="Why 1?").first.focus()
    view.keyboard.press("Enter")
    panel = view.get_by_role("dialog")
    panel.locator(".js-plotly-plot .main-svg").nth(3).wait_for(state="attached")
    listener.settle()
    assert panel.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    assert panel.bounding_box()["width"] <= 390
    view.keyboard.press("Escape")
    panel.wait_for(state="detached")
    listener.quiet(address)


HIT = "parent.hit = 1"
EVIL = (
    f"<!doctype html><p>bag leads<script>{HIT}</script><img src=x onerror='{HIT}'><a href='javascript:{HIT}'>here</a>"
)


def test_no_script_of_a_report_runs(tmp_path: Path, listener: Listener) -> None:
    folder, view = tmp_path / "runs" / "bench-topics", listener.view
    folder.mkdir(parents=True)
    (folder / "report.html").write_text(EVIL)
    (tmp_path / "runs" / ".jobs").mkdir()
    job = Job("bench", "topics", settings={"minutes": 5}, id="0001", folder=str(folder), state="finished")
    write_job(tmp_path / "runs" / ".jobs", job)
    with started(tmp_path) as (address, _):
        view.goto(f"{address}/train?view=Train&preset=Compare+all+methods")
        report = view.frame_locator("iframe[srcdoc]")
        report.get_by_text("bag leads").wait_for()
        report.get_by_text("here").click()
        listener.settle()
        assert not view.evaluate("'hit' in globalThis")


# --- a classroom --------------------------------------------------------------------------------------------------


@pytest.fixture
def room(tmp_path: Path) -> Iterator[str]:
    """The address of a classroom."""
    with started(tmp_path, "--classroom", "--token", TOKEN) as (address, _):
        yield address


def test_in_a_classroom_the_page_answers_during_a_training(room: str, listener: Listener) -> None:
    long = "sentpwnet.epochs=120&sentpwnet.patience=0"  # does not end before it is stopped, however slow the page is
    view = listener.view
    view.goto(room)
    assert view.locator("body").inner_text().strip() == classroom.MISSING
    listener.complaints.clear()  # the refusal is logged as an error
    view.goto(f"{room}/train_page?view=Train&preset=Another+method&method=sentpwnet&{long}&token={TOKEN}")
    view.get_by_role("button", name="Train", exact=True).wait_for()
    listener.settle()
    assert TOKEN not in view.url + view.content()
    assert "labkit-" not in view.evaluate("document.cookie")
    assert view.get_by_role("link", name="Teacher").count() == 0
    view.get_by_role("button", name="Train", exact=True).click()
    doing = view.get_by_text(re.compile(r"epoch \d+ of 120, loss .* left"))
    doing.wait_for()  # without any interaction
    points = ".js-plotly-plot .scatterlayer .point"
    view.wait_for_selector(points, state="attached")
    before = view.locator(points).count()
    choose_method = view.get_by_role("combobox", name="Method")  # the form answers meanwhile
    choose_method.fill("tfidf")
    choose_method.press("Enter")  # no list opens if the box has scrolled out of view
    view.get_by_label("Minimum n-gram length", exact=True).wait_for(state="attached")
    view.wait_for_function(f"document.querySelectorAll('{points}').length > {before}")
    stop = view.get_by_test_id("stMain").get_by_role("button", name="Stop", exact=True)  # not Streamlit's own
    stop.click()
    view.get_by_role("button", name="Resume", exact=True).click()
    doing.wait_for()
    stop.click()
    view.get_by_role("button", name="Resume", exact=True).wait_for()
    assert view.locator("[data-testid=stException]").count() == 0
    listener.quiet(room)
