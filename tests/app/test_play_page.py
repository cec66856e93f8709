"""The page "Play": the playground in a frame that survives reruns."""

from __future__ import annotations

import pytest

from tests.waiting import until

from .conftest import Opened, fine


def test_the_page_has_the_playground(opened: Opened) -> None:
    page = fine(opened("play_page").run())
    (frame,) = page.get("iframe")
    assert "Play: a pair loss at work" in frame.proto.srcdoc


@pytest.mark.whole
def test_a_rerun_keeps_the_training_and_a_link_opens_its_scene(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.view
    view.goto(f"{address}/play")  # redirects to the default page
    frame = view.frame_locator("iframe[srcdoc]")
    frame.locator("#readout").wait_for()
    inner = next(each for each in view.frames if each != view.main_frame)
    inner.evaluate("globalThis.mine = true")
    until(lambda: inner.evaluate("play.lab.sides[0].training.steps > 5"))  # the page forbids `wait_for_function`'s eval
    view.get_by_test_id("stHeader").click()
    view.keyboard.press("r")  # Streamlit's shortcut for a rerun
    listener.settle()
    assert inner.evaluate("mine && play.lab.sides[0].training.steps > 5")
    inner.evaluate("navigator.clipboard.writeText = async text => { globalThis.copied = text }")
    inner.evaluate("play.open(play.lab.scenes[3])")
    frame.locator("#share").click()
    until(lambda: inner.evaluate("globalThis.copied"))
    link = inner.evaluate("copied")
    assert link.startswith(f"{address}/")
    view.goto("about:blank")
    view.goto(link)
    frame.locator("#readout").wait_for()
    assert frame.locator("#title").inner_text() == "The hardest pairs may be the wrong ones"
    listener.quiet(address)


@pytest.mark.whole
def test_keys_work_at_once_and_the_address_keeps_the_scene(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.view
    view.goto(f"{address}/play")
    title = view.frame_locator("iframe[srcdoc]").locator("#title")
    title.wait_for()
    until(lambda: view.evaluate("document.activeElement.localName === 'iframe'"))
    listener.settle()
    view.keyboard.press("ArrowRight")
    view.keyboard.press("ArrowRight")
    until(lambda: title.inner_text() == "Collapse")
    assert view.url.endswith("/#scene=collapse")
    view.reload()
    until(lambda: title.inner_text() == "Collapse")
    view.get_by_role("link", name="Papers").click()
    title.wait_for(state="detached")
    listener.settle()
    assert "scene" not in view.url
    view.go_back()
    until(lambda: title.inner_text() == "Collapse")
    listener.quiet(address)


@pytest.mark.whole
def test_on_a_phone_the_frame_is_as_high_as_its_content(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.view
    view.set_viewport_size({"width": 390, "height": 844})
    view.goto(f"{address}/play")
    view.frame_locator("iframe[srcdoc]").locator("#readout").wait_for()
    inner = next(each for each in view.frames if each != view.main_frame)
    for step in ("play.open(play.lab.scenes[6])", "play.openPanel(true)"):
        inner.evaluate(step)
        until(lambda: inner.evaluate("document.documentElement.scrollHeight <= innerHeight"))
    assert 0 <= inner.locator("#panel").bounding_box()["y"] < 400
    listener.quiet(address)
