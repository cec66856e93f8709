"""The page "Themes" without a browser: every view with a small run, the temperature, one's own articles, bad files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.corpora import load
from labkit.methods import METHODS
from labkit.methods import load as load_run

from .conftest import Opened, RunCode, figure, fine, has_pictures, refused, shows_no_markup, with_file

VIEWS = {"Clusters": 3, "Words": 1, "All articles": 1}
JSONL = {"name": "mine.jsonl", "kind": "application/jsonl"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one network, and one of two."""
    folder = tmp_path_factory.mktemp("runs")
    some = load("articles").take(range(30))
    for name, rule in (("small", "adjacent"), ("two", "both")):
        method = METHODS["thematic"](epochs=1, size=8, dimension=8, rule=rule, device="cpu")
        method.fit(some)
        method.save(folder / name)
    return folder


@pytest.fixture
def shown(opened_on: Opened, runs: Path) -> Opened:
    return lambda run="small", **address: opened_on("themes_page", runs, run, **address)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_pictures(shown: Opened, view: str) -> None:
    page = fine(shown(view=view).run())
    has_pictures(page, VIEWS[view])


def test_the_squares_and_the_table_say_the_same_and_heat_melts(shown: Opened) -> None:
    page = fine(shown(article="2").run())
    table = page.dataframe[0].value.set_index("algorithm")
    told = " ".join(text.value for text in page.markdown)
    for name in ("k-means", "Iclust"):
        assert f"**{name}**: AMI {table.loc[name, 'ami']:.3f}" in told
    sentences = page.dataframe[1].value
    counts = [sum(map(int, (note["text"].strip("</b>") for note in figure(page, at)["layout"]["annotations"])))
              for at in (1, 2)]  # fmt: skip
    assert counts == [len(sentences)] * 2
    assert table.loc["Iclust", "mean similarity"] >= table.loc["k-means", "mean similarity"] - 1e-6  # one objective
    before = figure(page, 2)
    fine(page.slider(key="temperature").set_value(0.5).run())
    hot = page.dataframe[0].value.set_index("algorithm")
    assert hot.loc["Iclust", "clusters"] <= table.loc["Iclust", "clusters"]
    assert hot.loc["k-means", "ami"] == table.loc["k-means", "ami"]
    assert figure(page, 2) != before


@pytest.mark.whole
def test_the_words_are_those_of_the_network(shown: Opened, runs: Path) -> None:
    page = fine(shown(view="Words", section="1", sentence="0").run())
    html = [element.proto.body for element in page.get("html")]
    assert html
    method = load_run(runs / "small")
    bars = figure(page)
    text = page.selectbox(key="sentence-choice").options[0].split(" · ", 1)[1]
    attended = method.attend(text)
    assert bars["layout"]["xaxis"]["ticktext"] == list(attended.words)
    assert all(f">{word}</span>" in html[0] for word in attended.words)
    fine(shown(view="Words", trained="SIF").run())
    page = fine(shown("two", view="Words").run())
    first = [element.proto.body for element in page.get("html")]
    fine(page.radio(key="network").set_value("of titles").run())
    assert [element.proto.body for element in page.get("html")] != first


def test_other_vectors_have_clusters_but_no_attention(shown: Opened) -> None:
    page = fine(shown(trained="SIF").run())
    assert len(page.get("plotly_chart")) == 3
    fine(page.segmented_control(key="view").set_value("Words").run())
    assert "pays attention to words" in page.info[0].value


def test_all_articles_are_those_of_the_split(shown: Opened) -> None:
    page = fine(shown(view="All articles", trained="TF-IDF").run())
    table = page.dataframe[0].value
    assert set(table["title"]) == {article.title for article in load("articles").part("test").articles}
    means = table[table["algorithm"] == "kmeans"]["ami"]
    assert page.metric[0].value == f"{means.mean():.3f} ± {means.std(ddof=0):.3f}"
    fine(page.radio(key="figure").set_value("ari").run())
    assert page.metric[0].value != f"{means.mean():.3f} ± {means.std(ddof=0):.3f}"


@pytest.mark.parametrize("view", VIEWS)
def test_the_code_makes_the_picture(shown: Opened, run_code: RunCode, view: str) -> None:
    page = fine(shown(view=view, article="1").run())
    drawn = run_code(page)
    own = figure(page)
    assert [trace["type"] for trace in own["data"]] == [trace.type for trace in drawn[0].data]
    if view == "Words":
        assert own["layout"]["xaxis"]["ticktext"] == list(drawn[0].layout.xaxis.ticktext)


def test_an_address_brings_the_view_back_and_nonsense_is_passed_over(shown: Opened) -> None:
    page = fine(shown(temperature="0.1", article="99999", split="dev").run())
    assert page.slider(key="temperature").value == 0.1
    assert page.query_params["article"][0] == "0"
    assert page.selectbox(key="article-choice").options[0].endswith(load("articles").part("dev").articles[0].title)


def test_other_shapes_are_told_what_is_needed(shown: Opened) -> None:
    page = fine(shown(corpus="topics").run())
    assert "need articles with sections" in page.info[0].value


def own_article(number: int, sections: int = 6) -> str:
    told = [{"title": "", "paragraphs": ["The lead says what there is."]}]
    for place in range(sections):
        own = (
            "river and bank",
            "bird in spring",
            "stone of towers",
            "song for choirs",
            "king with swords",
            "sea at night",
        )
        text = f"<img src=//evil> Paragraph {place} of this article speaks of a {own[place]} at length."
        told.append({"title": f"<b>Theme</b> {place}", "paragraphs": [text, text.replace("speaks", "tells")]})
    return json.dumps({"title": f"<i>Mine</i> {number}", "sections": told, "split": ("train", "test")[number % 2]})


@pytest.mark.parametrize("view", VIEWS)
def test_an_upload_is_text_everywhere_and_stays_out_of_the_address(shown: Opened, view: str) -> None:
    page = shown(corpus="your own file", view=view)
    data = "\n".join(own_article(number) for number in range(4)).encode()
    fine(with_file(page, data, **JSONL))
    assert len(page.get("plotly_chart")) == VIEWS[view]
    for chart in page.get("plotly_chart"):
        assert not {part for part in ("<i>", "<b>Theme") if part in chart.proto.spec}
    shows_no_markup(page)


def test_an_article_without_sections_is_one_sentence(shown: Opened) -> None:
    data = "\n".join(own_article(number, sections=2) for number in range(4)).encode()
    refused(with_file(shown(corpus="your own file"), data, **JSONL), "fewer than five sections")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"title": "a", "sections": 3}\n', "sections is 3"),
        (b'{"title": "", "sections": []}\n', "title is ''"),
        (b"{}\n", "are not those of a corpus"),
    ],
)
def test_a_bad_upload_is_one_sentence(shown: Opened, data: bytes, said: str) -> None:
    refused(with_file(shown(corpus="your own file"), data, **JSONL), said)
