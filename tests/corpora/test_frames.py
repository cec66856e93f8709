"""DataFrames, datasets and lists to corpora and back: the same corpus as from a file with the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.corpora import (
    Articles,
    Corpus,
    Groups,
    Labelled,
    Pairs,
    Sentences,
    Triplets,
    from_classes,
    from_dataset,
    from_frame,
    from_groups,
    from_pairs,
    from_rows,
    from_sentences,
    from_triplets,
    load,
    read_corpus,
    to_dataset,
    to_pandas,
    to_polars,
)
from labkit.corpora.files import write_rows
from labkit.corpora.records import SPLITS
from labkit.progress import collected

datasets = pytest.importorskip("datasets", reason="needs the package datasets, which the extra mteb brings")
polars = pytest.importorskip("polars", reason="needs the package polars, which the extra mteb brings")

SECTIONS = [{"title": "S", "level": 2, "top": "", "paragraphs": ["One.", "Two."]}]
ROWS: dict[type[Corpus], list[dict[str, Any]]] = {
    Labelled: [{"text": text, "label": text[0], "town": "x"} for text in ("a b", "a c", "b d", "b e")],
    Pairs: [{"text_a": "a", "text_b": "b", "label": 1}, {"text_a": "c", "text_b": "d", "label": 0}],
    Triplets: [{"anchor": "a", "positive": "b", "negative": "c"}, {"anchor": "d", "positive": "e", "negative": "f"}],
    Groups: [{"group": "1", "text": "a"}, {"group": "1", "text": "b"}, {"group": "2", "text": "c"}],
    Sentences: [{"text": text, "town": "x"} for text in ("a b", "a c", "b d")],
    Articles: [{"title": title, "sections": SECTIONS} for title in "abc"],
}


def from_everywhere(rows: list[dict[str, Any]]) -> list[Corpus]:
    """The corpora from a pandas and a polars frame, from three kinds of datasets, and from rows."""
    made = datasets.Dataset.from_list(rows)
    return [
        from_frame(pd.DataFrame(rows)),
        from_frame(polars.DataFrame(rows)),
        from_dataset(made),
        from_dataset(datasets.DatasetDict(train=made)),
        from_dataset(made.to_iterable_dataset()),
        from_rows(rows),
    ]


@pytest.mark.parametrize("shape", ROWS)
def test_the_same_rows_are_the_same_corpus_from_every_source(shape: type[Corpus], tmp_path: Path) -> None:
    rows = ROWS[shape]
    write_rows(rows, tmp_path / f"mine.{'jsonl' if shape is Articles else 'csv'}")
    read = read_corpus(next(tmp_path.iterdir()))
    for corpus in from_everywhere(rows):
        assert type(corpus) is shape
        assert (corpus.fingerprint, corpus.splits) == (read.fingerprint, read.splits)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(str.strip)
labels = st.sampled_from([texts, st.integers(-9, 9), st.floats(-9, 9), st.booleans()])


@given(st.data())
def test_any_rows_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    entry = {"text": texts, "label": data.draw(labels), "split": st.sampled_from(SPLITS), "note": st.text(max_size=3)}
    several = st.lists(st.fixed_dictionaries(entry), min_size=2, max_size=9)
    rows = data.draw(several.filter(lambda rows: len({str(row["label"]) for row in rows}) > 1))
    path = tmp_path_factory.mktemp("rows") / "mine.jsonl"
    write_rows(rows, path)
    with collected():  # notes about repeats and conflicting labels
        corpus = read_corpus(path)
        assert {each.fingerprint for each in from_everywhere(rows)} == {corpus.fingerprint}
        for there in (to_pandas, to_polars):
            assert from_frame(there(corpus)).fingerprint == corpus.fingerprint


@pytest.mark.parametrize("name", ["questions", "captions", "articles", "relatedness", "topics"])
def test_embedded_corpora_round_trip(name: str) -> None:
    corpus = load(name)
    corpus = corpus.take(range(0, len(corpus), 1 + len(corpus) // 60))
    for there in (to_pandas, to_polars):
        assert from_frame(there(corpus)).fingerprint == corpus.fingerprint
    made = to_dataset(corpus, extra=True)  # its rows are ordered by split
    assert {key: len(part) for key, part in made.items()} == {
        {"dev": "validation"}.get(key, key): size for key, size in corpus.sizes.items()
    }
    in_order = corpus.take(row for split in SPLITS for row, own in enumerate(corpus.splits) if own == split)
    assert from_dataset(made).fingerprint == in_order.fingerprint


# --- lists -------------------------------------------------------------------------------------------------------


class Kind(str, Enum):  # noqa: UP042 - users still write this
    TREE = "tree"


def test_classes_of_lists_arrays_and_columns() -> None:
    expected = from_rows([{"text": text, "label": str(label)} for text, label in zip("abc", (3, 4, 3), strict=True)])
    for given_texts in (list("abc"), np.array(list("abc")), pd.Series(list("abc")), iter("abc")):
        corpus = from_classes(given_texts, np.array([3, 4, 3]))
        assert isinstance(corpus, Labelled)
        assert corpus.fingerprint == expected.fingerprint
    kinds = [Kind.TREE, np.str_("pet"), Kind.TREE]
    assert json.dumps(from_classes(list("abc"), kinds).labels) == '["tree", "pet", "tree"]'


def test_pairs_with_labels_or_scores() -> None:
    pairs = [("a", "b"), ("c", "d"), ["e", "f"]]
    labelled = from_pairs(pairs, [True, 0, "1"], splits="train")
    assert (labelled.text_a, labelled.text_b) == (("a", "c", "e"), ("b", "d", "f"))
    assert (labelled.labels.tolist(), labelled.graded) == ([1, 0, 1], False)
    graded = from_pairs(np.array([list(pair) for pair in pairs]), scores=np.array([0, 2.5, 5], np.float32))
    assert (graded.scores.tolist(), graded.graded) == ([0, 2.5, 5], True)
    assert from_pairs(zip("ac", "bd", strict=True), [1, 0]).text_b == ("b", "d")


def test_triplets_groups_and_sentences() -> None:
    made = from_triplets([("a", "b", "c"), ("d", "e", "f")], name="mine", splits="training")
    assert (made.name, made.anchors, made.positives, made.negatives, made.splits) == (
        "mine", ("a", "d"), ("b", "e"), ("c", "f"), ("train",) * 2,
    )  # fmt: skip
    named = from_groups({"x": ["a", "b"], "y": ("c",)})
    assert (named.groups, named.texts) == (("x", "x", "y"), ("a", "b", "c"))
    assert from_groups([["a", "b"], ["c"]]).groups == ("1", "1", "2")
    with collected() as notes:
        corpus = from_sentences(iter("aba"), name="own")
    assert isinstance(corpus, Sentences)
    assert (corpus.name, corpus.texts, corpus.splits) == ("own", ("a", "b"), ("train", "train"))
    assert notes[0].endswith("row 3 repeats row 1")


def test_queries_with_answers_are_groups() -> None:
    rows = [("a cat?", "yes"), ("an oak?", "no"), ("a cat?", "surely")]
    found = from_frame(pd.DataFrame(rows, columns=["query", "positive"]), name="asked")
    assert isinstance(found, Groups)
    assert sorted(zip(found.groups, found.texts, strict=True)) == [
        ("a cat?", "a cat?"), ("a cat?", "surely"), ("a cat?", "yes"), ("an oak?", "an oak?"), ("an oak?", "no"),
    ]  # fmt: skip


def test_any_columns_can_be_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"Body": ["a", "c"], "text": ["x", "y"], "Topic": ["b", "d"]})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    named = {"text": "Body", "label": "topic"}
    for found in (from_frame(frame, columns=named), load(tmp_path / "mine.csv", columns=named)):
        assert isinstance(found, Labelled)
        assert (found.texts, found.labels) == (("a", "c"), ("b", "d"))
        assert list(found.extra.values()) == [("x", "y")]
    swapped = from_frame(frame.rename(columns={"Topic": "label"}), columns={"text": "label", "label": "text"})
    assert isinstance(swapped, Labelled)
    assert (swapped.texts, swapped.labels) == (("b", "d"), ("x", "y"))
    with pytest.raises(ValueError, match=r"mine\.csv.*'no'"):
        load(tmp_path / "mine.csv", columns={"text": "no"})


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"one": "a cat", "two": "an oak", "grade": "2,5", "remark": ""}, "text_a=one,text_b=two,score=grade"),
        ({"text_a": "a cat", "text_b": "an oak", "same": "1.0", "part": "train", "split": "holdout"}, "label=same"),
        ({"text_a": "a cat", "text_b": "an oak", "day": "2026-11-29", "near": "4"}, "score=near"),
        ({"text_a": "a cat", "text_b": "an oak", "kind": "test"}, "label=kind"),
        ({"said": "a cat sat", "near": "4.5"}, "text=said,label=near"),
        ({"said": "a cat sat", "kind": "pet", "part": "test"}, "text=said,label=kind"),
    ],
)
def test_an_error_suggests_the_columns_that_may_be_meant(row: dict[str, str], named: str) -> None:
    with pytest.raises(ValueError, match=f"--columns '?{named}'?($| in)"):
        from_frame(pd.DataFrame([row]))


def test_unused_labels_are_reported() -> None:
    rows = [(f"text {number}", number % 2, number) for number in range(6)]
    with pytest.warns(UserWarning, match="'kind'"):
        from_frame(pd.DataFrame(rows, columns=["text", "kind", "id"]))


def test_splits_are_assigned_or_given_for_all_or_for_each() -> None:
    texts, classes = [f"text {n}" for n in range(40)], [n % 2 for n in range(40)]
    assert from_classes(texts, classes).splits == Labelled(texts, list(map(str, classes))).splits
    assert set(from_classes(texts, classes, splits="dev").splits) == {"dev"}
    assert from_classes(texts, classes, splits=["Train", "val"] * 20).splits == ("train", "dev") * 20


# --- datasets ----------------------------------------------------------------------------------------------------


def test_a_class_label_is_its_name_for_texts_and_its_number_for_pairs() -> None:
    kinds = datasets.ClassLabel(names=["not_same", "same"])
    of_texts = datasets.Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}).cast_column("label", kinds)
    assert from_dataset(of_texts).labels == ("same", "not_same")
    pairs = {"text_a": ["a", "b"], "text_b": ["c", "d"], "label": [1, 0], "lang": [0, 0]}
    of_pairs = datasets.Dataset.from_dict(pairs).cast_column("label", kinds)
    of_pairs = of_pairs.cast_column("lang", datasets.ClassLabel(names=["en"])).with_format("numpy")
    assert from_dataset(of_pairs).labels.tolist() == [1, 0]
    assert from_dataset(of_pairs).extra == {"lang": ("en", "en")}
    with pytest.raises(ValueError, match="row.*1"):
        from_dataset(of_texts.map(lambda row: {"label": -1}))  # hidden labels, as in test splits


def test_the_keys_of_a_datasetdict_are_splits_unless_a_column_says_otherwise() -> None:
    part = datasets.Dataset.from_dict({"text": ["a", "b"], "label": ["x", "y"]})
    other = datasets.Dataset.from_dict({"text": ["c", "d"], "label": ["x", "y"]})
    made = from_dataset(datasets.DatasetDict(train=part, validation=other))
    assert (made.texts, made.splits) == (tuple("abcd"), ("train", "train", "dev", "dev"))
    many = datasets.Dataset.from_list([{"text": f"text {n}", "label": n % 2} for n in range(40)])
    assert from_dataset(datasets.DatasetDict(train=many)).sizes == from_dataset(many).sizes
    assert set(from_dataset(many).sizes) == set(SPLITS)
    column = datasets.DatasetDict(
        train=part.add_column("split", ["dev", "test"]), test=other.add_column("split", ["train"] * 2)
    )
    assert from_dataset(column).splits == ("dev", "test", "train", "train")
    with pytest.warns(UserWarning, match="row.*1.*1") as said:
        leaking = from_dataset(datasets.DatasetDict(train=part, test=part))
    assert leaking.sizes == {"train": 2}
    assert {warning.filename for warning in said} == {__file__}


# --- bad input ---------------------------------------------------------------------------------------------------


def frame(**columns: Any) -> Callable[[], Corpus]:
    return lambda: from_frame(pd.DataFrame(columns))


def splits(**parts: dict[str, list[Any]]) -> Callable[[], Corpus]:
    made = {key: datasets.Dataset.from_dict(columns) for key, columns in parts.items()}
    return lambda: from_dataset(datasets.DatasetDict(made))


def odd(*values: Any) -> Corpus:
    return Labelled(["a", "b"], ["x", "y"], splits="train", extra={"odd": values})


AB, NAN, NA = ["a", "b"], float("nan"), pd.NA
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "None": (frame(text=["a", None], label=AB), "row 2: text"),
    "NA": (frame(text=pd.array(["a", NA], "string"), label=AB), "row 2: text"),
    "NaN": (frame(text=AB, label=[1, NAN]), "row 2: label"),
    "bytes": (frame(text=[b"a", b"b"], label=AB), "row 1: text"),
    "one class": (frame(text=AB, label=[1, 1]), "label is '1'"),
    "no columns": (frame(), "no rows"),
    "twice": (lambda: from_frame(pd.DataFrame([AB], columns=["text", "text"])), "column 'text'"),
    "lazy": (lambda: from_frame(polars.LazyFrame({"text": AB})), "frame .*LazyFrame"),
    "no dataset": (lambda: from_dataset(pd.DataFrame({"text": AB})), "dataset .*DataFrame"),
    "other split": (splits(train={"text": AB, "label": AB}, more={"text": AB, "label": AB}), "split is 'more'"),
    "other columns": (splits(train={"text": AB, "label": AB}, test={"text": AB}), "row 1 of test: column 'label'"),
    "no mapping": (lambda: from_rows(["a"]), "row 1 is 'a'"),
    "shorter": (lambda: from_classes(AB, [1]), "label has 1 values"),
    "one text": (lambda: from_classes("ab", [1, 2]), "text is 'ab'"),
    "not a pair": (lambda: from_pairs([AB, ("c",)], [1, 0]), "row 2"),
    "a text for a pair": (lambda: from_pairs(["ab", "cd"], [1, 0]), "row 1"),
    "neither": (lambda: from_pairs([AB]), "labels"),
    "a text for a group": (lambda: from_groups({"x": "ab"}), "group 'x'"),
    "splits fewer": (lambda: from_classes(AB, AB, splits=["dev"]), "splits has 1 values"),
    "splits beside": (lambda: from_rows([{"text": "a", "split": "dev"}], splits="dev"), "splits"),
    "several types": (lambda: to_polars(odd("one", [1])), "odd"),
    "several types there": (lambda: to_dataset(odd(1, "one"), extra=True), "odd"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_row_and_column(name: str) -> None:
    make, words = BAD[name]
    with pytest.raises(ValueError, match=words):
        make()
