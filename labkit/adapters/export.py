"""A method in the form in which others serve models: a folder that needs nothing of labkit. Extras: export, sbert.

    sentence-transformers   SentenceTransformer(FOLDER)
    onnx                    model.onnx, (input_ids (n, length), attention_mask (n, length)) -> sentence_embedding (n, d)
    model2vec               StaticModel.from_pretrained(FOLDER)

In: a fitted method. Out: the folder, with tokenizer.json and a README.md that says how to load it, and `Exported`.
The vectors are the method's own, to rounding; what differs stands in the README under "Limits".
`labkit.adapters.parts` takes it apart.
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
from tokenizers import Tokenizer

from labkit.adapters.parts import ExportParts, parts_of
from labkit.adapters.tokenizer import PADDING
from labkit.arrays import unit
from labkit.atomic import amount, folder_in_place
from labkit.baselines.sbert import Sbert, opened_model, without_bars
from labkit.corpora import CORPORA
from labkit.evaluation.pairs import correlation
from labkit.method import Method
from labkit.text import PAD, without_halves
from labkit.training.reader import DISTILLED
from labkit.training.transformer import TRANSFORMER

# --- forms -------------------------------------------------------------------------------------------------------

GRAPH, TABLE, TOKENIZER = "model.onnx", "model.safetensors", "tokenizer.json"


def _write_sentence_transformers(parts: ExportParts, folder: Path) -> None:
    with _needing("sentence_transformers", "pip install sentence-transformers"):
        from sentence_transformers import SentenceTransformer
    if parts.modules is None:
        raise ValueError(
            "sentence-transformers has no module for a BiLSTM with attention, for attention that is compared by L1, or "
            "for two networks side by side, expected a bag, mean, CNN or LSTM; take --to onnx"
        )
    SentenceTransformer(modules=parts.modules(), device="cpu").save(str(folder), create_model_card=False)


def _read_sentence_transformers(folder: Path, sentences: list[str]) -> np.ndarray:
    vectors: np.ndarray = opened_model.__wrapped__(str(folder), "cpu").encode(sentences, show_progress_bar=False)
    return vectors


def _write_onnx(parts: ExportParts, folder: Path) -> None:
    """Write the graph by torch's tracing exporter: the other (dynamo=True) fixes an LSTM's batch, and is slower."""
    with _needing("onnx", "pip install onnx onnxruntime"):
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
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


def _read_onnx(folder: Path, sentences: list[str]) -> np.ndarray:
    from onnxruntime import InferenceSession

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    session = InferenceSession(str(folder / GRAPH), providers=["CPUExecutionProvider"])
    vectors = []
    for start in range(0, len(sentences), _BATCH):
        read = tokenizer.encode_batch(sentences[start : start + _BATCH])
        inputs = {
            "input_ids": np.array([each.ids for each in read], np.int64),
            "attention_mask": np.array([each.attention_mask for each in read], np.int64),
        }
        vectors.append(session.run(None, inputs)[0])
    return np.concatenate(vectors)


def _quantize_onnx(folder: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    whole = folder / f"whole-{GRAPH}"
    (folder / GRAPH).rename(whole)
    # a scale for each column, and seven bits: without them MiniLM loses .042 on `questions`, with them .010
    quantize_dynamic(whole, folder / GRAPH, per_channel=True, reduce_range=True)
    whole.unlink()


def _write_model2vec(parts: ExportParts, folder: Path) -> None:
    if parts.rows is None:
        raise ValueError(
            "model2vec holds a vector a token and their mean, which this method's vectors are not, expected a bag, a "
            "mean of word vectors, or attention over words compared by cosine; take --to sentence-transformers or onnx"
        )
    parts.tokenizer.save(str(folder / TOKENIZER))
    _write_rows(folder, parts.rows, {"normalize": parts.normalised, "max_length": parts.max_length})


def _write_rows(folder: Path, rows: np.ndarray, config: Mapping[str, Any]) -> None:
    save_file({"embeddings": rows}, folder / TABLE)
    kind = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": rows.shape[1]}
    text = json.dumps({**kind, **config, "embedding_dtype": rows.dtype.name}, indent=2)
    (folder / "config.json").write_text(text, "utf-8")


def _read_model2vec(folder: Path, sentences: list[str]) -> np.ndarray:
    """Compute the vectors as model2vec does, which need not be here."""
    tokenizer, rows = Tokenizer.from_file(str(folder / TOKENIZER)), load_file(folder / TABLE)["embeddings"]
    config = json.loads((folder / "config.json").read_text("utf-8"))
    vectors = np.zeros((len(sentences), rows.shape[1]), np.float32)
    for vector, read in zip(vectors, tokenizer.encode_batch(sentences), strict=True):
        if read.ids:
            vector[:] = rows[read.ids].mean(axis=0, dtype=np.float32)
    return unit(vectors) if config["normalize"] else vectors


def _quantize_model2vec(folder: Path) -> None:
    """All rows by one scale to whole numbers from -127 to 127. Their mean points where it did, at another length."""
    rows = load_file(folder / TABLE)["embeddings"]
    config = json.loads((folder / "config.json").read_text("utf-8"))
    _write_rows(folder, np.rint(rows * (127 / np.abs(rows).max())).astype(np.int8), config)


@dataclass(frozen=True)
class ExportForm:
    """How a folder of this form is written, read again and made smaller, and what its README says of opening it."""

    write: Callable[[ExportParts, Path], None]
    read: Callable[[Path, list[str]], np.ndarray]  # -> the vectors (n, d), as whoever opens the folder has them
    quantize: Callable[[Path], None] | None
    library: str
    opening: str


FORMS: dict[str, ExportForm] = {
    "sentence-transformers": ExportForm(
        _write_sentence_transformers,
        _read_sentence_transformers,
        None,
        "sentence-transformers",
        """from sentence_transformers import SentenceTransformer  # 6.2 or newer for a CNN or an LSTM

model = SentenceTransformer("{folder}")
vectors = model.encode(["a sentence", "another one"])""",
    ),
    "onnx": ExportForm(
        _write_onnx,
        _read_onnx,
        _quantize_onnx,
        "onnx",
        """import numpy, onnxruntime, tokenizers

read = tokenizers.Tokenizer.from_file("{folder}/tokenizer.json").encode_batch(["a sentence", "another one"])
inputs = {{"input_ids": [each.ids for each in read], "attention_mask": [each.attention_mask for each in read]}}
inputs = {{name: numpy.array(rows, dtype="int64") for name, rows in inputs.items()}}
vectors = onnxruntime.InferenceSession("{folder}/model.onnx").run(None, inputs)[0]""",
    ),
    "model2vec": ExportForm(
        _write_model2vec,
        _read_model2vec,
        _quantize_model2vec,
        "model2vec",
        """from model2vec import StaticModel  # 0.10 or newer, which cuts a text where config.json says

model = StaticModel.from_pretrained("{folder}")
vectors = model.encode(["a sentence", "another one"])""",
    ),
}


@contextmanager
def _needing(package: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ValueError(f"{package} is not installed, and this form needs it; run {remedy}") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Let no other library say anything: exporters warn of each size that they trace."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), without_bars():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


# --- export ------------------------------------------------------------------------------------------------------

_BATCH = 256  # sentences


@dataclass(frozen=True)
class Exported:
    """A folder that was written: its form and size, and how far its vectors are from the method's own."""

    folder: Path
    form: str
    size: int  # bytes
    limits: tuple[str, ...]
    sentences: int = 0  # on which it was tried
    difference: float | None = None  # the largest of any number of any vector, before it was made smaller
    size_before: int | None = None  # bytes before it was made smaller; None: it was not
    spearman: float | None = None  # of the similarities of all pairs of these sentences, before and after

    def __str__(self) -> str:
        lines = [f"{self.folder}: {self.form}, {amount(self.size)}"]
        if self.difference is not None:
            lines[0] += f"; on {self.sentences:,} sentences its numbers differ from labkit's by {self.difference:.1g}"
        if self.size_before is not None and self.spearman is not None:
            lines.append(
                f"int8: {amount(self.size)} instead of {amount(self.size_before)}; loss in Spearman of the "
                f"similarities {1 - self.spearman:.4f} (all pairs of {self.sentences:,} sentences, before and after)"
            )
        return "\n".join(lines)


def export(
    method: Method,
    folder: Path | str,
    to: str,
    *,
    quantize: bool = False,
    sentences: Sequence[str] = (),
    metrics: Mapping[str, Mapping[str, Any]] | None = None,
    force: bool = False,
) -> Exported:
    """Write a fitted method into a new folder, whole or not at all, and try it on these sentences.

    `quantize` makes whole numbers of eight bits of its weights. `metrics` are figures for its README, as run.json has
    them. `force` writes over an export that lies there, and over nothing else.
    """
    folder, form = Path(folder), FORMS.get(to)
    if form is None:
        raise ValueError(f"to is {to!r}, expected one of {', '.join(FORMS)}")
    if folder.exists() and not (force and _is_export(folder)):
        what = "and is no export" if force else "already"
        raise ValueError(f"folder is {str(folder)!r}, which is there {what}, expected a new one; choose another name")
    sentences = [text for text in dict.fromkeys(sentences) if text and text == without_halves(text)]
    if quantize and form.quantize is None:
        raise ValueError(f"quantize is asked for with {to}, whose modules know no int8; take onnx or model2vec")
    if quantize and len(sentences) < 3:
        raise ValueError(
            f"sentences are {len(sentences)}, expected at least three to say what int8 costs; name a corpus"
        )
    parts = parts_of(method)
    with folder_in_place(folder) as beside, _silent():
        form.write(parts, beside)
        exported = Exported(folder, to, _size(beside), tuple(_limits(parts, to)), len(sentences))
        if sentences:
            own, theirs = np.asarray(method.encode(sentences)), form.read(beside, sentences)
            exported = replace(exported, difference=float(np.abs(own - theirs).max()))
        if quantize and form.quantize is not None:
            form.quantize(beside)
            kept = _order_kept(theirs, form.read(beside, sentences))
            exported = replace(exported, size=_size(beside), size_before=exported.size, spearman=kept)
        (beside / CARD).write_text(_card(method, exported, form, metrics or {}), "utf-8")
    return exported


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _order_kept(before: np.ndarray, after: np.ndarray) -> float:
    """Spearman's correlation of the cosines of all pairs of rows (n, d), before and after."""
    pairs = np.triu_indices(len(before), 1)
    return correlation(*((rows @ rows.T)[pairs] for rows in (unit(after), unit(before)))).spearman


def _limits(parts: ExportParts, to: str) -> Iterator[str]:
    """Say where the vectors of this form are others than the method's."""
    yield from parts.limits
    if to != "onnx" and parts.empty:
        yield parts.empty
    if to == "model2vec" and parts.leaves_out:
        yield "model2vec leaves out a word whose end is no piece; labkit reads one unknown word."
    if to == "model2vec" and parts.max_length is not None:
        lengths = [len(token) for token in parts.tokenizer.get_vocab()]
        yield (
            f"A text is cut after {parts.max_length} tokens, as in labkit, and by model2vec after "
            f"{parts.max_length * int(np.median(lengths)):,} characters, too."
        )


# --- README ------------------------------------------------------------------------------------------------------

CARD = "README.md"
_MARK = "Written by `labkit export`"


def _is_export(folder: Path) -> bool:
    card = folder / CARD
    return card.is_file() and _MARK in card.read_text("utf-8", errors="replace")


def _models_in(method: Method | None) -> Iterator[tuple[str, str]]:
    """Name the models of other people whose weights are in it, and what was done with them here."""
    while method is not None:
        settings = method.settings.values()
        vectors = str(settings.get("vectors", ""))
        if isinstance(method, Sbert):
            yield settings["model"], ""
        elif settings.get("encoder") == TRANSFORMER:
            yield settings["model"], ", and trained further here"
        elif vectors.startswith(DISTILLED):
            yield vectors.removeprefix(DISTILLED), ", distilled into vectors of words"
        method = getattr(method, "base", None)


def _card(method: Method, exported: Exported, form: ExportForm, metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """Say what this is, how it is opened, what it learned from, and what it is worth."""
    origin = method.origin
    corpus = origin["corpus"]
    licence = CORPORA[corpus].licence if corpus in CORPORA else "not known to labkit: ask whoever made them"
    texts = f"The texts of `{corpus}` (fingerprint {origin['fingerprint'][:12]}), seed {origin['seed']}."
    learned = "Nothing was learned here." if isinstance(method, Sbert) else f"{texts} Their licence: {licence}."
    settings = ", ".join(f"{name}={value}" for name, value in origin["settings"].items())
    weights = "".join(
        f"\nThe weights of `{model}` are in it, as somebody else trained them{further}: on what, and under which "
        "licence, says that model's own card. Figures on texts that it learned from flatter.\n"
        for model, further in _models_in(method)
    )
    figures = [
        f"| {name} | {figure} | {value:.4f} |"
        for name, each in metrics.items()
        for figure, value in each.items()
        if isinstance(value, int | float)
    ]
    table = "\n".join(["| corpus/split | figure | value |", "| --- | --- | --- |", *figures])
    return f"""---
library_name: {form.library}
pipeline_tag: sentence-similarity
tags:
- sentence-similarity
- feature-extraction
---

# {exported.folder.name}

Vectors of sentences, to be compared by {method.similarity_name}. {_MARK} from a run of the method `{origin["method"]}`.

```python
{form.opening.format(folder=exported.folder.name)}
```

## What it learned from

{learned}
{weights}
Settings: {settings}.

## What it is worth

{table if figures else "Its run keeps no figures."}

{exported}

## Limits

{chr(10).join(f"- {limit}" for limit in exported.limits) or "None known."}
"""
