"""Figures of SBERT-LP, P-thought and themes carry their records' numbers, and no sentence becomes markup."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go
import pytest

from labkit import figures
from labkit.corpora import Article, Pairs, Section
from labkit.figures import unrolled
from labkit.figures.drawing import NEGATIVE, POSITIVE, grid
from labkit.pthought.view import Companions, Handful, companions, handful, plane
from labkit.sbert_lp.sweeps import Point, Tried, compared
from labkit.sbert_lp.view import Around, Changed, Spoke, Structure, changed
from labkit.thematic.method import Attended
from labkit.thematic.sections import ArticleAgreement, SectionAgreement, Themes, sectioned, themes

EVIL = "<b onclick=x>bad</b> <img src=//a>"


def an_around() -> Around:
    before = (Spoke(3, EVIL, 1, 0.9, 0.8, True), Spoke(5, "five", 2, 0.1, 0.5, False))
    after = (Spoke(3, EVIL, 1, 1.2, 0.99, True), Spoke(9, "nine", 2, -0.2, -0.1, False))
    return Around(0, EVIL, before, after, 0.1, 0.01, 0.05)


def a_structure() -> Structure:
    errors, kept = np.array([0.1, 0.2, 0.0, 0.3]), np.array([0.05, 0.4, 1e-9, 0.1])
    eigenvalues = np.array([1e-16, 1e-4, 1e-2])
    return Structure((EVIL, "b", "c", "d"), errors, kept, (), np.array([0, 0, 0, 1]), 2, eigenvalues)


def a_try() -> Tried:
    points = (
        Point("raw", 0.5), Point("pca", 0.52, 8), Point("pca", 0.54, 16), Point("whitening", 0.4, 8),
        Point("all-but-the-top", 0.51, 1), Point("lp", 0.3, 8, 5), Point("lp", 0.45, 16, 5), Point("lp", 0.47, 8, 10),
    )  # fmt: skip
    chosen = (points[0], points[2], points[3], points[4], points[7])
    return Tried("Hit@1", points, chosen, (0.5, 0.51, 0.52, 0.53, 0.44), (10, 20), 0.02)


def a_change() -> Changed:
    told = compared(Pairs([EVIL, "c", "e"], ["b", "d", "f"], [5, 3, 1], graded=True), split="train")
    random = np.random.default_rng(3)
    return changed(told, random.standard_normal((6, 3)), random.standard_normal((6, 3)))


def a_handful() -> Handful:
    return handful([[EVIL, "b"], ["c", "d", "e"]], count=2)


def some_companions() -> Companions:
    return companions(np.random.default_rng(0).standard_normal((8, 4)), [0, 0, 1, 1, 2, 2, 3, 3])


def some_themes() -> Themes:
    paragraphs = [(f"{EVIL} has quite a few words {number}.", "Another one has words as well.") for number in range(5)]
    sections = [Section(f"{EVIL} {number}", texts) for number, texts in enumerate(paragraphs)]
    told = sectioned(Article(EVIL, (Section("", ("Lead.",)), *sections)))
    vectors = np.eye(5)[told.truth] + 0.01 * np.random.default_rng(0).standard_normal((len(told.truth), 5))
    vectors[1] = vectors[8]
    return themes(told, vectors)


def an_agreement() -> SectionAgreement:
    found = some_themes()
    return SectionAgreement((ArticleAgreement(EVIL, 10, 5, found.kmeans.agreement, found.iclust.agreement),) * 3, 0)


def attended() -> Attended:
    weights = np.array([0.25, 0.25, 0.5], np.float32)
    return Attended((EVIL, "the", "word"), weights, np.array([0.7, 0.1, 0.2], np.float32))


ALL = {
    "star before": lambda: figures.star(an_around(), "before"),
    "star after": lambda: figures.star(an_around(), "after"),
    "rebuilt": lambda: figures.rebuilt(a_structure(), chosen=1),
    "spectrum": lambda: figures.spectrum(a_structure()),
    "tried": lambda: figures.tried_curves(a_try()),
    "chosen": lambda: figures.chosen_bars(a_try()),
    "counts": lambda: figures.order_counts(a_change()),
    "groups": lambda: figures.paraphrase_groups(a_handful(), plane(np.random.default_rng(0).standard_normal((5, 3)))),
    "hills": lambda: figures.coherence_hills(some_companions()),
    "ribbon": lambda: figures.section_ribbon(some_themes(), chosen=2),
    "section counts": lambda: figures.section_counts(some_themes(), some_themes().kmeans),
    "articles": lambda: figures.agreement_of_articles(an_agreement(), "ari"),
    "attention": lambda: figures.attention_bars(attended()),
}


def texts_of(value: object) -> Iterator[str]:
    """Every text of a figure, wherever it stands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, (list, tuple, np.ndarray)):
        for inner in value:
            yield from texts_of(inner)


@pytest.mark.parametrize("name", ALL)
def test_no_sentence_becomes_markup(name: str) -> None:
    figure = ALL[name]()
    for text in texts_of(figure.to_plotly_json()):
        assert "<b " not in text
        assert "<img" not in text
    assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)"  # fits light and dark


def test_the_evil_sentence_comes_through_as_text() -> None:
    for name in ("star before", "rebuilt", "groups", "ribbon", "section counts", "attention"):
        assert any("&lt;" in text for text in texts_of(ALL[name]().to_plotly_json())), name


def test_a_star_has_its_spokes_and_one_direction_for_a_sentence_in_both() -> None:
    stars = [ALL[f"star {side}"]() for side in ("before", "after")]
    places = []
    for star, spokes in zip(stars, (an_around().before, an_around().after), strict=True):
        drawn = {
            text: (r, theta)
            for trace in star.data[2:4]
            for text, r, theta in zip(trace.text or (), trace.r, trace.theta, strict=False)
        }
        for spoke in spokes:
            assert drawn[str(spoke.number)][0] == pytest.approx(np.sqrt(2 - 2 * spoke.cosine))
        places.append(drawn)
    assert places[0]["3"][1] == places[1]["3"][1]
    assert places[0]["5"][1] != places[1]["9"][1]
    assert [trace.line.color for trace in stars[1].data[:2]] == [POSITIVE, NEGATIVE]
    assert stars[1].data[1].line.dash == "dot"
    assert stars[0].data[0].line.width > stars[0].data[1].line.width
    assert stars[0].layout.polar.radialaxis.range == stars[1].layout.polar.radialaxis.range
    with pytest.raises(ValueError, match="side is 'left'"):
        figures.star(an_around(), "left")


def test_errors_and_eigenvalues_are_the_records() -> None:
    figure = ALL["rebuilt"]()
    drawn = {
        row: (x, y) for trace in figure.data[1:3] for row, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    assert drawn[1] == (0.2, 0.4)
    assert drawn[2] == (1e-6, 1e-6)
    assert figure.data[3].customdata[0] == 1
    assert [trace.marker.symbol for trace in figure.data[1:3]] == ["circle", "diamond"]
    spectrum = ALL["spectrum"]().data[0]
    assert spectrum.marker.color[:2] == (NEGATIVE, POSITIVE)
    np.testing.assert_array_equal(spectrum.customdata, a_structure().eigenvalues)


def test_the_sweep_has_a_line_for_each_k_and_every_other_way() -> None:
    lines = {trace.name: list(zip(trace.x, trace.y, strict=True)) for trace in ALL["tried"]().data}
    assert lines["LP, k = 5"] == [(8, 0.3), (16, 0.45)]
    assert lines["LP, k = 10"] == [(8, 0.47)]
    assert lines["PCA"] == [(8, 0.52), (16, 0.54)]
    assert lines["raw"] == [(8, 0.5), (16, 0.5)]
    assert lines["all but the top 1"] == [(8, 0.51), (16, 0.51)]
    bars = ALL["chosen"]().data[0]
    assert bars.text == ("0.500", "0.510", "0.520", "0.530", "0.440")


def test_shares_of_couples_add_up() -> None:
    found = a_change()
    bars = ALL["counts"]().data
    assert sum(bar.x[0] for bar in bars) == pytest.approx(1)
    shares = {bar.name.rsplit(" ", 1)[0]: bar.x[0] for bar in bars}
    assert list(shares) == ["right in both", "mended", "spoilt", "wrong in both"]
    assert round(shares["mended"] * found.found.couples) == found.found.mended
    assert round(shares["spoilt"] * found.found.couples) == found.found.spoilt


def test_slopes_are_of_the_kind_that_is_asked() -> None:
    told = compared(Pairs(["a", "c", EVIL], ["b", "d", "f"], [5, 3, 1], graded=True), split="train")
    # (closer, farther): the first pair, of grade 5, was below the second and rises above it; the third stays below
    before, after = (np.ones((6, 2)) for _ in range(2))
    place = [told.sentences.index(text) for text in ("b", "d", "f")]
    before[place], after[place] = [[1, 0.2], [1, 0.8], [-1, 1]], [[1, 0.9], [1, 0.3], [-1, 1]]
    found = changed(told, before, after)
    assert (found.found.mended, found.found.spoilt) == (1, 0)
    figure = figures.order_slopes(found, "mended")
    example = found.found.mended_examples[0]
    assert tuple(figure.data[0].y) == (example.before[0], example.after[0])
    assert tuple(figure.data[1].y) == (example.before[1], example.after[1])
    with pytest.raises(ValueError, match="no couple that was spoilt"):
        figures.order_slopes(found, "spoilt")


def test_slopes_stand_beside_each_other() -> None:
    told = compared(
        Pairs([f"a{n}" for n in range(9)], [f"b{n}" for n in range(9)], range(9), True, splits="train"), split="train"
    )
    random = np.random.default_rng(0)
    layout = figures.order_slopes(changed(told, *random.standard_normal((2, 18, 3))), "mended").layout
    spans = [layout[f"xaxis{panel}"].domain for panel in ("", 2)]
    assert spans[0][1] < spans[1][0] < spans[1][1]


def test_hills_are_shares_and_their_means_are_marked() -> None:
    found, figure = some_companions(), ALL["hills"]()
    for trace in figure.data:
        assert sum(trace.y) == pytest.approx(1)
    assert {note.text for note in figure.layout.annotations} == {
        f"{found.figures.within:.2f}",
        f"{found.figures.between:.2f}",
    }


def test_ribbon_and_counts_are_the_clusters() -> None:
    found, figure = some_themes(), ALL["ribbon"]()
    for row, numbers in enumerate((found.article.truth, found.kmeans.found, found.iclust.found), 1):
        assert list(figure.data[row].text) == [str(number + 1) for number in numbers.tolist()]
    wrong = int((found.kmeans.found != found.article.truth).sum() + (found.iclust.found != found.article.truth).sum())
    assert sum(shape.type == "rect" for shape in figure.layout.shapes) == wrong > 0
    counts = ALL["section counts"]()
    np.testing.assert_array_equal(counts.data[0].z, found.kmeans.counts)
    assert sum(int(note.text.strip("</b>")) for note in counts.layout.annotations) == len(found.article.sentences)


def test_groups_have_a_letter_and_a_mark_each() -> None:
    figure = ALL["groups"]()
    assert [note.text for note in figure.layout.annotations] == ["<b>A</b>", "<b>B</b>"]
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [len(trace.x) for trace in marks] == [2, 3]
    assert marks[0].marker.symbol != marks[1].marker.symbol
    with pytest.raises(ValueError, match="plane has 4 points, expected 5"):
        figures.paraphrase_groups(a_handful(), plane(np.random.default_rng(0).standard_normal((4, 3))))


def test_marked_words_can_be_read_without_colour() -> None:
    html = figures.marked(attended(), before="<2> ·")
    assert "<b onclick" not in html
    assert "&lt;b onclick=x&gt;bad&lt;/b&gt;" in html
    assert "&lt;2&gt; ·" in html
    assert [part.split("<")[0] for part in html.split('opacity:.75">')[1:]] == ["70", "10", "20"]
    assert html.count("font-weight:700") == 1  # only the first has more than half again an even share
    shades = [float(part.split(")")[0]) for part in html.split("rgba(0,114,178,")[1:]]
    assert shades[0] > shades[2] > shades[1]
    bars = ALL["attention"]().data
    np.testing.assert_array_equal(bars[0].y, attended().shares)
    np.testing.assert_array_equal(bars[1].y, attended().weights)


def test_a_figure_is_a_figure() -> None:
    assert all(isinstance(make(), go.Figure) for make in ALL.values())


# --- a line unrolled ---------------------------------------------------------------------------------------------


ALONG = np.linspace(1, 3, 9)
POINTS = np.stack([np.cos(ALONG), 5 + np.sin(ALONG)], axis=1)


def test_each_method_has_a_panel_and_every_panel_the_colours_of_the_line() -> None:
    figure = unrolled(POINTS, ALONG, {"one": 3 * ALONG, "fallen": -ALONG, "lost": np.cos(9 * ALONG)})
    line, ends, *panels = figure.data
    np.testing.assert_allclose(np.stack([line.x, line.y], axis=1), POINTS)
    assert [each.strip() for each in ends.text] == ["start", "end"]
    np.testing.assert_allclose(np.stack([ends.x, ends.y], axis=1), POINTS[[0, -1]])
    shares = np.linspace(0, 1, 9)
    for trace in (line, *panels):
        np.testing.assert_allclose(trace.marker.color, shares)
    for trace in panels:
        np.testing.assert_allclose(trace.x, shares)
        assert (min(trace.y), max(trace.y)) == pytest.approx((0, 1))
    for trace in panels[:2]:  # neither a sign nor a size is told
        np.testing.assert_allclose(trace.y, shares, atol=1e-12)
    assert (np.diff(panels[2].y) < 0).any()
    assert [each.text for each in figure.layout.annotations][1:] == ["one", "fallen", "lost"]


def test_what_does_not_go_together_is_told() -> None:
    with pytest.raises(ValueError, match="shape"):
        unrolled(POINTS, ALONG[:-1], {})
    with pytest.raises(ValueError, match="'one' has 8 numbers"):
        unrolled(POINTS, ALONG, {"one": ALONG[:-1]})


def test_panels_of_a_grid_do_not_overlap_and_go_row_by_row() -> None:
    layout = grid(["a", "b", "c"], columns=2, gap=(0.1, 0.2), size=12, x={"visible": True}, y={})
    assert layout["xaxis"]["domain"] == layout["xaxis3"]["domain"] == pytest.approx([0, 0.45])
    assert layout["xaxis2"]["domain"] == pytest.approx([0.55, 1])
    assert layout["yaxis"]["domain"] == layout["yaxis2"]["domain"] == pytest.approx([0.6, 1])
    assert layout["yaxis3"]["domain"] == pytest.approx([0, 0.4])
    assert layout["xaxis3"]["visible"]
    assert [(each["text"], each["y"]) for each in layout["annotations"]] == [("a", 1.0), ("b", 1.0), ("c", 0.4)]
