"""The measurements of notebook 12: does an explanation of a similarity depend on the network?

An explanation gives each word of a sentence a part in its similarity to another sentence:

    left out      the similarity lost without the word
    gradient      the slope of the similarity along the word's vector, times that vector
    integrated    likewise with the mean slope on the path from zero vectors: integrated gradients
    attention     the attention of the BiLSTM to the word, independent of the other sentence
    rarest        without a network: larger for words that are rarer in train
    any           without a network: a random number

`explanations_judged` tests all explanations of a network on the same pairs. The network was trained on a corpus with a
known truth (`tampered`): some posts on any topic have one of three words inserted, and form a separate class.

In: a case whose corpus has classes. Out: figures, `{way} {measure}`:

    below_chance          how much less similarity remains if words are removed in order than in random orders
    replaced              likewise, but each is replaced with a random word
    first                 the similarity lost without the first word
    shuffled, another     the rank correlation of the parts with those for a network of shuffled weights, and with those
                          of the sentence compared with one on another topic
    hit, hit_two, false   how often a planted word has the largest part: one in each sentence; two in the one and a
                          third in the other; one in a sentence compared with one without, which it sets apart
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from torch.nn.functional import cosine_similarity

from labkit.corpora import Corpus, Labelled
from labkit.evaluation import correlation
from labkit.explanation import LEFT_OUT
from labkit.papers.recipes import Case
from labkit.sentpwnet.method import SentPWNet
from labkit.text import sentences, words
from labkit.training.encoders import Encoder
from labkit.trials.engine import Result

PLANTED = ("frankly", "anyway", "indeed")  # words that occur in no post of `topics`
MARKED = "marked"  # their class
SHARE = 0.15  # of the posts in train and dev
STEPS = 32  # of the integration path
DRAWS = 4  # random orders per pair
PAIRS, QUICK = 100, 3  # pairs per network, different for each seed

Explain: TypeAlias = Callable[[Sequence[str], str], np.ndarray]  # the words of a, and b -> a part for each (n,)

# --- the corpus --------------------------------------------------------------------------------------------------


def tampered(corpus: Corpus, seed: int) -> Labelled:
    """The corpus with an extra class: some posts of train and dev, on any topic, with a word of PLANTED inserted."""
    assert isinstance(corpus, Labelled)
    random = np.random.default_rng(seed)
    texts, labels = [*corpus.texts], [*corpus.labels]
    for row, split in enumerate(corpus.splits):
        if split != "test" and random.random() < SHARE:
            texts[row], labels[row] = with_word(texts[row], PLANTED[random.integers(len(PLANTED))], random), MARKED
    return replace(corpus, texts=tuple(texts), labels=tuple(labels))


def with_word(text: str, word: str, random: np.random.Generator) -> str:
    """Insert a word before one of the text's sentences: `It rains.` -> `Frankly, it rains.`"""
    parts = sentences(text)
    at = int(random.integers(len(parts)))
    rest = parts[at] if parts[at].startswith(("I ", "I'")) else parts[at][0].lower() + parts[at][1:]
    parts[at] = f"{word.capitalize()}, {rest}"
    return " ".join(parts)


class Triple(NamedTuple):
    """A post, another on the same topic, and one on a different topic."""

    a: str
    same: str
    other: str


def triples(test: Labelled, random: np.random.Generator) -> Iterator[Triple]:
    """An endless stream of posts from test."""
    labels = np.array(test.labels)
    while True:
        row = int(random.integers(len(labels)))
        alike, apart = labels == labels[row], labels != labels[row]
        alike[row] = False
        yield Triple(
            *(test.texts[int(each)] for each in (row, *(random.choice(np.flatnonzero(m)) for m in (alike, apart))))
        )


# --- a network and its slopes ------------------------------------------------------------------------------------


def similarities(network: SentPWNet, texts: Sequence[str], b: str) -> np.ndarray:
    """The similarity of each text to b, (n,)."""
    rows = network.encode([*texts, b], batch_size=256)
    return np.asarray(network.similarity(rows[:-1], rows[-1:])[:, 0], np.float64)


def word_vectors(network: SentPWNet, a: Sequence[str]) -> np.ndarray:
    """The vectors that the network reads in place of these words, (n, d)."""
    assert isinstance(network.network, Encoder)
    numbers, lengths = network.reader.batch([network.reader.numbers(" ".join(a))])
    with torch.no_grad():
        found: np.ndarray = network.network.words(numbers, lengths)[0].double().numpy()
    return found


def slopes(network: SentPWNet, x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The gradient of the similarity to b, (1, k), with respect to the word vectors of m sentences, (m, n, d)."""
    assert isinstance(network.network, Encoder)
    points = torch.from_numpy(x).float().requires_grad_()
    vectors = network.network.eval().body(points, torch.full((len(x),), x.shape[1]))
    similarity = cosine_similarity(vectors, torch.from_numpy(b))
    found: np.ndarray = torch.autograd.grad(similarity.sum(), points)[0].double().numpy()
    return found


def shuffled(network: SentPWNet, seed: int) -> SentPWNet:
    """The network with the values of each array, including the word vectors, in random order."""
    other, draw = deepcopy(network), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weights in other.network.parameters():
            weights.copy_(weights.flatten()[torch.randperm(weights.numel(), generator=draw)].view_as(weights))
    return other


# --- explanations ------------------------------------------------------------------------------------------------


def ways_to_explain(network: SentPWNet, counts: Counter[str], random: np.random.Generator) -> dict[str, Explain]:
    """All explanations by name; `counts`: the number of training sentences with each word."""

    def gradient(a: Sequence[str], b: str) -> np.ndarray:
        x = word_vectors(network, a)
        return (slopes(network, x[None], network.encode([b]))[0] * x).sum(1)

    def integrated(a: Sequence[str], b: str) -> np.ndarray:
        x, way = word_vectors(network, a), (np.arange(STEPS) + 0.5) / STEPS
        return (slopes(network, way[:, None, None] * x, network.encode([b])).mean(0) * x).sum(1)

    def rarest(a: Sequence[str], b: str) -> np.ndarray:
        return -np.array([float(counts[word]) for word in a])

    return {
        "left out": lambda a, b: np.array(network.explain(" ".join(a), b, way=LEFT_OUT).own_a),
        "gradient": gradient,
        "integrated": integrated,
        "attention": lambda a, b: np.array(network.explain(" ".join(a), b, way="attention").weights_a),
        "rarest": rarest,
        "any": lambda a, b: random.random(len(a)),
    }


def fewer(a: Sequence[str], order: np.ndarray, instead: Sequence[str] = ()) -> list[str]:
    """The sentence with no word removed, one, ... all but one; `instead` may replace each word."""
    left, texts = list(a), []
    for at in order:
        texts.append(" ".join(word for word in left if word))
        left[at] = instead[at] if instead else ""
    return texts


# --- judges ------------------------------------------------------------------------------------------------------


def explanations_judged(case: Case) -> Result:
    """Test all explanations of one network; each seed has its own network, insertions and pairs."""
    corpus = tampered(case.corpus, case.seed)
    network = case.fitted(corpus)
    test = case.corpus.part("test")
    assert isinstance(network, SentPWNet)
    assert isinstance(test, Labelled)
    random = np.random.default_rng(case.seed)
    counts = Counter(word for text in corpus.part("train").sentences() for word in set(words(text)))
    of_it = ways_to_explain(network, counts, random)
    of_chance = ways_to_explain(shuffled(network, case.seed), counts, random)
    seen: dict[str, list[float]] = defaultdict(list)
    drawn = triples(test, random)
    for number, triple in zip(range(QUICK if case.quick else PAIRS), drawn, strict=False):
        case.progress(number, PAIRS, "pairs")
        _by_taking_out(seen, network, of_it, triple, sorted(counts), random)
        _by_other_questions(seen, of_it, of_chance, triple)
        _by_planted_words(seen, of_it, triple, random)
    return Result({name: float(np.mean(values)) for name, values in seen.items()})


Seen: TypeAlias = dict[str, list[float]]
Ways: TypeAlias = dict[str, Explain]


def _by_taking_out(
    seen: Seen, network: SentPWNet, ways: Ways, triple: Triple, vocabulary: Sequence[str], random: np.random.Generator
) -> None:
    a, b = words(triple.a), triple.same
    at_random = [random.permutation(len(a)) for _ in range(DRAWS)]
    parts = {way: explain(a, b) for way, explain in ways.items()}
    at_large = [vocabulary[each] for each in random.integers(len(vocabulary), size=len(a))]
    judges: dict[str, Sequence[str]] = {"below_chance": (), "replaced": at_large}
    for judge, instead in judges.items():
        chance = np.mean([similarities(network, fewer(a, order, instead), b).mean() for order in at_random])
        for way, own in parts.items():
            curve = similarities(network, fewer(a, np.argsort(-own, kind="stable"), instead), b)
            seen[f"{way} {judge}"].append(float(chance - curve.mean()))
            if judge == "below_chance":
                seen[f"{way} first"].append(float(curve[0] - curve[1]))


def _by_other_questions(seen: Seen, of_it: Ways, of_chance: Ways, triple: Triple) -> None:
    a = words(triple.a)
    for way, explain in of_it.items():
        own = explain(a, triple.same)
        seen[f"{way} shuffled"].append(correlation(own, of_chance[way](a, triple.same)).spearman)
        seen[f"{way} another"].append(correlation(own, explain(a, triple.other)).spearman)


def _by_planted_words(seen: Seen, ways: Ways, triple: Triple, random: np.random.Generator) -> None:
    one, two, three = random.permutation(PLANTED)
    a, other = with_word(triple.a, one, random), with_word(triple.other, three, random)
    asked = {
        "hit": (a, other, {one}),
        "hit_two": (with_word(a, two, random), other, {one, two}),
        "false": (a, triple.same, {one}),
    }
    for measure, (text, b, planted) in asked.items():
        names = words(text)
        for way, explain in ways.items():
            seen[f"{way} {measure}"].append(float(names[int(explain(names, b).argmax())] in planted))
