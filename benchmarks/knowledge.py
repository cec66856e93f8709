"""Knowledge that was there before: trained further beside sentence-transformers' trainer, encoded beside model2vec.

    static, InfoNCE       vectors distilled from MiniLM, six epochs of pairs of questions, batches of 128 pairs: theirs
                          is StaticEmbedding with MultipleNegativesRankingLoss
    last two layers       of MiniLM, by the same loss, for one epoch and for three: theirs reads a sentence through all
                          layers each time, ours through the lower four once
    a map after MiniLM    a linear map of its vectors, for three epochs: theirs reads as before, ours once
    encoding              the distilled vectors' sentences a second, beside model2vec's own on the same vectors
    what a sentence costs  sentences a second of what was trained here, beside MiniLM's, and MB of what is kept

Both sides begin with the same numbers, see the same pairs, and tokenise them within the time; what MiniLM makes of each
word piece was computed before, nothing is scored and nothing is saved. CPU time of one thread, the two in turn.

    python -m benchmarks knowledge
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import Alternation, alternate, describe, threads
from labkit import METHODS
from labkit.adapters.export import export
from labkit.adapters.parts import parts_of
from labkit.corpora import load
from labkit.corpora.records import Pairs
from labkit.pretrained import model_source, without_bars

MODEL, BATCH, ROUNDS = "all-MiniLM-L6-v2", 128, 3
FEW = 256  # pairs for MiniLM, and sentences
#: method, what is told apart -> settings
COSTS: dict[str, dict[str, Any]] = {
    "bag": {},
    "static": {},
    "siamese, CNN": {"encoder": "cnn"},
    "siamese, LSTM": {"encoder": "lstm"},
    "siamese, BiLSTM": {"encoder": "bilstm"},
}
#: what -> how many of the last layers learn, for how many epochs
MINILM = {"last two layers, one epoch": (2, 1), "last two layers, three": (2, 3), "a map, three epochs": (0, 3)}


def main() -> str:
    """The table."""
    with threads(1), TemporaryDirectory() as folder, without_bars():
        lines = [
            describe(),
            "",
            "| what | ours: CPU s | theirs: CPU s | ours is so many times as fast |",
            "| --- " * 4 + "|",
            _line(f"static, InfoNCE, {len(_pairs()):,} pairs, six epochs", _static(Path(folder))),
            *(_line(f"MiniLM, {what}, {FEW} pairs", _layers(Path(folder), *how)) for what, how in MINILM.items()),
            _line("encoding all questions", _encoding(Path(folder))),
            "",
            "| method | sentences a second | MiniLM in turn | so many times as fast | MB |",
            "| --- " * 5 + "|",
            *_costs(Path(folder)),
        ]
    return "\n".join(lines)


def _line(what: str, found: Alternation) -> str:
    return f"| {what} | {found.b:.2f} | {found.a:.2f} | {found.ratio:.2f} ({found.least:.2f}-{found.most:.2f}) |"


def _pairs(count: int | None = None) -> Pairs:
    """Pairs of questions that ask the same, all of them to be learned from."""
    questions = load("questions").part("train")
    assert isinstance(questions, Pairs)
    return questions.take([row for row, label in enumerate(questions.labels) if label][:count])


def _theirs(model: Any, pairs: Pairs, epochs: int, folder: Path) -> Callable[[], None]:
    """A training of this model by their trainer and their loss, anew at each call."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from transformers import PrinterCallback

    rows = Dataset.from_dict({"anchor": pairs.text_a, "positive": pairs.text_b})

    def train() -> None:
        learned = deepcopy(model)
        learned.model_card_data.set_widget_examples = lambda _: None
        how = SentenceTransformerTrainingArguments(
            str(folder / "trainer"), num_train_epochs=epochs, per_device_train_batch_size=BATCH, use_cpu=True,
            report_to="none", logging_strategy="no", save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        loss = MultipleNegativesRankingLoss(learned)
        trainer = SentenceTransformerTrainer(learned, how, rows, loss=loss)
        trainer.remove_callback(PrinterCallback)
        trainer.train()

    return train


def _ours(name: str, pairs: Pairs, epochs: int, **settings: Any) -> Callable[[], None]:
    """A training run of ours."""
    fixed = {"loss": "infonce", "batch": BATCH, "patience": 0, "device": "cpu", "labelled": False}

    def train() -> None:
        METHODS[name](**{**fixed, "epochs": epochs, **settings}).fit(pairs)

    return train


def _opened(modules: list[Any]) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(modules=modules, device="cpu")


def _static(folder: Path) -> Alternation:
    pairs = _pairs()
    untrained = METHODS["static"](epochs=0)
    untrained.fit(pairs)
    modules = parts_of(untrained).modules
    assert modules is not None
    return alternate(_theirs(_opened(modules()), pairs, 6, folder), _ours("static", pairs, 6), ROUNDS)


def _layers(folder: Path, layers: int, epochs: int) -> Alternation:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense
    from torch import nn

    pairs = _pairs(FEW)
    model = SentenceTransformer(model_source(MODEL), device="cpu")
    model.requires_grad_(False)
    if layers:
        for layer in model[0].auto_model.encoder.layer[-layers:]:
            layer.requires_grad_(True)
    else:
        size = model.get_embedding_dimension()
        model = _opened([*model, Dense(size, size, activation_function=nn.Identity())])
    ours = partial(_ours, "siamese", pairs, epochs, encoder="transformer", model=MODEL, layers=layers)
    return alternate(_theirs(model, pairs, epochs, folder), ours(), ROUNDS, warm=False)


def _encoding(folder: Path) -> Alternation:
    from model2vec import StaticModel

    method = METHODS["static"](epochs=0)
    method.fit(_pairs(FEW))
    export(method, folder / "model2vec", "model2vec")
    theirs = StaticModel.from_pretrained(folder / "model2vec")
    texts = load("questions").sentences()
    return alternate(lambda: theirs.encode(texts), lambda: method.encode(texts), ROUNDS)


def _costs(folder: Path) -> Iterator[str]:
    """What each method takes to encode a sentence and to be kept; how long it was trained does not matter for that."""
    texts = load("questions").sentences()
    lent = METHODS["sbert"]()
    lent.fit(_pairs(FEW))
    for name, settings in COSTS.items():
        method = METHODS[name.split(",")[0]](epochs=1, device="cpu", **settings)
        method.fit(load("questions"))
        method.save(folder / name)
        size = sum(file.stat().st_size for file in (folder / name).rglob("*") if file.is_file())
        found = alternate(partial(lent.encode, texts[:FEW]), partial(method.encode, texts), ROUNDS)
        mine, theirs = len(texts) / found.b, FEW / found.a
        yield f"| {name} | {mine:,.0f} | {theirs:,.0f} | {found.ratio * len(texts) / FEW:.0f} | {size / 2**20:.1f} |"
