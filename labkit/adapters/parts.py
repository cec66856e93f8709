"""Split a method into the parts that an export needs. Extras: export, sbert.

`PARTS` has a function for each method. An encoder that is a mean over words (bag, mean, attention over words) becomes a
table with a row per word, whatever its form was during training. A CNN or an LSTM becomes an ONNX graph. SBERT-LP,
which places a new sentence using other sentences, is not a network and cannot be exported.

In: a fitted method. Out: `ExportParts`, which `labkit.adapters.export` writes in the requested form.

A vocabulary becomes a tokenizer of the library `tokenizers`, which gives the same tokens for the same text. Tests with
all 1,112,064 characters show a few differences among those added to Unicode since 2019, because Python and the library
use different versions (127 differences with Python 3.11). A Greek capital sigma next to a symbol or digit may also
differ, and an empty text has no token.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor, nn

from labkit.baselines.averages import MeanVectors, Sif
from labkit.baselines.transforms import AffineMethod
from labkit.method import Method
from labkit.pretrained import INSIDE, model_source, opened_model
from labkit.text import IDEOGRAPHS, PAD, UNKNOWN, Vocabulary
from labkit.thematic.network import WordAttention
from labkit.training.encoders import BagOfWords, Encoder, Mean, inside
from labkit.training.reader import LONGEST_WORD, PIECES
from labkit.training.trained import TrainedReader
from labkit.training.transformer import Transformer

PADDING = 0  # the padding token, in every form


@cache
def _signs(pattern: str) -> str:
    """Return all characters that Python's pattern matches, as the inside of a character class for the library's
    regexes.

    Python and the library disagree about \\w, \\d and \\s (marks, Roman numerals, newer characters), so the characters
    are written out.
    """
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))  # all but surrogates
    runs = (run[0] for run in re.finditer(f"(?:{pattern})+", every))
    return "".join(f"\\x{{{ord(run[0]):X}}}-\\x{{{ord(run[-1]):X}}}" for run in runs)


def tokenizer_of(vocabulary: Vocabulary, cut: str, *, counted: bool = True) -> tuple[Tokenizer, list[int]]:
    """Make an equivalent tokenizer, and return labkit's number for each of its tokens.

    `cut` is the unit: words, characters or pieces. An unknown word is a token of its own if `counted`, otherwise no
    token. Token 0 is padding and occurs in no text: the <PAD> between the parts of a place is a different token, the
    last one. Words are marked by a character that no word contains, and a model without merges looks them up as a
    whole. For an unknown word, it finds only the mark, which stands for the unknown word. No token is therefore
    declared unknown; model2vec would skip such a token. Pieces are cut as in `in_pieces`; words that are too long or
    contain an unknown character are first replaced by the mark.
    """
    words = vocabulary.words
    known = set("".join(word.removeprefix(INSIDE) for word in words[2:]))
    mark = next(sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in known)
    word, space = _signs(r"\w"), _signs(r"\s")
    tokenizer, numbers = Tokenizer(models.WordLevel({}, unk_token=UNKNOWN)), list(range(len(words)))
    steps: list[Any] = [normalizers.NFKC(), normalizers.Replace(Regex(r"(?<=\p{L})Σ(?!\p{L})"), "ς")]
    steps = [] if cut == "characters" else [*steps, normalizers.Lowercase()]
    if cut == PIECES:
        signs = "".join(f"\\x{{{ord(sign):X}}}" for sign in sorted(known))
        unknown = f"[{word}]{{{LONGEST_WORD + 1},}}|(?>[{word}&&[{signs}]]*)[{word}&&[^{signs}]][{word}]*"
        steps.append(normalizers.Replace(Regex(f"{unknown}|[^{word}{space}{signs}]"), mark))
        found, nothing = f"[{word}]+|[^{word}{space}]", space
        tokenizer.model = models.WordPiece(
            {token: number for number, token in enumerate([*words, mark])},
            unk_token=UNKNOWN,
            continuing_subword_prefix=INSIDE,
            max_input_chars_per_word=LONGEST_WORD,
        )
        numbers.append(1)
    else:
        tokens = {PAD: 0, mark if counted else UNKNOWN: 1, **{mark + word: n for n, word in enumerate(words) if n > 1}}
        if cut == "characters":
            tokens[mark + PAD] = len(words)
            numbers.append(0)
            found, nothing = f"{PAD}|[^{space}]", space
        else:
            letter, digit = _signs(r"[^\W\d_]"), _signs(r"\d")
            alone = _signs(rf"(?=\w)[{IDEOGRAPHS}]")
            found = f"[{alone}]|[{digit}]+(?:[.,:][{digit}]+)*"
            found += f"|[{letter}&&[^{alone}]]+(?:['’-][{letter}]+)*|\\A{mark}\\z"
            nothing = "^" + _signs(r"[^\W_]")
        tokenizer.model = models.BPE(tokens, [], ignore_merges=True)
    if counted:
        steps.append(
            normalizers.Replace(Regex(f"\\A[{nothing}]*\\z"), mark)
        )  # a text without a word is one unknown word
    tokenizer.normalizer = normalizers.Sequence(steps)
    cutting = pre_tokenizers.Split(Regex(found), "removed", invert=True)
    marking = [] if cut == PIECES else [pre_tokenizers.Metaspace(mark, "always", split=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cutting, *marking])
    return tokenizer, numbers


# --- methods -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExportParts:
    """The parts of a method: the tokenizer, and the functions that process its numbers in each form."""

    tokenizer: Tokenizer
    network: nn.Module  # (input_ids, attention_mask), int64 (n, length) both -> float32 (n, d)
    modules: Callable[[], list[Any]] | None = None  # sentence-transformers' modules, if any
    rows: np.ndarray | None = None  # (tokens, d), whose mean is the vector; None if there are no such rows
    normalised: bool = False  # whether that mean is normalised
    max_length: int | None = None  # maximum number of tokens per text
    limits: tuple[str, ...] = ()  # how vectors differ from the method's
    empty: str = ""  # the result of an empty text in sentence-transformers and model2vec; onnx is exact


class Numbered(nn.Module):
    """Encoders, each with a table and a body, with concatenated outputs. `nothing` is the token of an empty text."""

    def __init__(
        self, tables: Sequence[Tensor], bodies: Sequence[nn.Module], *, normalised: bool, nothing: int
    ) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding.from_pretrained(table) for table in tables)
        self.bodies, self.normalised, self.nothing = nn.ModuleList(bodies), normalised, nothing

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        numbers, lengths = F.pad(input_ids, (0, 1)), attention_mask.sum(1)  # room for the token of an empty text
        first = torch.arange(numbers.shape[1])[None] == 0  # (1, length)
        numbers = torch.where(first & (lengths == 0)[:, None], self.nothing, numbers)
        lengths = lengths.clamp(min=1)
        here = inside(lengths, numbers.shape[1])[:, :, None]
        both = zip(self.tables, self.bodies, strict=True)
        vectors = [body(table(numbers) * here, lengths) for table, body in both]  # (n, size) each
        return torch.cat([F.normalize(each, dim=1) if self.normalised else each for each in vectors], 1)


EMPTY = "An empty text has no token here, and its vector is meaningless or NaN; labkit reads it as one unknown word."
READING = (
    "A character added to Unicode after 2019, or a Greek capital sigma next to a digit or a symbol, may be read "
    "differently than in labkit."
)


def parts_of_reader(method: TrainedReader) -> ExportParts:
    """Split a method that reads words by number, or with another model's tokenizer."""
    if isinstance(method.network, Transformer):
        source = opened_model(model_source(method.settings.model), "cpu")
        model = deepcopy(method.network).cpu().whole(source)
        model.max_seq_length = method.reader.max_length
        return parts_of_model(model)
    reader, network = method.reader, deepcopy(method.network).cpu().eval()
    encoders: list[Any] = [network] if isinstance(network, Encoder) else list(network.children())
    tokenizer, numbers = tokenizer_of(reader.vocabulary, reader.unit)
    tokenizer.enable_truncation(reader.max_length)
    with torch.no_grad():
        column = torch.tensor(numbers)[:, None]
        tables = [encoder.words(column, torch.ones(len(column), dtype=torch.long))[:, 0] for encoder in encoders]
        for table in tables:
            table[PADDING] = 0
        body, table, normalised = encoders[0].body, tables[0], encoders[0].normalised
        rows = AVERAGED[type(body)](body, table, normalised) if len(encoders) == 1 and type(body) in AVERAGED else None
    if rows is not None:
        return replace(parts_of_rows(tokenizer, rows, normalised, nothing=1), max_length=reader.max_length)
    graph = Numbered(tables, [each.body for each in encoders], normalised=normalised, nothing=1)
    return ExportParts(tokenizer, graph, normalised=normalised, max_length=reader.max_length, limits=(READING,))


def parts_of_rows(tokenizer: Tokenizer, rows: Tensor, normalised: bool, *, nothing: int) -> ExportParts:
    """Return a mean of rows (tokens, d), in all three forms; `nothing` is the token for a sentence without tokens."""
    rows = rows.float().clone()
    rows[PADDING] = 0

    def modules() -> list[Any]:
        from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

        return [StaticEmbedding(tokenizer, rows), *([Normalize()] if normalised else [])]

    network = Numbered([rows], [BagOfWords(0, 0)], normalised=normalised, nothing=nothing)
    empty = EMPTY if nothing else ""  # if unknown words do not count, zeros are correct
    return ExportParts(tokenizer, network, modules, rows.numpy(), normalised, limits=(READING,), empty=empty)


def attended_rows(body: WordAttention, table: Tensor, normalised: bool) -> Tensor | None:
    """Return rows whose mean has the direction of `M Σ a_t x_t + b`: `exp(u · tanh(W x + b)) (M x + b)`.

    Only the factor 1 / Σ of the exponentials, which normalisation removes, is missing; otherwise, return None.
    """
    scores = body.query(body.key(table).tanh())  # (tokens, 1)
    return (scores - scores.max()).exp() * body.out(table) if normalised else None


#: body -> (body, table (tokens, d), normalised) -> the rows whose mean is the vector, or None
AVERAGED: dict[type[nn.Module], Callable[[Any, Tensor, bool], Tensor | None]] = {
    BagOfWords: lambda body, table, normalised: table,
    Mean: lambda body, table, normalised: body.out(table),
    WordAttention: attended_rows,
}


def parts_of_averages(method: MeanVectors) -> ExportParts:
    """Split a mean of word vectors, in which unknown words do not count."""
    tokenizer, numbers = tokenizer_of(method.vectors.vocabulary, "words", counted=False)
    rows = method.vectors.matrix[numbers]
    if isinstance(method, Sif):
        rows = rows - (rows @ method.directions.T) @ method.directions
    return parts_of_rows(tokenizer, torch.from_numpy(rows), False, nothing=PADDING)


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


def parts_of_model(model: Any) -> ExportParts:
    """Split a sentence-transformers model."""
    tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.enable_truncation(model.max_seq_length)
    tokenizer.enable_padding(pad_id=model.tokenizer.pad_token_id, pad_token=model.tokenizer.pad_token)
    return ExportParts(tokenizer, Ready(list(model)), lambda: list(model), max_length=model.max_seq_length)


class Moved(nn.Module):
    """A network and a linear map of its vectors, W x + b."""

    def __init__(self, network: nn.Module, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.network, self.map = network, nn.Linear(weight.shape[1], weight.shape[0])
        self.map.weight.data, self.map.bias.data = weight, bias

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.map(self.network(input_ids, attention_mask))


def parts_of_affine(method: AffineMethod) -> ExportParts:
    """Split (x - μ) A over a base: map each row if the base is a mean, otherwise map the final vector."""
    base = parts_of(method.base)
    weight = torch.from_numpy(method.map.matrix.T.copy())
    bias = torch.from_numpy(-method.map.centre @ method.map.matrix)
    if base.rows is not None and not base.normalised:
        rows = torch.from_numpy(base.rows) @ weight.T + bias
        return parts_of_rows(base.tokenizer, rows, False, nothing=PADDING)
    inner = base.modules

    def modules() -> list[Any]:
        from sentence_transformers.sentence_transformer.modules import Dense

        shape = weight.shape[1], weight.shape[0]
        assert inner is not None
        return [*inner(), Dense(*shape, bias=True, activation_function=None, init_weight=weight, init_bias=bias)]

    network = Moved(base.network, weight, bias)
    return replace(base, network=network, modules=inner and modules, rows=None, normalised=False)


# : name of a method -> the function that splits it; other methods cannot be exported
PARTS: dict[str, Callable[[Any], ExportParts]] = {
    **dict.fromkeys(("sentpwnet", "siamese", "triplet", "bag", "static", "thematic"), parts_of_reader),
    **dict.fromkeys(("mean-vectors", "sif"), parts_of_averages),
    "sbert": lambda method: parts_of_model(deepcopy(method.model).cpu().eval()),
    **dict.fromkeys(("pca", "whitening", "all-but-the-top"), parts_of_affine),
}


def parts_of(method: Method) -> ExportParts:
    """Split a method; raise ValueError if its vectors do not come from a network."""
    if method.name not in PARTS:
        why = ", which places a new sentence by its neighbours and is not a network" * (method.name == "sbert-lp")
        raise ValueError(
            f"method {method.name!r} cannot be exported{why}. Choose one of {', '.join(PARTS)}; pca or whitening can "
            "transform their vectors"
        )
    return PARTS[method.name](method)
