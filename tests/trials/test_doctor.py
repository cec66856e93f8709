"""The doctor's findings in small worked examples, and in corpora with planted errors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Article, Articles, Corpus, Labelled, Pairs, Section, Triplets, load, read_corpus
from labkit.progress import collected
from labkit.trials import suspect_labels
from labkit.trials.doctor import Finding, examine
from tests.test_contract import CORPORA

THREE = ("train", "dev", "test")


@pytest.fixture(autouse=True)
def without_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge labels without MiniLM, which would take most of the time."""
    monkeypatch.setattr(suspect_labels, "find_spec", lambda name: None)


def pairs(*rows: tuple[str, str, float], splits: Any = "train", graded: bool = False) -> Pairs:
    a, b, values = zip(*rows, strict=True)
    return Pairs(a, b, values, graded, splits=splits)


def found(corpus: Corpus) -> dict[str, Finding]:
    return {finding.kind: finding for finding in examine(corpus)}


@pytest.mark.parametrize("shape", CORPORA)
def test_every_shape_can_be_examined_and_written_as_json(shape: str) -> None:
    corpus = CORPORA[shape]()
    findings = examine(corpus)
    assert findings[0].kind == "sizes"
    assert findings[0].numbers["rows"] == len(corpus)
    for finding in findings:
        assert finding.level in ("note", "warning")
        json.dumps({"rows": finding.rows, "numbers": dict(finding.numbers)})


def test_a_clean_corpus_has_no_warning() -> None:
    for name in ("topics", "relatedness"):
        warned = [finding for finding in examine(load(name).fewer(0.3)) if finding.level == "warning"]
        assert not warned, name


def test_missing_and_small_splits_are_a_warning() -> None:
    texts = [f"text {number}" for number in range(30)]
    corpus = Labelled(texts, ["x", "y"] * 15, splits=["train"] * 10 + ["dev"] * 10 + ["test"] * 10)
    assert found(corpus)["sizes"].level == "warning"
    assert found(corpus)["sizes"].numbers == {"rows": 30, "sentences": 30, "train": 10, "dev": 10, "test": 10}
    assert found(corpus.part("train"))["sizes"].level == "warning"
    assert "±31" in found(corpus)["sizes"].sentence  # 0.98 / √10
    graded = pairs(*((text, f"{text}.", at) for at, text in enumerate(texts)), splits=corpus.splits, graded=True)
    assert "±0.63" in found(graded)["sizes"].sentence  # of a correlation: tanh(1.96 / √7)


def test_balance_names_single_and_unseen_classes() -> None:
    corpus = Labelled(list("abcdefghi"), list("xxxyxyzzz"), splits=["train"] * 4 + ["test"] * 5)
    balance = found(corpus)["balance"]
    assert balance.level == "warning"
    # train: x x x y; test: x y z z z, so always answering x is right once in five, and the three z are unseen
    expected = {"classes": 3, "smallest": 2, "largest": 4, "single": 0, "always": 0.2, "unseen": 3, "asked": 5}
    assert balance.numbers == expected
    single = found(replace(corpus, labels=list("xxxyxyzwx"), splits=["train"] * 9))["balance"]
    assert [(row["row"], row["label"]) for row in single.rows] == [(7, "z"), (8, "w")]
    two = pairs(("a", "b", 1), ("a", "c", 0), ("a", "d", 0), ("a", "e", 0))
    assert found(two)["balance"].numbers == {"positive": 0.25}
    assert "25.0 %" in found(two)["balance"].sentence
    graded = pairs(("a", "b", 0), ("a", "c", 1), ("a", "d", 5), graded=True)
    assert found(graded)["balance"].numbers == {"low": 0, "median": 1, "high": 5}


def test_a_text_in_two_splits_is_a_leak_despite_case_spaces_and_punctuation() -> None:
    corpus = Labelled(
        ["A cat sat.", "an  oak", "a cat sat!", "An oak?"], list("xyxy"), splits=["train", "dev", "dev", "test"]
    )
    leak = found(corpus)["leaks"]
    assert leak.numbers == {"dev": 1, "test": 1}
    assert leak.places == (2, 3)
    assert [(row["row"], row["other_row"]) for row in leak.rows] == [(3, 1), (4, 2)]
    assert leak.rows[0]["other_text"] == "A cat sat."
    texts = [f"text {number % 30}" for number in range(60)]
    many = found(Labelled(texts, ["x", "y"] * 30, splits=["train"] * 30 + ["test"] * 30))["leaks"]
    assert (len(many.rows), many.places) == (20, tuple(range(30, 60)))


def test_rows_have_the_numbers_of_their_file(tmp_path: Path) -> None:
    """The header is row 1, row 4 repeats row 3, and row 5 is blank."""
    (tmp_path / "mine.csv").write_text("text_a,text_b,label\nb,c,1\na,b,1\na,b,1\n\nc,a,0\nb,a,0\nx,y,1\n")
    with collected():
        corpus = read_corpus(tmp_path / "mine.csv")
    assert [(row["row"], row["other_row"]) for row in found(corpus)["contradictions"].rows] == [(7, 3)]
    assert [(row["row"], row["chain_rows"]) for row in found(corpus)["transitivity"].rows] == [(6, [2, 3])]
    assert [row["row"] for row in found(corpus.take([4, 3, 1]))["contradictions"].rows] == [7]


def test_leaks_of_pairs_in_either_order_of_texts_of_triplets_and_of_paragraphs() -> None:
    corpus = pairs(("a cat", "an oak", 0), ("a cat", "an elm", 0), ("an oak", "a cat", 0), splits=THREE)
    assert found(corpus)["leaks"].numbers == {"dev": 0, "test": 1}  # a shared sentence is not a leak
    assert "near-leaks" not in found(corpus)
    triplets = Triplets(["a cat", "an owl"], ["one cat", "one owl"], ["an oak", "ONE CAT"], splits=["train", "test"])
    assert [(row["row"], row["other_row"]) for row in found(triplets)["leaks"].rows] == [(2, 1)]
    sections = {title: [Section("One", [f"Only in {title}.", "In both of them."])] for title in ("Cats", "Oaks")}
    articles = Articles([Article(*each) for each in sections.items()], splits=["train", "test"])
    assert found(articles)["leaks"].numbers == {"dev": 0, "test": 1}


def test_a_changed_word_in_a_long_text_is_a_near_leak() -> None:
    long = "the old grey cat slept all afternoon beside the warm kitchen stove while rain fell on the garden"
    texts = [
        long,
        "an oak stands alone in the middle of the field",
        long.replace("garden", "orchard"),
        "something else",
    ]
    near = found(Labelled(texts, list("xyxy"), splits=["train", "train", "test", "test"]))["near-leaks"]
    assert [(row["row"], row["other_row"]) for row in near.rows] == [(3, 1)]
    of_dev = found(Labelled(texts, list("xyxy"), splits=["dev", "train", "test", "test"]))["near-leaks"]
    assert of_dev.rows[0]["other_split"] == "dev"
    short = Labelled(["a cat sat by the door", "a cat sat by the fire", "an oak"], list("xyx"), splits=THREE)
    assert [row["row"] for row in found(short)["near-leaks"].rows] == [2]  # five of six words, a cosine of 0.66
    swapped = pairs(
        (texts[0], texts[1], 0), (texts[1], texts[2], 0), (texts[3], texts[0], 0), splits=["train", "dev", "test"]
    )
    assert [row["row"] for row in found(swapped)["near-leaks"].rows] == [2]


def test_contradictions_in_each_shape() -> None:
    labelled = Labelled(["a cat", "A  cat", "an oak", "an oak"], list("xyyy"), splits="train")
    assert [(row["row"], row["other_row"]) for row in found(labelled)["contradictions"].rows] == [(1, 2)]
    both = pairs(("a", "b", 1), ("b", "a", 0), ("a", "c", 0))
    assert found(both)["contradictions"].numbers == {"contradictions": 1}
    apart = pairs(("a", "b", 0), ("b", "a", 1.6), ("a", "c", 1), ("c", "a", 3), ("d", "e", 5), graded=True)
    assert found(apart)["contradictions"].places == (2,)
    assert [row["row"] for row in found(apart)["contradictions"].rows] == [3]  # 2 of 5 is more than a third, 1.6 is not
    reversed_ = Triplets(["a", "a"], ["b", "c"], ["c", "b"], splits="train")
    assert found(reversed_)["contradictions"].numbers == {"contradictions": 1}


def test_the_ceiling_is_what_labels_of_equal_texts_allow() -> None:
    # two of the three 'a cat' and both 'an oak' can be right: 4 of 5, and one more row
    corpus = Labelled(["a cat", "a cat", "A cat", "an oak", "an oak", "an elm"], list("xxyyyx"), splits="train")
    assert found(corpus)["ceiling"].numbers == {"ceiling": pytest.approx(5 / 6), "rows": 5, "texts": 2}
    assert [(row["row"], row["other_row"]) for row in found(corpus)["ceiling"].rows] == [(2, 1), (5, 4)]
    assert "ceiling" not in found(corpus.take([0, 3, 5]))
    # for grades, it is the correlation with their means
    graded = pairs(("a", "b", 0), ("b", "a", 1), ("a", "c", 4), ("c", "a", 2), ("a", "d", 5), graded=True)
    best = np.corrcoef([0.5, 0.5, 3, 3, 5], [0, 1, 4, 2, 5])[0, 1]
    assert found(graded)["ceiling"].numbers["ceiling"] == pytest.approx(best)


def test_broken_transitivity_shows_the_shortest_chain() -> None:
    # a = b = c = d and a = c, but a ≠ d; e is in another component, and b ≠ A contradicts the first row
    rows = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("a", "c", 1)]
    rows += [("d", "A", 0), ("e", "a", 0), ("b", "A", 0), ("a", "A", 0)]
    broken = found(pairs(*rows))["transitivity"]
    assert broken.numbers == {"broken": 1}
    assert broken.rows[0]["row"] == 5
    assert broken.rows[0]["chain"] == "d = c = a"
    assert broken.rows[0]["chain_rows"] == [3, 4]
    assert "transitivity" not in found(pairs(*rows[:4], rows[5]))


def test_expected_false_negatives_by_hand() -> None:
    labels = np.array(list("xxxyyz"))
    corpus = Labelled([f"text {number}" for number in range(6)], labels, splits="train")
    # every batch has all six rows: x meets 2 of its class, y 1, z 0: (3 * 2 + 2 * 1) / 6; five of six anchors meet one
    assert found(corpus)["false-negatives"].numbers == pytest.approx({"expected_6": 8 / 6, "hit_6": 5 / 6})
    one = Labelled([f"text {number}" for number in range(128)], ["x"] * 127 + ["y"], splits="train")
    assert "125.0 of 127" in found(one)["false-negatives"].sentence  # 127 * 126 / 128
    # positive pairs of two components, one of which has two pairs: (2 * 1) / 3
    same = pairs(("a", "b", 1), ("b", "c", 1), ("d", "e", 1), ("a", "d", 0))
    assert found(same)["false-negatives"].numbers == pytest.approx({"expected_3": 2 / 3, "hit_3": 2 / 3})


def test_false_negatives_agree_with_sampled_batches() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 20, 400)
    corpus = Labelled([f"text {number}" for number in range(400)], labels.astype(str), splits="train")
    drawn = np.array([labels[random.choice(400, 32, replace=False)] for _ in range(4000)])
    met = (drawn[:, 1:] == drawn[:, :1]).sum(axis=1)
    numbers = found(corpus)["false-negatives"].numbers
    assert numbers["expected_32"] == pytest.approx(met.mean(), rel=0.05)
    assert numbers["hit_32"] == pytest.approx((met > 0).mean(), rel=0.05)


@pytest.mark.parametrize(
    ("name", "least"), [("topics", 0.9), ("captions", 0.8), ("questions", 0.25), ("relatedness", 0.5)]
)
def test_planted_errors_are_among_the_most_suspicious_rows(name: str, least: float) -> None:
    """Fifty of a thousand labels are wrong, so twenty random rows would contain one of them."""
    corpus, random = load(name), np.random.default_rng(0)
    corpus = corpus.take(range(1000))
    wrong = random.choice(len(corpus), 50, replace=False)
    field = {"topics": "labels", "captions": "groups"}.get(name, "values")
    truth, said = (list(getattr(corpus, field)) for _ in range(2))
    if name == "topics":
        said[0] = "a class of one row"  # cannot be judged
    for row in wrong:
        others = [each for each in said if each != said[row]]
        said[row] = max(said) - said[row] if field == "values" else random.choice(others)
    doubted = replace(corpus, **{field: said})
    suspicious = found(doubted)["suspicious"]
    planted = {corpus.number_of(row) for row in wrong}
    json.dumps(suspicious.rows)
    assert len(suspicious.rows) == min(20, len(suspicious.places))
    assert [row["row"] for row in suspicious.rows] == [corpus.number_of(row) for row in suspicious.places[:20]]
    if name == "topics":  # a repeat with another label is a contradiction, which is listed once
        first = suspicious.places[0]
        texts, labels = list(corpus.texts), list(said)
        texts[999], labels[999] = texts[first], truth[first]
        again = found(replace(doubted, texts=texts, labels=labels))
        assert again["contradictions"].places == (min(first, 999, key=lambda row: labels[row]),)
        assert not {first, 999} & {*again["suspicious"].places}
    assert np.mean([row["row"] in planted for row in suspicious.rows]) >= least
    if name in ("topics", "questions"):
        truths = dict(zip(corpus.numbers, truth, strict=True))
        right = [row["suggested"] == truths[row["row"]] for row in suspicious.rows if row["row"] in planted]
        assert np.mean(right) >= 0.8
        assert 40 <= suspicious.numbers["contradicted"] <= 200  # rows whose label every method contradicts
