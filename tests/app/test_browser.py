"""The app in a real browser: from the command to a picture, a click to its sentence, and nothing asked of the world."""

from __future__ import annotations

import re
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from labkit.corpora import load
from labkit.methods import METHODS
from tests.waiting import HANG

from .conftest import started

pytestmark = pytest.mark.whole


NO_FILE = "Choose a file in the sidebar, or paste sentences there."
LOST = "addEventListener('webglcontextlost', () => { window.lost = (window.lost || 0) + 1 }, true)"


def click(view, chart: int, point: int) -> None:  # type: ignore[no-untyped-def]
    """A click on a point of a picture."""
    box = view.locator(".js-plotly-plot").nth(chart).locator(".scatterlayer .point").nth(point).bounding_box()
    view.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def drag_box(view, chart: int) -> None:  # type: ignore[no-untyped-def]
    """A box over the middle of a picture."""
    picture = view.locator(".js-plotly-plot").nth(chart)
    picture.hover()
    picture.locator("[data-title='Box Select']").click()
    area = picture.locator(".nsewdrag").last.bounding_box()
    x, y = (
        [area[start] + share * area[size] for share in (0.3, 0.7)] for start, size in (("x", "width"), ("y", "height"))
    )
    view.mouse.move(x[0], y[0])
    view.mouse.down()
    view.mouse.move(x[1], y[1], steps=5)
    view.mouse.up()


SELECTED = """() => [...document.querySelectorAll('.js-plotly-plot')].map(picture => picture._fullData.flatMap(
    trace => [...(trace.selectedpoints || [])].map(at => trace.customdata[at])).sort((a, b) => a - b))"""


def selected(view) -> list[list[int]]:  # type: ignore[no-untyped-def]
    """For each picture the rows that stand out, sorted."""
    return view.evaluate(SELECTED)


def marked(view, listener) -> list[int]:  # type: ignore[no-untyped-def]
    """The rows that stand out in all pictures, as soon as these agree: the one that was drawn in is the first."""
    view.wait_for_selector("text=Marked sentences")
    view.wait_for_function(f"(all => all.every(rows => String(rows) == String(all[0])))(({SELECTED})())")
    listener.settle()
    rows, *others = selected(view)
    assert all(other == rows for other in others)
    return rows


def test_first_picture_click_and_silence(address: str, listener, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(address)
    view.wait_for_selector(".js-plotly-plot .scatterlayer .trace .point")
    view.wait_for_selector("td:text-is('mean word vectors') ~ td:text('0.')")  # the figures come after the picture
    listener.settle()
    assert view.locator(".js-plotly-plot").first.locator(".point").count() > 100
    assert view.locator(".js-plotly-plot").first.locator(".legend .traces").count() >= 10
    assert view.locator("td:text-matches('^its picture')").count() == view.locator(".js-plotly-plot").count() == 2
    assert view.locator(".js-plotly-plot .legend").count() == 1  # of both
    shown = """() => [...document.querySelectorAll('.js-plotly-plot')].map(picture =>
        [...picture.querySelectorAll('.scatterlayer .trace')].filter(trace => trace.style.display != 'none').length)"""
    classes = view.evaluate(shown)[1]
    for left in (classes - 1, classes):  # hidden in the other picture, too, and shown again
        view.locator(".legendtoggle").nth(3).click()
        view.wait_for_function(f"({shown})()[1] == {left}")
    assert view.locator("[data-testid=stException]").count() == 0
    assert view.locator("text=Streamlit").count() == 0  # nothing but ours on the page
    view.screenshot(path=tmp_path / "first.png")
    assert (tmp_path / "first.png").stat().st_size > 30_000

    click(view, 0, 7)
    view.wait_for_selector("text=The sentence read: nearest in the embedding space")
    assert re.search(r"row=\d+$", view.url)
    listener.quiet(address)


def test_both_pictures_share_what_is_marked_and_zoom_stays(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/?left=SIF&right=TF-IDF&how=PCA")
    listener.settle()
    view.evaluate("document.querySelector('.js-plotly-plot').here = true")
    click(view, 0, 7)
    view.wait_for_function("new URL(location).searchParams.get('row')")
    listener.settle()
    row = int(parse_qs(urlsplit(view.url).query)["row"][0])  # of the point that lies on top there
    assert selected(view) == [[row], [row]]
    assert view.evaluate("document.querySelector('.js-plotly-plot').here")  # not drawn anew: zoom is kept
    drag_box(view, 1)
    rows = marked(view, listener)
    assert len(rows) > 20
    shown = view.locator("p:has-text('Marked sentences')").inner_text()
    assert f": {len(rows)} of" in shown
    assert listener.complaints == []


def test_a_clicked_sentence_is_read_beside_the_pictures_with_a_ring_in_both(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/?left=SIF&right=TF-IDF&how=PCA")
    view.set_viewport_size({"width": 1280, "height": 800})
    listener.settle()
    view.evaluate("document.querySelector('.js-plotly-plot').here = true")
    click(view, 0, 7)
    view.wait_for_selector("text=The sentence read: nearest")
    listener.settle()
    sentence = view.locator(".st-key-reading [data-testid=stText]").bounding_box()
    first = view.locator(".st-key-reading li").first.bounding_box()
    picture = view.locator(".js-plotly-plot").nth(1).bounding_box()
    assert sentence["y"] + sentence["height"] < first["y"] < first["y"] + first["height"] < 800  # nobody scrolls
    assert sentence["x"] >= picture["x"] + picture["width"]
    rings = """() => [...document.querySelectorAll('.js-plotly-plot')].map(picture =>
        picture.querySelectorAll('.labkit-ring').length
        + picture._fullData.filter(trace => trace.marker?.symbol === 'circle-open').length)"""
    assert view.evaluate(rings) == [1, 1]
    assert view.evaluate("document.querySelector('.js-plotly-plot').here")  # not drawn anew: zoom is kept
    point = view.locator(".js-plotly-plot").first.locator(".labkit-ring").bounding_box()
    view.get_by_role("button", name="Clear", exact=True).click()
    view.wait_for_selector("text=The sentence read: nearest", state="detached")
    listener.settle()
    assert view.evaluate(rings) == [0, 0]
    assert selected(view) == [[], []]
    assert point["width"] > 20
    assert listener.complaints == []


def test_a_saved_picture_has_a_ground_and_is_called_by_what_it_shows(address: str, listener, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    image = pytest.importorskip("PIL.Image")
    view = listener.go(f"{address}/compare_page?corpus=topics&figure=Hit%401")
    listener.settle()
    view.locator(".js-plotly-plot").first.hover()
    with view.expect_download() as waited:
        view.locator("[data-title^='Download plot']").first.click()
    assert waited.value.suggested_filename == "topics-bars-of-hit-1-on-the-test-split-of-topics.png"
    waited.value.save_as(tmp_path / "saved.png")
    saved = image.open(tmp_path / "saved.png").convert("RGBA")
    assert saved.getextrema()[3] == (255, 255)  # nowhere can one see through it
    assert saved.getpixel((0, 0)) == (255, 255, 255, 255)


def test_on_a_telephone_plotlys_bar_covers_no_legend(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    listener.view.set_viewport_size({"width": 390, "height": 844})
    view = listener.go(f"{address}/compare_page?corpus=topics&figure=Hit%401")
    listener.settle()
    picture = view.locator(".js-plotly-plot").first
    picture.hover()
    bar, legend, title = (picture.locator(part).bounding_box() for part in (".modebar", ".legend", ".xtitle"))
    assert bar["y"] + bar["height"] <= legend["y"]
    figure = view.locator("[data-testid=stSelectbox]").last.bounding_box()
    assert figure["y"] + figure["height"] <= bar["y"]
    assert title["height"] > 5  # and nothing of the picture is cut off


def test_a_typed_sentence_lands_and_the_link_brings_the_view_back(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/?left=SIF&right=TF-IDF&how=PCA&classes=5&row=3")
    view.wait_for_selector("text=The sentence read: nearest")
    listener.settle()
    before = [numbers(view, chart, what) for chart in (0, 1) for what in ("x", "marker", "customdata")]
    typed = view.get_by_label("Type a new sentence and see where it lands")
    typed.fill("The <i>rain</i> came through the roof")
    typed.press("Enter")
    view.wait_for_selector("text=Your sentence: nearest in the embedding space")
    listener.settle()
    stars = view.evaluate("[...document.querySelectorAll('.js-plotly-plot')].map(picture => picture.data.at(-1).name)")
    assert stars == ["typed", "typed"]
    assert "rain" not in view.url
    assert view.locator("main i").count() == 0
    listener.go(view.url)  # what somebody sees who is sent the link
    view.wait_for_selector("text=The sentence read: nearest")
    listener.settle()
    assert [numbers(view, chart, what) for chart in (0, 1) for what in ("x", "marker", "customdata")] == before
    listener.quiet(address)


def test_epochs_play_and_step_by_keyboard(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    sides = "left=run+sentpwnet-topics&right=run+siamese-topics"
    view = listener.go(f"{address}/?{sides}&how=PCA&view=Over+the+epochs")
    listener.settle()
    # what both pictures show is noted at each frame; the clock by which they play goes on by no more than a sixtieth of
    # a second a frame, so that none is left out on a busy machine, and stands still where it is told to
    view.evaluate("""() => {
        window.seen = () => [...document.querySelectorAll('.js-plotly-plot')].map(picture => ({
            epoch: picture._fullLayout.annotations[0].text, x: [...picture._fullData[0].x].slice(0, 9),
            axes: [picture._fullLayout.xaxis.range, picture._fullLayout.yaxis.range]}))
        window.told = {}
        let at = Date.now()
        Date.now = () => at
        const note = () => {
            const pictures = seen(), epochs = pictures.map(picture => picture.epoch)
            if (epochs.every(epoch => epoch == epochs[0])) told[epochs[0]] = pictures
            if (!window.hold || !epochs.every(epoch => epoch == window.hold)) at += 16
            requestAnimationFrame(note)
        }
        note()
    }""")

    def both_at(text: str) -> list[dict]:
        view.wait_for_function(f"told['{text}']")
        return view.evaluate(f"told['{text}']")

    last = view.evaluate("seen()")
    end = last[0]["epoch"]
    tab_to(view, "Play")  # that of the left picture
    view.keyboard.press("Enter")
    first = both_at("epoch 1")
    view.evaluate("told = {}")
    again = both_at(end)
    for start, middle, stop in zip(last, first, again, strict=True):
        assert start["axes"] == middle["axes"] == stop["axes"]
        assert start["x"] != middle["x"]
        assert start["x"] == pytest.approx(stop["x"], abs=1e-3)

    view.evaluate("told = {}, hold = 'epoch 2'")
    view.keyboard.press("Space")
    both_at("epoch 2")
    tab_to(view, "Stop")
    view.keyboard.press("Enter")
    view.evaluate("hold = ''")
    view.wait_for_timeout(1500)
    assert [picture["epoch"] for picture in view.evaluate("seen()")] == ["epoch 2"] * 2 != [end] * 2
    assert view.evaluate("scrollY") == 0  # the space bar pressed a button, and did not scroll

    view.get_by_role("slider", name="Epoch").focus()
    view.keyboard.press("ArrowLeft")
    before = int(end.split()[1]) - 1
    view.wait_for_selector(f"td:has-text('space, epoch {before}')")
    listener.settle()
    moved = view.evaluate("seen()")
    assert [(picture["epoch"], picture["axes"]) for picture in moved] == [
        (f"epoch {before}", picture["axes"]) for picture in last
    ]
    listener.quiet(address)


def tab_to(view, name: str) -> None:  # type: ignore[no-untyped-def]
    """Press Tab until the button of this name has the focus."""
    for _ in range(90):
        view.keyboard.press("Tab")
        if view.evaluate("document.activeElement.getAttribute('aria-label')") == name:
            return
    raise AssertionError(f"Tab does not come to {name}")


def test_many_points_keep_their_webgl_contexts(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    listener.view.add_init_script(LOST)
    parts = "corpus=captions&left=SIF&right=TF-IDF&how=PCA&part=of+all+splits&amount=5%2C000&plotly=true"
    view = listener.go(f"{address}/?{parts}")
    listener.settle()
    assert view.evaluate("document.querySelector('.js-plotly-plot')._fullData[0].type") == "scattergl"
    for chart in (0, 1, 0, 1):  # each time both are drawn anew
        drag_box(view, chart)
        rows = marked(view, listener)
    assert len(rows) > 100
    assert view.evaluate("window.lost || 0") == 0
    assert view.locator("canvas.gl-canvas").count() <= 2 * 3
    assert listener.complaints == []


def numbers(view, chart: int, what: str):  # type: ignore[no-untyped-def]
    """Something of what a picture draws, as plotly holds it."""
    return view.evaluate(f"JSON.stringify(document.querySelectorAll('.js-plotly-plot')[{chart}].data[0].{what})")


def test_pairs_alpha_by_keyboard_explanation_and_the_link_again(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/pairs_page?vectors=TF-IDF&miner=every+pair")
    before = numbers(view, 1, "customdata")
    alpha = view.get_by_role("slider", name="α, scale of positives")
    alpha.focus()
    for _ in range(4):
        view.keyboard.press("ArrowRight")  # half a step of 1 each
    view.wait_for_function("new URL(location).searchParams.get('alpha') == '4'")
    listener.settle()
    assert numbers(view, 1, "customdata") != before

    view.get_by_text("One anchor", exact=True).click()
    view.wait_for_selector("text=Why this pair weighs what it weighs")
    listener.settle()
    with_alpha = "[...document.querySelectorAll('.katex-mathml annotation')].some(e => e.textContent.includes('e^{4'))"
    view.wait_for_function(with_alpha)  # α, in this pair's own formula; the page fetches what draws it
    shown = view.locator(".katex-mathml annotation").all_text_contents()
    assert view.locator("[data-testid=stException]").count() == 0

    asked = parse_qs(urlsplit(view.url).query)
    assert asked["alpha"] == ["4"]
    assert asked["view"] == ["One anchor"]
    bars = numbers(view, 0, "y")
    listener.go(view.url)  # what somebody sees who is sent the link
    assert numbers(view, 0, "y") == bars
    view.wait_for_function(with_alpha)
    assert view.locator(".katex-mathml annotation").all_text_contents() == shown
    listener.quiet(address)


def test_film_varimax_and_a_typed_sentence(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/film_page?dimension=10")
    assert view.locator("[aria-label^='Bars: the share of each of 10 rows']").count() == 1
    before = numbers(view, 0, "x")
    view.get_by_text("Varimax").click()
    view.wait_for_function("new URL(location).searchParams.get('varimax') == 'false'")
    listener.settle()
    assert numbers(view, 0, "x") != before

    view.get_by_text("Two sentences", exact=True).click()
    typed = view.get_by_label("… or type sentence a")
    typed.fill("Which <i>guitar</i> should I buy?")
    typed.press("Enter")
    listener.settle()
    assert "guitar" not in view.url
    assert view.locator("main i").count() == 0
    parts, similarity = view.locator("[data-testid=stMetricValue]").all_inner_texts()
    assert sum(map(float, parts.split("+"))) == pytest.approx(float(similarity), abs=2e-4)
    listener.quiet(address)


def test_a_training_with_progress_while_the_page_answers(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    small = "sentpwnet.encoder=mean&sentpwnet.epochs=120&sentpwnet.size=8&sentpwnet.dimension=8&sentpwnet.patience=0"
    view = listener.view
    view.goto(f"{address}/train_page?{small}")
    view.get_by_role("button", name="Train", exact=True).click()
    doing = view.get_by_text(re.compile(r"epoch \d+ of 120, loss .* left"))
    doing.wait_for()  # nobody touched the page
    view.wait_for_selector(".js-plotly-plot .scatterlayer .point", state="attached")
    before = view.locator(".js-plotly-plot .scatterlayer .point").count()
    method = view.get_by_role("combobox", name="Method")  # the form answers meanwhile
    method.fill("tfidf")
    method.press("Enter")
    view.get_by_label("shortest", exact=True).wait_for(state="attached")
    view.wait_for_function(f"document.querySelectorAll('.js-plotly-plot .scatterlayer .point').length > {before}")
    view.get_by_test_id("stMain").get_by_role("button", name="Stop", exact=True).click()  # Streamlit's own has the name
    view.get_by_text("its last checkpoint is kept").wait_for()
    view.get_by_role("button", name="Train", exact=True).click()
    view.get_by_text("stored as").wait_for()
    view.get_by_role("button", name="Resume", exact=True).click()
    doing.wait_for()
    view.get_by_test_id("stMain").get_by_role("button", name="Stop", exact=True).click()  # Streamlit's own has the name
    view.get_by_text("its last checkpoint is kept").wait_for()
    assert view.locator("[data-testid=stException]").count() == 0
    listener.quiet(address)


def test_every_page_by_keyboard_alone(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.view
    view.goto(address)
    links = view.locator("[data-testid=stSidebarNavLink]")
    links.first.wait_for()
    titles = [title.strip() for title in links.all_inner_texts()]
    assert len(titles) >= 6
    for title in titles:
        for _ in range(30):
            if view.evaluate("document.activeElement.innerText").strip() == title:
                break
            view.keyboard.press("Tab")
        view.keyboard.press("Enter")
        view.wait_for_selector(f"[data-testid=stSidebarNavLink][aria-current=page]:has-text('{title}')")
        view.locator("h3").first.wait_for()
        listener.settle()
        assert view.locator("[data-testid=stException]").count() == 0
    listener.quiet(address)


def listening(address: str) -> list[str]:
    """The addresses, in hexadecimal, that somebody listens on at this port."""
    port = int(address.rsplit(":", 1)[1])
    found = [
        line.split()[1].split(":")[0]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).is_file()
        for line in Path(table).read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
    ]
    if not found:
        pytest.skip("needs /proc/net/tcp to see who listens")
    return found


def test_neighbourhoods_k_by_keyboard_and_a_mark_to_its_sentence(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/neighbourhoods_page?base=LSA&most=100")
    assert view.locator("[aria-label^='A star: sentence 0 and its 10 nearest']").count() == 2
    k = view.get_by_role("slider", name="k, neighbours of a sentence")
    k.focus()
    view.keyboard.press("ArrowLeft")
    view.wait_for_function("new URL(location).searchParams.get('k') == '9'")
    view.wait_for_selector("[aria-label^='A star: sentence 0 and its 9 nearest']", state="attached")

    view.get_by_text("All sentences", exact=True).click()
    view.wait_for_selector("text=What was done about copies and components")
    listener.settle()
    asked = (
        "(() => {const plot = document.querySelectorAll('.js-plotly-plot')[0], box = plot.getBoundingClientRect(),"
        "shown = plot._fullLayout, trace = plot._fullData[1], at = trace._length - 1;"
        "return [box.left + shown.xaxis._offset + shown.xaxis.d2p(plot.calcdata[1][at].x),"
        "box.top + shown.yaxis._offset + shown.yaxis.d2p(plot.calcdata[1][at].y), trace.customdata[at]]})()"
    )
    x, y, number = view.evaluate(asked)
    view.mouse.click(x, y)
    view.wait_for_function(
        f"[...document.querySelectorAll('[data-testid=stText]')].some(e => e.innerText.startsWith('{int(number)} · '))"
    )
    assert view.locator("[data-testid=stException]").count() == 0
    listener.quiet(address)


def open_with_runs(view, url: str, folder: Path, seen: str) -> None:  # type: ignore[no-untyped-def]
    """A page with the runs of a folder, whether the lab brings one of its own or not."""
    view.goto(url)
    box = view.get_by_role("textbox", name="Folders with runs")
    box.wait_for()
    box.fill(str(folder))
    box.press("Enter")
    view.wait_for_selector(seen, state="attached")


def test_paraphrases_are_written_for_a_typed_sentence(address: str, listener, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    method = METHODS["pthought"](epochs=1, hidden=8, decoder_hidden=8, dimension=8, device="cpu")
    method.fit(load("captions").take(range(300)))
    method.save(tmp_path / "small")
    view = listener.view
    open_with_runs(view, f"{address}/paraphrases_page?view=Write+a+paraphrase", tmp_path, "text=A paraphrase of it")
    typed = view.get_by_label("… or type one")
    typed.fill("Two <i>dogs</i> run on the qwertzu.")
    typed.press("Enter")
    view.wait_for_selector("text=read as the unknown word")
    listener.settle()
    assert view.get_by_text("Read: Two <i>dogs</i> run on the qwertzu.").count() == 1
    assert "qwertzu" not in view.url
    assert view.locator("main i").count() == 0
    view.get_by_text("P-coherence", exact=True).first.click()
    view.wait_for_selector("[aria-label^='Two hills of cosines']", state="attached")
    listener.settle()
    assert view.locator(".js-plotly-plot .main-svg").count() >= 2
    assert view.locator("[data-testid=stException]").count() == 0
    listener.quiet(address)


def test_themes_heat_melts_iclust_and_words_are_marked(address: str, listener, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/themes_page?trained=SIF")
    listener.settle()
    names = ("k-means", "Iclust")
    before = [view.locator("p", has_text=f"{name}: AMI").inner_text() for name in names]
    heat = view.get_by_role("slider", name="Temperature of Iclust")
    heat.focus()
    view.keyboard.press("End")
    view.wait_for_function("new URL(location).searchParams.get('temperature') == '0.5'")
    view.wait_for_function("!document.querySelector('[data-stale=true]')")
    listener.settle()
    after = [view.locator("p", has_text=f"{name}: AMI").inner_text() for name in names]
    assert after[0] == before[0]
    assert after[1] != before[1]

    method = METHODS["thematic"](epochs=1, size=8, dimension=8, device="cpu")
    method.fit(load("articles").take(range(20)))
    method.save(tmp_path / "small")
    open_with_runs(view, f"{address}/themes_page?view=Words", tmp_path, "[aria-label^='Bars: the share of each of']")
    listener.settle()
    marked = view.locator("[data-testid=stHtml] p span span")
    assert marked.count() > 10
    assert "rgba" in str(marked.first.get_attribute("style"))
    assert view.locator("[data-testid=stException]").count() == 0
    listener.quiet(address)


def test_listens_on_this_machine_only(address: str) -> None:
    assert listening(address) == ["0100007F"]  # 127.0.0.1, and nothing else


def answered(address: str, host: str) -> int:
    """What a browser is told that comes by this name: 101, it may talk."""
    place = urlsplit(address)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=HANG)
    key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version": "13"}
    connection.request(
        "GET",
        "/_stcore/stream",
        headers={"Host": f"{host}:{place.port}", "Upgrade": "websocket", "Connection": "Upgrade", **key},
    )
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_page_elsewhere_that_leads_here_is_not_answered(address: str) -> None:
    assert [answered(address, host) for host in ("127.0.0.1", "localhost", "[::1]")] == [101, 101, 101]
    assert answered(address, "evil.example") == 403


def test_streamlit_run_from_any_folder_is_the_safe_one(  # type: ignore[no-untyped-def]
    listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = ("--server.headless", "true")  # it would open a browser
    with started(tmp_path, *quiet, by_streamlit=True) as (address, _):
        assert listening(address) == ["0100007F"]
        assert answered(address, "evil.example") == 403
        view = listener.go(f"{address}/pairs_page?vectors=a+stored+run")
        assert view.get_by_role("textbox", name="Folders with runs").count() == 1  # he is on the machine himself
        assert listener.elsewhere(address) == []  # no usage statistics
    monkeypatch.setenv("LABKIT_CLASSROOM", "1")  # as with an address of its own, which a test does not open
    with started(tmp_path, *quiet, by_streamlit=True) as (address, _):
        view = listener.view
        view.goto(f"{address}/pairs_page?vectors=a+stored+run")
        view.get_by_text("no token guards it: start it by labkit app --classroom").wait_for()
        listener.settle()
        assert view.locator("[data-testid=stSidebarNavLink]").count() == 0  # no page, and no way to one
        assert view.locator(".js-plotly-plot").count() == 0


# --- what is carried on, and Back and Forward ----------------------------------------------------------------------


def turn_to(listener, title: str) -> None:  # type: ignore[no-untyped-def]
    """Another page, by its link."""
    view = listener.view
    view.get_by_role("link", name=title, exact=True).click()
    view.wait_for_selector(f"[data-testid=stSidebarNavLink][aria-current=page]:has-text('{title}')")
    listener.settle()


def corpus(view) -> str:  # type: ignore[no-untyped-def]
    return view.get_by_role("combobox", name="Corpus").input_value()


def choose(listener, name: str, value: str) -> None:  # type: ignore[no-untyped-def]
    box = listener.view.get_by_role("combobox", name=name, exact=True)
    box.fill(value)
    box.press("Enter")
    listener.settle()


def test_a_file_and_a_corpus_are_carried_over_pages_and_back(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/pairs_page?corpus=captions")
    turn_to(listener, "Corpora")
    assert corpus(view) == "captions"
    turn_to(listener, "Neighbourhoods")
    assert corpus(view) == "captions"  # and not the page's own
    assert parse_qs(urlsplit(view.url).query)["corpus"] == ["captions"]  # for whoever is sent the link
    turn_to(listener, "Themes")
    assert corpus(view) == "articles"  # captions have no sections
    turn_to(listener, "Pairs")
    assert corpus(view) == "captions"

    choose(listener, "Corpus", "your own file")
    words = (
        "red blue green grey old",
        "car cat dog tree",
        "house road field",
        "sings waits sleeps falls runs stays wins",
    )
    of = [part.split() for part in words]
    rows = "text,label\n" + "".join(
        f"the {' '.join(part[i % len(part)] for part in of)},{of[2][i % 3]}\n" for i in range(200)
    )
    upload = {"name": "Secret.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    view.locator("input[type=file]").set_input_files(upload)
    view.wait_for_selector(".js-plotly-plot .main-svg")
    for title in ("Corpora", "Neighbourhoods", "Clusters"):
        turn_to(listener, title)
        assert corpus(view) == "your own file"
        assert view.get_by_text(NO_FILE).count() == 0
        assert view.get_by_text("Secret.csv").count() >= 1
        assert "Secret" not in view.url
    view.go_back()
    view.wait_for_selector("h3:has-text('Neighbourhoods')")
    listener.settle()
    assert corpus(view) == "your own file"
    assert view.locator(".js-plotly-plot .main-svg").count() >= 1
    view.get_by_role("button", name="Forget the file").click()
    view.get_by_text(NO_FILE).wait_for()
    turn_to(listener, "Corpora")
    view.get_by_text(NO_FILE).wait_for()
    assert listener.complaints == []


def test_back_and_forward_go_through_settings_and_pages(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    def now() -> tuple[str, ...]:
        listener.settle()
        boxes = [view.get_by_role("combobox", name=name, exact=True).first for name in ("Corpus", "Vectors", "Anchor")]
        pressed = view.locator("main [role=radio][aria-checked=true]").first.inner_text()
        return (*(box.input_value().split(" · ")[0] for box in boxes), pressed)

    view = listener.view
    view.goto(f"{address}/corpora_page")
    view.get_by_role("button", name="Other rows").wait_for()
    turn_to(listener, "Pairs")
    been = [now()]
    choose(listener, "Corpus", "captions")
    been.append(now())
    choose(listener, "Vectors", "LSA")
    been.append(now())
    choose(listener, "Anchor", "5 ·")
    been.append(now())
    assert been[-1][2] == "5"
    view.get_by_role("radio", name="One anchor").click()
    been.append(now())
    assert len(set(been)) == 5
    for wanted in been[-2::-1]:  # each Back is one step, and none stays
        view.go_back()
        listener.settle()
        assert now() == wanted
    view.go_back()
    view.wait_for_selector("h3:has-text('Corpora')")
    assert corpus(view) == "topics"
    for wanted in been:
        view.go_forward()
        view.wait_for_selector("h3:has-text('Pairs')")
        assert now() == wanted
    assert listener.complaints == []


def test_back_goes_to_the_sentence_that_was_read_before(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    def read() -> str:
        listener.settle()
        return parse_qs(urlsplit(view.url).query).get("row", [""])[0]

    view = listener.go(f"{address}/?left=SIF&right=TF-IDF&how=PCA")
    been = [read()]
    for point in (7, 30):
        click(view, 0, point)
        view.wait_for_function(f"!['', '{been[-1]}'].includes(new URL(location).searchParams.get('row') || '')")
        been.append(read())
    for wanted in been[-2::-1]:
        view.go_back()
        assert read() == wanted
        assert selected(view) == [[], []]
        assert view.get_by_text("The sentence read: nearest").count() == (2 if wanted else 0)
