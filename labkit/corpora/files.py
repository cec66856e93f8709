"""A file of your own as a corpus: the columns say what it is.

    text, label                          sentences with classes      -> Labelled
    text_a, text_b, label | score        pairs, 0/1 or graded        -> Pairs
    anchor, positive, negative           triplets                    -> Triplets
    group, text                          paraphrases                 -> Groups
    title, sections (JSONL only)         articles                    -> Articles

A column `split` (train, dev, test) is taken as it is; without one the rows are divided (`splits.py`). All other columns
are kept in `extra`. Every complaint is one sentence with the row's number; rows that repeat an earlier one are left
out, and a note names them (`labkit.notes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from labkit.corpora.records import (
    SPLITS,
    Article,
    Articles,
    Corpus,
    Groups,
    Labelled,
    Pairs,
    Section,
    Triplets,
    hashed_split,
)
from labkit.corpora.tables import LARGEST, read_rows
from labkit.notes import note
from labkit.progress import Progress, silent

# shape -> its columns, the more telling first
SHAPES: dict[type[Corpus], tuple[str, ...]] = {
    Triplets: ("anchor", "positive", "negative"),
    Pairs: ("text_a", "text_b"),
    Labelled: ("text", "label"),
    Groups: ("group", "text"),
    Articles: ("title", "sections"),
}
_SPLIT_NAMES = {"train": "train", "training": "train", "dev": "dev", "val": "dev", "valid": "dev", "validation": "dev",
                "test": "test"}  # fmt: skip
_STREAMED = 2**42  # bytes, where only a row at a time is held
_BINARY = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}


def read_corpus(
    path: Path | str,
    *,
    name: str | None = None,
    encoding: str = "utf-8-sig",
    limit: int = LARGEST,
    progress: Progress = silent,
) -> Corpus:
    """The corpus in a file; `limit` bounds its unpacked bytes."""
    path = Path(path)
    where = path.name
    shape: type[Corpus] | None = None
    columns: dict[str, list[Any]] = {}
    seen: dict[tuple[Any, ...], int] = {}
    repeated: list[tuple[int, int]] = []
    numbers: list[int] = []
    for number, row in read_rows(path, encoding=encoding, limit=limit):
        if shape is None:
            shape = _shape(where, row)
            columns = {column: [] for column in row}
        at = f"{where} row {number}"
        if row.keys() != columns.keys():
            odd = sorted(row.keys() ^ columns.keys())
            raise ValueError(f"{at}: column {odd[0]!r} is not in every row; give each row the same columns")
        checked = _checked(shape, row, at)
        key = tuple(checked[column] for column in checked if column != "split")
        if (first := seen.setdefault(_hashable(key), number)) != number:
            repeated.append((number, first))
            continue
        numbers.append(number)
        if number % 1000 == 0:
            progress(number, None, where)
        for column, value in checked.items():
            columns[column].append(value)
    if shape is None:
        raise ValueError(f"{where} has no rows below its header; give it at least one")
    _warn_repeated(where, repeated)
    corpus = _built(shape, columns, name or path.name.split(".")[0])
    _check_classes(where, corpus, numbers)
    if told := contradictions(corpus, numbers):
        note(f"{where}: {told}; no method can tell which is meant: keep one of them, or drop the rows", stacklevel=2)
    return corpus


def read_articles(path: Path | str, *, encoding: str = "utf-8-sig") -> Iterator[tuple[Article, str]]:
    """The articles of a file one after the other, with their splits: for files too large for a corpus in memory."""
    path = Path(path)
    for place, (number, row) in enumerate(read_rows(path, encoding=encoding, limit=_STREAMED)):
        if not place and (shape := _shape(path.name, row)) is not Articles:
            raise ValueError(f"{path.name} has the columns of {shape.__name__}, expected Articles: title, sections")
        at = f"{path.name} row {number}"
        for column in SHAPES[Articles]:
            if column not in row:
                raise ValueError(f"{at}: column {column!r} is missing; give each row the same columns")
        checked = _checked(Articles, row, at)
        yield Article(checked["title"], checked["sections"]), checked.get("split") or hashed_split(checked["title"])


def _shape(where: str, row: Mapping[str, Any]) -> type[Corpus]:
    """The shape whose columns a row has."""
    for shape, needed in SHAPES.items():
        if all(column in row for column in needed):
            if shape is Pairs and not {"label", "score"} & row.keys():
                raise ValueError(
                    f"{where}: column 'label' (0/1) or 'score' is missing beside text_a and text_b; add it"
                )
            return shape
    wanted = "; ".join(", ".join(columns) for columns in SHAPES.values())
    found = ", ".join(repr(column) for column in list(row)[:8])
    raise ValueError(f"{where} row 1: columns {found} are not those of a corpus, expected one of: {wanted}")


def _checked(shape: type[Corpus], row: Mapping[str, Any], at: str) -> dict[str, Any]:
    """One row with its texts, labels, scores and split looked at."""
    row = dict(row)
    if shape is Articles:
        row["sections"] = _sections(row["sections"], at)
        row["title"] = _text(row["title"], "title", at)
    for column in shape.TEXTS:
        row[shape.COLUMNS[column]] = _text(row[shape.COLUMNS[column]], shape.COLUMNS[column], at)
    if shape in (Labelled, Groups):
        column = "label" if shape is Labelled else "group"
        row[column] = _text(_plain(row[column]), column, at)
    elif shape is Pairs and "label" in row:
        row["label"] = _binary(row["label"], at)
    elif shape is Pairs:
        row["score"] = _finite(row["score"], at)
    if "split" in row:
        row["split"] = _split(row["split"], at)
    return row


def _text(value: Any, column: str, at: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(
            f"{at}: {column} is {_shown(value)}, expected a text that is not empty; fill it in or drop the row"
        )
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError(f"{at}: {column} holds a sign that is no text (NUL or half a surrogate pair); remove it")
    return value


def _plain(value: Any) -> Any:
    """Numbers as class names, written as in a CSV of the same table: 3 is '3', 0.5 is '0.5'; NaN is none."""
    return str(value) if isinstance(value, int | float) and value == value else value


def _binary(value: Any, at: str) -> float:
    found = _BINARY.get(str(value).strip().lower())
    if found is None:
        raise ValueError(f"{at}: label is {_shown(value)}, expected 0 or 1; for degrees name the column 'score'")
    return found


def _finite(value: Any, at: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{at}: score is {_shown(value)}, expected a finite number with a decimal point")
    return number


def _split(value: Any, at: str) -> str:
    found = _SPLIT_NAMES.get(str(value).strip().lower())
    if found is None:
        raise ValueError(f"{at}: split is {_shown(value)}, expected one of {', '.join(SPLITS)}")
    return found


def _sections(value: Any, at: str) -> tuple[Section, ...]:
    """Sections as [{title, paragraphs, level?, top?}]."""
    try:
        sections = [
            Section(str(s["title"]), tuple(s["paragraphs"]), int(s.get("level", 2)), str(s.get("top", "")))
            for s in value
        ]
    except (TypeError, KeyError, AttributeError, ValueError):
        raise ValueError(
            f'{at}: sections is {_shown(value)}, expected a list of {{"title": ..., "paragraphs": [...]}}'
        ) from None
    for section in sections:
        for paragraph in section.paragraphs:
            _text(paragraph, f"a paragraph of section {section.title!r}", at)
    return tuple(sections)


def _shown(value: Any) -> str:
    """A value as it came, short enough for one line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _hashable(key: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(value if isinstance(value, str | float | int | tuple | None) else repr(value) for value in key)


def _warn_repeated(where: str, repeated: list[tuple[int, int]]) -> None:
    if repeated:
        some = ", ".join(f"row {row} repeats row {first}" for row, first in repeated[:3])
        rest = f" and {len(repeated) - 3} more" if len(repeated) > 3 else ""
        note(f"{where}: repeated rows were left out: {some}{rest}", stacklevel=3)


def _check_classes(where: str, corpus: Corpus, numbers: list[int]) -> None:
    """A corpus with a single class has nothing to learn."""
    if isinstance(corpus, Labelled):
        classes: set[Any] = set(corpus.labels)
    elif isinstance(corpus, Groups):
        classes = set(corpus.groups)
    elif isinstance(corpus, Pairs) and not corpus.graded:
        classes = {int(value) for value in corpus.values}
    else:
        return
    if len(classes) == 1:
        what = "group" if isinstance(corpus, Groups) else "label"
        raise ValueError(
            f"{where} rows {numbers[0]} to {numbers[-1]}: every {what} is {next(iter(classes))!r}, expected at least "
            f"two different ones; add rows with another {what}"
        )


def contradictions(corpus: Corpus, numbers: Sequence[int] | None = None) -> str:
    """How many texts or pairs are told two things of, with the first of them; "" if there is none.

    `numbers`: of the rows, where they are not counted from 1.
    """
    keys: Iterable[tuple[str, ...]]
    values: Sequence[Any]
    if isinstance(corpus, Labelled):
        what, said, keys, values = "text", "label", zip(corpus.texts), corpus.labels
    elif isinstance(corpus, Groups):
        what, said, keys, values = "text", "group", zip(corpus.texts), corpus.groups
    elif isinstance(corpus, Pairs):
        what, said = "pair", "score" if corpus.graded else "label"
        keys, values = (tuple(sorted(pair)) for pair in zip(corpus.text_a, corpus.text_b, strict=True)), corpus.values
    else:
        return ""
    first: dict[tuple[str, ...], int] = {}
    found: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(keys):
        if values[first.setdefault(key, row)] != values[row]:
            found.setdefault(key, row)
    if not found:
        return ""
    key, row = next(iter(found.items()))
    one, other = (
        f"{f'{values[at]:g}' if what == 'pair' else _shown(values[at])} in row {numbers[at] if numbers else at + 1}"
        for at in (first[key], row)
    )
    count = f"{len(found):,} {what}s have" if len(found) > 1 else f"a {what} has"
    return f"{count} more than one {said} (the first is {' and '.join(map(_shown, key))}: {one}, {other})"


def _built(shape: type[Corpus], columns: dict[str, list[Any]], name: str) -> Corpus:
    """The record out of its columns; what it does not use goes into `extra`."""
    rest = dict(columns)
    shared: dict[str, Any] = {"name": name, "splits": rest.pop("split", ())}
    if shape is Articles:
        titles, sections = rest.pop("title"), rest.pop("sections")
        articles = [Article(title, parts) for title, parts in zip(titles, sections, strict=True)]
        return Articles(articles, **shared, extra=rest)
    if shape is Pairs:
        graded = "label" not in rest
        values = rest.pop("score" if graded else "label")
        return Pairs(rest.pop("text_a"), rest.pop("text_b"), values, graded, **shared, extra=rest)
    fields: dict[str, Any] = {field: rest.pop(column) for field, column in shape.COLUMNS.items()}
    return shape(**fields, **shared, extra=rest)
