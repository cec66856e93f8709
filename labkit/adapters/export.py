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
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor, nn

from labkit.atomic import folder_in_place
from labkit.baselines.averages import MeanVectors, Sif
from labkit.baselines.sbert import Sbert
from labkit.baselines.transforms import AffineMethod
from labkit.corpora import CORPORA
from labkit.evaluation.inputs import unit
from labkit.evaluation.pairs import correlation
from labkit.method import Method
from labkit.text import IDEOGRAPHS, PAD, UNKNOWN, Vocabulary
from labkit.thematic.network import WordAttention
from labkit.training.encoders import WIDTHS, BagOfWords, Cnn, Encoder, Lstm, Mean, inside
from labkit.training.reader import INSIDE, LONGEST_WORD, PIECES
from labkit.training.trained import TrainedReader

# --- tokenizer ---------------------------------------------------------------------------------------------------

PADDING = 0  # of a row of numbers, in every form


@cache
def _signs(pattern: str) -> str:
    """All characters that Python's pattern matches, as the inside of a class of the tokenizers' own patterns.

    Python and the tokenizers do not agree on what \\w, \\d and \\s are (marks, Roman numerals, newer characters), so
    they are written out.
    """
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))  # all but halves of characters
    runs = (run[0] for run in re.finditer(f"(?:{pattern})+", every))
    return "".join(f"\\x{{{ord(run[0]):X}}}-\\x{{{ord(run[-1]):X}}}" for run in runs)


def tokenizer_of(vocabulary: Vocabulary, cut: str, *, counted: bool = True) -> tuple[Tokenizer, list[int]]:
    """Make the tokenizer that reads as labkit does, and give the number in labkit of each of its tokens.

    `cut` is the unit: words, characters or pieces. An unknown word is a token of its own, or none unless `counted`.
    Token 0 is padding and stands in no text: the <PAD> between the parts of a place is another token, the last.

    Words are marked by a sign that no word has, and a model that merges nothing looks them up whole. Of an unknown one
    it knows the mark alone, which is the unknown word. So there is no token of which model2vec knows that it is the
    unknown one; it would leave it out. Of pieces the tokenizer cuts a word as `in_pieces` does, after each word with a
    sign that no piece has, or that is too long, has become the mark.
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
        steps.append(normalizers.Replace(Regex(f"\\A[{nothing}]*\\z"), mark))  # without a word: one unknown word
    tokenizer.normalizer = normalizers.Sequence(steps)
    cutting = pre_tokenizers.Split(Regex(found), "removed", invert=True)
    marking = [] if cut == PIECES else [pre_tokenizers.Metaspace(mark, "always", split=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cutting, *marking])
    return tokenizer, numbers
