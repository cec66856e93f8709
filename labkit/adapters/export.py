"""A method in the form in which others serve models: a folder that needs nothing of labkit. Extras: export, sbert.

    sentence-transformers   SentenceTransformer(FOLDER)
    onnx                    model.onnx, (input_ids (n, length), attention_mask (n, length)) -> sentence_embedding (n, d)
    model2vec               StaticModel.from_pretrained(FOLDER)

In: a fitted method. Out: the folder, with tokenizer.json and a README.md that says how to load it, and `Exported`.
The vectors are the method's own, to rounding; what differs stands in the README under "Limits".

`PARTS` says of each method what goes into a folder. An encoder that is a mean of something known of each word (bag,
mean, attention over words) becomes a table with a row a word, whatever it was when it learned. Of the others
sentence-transformers has modules for CNN and LSTM; a BiLSTM with attention has none there, and goes into an onnx graph.
A method whose vector of a new sentence depends on other sentences (SBERT-LP) is no network, and cannot be exported.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models
from torch import Tensor, nn

from labkit.adapters.tokenizer import PADDING, tokenizer_of
from labkit.atomic import amount, folder_in_place
from labkit.baselines.averages import MeanVectors, Sif
from labkit.baselines.sbert import Sbert, model_source, opened_model, without_bars
from labkit.baselines.transforms import AffineMethod
from labkit.corpora import CORPORA
from labkit.evaluation.inputs import unit
from labkit.evaluation.pairs import correlation
from labkit.method import Method
from labkit.text import PAD, UNKNOWN
from labkit.thematic.network import WordAttention
from labkit.training.encoders import WIDTHS, BagOfWords, Cnn, Encoder, Lstm, Mean, inside
from labkit.training.reader import INSIDE
from labkit.training.trained import TrainedReader
from labkit.training.transformer import Transformer

# --- what of a method goes into a folder --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExportParts:
    """A method taken apart: the tokenizer, and what is done with its numbers, in each form that can do it."""

    tokenizer: Tokenizer
    network: nn.Module  # (input_ids, attention_mask), int64 (n, length) both -> float32 (n, d)
    modules: Callable[[], list[Any]] | None = None  # sentence-transformers' modules; None: it has none of these
    rows: np.ndarray | None = None  # (tokens, d), of which a vector is the mean; None: it is no mean of any
    normalised: bool = False  # that mean, to length 1
    longest: int | None = None  # tokens after which a text is cut
    limits: tuple[str, ...] = ()  # where vectors are others than the method's
    empty: str = ""  # what those of an empty text are in sentence-transformers and model2vec; of onnx they are right

    @property
    def leaves_out(self) -> bool:
        """Whether the tokenizer has words of whose pieces it knows some, but not all: then it gives its unknown one."""
        if not isinstance(self.tokenizer.model, models.WordPiece):
            return False
        pieces = self.tokenizer.get_vocab().keys() - {PAD, UNKNOWN}
        signs = {sign for piece in pieces for sign in piece.removeprefix(INSIDE) if sign == sign.lower()}
        inner = {sign for sign in signs if sign.isalnum() or sign == "_"}  # others are words of their own
        return not (signs <= pieces and {INSIDE + sign for sign in inner} <= pieces)


class Numbered(nn.Module):
    """Encoders side by side: to each its table and its body. A sentence without a token is one token `nothing`."""

    def __init__(
        self, tables: Sequence[Tensor], bodies: Sequence[nn.Module], *, normalised: bool, nothing: int
    ) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding.from_pretrained(table) for table in tables)
        self.bodies, self.normalised, self.nothing = nn.ModuleList(bodies), normalised, nothing

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        numbers, lengths = F.pad(input_ids, (0, 1)), attention_mask.sum(1)  # a place for what stands for nothing
        first = torch.arange(numbers.shape[1])[None] == 0  # (1, length)
        numbers = torch.where(first & (lengths == 0)[:, None], self.nothing, numbers)
        lengths = lengths.clamp(min=1)
        here = inside(lengths, numbers.shape[1])[:, :, None]
        both = zip(self.tables, self.bodies, strict=True)
        vectors = [body(table(numbers) * here, lengths) for table, body in both]  # (n, size) each
        return torch.cat([F.normalize(each, dim=1) if self.normalised else each for each in vectors], 1)


_EMPTY = "An empty text has no token here, and its vector says nothing; labkit reads one unknown word."
_NAN = "An empty text has no token here, and its vector is NaN; labkit reads one unknown word."
_READING = (
    "A character that Unicode has got since 2019, or a Greek capital sigma beside a digit or a sign, may be read as "
    "another than in labkit."
)


def _of_reader(method: TrainedReader) -> ExportParts:
    """Take apart a method that reads words by their numbers, or as somebody else's model does."""
    if isinstance(method.network, Transformer):
        source = opened_model(model_source(method.settings.model), "cpu")
        model = deepcopy(method.network).cpu().whole(source)
        model.max_seq_length = method.reader.longest
        return _of_model(model)
    reader, network = method.reader, deepcopy(method.network).cpu().eval()
    encoders: list[Any] = [network] if isinstance(network, Encoder) else list(network.children())
    tokenizer, numbers = tokenizer_of(reader.vocabulary, reader.unit)
    tokenizer.enable_truncation(reader.longest)
    with torch.no_grad():
        column = torch.tensor(numbers)[:, None]
        tables = [encoder.words(column, torch.ones(len(column), dtype=torch.long))[:, 0] for encoder in encoders]
        for table in tables:
            table[PADDING] = 0
        body, table, normalised = encoders[0].body, tables[0], encoders[0].normalised
        rows = AVERAGED[type(body)](body, table, normalised) if len(encoders) == 1 and type(body) in AVERAGED else None
    if rows is not None:
        return replace(_of_rows(tokenizer, rows, normalised, nothing=1), longest=reader.longest)
    graph = Numbered(tables, [each.body for each in encoders], normalised=normalised, nothing=1)
    parts = ExportParts(tokenizer, graph, normalised=normalised, longest=reader.longest, limits=(_READING,))
    if len(encoders) > 1 or type(body) not in LAYERS or not reads_words():
        return parts
    layers = partial(LAYERS[type(body)], body)
    return replace(
        parts,
        modules=lambda: [_word_module(tokenizer, table, reader.longest), *layers(), *_normalising(normalised)],
        empty=_NAN if isinstance(body, Cnn) else _EMPTY,
    )


def _of_rows(tokenizer: Tokenizer, rows: Tensor, normalised: bool, *, nothing: int) -> ExportParts:
    """A mean of rows (tokens, d), in all three forms; `nothing` is the token of a sentence that has none."""
    rows = rows.float().clone()
    rows[PADDING] = 0

    def modules() -> list[Any]:
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding

        return [StaticEmbedding(tokenizer, rows), *_normalising(normalised)]

    network = Numbered([rows], [BagOfWords(0, 0)], normalised=normalised, nothing=nothing)
    empty = _EMPTY if nothing else ""  # where unknown words do not count, zeros are right
    return ExportParts(tokenizer, network, modules, rows.numpy(), normalised, limits=(_READING,), empty=empty)


def _attended(body: WordAttention, table: Tensor, normalised: bool) -> Tensor | None:
    """Rows whose mean points where `M Σ a_t x_t + b` does: `exp(u · tanh(W x + b)) (M x + b)`, as the weights sum to 1.

    The mean lacks the sum of the exponentials, a number that length 1 takes away; without that length it is no mean.
    """
    scores = body.query(body.key(table).tanh())  # (tokens, 1)
    return (scores - scores.max()).exp() * body.out(table) if normalised else None


#: body -> (body, table (tokens, d), normalised) -> the rows of which a vector is the mean; None where it is no mean
AVERAGED: dict[type[nn.Module], Callable[[Any, Tensor, bool], Tensor | None]] = {
    BagOfWords: lambda body, table, normalised: table,
    Mean: lambda body, table, normalised: body.out(table),
    WordAttention: _attended,
}


def _cnn_layers(body: Any) -> list[Any]:
    """Sentence-transformers' CNN pads both sides alike: a window of w words is the right half of one of 2 w - 1.

    It has as many filters of each width; those that are too many are zeros, and left out again at the end.
    """
    from sentence_transformers.sentence_transformer.modules import CNN, Pooling

    shares = [window.out_channels for window in body.windows]
    most = max(shares)
    cnn: Any = CNN(body.windows[0].in_channels, most, [2 * width - 1 for width in WIDTHS])
    for wide, window, width in zip(cnn.convs, body.windows, WIDTHS, strict=True):
        for parameter in (wide.weight, wide.bias):
            parameter.data.zero_()
        wide.weight.data[: window.out_channels, :, -width:] = window.weight.data  # (share, d, width)
        wide.bias.data[: window.out_channels] = window.bias.data
    kept = [filter for n, share in enumerate(shares) for filter in range(n * most, n * most + share)]
    layers = [cnn, Pooling(most * len(shares), "max")]
    return layers if len(kept) == most * len(shares) else [*layers, _dense(torch.eye(most * len(shares))[kept])]


def _lstm_layers(body: Any) -> list[Any]:
    from sentence_transformers.sentence_transformer.modules import LSTM, Pooling

    lstm = LSTM(body.lstm.input_size, body.lstm.hidden_size, bidirectional=False)
    lstm.encoder.load_state_dict(body.lstm.state_dict())
    return [lstm, Pooling(body.lstm.hidden_size, "lasttoken")]


#: body -> sentence-transformers' modules from the vectors of words to that of the sentence
LAYERS: dict[type[nn.Module], Callable[[Any], list[Any]]] = {Cnn: _cnn_layers, Lstm: _lstm_layers}


def reads_words() -> bool:
    """Whether sentence-transformers is here and reads words by a tokenizer of ours; its versions before 6.2 cannot."""
    with suppress(PackageNotFoundError):
        return [int(part) for part in version("sentence-transformers").split(".")[:2]] >= [6, 2]
    return True  # who asks for it is told what to install


def _word_module(tokenizer: Tokenizer, table: Tensor, longest: int) -> Any:
    from sentence_transformers.sentence_transformer.modules import WordEmbeddings
    from transformers import PreTrainedTokenizerFast

    return WordEmbeddings(PreTrainedTokenizerFast(tokenizer_object=tokenizer), table, max_seq_length=longest)


def _normalising(normalised: bool) -> list[Any]:
    from sentence_transformers.sentence_transformer.modules import Normalize

    return [Normalize()] if normalised else []


def _dense(weight: Tensor, bias: Tensor | None = None) -> Any:
    """The map x -> W x + b, W (p, d), as a module of sentence-transformers'."""
    from sentence_transformers.sentence_transformer.modules import Dense

    shape = weight.shape[1], weight.shape[0]
    return Dense(*shape, bias=bias is not None, activation_function=None, init_weight=weight, init_bias=bias)


def _of_averages(method: MeanVectors) -> ExportParts:
    """Take apart a mean of word vectors, in which unknown words do not count."""
    tokenizer, numbers = tokenizer_of(method.vectors.vocabulary, "words", counted=False)
    rows = method.vectors.matrix[numbers]
    if isinstance(method, Sif):
        rows = rows - (rows @ method.directions.T) @ method.directions
    return _of_rows(tokenizer, torch.from_numpy(rows), False, nothing=PADDING)


class Ready(nn.Module):
    """The modules of a sentence-transformers model, from numbers to vectors."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        super().__init__()
        self.steps = nn.ModuleList(modules)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        features = {"input_ids": input_ids, "attention_mask": attention_mask}
        for step in self.steps:
            features = step(features)
        return features["sentence_embedding"]


def _of_sbert(method: Sbert) -> ExportParts:
    """Take a sentence-transformers model as it is."""
    return _of_model(deepcopy(method.model).cpu().eval())


def _of_model(model: Any) -> ExportParts:
    """Take apart a sentence-transformers model."""
    tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.enable_truncation(model.max_seq_length)
    tokenizer.enable_padding(pad_id=model.tokenizer.pad_token_id, pad_token=model.tokenizer.pad_token)
    return ExportParts(tokenizer, Ready(list(model)), lambda: list(model), longest=model.max_seq_length)


class Moved(nn.Module):
    """A network and a linear map of its vectors, W x + b."""

    def __init__(self, network: nn.Module, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.network, self.map = network, nn.Linear(weight.shape[1], weight.shape[0])
        self.map.weight.data, self.map.bias.data = weight, bias

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.map(self.network(input_ids, attention_mask))


def _of_affine(method: AffineMethod) -> ExportParts:
    """Take apart (x - μ) A over a base: of a mean each row is moved, of anything else the vector at the end."""
    base = parts_of(method.base)
    weight = torch.from_numpy(method.map.matrix.T.copy())
    bias = torch.from_numpy(-method.map.centre @ method.map.matrix)
    if base.rows is not None and not base.normalised:
        rows = torch.from_numpy(base.rows) @ weight.T + bias
        return _of_rows(base.tokenizer, rows, False, nothing=PADDING)
    inner = base.modules
    return replace(
        base,
        network=Moved(base.network, weight, bias),
        modules=None if inner is None else lambda: [*inner(), _dense(weight, bias)],
        rows=None,
        normalised=False,
    )


#: what takes a method of this name apart; all others cannot be exported
PARTS: dict[str, Callable[[Any], ExportParts]] = {
    **dict.fromkeys(("sentpwnet", "siamese", "triplet", "bag", "static", "thematic"), _of_reader),
    **dict.fromkeys(("mean-vectors", "sif"), _of_averages),
    "sbert": _of_sbert,
    **dict.fromkeys(("pca", "whitening", "all-but-the-top"), _of_affine),
}


def parts_of(method: Method) -> ExportParts:
    """Take a method apart; a ValueError where its vectors are not a network's."""
    if method.name not in PARTS:
        why = ", which puts a new sentence where its neighbours are and is no network" * (method.name == "sbert-lp")
        raise ValueError(
            f"method is {method.name!r}{why}, expected one that can be exported ({', '.join(PARTS)}); pca or whitening "
            "moves the vectors of these"
        )
    return PARTS[method.name](method)


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
    _write_rows(folder, parts.rows, {"normalize": parts.normalised, "max_length": parts.longest})


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
_HALVES = re.compile("[\ud800-\udfff]")  # of characters, which no tokenizer takes


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
    sentences = [text for text in dict.fromkeys(sentences) if text and not _HALVES.search(text)]
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
    if to == "model2vec" and parts.longest is not None:
        lengths = [len(token) for token in parts.tokenizer.get_vocab()]
        yield (
            f"A text is cut after {parts.longest} tokens, as in labkit, and by model2vec after "
            f"{parts.longest * int(np.median(lengths)):,} characters, too."
        )


# --- README ------------------------------------------------------------------------------------------------------

CARD = "README.md"
_MARK = "Written by `labkit export`"


def _is_export(folder: Path) -> bool:
    card = folder / CARD
    return card.is_file() and _MARK in card.read_text("utf-8", errors="replace")


def _card(method: Method, exported: Exported, form: ExportForm, metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """Say what this is, how it is opened, what it learned from, and what it is worth."""
    origin = method.origin
    corpus, base = origin["corpus"], method
    while not isinstance(base, Sbert) and hasattr(base, "base"):
        base = base.base
    licence = CORPORA[corpus].licence if corpus in CORPORA else "not known to labkit: ask whoever made them"
    texts = f"The texts of `{corpus}` (fingerprint {origin['fingerprint'][:12]}), seed {origin['seed']}."
    learned = "Nothing was learned here." if isinstance(method, Sbert) else f"{texts} Their licence: {licence}."
    settings = ", ".join(f"{name}={value}" for name, value in origin["settings"].items())
    weights = (
        f"\nThe weights of `{base.settings.model}` are in it, as somebody else trained them: on what, and under which "
        "licence, says that model's own card. Figures on texts that it learned from flatter.\n"
        if isinstance(base, Sbert)
        else ""
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
