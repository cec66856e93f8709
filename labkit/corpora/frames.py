"""Convert DataFrames, Hugging Face `datasets` and lists to corpora and back. The columns determine the shape.

Columns and checks are those of `read_corpus`: labels are texts (3 is '3'), repeated rows are dropped with a note, and
rows are counted from 1. A CSV file and a frame of its rows have the same fingerprint, except for extra numeric columns,
which CSV stores as text. Rows without a split are divided (`splits.py`), except sentences without labels; `splits`
gives one split for all rows, or one for each row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, cast

import numpy as np

from labkit.corpora.records import SPLITS, Corpus, Groups, Labelled, Pairs, Sentences, Triplets
from labkit.corpora.rows import column_names, corpus_of_rows
from labkit.extras import require

Splits = str | Sequence[str]
Numbered = Iterator[tuple[int | str, dict[str, Any]]]

_BATCH = 1000  # rows of a dataset converted to Python objects at once
_NAMES = {"train": "train", "dev": "validation", "test": "test"}  # the names of our splits in `datasets`

# --- from lists ---------------------------------------------------------------------------------------------------


def from_rows(
    rows: Iterable[Mapping[str, Any]],
    *,
    name: str = "corpus",
    splits: Splits = (),
    columns: Mapping[str, str] | None = None,
) -> Corpus:
    """Build a corpus from rows, each a {column: value}; the columns determine which shape it has.

    >>> from_rows([{"text": "a cat", "label": "pet"}, {"text": "an oak", "label": "tree"}]).labels
    ('pet', 'tree')
    """
    return corpus_of_rows(_numbered(rows, "from_rows", splits), "from_rows", name, columns=columns)


def from_classes(texts: Iterable[str], labels: Iterable[Any], *, name: str = "corpus", splits: Splits = ()) -> Labelled:
    """Texts with one class each.

    >>> from_classes(["a cat", "a dog", "an oak"], [0, 0, 1], splits="train")
    Labelled('corpus', 3 rows: train 3)
    """
    rows = _listed("from_classes", splits, {"text": texts, "label": labels})
    return cast(Labelled, corpus_of_rows(rows, "from_classes", name))


def from_pairs(
    pairs: Iterable[Sequence[str]],
    labels: Iterable[Any] | None = None,
    *,
    scores: Iterable[float] | None = None,
    name: str = "corpus",
    splits: Splits = (),
) -> Pairs:
    """Pairs of texts with labels (1 same, 0 different) or with scores (similarity in any unit).

    >>> from_pairs([("a cat", "one cat"), ("a cat", "an oak")], [1, 0], splits="train").labels
    array([1, 0])
    """
    if (labels is None) == (scores is None):
        raise ValueError(
            f"from_pairs has {'neither labels nor scores' if labels is None else 'both labels and scores'}; give "
            "labels (1 same, 0 different) or scores. If the texts of each pair mean the same, use from_groups(pairs)"
        )
    columns = _apart("from_pairs", pairs, ("text_a", "text_b"))
    columns |= {"label": labels} if labels is not None else {"score": scores}
    return cast(Pairs, corpus_of_rows(_listed("from_pairs", splits, columns), "from_pairs", name))


def from_triplets(triplets: Iterable[Sequence[str]], *, name: str = "corpus", splits: Splits = ()) -> Triplets:
    """Triplets of texts: an anchor, a text that is closer to it, and a text that is farther away.

    >>> from_triplets([("a cat", "one cat", "an oak")], splits="train").negatives
    ('an oak',)
    """
    columns = _apart("from_triplets", triplets, ("anchor", "positive", "negative"))
    return cast(Triplets, corpus_of_rows(_listed("from_triplets", splits, columns), "from_triplets", name))


def from_groups(
    groups: Mapping[Any, Iterable[str]] | Iterable[Iterable[str]], *, name: str = "corpus", splits: Splits = ()
) -> Groups:
    """Make a corpus from groups of texts with the same meaning: {name: texts}, or lists, which are named 1, 2, ...

    `splits` has an entry for each text.

    >>> from_groups([["a cat", "one cat"], ["an oak", "a tree"]], splits="train").groups
    ('1', '1', '2', '2')
    """
    named, where = groups.items() if isinstance(groups, Mapping) else enumerate(groups, 1), "from_groups"
    members = ((group, text) for group, texts in named for text in _list(where, f"group {group!r}", texts))
    rows = _listed(where, splits, _apart(where, members, ("group", "text")))
    return cast(Groups, corpus_of_rows(rows, where, name))


def from_sentences(texts: Iterable[str], *, name: str = "corpus", splits: Splits = ()) -> Sentences:
    """Texts without labels; repeated ones are skipped, with a note.

    >>> from_sentences(["a cat", "an oak"])
    Sentences('corpus', 2 rows: train 2)
    """
    rows = _listed("from_sentences", splits, {"text": texts})
    return cast(Sentences, corpus_of_rows(rows, "from_sentences", name))


def _apart(where: str, rows: Iterable[Sequence[Any]], names: Sequence[str]) -> dict[str, Any]:
    """The columns of rows that have a text for each name."""
    parts = []
    for number, row in enumerate(rows, 1):
        parts.append([] if isinstance(row, str) or not isinstance(row, Iterable) else list(row))
        if len(parts[-1]) != len(names):
            raise ValueError(
                f"{where} row {number} is {row!r:.60}, expected {len(names)} texts ({', '.join(names)}). Combine "
                "separate lists with zip"
            )
    return {column: [part[place] for part in parts] for place, column in enumerate(names)}


def _listed(where: str, splits: Splits, columns: Mapping[str, Any]) -> Numbered:
    """The numbered rows of columns of equal length."""
    lists = {column: _list(where, column, values) for column, values in columns.items()}
    first, *_ = lists
    for column, values in lists.items():
        if len(values) != len(lists[first]):
            raise ValueError(f"{where}: {column} has {len(values)} values, but {first} has {len(lists[first])}")
    rows = (dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True))
    return _numbered(rows, where, splits)


def _list(where: str, column: str, values: Any) -> list[Any]:
    values = values.tolist() if hasattr(values, "tolist") else values  # from numpy, pandas or torch to Python values
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{where}: {column} is {values!r:.60}, expected a list with a value for each row")
    return list(values)


def _numbered(rows: Iterable[Mapping[str, Any]], where: str, splits: Splits = ()) -> Numbered:
    """The rows with numbers and splits, and with plain names and values."""
    each = [] if isinstance(splits, str) else list(splits)
    known: tuple[Any, ...] = ()
    names: list[str] = []
    number = 0
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise ValueError(f"{where} row {number} is {row!r:.60}, expected a mapping {{column: value}}")
        if tuple(row) != known:
            known, names = tuple(row), column_names(row, f"{where} row {number}")
        plain = {name: _plain(value) for name, value in zip(names, row.values(), strict=True)}
        if splits:
            if "split" in plain:
                raise ValueError(f"{where} row {number} has a column 'split', but splits is given too; omit one")
            if each and number > len(each):
                break
            plain["split"] = each[number - 1] if each else splits
        yield number, plain
    if each and number != len(each):
        raise ValueError(f"{where}: splits has {len(each)} values, expected one per row, or a single split for all")


def _plain(value: Any) -> Any:
    """Convert numpy values and subclasses of str, such as enum members, to plain Python values."""
    if isinstance(value, str) and type(value) is not str:
        return str.__str__(value)
    return value.item() if isinstance(value, np.generic) else value


# --- frames ------------------------------------------------------------------------------------------------------


def from_frame(frame: Any, *, name: str = "corpus", columns: Mapping[str, str] | None = None) -> Corpus:
    """The corpus of a pandas or polars DataFrame; the index is ignored. `columns` maps our names to the frame's.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"body": ["a cat", "an oak"], "topic": ["pet", "tree"]})
    >>> from_frame(frame, columns={"text": "body", "label": "topic"}).labels
    ('pet', 'tree')
    """
    import pandas

    if isinstance(frame, pandas.DataFrame):
        values = zip(*(frame.iloc[:, place].tolist() for place in range(frame.shape[1])), strict=True)
    elif hasattr(frame, "iter_rows"):  # polars
        values = frame.iter_rows()
    else:
        raise ValueError(
            f"frame has type {type(frame).__name__}, expected a pandas or polars DataFrame. Use from_dataset for "
            "Hugging Face datasets and from_rows for a list of dictionaries"
        )
    names = column_names(frame.columns, "DataFrame")
    rows = (dict(zip(names, row, strict=True)) for row in values)
    return corpus_of_rows(_numbered(rows, "DataFrame"), "DataFrame", name, columns=columns)


def to_pandas(corpus: Corpus) -> Any:
    """The corpus as a pandas DataFrame with its splits and extra columns.

    >>> to_pandas(from_classes(["a cat", "an oak"], ["pet", "tree"], splits="train")).columns.tolist()
    ['text', 'label', 'split']
    """
    import pandas

    return pandas.DataFrame(list(corpus.rows()))


def to_polars(corpus: Corpus) -> Any:
    """The corpus as a polars DataFrame; an extra column that mixes numbers and texts becomes text.

    >>> to_polars(from_classes(["a cat", "an oak"], ["pet", "tree"], splits="train")).columns
    ['text', 'label', 'split']
    """
    try:
        import polars
    except ImportError as error:
        raise ValueError("to_polars needs polars; run pip install polars") from error
    try:
        return polars.DataFrame(list(corpus.rows()), infer_schema_length=None)
    except (TypeError, polars.exceptions.PolarsError) as error:
        raise _mixed(corpus, "polars") from error


def _mixed(corpus: Corpus, whose: str) -> ValueError:
    return ValueError(
        f"corpus {corpus.name!r} has a column ({', '.join(corpus.extra)}) with values of several types, but {whose} "
        "needs one type per column; use to_pandas instead"
    )


# --- datasets ----------------------------------------------------------------------------------------------------


def from_dataset(dataset: Any, *, name: str = "corpus") -> Corpus:
    """The corpus of a Hugging Face Dataset or DatasetDict (iterable ones are read to the end).

    The keys of a DatasetDict are the splits (validation is dev), unless it has a `split` column. A Dataset, or a
    DatasetDict with only `train`, is divided here. A ClassLabel becomes its names for texts, and its numbers 0 and 1
    for pairs.

    >>> from datasets import Dataset
    >>> from_dataset(Dataset.from_dict({"text": ["a cat", "an oak"], "label": ["pet", "tree"]})).labels
    ('pet', 'tree')
    """
    where = type(dataset).__name__
    if not isinstance(dataset, Mapping):
        return corpus_of_rows(_numbered(_rows_of(dataset), where), where, name)
    if set(dataset) <= {"train"}:
        rows: Numbered = _numbered(chain.from_iterable(map(_rows_of, dataset.values())), where)
    else:
        rows = (
            (f"{number} of {split}", {"split": split, **row})
            for split, part in dataset.items()
            for number, row in _numbered(_rows_of(part), f"{where} {split!r}")
        )
    return corpus_of_rows(rows, where, name)


def _rows_of(dataset: Any) -> Iterator[dict[str, Any]]:
    """The rows of a Dataset as Python values, with class names for the labels of texts."""
    if not hasattr(dataset, "with_format"):
        raise ValueError(
            f"dataset has type {type(dataset).__name__}, expected a Dataset or DatasetDict. Use from_frame for "
            "DataFrames and from_rows for a list of dictionaries"
        )
    features = dataset.features or {}
    numbers = ("label",) if "text_a" in features else ()
    named = {key: dict(enumerate(kind.names)) for key, kind in features.items() if hasattr(kind, "names")}
    for batch in dataset.with_format(None).iter(_BATCH):
        for row in zip(*batch.values(), strict=True):
            values = dict(zip(batch, row, strict=True))
            yield values | {key: names.get(values[key]) for key, names in named.items() if key not in numbers}


def to_dataset(corpus: Corpus, *, extra: bool = False) -> Any:
    """Return a Hugging Face DatasetDict with the non-empty splits: train, validation and test.

    Rows of a split keep their order. The columns are those that `SentenceTransformerTrainer` expects: the texts, then a
    label or score. `extra` adds all other columns of the corpus, which that trainer would treat as texts.

    >>> corpus = from_pairs([("a cat", "one cat"), ("a cat", "an oak")], [1, 0], splits="train")
    >>> to_dataset(corpus)["train"].column_names
    ['text_a', 'text_b', 'label']
    """
    require("sbert", "datasets")
    from datasets import Dataset, DatasetDict

    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in corpus.rows():
        kept = {name: value for name, value in row.items() if extra or name not in corpus.extra}
        rows[kept.pop("split")].append(kept)
    try:
        return DatasetDict({_NAMES[split]: Dataset.from_list(rows[split]) for split in SPLITS if rows[split]})
    except (TypeError, ValueError, OverflowError) as error:
        raise _mixed(corpus, "datasets") from error
