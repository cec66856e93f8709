"""Build a corpus from rows; the columns determine its shape.

    text, label                          sentences with classes      -> Labelled
    text_a, text_b, label | score        pairs, 0/1 or graded        -> Pairs
    anchor, positive, negative           triplets                    -> Triplets
    group, text                          paraphrases                 -> Groups
    title, sections                      articles                    -> Articles
    text                                 sentences without labels    -> Sentences

Other common names (`sentence1`, `question2`, `category`, ...) are also recognised; rows with only `query, positive`
become groups. A `split` column (train, dev, test) is used as given; without it, the rows are divided (`splits.py`). All
other columns go to `extra`. Errors name the row and the column of the source; repeated rows are dropped with a note
(`labkit.progress`). `files.py` reads rows from files, and `frames.py` reads them from memory.
"""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    Sentences,
    Triplets,
    hashed_split,
)
from labkit.progress import Progress, note, silent

# shape -> its columns, the more specific shapes first
SHAPES: dict[type[Corpus], tuple[str, ...]] = {
    Triplets: ("anchor", "positive", "negative"),
    Pairs: ("text_a", "text_b"),
    Labelled: ("text", "label"),
    Groups: ("group", "text"),
    Articles: ("title", "sections"),
    Sentences: ("text",),
}
SHAPES_BY_NAME = {shape.__name__: shape for shape in SHAPES}
OURS = tuple(dict.fromkeys([*(column for columns in SHAPES.values() for column in columns), "score", "split"]))
_TEXTS = {  # other common names for our text columns
    **dict.fromkeys(("sentence1", "sentence_1", "text1", "text_1", "question1", "premise"), "text_a"),
    **dict.fromkeys(("sentence2", "sentence_2", "text2", "text_2", "question2", "hypothesis"), "text_b"),
    "query": "anchor",
    **dict.fromkeys(("sentence", "review"), "text"),
}
_OF_TEXTS = ("text_a", "text_b", "anchor", "positive", "negative", "text")
_ANSWERS = (  # a column that must be there, our name for the answer next to it, and other common names for the answer
    ("text", "label", ("category", "class", "target", "sentiment", "topic", "intent")),
    ("text_b", "label", ("is_duplicate",)),
    ("text_b", "score", ("similarity",)),
)
_SPLIT_NAMES = {"train": "train", "training": "train", "dev": "dev", "val": "dev", "valid": "dev", "validation": "dev",
                "test": "test"}  # fmt: skip
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_NUMBER = re.compile(r"-?\d+([.,]\d+)?")
_HASHABLE = (str, float, int, tuple, type(None))
_BINARY = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}


def column_names(names: Iterable[Any], at: str) -> list[str]:
    """Column names, stripped and in lower case; raises ValueError if a name appears twice."""
    columns = [str(name).strip().lower() for name in names]
    twice = sorted(name for name, times in Counter(columns).items() if times > 1)
    if twice:
        raise ValueError(f"{at}: column {twice[0]!r} appears twice; give each its own name")
    return columns


def our_names(columns: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """Map each column to our name for it; `given` {our name: theirs} takes precedence over the common names.

    >>> our_names(["question1", "question2", "is_duplicate", "id"], {})
    {'question1': 'text_a', 'question2': 'text_b', 'is_duplicate': 'label', 'id': 'id'}
    """
    names = {column: column for column in columns}
    given = {ours: theirs.strip().lower() for ours, theirs in given.items()}
    for ours, theirs in given.items():
        if theirs not in names:
            raise ValueError(f"columns has {ours!r}: {theirs!r}, expected one of {', '.join(map(repr, names))}")
        if ours in names and ours not in given.values():
            names[ours] = f"{ours} of the file"
        names[theirs] = ours
    for column in [each for each in names if each not in given.values()]:
        if _TEXTS.get(column, column) not in names.values():
            names[column] = _TEXTS[column]
    for text, answer, common in _ANSWERS:
        if text in names.values() and not {"label", "score", "group"} & set(names.values()):
            names.update(dict.fromkeys([each for each in common if names.get(each) == each][:1], answer))
    return names


def _renamed(
    rows: Iterable[tuple[int | str, Mapping[str, Any]]], given: Mapping[str, str], where: str
) -> Iterator[tuple[int | str, dict[str, Any], dict[str, str]]]:
    """Each row's number, its values by our column names, and {our name: theirs}.

    Rows with only an anchor and a positive become groups.
    """
    names: dict[str, str] = {}
    theirs: dict[str, str] = {}
    anchors: set[tuple[Any, ...]] = set()
    for number, row in rows:
        if row.keys() != names.keys():
            try:
                names = our_names(row, given)
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
            theirs = {ours: column for column, ours in names.items()}
        ours = {names[column]: value for column, value in row.items()}
        if not {"anchor", "positive"} <= ours.keys() or "negative" in ours:
            yield number, ours, theirs
            continue
        texts = {column: ours.pop(column) for column in ("anchor", "positive")}
        anchor = texts["anchor"]
        first = _hashable((anchor,)) not in anchors
        for column, wanted in (("anchor", first), ("positive", texts["positive"] != anchor)):
            if wanted:
                group = {"group": anchor, "text": texts[column], **ours}
                yield number, group, theirs | {"group": theirs["anchor"], "text": theirs[column]}
        anchors.add(_hashable((anchor,)))


def corpus_of_rows(
    rows: Iterable[tuple[int | str, Mapping[str, Any]]],
    where: str,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Corpus:
    """Build the corpus of these numbered rows: checked, without repeats, in the shape that the columns determine.

    `columns` maps our column names to theirs; `where` names the source in messages. Notes become warnings in the
    caller's caller.
    """
    shape: type[Corpus] | None = None
    values: dict[str, list[Any]] = {}
    seen: dict[tuple[Any, ...], int | str] = {}
    repeated: list[tuple[int | str, int | str]] = []
    empty: dict[str, dict[int | str, Any]] = {}  # their column -> the empty cells by row
    numbers: list[int | str] = []
    needed: list[str] = []
    theirs: dict[str, str] = {}
    for number, row, theirs in _renamed(rows, columns or {}, where):
        if shape is None:
            shape = _shape(where, row, theirs)
            values = {column: [] for column in row}
            needed = [*SHAPES[shape], *(["label" if "label" in row else "score"] if shape is Pairs else [])]
        at = f"{where} row {number}"
        if row.keys() != values.keys():
            odd = sorted(row.keys() ^ values.keys())
            raise ValueError(f"{at}: column {odd[0]!r} is not in every row; give each row the same columns")
        if blank := [column for column in needed if _is_empty(row[column])]:
            for column in blank:
                empty.setdefault(theirs[column], {})[number] = row[column]
            continue
        checked = _cleaned(shape, row, theirs, at)
        key = tuple(checked[column] for column in values if column != "split")
        if (first := seen.setdefault(_hashable(key), number)) != number:
            repeated.append((number, first))
            continue
        numbers.append(number)
        if len(numbers) % 1000 == 0:
            progress(len(numbers), None, where)
        for column, value in checked.items():
            values[column].append(value)
    if shape is None:
        raise ValueError(f"{where} has no rows; give it at least one")
    if empty:
        blanks = "; ".join(_blanks(column, cells) for column, cells in empty.items())
        raise ValueError(f"{where} {blanks}. A value is needed in every row; fill it in or drop the row")
    if repeated:
        some = ", ".join(f"row {row} repeats row {first}" for row, first in repeated[:3])
        rest = f" and {len(repeated) - 3} more" if len(repeated) > 3 else ""
        note(f"{where}: repeated rows were skipped: {some}{rest}", stacklevel=3)
    corpus = from_columns(shape, values, name, numbers)
    _check_classes(where, corpus, theirs)
    unused = corpus.extra.items() if shape is Sentences else ()
    for column in [column for column, each in unused if _maybe_labels(each)][:1]:
        note(
            f"{where}: column {column!r} looks like labels but is not used; rename it to 'label', or pass "
            f"{_option(label=column)} to `labkit bench`",
            stacklevel=3,
        )
    if twice := contradictions(corpus):
        note(f"{where}: {twice}. Methods cannot know which is right; keep one of them, or drop the rows", stacklevel=3)
    return corpus


def articles_of_rows(rows: Iterable[tuple[int, Mapping[str, Any]]], where: str) -> Iterator[tuple[Article, str]]:
    """The articles of these rows in order, with their splits."""
    for number, row in rows:
        at = f"{where} row {number}"
        if missing := [column for column in SHAPES[Articles] if column not in row]:
            raise ValueError(f"{at}: column {missing[0]!r} is missing, expected articles with title and sections")
        checked = _cleaned(Articles, row, {column: column for column in row}, at)
        yield Article(checked["title"], checked["sections"]), checked.get("split") or hashed_split(checked["title"])


def texts_of_rows(rows: Iterable[tuple[int | str, Mapping[str, Any]]], where: str) -> list[str]:
    """The texts of all rows, in order, including repeats; texts of the same row follow one another."""
    texts: list[str] = []
    for number, row in rows:
        theirs = {ours: column for column, ours in our_names(row, {}).items()}
        columns = [theirs[ours] for ours in _OF_TEXTS if ours in theirs]
        if not columns:
            _shape(where, row, {column: column for column in row})  # raises the error that names the missing column
        texts += [_text(row[column], column, f"{where} row {number}") for column in columns]
    return texts


def _shape(where: str, row: Mapping[str, Any], theirs: Mapping[str, str]) -> type[Corpus]:
    """The shape whose columns a row has."""
    for shape, needed in SHAPES.items():
        if all(column in row for column in needed):
            if shape is Pairs and not {"label", "score"} & row.keys():
                answer = _answer({theirs[column]: value for column, value in row.items() if column not in needed})
                named = f", or say which it is, for example with {_option(**answer)}" if answer else ""
                raise ValueError(
                    f"{where}: column 'label' (0/1) or 'score' is missing next to {theirs['text_a']} and "
                    f"{theirs['text_b']}; add it{named}"
                )
            return shape
    wanted = "; ".join(", ".join(columns) for columns in SHAPES.values())
    guess = _guessed({theirs[column]: value for column, value in row.items()})
    raise ValueError(
        f"{where} row 1: the columns {', '.join(map(repr, list(theirs.values())[:8]))} do not form a corpus. Expected "
        f"one of: {wanted}. Rename them, or say which is which, for example with {_option(**guess)} in `labkit bench` "
        f"or `labkit data check`, and columns={guess} in Python. A file with one sentence per line and no header must "
        "end in .txt"
    )


def _guessed(row: Mapping[str, Any]) -> dict[str, str]:
    """An example of how the columns may map to ours: two columns of several words may be a pair."""
    row = {
        column: value
        for column, value in row.items()
        if column != "split" and "," not in column and column.isprintable()
    }
    texts = [column for column, value in row.items() if " " in str(value).strip()]
    ours: tuple[str, ...] = ("text_a", "text_b")
    if len(texts) != 2 or len(row) == 2:
        texts, ours = sorted(row, key=lambda column: -len(str(row[column])))[:1], ("text",)
    answer = _answer({column: value for column, value in row.items() if column not in texts})
    if ours == ("text",):
        return dict(zip(("text", "label"), (*texts, *answer.values()), strict=False))
    return dict(zip(ours, texts, strict=True)) | answer


def _answer(row: Mapping[str, Any]) -> dict[str, str]:
    """The column that may hold the label or score: the last one that is neither empty nor names a split."""
    others = {column: str(value).strip().lower() for column, value in row.items() if not _is_empty(value)}
    others.pop("split", None)
    likely = [column for column, value in others.items() if value not in _SPLIT_NAMES] or [*others]
    grade = bool(likely) and _NUMBER.fullmatch(others[likely[-1]]) and others[likely[-1]] not in _BINARY
    return {"score" if grade else "label": column for column in likely[-1:]}


def _option(**columns: str) -> str:
    """The option of a command that names these columns."""
    return "--columns " + shlex.quote(",".join(f"{ours}={theirs}" for ours, theirs in columns.items()))


def _is_empty(value: Any) -> bool:
    """Whether a cell is empty: None, NaN or only spaces."""
    return value is None or (
        not value.strip() if isinstance(value, str) else isinstance(value, float) and value != value
    )


def _blanks(column: str, cells: Mapping[int | str, Any]) -> str:
    """The first three rows with an empty cell in this column, and the first cell.

    >>> _blanks("review", {12: "", 40: "", 77: ""})
    "rows 12, 40 and 77: review is ''"
    """
    named = [*map(str, cells)] if len(cells) <= 3 else [*map(str, [*cells][:3]), f"{len(cells) - 3:,} more"]
    rows = f"rows {', '.join(named[:-1])} and {named[-1]}" if len(cells) > 1 else f"row {named[0]}"
    return f"{rows}: {column} is {_shown(next(iter(cells.values())))}"


def _cleaned(shape: type[Corpus], row: Mapping[str, Any], theirs: Mapping[str, str], at: str) -> dict[str, Any]:
    """One row with its texts, labels, scores and split checked."""
    row = dict(row)
    if shape is Articles:
        row["sections"] = _sections(row["sections"], at)
        row["title"] = _text(row["title"], theirs["title"], at)
    for column in (shape.COLUMNS[name] for name in shape.TEXTS):
        row[column] = _text(row[column], theirs[column], at)
    if shape.CLASSES:
        column = shape.COLUMNS[shape.CLASSES]
        name = row[column]
        if isinstance(name, int | float) and name == name:  # as in CSV: 3 is '3', 0.5 is '0.5'; NaN is missing
            name = str(name)
        row[column] = sys.intern(_text(name, theirs[column], at))  # one object for all rows of a class
    elif shape is Pairs and "label" in row:
        expected = "0 or 1; for grades name the column 'score'"
        row["label"] = _one_of(_BINARY, row["label"], theirs["label"], expected, at)
    elif shape is Pairs:
        row["score"] = _finite(row["score"], theirs["score"], at)
    if "split" in row:
        row["split"] = _one_of(_SPLIT_NAMES, row["split"], theirs["split"], f"one of {', '.join(SPLITS)}", at)
    return row


def _text(value: Any, column: str, at: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{at}: {column} is {_shown(value)}, expected a non-empty text; fill it in or drop the row")
    if _NO_TEXT.search(value):
        raise ValueError(f"{at}: {column} contains a NUL character or a lone surrogate; remove it")
    return value


def _one_of(meanings: Mapping[str, Any], value: Any, column: str, expected: str, at: str) -> Any:
    """Look up the value of this column, ignoring case."""
    try:
        return meanings[str(value).strip().lower()]
    except KeyError:
        raise ValueError(f"{at}: {column} is {_shown(value)}, expected {expected}") from None


def _finite(value: Any, column: str, at: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"{at}: {column} is {_shown(value)}, expected a finite number, with a point as the decimal separator"
        )
    return number


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
    """A value, shortened to fit one line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _hashable(key: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(value if isinstance(value, _HASHABLE) else repr(value) for value in key)


def _check_classes(where: str, corpus: Corpus, theirs: Mapping[str, str]) -> None:
    """Raise ValueError if all rows have the same class, because nothing can be learned from them."""
    classes: set[Any] = set(corpus.classified()[1])
    if isinstance(corpus, Pairs) and not corpus.graded:
        classes = set(corpus.labels.tolist())
    if len(classes) == 1:
        what = theirs[corpus.COLUMNS.get(corpus.CLASSES, "label")]
        raise ValueError(
            f"{where} rows {corpus.numbers[0]} to {corpus.numbers[-1]}: every {what} is {classes.pop()!r}; add rows "
            f"with another {what}, because at least two are needed"
        )


def _maybe_labels(values: Sequence[Any]) -> bool:
    """Whether a few distinct values are repeated, as labels are."""
    return 1 < len(set(_hashable(values))) <= len(values) / 2


def contradictions(corpus: Corpus) -> str:
    """The number of texts or pairs with contradictory labels, and the first of them, in words; "" if none exist."""
    keys: Iterable[tuple[str, ...]]
    values: Sequence[Any]
    if corpus.CLASSES:
        texts, values = corpus.classified()
        what, said, keys = "text", corpus.COLUMNS[corpus.CLASSES], zip(texts)
    elif isinstance(corpus, Pairs):
        what, said = "pair", "score" if corpus.graded else "label"
        keys, values = (tuple(sorted(pair)) for pair in zip(corpus.text_a, corpus.text_b, strict=True)), corpus.values
    else:
        return ""
    first: dict[tuple[str, ...], int] = {}
    other_than_first: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(keys):
        if values[first.setdefault(key, row)] != values[row]:
            other_than_first.setdefault(key, row)
    if not other_than_first:
        return ""
    key, row = next(iter(other_than_first.items()))
    one, other = (
        f"{f'{values[at]:g}' if what == 'pair' else _shown(values[at])} in row {corpus.number_of(at)}"
        for at in (first[key], row)
    )
    count = f"{len(other_than_first):,} {what}s have" if len(other_than_first) > 1 else f"a {what} has"
    return f"{count} more than one {said} (the first is {' and '.join(map(_shown, key))}: {one}, {other})"


def from_columns(
    shape: type[Corpus], columns: Mapping[str, list[Any]], name: str, numbers: Sequence[int | str] = ()
) -> Corpus:
    """Build the corpus from its columns and row numbers; columns outside its shape go to `extra`."""
    rest = dict(columns)
    shared: dict[str, Any] = {"name": name, "splits": rest.pop("split", ()), "numbers": numbers}
    if shape is Articles:
        titles, sections = rest.pop("title"), rest.pop("sections")
        articles = [
            Article(title, tuple(part if isinstance(part, Section) else Section(**part) for part in parts))
            for title, parts in zip(titles, sections, strict=True)
        ]
        return Articles(articles, **shared, extra=rest)
    if shape is Pairs:
        graded = "label" not in rest
        values = rest.pop("score" if graded else "label")
        return Pairs(rest.pop("text_a"), rest.pop("text_b"), values, graded, **shared, extra=rest)
    fields: dict[str, Any] = {field: rest.pop(column) for field, column in shape.COLUMNS.items()}
    return shape(**fields, **shared, extra=rest)
