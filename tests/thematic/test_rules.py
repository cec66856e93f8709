"""Each rule at its limits, and a tally that adds up."""

from __future__ import annotations

import pytest

from labkit.corpora import Article, Section
from labkit.corpora import article_rules as rules
from labkit.corpora.article_rules import LOST, READ, eligible, sifted
from labkit.thematic.from_dumps import UNITS, Funnel


def said(count: int, first: str = "Word") -> str:
    """A sentence with `count` tokens."""
    return " ".join([first, *["word"] * (count - 1)]) + "."


def section(title: str, *counts: int, level: int = 2, top: str = "") -> Section:
    return Section(title, [f"{said(count, title or 'Lead')} More follows here." for count in counts], level, top)


def article(*sections: Section) -> Article:
    return Article("Title", (section("", 9, level=1), *sections))


FIVE = [section(name, 7, 8) for name in "ABCDE"]


def titles(found: rules.Themes) -> list[str]:
    return [title for title, _ in found]


@pytest.mark.parametrize(
    ("count", "short", "long"), [(4, True, False), (5, False, False), (50, False, False), (51, False, True)]
)
def test_sentences_have_5_to_50_tokens(count: int, short: bool, long: bool) -> None:
    assert rules.too_short(said(count)) is short
    assert rules.too_long(said(count)) is long
    kept = dict(eligible(article(section("X", count), *FIVE)))
    assert ("X" in kept) is not (short or long)


def test_only_words_are_tokens() -> None:
    assert rules.too_short('One, two - three ("four")!')
    assert not rules.too_short('One, two - three ("four") five!')


def test_the_first_section_is_dropped_whatever_its_title() -> None:
    assert rules.is_first(0, ("A", "A"))
    assert not rules.is_first(1, ("", ""))
    no_lead = Article("T", (section("Z", 9), *FIVE))
    assert titles(eligible(no_lead)) == list("ABCDE")


LISTS = ["External links", "FURTHER READING", "references", "see  Also", "Notes", "Citations", "Authored books"]


@pytest.mark.parametrize("title", [" BACKGROUND ", *LISTS])
def test_lists_are_left_out(title: str) -> None:
    below = section("Sources", 9, level=3)  # a subsection of the list, by its level
    for by in ("top", "heading"):
        assert titles(eligible(article(*FIVE, section(title, 9), below), by=by)) == list("ABCDE")


def test_a_top_section_includes_its_subsections_with_continuous_numbering() -> None:
    nested = [
        section("A", 7, 8, top="A"),
        section("A1", 9, level=3, top="A"),
        section("Notes", 9, 9, level=3, top="A"),
        section("A2", 10, level=3, top="A"),
    ]
    found = dict(eligible(article(*nested, *FIVE[1:])))
    assert [number for number, _ in found["A"]] == [0, 1, 2, 5]
    assert titles(eligible(article(*nested, *FIVE[1:]), by="heading")) == ["A", "A1", "A2", "B", "C", "D", "E"]
    bare = [Section(part.title, part.paragraphs, part.level) for part in nested]  # a file may leave out `top`
    assert eligible(article(*bare, *FIVE[1:])) == eligible(article(*nested, *FIVE[1:]))


def test_a_subsection_may_occur_without_its_parent() -> None:
    parts = [section(f"{top}{i}", 9, level=3, top=top) for top in "ABCDE" for i in (1, 2)]
    found = eligible(article(*parts))
    assert titles(found) == list("ABCDE")
    assert [[number for number, _ in sentences] for _, sentences in found] == [[0, 1]] * 5


def test_at_least_five_sections_must_remain() -> None:
    assert titles(eligible(article(*FIVE))) == list("ABCDE")
    assert eligible(article(*FIVE[:4])) == ()
    assert eligible(article(*FIVE[:4], Section("E", ()))) == ()  # an empty section does not count
    assert eligible(article(*FIVE[:4], section("E", 3, 60))) == ()  # nor does one without an eligible sentence
    assert eligible(Article("T", (section("Only", 9, 9, 9),))) == ()
    assert eligible(Article("T", ())) == ()


def test_an_incomplete_sentence_is_left_out_and_counted() -> None:
    whole, lost = said(9), f"{said(9)[:-1]} and {LOST}."
    parts = [Section(name, [whole]) for name in "ABCDE"]
    found, tally = sifted(article(*parts, Section("F", [lost, whole])))
    assert dict(found)["F"] == ((1, whole),)
    assert tally["lost a template or a formula", "sentences"] == 1


@pytest.mark.parametrize("by", ["top", "heading"])
def test_the_tally_adds_up(by: str) -> None:
    whole = article(
        section("A", 4, 9, 60),
        section("A1", 9, level=3),
        section("Background", 9),
        section("Notes", 9, 9),
        Section("Empty", ()),
        *FIVE[1:],
        section("F", 2),
    )
    for subject in (whole, article(*FIVE[:3])):
        left, tally = sifted(subject, by=by)
        funnel = Funnel(tally)
        assert funnel.read("articles") == 1
        assert funnel.read("sections") == len(subject.sections)
        assert funnel.left("articles") == bool(left)
        assert funnel.left("sections") == len(left)
        assert funnel.left("sentences") == sum(len(sentences) for _, sentences in left)
        assert all(len(row) == 1 + len(UNITS) for row in funnel.rows())
    assert tally[READ, "sentences"] == 7
