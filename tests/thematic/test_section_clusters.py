"""The sentence clustering benchmark against scikit-learn by hand, and what it leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from labkit.corpora import Article, Articles, Corpus, Section, load
from labkit.evaluation import iclust, kmeans
from labkit.method import Method
from labkit.methods import METHODS
from labkit.runs import History
from labkit.thematic.rules import eligible
from labkit.thematic.sections import ALGORITHMS, section_agreement


class ByFirstWord(Method):
    """A direction for each first word, a little noise beside it: sections are found where they begin with one word."""

    name = "by-first-word"

    def _fit(self, *_: Any) -> History:
        return History()

    def _encode(self, sentences: list[str], *_: Any) -> np.ndarray:
        rows = []
        for text in sentences:
            random = np.random.default_rng(sum(map(ord, text.split()[0])))
            noise = np.random.default_rng(len(text)).standard_normal(20)
            rows.append(7 * (random.standard_normal(20) + 0.01 * noise))
        return np.array(rows, dtype=np.float32)

    def _state(self) -> Any: ...

    def _restore(self, *_: Any) -> None: ...


def method() -> Method:
    made = ByFirstWord()
    made.fit(load("articles"))
    return made


def article(sections: int, title: str = "A", paragraphs: int = 3) -> Article:
    first = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
    ]
    made = [
        Section(
            word, tuple(f"{word} opens the paragraph {n}. Other words go on in number {n}." for n in range(paragraphs))
        )
        for word in first[:sections]
    ]
    return Article(title, (Section("", ("The lead says what it is about.",)), *made))


def test_a_method_that_knows_the_sections_finds_them() -> None:
    found = section_agreement(method(), Articles([article(5), article(7, "B")]), seed=1)
    assert [(one.title, one.sentences, one.sections) for one in found.articles] == [("A", 15, 5), ("B", 21, 7)]
    assert found.left_out == 0
    for algorithm in ALGORITHMS:
        np.testing.assert_allclose(found.values(algorithm, "mi"), np.log([5, 7]))
        for figure in ("ami", "ri", "ari"):
            np.testing.assert_allclose(found.values(algorithm, figure), 1)
    mean = np.log([5, 7]).mean()
    assert (
        str(found).splitlines()[1].startswith(f"iclust: MI {mean:.3f} ± {np.log([5, 7]).std():.3f}, AMI 1.000 ± 0.000")
    )


def test_each_article_is_clustered_alone_from_its_unit_vectors() -> None:
    corpus: Any = load("articles")
    corpus = corpus.part("test").take(range(4))
    encoder = METHODS["mean-vectors"](dimension=20)
    encoder.fit(load("articles"))
    found = section_agreement(encoder, corpus, seed=3, restarts=2)
    for one, mine in zip(corpus.articles, found.articles, strict=True):
        themes = eligible(one)
        truth = [title for title, told in themes for _ in told]
        rows = encoder.encode([text for _, told in themes for _, text in told])
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        clusters = {
            "kmeans": kmeans(rows, len(themes), seed=3, restarts=2),
            "iclust": iclust(rows @ rows.T, len(themes), seed=3, restarts=2),
        }
        for algorithm, labels in clusters.items():
            agreement = getattr(mine, algorithm)
            assert agreement.mi == pytest.approx(metrics.mutual_info_score(truth, labels), abs=1e-9)
            assert agreement.ami == pytest.approx(metrics.adjusted_mutual_info_score(truth, labels), abs=1e-9)
            assert agreement.ri == pytest.approx(metrics.rand_score(truth, labels), abs=1e-9)
            assert agreement.ari == pytest.approx(metrics.adjusted_rand_score(truth, labels), abs=1e-9)


def test_the_number_of_sections_decides_which_articles_count() -> None:
    corpus = Articles([article(count, f"with {count}") for count in (4, 5, 12, 13)])

    def titles(**limits: Any) -> list[str]:
        return [one.title for one in section_agreement(method(), corpus, **limits).articles]

    assert titles() == ["with 5", "with 12"]
    assert titles(sections=(13, 13)) == ["with 13"]
    assert section_agreement(method(), corpus, sections=(6, 20)).left_out == 2
    with pytest.raises(ValueError, match=r"has 4 articles, none with 14 to 20 sections .* widen `sections`"):
        section_agreement(method(), corpus, sections=(14, 20))
    with pytest.raises(ValueError, match="sections is 9, expected a whole number from 2 to 5"):
        section_agreement(method(), corpus, sections=(9, 5))
    with pytest.raises(ValueError, match="restarts is 0"):
        section_agreement(method(), corpus, restarts=0)


def test_openings_or_all_sentences() -> None:
    corpus = Articles([article(5)])
    assert section_agreement(method(), corpus).articles[0].sentences == 15
    assert section_agreement(method(), corpus, which="all").articles[0].sentences == 30
    with pytest.raises(ValueError, match="which is 'some'"):
        section_agreement(method(), corpus, which="some")


def test_rows_for_a_table() -> None:
    rows = list(section_agreement(method(), Articles([article(5)])).rows())
    assert [row["algorithm"] for row in rows] == ["kmeans", "iclust"]
    assert rows[0]["title"] == "A"
    assert {"mi", "ami", "ri", "ari", "nmi", "purity", "sentences", "sections"} < set(rows[0])


@pytest.mark.parametrize("name", ["tfidf", "thematic"])
def test_methods_sparse_and_trained(name: str) -> None:
    corpus: Corpus = load("articles")
    assert isinstance(corpus, Articles)
    encoder = METHODS["tfidf"]() if name == "tfidf" else METHODS[name](epochs=1, dimension=10, size=10)
    encoder.fit(corpus.take(range(20)) if name == "tfidf" else corpus.part("train").take(range(10)))
    told: list[tuple[int, int | None, str]] = []
    found = section_agreement(encoder, corpus.take(range(20, 23)), restarts=1, progress=lambda *what: told.append(what))
    assert np.isfinite(found.values("iclust", "ami")).all()
    assert told[-1] == (3, 3, "clustering articles")
