"""What of a corpus can be read as single sentences, whatever its shape.

train_sentences    any corpus -> the distinct sentences of its training split; an article's paragraphs are cut
opening_triplets   an article -> triplets of its paragraphs' first sentences
opened             articles -> a corpus of these triplets
"""

from __future__ import annotations

from itertools import pairwise

from labkit.corpora.records import Article, Articles, Corpus, Triplets
from labkit.text import sentences, words

OPENING = range(5, 51)  # tokens of a paragraph's first sentence that says something: as in the thematic triplets


def train_sentences(corpus: Corpus) -> list[str]:
    """What a method without labels is fitted on."""
    texts = corpus.part("train").sentences()
    if isinstance(corpus, Articles):
        return [sentence for paragraph in texts for sentence in sentences(paragraph)]
    return texts


def opening_triplets(article: Article) -> list[tuple[str, str, str]]:
    """(a paragraph's opening, the next paragraph's, an opening of the section before and of the one after).

    Enough to tell how hard articles are; the triplets one trains on have rules of their own.
    """
    openings = [
        [first for paragraph in section.paragraphs if len(words(first := (sentences(paragraph) or [""])[0])) in OPENING]
        for section in article.sections
        if section.title
    ]
    openings = [found for found in openings if found]
    return [
        (anchor, positive, near[i % len(near)])
        for before, here, after in zip([[], *openings], openings, [*openings[1:], []], strict=False)
        for i, (anchor, positive) in enumerate(pairwise(here))
        for near in (before, after)
        if near
    ]


def opened(articles: Articles) -> Triplets:
    """Triplets of the articles' paragraph openings: of one section, and of the one before or after."""
    found = [triplet for article in articles.articles for triplet in opening_triplets(article)]
    if not found:
        raise ValueError(
            f"corpus {articles.name!r} makes no triplet: no article has two neighbouring sections, one of them with "
            "two paragraphs whose first sentence has 5 to 50 words; give longer articles"
        )
    anchors, positives, negatives = zip(*found, strict=True)
    return Triplets(name=articles.name, anchors=anchors, positives=positives, negatives=negatives, splits="train")
