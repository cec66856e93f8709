"""Similarities as sums of parts: worked examples, plain loops and sums, tables and records."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from labkit.corpora import from_pairs, load
from labkit.explanation import LEFT_OUT, REST, Contrast, Explanation, Parts, lost, merged
from labkit.method import Method
from labkit.methods import METHODS
from labkit.text import Vocabulary
from labkit.training.encoders import ENCODERS, Encoder, Words, body_of_one_length, in_turn, integrated, vector_parts
from labkit.training.reader import Reader
from labkit.vectors import random_vectors

PAIR = "How do I mend my bike?", "How can I fix my old bicycle?"
FAR = "What is the best soup for a cold day?"

# --- worked examples ---------------------------------------------------------------------------------------------


def explained() -> Explanation:
    """(1, 0) + (0, 2) against (2, 0) + (0, 0) and a rest of (1, 1)."""
    a = Parts.of_sum(("red", "car"), [[1.0, 0], [0, 2]], unknown=("zyx",))
    b = Parts.of_sum(("red", "it"), [[2.0, 0], [0, 0]], np.array([1.0, 1.0]), unknown=("wvu", "zyx"))
    return Explanation.of_parts(("red car", "red it"), "exact", a, b)


def test_the_fewest_words_with_half_of_the_similarity_by_hand() -> None:
    a, b = ((("red", 0.1), ("car", 0.2), ("of", -0.1)), (("red", 0.15), (REST, 0.05)))
    own = [tuple(part for _, part in side) for side in (a, b)]
    names = [tuple(name for name, _ in side) for side in (a, b)]
    found = Explanation("", "", 0.4, "exact", *names, ((),), *own)
    assert found.half() == ("red",)  # 0.25 in both sentences
    assert replace(found, similarity=0.6).half() == ("red", "car")
    assert replace(found, similarity=1.0).half() == ()  # red and car together have 0.45
    assert replace(found, similarity=-0.1).half() == replace(found, way=LEFT_OUT).half() == ()


def test_the_parts_by_hand() -> None:
    found = explained()
    length = np.sqrt(5) * np.sqrt(10)  # the lengths of (1, 2) and (3, 1)
    assert found.names_a == ("red", "car")
    assert found.names_b == ("red", "it", REST)
    np.testing.assert_allclose(np.array(found.parts) * length, [[2, 0, 1], [0, 0, 2]], atol=1e-12)
    assert found.similarity == pytest.approx(5 / length)
    np.testing.assert_allclose(np.array(found.own_a) * length, [1.5, 1], atol=1e-12)
    np.testing.assert_allclose(np.array(found.own_b) * length, [1, 0, 1.5], atol=1e-12)
    assert found.words_b[0] == (REST, found.own_b[2])
    assert found.word_pairs[0][:2] in (("red", "red"), ("car", REST))
    assert found.gap == pytest.approx(0, abs=1e-15)
    assert found.unknown == ("zyx", "wvu")


def test_the_largest_parts_show_the_spaces_of_n_grams() -> None:
    ends = [Parts.of_sum(("he y", *more), np.eye(2)[: 1 + len(more)]) for more in (("r",), ())]
    found = Explanation.of_parts(("the year", "he y"), "exact", *ends)
    assert "“he␣y” +0.71" in found.largest(1)  # 1 / √2
    sentence = replace(found, way="neighbours", names_b=("she yawns",)).largest(1)
    assert "“he y” with “she yawns”" in sentence  # neighbours are whole sentences


def test_units_are_summed_to_words_and_nameless_ones_go_to_the_rest() -> None:
    names, rows = merged(("", "cat", "naps", ""), np.arange(10.0).reshape(5, 2), (1, 2, 1, 1))
    assert names == ("cat", "naps")
    assert rows.tolist() == [[6, 8], [6, 7]]


def test_a_linear_map_keeps_the_sum() -> None:
    random = np.random.default_rng(0)
    parts = Parts.of_sum("abc", random.normal(size=(3, 4)), random.normal(size=4))
    A, move = random.normal(size=(4, 2)), random.normal(size=2)
    moved = parts.through(lambda rows: rows @ A, move)
    np.testing.assert_allclose(moved.vector, parts.vector @ A + move)
    np.testing.assert_allclose(moved.rows.sum(axis=0) + moved.rest, moved.vector)


def test_a_record_and_a_table_of_the_parts() -> None:
    found = explained()
    assert "zyx" in str(found)
    lines = [line for line in found.table() if line["kind"] == "pair of words"]
    assert sum(float(line["part"]) for line in lines) == pytest.approx(found.similarity)
    record = json.loads(json.dumps(found.record()))
    assert record["words_a"][0] == ["red", pytest.approx(1.5 / np.sqrt(50))]
    empty, red = Parts.of_sum((), np.zeros((0, 2))), Parts.of_sum(("red",), [[1.0, 0]])
    assert Explanation.of_parts(("", "b"), "exact", empty, red).similarity == 0


# --- contrasts of three sentences --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bag() -> Method:
    method = METHODS["bag"](epochs=1, dimension=24)
    method.fit(load("questions").take(range(600)))
    return method


@pytest.fixture(scope="module")
def unfamiliar() -> Method:
    """A method that knows few words and centres its vectors."""
    method = METHODS["pca"](base="mean-vectors", dimension=3)
    texts = ["a red car", "a blue car", "the old dog naps", "the dog runs", "a red dog", "the old car"]
    method.fit(from_pairs(zip(texts[:3], texts[3:], strict=True), [1, 0, 1]))
    return method


@pytest.mark.parametrize("kind", ["bag", "unfamiliar"])
def test_a_contrast_adds_up_on_either_side(kind: str, request: pytest.FixtureRequest) -> None:
    method = request.getfixturevalue(kind)
    sentences = (*PAIR, FAR) if kind == "bag" else ("a red car", "a red dog", "the old dog")
    found = method.contrast(*sentences)
    a, b, c = ([text] for text in sentences)
    wanted = float((method.similarity(a, b) - method.similarity(a, c))[0, 0])
    assert found.difference == pytest.approx(wanted, abs=1e-5)
    assert sum(part for _, part in found.words_a) == pytest.approx(wanted, abs=1e-5)
    assert sum(part for _, part in (*found.words_b, *found.words_c)) == pytest.approx(wanted, abs=1e-5)
    assert sentences[0] in found.text(top=2)
    assert json.loads(json.dumps(found.record()))["difference"] == found.difference


def test_a_contrast_by_left_out_words_is_the_difference_of_two_explanations(bag: Method) -> None:
    found = bag.contrast(*PAIR, FAR, way=LEFT_OUT)
    S = bag.similarity([PAIR[0], "How do I my bike?"], [PAIR[1], FAR])
    assert dict(found.words_a)["mend"] == pytest.approx(float(S[0, 0] - S[1, 0] - S[0, 1] + S[1, 1]), abs=1e-6)
    far = bag.similarity([PAIR[0]], [FAR, FAR.replace("soup ", "")])
    assert dict(found.words_c)["soup"] == pytest.approx(float(far[0, 1] - far[0, 0]), abs=1e-6)


@pytest.mark.parametrize("kind", ["bag", "unfamiliar"])
def test_lost_parts_add_up_to_the_missing_similarity(kind: str, request: pytest.FixtureRequest) -> None:
    method = request.getfixturevalue(kind)
    a, b = PAIR if kind == "bag" else ("a red car", "a red dog")
    one, other = lost(method, a, b)
    missing = 1 - float(method.similarity([a], [b])[0, 0])
    assert sum(part for _, part in (*one, *other)) == pytest.approx(missing, abs=1e-5)
    same, near, same_b = method.explain(a, a), method.explain(a, b), method.explain(b, b)
    assert [part for _, part in one] == pytest.approx(np.subtract(same.own_a, near.own_a), abs=1e-9)
    assert [part for _, part in other] == pytest.approx(np.subtract(same_b.own_b, near.own_b), abs=1e-9)
    assert Contrast(same, near).words_a == tuple(
        (name, pytest.approx(2 * part, abs=1e-9)) for name, part in sorted(one, key=lambda each: -abs(each[1]))
    )


# --- the parts of networks ---------------------------------------------------------------------------------------


def test_integrated_jacobians_of_a_product_by_hand() -> None:
    """f = (x² y, x + y) from 0 to (2, 3): ∫ 2αx αy x dα = 2/3 x² y for x, 1/3 x² y for y; they add up to f."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x[:, 0] ** 2 * x[:, 1], x[:, 0] + x[:, 1]], 1)

    moves = torch.tensor([[2.0, 0], [0, 3.0]])
    rows, start, end = integrated(f, torch.zeros(1, 2), moves, 40)
    np.testing.assert_allclose(rows, [[8, 2], [4, 3]], rtol=2e-3)
    assert (start.tolist(), end.tolist()) == ([0, 0], [12, 5])


@pytest.mark.parametrize("name", ["cnn", "bilstm"])
def test_integrated_jacobians_against_a_plain_sum_with_autograd(name: str) -> None:
    torch.manual_seed(0)
    body = ENCODERS[name](6, 4).double()
    x = torch.randn(1, 5, 6, dtype=torch.float64)
    f = body_of_one_length(body)
    rows, start, end = integrated(f, torch.zeros_like(x), in_turn(x), 60)
    wanted, count = torch.zeros(5, 4, dtype=torch.float64), 120
    for number in range(count):
        at = (number + 0.5) / count * x
        J = torch.autograd.functional.jacobian(lambda at: f(at)[0], at)[:, 0]  # (4, 5, 6)
        wanted += torch.einsum("kld,ld->lk", J, x[0]) / count
    torch.testing.assert_close(rows, wanted, atol=4e-3, rtol=0)
    torch.testing.assert_close(rows.sum(0), end - start, atol=4e-3, rtol=0)


@pytest.mark.parametrize("unit", ["words", "pieces", "characters"])
def test_a_word_has_the_sum_of_its_units(unit: str) -> None:
    texts = ["Isn't unlearned art 3.5 km away?", "12 Mill Lane <PAD> Heron Bakery <PAD> 51"]
    known = ["is", "isn't", "n", "##n", "t", "'", "un", "##learn", "##ed", "art", "km", "away", "?", *"12MillLane<>"]
    vocabulary = Vocabulary(("<PAD>", "<UNK>", *dict.fromkeys(known)))
    for longest in (4, 60):
        reader = Reader(vocabulary, unit, longest)
        torch.manual_seed(1)
        words = Words(random_vectors(vocabulary, 5, seed=1))
        encoder = Encoder(words, ENCODERS["bag"](5, 5), normalised=False)
        for text in [*texts, "", "?!"]:
            spelled, numbers = reader.spelled(text), reader.numbers(text)
            assert sum(count for _, count in spelled) == len(numbers)
            found = vector_parts(encoder, reader, text, "exact")
            with torch.no_grad():
                wanted = encoder(*reader.batch([numbers]))[0].double().numpy()
            np.testing.assert_allclose(found.rows.sum(axis=0), wanted, atol=1e-6)
            np.testing.assert_allclose(found.vector, wanted, atol=1e-6)
    assert Reader(vocabulary, "pieces", 60).spelled("unlearned art")[0] == ("unlearned", 3)
    assert Reader(vocabulary, "pieces", 2).spelled("unlearned art") == [("unlearned", 2)]


def test_neighbours_explain_a_vector_computed_from_them() -> None:
    method = METHODS["sbert-lp"](base="lsa", dimension=8, neighbours=5)
    corpus = load("questions").fewer(0.1)
    method.fit(corpus)
    found = method.explain(*PAIR)
    assert PAIR[0] not in corpus.part("train").sentences()  # a new sentence, where y = Σ_j w_j y_j
    neighbours = list(found.names_a)[: len(found.weights_a)]  # followed by the rest
    assert len(neighbours) == 5
    mixed = np.asarray(found.weights_a) @ method.encode(neighbours)
    assert mixed == pytest.approx(method.encode(PAIR[:1])[0], abs=1e-6)
    train = corpus.part("train").sentences()[0]
    assert REST in method.explain(train, PAIR[0]).names_a  # the contribution of its own eigenvector
