"""Exported folders give the method's own vectors, in a process that cannot import labkit."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from scipy.stats import spearmanr

from labkit import METHODS
from labkit.adapters.export import CARD, FORMS, export
from labkit.adapters.parts import AVERAGED
from labkit.arrays import unit
from labkit.corpora import Corpus, load
from labkit.method import Method
from labkit.thematic.network import WordAttention
from tests.tiny_sbert import tiny_sbert

pytest.importorskip("sentence_transformers", reason="needs the extra 'sbert'")
pytest.importorskip("onnxruntime", reason="needs the extra 'export'")

NETWORK = {"epochs": 1, "size": 31, "dimension": 10, "device": "cpu"}  # 31: unequal shares for the CNN's widths
TUNED = {"epochs": 1, "encoder": "transformer", "layer_rate": 0.01, "max_length": 20, "device": "cpu"}
ALL, GRAPH, NO_MEAN = tuple(FORMS), ("onnx",), ("sentence-transformers", "onnx")
HAS_MODEL2VEC = find_spec("model2vec") is not None
#: name -> method, corpus, settings, possible forms
CASES: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "bag of pieces": ("bag", "questions", {"epochs": 1, "dimension": 10, "max_length": 12}, ALL),
    "mean": ("siamese", "questions", {**NETWORK, "encoder": "mean"}, ALL),
    "cnn": ("sentpwnet", "questions", NETWORK, GRAPH),
    "bilstm": ("sentpwnet", "questions", {**NETWORK, "encoder": "bilstm"}, GRAPH),
    "attention": ("thematic", "articles", {**NETWORK, "pace": 0.5}, ALL),
    "attention by L1": ("thematic", "articles", {**NETWORK, "distance": "l1"}, GRAPH),
    "two networks": ("thematic", "articles", {**NETWORK, "rule": "both", "encoder": "bilstm"}, GRAPH),
    "mean-vectors": ("mean-vectors", "questions", {"dimension": 10}, ALL),
    "sif": ("sif", "questions", {"dimension": 10}, ALL),
    "pca of a bag": ("pca", "questions", {"base": "bag", "dimension": 5}, NO_MEAN),
    "sbert": ("sbert", "questions", {}, NO_MEAN),
    "static": ("static", "questions", {"epochs": 1, "dimension": 10, "unit": "words"}, ALL),
    "last layer": ("sentpwnet", "questions", {**TUNED, "layers": 1}, NO_MEAN),
    "adapters": ("sentpwnet", "questions", {**TUNED, "layers": 1, "adapters": 2}, NO_MEAN),
    "whitening of sbert": ("whitening", "questions", {"dimension": 5}, NO_MEAN),
}
SENTENCES = [
    "The cat sleeps on the sofa.", "the", "a dog jumps!?", "?!", "  ", "How do I mend my bike?", "Zürich 日本 😀",
    "12 Mill Lane <PAD> Heron Bakery <PAD> 5159555464442150912", "how can i learn to cook rice " * 5,
]  # fmt: skip


def few(name: str) -> Corpus:
    corpus = load(name)
    return corpus.take(range(12 if name == "articles" else 150))


@cache
def fitted(case: str) -> Method:
    name, corpus, settings, _ = CASES[case]
    if case == "sbert" or ("encoder" in settings and settings["encoder"] == "transformer"):
        settings = {**settings, "model": tiny_sbert()}
    if case == "static":
        settings = {**settings, "vectors": f"distilled:{tiny_sbert()}"}
    if case == "whitening of sbert":
        settings = {**settings, "base": f"sbert:{tiny_sbert()}"}
    method = METHODS[name](**settings)
    method.fit(few(corpus))
    return method


#: runs the code of each README on these sentences, without labkit
ALONE = """
import json, re, sys
import numpy as np
sys.modules["labkit"] = None
from pathlib import Path

sentences = json.loads(Path("sentences.json").read_text("utf-8"))
for folder in sorted(path for path in Path().iterdir() if path.is_dir()):
    code = re.search("```python\\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.S)[1]
    named = {"sentences": sentences}
    exec(code.replace('["a sentence", "another one"]', "sentences"), named)
    np.save(folder / "alone.npy", named["vectors"])
assert [name for name in sys.modules if name.startswith("labkit")] == ["labkit"]
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All cases in all their forms, each with the vectors from a process without labkit."""
    place = tmp_path_factory.mktemp("exported")
    for case, (*_, forms) in CASES.items():
        for form in forms:
            if form != "model2vec" or HAS_MODEL2VEC:
                export(fitted(case), place / f"{case}, {form}", form)
    (place / "sentences.json").write_text(json.dumps(SENTENCES), "utf-8")
    done = subprocess.run([sys.executable, "-I", "-c", ALONE], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize(
    ("case", "form"), [("mean", "model2vec"), ("cnn", "onnx"), ("bag of pieces", "sentence-transformers")]
)
def test_an_export_reproduces_the_vectors(tmp_path: Path, case: str, form: str) -> None:
    export(fitted(case), tmp_path / "out", form)
    np.testing.assert_allclose(FORMS[form].read(tmp_path / "out", SENTENCES), fitted(case).encode(SENTENCES), atol=1e-5)


@pytest.mark.whole
@pytest.mark.parametrize(("case", "form"), [(case, form) for case, (*_, forms) in CASES.items() for form in forms])
def test_a_process_without_labkit_reproduces_the_vectors(exported: Path, case: str, form: str) -> None:
    if form == "model2vec" and not HAS_MODEL2VEC:
        pytest.skip("needs model2vec")
    folder = exported / f"{case}, {form}"
    alone = np.load(folder / "alone.npy")
    np.testing.assert_allclose(alone, fitted(case).encode(SENTENCES), atol=1e-5)
    np.testing.assert_allclose(FORMS[form].read(folder, SENTENCES), alone, atol=1e-6)


@pytest.mark.whole
@pytest.mark.parametrize("case", CASES)
def test_empty_texts_are_exact_in_onnx_and_a_documented_limit_elsewhere(exported: Path, case: str) -> None:
    own, folder = fitted(case).encode([""]), exported / f"{case}, onnx"
    np.testing.assert_allclose(FORMS["onnx"].read(folder, [""]), own, atol=1e-5)
    np.testing.assert_allclose(FORMS["onnx"].read(folder, ["", "the cat"])[:1], own, atol=1e-5)
    for form in set(CASES[case][3]) & {"sentence-transformers"}:
        folder = exported / f"{case}, {form}"
        same = np.allclose(FORMS[form].read(folder, ["", "the"])[:1], own, atol=1e-5)
        assert same or "empty text" in (folder / CARD).read_text("utf-8")


@pytest.mark.parametrize(("case", "form"), [("bilstm", "sentence-transformers"), ("sbert", "model2vec")])
def test_an_impossible_form_is_refused_and_leaves_nothing(tmp_path: Path, case: str, form: str) -> None:
    with pytest.raises(ValueError, match="--to"):
        export(fitted(case), tmp_path / "out", form)
    assert list(tmp_path.iterdir()) == []


def test_attention_as_a_mean() -> None:
    """Scores 0 and log 3 give two words the weights 1 : 3."""
    body = WordAttention(1, 2)
    with torch.no_grad():
        body.key.weight.zero_(), body.key.bias.zero_(), body.query.weight.zero_()
        body.key.weight[0] = 1.0
        body.query.weight[0, 0] = float(np.log(3) / np.tanh(1.0))
        body.out.weight.copy_(torch.tensor([[1.0], [0.0]])), body.out.bias.copy_(torch.tensor([0.0, 1.0]))
        rows = AVERAGED[WordAttention](body, torch.tensor([[0.0], [1.0]]), True)
    assert rows is not None
    np.testing.assert_allclose(rows, [[0, 1 / 3], [1, 1]], atol=1e-6)  # M x + b times 1/3 and 1
    assert AVERAGED[WordAttention](body, torch.tensor([[0.0]]), False) is None


@pytest.mark.parametrize(("case", "form"), [("mean", "model2vec"), ("bilstm", "onnx")])
def test_int8_is_smaller_and_reports_its_loss(tmp_path: Path, case: str, form: str) -> None:
    sentences = load("questions").part("dev").sentences()[:60]
    done = export(fitted(case), tmp_path / "out", form, quantize=True, sentences=sentences)
    assert done.size_before is not None
    assert done.size < done.size_before
    before, after = fitted(case).encode(sentences), FORMS[form].read(tmp_path / "out", sentences)
    pairs = np.triu_indices(len(sentences), 1)
    cosines = [(rows @ rows.T)[pairs] for rows in map(unit, (before, after))]
    assert done.spearman == pytest.approx(spearmanr(*cosines).statistic, abs=1e-4)
    assert 0.9 < done.spearman < 1
    assert done.cost is not None
    assert 1e-5 < done.cost < 0.1


def test_force_replaces_an_export_and_nothing_else(tmp_path: Path) -> None:
    method, out = fitted("mean-vectors"), tmp_path / "out"
    export(method, out, "model2vec")
    with pytest.raises(ValueError, match="folder"):
        export(method, out, "onnx")
    export(method, out, "onnx", force=True)
    assert sorted(path.name for path in out.iterdir()) == [CARD, "model.onnx", "tokenizer.json"]
    (out / CARD).write_text("my own")
    with pytest.raises(ValueError, match="out"):
        export(method, out, "model2vec", force=True)
    assert (out / CARD).read_text() == "my own"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"to": "tflite"}, "'tflite'"),
        ({"to": "sentence-transformers", "quantize": True}, "int8"),
        ({"quantize": True, "sentences": ["the", "the", "", "\ud800"]}, "sentences"),
    ],
)
def test_bad_arguments_are_refused(tmp_path: Path, change: dict[str, Any], argument: str) -> None:
    with pytest.raises(ValueError, match=argument):
        export(fitted("mean-vectors"), tmp_path / "out", **{"to": "onnx", **change})


def test_the_card_names_data_settings_and_scores(tmp_path: Path) -> None:
    metrics = {"questions/test": {"accuracy": 0.75, "auc": None}}
    intervals = {"questions/test": {"accuracy": (0.71, 0.79)}}
    done = export(fitted("mean"), tmp_path / "mine", "onnx", sentences=SENTENCES, metrics=metrics, intervals=intervals)
    card = (tmp_path / "mine" / CARD).read_text("utf-8")
    assert done.difference is not None
    assert done.difference < 1e-5
    for words in ("`siamese`", "`questions`", "encoder=mean, ", "0.7500 | 0.710 to 0.790", "MIT"):
        assert words in card
    assert "auc" not in card.partition("0.7500")[2]
    front = yaml.safe_load(card.split("---")[1])
    assert (front["license"], front["language"], "base_model" in front) == ("mit", ["en"], False)
    assert front["model-index"][0]["results"][0]["metrics"] == [
        {"type": "accuracy", "value": 0.75, "name": "accuracy (95 % interval 0.710 to 0.790)"}
    ]
    assert "MiniLM" not in card  # only transformers have the setting `model`
