"""What another test set would bring: by hand, against a simulation, and in the judgement of a claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labkit.corpora import Labelled, load
from labkit.evaluation.comparison import Parts
from labkit.lab.papers.cells import plan, run
from labkit.lab.papers.claims import Claim
from labkit.lab.papers.data import DataAtHand, Desk, _partnered
from labkit.lab.papers.records import Column, Row
from labkit.lab.papers.reports import as_markdown, reported
from labkit.lab.papers.results import EARLIER, SEEN, _interval, cases_of, result, sampling
from labkit.lab.papers.store import CellStore
from labkit.lab.papers.stored import Figure
from tests.lab.papers.fakes import PAPERS, TABLE, recipe


def test_by_hand() -> None:
    assert sampling("accuracy", 0.7, 2_100) == pytest.approx(0.01)  # .21 / 2,100 = .0001
    assert sampling("pearson", 0.6, 1_600) == pytest.approx(0.016)  # .64 / 40
    assert sampling("spearman 2012", 0.6, 1_603) == pytest.approx(0.64 * 1.18**0.5 / 40)
    assert sampling("ratio", 0.6, 1_600) == 0
    assert sampling("accuracy", 0.7, 0) == 0


def test_cases_are_what_is_scored() -> None:
    opened = DataAtHand("places", True, {"train": 9, "test": 3_977}, "", lambda: load("places"), partnered=1_700)
    assert cases_of(Column("Hit@1", "hit@1", "places"), opened) == 1_700  # the others have no partner to be found
    assert cases_of(Column("accuracy", "accuracy", "places"), opened) == 3_977
    assert cases_of(Column("STS 2012", "spearman 2012", "sts", cases=3_108), opened) == 3_108
    assert cases_of(Column("a", "triplet_accuracy", "articles"), opened) == 0  # 89 articles, thousands of triplets


def test_who_is_alone_in_a_class_has_no_partner() -> None:
    labels, splits = ["x", "x", "y", "z", "z", "z", "y"], ["test"] * 6 + ["train"]
    assert _partnered(Labelled(list("abcdefg"), labels, splits=splits)) == 5  # y has one of it in test
    assert _partnered(load("relatedness")) == 0


def test_queries_with_a_partner_are_counted_once(tmp_path: Path) -> None:
    desk = Desk(memo=tmp_path)
    test = load("places").part("test")
    assert isinstance(test, Labelled)
    expected = sum(test.labels.count(label) > 1 for label in test.labels)
    for again in (desk, Desk(memo=tmp_path)):  # from the corpus, and from the memo
        assert again.open("places", published=False).partnered == expected
    assert 0 < expected <= len(test)
    assert desk.open("stsb", published=False).partnered == 0


def test_share_against_a_simulation() -> None:
    drawn = np.random.default_rng(0).binomial(1_066, 0.63, 20_000) / 1_066
    assert sampling("hit@1", 0.63, 1_066) == pytest.approx(drawn.std(), rel=0.03)


def test_correlation_against_a_simulation() -> None:
    x, noise = np.random.default_rng(0).normal(size=(2, 5_000, 400))
    y = 0.6 * x + 0.8 * noise
    drawn = [np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)]
    assert sampling("pearson", 0.6, 400) == pytest.approx(np.std(drawn), rel=0.05)


@pytest.mark.parametrize(("lead", "verdict"), [(0.0001, "inside the spread"), (0.2, "confirmed")])
def test_rows_without_chance_can_tie(desk: Desk, store: CellStore, lead: float, verdict: str) -> None:
    rows = tuple(
        Row(name, (None, None), recipe(name, level, random=False)) for name, level in (("a", 0.6 + lead), ("b", 0.6))
    )
    claims = (Claim("a leads b", ("a",), ("b",), ("accuracy",)),)
    planned = plan(replace(TABLE, rows=rows, claims=claims), desk, 3)
    made = run(planned.cells, store)
    for name, known in made.known.items():  # as they were before single scores were kept
        made.known[name] = replace(known, parts={}, earlier=True)
    found = result(planned, made)
    assert found.earlier and EARLIER in found.notes  # noqa: PT018
    assert found.at("a", "accuracy").ours.spread == 0  # type: ignore[union-attr]
    (claim,) = found.claims
    assert claim.ours == verdict


def test_the_interval_of_a_share_against_the_formula_and_within_its_units() -> None:
    """40 units of 100 items: as good as 4,000 single ones, sqrt(p (1 - p) / 4000) wide each way, times Student's t."""
    right = np.random.default_rng(0).binomial(100, 0.3, 40).astype(float)
    low, high = _interval([Parts(right, np.full(40, 100.0))])
    share = right.sum() / 4_000
    half = 2.0227 * (right / 100).std(ddof=1) / 40**0.5  # t of 39 degrees, and the error of a mean by hand
    assert (low, high) == pytest.approx((share - half, share + half), rel=0.02)
    nearly_all = np.array([1.0] * 19 + [0.0])
    assert _interval([Parts(nearly_all, np.ones(20))])[1] == 1.0
    one, two = (Parts(np.array([value]), np.ones(1)) for value in (1.0, 2.0))  # no units: over seeds alone
    assert _interval([one, two]) == pytest.approx((1.5 - 12.706 * 0.5, 1.5 + 12.706 * 0.5), rel=1e-3)


def test_a_table_with_intervals_writes_and_reads_them(desk: Desk, store: CellStore) -> None:
    planned = plan(replace(TABLE, intervals=True), desk, 5)
    found = result(planned, run(planned.cells, store))
    figure = found.at("ours", "accuracy")
    assert figure.interval[0] < figure.mean < figure.interval[1]
    assert Figure.from_json("ours", figure.to_json()).interval == figure.interval
    said = as_markdown(reported("labkit reproduce", [found], PAPERS))
    bounds = [f"{bound:.3f}".removeprefix("0") for bound in figure.interval]
    assert f"| .820 [{bounds[0]}, {bounds[1]}] (.900) |" in said
    assert (
        "mean over 5 seeds [95 % interval over seeds and test items]; of what has nothing random in it, one run" in said
    )
    assert "interval" not in Figure("ours", "accuracy", 0.9).to_json()


def test_a_figure_and_its_noise_are_in_the_unit_of_the_column_and_what_is_counted_in_none(
    desk: Desk, store: CellStore
) -> None:
    percent, made = replace(TABLE.columns[0], scale=100.0), recipe("plain", 0.6, random=False)
    rows = (Row("share", (None,), made), Row("number", (None,), made, counted=True))
    planned = plan(replace(TABLE, columns=(percent,), rows=rows, claims=()), desk, 1)
    found = result(planned, run(planned.cells, store))
    share, number = (found.at(row.name, "accuracy") for row in rows)
    cases = desk.open("stsb", published=False).sizes["test"]
    assert (share.mean, share.noise) == pytest.approx((60, 100 * sampling("accuracy", 0.6, cases)))
    assert number.mean == pytest.approx(0.6)


def test_a_column_has_the_figures_of_its_own_data(desk: Desk, store: CellStore) -> None:
    columns = tuple(Column(name, "rows", name) for name in ("stsb", "trec"))
    planned = plan(replace(TABLE, columns=columns, claims=()), desk, 1)
    found = result(planned, run(planned.cells, store))
    lengths = [len(desk.open(name, published=False).corpus) for name in ("stsb", "trec")]
    assert [found.at("ours", column.name).mean for column in columns] == lengths
    assert lengths[0] != lengths[1]


def test_three_seeds_are_enough_for_what_was_computed_earlier(desk: Desk, store: CellStore) -> None:
    planned = plan(TABLE, desk, 3)
    computed = run(planned.cells, store)
    for name in [cell.fingerprint for cell in planned.parts[0].cells]:  # the other row was computed anew
        computed.known[name] = replace(computed.known[name], parts={}, earlier=True, commit="first")
    found = result(planned, computed)
    assert found.claims[0].ours == "confirmed"
    assert "first" in found.commits
    del computed.known[planned.cells[-1].fingerprint]
    assert result(planned, computed).claims[0].ours == "too few seeds"


def test_what_no_claim_names_does_not_say_how_claims_are_judged(desk: Desk, store: CellStore) -> None:
    aside = Row("aside", (None, None), recipe("aside", 0.4))
    planned = plan(replace(TABLE, rows=(*TABLE.rows, aside)), desk, 5)
    computed = run(planned.cells, store)
    (part,) = (part for part in planned.parts if part.row == aside)
    for cell in part.cells:
        computed.known[cell.fingerprint] = replace(computed.known[cell.fingerprint], parts={}, earlier=True)
    found = result(planned, computed)
    assert found.at("aside", "accuracy").earlier
    assert not found.earlier
    assert EARLIER not in found.notes


@pytest.mark.parametrize("published", [True, False])
def test_a_method_met_texts_in_training_only_as_they_are_published(
    desk: Desk, store: CellStore, published: bool
) -> None:
    planned = plan(replace(TABLE, rows=(replace(TABLE.rows[0], seen=("stsb",)), *TABLE.rows[1:])), desk, 5)
    computed = run(planned.cells, store)
    data = replace(planned.cells[0].data, published=published)
    parts = (replace(part, cells=tuple(replace(cell, data=data) for cell in part.cells)) for part in planned.parts)
    found = result(replace(planned, parts=tuple(parts)), computed)
    assert found.at("ours", "accuracy").why == (SEEN if published else "")
    assert found.claims[0].ours == ("not measured" if published else "confirmed")
