"""Export a method to a folder that other libraries can serve without labkit. Extras: export, sbert.

    sentence-transformers   SentenceTransformer(FOLDER)
    onnx                    model.onnx, (input_ids (n, length), attention_mask (n, length)) -> sentence_embedding (n, d)
    model2vec               StaticModel.from_pretrained(FOLDER)

In: a fitted method. Out: the folder, with tokenizer.json and a README.md that says how to load it, and `Exported`. The
vectors equal those of the method up to rounding; the README lists differences under "Limits". `labkit.adapters.parts`
splits the method into parts.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models

from labkit.adapters.parts import PADDING, ExportParts, parts_of
from labkit.arrays import unit
from labkit.atomic import amount, folder_in_place
from labkit.evaluation.pairs import correlation
from labkit.extras import require
from labkit.hub import Intervals, Metrics, card_of
from labkit.method import Method
from labkit.pretrained import opened_model, without_bars
from labkit.text import PAD, without_halves

# --- forms -------------------------------------------------------------------------------------------------------

GRAPH, TABLE, TOKENIZER, CONFIG = "model.onnx", "model.safetensors", "tokenizer.json", "config.json"
TOGETHER = 256  # sentences per batch


def write_modules(parts: ExportParts, folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    if parts.modules is None:
        raise ValueError("sentence-transformers has no modules for the network of this method; use --to onnx")
    SentenceTransformer(modules=parts.modules(), device="cpu").save(str(folder), create_model_card=False)


def read_modules(folder: Path, sentences: list[str]) -> np.ndarray:
    vectors: np.ndarray = opened_model.__wrapped__(str(folder), "cpu").encode(sentences, show_progress_bar=False)
    return vectors


def write_onnx(parts: ExportParts, folder: Path) -> None:
    """Write the graph with torch's tracing exporter; dynamo=True is slower and would fix the batch size of an LSTM."""
    if parts.tokenizer.padding is None:
        parts.tokenizer.enable_padding(pad_id=PADDING, pad_token=PAD)
    parts.tokenizer.save(str(folder / TOKENIZER))
    names, axes = ["input_ids", "attention_mask"], {0: "sentences", 1: "tokens"}
    ids = torch.tensor([[1, 1, 1], [1, 0, 0]])
    torch.onnx.export(
        parts.network.eval(),
        (ids, (ids > 0).long()),
        str(folder / GRAPH),
        input_names=names,
        output_names=["sentence_embedding"],
        dynamic_axes={**dict.fromkeys(names, axes), "sentence_embedding": {0: "sentences"}},
        dynamo=False,
    )


def read_onnx(folder: Path, sentences: list[str]) -> np.ndarray:
    from onnxruntime import InferenceSession

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    session = InferenceSession(str(folder / GRAPH), providers=["CPUExecutionProvider"])
    vectors = []
    for start in range(0, len(sentences), TOGETHER):
        read = tokenizer.encode_batch(sentences[start : start + TOGETHER])
        ids, mask = (np.array([getattr(each, name) for each in read], np.int64) for name in ("ids", "attention_mask"))
        vectors.append(session.run(None, {"input_ids": ids, "attention_mask": mask})[0])
    return np.concatenate(vectors)


def quantize_onnx(folder: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    whole = folder / f"whole-{GRAPH}"
    (folder / GRAPH).rename(whole)
    # with a scale per column and seven bits, MiniLM loses 0.010 on `questions`; without them, it loses 0.042
    quantize_dynamic(whole, folder / GRAPH, per_channel=True, reduce_range=True)
    whole.unlink()


def write_model2vec(parts: ExportParts, folder: Path) -> None:
    if parts.rows is None:
        raise ValueError(
            "model2vec can only represent means of token vectors, which this method does not compute; use "
            "--to sentence-transformers or onnx"
        )
    parts.tokenizer.save(str(folder / TOKENIZER))
    write_rows(folder, parts.rows, {"normalize": parts.normalised, "max_length": parts.max_length})


def write_rows(folder: Path, rows: np.ndarray, config: Mapping[str, Any]) -> None:
    save_file({"embeddings": rows}, folder / TABLE)
    kind = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": rows.shape[1]}
    (folder / CONFIG).write_text(json.dumps({**kind, **config, "embedding_dtype": rows.dtype.name}, indent=2), "utf-8")


def read_rows(folder: Path) -> tuple[np.ndarray, dict[str, Any]]:
    return load_file(folder / TABLE)["embeddings"], json.loads((folder / CONFIG).read_text("utf-8"))


def read_model2vec(folder: Path, sentences: list[str]) -> np.ndarray:
    """Compute the vectors in the same way as model2vec, which need not be installed."""
    tokenizer, (rows, config) = Tokenizer.from_file(str(folder / TOKENIZER)), read_rows(folder)
    vectors = np.zeros((len(sentences), rows.shape[1]), np.float32)
    for vector, read in zip(vectors, tokenizer.encode_batch(sentences), strict=True):
        if read.ids:
            vector[:] = rows[read.ids].mean(axis=0, dtype=np.float32)
    return unit(vectors) if config["normalize"] else vectors


def quantize_model2vec(folder: Path) -> None:
    """Scale all rows to integers from -127 to 127 by one factor: their mean keeps its direction, but not its length."""
    rows, config = read_rows(folder)
    write_rows(folder, np.rint(rows * (127 / np.abs(rows).max())).astype(np.int8), config)


@dataclass(frozen=True)
class ExportForm:
    """How to write, read and quantise a folder of this form, and the code in its README that opens it."""

    extra: str  # the extra in pyproject.toml that installs the packages needed
    needs: tuple[str, ...]
    write: Callable[[ExportParts, Path], None]
    read: Callable[[Path, list[str]], np.ndarray]  # -> the vectors (n, d) that the library computes from the folder
    quantize: Callable[[Path], None] | None
    opening: str


OPEN_MODULES = """from sentence_transformers import SentenceTransformer

model = SentenceTransformer("{folder}")
vectors = model.encode(["a sentence", "another one"])"""
OPEN_ONNX = """import numpy, onnxruntime, tokenizers

read = tokenizers.Tokenizer.from_file("{folder}/tokenizer.json").encode_batch(["a sentence", "another one"])
inputs = {{"input_ids": [each.ids for each in read], "attention_mask": [each.attention_mask for each in read]}}
inputs = {{name: numpy.array(rows, dtype="int64") for name, rows in inputs.items()}}
vectors = onnxruntime.InferenceSession("{folder}/model.onnx").run(None, inputs)[0]"""
OPEN_MODEL2VEC = """from model2vec import StaticModel  # 0.10 or newer, which truncates texts as config.json says

model = StaticModel.from_pretrained("{folder}")
vectors = model.encode(["a sentence", "another one"])"""

ST, ONNX, STATIC = "sentence-transformers", "onnx", "model2vec"
FORMS: dict[str, ExportForm] = {
    ST: ExportForm("sbert", ("sentence_transformers",), write_modules, read_modules, None, OPEN_MODULES),
    ONNX: ExportForm("export", ("onnx", "onnxruntime"), write_onnx, read_onnx, quantize_onnx, OPEN_ONNX),
    STATIC: ExportForm("", (), write_model2vec, read_model2vec, quantize_model2vec, OPEN_MODEL2VEC),
}


# --- export ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exported:
    """The folder of an export: its form and size, and how far its vectors are from those of the method."""

    folder: Path
    form: str
    size: int  # bytes
    limits: tuple[str, ...]
    sentences: int = 0  # used for the comparison
    difference: float | None = None  # the largest difference of any number, before quantisation
    size_before: int | None = None  # bytes before quantisation; None without it
    spearman: float | None = None  # between the similarities of all pairs of these sentences, before and after
    cost: float | None = None  # the largest difference of any number of the unit vectors, before and after

    def __str__(self) -> str:
        said = f"{self.folder}: {self.form}, {amount(self.size)}"
        if self.difference is not None:
            when = "" if self.size_before is None else "before int8 "
            said += f"; on {self.sentences:,} sentences {when}its numbers differ from labkit's by {self.difference:.1g}"
        if self.size_before is not None and self.spearman is not None:
            said += (
                f"\nint8: {amount(self.size)} instead of {amount(self.size_before)}; the components of unit vectors "
                f"differ by {self.cost:.1g}, and the similarities lose {1 - self.spearman:.4f} in Spearman "
                f"correlation (all pairs of {self.sentences:,} sentences, before and after)"
            )
        return said


def export(
    method: Method,
    folder: Path | str,
    to: str,
    *,
    quantize: bool = False,
    sentences: Sequence[str] = (),
    metrics: Metrics | None = None,
    intervals: Intervals | None = None,
    limits: Sequence[str] = (),
    force: bool = False,
) -> Exported:
    """Write a fitted method to a new folder, completely or not at all, and compare the vectors of both on these
    sentences.

    `quantize` stores the weights as 8-bit integers. `metrics` and their `intervals`, both in the form of run.json, and
    further `limits`, in sentences, are written to the README. `force` replaces only an earlier export in the folder.

    >>> from tempfile import mkdtemp
    >>> from labkit import Bag, load
    >>> bag = Bag(epochs=1).fit(load("questions").take(range(60)))
    >>> made = export(bag, Path(mkdtemp()) / "served", "model2vec")
    >>> sorted(path.name for path in made.folder.iterdir())
    ['README.md', 'config.json', 'model.safetensors', 'tokenizer.json']
    """
    folder, form = Path(folder), FORMS.get(to)
    if form is None:
        raise ValueError(f"to is {to!r}, expected one of {', '.join(FORMS)}")
    require(form.extra, *form.needs)
    if folder.exists() and not (force and is_export(folder)):
        what = "is not an export" if force else "already exists"
        raise ValueError(f"folder {str(folder)!r} {what}; choose another name")
    sentences = [text for text in dict.fromkeys(sentences) if text and text == without_halves(text)]
    if quantize and form.quantize is None:
        raise ValueError(f"quantize is set with {to}, which does not support int8; use onnx or model2vec")
    if quantize and len(sentences) < 3:
        raise ValueError(
            f"sentences has {len(sentences)} texts, but measuring the loss of int8 needs at least three; give a corpus"
        )
    parts = parts_of(method)
    with folder_in_place(folder) as beside, silenced():
        form.write(parts, beside)
        exported = Exported(folder, to, size_of(beside), tuple(limits_of(parts, to)), len(sentences))
        if sentences:
            before = form.read(beside, sentences)
            exported = replace(exported, difference=float(np.abs(method.encode(sentences) - before).max()))
        if quantize and form.quantize is not None:
            form.quantize(beside)
            pairs = np.triu_indices(len(sentences), 1)
            after, before = unit(form.read(beside, sentences)), unit(before)
            spearman = correlation(*((rows @ rows.T)[pairs] for rows in (after, before))).spearman
            cost = float(np.abs(before - after).max())
            exported = replace(exported, size=size_of(beside), size_before=exported.size, spearman=spearman, cost=cost)
        opening = form.opening.format(folder=folder.name)
        listed = "\n".join(f"- {limit}" for limit in (*exported.limits, *limits))
        measured = f"{MARK}. {exported}"
        card = card_of(method, folder.name, to, opening, metrics or {}, intervals, measured=measured, limits=listed)
        (beside / CARD).write_text(card, "utf-8")
    return exported


@contextmanager
def silenced() -> Iterator[None]:
    """Silence other libraries, because exporters warn about each size that they trace."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), without_bars():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def limits_of(parts: ExportParts, to: str) -> Iterator[str]:
    """Yield the ways in which the vectors of this form differ from those of the method."""
    yield from parts.limits
    if to != "onnx" and parts.empty:
        yield parts.empty
    if to == "model2vec" and isinstance(parts.tokenizer.model, models.WordPiece):
        yield "model2vec omits a word whose ending is not a known word piece; labkit reads it as one unknown word."
    if to == "model2vec" and parts.max_length is not None:
        yield (
            f"Like labkit, model2vec truncates a text to {parts.max_length} tokens, but first it truncates the text to "
            "that many times the median token length, in characters."
        )


# --- README ------------------------------------------------------------------------------------------------------

CARD = "README.md"
MARK = "Written by `labkit export`"


def is_export(folder: Path) -> bool:
    card = folder / CARD
    return card.is_file() and MARK in card.read_text("utf-8", errors="replace")
