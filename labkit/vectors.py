"""Word vectors: computed from a corpus, read from a file, or distilled from a sentence model.

In: tokenised sentences, a GloVe / word2vec text file (also .gz), an .npz of words and vectors, or the name of a model.
Out: `WordVectors`, a float32 matrix (words, d) with its `Vocabulary`. A word without a vector gets a random one of
similar size, drawn from the seed.

Vectors are computed as in Levy and Goldberg (2014): count which words occur near each other, compare the counts with
chance, and keep the directions of largest variation.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
from scipy import sparse

from labkit.arrays import whole
from labkit.text import PAD, UNKNOWN, Vocabulary, words

TOKENS_AT_ONCE = 500_000  # bounds the memory of the co-occurrence count
# A neighbour at distance 1 counts UNIT, which is divisible by all whole numbers up to 20. So 1/t is a whole number of
# units, and sums do not depend on the order.
UNIT = 232_792_560


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector for each word of a vocabulary; padding has zeros. `known` marks vectors that are not random."""

    vocabulary: Vocabulary
    matrix: np.ndarray  # float32 (words, d)
    known: np.ndarray  # bool (words,)

    @property
    def dimension(self) -> int:
        return self.matrix.shape[1]

    def mean(self, sentences: Iterable[str]) -> np.ndarray:
        """The mean vector of each sentence's known words, float32 (n, d); zeros for a sentence without known words."""
        rows = [self.vocabulary.encode(words(sentence)) for sentence in sentences]
        pointers = np.cumsum([0, *map(len, rows)])
        numbers = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=pointers[-1])
        shape = (len(rows), len(self.vocabulary))
        counts = sparse.csr_array((self.known[numbers].astype(np.float32), numbers, pointers), shape=shape)
        return (counts @ self.matrix) / np.maximum(counts.sum(axis=1), 1).astype(np.float32)[:, None]


# --- from a corpus ---------------------------------------------------------------------------------------------


def cooccurrence(numbers: Iterable[Sequence[int]], size: int, *, window: int = 10) -> sparse.csr_array:
    """How often word j occurs within `window` words of word i in one sentence: symmetric, (size, size).

    A neighbour at distance t counts as 1/t, as in GloVe.
    """
    behind = sparse.csr_array((size, size), dtype=np.int64)  # counts of word j behind word i, in units
    for flat, owner in _flattened(numbers):
        pairs = []
        for distance in range(1, window + 1):
            near = owner[:-distance] == owner[distance:]
            left, right = flat[:-distance][near], flat[distance:][near]
            pairs.append((np.full(len(left), round(UNIT / distance)), left, right))
        weights, rows, columns = (np.concatenate(each) for each in zip(*pairs, strict=True))
        behind += sparse.coo_array((weights, (rows, columns)), shape=(size, size)).tocsr()
    units = (behind + behind.T).tocsr()
    return sparse.csr_array((units.data / UNIT, units.indices, units.indptr), shape=units.shape)


def _flattened(numbers: Iterable[Sequence[int]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All sentences as one row of numbers, in chunks, with the sentence of each number."""
    flat: list[int] = []
    owner: list[int] = []
    for sentence, row in enumerate(numbers):
        flat.extend(row)
        owner.extend([sentence] * len(row))
        if len(flat) >= TOKENS_AT_ONCE:
            yield np.array(flat), np.array(owner)
            flat, owner = [], []
    if flat:
        yield np.array(flat), np.array(owner)


def ppmi(counts: sparse.csr_array, *, smoothing: float = 0.75) -> sparse.csr_array:
    """Positive pointwise mutual information, `max(0, log(p(i, j) / (p(i) p(j))))`.

    `smoothing` raises the counts of contexts to that power, so that rare contexts are not overrated.
    """
    found = counts.tocsr().copy()
    rows, contexts = np.asarray(found.sum(axis=1)).ravel(), np.zeros(found.shape[1])
    np.add.at(contexts, found.indices, found.data)
    contexts **= smoothing
    chance = np.repeat(rows, np.diff(found.indptr)) * contexts[found.indices]
    found.data = np.maximum(0.0, np.log(found.data / (chance / contexts.sum())))
    found.eliminate_zeros()
    return found


def ppmi_vectors(
    tokenised: Iterable[Sequence[str]],
    *,
    dimension: int = 100,
    window: int = 10,
    min_count: int = 2,
    vocab_size: int = 30_000,
    seed: int = 0,
) -> WordVectors:
    """Vectors `U √Σ` of the truncated SVD of the PPMI matrix of a corpus (Levy, Goldberg and Dagan 2015).

    `min_count` and `vocab_size` limit the vocabulary; `tokenised` is read twice, so pass a list.
    """
    tokenised = tokenised if isinstance(tokenised, Sequence) else list(tokenised)
    vocabulary = Vocabulary.of(tokenised, min_count=min_count, vocab_size=vocab_size)
    if len(vocabulary) < 4:
        raise ValueError(
            f"the training texts have {len(vocabulary) - 2} words that occur at least {min_count} times, but word "
            f"vectors need at least 2. Add texts{', or lower min_count' if min_count > 1 else ''}"
        )
    whole("dimension", dimension, 1, 2**31, "length of a vector")
    counts = cooccurrence(map(vocabulary.encode, tokenised), len(vocabulary), window=window)
    # unknown words (number 1) keep their position when neighbours are counted, but are neither words nor contexts
    counts.data[: counts.indptr[2]] = 0
    counts.data[counts.indices < 2] = 0
    counts.eliminate_zeros()

    from sklearn.utils.extmath import randomized_svd  # takes a second to import, with pandas and pyarrow

    information = ppmi(counts)
    rank = min(dimension, len(vocabulary) - 2)
    u, sigma, _ = randomized_svd(information, rank, n_iter=5, random_state=seed)
    matrix = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    matrix[:, :rank] = u * np.sqrt(sigma)
    has_neighbours = np.diff(information.indptr) > 0  # rounding may leave small values for words without neighbours
    known = has_neighbours & (np.linalg.norm(matrix, axis=1) > 1e-8)
    return _filled(vocabulary, matrix, known, seed)


def random_vectors(vocabulary: Vocabulary, dimension: int, *, seed: int = 0) -> WordVectors:
    """A random vector for each word, to be trained; no word is known."""
    whole("dimension", dimension, 1, 2**31, "length of a vector")
    nothing = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    return _filled(vocabulary, nothing, np.zeros(len(vocabulary), dtype=bool), seed)


# --- from a file -----------------------------------------------------------------------------------------------


def load_vectors(path: Path | str, vocabulary: Vocabulary | None = None, *, seed: int = 0) -> WordVectors:
    """The vectors of a vocabulary's words from a file; without a vocabulary, those of all words in the file.

    Text files are streamed, and only needed rows are kept. Words are looked up unchanged, then with a capital letter.
    """
    path = Path(path)
    vectors: dict[str, np.ndarray] = {}

    def wanted(word: str) -> bool:
        return vocabulary is None or word in vocabulary.numbers or word.lower() in vocabulary.numbers

    for word, vector in _rows(path, wanted):
        if vocabulary is None or word in vocabulary.numbers:
            vectors[word] = vector
        else:
            vectors.setdefault(word.lower(), vector)
    if not vectors:
        raise ValueError(f"the word vectors in {str(path)!r} contain no word of the vocabulary; check their language")
    vocabulary = vocabulary or Vocabulary((PAD, UNKNOWN, *vectors))
    matrix = np.zeros((len(vocabulary), len(next(iter(vectors.values())))), dtype=np.float32)
    known = np.zeros(len(vocabulary), dtype=bool)
    for word, vector in vectors.items():
        matrix[vocabulary.numbers[word]] = vector
        known[vocabulary.numbers[word]] = True
    return _filled(vocabulary, matrix, known, seed)


def file_words(path: Path | str) -> list[str]:
    """The words in a vector file, in its order, which usually begins with the most frequent word."""
    words_there: list[str] = []

    def noted(word: str) -> bool:
        words_there.append(word)
        return False  # its numbers are not read

    for _ in _rows(Path(path), noted):
        pass
    return words_there


def _rows(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, np.ndarray]]:
    """The wanted words with their vectors."""
    if not path.is_file():
        raise ValueError(f"{str(path)!r} does not exist; give a file of word vectors (.txt, .txt.gz, .vec or .npz)")
    yield from (_npz_rows if path.suffix == ".npz" else _text_rows)(path, wanted)


def _text_rows(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, np.ndarray]]:
    """Read `word v1 ... vd` lines; a word2vec header `words d` is skipped. The word may contain spaces."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as lines:
        head = list(islice(lines, 1))
        header = bool(head) and len(head[0].split()) == 2
        dimension = int(head[0].split()[1]) if header else len(head[0].split()) - 1 if head else 0
        for number, line in enumerate(lines if header else chain(head, lines), 1 + header):
            word, *numbers = line.rstrip().rsplit(" ", dimension)
            if not wanted(word):  # true of most lines of a large file; their numbers need not be parsed
                continue
            try:
                vector = np.array(numbers, dtype=np.float32)
            except ValueError:
                vector = np.empty(0, dtype=np.float32)
            if not dimension or len(vector) != dimension or not np.isfinite(vector).all():
                raise ValueError(
                    f"{path.name} line {number}: {line[:40]!r}, expected a word and {dimension} finite numbers "
                    "separated by single spaces; is this a GloVe or word2vec text file?"
                )
            yield word, vector


def _npz_rows(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, np.ndarray]]:
    """Read an .npz with an array of words (strings) and an array of vectors (words, d), under any names."""
    with np.load(path, allow_pickle=False) as arrays:
        loaded = [arrays[name] for name in arrays.files]
    texts = next((a for a in loaded if a.ndim == 1 and a.dtype.kind == "U"), None)
    matrix = next((a for a in loaded if a.ndim == 2 and a.dtype.kind == "f"), None)
    if texts is None or matrix is None or len(texts) != len(matrix) or not np.isfinite(matrix).all():
        raise ValueError(
            f"{path.name}: expected one array of words and one finite float array with a row for each of them, got "
            + ", ".join(f"{a.dtype}{a.shape}" for a in loaded)
        )
    yield from (
        (word, row) for word, row in zip(texts.tolist(), matrix.astype(np.float32), strict=True) if wanted(word)
    )


def _filled(vocabulary: Vocabulary, matrix: np.ndarray, known: np.ndarray, seed: int) -> WordVectors:
    """Fill in vectors for unknown words, random with the spread of the known ones, and zeros for padding."""
    spread = matrix[known].std() if known.any() else 0.1
    random = np.random.default_rng(seed).standard_normal(matrix.shape, dtype=np.float32) * spread
    matrix = np.where(known[:, None], matrix, random).astype(np.float32)
    matrix[0] = 0.0
    return WordVectors(vocabulary, matrix, known)
