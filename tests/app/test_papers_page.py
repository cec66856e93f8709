"""The place "Papers" without a browser: the cards with their verdicts, and the tables as printed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from labkit.papers.bundled_report import JudgedClaim, beside
from labkit.papers.published import PAPERS, tables

from .conftest import Opened, RunCode, charts, figure, fine, texts


def test_each_card_shows_the_verdict_of_its_claim_and_its_tables_are_one_click_away(opened: Opened) -> None:
    page = fine(opened("papers_page").run())
    from papers_cards import CARDS, VERDICTS

    assert len(page.get("plotly_chart")) == len(CARDS) == 5
    for name, card in CARDS.items():
        claim = next(claim for claim in beside()[card.table].claims if claim.text == card.judged)
        colour, verdict = VERDICTS["not measured" if claim.asked_here else claim.ours]  # our variant is no paper's
        assert claim.decides.partition(":")[0] in texts(page)
        assert re.search(rf"{card.title} :{colour}-badge\[{verdict}(\]|: )", texts(page))
        drawn = next(chart for chart in page.get("plotly_chart") if chart.proto.alt.startswith(card.title))
        assert all(row[:30] in drawn.proto.spec for row in card.rows), name
    fine(page.button(key="tables-film").click().run())
    assert page.query_params["paper"] == "FILM"
    assert page.selectbox(key="film-table").value.startswith("film/")


def test_try_it_opens_the_panel_of_its_card_and_close_takes_it_away(opened: Opened) -> None:
    page = fine(opened("papers_page").run())
    assert not charts(page)
    fine(page.button(key="try-sbert-lp").click().run())
    assert page.selectbox(key="corpus").value == "relatedness"
    fine(page.slider(key="k").set_value(6).run())
    assert page.query_params["try"] == "sbert-lp"
    fine(page.button(key="close-panel").click().run())
    fine(page.button(key="try-film").click().run())  # which has a k of its own, and another corpus
    assert page.selectbox(key="corpus").value == "questions"
    assert re.search(rf"dev\b.*\b{page.slider(key='film-k').value}\b", texts(page))  # the k that dev chose
    fine(page.button(key="close-panel").click().run())
    assert not charts(page)
    assert "try" not in page.query_params


def test_the_result_of_a_claim_is_its_lead_in_points_and_an_undecided_one_lacks_something(
    opened: Opened,
) -> None:
    fine(opened("papers_page").run())
    from papers_cards import CLOSE, LEAD, SEEDS, claims_of, missing_of, result_of

    every = [pair for paper in PAPERS for asked in (False, True) for pair in claims_of(paper, asked_here=asked)]
    leads = [(claim, table) for claim, table in every if claim.after and LEAD.match(claim.ours_why)]
    assert len(leads) > 5
    for claim, table in leads:
        found = LEAD.match(claim.ours_why)
        if (found["column"], found["row"], found["other"]) != (claim.after.column, claim.after.row, claim.after.other):
            continue  # the judged columns have another pair than those that both settings share
        scale = next(column.scale for column in table.table.columns if column.name == found["column"])
        ends = sorted(abs(end) * 100 / scale for end in (claim.after.low, claim.after.high))
        said = result_of(claim, table)
        assert "points" not in said or table.name != "film/3"  # whose column is minutes
        assert not re.search(r"-0\.0\b", said)  # an end that is below 0, but how far?
        assert {found["row"], found["other"]} <= {name for name in table.rows if name in said}
        if "points" in said:
            lead, *told = (
                float(number) for number in re.findall(r"(?<= is )[\d.]+|-?[\d.]+(?= to )|(?<= to )-?[\d.]+", said)
            )
            assert lead == pytest.approx(abs(claim.after.lead) * 100 / scale, abs=0.1)
            assert sorted(map(abs, told)) == pytest.approx(ends, abs=0.1)
            assert ("ahead of" in said) == (claim.after.lead > 0)
    for claim, _ in every:
        lead, missing = LEAD.match(claim.ours_why), missing_of(claim)
        assert bool(missing) == (claim.ours == "open"), claim.text
        if missing == CLOSE:
            assert float(lead["low"]) <= 0 <= float(lead["high"])
        elif missing:
            assert missing == SEEDS or float(lead["low"]) * float(lead["high"]) > 0
    faster = next(result_of(claim, table) for claim, table in every if claim.text.startswith("FILM is trained faster"))
    assert "0.68 minutes faster than deep twin" in faster


@pytest.mark.parametrize(
    ("why", "missing"),
    [
        ("(+0.1 [+0.05, +0.15]); 3 seeds, expected 5", "SEEDS"),
        ("(+0.1 [-0.05, +0.25]); 3 seeds, expected 5", "SEEDS"),
        ("(+0.1 [-0.05, +0.25])", "CLOSE"),
        ("(+0.1 [+0.05, +0.15]); without SIF", "METHODS"),
        ("(-0.1 [-0.15, -0.05]); without SIF", "MORE"),  # a missing method is not why it is behind
        ("(-0.1 [-0.15, -0.05]); holds in none of 2 columns", "MORE"),
    ],
)
def test_an_undecided_claim_says_what_it_lacks(opened: Opened, why: str, missing: str) -> None:
    opened("papers_page")
    import papers_cards
    from papers_cards import badge_of

    claim = JudgedClaim("a leads b", "confirmed", "", "open", f"accuracy: a 0.6 against b 0.5 {why}")
    assert getattr(papers_cards, missing) in badge_of(claim)
    assert badge_of(replace(claim, ours="confirmed")) == ":green-badge[Holds]"


def test_a_paper_keeps_its_leads_before_and_after_tuning_and_what_it_says_about_itself(opened: Opened) -> None:
    page = fine(opened("papers_page", paper="FILM").run())
    leads = figure(page, 1)["data"]
    assert [trace["name"] for trace in leads] == ["as printed", "tuned"]
    assert all(observation.text[:40] in texts(page) for observation in PAPERS["film"].observations)


def test_the_code_of_a_table_makes_its_picture(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("papers_page", paper="Thematic").run())
    assert [len(trace["x"]) for trace in figure(page)["data"]] == [len(trace.x) for trace in run_code(page)[0].data]


def test_a_papers_table_is_as_printed_with_ours_beside_it(opened: Opened) -> None:
    table = next(table for table in tables() if table.name == "film/1")
    page = fine(opened("papers_page", paper="FILM", **{"film-table": "film/1"}).run())
    fine(page.selectbox(key="film-table").set_value("film/1").run())
    shown = page.dataframe[0].value
    assert list(shown["row"]) == [row.name for row in table.rows]
    for place, column in enumerate(table.columns):
        printed = [row.published[place] for row in table.rows]
        assert [None if value != value else value for value in shown[f"{column.name}, paper"]] == printed
    ours = dict(zip(shown["row"], shown["accuracy, ours"], strict=True))
    by_row = {figure.row: figure for figure in beside()["film/1"].figures}
    mean, _, interval = ours["FILM, as printed"].partition(" [")
    assert float(mean) == pytest.approx(by_row["FILM, as printed"].mean, abs=0.005)
    low = interval.partition(",")[0]
    assert len(mean.partition(".")[2]) == len(low.partition(".")[2]) == 2  # as many decimals
    assert ours["all-MiniLM-L6-v2 (ours)"].endswith(" *")  # seen in training
    assert ours["L.D.C."] == "–"
    page = fine(opened("papers_page", paper="Explanations").run())
    shown = next(each.value for each in page.dataframe if "detail, ours" in each.value).set_index("row")["detail, ours"]
    kept = beside()["why/questions"].at("TF-IDF, exact", "detail")
    assert shown["TF-IDF, exact"] == f"{kept.mean:#.4g} [{kept.interval[0]:.4f}, {kept.interval[1]:.4f}]"
