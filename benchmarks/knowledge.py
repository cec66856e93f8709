"""How fast is training from MiniLM, compared with the trainer of sentence-transformers? What does encoding cost?

    static, InfoNCE      vectors distilled from MiniLM, trained for six epochs on pairs of questions, 128 per batch;
                         theirs is StaticEmbedding with MultipleNegativesRankingLoss
    last two layers      of MiniLM with the same loss, for one and three epochs; theirs runs all layers each time, ours
                         the lower four once per sentence
    a map                a linear map after MiniLM, for three epochs; theirs runs MiniLM each time, ours once
    encoding             distilled vectors, compared with model2vec on the same vectors
    cost of a sentence   encoding speed of networks trained here, compared with MiniLM, and MB of the saved model

Both sides start from the same numbers, see the same pairs and tokenise them within the measured time. The vectors that
MiniLM gives to word pieces are computed before; nothing is scored or saved. CPU time on one thread, in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from datasets import Dataset
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import Dense
from torch import nn
from transformers import PrinterCallback

from benchmarks.machine import Alternation, alternate, describe, one_thread
from labkit import METHODS
from labkit.adapters.export import export
from labkit.adapters.parts import parts_of
from labkit.corpora import load
from labkit.corpora.records import Pairs
from labkit.pretrained import model_source, without_bars

MODEL, BATCH, ROUNDS = "all-MiniLM-L6-v2", 128, 3
FEW = 256  # pairs, or sentences, for MiniLM
COSTS: dict[str, dict[str, Any]] = {  # method, encoder -> settings
    "bag": {},
    "static": {},
    "siamese, CNN": {"encoder": "cnn"},
    "siamese, LSTM": {"encoder": "lstm"},
    "siamese, BiLSTM": {"encoder": "bilstm"},
}
# what learns -> its number of layers, and of epochs
MINILM = {"last two layers, one epoch": (2, 1), "last two layers, three": (2, 3), "a map, three epochs": (0, 3)}


def main() -> str:
    lines = [describe(), "", "| what | ours: CPU s | theirs: CPU s | theirs / ours |", "| --- " * 4 + "|"]
    with one_thread(), TemporaryDirectory() as name, without_bars():
        folder = Path(name)
        lines.append(_line(f"static, InfoNCE, {len(_pairs()):,} pairs, six epochs", _static(folder)))
        lines += [_line(f"MiniLM, {what}, {FEW} pairs", _layers(folder, *how)) for what, how in MINILM.items()]
        lines.append(_line("encoding all questions", _encoding(folder)))
        lines += ["", "| method | sentences per second | MiniLM | times as fast | MB |", "| --- " * 5 + "|"]
        lines += _costs(folder)
    return "\n".join(lines)


def _line(what: str, found: Alternation) -> str:
    return f"| {what} | {found.b:.2f} | {found.a:.2f} | {found.ratio:.2f} ({found.least:.2f}-{found.most:.2f}) |"


def _pairs(count: int | None = None) -> Pairs:
    """The positive training pairs of `questions`."""
    questions = load("questions").part("train")
    assert isinstance(questions, Pairs)
    return questions.take([row for row, label in enumerate(questions.labels) if label][:count])


def _theirs(model: Any, pairs: Pairs, epochs: int, folder: Path) -> Callable[[], None]:
    """A function that trains a copy of the model with their trainer and loss."""
    rows = Dataset.from_dict({"anchor": pairs.text_a, "positive": pairs.text_b})

    def train() -> None:
        learned = deepcopy(model)
        learned.model_card_data.set_widget_examples = lambda _: None
        how = SentenceTransformerTrainingArguments(
            str(folder / "trainer"), num_train_epochs=epochs, per_device_train_batch_size=BATCH, use_cpu=True,
            report_to="none", logging_strategy="no", save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        trainer = SentenceTransformerTrainer(learned, how, rows, loss=MultipleNegativesRankingLoss(learned))
        trainer.remove_callback(PrinterCallback)
        trainer.train()

    return train


def _ours(name: str, pairs: Pairs, epochs: int, **settings: Any) -> Callable[[], object]:
    """A function that trains one of our methods."""
    settings |= {"epochs": epochs, "loss": "infonce", "batch": BATCH, "patience": 0, "device": "cpu", "labelled": False}
    return lambda: METHODS[name](**settings).fit(pairs)


def _static(folder: Path) -> Alternation:
    pairs = _pairs()
    untrained = METHODS["static"](epochs=0)
    untrained.fit(pairs)
    modules = parts_of(untrained).modules
    assert modules is not None
    model = SentenceTransformer(modules=modules(), device="cpu")
    return alternate(_theirs(model, pairs, 6, folder), _ours("static", pairs, 6), ROUNDS)


def _layers(folder: Path, layers: int, epochs: int) -> Alternation:
    pairs = _pairs(FEW)
    model: Any = SentenceTransformer(model_source(MODEL), device="cpu")
    model.requires_grad_(False)
    if layers:
        for layer in model[0].auto_model.encoder.layer[-layers:]:
            layer.requires_grad_(True)
    else:
        size = model.get_embedding_dimension()
        linear = Dense(size, size, activation_function=nn.Identity())
        model = SentenceTransformer(modules=[*model, linear], device="cpu")
    ours = _ours("siamese", pairs, epochs, encoder="transformer", model=MODEL, layers=layers)
    return alternate(_theirs(model, pairs, epochs, folder), ours, ROUNDS, warm=False)


def _encoding(folder: Path) -> Alternation:
    method = METHODS["static"](epochs=0)
    method.fit(_pairs(FEW))
    export(method, folder / "model2vec", "model2vec")
    theirs = StaticModel.from_pretrained(folder / "model2vec")
    texts = load("questions").sentences()
    return alternate(lambda: theirs.encode(texts), lambda: method.encode(texts), ROUNDS)


def _costs(folder: Path) -> Iterator[str]:
    """Table rows with the encoding speed and saved size of each method, which do not depend on how long it trains."""
    texts = load("questions").sentences()
    minilm = METHODS["sbert"]()
    minilm.fit(_pairs(FEW))
    for name, settings in COSTS.items():
        method = METHODS[name.split(",")[0]](epochs=1, device="cpu", **settings)
        method.fit(load("questions"))
        method.save(folder / name)
        size = sum(file.stat().st_size for file in (folder / name).rglob("*") if file.is_file())
        found = alternate(partial(minilm.encode, texts[:FEW]), partial(method.encode, texts), ROUNDS)
        mine, theirs = len(texts) / found.b, FEW / found.a
        yield f"| {name} | {mine:,.0f} | {theirs:,.0f} | {found.ratio * len(texts) / FEW:.0f} | {size / 2**20:.1f} |"
