"""Losses for other libraries: equal to their own where they have them, otherwise to our own training."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import labkit
from labkit.adapters.losses import SentenceLoss, metric_learning_loss, sentence_transformers_loss
from labkit.corpora.records import Corpus, Labelled, Pairs, Triplets
from labkit.pairs.losses import LOSSES
from labkit.sentpwnet.batches import batch_source
from labkit.sentpwnet.method import PairSettings, PairTask, miner_of
from tests.tiny_sbert import tiny_sbert

ROOT = Path(__file__).resolve().parents[2]
EACH = list(LOSSES)
Columns = Sequence[Sequence[int]]


class Rows(nn.Module):
    """A lookup model: sentence n is the single token n, and its vector is row n of a table."""

    def __init__(self, rows: int = 40, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(rows, 6, generator=generator, dtype=torch.float64) + 0.4)

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return features | {"sentence_embedding": self.weight[features["input_ids"][:, 0]]}


def features(columns: Columns) -> list[dict[str, Tensor]]:
    ids = [torch.tensor(column)[:, None] for column in columns]
    return [{"input_ids": column, "attention_mask": torch.ones_like(column)} for column in ids]


def slope(value: Tensor, model: Rows) -> tuple[float, Tensor]:
    return value.item(), torch.autograd.grad(value, model.weight)[0]


def assert_same(ours: Tensor, theirs: Tensor, model: Rows) -> None:
    (value, found), (expected, their_slope) = slope(ours, model), slope(theirs, model)
    assert value == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert their_slope.abs().max() > 0
    torch.testing.assert_close(found, their_slope, rtol=1e-5, atol=1e-8)


def theirs(name: str, model: nn.Module, **options: Any) -> nn.Module:
    return getattr(pytest.importorskip("sentence_transformers.sentence_transformer.losses"), name)(model, **options)


A, B, C, D = (list(range(start, start + 8)) for start in (0, 8, 16, 24))
CLASSES = torch.tensor([0, 0, 1, 1, 1, 2, 2, 2])


BOTH_WAYS = {"directions": ("query_to_doc", "doc_to_query"), "partition_mode": "per_direction"}


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("columns", [(A, B), (A, B, C), (A, B, C, D)], ids=len)
def test_multiple_negatives_ranking(columns: Columns, symmetric: bool) -> None:
    model = Rows()
    their = theirs("MultipleNegativesRankingLoss", model, **BOTH_WAYS if symmetric else {})
    ours = sentence_transformers_loss(model, "infonce", in_batch=True, temperature=1 / 20, symmetric=symmetric)
    assert_same(ours(features(columns)), their(features(columns), None), model)


@pytest.mark.parametrize("grades", [[0.1, 0.9, 0.3, 0.3, 1, 0, 0.5, 0.7], [0.0, 1, 1, 0, 1, 0, 0, 1]])
def test_cosent(grades: list[float]) -> None:
    model, labels = Rows(), torch.tensor(grades)
    ours, their = sentence_transformers_loss(model, "cosent", temperature=0.1), theirs("CoSENTLoss", model, scale=10.0)
    assert_same(ours(features([A, B]), labels), their(features([A, B]), labels), model)
    equal = torch.full((8,), 0.5)
    value, found = slope(ours(features([A, B]), equal), model)
    assert value == their(features([A, B]), equal).item() == 0
    assert not found.any()


def test_hardest_triplets_of_classes() -> None:
    model = Rows()
    metric = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    cosine = metric.BatchHardTripletLossDistanceFunction.cosine_distance
    soft = sentence_transformers_loss(model, "soft-triplet", miner="hardest", temperature=1.0)
    their = theirs("BatchHardSoftMarginTripletLoss", model, distance_metric=cosine)
    assert_same(soft(features([A]), CLASSES), their(features([A]), CLASSES), model)
    hinge = sentence_transformers_loss(model, "margin-triplet", miner="hardest", margin=0.7)
    their = theirs("BatchHardTripletLoss", model, distance_metric=cosine, margin=0.7)
    assert_same(hinge(features([A]), CLASSES), their(features([A]), CLASSES), model)


def test_given_triplets() -> None:
    model = Rows()
    metric = pytest.importorskip("sentence_transformers.sentence_transformer.losses").TripletDistanceMetric.COSINE
    ours = sentence_transformers_loss(model, "margin-triplet", margin=0.3)
    their = theirs("TripletLoss", model, distance_metric=metric, triplet_margin=0.3)
    assert_same(ours(features([A, B, C])), their(features([A, B, C]), None), model)


def test_simcse_without_dropout() -> None:
    model = Rows()
    their = theirs("MultipleNegativesRankingLoss", model, **BOTH_WAYS)
    ours = sentence_transformers_loss(model, "simcse")
    assert_same(ours(features([A])), their(features([A, A]), None), model)
    assert_same(ours(features([[*A, 0, 1]])), their(features([A, A]), None), model)  # repeats count once
    assert_same(ours(features([A[:4], A[2:6]]), torch.ones(4)), their(features([A[:6], A[:6]]), None), model)
    views = [model.weight[A], model.weight[B]]  # as if dropout had encoded each sentence twice
    assert_same(ours.compute_loss_from_embeddings(views, None), their(features([A, B]), None), model)


def steps(loss: SentenceLoss, columns: Columns, labels: Tensor, count: int) -> None:
    for _ in range(count):
        loss(features(columns), labels).backward()


def test_steps_without_a_usable_pair_are_refused() -> None:
    """Each sentence is in one labelled pair, so none has both a positive and a negative, as the miner requires."""
    labels = torch.tensor([0, 1] * 4)
    loss = sentence_transformers_loss(Rows(), "locality", miner="informative", labelled=True)
    steps(loss, [A, B], labels, 9)
    with pytest.raises(ValueError, match="labelled=no"):
        steps(loss, [A, B], labels, 1)
    steps(sentence_transformers_loss(Rows(), "locality", labelled=True), [A, B], labels, 10)


def test_a_gradient_in_the_first_steps_is_enough() -> None:
    loss = sentence_transformers_loss(Rows(), "locality", miner="informative", labelled=True, epsilon=2.0)
    steps(loss, [A[:2], B[:2]], torch.tensor([0, 1]), 9)
    with pytest.warns(UserWarning, match="kept"):
        steps(loss, [[0, 0], [8, 9]], torch.tensor([0, 1]), 1)
    steps(loss, [A[:2], B[:2]], torch.tensor([0, 1]), 10)


def test_first_steps_that_keep_few_pairs_warn() -> None:
    loss = sentence_transformers_loss(Rows(), "locality", miner="informative", labelled=True, epsilon=2.0)
    columns = [[*A, 0], [*B, 20]]  # only sentence 0 has a positive and a negative
    with pytest.warns(UserWarning, match="labelled=no"):
        steps(loss, columns, torch.tensor([1] * 8 + [0]), 10)


class Task(PairTask):
    """A step of our own training, with the vectors of a `Rows` model."""

    def __init__(self, model: Rows, texts: list[str], settings: PairSettings) -> None:
        self.model, self.texts, self._settings = model, texts, settings
        self._miner, self._log_temperature = miner_of(settings), None

    def outputs(self, batch: Any, rows: slice = slice(None)) -> Tensor:
        return F.normalize(self.model.weight[[int(self.texts[number]) for number in batch.sentences]], dim=1)


PAIRS = [(0, 1, 1), (2, 3, 0), (1, 4, 1), (5, 6, 0), (7, 7, 1), (3, 5, 1), (0, 2, 0), (1, 0, 1), (8, 9, 0)]
GRADED = [(0, 1, 4.5), (2, 3, 0.5), (1, 4, 2.5), (5, 6, 3.0), (6, 5, 1.0), (3, 8, 5.0), (0, 2, 0.0), (7, 9, 4.0)]
TRIPLETS = [(0, 1, 2), (3, 4, 5), (0, 1, 6), (7, 2, 4), (4, 3, 1), (0, 8, 9)]
NAMED = [(0, 3), (1, 3), (2, 7), (4, 7), (5, 7), (0, 3), (6, 9)]


def corpus_of(kind: str) -> tuple[Corpus, Columns, list[float] | None]:
    """A corpus, and the same data as columns and labels of a dataset."""
    rows: Sequence[tuple[Any, ...]] = {"graded": GRADED, "triplets": TRIPLETS, "classes": NAMED}.get(kind, PAIRS)
    columns = list(zip(*rows, strict=True))
    texts: list[list[str]] = [list(map(str, column)) for column in columns]
    if kind == "triplets":
        return Triplets(*texts, splits="train"), columns, None
    if kind == "classes":
        return Labelled(*texts, splits="train"), columns[:1], columns[1]
    graded = kind == "graded"
    return Pairs(*texts[:2], columns[2], graded=graded, splits="train"), columns[:2], columns[2]


EVERY_KIND = ["pairs", "labelled", "graded", "triplets", "in batch", "classes"]
AS_TRAINED = [
    *[("locality", kind, "none") for kind in EVERY_KIND],
    ("infonce", "in batch", "none"),
    *[(name, "pairs", "none") for name in EACH],
    *[("locality", "classes", miner) for miner in ("informative", "hardest", "random")],
    ("cosent", "graded", "none"),
    ("simcse", "classes", "none"),
    ("margin-triplet", "triplets", "hardest"),
]


@pytest.mark.parametrize(("name", "kind", "miner"), dict.fromkeys(AS_TRAINED))
def test_equals_our_own_training(name: str, kind: str, miner: str) -> None:
    """Our training divides losses by anchor by all sentences, including those without a pair, so it is rescaled."""
    model = Rows()
    corpus, columns, labels = corpus_of("triplets" if kind == "in batch" else kind)
    needs = LOSSES[name].needs
    given: dict[str, Any] = {"miner": miner} | ({"share": 1.0} if miner == "random" else {})
    said = {"labelled": {"labelled": True}, "in batch": {"in_batch": True}}.get(kind, {}) if needs != "texts" else {}
    settings = PairSettings.of({"loss": name, **given, **said})
    source = batch_source(corpus, per_class=9, needs=needs, **said)
    (batch,) = source.batches([1] * len(source.texts), 99, 0)
    task = Task(model, source.texts, settings)
    expected, _ = task.loss(task.outputs(batch), batch)
    P, N = batch.masks(torch.device("cpu"))
    if LOSSES[name].by_anchor:
        expected = expected * len(P) / (P | N).any(1).sum()
    ours = sentence_transformers_loss(model, name, top=5.0 if kind == "graded" else 1.0, **given, **said)
    tensor = None if labels is None else torch.tensor(labels)
    value, found = slope(ours(features(columns), tensor), model)
    assert value == pytest.approx(expected.item(), rel=1e-6, abs=1e-9)
    torch.testing.assert_close(found, slope(expected, model)[1], rtol=1e-5, atol=1e-8)
    if LOSSES[name].by_anchor and kind in ("pairs", "graded", "classes"):
        assert (P | N).any(1).all()  # every sentence has a pair, so the values are equal


def test_worked_example_of_pairs() -> None:
    """Cosines 0.8 (label 1) and 0.6 (label 0), and 0, 0, 0.6, 0.36 across the pairs; the margin is 0.5."""
    model = Rows()
    with torch.no_grad():
        model.weight[:4, :] = torch.tensor([[1, 0, 0], [0.8, 0.6, 0], [0, 1, 0], [0.0, 0.6, 0.8]]).repeat(1, 2)
    labels = torch.tensor([1, 0])
    alone = sentence_transformers_loss(model, "contrastive", labelled=True)
    assert alone(features([[0, 2], [1, 3]]), labels).item() == pytest.approx((-0.8 - 0.8 + 0.1 + 0.1) / 4, abs=1e-6)
    everything = sentence_transformers_loss(model, "contrastive")
    rows = (-0.8, -0.8 + 0.1, 0.1 + 0.1, 0.1)  # across, only 1 and 2 exceed the margin, with 0.6
    assert everything(features([[0, 2], [1, 3]]), labels).item() == pytest.approx(sum(rows) / 4, abs=1e-6)


def test_a_batch_without_pairs_has_zero_gradient() -> None:
    model = Rows()
    loss = sentence_transformers_loss(model, "infonce")
    for labels in (torch.tensor([0.5, 0.7]), torch.tensor([0.6, 0.6])):
        value, found = slope(loss(features([[0, 1], [2, 3]]), labels), model)
        assert value == 0
        assert not found.any()


def test_gradient_of_the_temperature() -> None:
    model = Rows()
    loss = sentence_transformers_loss(model, "infonce", temperature=0.2, learn_temperature=True)
    fixed = sentence_transformers_loss(model, "infonce", temperature=0.2)
    value = loss(features([A, B]))
    value.backward()
    assert value.item() == pytest.approx(fixed(features([A, B])).item())
    (learned,) = loss.pairs.parameters()
    step = 1e-4
    warm, cold = (
        sentence_transformers_loss(model, "infonce", temperature=0.2 * (1 + by))(features([A, B]))
        for by in (step, -step)
    )
    assert learned.grad.item() == pytest.approx((warm - cold).item() / (2 * step), rel=1e-3)
    module = metric_learning_loss("infonce", learn_temperature=True)
    assert len(list(copy.deepcopy(module).parameters())) == len(list(module.parameters())) == 1


def test_metric_learning_losses() -> None:
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    miners = pytest.importorskip("pytorch_metric_learning.miners")
    reducers = pytest.importorskip("pytorch_metric_learning.reducers")
    cosine = pytest.importorskip("pytorch_metric_learning.distances").CosineSimilarity()
    mine = miners.MultiSimilarityMiner(epsilon=0.2)
    scales = {"alpha": 2.0, "beta": 40.0, "base": 0.4}
    labels, X = torch.arange(12) // 3, Rows().weight[:12]
    mean = reducers.MeanReducer()
    contrastive = losses.ContrastiveLoss(1, 0.3, distance=cosine, reducer=reducers.SumReducer())
    cases: list[tuple[nn.Module, Callable[[Tensor], Tensor]]] = [
        (
            metric_learning_loss(miner="informative", epsilon=0.2, **scales),
            lambda X: losses.MultiSimilarityLoss(**scales)(X, labels, mine(X, labels)),
        ),
        (metric_learning_loss("supcon", temperature=0.2), lambda X: losses.SupConLoss(0.2, reducer=mean)(X, labels)),
        (metric_learning_loss("infonce", temperature=0.2), lambda X: losses.NTXentLoss(0.2, reducer=mean)(X, labels)),
        # for each of the 24 positives theirs has 1 - S, ours -S; theirs is a sum over pairs
        (metric_learning_loss("contrastive", margin=0.3), lambda X: (contrastive(X, labels) - 24) / 12),
    ]
    for ours, their in cases:
        (value, found), (expected, slopes) = (
            (value, torch.autograd.grad(value, leaf)[0])
            for loss in (lambda X, ours=ours: ours(X, labels), their)
            for leaf in [X.detach().clone().requires_grad_()]
            for value in [loss(leaf)]
        )
        assert value.item() == pytest.approx(expected.item(), rel=1e-6)
        torch.testing.assert_close(found, slopes, rtol=1e-5, atol=1e-8)


def test_equal_tokens_are_the_same_sentence() -> None:
    """Whatever the padding, and also for a static model, which gets all tokens of a column in one row."""
    transformer = pytest.importorskip("sentence_transformers").SentenceTransformer(tiny_sbert(), device="cpu").eval()
    static = pytest.importorskip("sentence_transformers.sentence_transformer.modules").StaticEmbedding(
        copy.deepcopy(transformer.tokenizer.backend_tokenizer), embedding_dim=8
    )
    once = ["the cat sleeps", "a dog jumps on the sofa", "the child looks at a bird"], ["a cat", "the dog", "the bird"]
    twice = [[*once[0], "a cat", "a dog"], [*once[1], "The  cat sleeps", "the dog jumps on the lake"]]
    for model in (transformer, type(transformer)(modules=[static], device="cpu")):
        loss = sentence_transformers_loss(model, "infonce")
        values = [loss([model.preprocess(list(column)) for column in columns]) for columns in (once, twice)]
        assert values[0] != values[1]
        cut = [column[:4] for column in twice]  # the fourth pair is the first one reversed
        torch.testing.assert_close(loss([model.preprocess(column) for column in cut]), values[0])


def refused(*columns: Sequence[int], labels: list[float] | None = None, **options: Any) -> Tensor:
    loss = sentence_transformers_loss(Rows(), **options)
    return loss(features(columns), None if labels is None else torch.tensor(labels))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: sentence_transformers_loss("MiniLM"), "model"),
        (lambda: refused(A, loss="locally"), "setting loss"),
        (lambda: refused(A, epochs=3), "setting 'epochs'"),
        (lambda: refused(A, margin=0.3), "setting margin"),
        (lambda: refused(A, top=0), "top"),
        (lambda: refused(A), "columns"),
        (lambda: refused(A, B, labelled=True), "columns"),
        (lambda: refused(A, B, labels=[1.0] * 8, in_batch=True), "in_batch"),
        (lambda: refused(A, B, labels=[1.0] * 7), "labels"),
        (lambda: refused(A, B, labels=[0.0] * 7 + [4.0]), "labels"),
    ],
)
def test_bad_arguments_are_refused(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises(ValueError, match=argument):
        call()


@pytest.mark.whole
def test_the_example_in_the_guide_trains_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `tiny_sbert` under the name of the guide's model, and a tenth of the questions."""
    pytest.importorskip("accelerate", reason="needs sentence-transformers[train]")
    pytest.importorskip("datasets")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.DOTALL)
    lines = next(block for block in blocks if "SentenceTransformerTrainer(" in block)
    monkeypatch.chdir(tmp_path)
    Path("all-MiniLM-L6-v2").symlink_to(tiny_sbert(), target_is_directory=True)
    questions = labkit.load("questions")
    fewer = questions.take(range(0, len(questions), 10))
    monkeypatch.setattr(labkit.corpora, "load", lambda name: fewer)
    found: dict[str, Any] = {}
    exec(lines, found)
    before, after = re.findall(r"auc=?[^0-9]*([0-9.]+)", capsys.readouterr().out)
    assert before != after
    start = type(found["model"])(tiny_sbert(), device="cpu").encode(["a cat sleeps"])
    assert abs(found["model"].encode(["a cat sleeps"]) - start).max() > 1e-3
