"""Triplets: properties against a second implementation of the rules, and known numbers."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.corpora import Article, Articles, Section, Triplets
from labkit.corpora import article_triplets as making
from labkit.corpora.article_triplets import RULES, Plan, triplets_of
from labkit.corpora.records import hashed_split
from labkit.thematic.from_dumps import triplets_and_funnel

LISTS = ("external links", "further reading", "references", "see also", "notes", "citations", "authored books")
NAMES = ("History", "Économie", "文化", "Background", "Notes", "see also", "Климат", "Sport", "Art", "Law", "Music")


def opening(paragraph: str) -> str:
    return paragraph.split(". ")[0] + "."


@st.composite
def articles(draw: st.DrawFn, titles: tuple[str, ...] = ("One", "Zwei", "三", "Четыре", "One")) -> Articles:
    """Articles whose paragraphs start with sentences of 3 to 51 words; some sentences are repeated."""
    made = []
    for number, title in enumerate(titles[: draw(st.integers(1, len(titles)))]):
        sections = [Section("", ["The lead is of many words and of none. More."], 1)]
        for place in range(draw(st.sampled_from((6, 7, 8, 9, 9, 4, 0)))):
            paragraphs = []
            for serial in range(draw(st.sampled_from((3, 2, 5, 7, 1, 0)))):
                size = draw(st.sampled_from((9, 5, 50, 9, 9, 5, 3, 4, 51)))
                mark = draw(st.sampled_from((f"n{number}s{place}p{serial}", f"n{number}s{place}p{serial}", "same")))
                letters = "".join(chr(ord("a") + int(sign)) if sign.isdigit() else sign for sign in mark)
                paragraphs.append(" ".join([letters.title(), *["word"] * (size - 1)]) + ". And then more.")
            sections.append(Section(draw(st.sampled_from(NAMES)), paragraphs, 2))
        made.append(Article(title, sections))
    return Articles(made, name="made")


def left_of(article: Article) -> list[tuple[str, list[tuple[int, str]]]]:
    """A second implementation of the section rules."""
    left = []
    for section in article.sections[1:]:
        if section.title.lower() in (*LISTS, "background"):
            continue
        found = [(i, opening(p)) for i, p in enumerate(section.paragraphs) if 5 <= len(opening(p).split()) <= 50]
        if found:
            left.append((section.title, found))
    return left if len(left) >= 5 else []


def holding(left: list[tuple[str, list[tuple[int, str]]]], title: str, text: str) -> list[int]:
    """The positions of the sections with this title and sentence."""
    return [k for k, (name, found) in enumerate(left) if name == title and text in [each for _, each in found]]


def made(corpus: Articles, plan: Plan) -> list[dict]:
    if not any(map(left_of, corpus.articles)):
        return []
    try:
        return list(triplets_and_funnel(corpus, plan)[0].rows())
    except ValueError:  # eligible sentences, but no triplet
        return []


@given(articles(), st.sampled_from(RULES), st.integers(0, 3), st.sampled_from((None, 1, 2)))
def test_no_triplet_breaks_a_rule(corpus: Articles, rule: str, seed: int, most: int | None) -> None:
    first = {article.title: article for article in reversed(corpus.articles)}  # the first article with each title
    positives: dict[tuple[str, str], set[str]] = {}
    for row in made(corpus, Plan(rule, seed, most)):
        left = left_of(first[row["article"]])
        assert row["split"] == hashed_split(row["article"])
        places = holding(left, row["section"], row["anchor"])
        assert places
        if rule == "titles":
            assert row["positive"] == f"{row['article']} {row['section']}"
            assert row["negative"] == f"{row['article']} {row['negative_section']}" != row["positive"]
            assert any(left[k][1][0] == (0, row["anchor"]) for k in places)
            assert row["negative_section"] in [left[n][0] for k in places for n in (k - 1, k + 1) if 0 <= n < len(left)]
            continue
        assert len({row["anchor"].lower(), row["positive"].lower(), row["negative"].lower()}) == 3
        pairs = [(k, *pair) for k in places for pair in combinations(left[k][1], 2)]
        both = (row["anchor"], row["positive"])
        near = [k for k, (i, one), (j, two) in pairs if (one, two) == both and j - i <= 3]
        assert near
        positives.setdefault((row["article"] + str(near[0]), row["anchor"]), set()).add(row["positive"])
        others = left_of(first[row["negative_article"]])
        holders = holding(others, row["negative_section"], row["negative"])
        assert holders
        if rule == "other":
            assert row["negative_article"] != row["article"]
            assert hashed_split(row["negative_article"]) == row["split"]
        else:
            assert row["negative_article"] == row["article"]
            apart = [abs(k - n) for k in near for n in holders]
            assert 1 in apart if rule == "adjacent" else any(apart)
    if most and not any("Same" in anchor for _, anchor in positives):
        assert all(len(found) <= most for found in positives.values())


@given(articles())
def test_every_eligible_pair_within_three_paragraphs_appears(corpus: Articles) -> None:
    """Without a limit, if an adjacent section has a sentence outside the pair."""
    first = {article.title: article for article in reversed(corpus.articles)}
    expected = set()
    for title, article in first.items():
        left = left_of(article)
        for k, (_, found) in enumerate(left):
            beside = {text for n in (k - 1, k + 1) if 0 <= n < len(left) for _, text in left[n][1]}
            for (i, one), (j, two) in combinations(found, 2):
                if j - i <= 3 and one.lower() != two.lower() and beside - {one, two}:
                    expected.add((title, one, two))
    assert {(row["article"], row["anchor"], row["positive"]) for row in made(corpus, Plan())} == expected


@given(articles(), st.sampled_from(RULES), st.integers(0, 9))
def test_no_article_is_in_two_splits_and_the_funnel_adds_up(corpus: Articles, rule: str, seed: int) -> None:
    try:
        found, funnel = triplets_and_funnel(corpus, Plan(rule, seed))
    except ValueError:
        return
    for column in ("article", "negative_article"):
        splits: dict[str, set[str]] = {}
        for title, split in zip(found.extra[column], found.splits, strict=True):
            splits.setdefault(title, set()).add(split)
        assert all(len(where) == 1 for where in splits.values())
    assert funnel.read("articles") == len(corpus)
    assert funnel.left("triplets") == len(found)
    assert funnel.left("articles") == len(set(found.extra["article"]))
    assert funnel.read("triplets") == 2 * funnel.left("pairs")


def corpus_of(*titles: str, paragraphs: int = 3, **settings: object) -> Articles:
    """Articles with sections A to E, in which each sentence names its position."""

    def section(title: str, name: str) -> Section:
        return Section(name, [f"{title} {name} paragraph number {place}. Rest." for place in range(paragraphs)])

    lead = Section("", ["Lead."], 1)
    made = [Article(title, [lead, *(section(title, name) for name in "ABCDE")]) for title in titles]
    return Articles(made, **settings)


def test_numbers_by_hand() -> None:
    """Three paragraphs make three pairs; the first and last section have one neighbour: 3 * (1+2+2+2+1) triplets."""
    for rule in ("adjacent", "article"):
        found, funnel = triplets_and_funnel(corpus_of("T"), Plan(rule))
        assert len(found) == 24
        assert (funnel.left("pairs"), funnel.removed(making.NO_SIDE, "triplets")) == (15, 6)
    titled = triplets_of(corpus_of("T"), rule="titles")
    assert len(titled) == 8
    first = next(zip(titled.anchors, titled.positives, titled.negatives, strict=True))
    assert first == ("T A paragraph number 0.", "T A", "T B")
    assert len(triplets_of(corpus_of("T", paragraphs=6))) == 12 * 8  # 15 pairs per section, 3 of them more than 3 apart


def test_a_limit_of_positives_per_anchor() -> None:
    found, funnel = triplets_and_funnel(corpus_of("T", paragraphs=6), Plan(max_per_anchor=1))
    assert len(found) == 5 * 8
    assert funnel.removed(making.LIMIT, "pairs") == 7 * 5
    drawn = {triplets_of(corpus_of("T", paragraphs=6), max_per_anchor=1, seed=seed).positives[0] for seed in range(30)}
    assert len(drawn) == 3  # each of the anchor's three possible positives


def test_draws_depend_only_on_seed_and_title() -> None:
    def negatives(*titles: str, seed: int) -> list[str]:
        found = triplets_of(corpus_of(*titles, paragraphs=7), seed=seed)
        return [text for text, title in zip(found.negatives, found.extra["article"], strict=True) if title == "T"]

    assert negatives("T", "U", seed=1) == negatives("U", "V", "T", seed=1)
    assert negatives("T", seed=1) != negatives("T", seed=2)
    both = triplets_of(corpus_of("T", "U", paragraphs=7))
    drawn = [text[2:] for text in both.negatives]  # without the title
    assert drawn[: len(drawn) // 2] != drawn[len(drawn) // 2 :]


def test_the_rules_differ_in_where_negatives_come_from() -> None:
    titles = [f"T{n}" for n in range(40)]
    article = triplets_of(corpus_of(*titles), rule="article")
    apart = {ord(a) - ord(b) for a, b in zip(article.extra["section"], article.extra["negative_section"], strict=True)}
    assert apart == {-4, -3, -2, -1, 1, 2, 3, 4}
    other = triplets_of(corpus_of(*titles), rule="other")
    assert len(other) == len(article)
    assert not any(a == b for a, b in zip(other.extra["article"], other.extra["negative_article"], strict=True))


def test_other_articles_beyond_a_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "SHELF", 4)
    titles = [f"T{n}" for n in range(21)]
    corpus = corpus_of(*titles, splits=["train"] * 21)
    found = triplets_of(corpus, rule="other")  # five full shelves, and one article that uses the previous shelf
    assert len(found) == 24 * 21
    last = {b for a, b in zip(found.extra["article"], found.extra["negative_article"], strict=True) if a == "T20"}
    assert last == {"T16", "T17", "T18", "T19"}


def test_an_article_alone_in_its_split_has_no_negatives() -> None:
    corpus = corpus_of("A", "B", "C", splits=["train", "train", "test"])
    found, funnel = triplets_and_funnel(corpus, Plan("other"))
    assert set(found.extra["article"]) == {"A", "B"}
    assert funnel.removed(making.ALONE, "triplets") == 24
    assert funnel.removed(making.BARREN, "articles") == 1


def test_invalid_plans_and_corpora_are_refused() -> None:
    for wrong in ({"rule": "near"}, {"by": "x"}, {"max_per_anchor": 0}):
        with pytest.raises(ValueError, match=f"^{next(iter(wrong))}"):
            triplets_of(corpus_of("T"), **wrong)
    with pytest.raises(ValueError, match="triplets"):
        triplets_of(Triplets(["a"], ["b"], ["c"]))
    with pytest.raises(ValueError, match="short"):
        triplets_of(Articles([Article("T", [Section("", ["Lead."])])], name="short"))
