"""Wikitext by hand: what is running text, what is not, and markup that was never closed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.thematic import wikipedia
from labkit.thematic.wikipedia import article_of

PAGE = """{{Infobox mill|name='''Mill'''|built={{start date|1850}}}}
__NOTOC__
The '''Mill''' is a [[wind mill|mill]] of 5&nbsp;km<ref name="a">Weaver ([[Mill]]). ''On mills''. 1901.</ref> by
the [[river]]<!-- which one? -->, built {{circa|1850}} by [http://example.org a miller].<ref name="a" />

[[File:Mill.jpg|thumb|The [[mill]] in 1900]]
It has {{convert|20|m|ft}} of H<sub>2</sub>O (<small>see below</small>).
{| class="wikitable"
! Year !! Mills
|-
| 1850 || 1
|}

== History ==
* one item
* another ''item''
: a reply
# a number

<gallery>
A.jpg|One
</gallery>

A {{lang|fr|moulin}} stood ({{IPA|x}}) here.<br />It <math>x^2</math> burned.
=== Fire of ''1901'' ===
Text below.

[[Category:Mills]]
== See also ==
"""


def paragraphs(text: str) -> list[str]:
    return [paragraph for section in article_of("T", text)[0].sections for paragraph in section.paragraphs]


def test_a_page() -> None:
    article, lost = article_of("Mill", PAGE)
    lead, history, fire, also = article.sections
    assert lead.paragraphs == (
        "The Mill is a mill of 5 km by the river, built c. 1850 by a miller.",
        "It has 20 m of H2O (see below).",
    )
    assert (lead.title, lead.level, lead.top) == ("", 1, "")
    assert history.paragraphs == ("A moulin stood here. It burned.",)
    assert (history.title, history.level, history.top) == ("History", 2, "History")
    assert (fire.title, fire.level, fire.top) == ("Fire of 1901", 3, "History")
    assert fire.paragraphs == ("Text below.",)
    assert (also.title, also.paragraphs, lost) == ("See also", (), 0)


def test_there_is_a_lead_though_it_is_empty() -> None:
    article, _ = article_of("T", "== A ==\nText.")
    assert [(section.title, section.paragraphs) for section in article.sections] == [("", ()), ("A", ("Text.",))]
    assert [section.paragraphs for section in article_of("T", "")[0].sections] == [()]


def test_lines_join_and_blank_lines_part() -> None:
    assert paragraphs("One\ntwo.\n \n\nThree.") == ["One two.", "Three."]


@pytest.mark.parametrize(
    "broken",
    [
        "A {{cite book|title=x",
        "A [[link and more",
        "A <ref>note",
        "A note</ref> of",
        "{| class=x\n| a",
        "a }} b",
        "a ]] b",
    ],
)
def test_a_paragraph_with_unclosed_markup_is_left_out_and_counted(broken: str) -> None:
    article, lost = article_of("T", f"Before.\n\n{broken}\n\n== Next ==\nAfter.\n\nAnd more.")
    assert article.sections[0].paragraphs == ("Before.",)
    assert article.sections[1].paragraphs == ("After.", "And more.")
    assert lost == 1


def test_an_unclosed_comment_goes_to_the_end() -> None:
    assert paragraphs("One. <!-- a --> Two.\n\nThree <!-- never\n\nclosed") == ["One. Two.", "Three"]


def test_less_than_is_no_markup() -> None:
    assert paragraphs("If a < b and c > d then 1 <2.") == ["If a < b and c > d then 1 <2."]


def test_files_by_the_names_of_the_wiki() -> None:
    text = (
        "[[Datei:A.jpg|mini|Bild]] Der [[Ort]] [[:Kategorie:Orte|alle]] liegt [[Insel: Roman|dort]]. [[Kategorie:Ort]]"
    )
    article, _ = article_of("T", text, ("Datei", "Kategorie"))
    assert article.sections[0].paragraphs == ("Der Ort liegt dort.",)


def test_titles_and_text_in_other_scripts() -> None:
    article, _ = article_of(
        "東京", "東京は[[日本]]の都市。\n\n== 歴史 ==\n''古い''町。\n\n== История ==\nГород [[река|у реки]]."
    )
    assert article.title == "東京"
    assert [(section.title, section.paragraphs) for section in article.sections] == [
        ("", ("東京は日本の都市。",)),
        ("歴史", ("古い町。",)),
        ("История", ("Город у реки.",)),
    ]


CLOSED = (
    "Some [[word|words]] of text.",
    "{{a|b={{c|[[d]]}}}}",
    "<ref>{{cite|x}} y</ref>",
    '<ref name="a" />',
    "<ref name=b>{{a|<!-- c -->}}</ref>",
    "<!-- a -->",
    "{{lang|fr|mot}}",
    "{{nowrap|a {{b|c}} d}}",
    "\n\n",
    "\n== A {{b}} ==\n",
    "\n* item",
    "<small>so {{x}}</small>",
    "\n{| a\n| {{b}} || c\n|}\n",
    "''so''",
    "[http://a.b c {{d}}]",
)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(CLOSED), max_size=12))
def test_thinning_changes_nothing(pieces: list[str]) -> None:
    """What is taken out before the parser is what the parser would have left out."""
    page = " ".join(pieces)
    with_thinning = article_of("T", page)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wikipedia, "without_templates", lambda text: text)
        assert article_of("T", page) == with_thinning


@pytest.mark.parametrize(
    "piece", ["{{a|", "[[a|{{b|<i>", "<ref>", "<!--", "{|\n", "{{a|b}}", "\n==", "''", "( ", "<div>", "{{{", "[http://"]
)
def test_a_page_of_nothing_but_markup_ends(piece: str) -> None:
    article, _ = article_of("T", piece * (100_000 // len(piece)))
    assert article.title == "T"
