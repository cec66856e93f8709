"""Convert a labkit vocabulary to a tokenizer of the library `tokenizers`, which works without labkit.

In: the words and their unit. Out: a tokenizer that gives the same tokens for the same text. Tests with all 1,112,064
characters show a few differences among those added to Unicode since 2019, because Python and the library use different
versions (127 with Python 3.11). A Greek capital sigma next to a sign or digit may also differ; and an empty text has no
token.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from labkit.pretrained import INSIDE
from labkit.text import IDEOGRAPHS, PAD, UNKNOWN, Vocabulary
from labkit.training.reader import LONGEST_WORD, PIECES

PADDING = 0  # the padding token, in every form


@cache
def _signs(pattern: str) -> str:
    """Return all characters that Python's pattern matches, as the inside of a character class for the tokenizers'
    regexes.

    Python and the library disagree on what \\w, \\d and \\s are (marks, Roman numerals, newer characters), so they are
    written out.
    """
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]))  # all but surrogates
    runs = (run[0] for run in re.finditer(f"(?:{pattern})+", every))
    return "".join(f"\\x{{{ord(run[0]):X}}}-\\x{{{ord(run[-1]):X}}}" for run in runs)


def tokenizer_of(vocabulary: Vocabulary, cut: str, *, counted: bool = True) -> tuple[Tokenizer, list[int]]:
    """Make an equivalent tokenizer, and return labkit's number for each of its tokens.

    `cut` is the unit: words, characters or pieces. An unknown word is a token of its own, or none unless `counted`.
    Token 0 is padding and occurs in no text: the <PAD> between the parts of a place is another token, the last.

    Words are marked by a sign that no word contains, and a model without merges looks them up as a whole. For an
    unknown word it finds only the mark, which stands for the unknown word. So no token is declared unknown, which
    model2vec would skip. Pieces are cut as in `in_pieces`; words that are too long or contain an unknown sign become
    the mark first.
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
