"""The page "Paraphrases" without a browser: every view with a small run, typed sentences, and bad files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit.corpora import load
from labkit.methods import METHODS
from labkit.methods import load as load_run

from .conftest import Opened, RunCode, figure, fine, has_pictures, refused, shows_no_markup, with_file

VIEWS = {"Groups in the plane": 2, "P-coherence": 2, "Write a paraphrase": 0}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of P-thought, one that has collapsed, and one of another method."""
    folder = tmp_path_factory.mktemp("runs")
    few = load("captions").take(range(600))
    method = METHODS["pthought"](epochs=1, hidden=8, decoder_hidden=8, dimension=8, device="cpu")
    method.fit(few)
    method.save(folder / "small")
    with np.errstate(all="ignore"):
        for parameter in method.network.encoder.body.parameters():
            parameter.data.mul_(0)
        for name, parameter in method.network.encoder.body.named_parameters():
            if "bias" in name:
                parameter.data.add_(1)
    method.save(folder / "collapsed")
    other = METHODS["tfidf"]()
    other.fit(few)
    other.save(folder / "another")
    return folder


@pytest.fixture
def shown(opened_on: Opened, runs: Path) -> Opened:
    return lambda run="small", **address: opened_on("paraphrases_page", runs, run, **address)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_pictures(shown: Opened, view: str) -> None:
    page = fine(shown(view=view).run())
    has_pictures(page, VIEWS[view])
    assert "another" not in page.selectbox(key="run").options


def test_another_handful_other_groups_and_both_planes_show_the_same(shown: Opened) -> None:
    page = fine(shown(groups="4").run())
    texts = next(text.value for text in page.text if text.value.startswith("A  "))
    assert [line[0] for line in texts.splitlines()] == ["A", "B", "C", "D"]
    for number in (0, 1):
        letters = [note["text"] for note in figure(page, number)["layout"]["annotations"]]
        assert letters == ["<b>A</b>", "<b>B</b>", "<b>C</b>", "<b>D</b>"]
    fine(page.number_input(key="handful").set_value(5).run())
    assert next(text.value for text in page.text if text.value.startswith("A  ")) != texts
    fine(page.radio(key="plane").set_value("t-SNE").run())
    assert "t-SNE plane" in page.get("plotly_chart")[0].proto.alt


def test_companions_stand_beside_and_are_the_methods_own(shown: Opened, runs: Path) -> None:
    page = fine(shown(view="P-coherence").run())
    table = page.dataframe[0].value.set_index("figure")
    assert list(table.index) == ["within", "between", "lift", "retrieval", "distance"]
    test = load("captions").part("test")
    from labkit.evaluation import p_coherence

    truth = p_coherence(load_run(runs / "small").encode(list(test.texts)), test.groups)
    assert table.loc["lift", "small"] == pytest.approx(truth.lift, abs=1e-5)
    assert table.loc["retrieval", "small"] == pytest.approx(truth.retrieval)
    assert table["mean word vectors"].notna().all()
    assert table["what it is"].str.len().min() > 20


def test_a_collapsed_encoder_is_warned_of(shown: Opened) -> None:
    page = fine(shown("collapsed", view="P-coherence").run())
    (warning,) = page.warning
    assert "Nearly all sentences point one way" in warning.value
    assert "collapsed" in warning.value


def test_a_typed_sentence_is_written_anew_by_both_decoders(shown: Opened, runs: Path) -> None:
    page = fine(shown(view="Write a paraphrase", beam="3").run())
    fine(page.text_input(key="typed").set_value("Two dogs play on the qwertzu beach.").run())
    assert "qwertzu" in page.warning[0].value
    assert "No word is known" not in page.warning[0].value
    assert "Two dogs" not in str(page.query_params)
    written = load_run(runs / "small").paraphrase(["Two dogs play on the qwertzu beach."])[0].written
    texts = [text.value for text in page.text]
    for decoder in ("auto", "paraphrase"):
        one = written[decoder][0]
        assert sum(one.text in text and f"{one.log_probability:.2f}" in text for text in texts) >= 1
    assert len([text for text in texts if text.strip()[:1] in "-0"]) == 2 * (1 + 3)
    fine(page.text_input(key="typed").set_value("qwertzu asdfg").run())
    assert "No word is known" in page.warning[0].value
    fine(page.text_input(key="typed").set_value("<img src=//evil> !!").run())
    assert all("<img" not in text.value for text in (*page.markdown, *page.caption, *page.warning))


@pytest.mark.parametrize("view", VIEWS)
def test_the_code_makes_the_picture(
    shown: Opened, run_code: RunCode, capsys: pytest.CaptureFixture[str], view: str
) -> None:
    page = fine(shown(view=view, groups="3").run())
    drawn = run_code(page)
    if view == "Write a paraphrase":
        assert "paraphrase" in capsys.readouterr().out
        return
    own = figure(page, 1)["data"]  # P-thought's
    assert [trace["type"] for trace in own] == [trace.type for trace in drawn[0].data]
    ours = np.asarray(drawn[0].data[-1].x, float)
    assert len(ours) == (len(own[-1]["x"]) if isinstance(own[-1]["x"], list) else own[-1]["x"].get("shape", len(ours)))


def test_without_a_run_it_says_how_to_make_one(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("paraphrases_page")
    import choosing

    monkeypatch.setattr(choosing, "every_run", lambda *_, **__: {})
    page.session_state["folders"] = str(tmp_path)
    fine(page.run())
    assert "no such run" in page.info[0].value
    assert page.code[0].value == "labkit train pthought --corpus captions"


def test_a_corpus_without_paraphrases_is_refused_in_one_sentence(shown: Opened) -> None:
    page = shown(corpus="topics").run()
    assert not page.exception
    assert len(page.error) == 1
    assert "do not say what is a paraphrase of what" in page.error[0].value
    fine(shown(corpus="questions").run())  # pairs that mean the same make groups


@pytest.mark.parametrize("view", VIEWS)
def test_an_upload_is_text_everywhere_and_stays_out_of_the_address(shown: Opened, view: str) -> None:
    page = shown(corpus="your own file", view=view, beside="TF-IDF")
    rows = [f"<img src=//evil> a man number {i} on the beach,g{i // 3}\n" for i in range(90)]
    data = ("text,group\n" + "".join(rows)).encode()
    fine(with_file(page, data))
    shows_no_markup(page)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"group,text\n", "has no rows"),
        (b"group,text\ng,a man\ng,a dog\n", "every group is 'g'"),
        (b"group,text,split\ng,a man,train\nh,a dog,train\ng,a cat,train\n", "split 'test'"),
        (b"group,text,split\ng,a man,train\nh,a dog,train\ng,a cat,test\nh,a cow,test\n", "two different sentences"),
    ],
)
def test_a_bad_upload_is_one_sentence(shown: Opened, data: bytes, said: str) -> None:
    refused(with_file(shown(corpus="your own file", beside="TF-IDF"), data), said)
