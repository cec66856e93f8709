"""Every statement of every scene is true of what the page shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

RUN = """
const { Lab } = await play("lab");
const { SCENES } = await play("scenes");
const R = await play("readouts");
const M = await play("metrics");
const lab = new Lab(job.data);
const scene = SCENES.find(({ name }) => name === job.scene);
lab.open(scene);
const resting = Object.keys(job.set).length && !job.early; // moved when it rests
while (resting && lab.sides[0].training.steps < scene.until) lab.step();
for (const [name, value] of Object.entries(job.set)) lab.set(name, value);
const look = () => {
  const { training } = lab.sides[0];
  const { batch } = training;
  if (job.every) return { text: R.READOUTS[scene.readout](lab.sides) };
  const { train, unseen } = M.measure(training);
  const right = lab.right && lab.sides[1].training;
  return {
    carrying: M.carrying(batch) / M.pairCounts(batch).all, pairs: M.pairCounts(batch), other: M.meanOther(batch),
    kept: R.keptShare(batch), hit: train.hit, unseen: unseen.hit,
    right: right && { hit: M.measure(right).train.hit, all: M.pairCounts(right.batch).all },
    agree: right && R.agreement(training, right),
    text: R.READOUTS[scene.readout](lab.sides),
  };
};
const seen = [look()];
const moved = lab.sides[0].training.steps; // 0 where the control begins again
for (const at of job.at) {
  while (lab.sides[0].training.steps < moved + at) { lab.step(); if (job.every) seen.push(look()); }
  if (!job.every) seen.push(look());
}
return seen;
"""
Seen = list[dict[str, Any]]
Watch = Callable[..., Seen]


@pytest.fixture
def watch(in_node, data: dict[str, Any]) -> Watch:  # type: ignore[no-untyped-def]
    """A function that returns what a scene shows at its start and after `at` steps, or after every step. Controls are
    moved when the scene has come to rest, or at once with `early`."""

    def run(scene: str, *at: int, every: bool = False, early: bool = False, **moved: Any) -> Seen:
        job = {"data": data, "scene": scene, "set": moved, "at": at, "every": every}
        job["early"] = early
        return in_node(RUN, job)

    return run


def test_temperature_decides_how_many_pairs_count(watch: Watch) -> None:
    for seen in watch("temperature", 100, 400):
        assert 0.7 < seen["carrying"] < 0.8  # "three quarters"; with equal weights it would be nine in ten
    for seen in watch("temperature", 100, 400, temperature=0.02):
        assert seen["carrying"] < 0.1  # "hardly any"
    early = watch("temperature", 400, every=True, early=True, temperature=0.02)  # moved at once, it holds at every step
    shares = [int(re.search(r"\((\d+) %\)", seen["text"])[1]) for seen in early]  # type: ignore[index]
    assert max(shares) < 25  # "less than a quarter"
    assert len(shares) == 401


def test_a_small_margin_ends_training_and_a_large_one_never_does(watch: Watch) -> None:
    start, late, end = watch("margin", 250, 300)
    assert start["pairs"]["weighing"] > 0.9 * start["pairs"]["all"]
    assert late["pairs"]["weighing"] + end["pairs"]["weighing"] <= 0.01 * 2 * end["pairs"]["all"]
    for seen in watch("margin", 150, 300, margin=2):
        assert seen["pairs"]["weighing"] == seen["pairs"]["all"]


def test_pulling_alone_collapses_all_sentences_into_one_spot(watch: Watch) -> None:
    start, end = watch("collapse", 150)
    assert start["other"] < 0.2
    assert end["other"] > 0.95
    assert end["hit"] > 0.9 > 0.5 > start["hit"]  # "hit@1 rises anyway"
    assert watch("collapse", 150, margin=0.5)[-1]["other"] < 0


def share_of_wrong(seen: Seen) -> float:
    """The share of the weight on pairs with a wrong label, as shown when the scene has come to rest."""
    return int(seen[-1]["text"].split()[-2]) / 100


def test_hard_pairs_more_often_have_wrong_labels(watch: Watch) -> None:
    hardest = share_of_wrong(watch("wrong-labels", 60, every=True))
    informative = share_of_wrong(watch("wrong-labels", 60, every=True, miner="informative"))
    everything = share_of_wrong(watch("wrong-labels", 60, every=True, miner="all"))
    assert 1 / 3 < hardest < 0.42  # "more than a third"
    assert 0.42 < informative < 0.56  # "nearly half"
    triplets = share_of_wrong(watch("wrong-labels", 60, every=True, miner="all", loss="margin-triplet"))
    assert 0.4 < triplets < 0.56  # "nearly half"
    assert 0.17 < everything < 0.25  # "their fair share, about a fifth": 1 - 0.9² of the pairs have a wrong label


def test_mining_keeps_nearly_all_pairs_at_first_and_none_at_the_end(watch: Watch) -> None:
    start, end = watch("mining", 200)
    assert 0.85 < start["kept"] < 0.95
    assert end["kept"] < 0.005
    assert 0.4 < watch("mining", 200, epsilon=1)[-1]["kept"] < 0.65


def test_a_circle_has_no_room_for_twelve_topics_and_a_sphere_has(watch: Watch) -> None:
    assert 1 / 3 < watch("circle", 300)[-1]["hit"] < 2 / 3
    assert watch("circle", 300, dimension=3)[-1]["hit"] > 0.95


def test_a_batch_of_8_needs_ten_times_the_steps_of_96(watch: Watch) -> None:
    _, early, late = watch("batch", 40, 400)
    assert (early["pairs"]["all"], early["right"]["all"]) == (28, 4560)
    assert 0.25 < early["hit"] < 0.42  # "one sentence in three"
    assert early["right"]["hit"] > 0.98
    assert late["hit"] > 0.95


def test_two_names_are_one_loss_with_a_single_positive(watch: Watch) -> None:
    assert watch("two-names", 150)[-1]["agree"] == pytest.approx(1, abs=1e-6)
    assert watch("two-names", 150, perClass=3)[-1]["agree"] < 0.99


def test_few_sentences_are_learned_by_heart(watch: Watch) -> None:
    end = watch("by-heart", 200)[-1]
    assert end["hit"] == 1
    assert end["unseen"] < 0.3
    assert 0.6 < watch("by-heart", 200, sentences=32)[-1]["unseen"] < 0.7  # "about 0.65"


def test_beta_hardly_matters_with_one_negative_per_anchor(watch: Watch) -> None:
    for seen in watch("beta", 50, 100, 200):
        assert seen["agree"] > 0.985
    assert watch("beta", 50, miner="all")[-1]["agree"] < 0.96


def test_the_first_steps_are_measured_one_by_one(in_node, data: dict[str, Any]) -> None:  # type: ignore[no-untyped-def]
    script = """
    const { Lab } = await play("lab");
    const lab = new Lab(job);
    for (let at = 0; at < 65; at++) lab.step();
    return lab.sides[0].history.map(({ step }) => step);
    """
    assert in_node(script, data) == [*range(41), 50, 60]


def test_the_number_below_the_slider_is_the_measured_share(watch: Watch) -> None:
    (start,) = watch("temperature")
    count, _, pairs = start["text"].split()[:3]
    assert int(count) / int(pairs) == pytest.approx(start["carrying"])
