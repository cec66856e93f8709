"""The app in a real browser: from the command to a picture, a click to its sentence, and nothing asked of the world."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser


def test_first_picture_click_and_silence(address: str, listener, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(address)
    view.wait_for_selector(".js-plotly-plot .scatterlayer .trace .point", timeout=120_000)
    assert view.locator(".js-plotly-plot .scatterlayer .point").count() > 100
    assert view.locator(".js-plotly-plot .legend .traces").count() >= 10
    view.locator("[data-testid=stMetric]").nth(2).wait_for(timeout=120_000)  # the figures come after the picture
    assert view.locator("[data-testid=stMetric]").count() == 3
    assert view.locator("[data-testid=stException]").count() == 0
    assert view.locator("text=Streamlit").count() == 0  # nothing but ours on the page
    listener.settle()
    view.screenshot(path=tmp_path / "first.png")
    assert (tmp_path / "first.png").stat().st_size > 30_000

    point = view.locator(".js-plotly-plot .scatterlayer .trace .point").nth(7)
    box = point.bounding_box()
    assert box is not None
    view.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    view.wait_for_selector("text=Nearest in the space of the vectors", timeout=60_000)
    assert listener.elsewhere(address) == []
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
    view.wait_for_function("new URL(location).searchParams.get('alpha') == '4'", timeout=60_000)
    listener.settle()
    assert numbers(view, 1, "customdata") != before

    view.get_by_text("One anchor", exact=True).click()
    view.wait_for_selector("text=Why this pair weighs what it weighs", timeout=60_000)
    listener.settle()
    shown = view.locator(".katex-mathml annotation").all_text_contents()
    assert any("e^{4" in line for line in shown)  # α, in this pair's own formula
    assert view.locator("[data-testid=stException]").count() == 0

    asked = parse_qs(urlsplit(view.url).query)
    assert asked["alpha"] == ["4"]
    assert asked["view"] == ["One anchor"]
    bars = numbers(view, 0, "y")
    listener.go(view.url)  # what somebody sees who is sent the link
    assert numbers(view, 0, "y") == bars
    assert view.locator(".katex-mathml annotation").all_text_contents() == shown
    assert listener.elsewhere(address) == []
    assert listener.complaints == []


def test_film_varimax_and_a_typed_sentence(address: str, listener) -> None:  # type: ignore[no-untyped-def]
    view = listener.go(f"{address}/film_page?dimension=10")
    assert view.locator("[aria-label^='Bars: the share of each of 10 rows']").count() == 1
    before = numbers(view, 1, "x")
    view.get_by_text("Varimax").click()
    view.wait_for_function("new URL(location).searchParams.get('varimax') == 'true'", timeout=60_000)
    listener.settle()
    assert numbers(view, 1, "x") != before

    view.get_by_text("Two sentences", exact=True).click()
    typed = view.get_by_label("… or type sentence a")
    typed.fill("Which <i>guitar</i> should I buy?")
    typed.press("Enter")
    listener.settle()
    assert "guitar" not in view.url
    assert view.locator("main i").count() == 0
    similarity, parts, words = view.locator("[data-testid=stMetricValue]").all_inner_texts()
    assert similarity == words
    assert sum(map(float, parts.split("+"))) == pytest.approx(float(similarity), abs=2e-4)
    assert listener.elsewhere(address) == []
    assert listener.complaints == []


def test_listens_on_this_machine_only(address: str) -> None:
    port = int(address.rsplit(":", 1)[1])
    hexadecimal = f"{port:04X}"
    listening = [
        line.split()[1].split(":")[0]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).is_file()
        for line in Path(table).read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{hexadecimal}") and line.split()[3] == "0A"
    ]
    if not listening:
        pytest.skip("needs /proc/net/tcp to see who listens")
    assert listening == ["0100007F"]  # 127.0.0.1, and nothing else
