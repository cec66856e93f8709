"""What a corpus implies about its sentences: connected pairs, training sentences, and classes for a plot.

Labelled        its labels                          Groups      its groups
Pairs, 0/1      connected components of positive pairs
Pairs, graded   the same; a grade near the top counts as positive (`records.grade_ends`)
Triplets        anchor and positive belong together
Articles        the paragraphs' first sentences, by article
Sentences       none: all share one class, UNLABELLED
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise, repeat

import numpy as np

from labkit.arrays import seeded
from labkit.corpora.records import Article, Articles, Corpus, Labelled, Pairs, Sentences, Triplets, grade_ends
from labkit.corpora.splits import connected
from labkit.text import sentences, words

PROBE_LEAST = 30  # rows of dev from which a run follows them, rather than those of train

# --- pairs -------------------------------------------------------------------------------------------------------


def components(pairs: Pairs) -> tuple[list[str], np.ndarray]:
    """The distinct sentences of pairs labelled 0/1, and the component of each in the graph of pairs labelled 1."""
    texts, component = pairs.same()
    return texts, np.asarray(component)


def linked(pairs: Pairs) -> np.ndarray:
    """A number for each pair, equal for pairs connected by common sentences, directly or through others, (n,)."""
    texts, ends = pairs.numbered()
    return connected(len(texts), *ends.T)[ends[:, 0]]


# --- classes for a plot ------------------------------------------------------------------------------------------

FEW = 20  # number of classes that a plot keeps if classes must be cut
UNLABELLED = "no label"  # the class of sentences without labels


def points(corpus: Corpus, *, classes: int = 12, most: int = 900, seed: int = 0) -> Labelled:
    """The sentences of the largest classes, at most `classes` of them, each sentence once.

    If there are more than `most` sentences, whole classes are drawn with `seed` until `most` is reached. Taking every
    k-th sentence would leave classes with a single sentence. Splits and further columns come from the last row with the
    sentence.
    """
    if classes < 1 or most < 1:
        raise ValueError(f"classes is {classes} and most is {most}; both must be at least 1")
    class_of = classes_by_sentence(corpus)
    if not class_of:
        raise ValueError(
            f"corpus {corpus.name!r} has no two sentences that belong together (a class, a group or a pair labelled "
            "1). Choose another corpus or split"
        )
    largest = Counter(class_of.values()).most_common(classes)
    place = {name: number for number, (name, _) in enumerate(largest)}
    chosen = [(text, name) for text, name in class_of.items() if name in place]
    if len(chosen) > most:
        keeps = _room(dict(largest), most, np.random.default_rng(seeded(seed)))
        chosen = [point for point in chosen if next(keeps[point[1]], False)]
    kept = sorted(chosen, key=lambda point: place[point[1]])
    row_of = dict(_sentence_rows(corpus))
    rows = [row_of[text] for text, _ in kept]
    return Labelled(
        [text for text, _ in kept],
        [name for _, name in kept],
        name=corpus.name,
        splits=[corpus.splits[row] for row in rows],
        extra={column: [values[row] for row in rows] for column, values in corpus.extra.items()},
    )


def counted(corpus: Corpus) -> tuple[int, int]:
    """The number of sentences that have a class, and the number of classes; `points` chooses from these."""
    class_of = classes_by_sentence(corpus)
    return len(class_of), len(set(class_of.values()))


def class_order(corpus: Corpus) -> tuple[str, ...]:
    """All classes of a corpus, those of the test split first, then by size; this order fixes their colours in plots."""
    sizes = Counter(classes_by_sentence(corpus).values())
    tested = set(classes_by_sentence(corpus.part("test")).values()) if "test" in corpus.splits else set()
    return tuple(sorted(sizes, key=lambda name: (name not in tested, -sizes[name], name)))


def _room(sizes: dict[str, int], most: int, random: np.random.Generator) -> dict[str, Iterator[bool]]:
    """For each class, which of its sentences are kept, in order.

    Whole classes are taken in random order while they fit. If that gives fewer than FEW classes (or than exist), the
    first ones are cut, each to the same share, with at least two sentences if `most` allows it.
    """
    order = [list(sizes)[at] for at in random.permutation(len(sizes))]
    whole, left = [], most
    for name in order:
        if sizes[name] <= left:
            whole.append(name)
            left -= sizes[name]
    if len(whole) >= min(FEW, len(sizes)):
        kept = set(whole)
        return {name: repeat(name in kept) for name in sizes}
    parts = order[: max(1, min(FEW, most // 2))]
    share = most / sum(sizes[name] for name in parts)
    wanted = {name: min(sizes[name], max(2, int(share * sizes[name]))) for name in parts}
    while (over := sum(wanted.values()) - most) > 0:  # the largest classes make room for two per class
        largest = max(wanted, key=lambda name: wanted[name])
        wanted[largest] -= min(over, max(1, wanted[largest] - 2))
    keeps = {}
    for name in sizes:
        keep = np.zeros(sizes[name], bool)
        keep[random.choice(sizes[name], wanted.get(name, 0), replace=False)] = True
        keeps[name] = iter(keep.tolist())
    return keeps


def _sentence_rows(corpus: Corpus) -> Iterable[tuple[str, int]]:
    """Every sentence, with the number of each row that contains it."""
    if isinstance(corpus, Articles):
        return ((text, row) for row, article in enumerate(corpus.articles) for text in _openings(article))
    return ((text, row) for name in corpus.TEXTS for row, text in enumerate(getattr(corpus, name)))


def classes_by_sentence(corpus: Corpus) -> dict[str, str]:
    """The class of each sentence that has one, as the shape implies it."""
    if isinstance(corpus, Articles):
        return {text: article.title for article in corpus.articles for text in _openings(article)}
    if isinstance(corpus, Sentences):
        return dict.fromkeys(corpus.texts, UNLABELLED)
    if isinstance(corpus, Triplets):
        return _tied(list(zip(corpus.anchors, corpus.positives, strict=True)))
    if not isinstance(corpus, Pairs):
        return dict(zip(*corpus.classified(), strict=True))
    same = grade_ends(corpus.scores, corpus.scores.max())[0] if corpus.graded else corpus.scores == 1
    return _tied([(a, b) for a, b, together in zip(corpus.text_a, corpus.text_b, same, strict=True) if together])


def _openings(article: Article) -> list[str]:
    paragraphs = [sentences(paragraph) for section in article.sections for paragraph in section.paragraphs]
    return [found[0] for found in paragraphs if found]


def _tied(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """A class for each sentence connected by pairs, named after the component's shortest sentence."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    place = {text: number for number, text in enumerate(texts)}
    left, right = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    components_of = connected(len(texts), left, right).tolist()
    names: dict[int, str] = {}
    for text, number in zip(texts, components_of, strict=True):
        names[number] = min(names.get(number, text), text, key=lambda name: (len(name), name))
    return {text: names[number] for text, number in zip(texts, components_of, strict=True)}


# --- single sentences --------------------------------------------------------------------------------------------

OPENING = range(5, 51)  # tokens of an informative first sentence of a paragraph, as in the thematic triplets


def probe_split(corpus: Corpus) -> str:
    """The split whose sentences a run follows from epoch to epoch: dev, unless it has too few to show anything."""
    least = 1 if isinstance(corpus, Articles) else PROBE_LEAST  # a single article has dozens of sentences
    return "dev" if corpus.sizes.get("dev", 0) >= least else "train"


def train_sentences(corpus: Corpus) -> list[str]:
    """The sentences for methods that learn without labels."""
    texts = corpus.part("train").sentences()
    if isinstance(corpus, Articles):
        return [sentence for paragraph in texts for sentence in sentences(paragraph)]
    return texts


def opening_triplets(article: Article) -> list[tuple[str, str, str]]:
    """Triplets of a paragraph's first sentence, that of the next paragraph, and one from the section before or after.

    These suffice to estimate how hard articles are; training triplets follow their own rules.
    """
    openings = [
        [first for paragraph in section.paragraphs if len(words(first := (sentences(paragraph) or [""])[0])) in OPENING]
        for section in article.sections
        if section.title
    ]
    openings = [texts for texts in openings if texts]
    return [
        (anchor, positive, near[i % len(near)])
        for before, here, after in zip([[], *openings], openings, [*openings[1:], []], strict=False)
        for i, (anchor, positive) in enumerate(pairwise(here))
        for near in (before, after)
        if near
    ]


def opened(articles: Articles) -> Triplets:
    """Triplets of paragraph openings: two from the same section, and one from the section before or after."""
    triplets = [triplet for article in articles.articles for triplet in opening_triplets(article)]
    if not triplets:
        raise ValueError(
            f"corpus {articles.name!r} gives no triplets. It needs two adjacent sections, one of them with two "
            "paragraphs that start with a sentence of 5 to 50 words; use longer articles"
        )
    anchors, positives, negatives = zip(*triplets, strict=True)
    return Triplets(name=articles.name, anchors=anchors, positives=positives, negatives=negatives, splits="train")
