"""Any corpus as sentences with a class each, for a picture: the classes that its shape implies.

    Labelled        its labels
    Groups          its groups
    Pairs, 0/1      the sets of sentences that positive pairs tie together
    Pairs, graded   the same, where "positive" is the upper fifth of the scores
    Triplets        anchor and positive belong together
    Articles        the paragraphs' first sentences, by article

In: a corpus. Out: a `Labelled` of at most `classes` classes with the most sentences, each sentence once.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Triplets
from labkit.text import sentences


def points(corpus: Corpus, *, classes: int = 12, most: int = 900) -> Labelled:
    """The sentences of the largest classes, evenly thinned to at most `most`."""
    if classes < 1 or most < 1:
        raise ValueError(f"classes is {classes} and most is {most}, expected at least 1 each")
    class_of = _classes(corpus)
    largest = [name for name, _ in Counter(class_of.values()).most_common(classes)]
    chosen = [(text, name) for text, name in class_of.items() if name in set(largest)]
    step = max(1, -(-len(chosen) // most))
    kept = sorted(chosen[::step], key=lambda point: largest.index(point[1]))
    return Labelled([text for text, _ in kept], [name for _, name in kept], name=corpus.name)


def _classes(corpus: Corpus) -> dict[str, str]:
    """sentence -> class."""
    if isinstance(corpus, Labelled):
        return dict(zip(corpus.texts, corpus.labels, strict=True))
    if isinstance(corpus, Groups):
        return dict(zip(corpus.texts, corpus.groups, strict=True))
    if isinstance(corpus, Articles):
        return {
            sentences(paragraph)[0]: article.title
            for article in corpus.articles
            for section in article.sections
            for paragraph in section.paragraphs
        }
    if isinstance(corpus, Triplets):
        return _tied(list(zip(corpus.anchors, corpus.positives, strict=True)))
    assert isinstance(corpus, Pairs)
    least = np.quantile(corpus.scores, 0.8) if corpus.graded else 1
    same = corpus.scores >= least
    return _tied([(a, b) for a, b, together in zip(corpus.text_a, corpus.text_b, same, strict=True) if together])


def _tied(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Sentences tied by pairs, directly or through others, share a class, named after its shortest sentence."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    number = {text: i for i, text in enumerate(texts)}
    left, right = ([number[pair[side]] for pair in pairs] for side in (0, 1))
    graph = coo_array((np.ones(len(pairs)), (left, right)), shape=(len(texts), len(texts)))
    component = connected_components(graph, directed=False)[1].tolist()
    names: dict[int, str] = {}
    for text, found in zip(texts, component, strict=True):
        names[found] = min(names.get(found, text), text, key=lambda name: (len(name), name))
    return {text: names[found] for text, found in zip(texts, component, strict=True)}
