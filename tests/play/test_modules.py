"""Training against torch, metrics against `labkit.evaluation`, and CSV files, links and explanations."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from labkit.evaluation import hit_at, inter_intra
from labkit.pairs import LOSSES

from . import parity


def test_metrics_are_those_of_the_library(in_node) -> None:  # type: ignore[no-untyped-def]
    random = np.random.default_rng(1)
    V = random.normal(size=(40, 3)) + 1.5 * np.eye(3)[np.arange(40) % 3]
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    labels = [*(np.arange(40) % 3).tolist(), 7]  # the last is alone in its class and is not a query
    V = np.vstack([V, V[:1]])
    script = """
        const { hitAt1, interIntra } = await play("metrics");
        const V = Float64Array.from(job.V.flat());
        return [hitAt1(V, job.labels, 3), interIntra(V, job.labels, 3)];
    """
    hit, ratio = in_node(script, {"V": V.tolist(), "labels": labels})
    assert hit == pytest.approx(hit_at(V, labels, (1,))[1])
    assert ratio == pytest.approx(inter_intra(V, labels).ratio)


def test_no_two_classes_look_alike(in_node) -> None:  # type: ignore[no-untyped-def]
    looks = in_node('const { look } = await play("palette"); return job.map(look);', list(range(36)))
    assert len({(look["colour"], look["shape"]) for look in looks}) == 36
    for alike in ({0, 5}, {1, 3}):  # two blues, and orange and vermilion
        shapes = [looks[label]["shape"] for label in range(12) if label % 6 in alike]
        assert len(set(shapes)) == 4


def test_an_unusable_csv_is_refused_in_one_sentence(in_node) -> None:  # type: ignore[no-untyped-def]
    script = """
        const { fromCsv } = await play("corpus");
        return job.map((text) => { try { return fromCsv(text); } catch (mistake) { return mistake.message; } });
    """
    texts = ["", "text\nonly", "text,label\na b,x\n", "a,b\n1,2\n", "text,label\n" + "x" * 1_000_001]
    for answer in in_node(script, texts):
        assert isinstance(answer, str)
        assert answer.endswith(".")


def test_a_csv_is_read_with_its_quotes_and_within_limits(in_node) -> None:  # type: ignore[no-untyped-def]
    rows = "".join(f'"sentence ""{i}"", with\na line break and more",class {i % 20}\r\n' for i in range(3000))
    script = 'const { fromCsv } = await play("corpus"); return fromCsv(job);'
    found = in_node(script, "text,label\r\n" + rows)
    assert len(found["classes"]) == 12
    assert len(found["rows"]) <= 1200
    assert found["rows"][0][0] == 'sentence "0", with\na line break and more'
    assert sum(unseen for *_, unseen in found["rows"]) == pytest.approx(len(found["rows"]) / 5, abs=12)


def test_a_link_restores_its_state(in_node, data: dict[str, Any]) -> None:  # type: ignore[no-untyped-def]
    script = """
        const { Lab } = await play("lab");
        const { SCENES } = await play("scenes");
        const { toHash, fromHash } = await play("link");
        const one = new Lab(job);
        one.open(SCENES[4]);
        one.set("epsilon", 0.4); one.set("loss", "cosent"); one.setTwo(true); one.set("miner", "random", 1);
        one.setLabel(3, 2); one.toggleRemoved(5); one.typed = "the moon & <b>";
        const other = new Lab(job);
        fromHash(other, toHash(one));
        const state = ({ scene, settings, right, byHand, removed, typed, changed }) =>
          [scene.name, settings, right, [...byHand], [...removed], typed, changed];
        return [state(one), state(other)];
    """
    one, other = in_node(script, data)
    assert one == other


def test_a_broken_link_still_opens_a_training(in_node, data: dict[str, Any]) -> None:  # type: ignore[no-untyped-def]
    script = """
        const { Lab } = await play("lab"); const { fromHash } = await play("link");
        return job.hashes.map((hash) => {
          const lab = new Lab(job.data);
          fromHash(lab, hash);
          for (let step = 0; step < 3; step++) lab.step();
          const { steps, model } = lab.sides[0].training;
          return [lab.scene.name, steps, [...model.E].every(Number.isFinite)];
        });
    """
    hashes = [
        "#scene=nobody", "#temperature=-1&batch=1e9&dimension=7&loss=evil&miner=__proto__&classes=NaN&seed=-5",
        "#labels=1:99,x:y,::&removed=-1,9e9,foo&right.loss=constructor&right.__proto__=1", "#%%%",
        "#scene=own&sentences=0",
    ]  # fmt: skip
    for name, steps, finite in in_node(script, {"data": data, "hashes": hashes}):
        assert (name, steps, finite) == ("temperature" if name != "own" else "own", 3, True)


def test_the_numbers_in_an_explanation_make_its_weight(in_node, data: dict[str, Any]) -> None:  # type: ignore[no-untyped-def]
    """Each loss's formula, evaluated with the numbers of a pair, gives the weight."""
    script = """
        const { Lab } = await play("lab"); const { explainPair } = await play("explain");
        const lab = new Lab(job);
        for (let step = 0; step < 20; step++) lab.step();
        const { training } = lab.sides[0];
        const answer = {};
        for (const loss of ["locality", "infonce", "supcon", "cosent", "logistic"]) {
          lab.set("loss", loss);
          const { batch } = training;
          const pairs = [batch.P[0][0], batch.N[0][0]].map((j) => explainPair(training.settings, batch, 0, j));
          answer[loss] = pairs;
        }
        return answer;
    """
    for loss, pairs in in_node(script, data).items():
        assert loss in LOSSES
        for pair in pairs:
            text = re.sub(r"\|(.*)\|", r"abs(\1)", pair["numbers"].replace("−", "-").replace("·", "*"))
            value = eval(text, {"σ": lambda x: 1 / (1 + np.exp(-x)), "abs": abs})
            assert value == pytest.approx(pair["weight"], abs=0.02, rel=0.1)


# --- training with `labkit.pairs`, autograd and Adam, in float64 -----------------------------------------------------

SCRIPT = 'return (await here("parity")).runCases((await play("training")).Training, job);'


@pytest.fixture(scope="module")
def answers(in_node) -> dict[tuple[str, str], Any]:  # type: ignore[no-untyped-def]
    return dict(zip(parity.all_cases(), in_node(SCRIPT, parity.job()), strict=True))


@pytest.mark.parametrize(("loss", "miner"), parity.all_cases())
def test_training_reproduces_torch(loss: str, miner: str, answers: dict[tuple[str, str], Any]) -> None:
    expected, found = parity.train(loss, miner), answers[loss, miner]
    np.testing.assert_allclose(found["weights"], expected.weights.ravel(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["vectors"], expected.vectors.ravel(), rtol=0, atol=1e-5)
    assert found["kept"] == expected.kept
