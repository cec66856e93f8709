"""The page in a real browser: it opens in motion, responds to mouse and keys, and makes no requests."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.whole

STEPS = "play.lab.sides[0].training.steps"
SENTENCES = "text,label\n" + "".join(
    f'"<img src=//evil onerror=alert(1)> {word} {i}",{label}\n'
    for i in range(4)
    for word, label in (("sun", "<b>sky</b>"), ("soup", "food"))
)


def point(view: Any) -> tuple[int, float, float]:
    """The row nearest to the viewer, and its position on the screen."""
    script = """() => {
        const { spots, canvas } = play.stages[0].space;
        const box = canvas.getBoundingClientRect();
        const spot = spots.at(-1);
        return [spot.row, box.left + spot.at[0], box.top + spot.at[1]];
    }"""
    row, x, y = view.evaluate(script)
    return int(row), float(x), float(y)


def test_it_opens_in_motion_and_responds_to_the_slider(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    seen = opened(address)
    seen.view.wait_for_function(f"{STEPS} > 3")
    before = seen.view.inner_text("#readout")
    assert seen.view.locator("main input:visible").count() == 1  # one slider
    seen.view.locator("#dial input").fill("0")
    seen.view.wait_for_function("text => document.querySelector('#readout').textContent !== text", arg=before)
    assert seen.view.evaluate("play.lab.settings.temperature") == pytest.approx(0.02)
    seen.view.wait_for_function("document.querySelector('#live').textContent.includes('Step')")
    assert [url for url in seen.asked if not url.startswith("file:")] == []
    assert seen.complaints == []


def test_a_slider_that_restarts_the_training_can_be_dragged(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(f"{address}#scene=by-heart").view
    box = view.locator("#dial input").bounding_box()
    y = box["y"] + box["height"] / 2
    view.mouse.move(box["x"] + 20, y)
    view.mouse.down()
    view.mouse.move(box["x"] + box["width"] - 2, y, steps=6)
    view.mouse.up()
    assert view.inner_text("#dial .value") == "32"
    assert view.evaluate("play.lab.sides[0].training.corpus.rows.filter(row => !row.unseen).length") == 6 * 32


def test_the_weights_of_a_card_are_in_the_unit_of_the_curve(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(address).view
    view.locator("#dial input").fill("0")
    view.wait_for_function(f"{STEPS} > 20")
    view.click("#play")
    view.wait_for_function("!play.dirty")
    script = """() => {
        play.lab.refresh(); // the vectors have moved since the batch was weighed
        play.draw();
        const { G, m, rows } = play.batch;
        const { i, j } = play.stages[0].space.lines[0];
        play.choose({ row: rows[i] }, 0);
        return [G[i * m + j], G[j * m + i]].map(Math.abs);
    }"""
    of_both = view.evaluate(script)  # with each sentence as the anchor, as in the curve
    heaviest = float(view.locator("#card ol button span").first.inner_text().split()[1].replace("−", "-"))
    assert heaviest == pytest.approx(sum(of_both) / 2, abs=0.0051)


def test_a_link_opens_with_the_clicked_dot(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(f"{address}#scene=margin").view
    view.evaluate("play.choose({ row: 7 }, 0)")
    text = view.locator("#card p").first.inner_text()
    view.evaluate("navigator.clipboard.writeText = async text => { globalThis.copied = text }")
    view.click("#share")
    view.wait_for_function("globalThis.copied")
    other = opened(view.evaluate("copied")).view
    assert other.locator("#card p").first.inner_text() == text
    assert other.evaluate("play.chosen.row") == 7
    assert opened(f"{address}#scene=margin&row=99999").view.locator("#card").is_hidden()


def test_arrow_keys_move_the_control_in_focus_and_page_keys_the_scene(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(address).view
    title = view.inner_text("h1")
    view.click("#dial input")
    values = [view.input_value("#dial input")]
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
        view.keyboard.press(key)
        values.append(view.input_value("#dial input"))
    middle = int(values[0])
    assert [int(value) - middle for value in values] == [0, 1, 2, 1, 0]
    assert view.inner_text("h1") == title
    view.keyboard.press("PageDown")
    assert view.inner_text("h1") != title
    view.keyboard.press("PageUp")
    assert view.inner_text("h1") == title
    view.evaluate("play.open(play.lab.scenes[3])")
    view.locator("#dial input:checked").focus()
    for key, miner in (("ArrowLeft", "informative"), ("ArrowLeft", "all"), ("ArrowRight", "informative")):
        view.keyboard.press(key)
        assert view.evaluate("play.lab.settings.miner") == miner


def test_a_menu_names_the_scenes_and_the_address_keeps_the_open_one(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(address).view
    first, last = view.inner_text("h1"), view.evaluate("play.lab.scenes.at(-1).title")
    assert view.locator("#scenes option").all_inner_texts()[-1].endswith(last)
    view.select_option("#scenes", "9")
    assert view.inner_text("h1") == last
    view.click("#previous")
    assert view.url.endswith("#scene=by-heart")
    view.reload()
    view.wait_for_function("globalThis.play?.drawn > 0")
    assert view.inner_text("h1") == "Learned by heart"
    for title in (last, first):
        view.go_back()
        view.wait_for_function("title => document.querySelector('h1').textContent === title", arg=title)
    assert view.evaluate("document.querySelector('#scenes').selectedIndex") == 0


def test_a_term_is_explained_where_it_occurs(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(address).view
    for scene in (1, 3, 4, 7, 9):
        view.evaluate("scene => play.open(play.lab.scenes[scene])", scene)
        shown = [text.lower() for text in view.locator(".term").all_inner_texts()]
        assert len(shown) == len(set(shown)) > 1
    term, meaning = view.locator(".term").first, view.locator(".story [role=tooltip]").first
    assert not meaning.is_visible()
    term.hover()
    assert "similarity" in meaning.inner_text() or "push" in meaning.inner_text()
    view.mouse.move(0, 0)
    term.focus()
    assert meaning.is_visible()
    assert term.get_attribute("aria-describedby") == meaning.get_attribute("id")
    view.keyboard.press("Escape")
    assert not meaning.is_visible()


def test_keys_step_through_the_scenes(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(address).view
    titles = []
    for _ in range(10):
        titles.append(view.inner_text("h1"))
        view.keyboard.press("ArrowRight")
    assert len(set(titles)) == 10
    assert view.inner_text("h1") == titles[0]
    view.keyboard.press("ArrowLeft")
    assert view.inner_text("h1") == titles[-1]
    view.keyboard.press(" ")
    assert view.inner_text("#play").endswith("Play")
    steps = view.evaluate(STEPS)
    view.keyboard.press("s")
    assert view.evaluate(STEPS) == steps + 1
    view.keyboard.press("p")
    assert view.locator("html.present").count() == 1
    view.keyboard.press("Escape")
    view.wait_for_function("!document.documentElement.classList.contains('present')")
    view.keyboard.press("m")
    view.select_option("#all-sentences", "3")  # as a click on a point does
    assert view.locator("#card").is_visible()


def test_a_click_explains_a_sentence_and_a_held_point_springs_back(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    seen = opened(address)
    view = seen.view
    view.wait_for_function(f"{STEPS} > 10")
    view.click("#play")
    view.wait_for_function("!play.dirty")
    row, x, y = point(view)
    place = view.locator(".space").first.bounding_box()
    view.mouse.click(x, y)
    text = view.evaluate("row => play.lab.sides[0].training.corpus.rows[row].text", row)
    assert view.locator("#card p").first.inner_text() == text
    assert view.locator(".space").first.bounding_box() == place  # a second click hits the same point
    view.mouse.move(x, y)
    view.mouse.down()
    view.mouse.move(x + 40, y + 40, steps=4)
    held = view.evaluate("() => { const { row, vector } = play.stages[0].held; return [row, [...vector]]; }")
    assert held[0] == row
    assert "hold it here" in view.inner_text("#card")
    view.mouse.up()
    assert view.evaluate("play.stages[0].held") is None
    view.evaluate("play.choose({ pair: [0, play.batch.P[0][0]] }, 0)")
    assert view.locator("#card .formula").count() == 2
    assert seen.complaints == []


def test_labels_sentences_and_a_second_side_change_the_training(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    seen = opened(address)
    view = seen.view
    view.evaluate("play.choose({ row: play.batch.rows[0] }, 0)")
    view.select_option("#card select", "3")
    assert view.evaluate("play.lab.sides[0].training.labels[play.chosen.row]") == 3
    view.click("#card button:text('Remove')")
    assert not view.evaluate("play.lab.sides[0].training.places.includes(play.chosen.row)")
    view.click("#more")
    view.click("text=Compare two losses")
    view.wait_for_function("play.lab.sides.length === 2 && play.lab.sides[1].training.steps > 2")
    same = "() => String(play.lab.sides[0].training.nextRows()) === String(play.lab.sides[1].training.nextRows())"
    assert view.evaluate(same)
    view.fill("#typed-sentence", "zorgon telescope")
    assert "zorgon" in view.inner_text("#typed-answer")
    assert "Nearest topic: astronomy" in view.inner_text("#typed-answer")
    view.fill("#typed-sentence", "zorgon")
    assert "has no place" in view.inner_text("#typed-answer")
    assert seen.complaints == []


def test_a_pasted_csv_is_trained_on_and_stays_text(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    seen = opened(address)
    view = seen.view
    view.click("#more")
    view.fill("#csv", "no,header")
    view.click("text=Use these sentences")
    assert view.inner_text("#panel [role=status]").startswith("The first line")
    view.fill("#csv", SENTENCES)
    view.click("text=Use these sentences")
    view.wait_for_function(f"play.lab.data.classes.length === 2 && {STEPS} > 2")
    view.evaluate("play.choose({ row: 0 }, 0)")
    assert view.locator("img").count() == 0
    assert "<img" in view.inner_text("#card")
    assert [url for url in seen.asked if "evil" in url] == []
    view.click("text=Back to the original sentences")
    view.wait_for_function("play.lab.data.classes.length === 12")
    assert seen.complaints == []


def test_a_link_and_reduced_motion(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    view = opened(f"{address}#scene=margin&margin=2&labels=1:2&right.loss=cosent", reduced_motion="reduce").view
    assert view.inner_text("#dial .value") == "2.00"
    assert view.evaluate("play.lab.sides[1].training.settings.loss") == "cosent"
    turn = view.evaluate("play.camera.turn")
    view.wait_for_function(f"{STEPS} >= 40")  # in jumps of 20 steps
    assert view.evaluate(f"{STEPS} % 20") == 0
    assert view.evaluate("play.camera.turn") == turn


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits_a_phone(scheme: str, address: str, opened) -> None:  # type: ignore[no-untyped-def]
    """No violations according to axe, and nothing wider than a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    view = opened(address, color_scheme=scheme).view
    view.click("#more")
    view.evaluate("play.choose({ row: 3 }, 0)")
    for scene in (0, 6):
        view.evaluate("scene => play.open(play.lab.scenes[scene])", scene)
        found = axe.Axe().run(view)
        assert found.violations_count == 0, found.generate_report()
    view.set_viewport_size({"width": 326, "height": 716})  # the frame of the app on a phone
    left, right = (view.locator(".stage").nth(side).bounding_box() for side in (0, 1))
    assert right["y"] >= left["y"] + left["height"]  # the two spaces are stacked
    assert view.locator("#first").bounding_box()["y"] < left["y"]  # the instructions come before the space
    view.evaluate("play.openPanel(false)")
    for scene in range(10):
        view.evaluate("scene => play.open(play.lab.scenes[scene])", scene)
        view.wait_for_function("!play.dirty || play.playing")
        assert view.evaluate("document.documentElement.scrollWidth") <= 326
        slider = view.locator("#dial input[type=range], #dial .segments").first.bounding_box()
        assert slider["y"] + slider["height"] <= 716  # visible without scrolling
