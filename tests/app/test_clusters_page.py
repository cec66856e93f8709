"""The page "Clusters" without a browser: corpora, spaces, pictures, classes that are found, and bad files."""

from __future__ import annotations

import io
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.corpora.table import EMBEDDED
from labkit.lab.shipped import DEMONSTRATIONS, pictured, standing

from .conftest import (
    EVIL,
    QUICK,
    Opened,
    RunCode,
    figure,
    fine,
    near,
    numbers,
    over_the_epochs,
    refused,
    texts,
    with_file,
)


def codes(page: AppTest) -> list[str]:
    """What code there is to read."""
    labels = [box.proto.popover.label for box in page.get("popover")]
    return [label for label in labels if label.startswith("Show the code")]


def looks(page: AppTest, number: int = 0) -> dict[str, tuple[str, str]]:
    """class -> its colour and its mark, of those that have one."""
    found = [trace for trace in figure(page, number)["data"] if "customdata" in trace and trace["name"] != "others"]
    return {trace["name"]: (trace["marker"]["color"], trace["marker"]["symbol"]) for trace in found}


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_corpus_has_a_picture_and_named_figures(opened: Opened, name: str) -> None:
    page = fine(opened("clusters_page", corpus=name, **QUICK).run())
    assert len(page.get("plotly_chart")) == 1
    assert page.get("plotly_chart")[0].proto.alt.startswith(
        f"The space of TF-IDF by PCA, left: {len(pictured(load(name))):,} sentences"
    )
    table = next(found.value for found in page.markdown if "inter/intra" in found.value)
    rows = [line.split("|")[1:-1] for line in table.splitlines()]
    assert [row[0].strip() for row in rows] == ["measured in", ":--", "TF-IDF", "its picture (PCA)"]
    assert all(np.isfinite(float(cell)) for row in rows[2:] for cell in row[1:])


def test_of_two_pictures_of_one_legend_one_has_it_and_both_have_one_table(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "LSA"}).run())
    first, second = (figure(page, number)["layout"] for number in range(2))
    assert (first["showlegend"], second["showlegend"]) == (True, False)
    assert first["height"] - first["margin"]["b"] == second["height"] - second["margin"]["b"]  # as large as the other
    tables = [found.value for found in page.markdown if "inter/intra" in found.value]
    (table,) = tables
    rows = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert rows == ["TF-IDF", "its picture (PCA)", "LSA", "its picture (PCA)"]


@pytest.mark.parametrize(("how", "solid"), [("PCA", "true"), ("t-SNE", "false"), ("LLE", "false")])
def test_every_picture_and_code_that_makes_it(opened: Opened, run_code: RunCode, how: str, solid: str) -> None:
    page = fine(opened("clusters_page", **QUICK | {"how": how, "solid": solid, "left": "LSA"}).run())
    shown = figure(page)["data"]
    assert {trace["type"] for trace in shown} == {"scatter3d" if solid == "true" else "scatter"}
    assert f"picture ({how})" in texts(page)
    drawn = run_code(page)
    assert [trace.name for trace in drawn[0].data] == [trace["name"] for trace in shown]
    assert [len(trace.x) for trace in drawn[0].data] == [numbers(trace["customdata"]).size for trace in shown]


def test_shipped_runs_come_first_with_what_they_are_worth(opened: Opened) -> None:
    here = [run for run in DEMONSTRATIONS.values() if run.here]
    if not here:
        pytest.skip("needs the runs that come with the lab")
    run = here[0]
    page = fine(opened("clusters_page", corpus=run.corpus, how="PCA").run())
    mine = [f"run {each.name}" for each in here if each.corpus == run.corpus]
    assert page.selectbox(key="left").options[: len(mine)] == mine
    assert page.selectbox(key="right").value == mine[0]
    found = standing(run.name)
    assert found is not None
    said = [caption.value.replace("\\", "") for caption in page.caption]
    assert any(str(found) in line for line in said)
    assert any(f"mean word vectors ({found.baseline:.3f}" in line for line in said)


def test_a_class_has_one_colour_in_both_pictures_views_and_epochs(opened: Opened, run: Path) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}).run())
    seen = [looks(page), looks(page, 1)]
    fine(page.selectbox(key="part").select("of all splits").run())
    seen.append(looks(page))
    seen.append(looks(over_the_epochs(opened, run)))
    assert seen[0]
    for other in seen[1:]:
        both = seen[0].keys() & other.keys()
        assert len(both) >= 8
        assert {name: seen[0][name] for name in both} == {name: other[name] for name in both}


@pytest.mark.parametrize("corpus", ["questions", "articles", "topics"])
def test_names_of_classes_stand_in_the_picture_and_none_on_another(opened: Opened, corpus: str) -> None:
    page = fine(opened("clusters_page", corpus=corpus, **QUICK).run())
    drawn = figure(page)
    names = [trace["name"] for trace in drawn["data"] if "customdata" in trace]
    assert all(len(name) <= 15 for name in names)  # so long that a legend can be read
    assert len(set(names)) == len(names)
    written = [text["text"] for text in drawn["layout"]["annotations"]]
    assert len(written) >= 4
    assert set(written) <= set(names) - {"others"}
    of_others = next(trace for trace in drawn["data"] if trace["name"] == "others")
    labels = pictured(load(corpus)).labels
    row = numbers(of_others["customdata"])[0]
    assert f" — {labels[row]}"[:40] in of_others["text"][0].replace("<br>", " ")  # who points at it reads its class
    assert "others" not in of_others["hovertemplate"]


def test_how_many_of_how_many_are_shown_is_said(opened: Opened) -> None:
    page = fine(opened("clusters_page", corpus="captions", part="of all splits", **QUICK).run())
    shown = sum(numbers(trace["customdata"]).size for trace in figure(page)["data"])
    said = next(caption.value for caption in page.caption if " of 5,000 sentences" in caption.value)
    assert said.startswith(f"{shown:,} of 5,000 sentences, ")
    assert "Each class is whole" in said
    table = next(found.value for found in page.markdown if "inter/intra" in found.value)
    assert all(np.isfinite(float(cell)) for line in table.splitlines()[2:] for cell in line.split("|")[2:-1])


def test_two_pieces_of_code_say_whose_they_are(opened: Opened, run: Path) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}).run())
    assert codes(page) == ["Show the code: left, TF-IDF", "Show the code: right, SIF"]
    fine(page.selectbox(key="right").set_value("nothing").run())
    assert codes(page) == ["Show the code"]


def test_colour_by_any_column(opened: Opened) -> None:
    page = fine(opened("clusters_page", corpus="places", **QUICK).run())
    assert page.selectbox(key="colour").options[:3] == ["class", "split", "words in it"]
    fine(page.selectbox(key="colour").select("latitude").run())
    assert "colorbar" in figure(page)["data"][0]["marker"]
    fine(page.slider(key="classes").set_value(5).run())
    fine(page.selectbox(key="colour").select("class").run())
    assert len(figure(page)["data"]) == 6
    assert figure(page)["data"][0]["name"] == "others"  # below all others


def test_an_address_brings_the_view_back_and_nonsense_is_passed_over(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"classes": "7", "row": "99999", "colour": "nonsense"}).run())
    assert page.radio(key="how").value == "pca"
    assert page.slider(key="classes").value == 7
    assert page.selectbox(key="colour").value == "class"
    assert page.selectbox(key="read").value is None


# --- files -----------------------------------------------------------------------------------------------------

ROWS = [
    f"{EVIL} sentence {i} about {'cats and dogs' if i % 2 else '=1+1 cars'},<b>{'ab'[i % 2]},{i}\n" for i in range(60)
]


def test_an_upload_is_text_everywhere_and_stays_out_of_the_address(opened: Opened) -> None:
    page = opened("clusters_page", corpus="your own file", **QUICK, row="3")
    fine(with_file(page, ("text,label,<i>size\n" + "".join(ROWS)).encode()))
    fine(page.text_input(key="query").set_value("cats").run())
    for column in page.selectbox(key="colour").options:
        fine(page.selectbox(key="colour").select(column).run())
        for chart in page.get("plotly_chart"):
            assert "<img" not in chart.proto.spec
            assert "<b>" not in chart.proto.spec
            assert "<i>" not in chart.proto.spec
    for text in (*page.markdown, *page.caption):
        obeyed = re.sub(r"\\.", "", text.value)  # what is escaped is shown as it is
        assert "<img" not in obeyed
        assert "<b>" not in obeyed
    assert "evil" not in str(page.query_params)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"text,label\n", "has no rows"),
        (b"", "mine.csv"),
        (b"a,b\n1,2\n", "are not those of a corpus"),
        (b"text,label\na b,x\nc d,x\n", "every label is 'x'"),
        (b"text,label\nred car,x\nblue car,y\n", "at least 4"),
        (b"text,label\nred car,x\n,y\n", "text is ''"),
        (b"text_a,text_b,score\na,b,nan\n", "score is 'nan'"),
        (b"text_a,text_b,label\na,b,0\nc,d,0\n", ""),
        (b"PK\x03\x04", "is a zip archive"),
        ("text,label\ncafé,x\n".encode("latin-1"), "byte 0xe9"),
    ],
)
def test_a_bad_upload_is_one_sentence(opened: Opened, data: bytes, said: str) -> None:
    refused(with_file(opened("clusters_page", corpus="your own file", **QUICK), data), said)


@pytest.mark.whole
def test_a_hundred_thousand_rows_are_few_bytes_without_their_text(opened: Opened) -> None:
    n = 100_000
    data = ("text,label\n" + "".join(f"w{i % 97} w{i % 89} w{i % 83} n{i},c{i % 9}\n" for i in range(n))).encode()
    page = with_file(opened("clusters_page", corpus="your own file", amount="100,000", plotly="true", **QUICK), data)
    fine(page)
    chart = page.get("plotly_chart")[0].proto
    assert ": 100,000 sentences" in chart.alt
    assert len(chart.spec) < 8 * 4 / 3 * n + 150_000
    assert "n99999" not in chart.spec
    assert list(chart.selection_mode) == [1]  # boxes only
    fine(page.radio(key="how").set_value("lle").run())
    assert "takes minutes: PCA is shown" in page.sidebar.info[0].value


def vectors_file(kind: str) -> tuple[str, bytes]:
    """A file with vectors that is not right, or one that is."""
    count = len(load("topics").sentences())
    rows, file = np.random.default_rng(0).normal(size=(count, 5)).astype(np.float32), io.BytesIO()
    if kind == "pickle":
        np.savez(file, vectors=np.array([{"a": 1}], dtype=object))
        return "mine.npz", file.getvalue()
    if kind == "bare pickle":
        return "mine.npy", pickle.dumps([1, 2])
    rows[3] = np.nan if kind == "nan" else rows[3]
    np.savez(file, vectors=rows[:7] if kind == "short" else rows)
    return "mine.npz", file.getvalue()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("pickle", "allow_pickle=False"),
        ("bare pickle", "no vectors"),
        ("nan", "NaN"),
        ("short", "has 7 rows"),
        ("good", ""),
    ],
)
def test_vectors_of_a_visitor(opened: Opened, kind: str, said: str) -> None:
    page = opened("clusters_page", **QUICK | {"left": "your own vectors"}).run()
    name, data = vectors_file(kind)
    page.file_uploader[0].upload(name, data, "application/octet-stream").run()
    assert not page.exception
    if kind == "good":
        fine(page)
        assert len(page.get("plotly_chart")) == 1
        page.text_input(key="typed").set_value("a sentence without a row").run()
        assert "have no row in the matrix" in page.error[0].value
        return
    refused(page, said)
    assert "tmp" not in page.error[0].value


# --- sentences without labels, and classes that are found --------------------------------------------------------

ABOUT = {"cat": "the {} cat sleeps near a purring kitten", "oak": "an {} oak grows beside the mossy tree trunk"}
LINES = [line.format(f"{EVIL} =1+{i}") for i in range(40) for line in ABOUT.values()]


def pasted(opened: Opened, text: str, **address: str) -> AppTest:
    """The page on what somebody has pasted."""
    page = opened("clusters_page", corpus="your own file", **{"how": "PCA", "right": "nothing"} | address).run()
    page.text_area(key="file-lines").set_value(text)
    return page.button(key="file-paste").click().run()


def test_pasted_lines_are_shown_in_classes_named_by_their_words(opened: Opened, run_code: RunCode) -> None:
    page = fine(pasted(opened, "\n\n".join(LINES), **{"found-count": "2", "row": "3"}))
    assert "**pasted.txt** is kept for all pages" in texts(page)
    assert page.selectbox(key="left").value == "sif"
    traces = [trace for trace in figure(page)["data"] if "customdata" in trace]
    known = {word for line in ABOUT.values() for word in line.split()}
    assert all(set(re.findall(r"\w+", trace["name"])) <= known for trace in traces)
    assert [numbers(trace["customdata"]).size for trace in traces] == [40, 40]
    assert "silhouette" in texts(page)
    assert all("✓" in tick for _, tick, _, _ in near(page)[0][:5])  # neighbours are of the class that was found
    page.text_input(key="query").set_value("oak").run()
    assert "**Found sentences**: 40 of 80" in texts(fine(page))
    fine(page.text_input(key="typed").set_value(f"{EVIL} the kitten").run())
    assert "<img" not in figure(page).__repr__() + str(page.query_params)
    assert all("<img" not in re.sub(r"\\.", "", text.value) for text in (*page.markdown, *page.caption))


def test_without_classes_there_is_neither_a_class_nor_a_figure_of_classes(opened: Opened) -> None:
    page = fine(pasted(opened, "\n".join(LINES), **{"found-bare": "nobody", "row": "3"}))
    (trace,) = [trace for trace in figure(page)["data"] if "customdata" in trace]
    assert not trace["showlegend"]
    assert "annotations" not in figure(page)["layout"]
    assert "silhouette" not in [text.value for text in page.markdown if text.value.startswith("|")]
    assert "no label" not in texts(page)
    assert "✓" not in texts(page)
    assert not page.get("popover") or "use-found" not in str(page.get("popover"))


@pytest.mark.parametrize("way", ["kmeans", "density"])
def test_classes_found_are_a_second_colour_of_a_corpus_with_labels(opened: Opened, way: str, run_code: RunCode) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "SIF"}).run())
    fine(page.selectbox(key="found").select(way).run())
    assert page.selectbox(key="colour").value == "class found"
    names = [trace["name"] for trace in figure(page)["data"]]
    assert ("none" in names) == (way == "density")
    sizes = [numbers(trace["customdata"]).size for trace in figure(page)["data"]]
    assert [len(trace.x) for trace in run_code(page)[0].data] == sizes
    fine(page.selectbox(key="found").select("nobody").run())
    assert page.selectbox(key="colour").value == "class"


def drawn(figure: dict) -> list[tuple]:
    """The rows of each class of a picture with its colour, as the page or its code draws it; not its name, which a
    small picture cuts."""
    found = [trace for trace in figure["data"] if "customdata" in trace]
    looks = [trace["marker"]["color"] for trace in found]
    looks = [look if isinstance(look, str) else numbers(look).round(5).tolist() for look in looks]
    return [(numbers(trace["customdata"]).tolist(), look) for trace, look in zip(found, looks, strict=True)]


@pytest.mark.parametrize("colour", ["class found", "what moved"])
def test_the_code_of_both_sides_finds_the_classes_of_the_page(opened: Opened, run_code: RunCode, colour: str) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "SIF", "right": "TF-IDF"}, found="k-means").run())
    fine(page.selectbox(key="colour").select(colour).run())
    for number in (0, 1):
        shown = json.loads(run_code(page, number)[-1].to_json())
        assert drawn(shown) == drawn(figure(page, number))


def test_the_code_of_both_sides_finds_the_classes_of_lines_without_labels(
    opened: Opened, run_code: RunCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = fine(pasted(opened, "\n".join(LINES), right="LSA", **{"found-count": "5"}))
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text("\n".join(LINES))
    for number in (0, 1):
        shown = json.loads(run_code(page, number)[-1].to_json())
        assert len(drawn(shown)) == 5
        assert drawn(shown) == drawn(figure(page, number))


def test_density_says_before_how_long_it_takes(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.evaluation.classes.CLUSTERED", 20)
    page = fine(pasted(opened, "\n".join(LINES), **{"found-bare": "density"}))
    assert "Density of 80 sentences takes about 10 s, once." in texts(page)


def test_classes_found_become_the_corpus_of_all_pages(opened: Opened) -> None:
    page = fine(pasted(opened, "\n".join(LINES), **{"found-count": "2"}))
    (button,) = [box for box in page.get("download_button") if box.proto.id.endswith("found-csv")]
    assert button.proto.label == "Data as CSV"
    fine(page.button(key="found-corpus").click().run())
    assert "**found.jsonl** is kept for all pages" in texts(page)
    assert page.selectbox(key="found").value == "nobody"  # they have classes now
    assert sorted(page.session_state["file"].data.decode().count(f'"label": "{name}') for name in ("",)) == [80]
    assert json.loads(page.session_state["file"].data.splitlines()[0])["text"] in LINES
    lab = fine(opened("clusters_page", **QUICK | {"left": "SIF"}).run())
    fine(lab.selectbox(key="found").select("kmeans").run())
    fine(lab.button(key="found-corpus").click().run())
    assert lab.selectbox(key="corpus").value == "your own file"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\0b\nc", "pasted.txt row 1 holds a NUL, which is no text"),
        ("a\nb\0c", "row 2: text holds a sign that is no text"),
        ("a\tb\nc\td", "columns 'a', 'b' are not those of a corpus"),
        ("a" * 2_000_000, "expected at least"),  # of which the box takes the first million
    ],
)
def test_what_is_pasted_is_not_trusted(opened: Opened, text: str, said: str) -> None:
    refused(pasted(opened, text), said)


def test_one_line_and_no_line(opened: Opened) -> None:
    page = fine(pasted(opened, " \n "))
    assert page.info[0].value.startswith("Choose a file in the sidebar, or paste sentences there.")
    page = pasted(opened, "one line alone")
    assert not page.exception


@pytest.mark.parametrize("module", ["pairs_page", "film_page", "paraphrases_page", "themes_page", "compare_page"])
def test_pages_that_need_labels_say_so(opened: Opened, module: str) -> None:
    page = opened(module, corpus="your own file", vectors="sif").run()
    page.text_area(key="file-lines").set_value("\n".join(LINES))
    page.button(key="file-paste").click().run()
    assert not page.exception
    assert any("without labels" in said.value or "articles" in said.value for said in (*page.error, *page.info))


@pytest.mark.parametrize("module", ["corpora_page", "neighbourhoods_page", "train_page"])
def test_pages_that_need_none_show_them(opened: Opened, module: str) -> None:
    page = opened(module, corpus="your own file", base="sif").run()
    page.text_area(key="file-lines").set_value("\n".join(LINES))
    fine(page.button(key="file-paste").click().run())
