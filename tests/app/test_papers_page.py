"""The place "Papers" without a browser: the cards with their verdicts, and the tables as printed."""

from __future__ import annotations

import re
from itertools import product

import pytest

from labkit.papers.bundled_report import beside
from labkit.papers.published import PAPERS, tables
from labkit.papers.reports import result_of

from .conftest import Opened, RunCode, charts, figure, fine, numbers, texts


def test_each_card_shows_the_verdict_of_its_claim_and_its_tables_are_one_click_away(opened: Opened) -> None:
    page = fine(opened("papers_page").run())
    from papers_cards import CARDS, VERDICTS

    assert len(page.get("plotly_chart")) == len(CARDS) == 5
    for name, card in CARDS.items():
        claim = next(claim for claim in beside()[card.table].claims if claim.text == card.judged)
        assert claim.asked_here == bool(card.limit)  # the badge says that it is not on the paper's own claim
        colour, verdict = VERDICTS[claim.ours.verdict]
        assert f"{card.title} :{colour}-badge[{' '.join((verdict, card.limit)).strip()}]" in texts(page)
        drawn = next(chart for chart in page.get("plotly_chart") if chart.proto.alt.startswith(card.title))
        decides = claim.ours.lead.row, claim.ours.lead.other
        assert all(row[:25] in drawn.proto.spec for pair in (*card.also, decides) for row in pair), name
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


WAYS = {"ahead": 1, "behind": -1, "faster": 1, "slower": -1, "lower": 1, "higher": -1}  # of two words, the better first
LEAD = re.compile(  # of a sentence without the other row: way, size, and the interval, whose ends may share a way
    r"(\w+)(?: of| than)? by ([\d.]+)(?: %| points| minutes)? \((?:.*?95 %: ([\d.]+)(?: ([a-z]+))? to ([\d.]+) (\w+))?"
)


def signed(size: str | None, way: str) -> float:
    """The number with the sign of its word; 0 for a missing one."""
    return WAYS[way] * float(size) if size else 0.0


def test_the_result_of_a_claim_is_its_lead_with_its_sign_and_its_interval_in_one_unit(opened: Opened) -> None:
    fine(opened("papers_page").run())
    from papers_cards import claims_of

    every = []
    for paper, asked in product(PAPERS, (False, True)):
        every += (mine := claims_of(paper, asked_here=asked))
        assert all(claim.asked_here is asked for claim, _ in mine)
    for claim, table in every:
        result, lead = result_of(claim, table), claim.ours.lead
        assert ("undecided" in result) == (claim.ours.verdict == "open"), claim.text
        if lead is None:
            continue
        assert {lead.row, lead.other} <= {name for name in table.rows if name in result}
        sentence = result.partition(f"“{lead.row}” is ")[2].partition("). ")[0]
        way, size, low, low_way, high, high_way = LEAD.match(sentence.replace(f"“{lead.other}” ", "")).groups()
        said = [signed(size, way), *sorted((signed(low, low_way or high_way), signed(high, high_way)))][
            : 3 if high else 1
        ]
        scale = next(column.scale for column in table.table.columns if column.name == lead.column)
        times = 100 if lead.share else 100 / scale if "points" in result else 1
        ends = (lead.lead,) if lead.alone else (lead.lead, lead.low, lead.high)
        assert said == pytest.approx([times * end for end in ends], rel=0.01, abs=0.0501), result
    faster = next(result_of(claim, table) for claim, table in every if claim.text.startswith("FILM is trained faster"))
    assert re.search(r"faster than “deep twin” by 0\.6\d+ minutes", faster)


def test_a_card_says_which_claims_the_papers_own_scores_contradict(opened: Opened) -> None:
    page = fine(opened("papers_page").run())
    from papers_cards import CARDS, claims_of, tally

    against = {}
    for name, card in CARDS.items():
        claims = claims_of(name, asked_here=False)
        against[name] = sum(claim.paper.verdict == "not confirmed" for claim, _ in claims)
        assert tally(claims) in texts(page)
        assert (f" {against[name]} of them" in tally(claims)) == bool(against[name]), name
        judged = next(claim for claim in beside()[card.table].claims if claim.text == card.judged)
        assert ("contradict the claim" in result_of(judged, beside()[card.table])) == judged.contradicted
    assert (against["sentpwnet"], against["thematic"], against["pthought"]) == (3, 1, 0)
    assert next(claim for claim, _ in claims_of("sbert-lp", asked_here=False)).contradicted


def test_a_paper_shows_its_leads_before_and_after_tuning(opened: Opened) -> None:
    page = fine(opened("papers_page", paper="FILM", **{"film-table": "film/1"}).run())
    leads = beside()["film/1"].leads
    before, after = next(
        figure(page, place)["data"] for place, chart in enumerate(charts(page)) if "tuning" in chart.proto.alt
    )
    assert leads
    for drawn, place in ((before, 1), (after, 2)):
        assert numbers(drawn["x"]).tolist() == pytest.approx([lead[place].lead for lead in leads])


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
