"""Difficulty: an easy corpus of any shape scores high, random sentences stay near chance."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.baselines.difficulty import difficulty
from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Triplets

WORDS = [f"{a}{b}" for a in ("ba", "ko", "ri", "tu", "me") for b in ("lan", "dor", "fis", "gup", "hem", "jol")]


def sentence(random: np.random.Generator, words: list[str]) -> str:
    return " ".join(random.choice(words, 6))


def corpora(easy: bool) -> list[Corpus]:
    """A corpus of each shape; if it is easy, only related sentences share words."""
    random = np.random.default_rng(1)
    splits = (["train"] * 6 + ["dev"] * 2 + ["test"] * 2) * 30
    about = [WORDS[6 * k : 6 * k + 6] if easy else WORDS for k in range(5)]
    kinds = [i % 5 for i in range(300)]
    texts = [sentence(random, about[kind]) for kind in kinds]
    same = [i % 2 for i in range(300)]
    others = [sentence(random, about[kind if one else (kind + 1) % 5]) for kind, one in zip(kinds, same, strict=True)]
    far = [sentence(random, about[(kind + 2) % 5]) for kind in kinds]
    near = [sentence(random, about[kind]) for kind in kinds]
    groups = [f"{split} {kinds[i]}" for i, split in enumerate(splits)]
    return [
        Labelled(texts, [str(kind) for kind in kinds], splits=splits),
        Groups(texts, groups, splits=splits),
        Pairs(texts, others, same, splits=splits),
        Pairs(texts, others, [4.0 * one + 0.5 for one in same], graded=True, splits=splits),
        Triplets(texts, near, far, splits=splits),
    ]


@pytest.mark.parametrize("number", range(5))
def test_easy_is_solved_and_noise_is_not(number: int) -> None:
    easy, hard = difficulty(corpora(True)[number]), difficulty(corpora(False)[number])
    assert easy.tfidf > 0.8
    assert easy.mean_vectors > 0.8
    assert easy.chance < 0.7
    assert (easy.chance == hard.chance == 0) == (number == 3)
    assert abs(hard.tfidf - hard.chance) < 0.25


@pytest.mark.parametrize(("sections", "measure"), [(3, "triplet accuracy, openings"), (6, "triplet accuracy")])
def test_articles_are_scored_by_their_triplets(sections: int, measure: str) -> None:
    """With fewer than five sections the rule gives no triplets; the substitute measure has another name."""
    random = np.random.default_rng(0)
    themes = [WORDS[:10], WORDS[10:20], WORDS[20:]] * 2

    def section(number: int) -> Section:
        return Section(f"section {number}", [f"{sentence(random, themes[number])}." for _ in range(3)])

    articles = [Article(str(i), tuple(map(section, range(sections)))) for i in range(40)]
    found = difficulty(Articles(articles))
    assert found.measure == measure
    assert found.mean_vectors > 0.9
    assert 0.3 < found.chance < 0.7
