"""The page "Papers" without a browser: cards with verdicts, claims and the printed tables."""

from __future__ import annotations

import re
from html import escape
from itertools import product
from types import SimpleNamespace

import pytest

from labkit.papers.bundled_report import Figure, TableResult, beside
from labkit.papers.claims import ShownLead
from labkit.papers.published import PAPERS, tables
from labkit.papers.records import Column, Row, Table
from labkit.papers.reports import result_of, said

from .conftest import Opened, RunCode, charts, figure, fine, texts


def test_each_card_shows_the_verdict_of_its_claim_and_its_claims_and_tables_are_a_click_away(opened: Opened) -> None:
    page = fine(opened("papers_page").run())
    from papers_claims import CARDS, VERDICTS

    drawn = [element.proto.body for element in page.get("html") if "labkit-lead" in element.proto.body]
    for card in CARDS.values():
        claim = next(claim for claim in beside()[card.table].claims if claim.text == card.judged)
        assert card.limit or not claim.asked_here  # the badge says if the claim is not the paper's own
        colour, verdict = VERDICTS[claim.ours.verdict]
        assert f"{card.title} :{colour}-badge[{' '.join((verdict, card.limit)).strip()}]" in texts(page)
        lead = claim.ours.lead
        assert sum(escape(f"{lead.row} over {lead.other}, {lead.column}") in line for line in drawn) == 1
    assert len(drawn) == len(CARDS) == 5
    fine(page.button(key="tables-film").click().run())
    assert page.query_params["paper"] == "FILM"
    fine(page.segmented_control(key="show").set_value("Tables").run())
    assert page.selectbox(key="film-table").value.startswith("film/")


def test_the_panel_of_a_paper_opens_on_its_corpus_and_another_view_takes_it_away(opened: Opened) -> None:
    page = fine(opened("papers_page").run())
    assert not charts(page)
    fine(page.button(key="try-sbert-lp").click().run())
    assert page.selectbox(key="corpus").value == "relatedness"
    fine(page.slider(key="k").set_value(6).run())
    assert (page.query_params["paper"], page.query_params["show"]) == ("SBERT-LP", "Try it")
    fine(page.segmented_control(key="paper").set_value("FILM").run())  # it has its own k and another corpus
    assert page.segmented_control(key="show").value == "Try it"
    assert page.selectbox(key="corpus").value == "questions"
    assert re.search(rf"dev\b.*\b{page.slider(key='film-k').value}\b", texts(page))  # the k chosen on dev
    fine(page.segmented_control(key="paper").set_value("SentPWNet").run())  # which has no panel
    assert page.segmented_control(key="show").value == "Claims"
    fine(page.segmented_control(key="paper").set_value("All papers").run())
    assert not charts(page)
    assert not {"show", "corpus", "try"} & {*page.query_params}


def test_an_old_address_opens_the_panel_of_its_paper(opened: Opened) -> None:
    page = fine(opened("papers_page?try=sbert-lp").run())
    assert page.segmented_control(key="paper").value == "SBERT-LP" == page.query_params["paper"]
    assert page.segmented_control(key="show").value == "Try it" == page.query_params["show"]
    assert page.selectbox(key="corpus").value == "relatedness"
    assert "try" not in page.query_params


def test_an_old_address_opens_its_table(opened: Opened) -> None:
    page = fine(opened("papers_page", paper="FILM", **{"film-table": "Table 2"}).run())
    assert page.selectbox(key="film-table").value == "film/2"


@pytest.mark.parametrize("address", [{"paper": "SentPWNet", "show": "Try it"}, {"try": "x"}])
def test_the_address_of_a_missing_panel_opens_the_page(opened: Opened, address: dict[str, str]) -> None:
    assert not charts(fine(opened("papers_page", **address).run()))


PLACE = re.compile(r"<b class=labkit-(paper|ours) style='left:([\d.]+)%'>")
ENDS = re.compile(r"<i style='left:([\d.]+)%;right:([\d.]+)%'>")


def test_a_lead_is_drawn_around_0(opened: Opened) -> None:
    """Hand-computed: with errors 0.3 and 0.2, the first is behind by 0.1; 92 % of the line span -0.15 to +0.1."""
    fine(opened("papers_page").run())
    from papers_claims import lead_line, scales_of

    rows = tuple(Row(name, (printed,), why_not="not run here") for name, printed in (("a", 0.1), ("b", 0.2)))
    table = Table("film", "1", "", (Column("error", "error", "questions", larger=False),), rows)
    result = TableResult(table, tuple(Figure(row.name, "error", row.published[0]) for row in rows))
    own = ShownLead("error", "a", "b", 0.3, 0.2, -0.1, -0.15, 0.05)
    claim = SimpleNamespace(ours=SimpleNamespace(lead=own), paper=None)
    line = lead_line(claim, result, scales_of([(claim, result)]))
    assert PLACE.findall(line) == [("paper", "96.0"), ("ours", "22.4")]
    assert ENDS.findall(line) == [("4.0", "22.4")]
    assert re.findall(r"[+−][\d.]+", line.partition("</div>")[2]) == ["+0.1", "−0.1", "−0.15", "+0.05"]


def test_each_claim_is_a_row_with_its_verdict_and_reason_those_not_tested_last(opened: Opened) -> None:
    page = fine(opened("papers_page", paper="SentPWNet").run())
    from papers_claims import VERDICTS, claims_of, sentence, tally

    places = {words: place for place, (_, words) in enumerate(VERDICTS.values())}
    rows = [(re.match(r":\w+-badge\[([^]]+)\]", text.value), text) for text in page.markdown if text.help]
    for asked in (False, True):
        claims = claims_of("sentpwnet", asked_here=asked)
        mine, rows = rows[: len(claims)], rows[len(claims) :]
        order = [places[verdict[1]] for verdict, _ in mine]
        assert order == sorted(order)
        assert tally(claims) in texts(page)
        for claim, table in claims:
            assert any(
                sentence(claim.text) in text.value
                and re.sub(r"\\(.)", r"\1", text.help).startswith(result_of(claim, table))
                for _, text in mine
            )
    assert not rows


def test_the_reason_of_a_claim_has_the_lead_with_the_printed_settings(opened: Opened) -> None:
    page = fine(opened("papers_page", paper="FILM").run())
    for claim in beside()["film/1"].claims:
        before = said(claim.before, beside()["film/1"].table)
        assert before in re.sub(r"\\(.)", r"\1", "".join(text.help for text in page.markdown))


def test_a_claim_is_incomplete_where_seeds_or_rows_are_missing_and_undecided_where_the_scores_are_close() -> None:
    from papers_claims import verdict_of

    def found(verdict: str, low: float, *, absent: tuple[str, ...] = (), seeds: int = 0) -> str:
        lead = SimpleNamespace(low=low)
        return verdict_of(SimpleNamespace(ours=SimpleNamespace(verdict=verdict, lead=lead, absent=absent, seeds=seeds)))

    assert found("open", -0.1) == found("open", -0.1, absent=("InferSent",)) == "open"
    assert found("open", 0.1, absent=("InferSent",)) == found("open", 0.1, seeds=3) == "incomplete"
    assert found("confirmed", 0.1, absent=("InferSent",)) == "confirmed"


WAYS = {"ahead": 1, "behind": -1, "faster": 1, "slower": -1, "lower": 1, "higher": -1}  # the better of two words first
LEAD = re.compile(  # way, size and interval in a sentence without the other row; the ends may share a way
    r"(\w+)(?: of| than)? by ([\d.]+)(?: %| points| minutes)? \((?:.*?95 %: ([\d.]+)(?: ([a-z]+))? to ([\d.]+) (\w+))?"
)


def signed(size: str | None, way: str) -> float:
    """The number with the sign of its word; 0 for a missing one."""
    return WAYS[way] * float(size) if size else 0.0


def test_the_result_of_a_claim_is_its_lead_with_its_sign_and_its_interval_in_one_unit(opened: Opened) -> None:
    fine(opened("papers_page").run())
    from papers_claims import claims_of

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


def test_the_code_of_a_table_makes_its_picture(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("papers_page", paper="Thematic", show="Tables").run())
    assert [len(trace["x"]) for trace in figure(page)["data"]] == [len(trace.x) for trace in run_code(page)[0].data]


def test_a_table_has_the_printed_values_next_to_ours(opened: Opened) -> None:
    table = next(table for table in tables() if table.name == "film/1")
    page = fine(opened("papers_page", paper="FILM", show="Tables", **{"film-table": "film/1"}).run())
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
    assert len(mean.partition(".")[2]) == len(low.partition(".")[2]) == 2  # with equally many decimals
    assert ours["all-MiniLM-L6-v2 (ours)"].endswith("*")  # seen in training
    assert ours["L.D.C."] == "–"
    page = fine(opened("papers_page", paper="Explanations", show="Tables").run())
    shown = next(each.value for each in page.dataframe if "detail, ours" in each.value).set_index("row")["detail, ours"]
    kept = beside()["why/questions"].at("TF-IDF, exact", "detail")
    said = [float(number) for number in re.findall(r"[\d.]+", shown["TF-IDF, exact"])]
    assert said == pytest.approx([kept.mean, *kept.interval], abs=0.005)
