"""The place "Papers" without a browser: the cards with their verdicts, and the tables as printed."""

from __future__ import annotations

import re
from itertools import product

import pytest

from labkit.papers.bundled_report import beside
from labkit.papers.published import PAPERS, tables
from labkit.papers.reports import result_of

from .conftest import Opened, RunCode, charts, figure, fine, texts


def test_each_card_shows_the_verdict_of_its_claim_and_its_tables_are_one_click_away(opened: Opened) -> None:
    page = fine(opened("papers_page").run())
    from papers_cards import CARDS, VERDICTS

    assert len(page.get("plotly_chart")) == len(CARDS) == 5
    for name, card in CARDS.items():
        claim = next(claim for claim in beside()[card.table].claims if claim.text == card.judged)
        assert not claim.asked_here  # our variant has a line of its own
        colour, verdict = VERDICTS[claim.ours.verdict]
        assert f"{card.title} :{colour}-badge[{verdict}]" in texts(page)
        drawn = next(chart for chart in page.get("plotly_chart") if chart.proto.alt.startswith(card.title))
        assert all(row[:30] in drawn.proto.spec for pair in card.pairs for row in pair), name
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


def test_the_result_of_a_claim_is_its_lead_with_its_sign_and_its_interval_in_one_unit(opened: Opened) -> None:
    fine(opened("papers_page").run())
    from papers_cards import claims_of

    every = []
    for paper, asked in product(PAPERS, (False, True)):
        every += (mine := claims_of(paper, asked_here=asked))
        assert all(claim.asked_here is asked for claim, _ in mine)
    for claim, table in every:
        result, lead = result_of(claim, table.table), claim.ours.lead
        assert ("Undecided" in result) == (claim.ours.verdict == "open"), claim.text
        if lead is None:
            continue
        assert {lead.row, lead.other} <= {name for name in table.rows if name in result}
        said = [float(number) for number in re.findall(r"[+-][\d.]+(?:e[+-]\d+)?(?=[ ,)])", result.partition(": ")[2])]
        scale = next(column.scale for column in table.table.columns if column.name == lead.column)
        times = 100 if lead.share else 100 / scale if "points" in result else 1
        ends = (lead.lead,) if lead.alone else (lead.lead, lead.low, lead.high)
        assert said[: len(ends)] == pytest.approx([times * end for end in ends], rel=0.01, abs=0.0501), result
    faster = next(
        result_of(claim, table.table) for claim, table in every if claim.text.startswith("FILM is trained faster")
    )
    assert re.search(r"over deep twin: \+0\.6\d+ minutes", faster)


def test_a_paper_says_what_it_says_about_itself(opened: Opened) -> None:
    page = fine(opened("papers_page", paper="FILM").run())
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
    assert ours["all-MiniLM-L6-v2 (ours)"].endswith("*")  # seen in training
    assert ours["L.D.C."] == "–"
    page = fine(opened("papers_page", paper="Explanations").run())
    shown = next(each.value for each in page.dataframe if "detail, ours" in each.value).set_index("row")["detail, ours"]
    kept = beside()["why/questions"].at("TF-IDF, exact", "detail")
    said = [float(number) for number in re.findall(r"[\d.]+", shown["TF-IDF, exact"])]
    assert said == pytest.approx([kept.mean, *kept.interval], abs=0.005)
