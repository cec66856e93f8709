"""The page's losses, miners and optimiser against `labkit.pairs` by autograd and torch's Adam, both in float64."""

from __future__ import annotations

from typing import Any

import pytest

from . import parity
from .conftest import HERE

SCRIPT = 'return (await here("parity")).runCases((await play("training")).Training, job);'


@pytest.fixture(scope="module")
def answers(in_node) -> dict[tuple[str, str], Any]:  # type: ignore[no-untyped-def]
    return dict(zip(parity.all_cases(), in_node(SCRIPT, parity.job()), strict=True))


@pytest.mark.parametrize(("loss", "miner"), parity.all_cases())
def test_training_repeats_torch(loss: str, miner: str, answers: dict[tuple[str, str], Any]) -> None:
    found = parity.difference(parity.train(loss, miner), answers[loss, miner])
    assert found.weights < 1e-9
    assert found.vectors < 1e-5
    assert found.switched == 0


@pytest.mark.whole
def test_training_in_the_browser_repeats_torch(address: str, opened) -> None:  # type: ignore[no-untyped-def]
    seen = opened(address)
    source = (HERE / "parity.mjs").read_text("utf-8").replace("export function", "function")
    script = f"job => {{ {source} return runCases(play.lab.sides[0].training.constructor, job); }}"
    for case, answer in zip(parity.all_cases(), seen.view.evaluate(script, parity.job()), strict=True):
        found = parity.difference(parity.train(*case), answer)
        assert (found.weights < 1e-9, found.vectors < 1e-5, found.switched) == (True, True, 0), case
    assert seen.complaints == []
