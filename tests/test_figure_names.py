"""Metrics have names in words, and no two have the same."""

from __future__ import annotations

from labkit.figure_names import spoken
from labkit.runs import read_run
from labkit.shipped import DEMONSTRATIONS


def test_names_by_hand() -> None:
    names = {"knn_accuracy": "kNN accuracy", "dev_hit@1": "Hit@1 on dev", "a_new_one": "a new one"}
    assert {name: spoken(name) for name in names} == names


def test_no_two_metrics_of_a_run_have_the_same_name() -> None:
    for shipped in DEMONSTRATIONS.values():
        run = read_run(shipped.folder)
        metrics = {metric for each in run.metrics.values() for metric in each} | set(run.history.columns)
        assert len({spoken(metric) for metric in metrics}) == len(metrics)
