"""Corpora, the page "Why", the panels of "Papers" and bad files, without a browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from labkit.arrays import unit
from labkit.baselines.difficulty import difficulty
from labkit.corpora import load
from labkit.corpora.catalogue import EMBEDDED
from labkit.evaluation import p_coherence
from labkit.film.reading import readable
from labkit.methods import METHODS, load_run
from labkit.sentpwnet.view import sentence_batch
from labkit.shipped import DEMONSTRATIONS
from labkit.thematic.sections import sectioned
from labkit.untrusted import corpus_apart

from .conftest import (
    EVIL,
    HOSTILE,
    QUICK,
    Opened,
    RunCode,
    charts,
    figure,
    fine,
    has_pictures,
    named,
    refused,
    shows_no_markup,
    texts,
    with_file,
)

FILM = {"corpus": "questions", "vectors": "TF-IDF", "view": "FILM's rows"}
RULE = {"film": "trained here", "dimension": "10"}
PAIRS = {"vectors": "TF-IDF", "miner": "every pair"}
LP = {"base": "LSA", "most": "100"}
OWN = {"corpus": "your own file"}
VIEWS = [  # page, query parameters, number of pictures
    ("papers_page?try=film", RULE, 2),
    ("why_page", PAIRS, 5),
    ("why_page", PAIRS | {"view": "The words"}, 1),
    ("papers_page?try=sbert-lp", LP, 1),
    ("papers_page?try=pthought", {"view": "Write a paraphrase"}, 0),
    ("papers_page?try=pthought", {"view": "P-coherence", "beside": "TF-IDF"}, 2),
    ("papers_page?try=thematic", {}, 3),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small runs of P-thought, one of them collapsed, and of a thematic network."""
    folder = tmp_path_factory.mktemp("runs")
    method = METHODS["pthought"](epochs=1, hidden=8, decoder_hidden=8, dimension=8, device="cpu")
    method.fit(load("captions").take(range(300)))
    method.save(folder / "pthought")
    for name, parameter in method.network.encoder.body.named_parameters():
        parameter.data.fill_(1.0 if "bias" in name else 0.0)
    method.save(folder / "collapsed")
    method = METHODS["thematic"](epochs=1, size=8, dimension=8, rule="both", device="cpu")
    method.fit(load("articles").take(range(20)))
    method.save(folder / "thematic")
    return folder


@pytest.fixture
def shown(opened_on: Opened, runs: Path) -> Opened:
    """A function that opens a page with one of these runs; the page has not run yet."""
    default = {"papers_page?try=thematic": "thematic"}
    return lambda module, run="", **address: opened_on(module, runs, run or default.get(module, "pthought"), **address)


def articles(sections: int) -> bytes:
    """Return four articles, each with this number of sections."""
    own = "river and bank", "bird in spring", "stone of towers", "song for choirs", "king with swords", "sea at night"
    told = [{"title": "", "paragraphs": ["The lead says what there is."]}]
    for place in range(sections):
        text = f"{EVIL} Paragraph {place} of this article speaks of a {own[place]} at length."
        told.append({"title": f"<u>Theme</u> {place}", "paragraphs": [text, text.replace("speaks", "tells")]})
    splits = "train", "test", "train", "test"
    rows = [{"title": f"<s>Mine</s> {n}", "sections": told, "split": split} for n, split in enumerate(splits)]
    return "\n".join(map(json.dumps, rows)).encode()


def with_hostile_file(page: AppTest, module: str) -> AppTest:
    """The page after an upload with markup, in the shape that it needs."""
    if module == "papers_page?try=thematic":
        return with_file(page, articles(6), "mine.jsonl", "application/jsonl")
    groups = "text,group\n" + "".join(f"{EVIL} a man number {i} on the beach,<u>g{i // 3}\n" for i in range(90))
    return with_file(page, (groups if module == "papers_page?try=pthought" else HOSTILE).encode())


def kinds(figure: dict) -> list[str]:
    return [trace["type"] for trace in figure["data"]]


FIRST = {module: address for module, address, _ in VIEWS[::-1]}  # the first view of each page


@pytest.mark.parametrize(
    ("module", "address", "pictures"),
    [pytest.param(*case, marks=[] if FIRST[case[0]] == case[1] else [pytest.mark.whole]) for case in VIEWS],
)
def test_a_view_has_its_pictures_and_their_code_and_an_upload_is_text(
    shown: Opened, run_code: RunCode, module: str, address: dict[str, str], pictures: int
) -> None:
    page = fine(shown(module, **address).run())
    has_pictures(page, pictures)
    drawn = [json.loads(each.to_json()) for each in run_code(page)]
    assert len(drawn) == (pictures > 0)
    assert all(kinds(each) in [kinds(figure(page, number)) for number in range(pictures)] for each in drawn)
    page = with_hostile_file(shown(module, **address | OWN), module)
    if "most" not in address:  # the panel of SBERT-LP is only for pairs
        has_pictures(page, pictures)
    shows_no_markup(fine(page))


@pytest.mark.parametrize(
    ("module", "address", "sliders"),
    [
        ("why_page", {"anchor": "99999", "vectors": "TF-IDF", "size": "40", "beta": "1e309"}, {"size": 40, "beta": 10}),
        ("space_page", QUICK | {"classes": "7", "row": "99999", "colour": "nonsense"}, {"classes": 7}),
        ("papers_page?try=thematic", {"temperature": "0.1", "article": "99999"}, {"temperature": 0.1}),
    ],
)
def test_an_address_restores_the_view_and_nonsense_is_ignored(
    shown: Opened, module: str, address: dict[str, str], sliders: dict[str, float]
) -> None:
    page = fine(shown(module, **address).run())
    assert {key: page.slider(key=key).value for key in sliders} == sliders
    assert "99999" not in str(page.query_params)


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "data", "named"),
    [
        ("train_page", b"", "mine.csv"),
        ("train_page", b"text,label\na,x\n,y\n", "row 3: text"),
        ("why_page", b"text,label\nred car,x\nblue car,y\n", "class"),
        ("papers_page?try=film", b"text,label\nword,x\nword word,y\n", "one word"),
        ("papers_page?try=pthought", b"group,text\ng,a man\ng,a dog\n", "group"),
        ("train_page?view=Runs", b"text,label,split\n" + b"a red word,x,train\na blue word,y,train\n" * 20, "split"),
    ],
)
def test_a_bad_upload_is_one_sentence(shown: Opened, module: str, data: bytes, named: str) -> None:
    address = {"vectors": "TF-IDF", "base": "TF-IDF", "beside": "TF-IDF", "film": "trained here"}
    module, _, view = module.partition("?view=")
    page = with_file(shown(module, **address | OWN | {"view": view or "P-coherence"}), data)
    refused(page.segmented_control(key="view").set_value(view).run() if view else page, named)


def test_articles_with_too_few_sections_and_a_path_in_a_name_are_refused(shown: Opened) -> None:
    page = shown("papers_page?try=thematic", **OWN)
    refused(with_file(page, articles(2), "mine.jsonl", "application/jsonl"), "sections")
    for name, data in (("../../mine.csv", b"text,label\n"), ("book.xlsx", b"PK\x03\x04"), ("notes.pdf", b"PK\x03\x04")):
        page = with_file(shown("train_page", **OWN), data, name, "application/octet-stream")
        refused(page, name.removeprefix("../../"))
        assert ".." not in page.error[0].value


@pytest.mark.whole
def test_a_file_above_the_upload_limit_is_refused(shown: Opened) -> None:
    config.set_option("server.maxUploadSize", 1)
    rows = "".join(f"sentence {i},{i % 3}\n" for i in range(70_000))
    refused(with_file(shown("train_page", **OWN), f"text,label\n{rows}".encode()), "1 MB")


# --- corpora ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["relatedness", "articles"])
def test_a_corpus_has_rows(opened: Opened, name: str) -> None:
    page = fine(opened("train_page", corpus=name, view="Data").run())
    assert f"{EMBEDDED[name].rows:,} rows" in texts(page)
    before = page.table[0].value.to_numpy().ravel().tolist()
    assert any(sentence in " ".join(before).replace("\\", "") for sentence in load(name).sentences())
    fine(page.button(key="other-rows").click().run())
    assert page.table[0].value.to_numpy().ravel().tolist() != before


def test_the_table_of_corpora_has_their_classes_and_how_hard_they_are(opened: Opened) -> None:
    page = fine(opened("train_page", view="Data").run())
    row = named(page, "All corpora")[0].set_index("corpus").loc["topics"]
    sizes, hard = Counter(load("topics").labels).values(), difficulty(load("topics"))
    assert (row["what it is"], row["rows"]) == (EMBEDDED["topics"].summary, 2000)
    assert re.findall(r"\d+", row["classes"]) == [str(len(sizes)), str(min(sizes)), str(max(sizes))]
    assert [row["chance"], row["TF-IDF"], row["mean vectors"]] == [hard.chance, hard.tfidf, hard.mean_vectors]


def test_a_template_is_a_file_that_labkit_reads(opened: Opened) -> None:
    opened("train_page")
    from train_data import SHAPES

    for shape, (_, lines) in SHAPES.items():
        if not lines:  # an article needs more than rows
            continue
        corpus, _ = corpus_apart("template.csv", lines.encode(), 2**20)
        assert (type(corpus).__name__, len(corpus)) == (shape, lines.count("\n") - 1)


# --- pairs --------------------------------------------------------------------------------------------------------


@pytest.mark.whole
def test_a_run_is_shown_with_a_batch_in_which_it_still_errs(opened: Opened) -> None:
    """On its training sentences, the run keeps no pair, and there would be no weights to see."""
    if not DEMONSTRATIONS["sentpwnet-topics"].here:
        pytest.skip("needs the bundled runs")
    page = fine(opened("why_page", vectors="run sentpwnet-topics").run())
    assert (page.selectbox(key="vectors").value, page.selectbox(key="split").value) == ("run sentpwnet-topics", "test")
    assert not page.info


def test_the_sentences_are_those_of_the_chosen_corpus(opened: Opened) -> None:
    page = fine(opened("why_page").run())
    fine(page.selectbox(key="corpus").set_value("questions").run())
    batch = sentence_batch(load("questions"), split="test")
    for name, box in (("a", page.selectbox(key="anchor-choice")), ("b", page.selectbox(key="other-choice"))):
        assert box.proto.set_value  # or the browser would still show the other corpus's sentence
        assert box.proto.raw_value == f"{box.value} · {batch.texts[box.value]}"
        written = f"**{name} · {batch.classes[box.value]}** {batch.texts[box.value]}"
        assert re.sub(r"\\(.)", r"\1", texts(page)).count(written) == 1


def test_it_opens_on_a_negative_with_a_visible_weight_that_a_slider_changes(opened: Opened) -> None:
    page = fine(opened("why_page").run())
    other, table = page.selectbox(key="other-choice").value, page.dataframe[0].value.set_index("number")
    assert table.loc[other, "kind"] == "negative"
    assert table.loc[other, "weight"] > 0.05
    assert (table["kind"] == "positive").any()
    was = table.loc[other, "weight"]
    fine(page.slider(key="beta").set_value(30.0).run())
    weight = page.dataframe[0].value.set_index("number").loc[other, "weight"]
    assert weight != was


def test_settings_are_pinned_only_on_request_and_a_link_keeps_them(opened: Opened) -> None:
    def pinned(page: AppTest) -> list[tuple[str, str]]:
        return re.findall(r"Pinned \(β (\d+)\): (?:less than )?(\d+) %", texts(page))

    page = fine(opened("why_page").run())
    (share,) = re.findall(r"(\d+) % of the pull and push", texts(page))
    fine(page.button(key="pin").click().run())
    assert not pinned(page)  # nothing has moved yet
    fine(page.slider(key="beta").set_value(15.0).run())
    assert pinned(page) == [("10", share)]
    (link,) = [each.value for each in page.code if "pinned=" in each.value]
    linked = dict(parse_qsl(urlsplit(link).query)) | {"beta": "15"}  # added by the browser
    assert pinned(fine(opened("why_page", **linked).run())) == [("10", share)]
    fine(page.button(key="pin").click().run())  # unpinned
    fine(page.slider(key="beta").set_value(30.0).run())
    assert not pinned(page)
    for wrong in ("locality", linked["pinned"].replace("10", "nan")):
        assert not pinned(fine(opened("why_page", **linked | {"pinned": wrong}).run()))


def test_the_sliders_take_the_values_of_the_run(opened_on: Opened, tmp_path: Path) -> None:
    made = {"alpha": 300, "beta": 33, "base": -0.25, "miner": "none"}
    method = METHODS["sentpwnet"](epochs=1, dimension=8, size=12, device="cpu", **made)
    method.fit(load("topics").take(range(0, 2000, 20)))
    method.save(tmp_path / "strange")
    page = fine(opened_on("why_page", tmp_path, "strange", loss="InfoNCE (multiple negatives)").run())
    fine(page.button(key="start-run").click().run())
    assert (page.selectbox(key="loss").value, page.selectbox(key="miner").value) == ("locality", "none")
    values = [page.slider(key=key).value for key in ("alpha", "beta", "lambda")]
    assert values == [20.0, 33.0, -0.25]  # the maximum of α is 20
    fine(page.selectbox(key="vectors").select("TF-IDF").run())
    assert not [button for button in page.button if button.key == "start-run"]


def test_films_rows_are_there_without_a_button_and_say_what_they_separate(opened: Opened, shown: Opened) -> None:
    page = fine(opened("why_page", view="FILM's rows").run())
    assert len(charts(page)) == 5  # four rows, and all of them step by step
    topics = set(load("topics").labels)
    named = [set(re.findall(r"\*\*([a-z]+)\*\*", text.value)) for text in page.markdown]
    assert sum(bool(each & topics) for each in named) >= 2  # varimax gives nearly every topic a row of its own
    assert not [button for button in page.button if "Train" in button.label]
    rows = "".join(f"a {word} thing {n},{word}\n" for word in ("red", "blue", "green") for n in range(12))
    assert charts(with_file(shown("why_page", view="FILM's rows", **OWN), b"text,label\n" + rows.encode()))


def test_the_pair_is_explained_with_its_own_numbers(opened: Opened) -> None:
    page = fine(opened("why_page", anchor="3", other="7", **PAIRS).run())
    table = page.dataframe[0].value.set_index("number")
    said = next(text.value for text in page.text if text.value.startswith("similarity"))
    assert f"similarity {table.loc[7, 'similarity']:.3f}, {table.loc[7, 'kind']}" in said
    weight = f"{table.loc[7, 'weight']:.4g}".split("e")[0][:4]
    assert any(formula.value.strip("$").strip().startswith("w") and weight in formula.value for formula in page.latex)
    kept = table[table["weight"] > 0]
    np.testing.assert_allclose(kept["weight"], 1 / (kept["own"] + kept["relative"]))


# --- FILM ---------------------------------------------------------------------------------------------------------


def test_film_opens_on_the_bundled_run_with_the_rows_that_matter_to_the_pair(opened: Opened) -> None:
    if not DEMONSTRATIONS["film-questions"].here:
        pytest.skip("needs the bundled runs")
    page = fine(opened("why_page", corpus="questions", vectors="TF-IDF", view="FILM's rows").run())
    film = load_run(DEMONSTRATIONS["film-questions"].folder)
    boxes = (page.selectbox(key="anchor-choice"), page.selectbox(key="other-choice"))
    pair = [box.options[box.value].split(" · ", 1)[1] for box in boxes]
    for rotated in (True, False):
        L = readable(film.L.astype(float), film.words) if rotated else film.L.astype(float)
        y = unit(film.vectorizer.transform(pair) @ L.T)
        parts = (1 - film.share) * y[0] * y[1]
        assert parts.sum() == pytest.approx(sum(part for _, part in film.explain(*pair).rows), abs=1e-6)
        number = r"([+−]?[\d.]+)"
        card = rf"\*\*In this pair\*\*, row (\d+) .*\*\*{number}\*\* = {number} \(a\) × {number} \(b\)"
        cards = [
            [float(value.replace("−", "-")) for value in found]
            for text in page.markdown
            for found in re.findall(card, text.value)
        ]
        assert [row - 1 for row, *_ in cards] == np.argsort(-np.abs(parts), kind="stable")[:4].tolist()
        for at, (row, part, *numbers) in enumerate(cards):
            assert part == pytest.approx(parts[int(row) - 1], abs=1.1e-3)
            assert part == pytest.approx(numbers[0] * numbers[1], abs=5.1e-4)  # the shown numbers multiply
            assert numbers == pytest.approx(np.sqrt(1 - film.share) * y[:, int(row) - 1], abs=6e-4)
            (bars,) = figure(page, at)["data"]  # the bars of the chart add up to the same two numbers
            shown = [float(text.replace("−", "-")) for text in bars["text"]]
            sums = [place for place, name in enumerate(bars["customdata"]) if name.startswith("sum")]
            assert [shown[place] for place in sums] == numbers
            words = [shown[: sums[0]], shown[sums[0] + 1 : sums[1]]]
            assert [sum(each) for each in words] == pytest.approx(numbers, abs=1e-9)
        fine(page.toggle(key="varimax").set_value(not rotated).run())


@pytest.mark.parametrize(
    ("stability", "classes", "safe"),
    [(0.9, (("red", 0.5), ("blue", -0.4)), True), (0.3, (("red", 0.5),), False), (0.9, (), False)],
)
def test_a_row_is_interpreted_only_if_it_is_stable_and_separates_a_class(
    opened: Opened, stability: float, classes: tuple[tuple[str, float], ...], safe: bool
) -> None:
    opened("why_page")
    from why_film import reading

    said = reading(stability, classes)
    assert ("No safe reading" in said) is not safe
    assert all((f"**{name}**" in said) is safe for name, _ in classes)


def test_parts_add_up_and_typed_words_stay_out_of_the_address(opened: Opened) -> None:
    page = opened("why_page", **FILM)
    film = load_run(DEMONSTRATIONS["film-questions"].folder)
    a, b = "How can I learn the <b>guitar</b>?", "Is the qzxv guitar hard to learn?"
    page.session_state["anchor-choice"], page.session_state["other-choice"] = a, b
    fine(page.run())
    expected = film.explain(a, b)
    of_rows = sum(part for _, part in expected.rows)
    number = r"([+−]?\d\.\d{3})"
    said = re.search(rf"{number} = {number}\D+{number}", texts(page))
    similarity, rows, shared = (float(found.replace("−", "-")) for found in said.groups())
    assert (similarity, shared) == pytest.approx((expected.similarity, expected.shared), abs=6e-4)
    assert rows + shared == pytest.approx(similarity, abs=1e-9)
    assert rows == pytest.approx(of_rows, abs=1.1e-3)
    assert of_rows + expected.shared == pytest.approx(expected.similarity, abs=1e-6)
    assert any("qzxv" in text.value for text in page.caption)
    assert "guitar" not in str(page.query_params)


def test_k_starts_at_the_value_chosen_on_dev(opened: Opened) -> None:
    page = fine(opened("papers_page?try=film", **RULE).run())
    assert re.search(rf"dev\b.*\b{page.slider(key='film-k').value}\b", texts(page))
    before = page.dataframe[0].value.iloc[0]
    fine(page.slider(key="film-k").set_value(40).run())
    after = page.dataframe[0].value.iloc[0]
    assert not after.equals(before)
    assert [after["tpr"] + after["fnr"], after["tnr"] + after["fpr"]] == pytest.approx([1, 1])
    refused(opened("papers_page?try=film", corpus="relatedness", **RULE).run(), "graded")


# --- neighbourhoods -----------------------------------------------------------------------------------------------


def test_reversals_are_counted_both_ways_above_a_least_difference(opened: Opened) -> None:
    page = fine(opened("papers_page?try=sbert-lp", **LP).run())
    said = next(text.value for text in page.markdown if "comparisons of two pairs" in text.value)
    assert {what.split()[0] for what in page.dataframe[0].value["what"]} == {"fixed", "broken"}
    fine(page.slider(key="least").set_value(3.0).run())
    assert next(text.value for text in page.markdown if "comparisons of two pairs" in text.value) != said
    grades = page.dataframe[0].value["grade"].to_numpy().reshape(-1, 2)
    assert (grades[:, 0] - grades[:, 1] > 3).all()
    fine(page.selectbox(key="pair").set_value(page.selectbox(key="pair").options[-1]).run())
    pair = page.dataframe[0].value.iloc[-1]
    fine(page.button(key="why-order").click().run())
    assert f"a · {pair['sentence 0']}" in texts(page)  # its words are explained


def test_what_is_fixed_and_broken_follows_k_and_p(opened: Opened) -> None:
    page = fine(opened("papers_page?try=sbert-lp", **LP).run())
    for slider, number in (("k", 4), ("p", 8)):
        before = [trace["x"] for trace in figure(page)["data"]]
        fine(page.slider(key=slider).set_value(number).run())
        assert [trace["x"] for trace in figure(page)["data"]] != before


@pytest.mark.whole
def test_a_run_is_a_base_and_a_run_of_sbert_lp_gives_its_own(opened_on: Opened, tmp_path: Path) -> None:
    method = METHODS["sbert-lp"](base="lsa", neighbours=5, dimension=8)
    method.fit(load("relatedness").take(range(300)))
    method.save(tmp_path / "lp")
    method.base.save(tmp_path / "plain")
    pages = [opened_on("papers_page?try=sbert-lp", tmp_path, run, most="100") for run in ("lp", "plain")]
    first, second = (figure(fine(page.run()))["data"] for page in pages)
    assert first == second


# --- paraphrases --------------------------------------------------------------------------------------------------


def test_p_coherence_is_the_methods_own_and_a_collapsed_encoder_has_a_warning(shown: Opened, runs: Path) -> None:
    page = fine(shown("papers_page?try=pthought", view="P-coherence").run())
    assert not page.warning
    table = page.dataframe[0].value.set_index("figure")
    test = load("captions").part("test")
    truth = p_coherence(load_run(runs / "pthought").encode(list(test.texts)), test.groups)
    assert table.loc["lift", "pthought"] == pytest.approx(truth.lift, abs=1e-5)
    assert table.loc["retrieval", "pthought"] == pytest.approx(truth.retrieval)
    assert table["mean word vectors"].notna().all()
    assert len(fine(shown("papers_page?try=pthought", "collapsed", view="P-coherence").run()).warning) == 1
    refused(shown("papers_page?try=pthought", corpus="topics").run(), "paraphrase")


def test_a_typed_sentence_is_written_by_both_decoders(shown: Opened, runs: Path) -> None:
    def typed(sentence: str) -> AppTest:
        page = shown("papers_page?try=pthought", view="Write a paraphrase", beam="3")
        page.session_state["sentence-choice"] = sentence
        return fine(page.run())

    page = typed("Two dogs play on the qwertzu beach.")
    found = [code.value for code in page.code if re.search("unknown words: .*qwertzu", code.value)]
    assert "Two dogs" not in str(page.query_params)
    written = load_run(runs / "pthought").paraphrase(["Two dogs play on the qwertzu beach."])[0].written
    greedy, beam = (re.findall(r"([−0][\d.]+)  (.*)", text) for text in found)
    assert greedy == [
        (f"{one.log_probability:.2f}".replace("-", "−"), one.text + " ..." * (not one.ended))
        for one in (written[decoder][0] for decoder in ("auto", "paraphrase"))
    ]
    assert len(beam) == 2 * 3
    shows_no_markup(typed(f"{EVIL} !!"))
    assert not typed("  ").error


# --- themes -------------------------------------------------------------------------------------------------------


def test_the_ribbon_and_the_table_agree_and_a_higher_temperature_merges_clusters(shown: Opened) -> None:
    page = fine(shown("papers_page?try=thematic", article="2").run())
    table = page.dataframe[0].value.set_index("algorithm")
    assert table.loc["Iclust", "mean similarity"] >= table.loc["k-means", "mean similarity"] - 1e-6  # their objective
    article = sectioned(load("articles").part("test").articles[2])
    assert max(table["clusters"]) <= len(article.sections)
    before, *squares = (figure(page, number) for number in range(3))
    counted = [sum(int(note["text"][3:-4]) for note in square["layout"]["annotations"]) for square in squares]
    assert counted == [len(article.sentences)] * 2
    fine(page.slider(key="temperature").set_value(0.5).run())
    hot = page.dataframe[0].value.set_index("algorithm")
    assert hot.loc["Iclust", "clusters"] <= table.loc["Iclust", "clusters"]
    assert hot.loc["k-means", "ami"] == table.loc["k-means", "ami"]
    assert figure(page) != before


# --- clicks -------------------------------------------------------------------------------------------------------


def test_a_click_chooses_the_pair_and_a_setting_keeps_the_axes(opened: Opened) -> None:
    page = fine(opened("why_page", **PAIRS | {"beta": "50"}).run())
    before = figure(page)["layout"]
    assert page.selectbox(key="anchor-choice").value != page.selectbox(key="other-choice").value
    fine(page.slider(key="beta").set_value(20.0).run())
    assert [figure(page)["layout"][axis]["range"] for axis in ("yaxis", "yaxis2")] == [
        before[axis]["range"] for axis in ("yaxis", "yaxis2")
    ]
    from why_pair import choose_pair

    st.session_state.update({"anchor-choice": 0, "other-choice": 1})
    choose_pair([5, 7])
    assert (st.session_state["anchor-choice"], st.session_state["other-choice"]) == (5, 7)
    choose_pair([5, 5])  # the diagonal is not a pair
    choose_pair([])  # nothing was hit
    choose_pair([9])
    assert (st.session_state["anchor-choice"], st.session_state["other-choice"]) == (5, 9)
