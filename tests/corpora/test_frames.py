"""DataFrames, data sets and lists to corpora and back: the same corpus as from a file of the same rows."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import METHODS
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

IN_AND_OUT = [(from_frame, to_pandas), (from_frame, to_polars), (from_dataset, to_dataset)]
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
    """The corpora of a pandas and a polars frame, a data set, one whose only split is train, and rows."""
    made = datasets.Dataset.from_list(rows)
    return [
        from_frame(pd.DataFrame(rows)),
        from_frame(polars.DataFrame(rows)),
        from_dataset(made),
        from_dataset(datasets.DatasetDict(train=made)),
        from_dataset(made.to_iterable_dataset()),
        from_rows(rows),
    ]


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("shape", ROWS)
def test_the_same_rows_are_the_same_corpus_wherever_they_are_from(
    shape: type[Corpus], split: bool, tmp_path: Path
) -> None:
    rows = [
        row | ({"split": ("train", "dev", "test")[place % 3]} if split else {}) for place, row in enumerate(ROWS[shape])
    ]
    write_rows(rows, tmp_path / f"mine.{'jsonl' if shape is Articles else 'csv'}")
    read = read_corpus(next(tmp_path.iterdir()))
    for corpus in from_everywhere(rows):
        assert type(corpus) is shape
        assert (corpus.fingerprint, corpus.splits) == (read.fingerprint, read.splits)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(str.strip)
labels = st.sampled_from([texts, st.integers(-9, 9), st.floats(-9, 9), st.booleans()])


@settings(max_examples=25)
@given(st.data())
def test_any_rows_go_there_and_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    entry = {"text": texts, "label": data.draw(labels), "split": st.sampled_from(SPLITS), "note": st.text(max_size=3)}
    several = st.lists(st.fixed_dictionaries(entry), min_size=2, max_size=9)
    rows = data.draw(several.filter(lambda rows: len({str(row["label"]) for row in rows}) > 1))
    path = tmp_path_factory.mktemp("rows") / "mine.jsonl"
    write_rows(rows, path)
    with collected():  # of repeats, and of texts with two labels
        corpus = read_corpus(path)
        assert {each.fingerprint for each in from_everywhere(rows)} == {corpus.fingerprint}
        for back, there in IN_AND_OUT[:2]:
            assert back(there(corpus)).fingerprint == corpus.fingerprint
        if set(corpus.splits) != {"train"}:  # a single train is divided
            again = from_dataset(to_dataset(corpus))
            assert [list(again.part(name).rows()) for name in corpus.sizes] == [
                list(corpus.part(name).rows()) for name in corpus.sizes
            ]


@pytest.mark.parametrize(("back", "there"), IN_AND_OUT)
@pytest.mark.parametrize("name", ["questions", "captions", "articles", "relatedness", "topics"])
def test_embedded_corpora_go_there_and_back(name: str, back: Callable, there: Callable) -> None:
    corpus = load(name)
    corpus = corpus.take(range(0, len(corpus), 1 + len(corpus) // 200))
    inside = [row for split in SPLITS for row, own in enumerate(corpus.splits) if own == split]
    corpus = corpus.take(inside) if there is to_dataset else corpus  # a DatasetDict has its splits one after the other
    made = there(corpus)
    assert back(made).fingerprint == corpus.fingerprint
    if there is to_dataset:
        assert {key: len(part) for key, part in made.items()} == {
            {"dev": "validation"}.get(key, key): size for key, size in corpus.sizes.items()
        }


def test_they_train_to_the_same_bits(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "kind"} for row in load("questions").rows()][:300]
    write_rows(rows, tmp_path / "mine.csv")
    made = [read_corpus(tmp_path / "mine.csv"), *from_everywhere(rows)]
    arrays = []
    for corpus in made:
        method = METHODS["bag"](epochs=1, dimension=8, most=500, device="cpu")
        method.fit(corpus, seed=4)
        arrays.append(method._state()[0])
    for other in arrays[1:]:
        assert all(np.array_equal(array, arrays[0][name]) for name, array in other.items())
    assert len(arrays) == 7


# --- lists -------------------------------------------------------------------------------------------------------


class Kind(str, Enum):  # noqa: UP042 - as people still write it
    TREE = "tree"


def test_classes_of_lists_arrays_and_columns() -> None:
    expected = from_rows([{"text": text, "label": str(label)} for text, label in zip("abc", (3, 4, 3), strict=True)])
    for given_texts in (list("abc"), tuple("abc"), np.array(list("abc")), pd.Series(list("abc")), iter("abc")):
        corpus = from_classes(given_texts, np.array([3, 4, 3]))
        assert isinstance(corpus, Labelled)
        assert corpus.fingerprint == expected.fingerprint
    assert from_classes(list("abc"), [np.int64(3), np.int64(4), 3]).labels == ("3", "4", "3")
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


def test_triplets_and_groups() -> None:
    made = from_triplets([("a", "b", "c"), ("d", "e", "f")], name="mine", splits="training")
    assert (made.name, made.anchors, made.negatives, made.splits) == ("mine", ("a", "d"), ("c", "f"), ("train",) * 2)
    expected = (("x", "x", "y"), ("a", "b", "c"))
    named = from_groups({"x": ["a", "b"], "y": ("c",)})
    assert (named.groups, named.texts) == expected
    assert from_groups([["a", "b"], ["c"]]).groups == ("1", "1", "2")


def test_sentences_of_which_nothing_more_is_known() -> None:
    for texts in (["a", "b", "a"], pd.Series(["a", "b", "a"]), np.array(["a", "b", "a"]), iter("aba")):
        with collected() as notes:
            corpus = from_sentences(texts, name="own")
        assert isinstance(corpus, Sentences)
        assert (corpus.name, corpus.texts, corpus.splits) == ("own", ("a", "b"), ("train", "train"))
        assert notes == ["from_sentences: repeated rows were left out: row 3 repeats row 1"]
    assert from_sentences(["a", "b"], splits=["train", "test"]).sizes == {"train": 1, "test": 1}
    for texts, said in (("ab", "text is 'ab', expected a list"), (["a", " "], "row 2: text is ' ', expected a text")):
        with pytest.raises(ValueError, match=f"^from_sentences:? ?{said}"):
            from_sentences(texts)


def test_splits_are_divided_one_for_all_or_one_each() -> None:
    texts, classes = [f"text {n}" for n in range(40)], [n % 2 for n in range(40)]
    divided = from_classes(texts, classes)
    assert divided.splits == Labelled(texts, list(map(str, classes))).splits
    assert set(divided.splits) == set(SPLITS)
    assert set(from_classes(texts, classes, splits="dev").splits) == {"dev"}
    each = ["train", "val"] * 20
    assert from_classes(texts, classes, splits=each).splits == ("train", "dev") * 20


# --- data sets ---------------------------------------------------------------------------------------------------


def test_a_class_label_is_its_name_of_texts_and_its_number_of_pairs() -> None:
    kinds = datasets.ClassLabel(names=["not_same", "same"])
    of_texts = datasets.Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}).cast_column("label", kinds)
    assert from_dataset(of_texts).labels == ("same", "not_same")
    pairs = {"text_a": ["a", "b"], "text_b": ["c", "d"], "label": [1, 0], "lang": [0, 0]}
    of_pairs = datasets.Dataset.from_dict(pairs).cast_column("label", kinds)
    of_pairs = of_pairs.cast_column("lang", datasets.ClassLabel(names=["en"])).with_format("numpy")
    assert from_dataset(of_pairs).labels.tolist() == [1, 0]
    assert from_dataset(of_pairs).extra == {"lang": ("en", "en")}
    hidden = of_texts.map(lambda row: {"label": -1})
    with pytest.raises(ValueError, match="Dataset row 1: label is None, expected a text"):
        from_dataset(hidden)


def test_the_keys_of_a_datasetdict_are_splits_and_a_column_stands_above_them() -> None:
    part = datasets.Dataset.from_dict({"text": ["a", "b"], "label": ["x", "y"]})
    other = datasets.Dataset.from_dict({"text": ["c", "d"], "label": ["x", "y"]})
    made = from_dataset(datasets.DatasetDict(train=part, validation=other))
    assert (made.texts, made.splits) == (tuple("abcd"), ("train", "train", "dev", "dev"))
    assert from_dataset(datasets.DatasetDict(test=part)).splits == ("test", "test")
    many = datasets.Dataset.from_list([{"text": f"text {n}", "label": n % 2} for n in range(40)])
    assert from_dataset(datasets.DatasetDict(train=many)).sizes == from_dataset(many).sizes
    assert set(from_dataset(many).sizes) == set(SPLITS)
    column = datasets.DatasetDict(
        train=part.add_column("split", ["dev", "test"]), test=other.add_column("split", ["train"] * 2)
    )
    assert from_dataset(column).splits == ("dev", "test", "train", "train")
    with pytest.warns(
        UserWarning, match="repeated rows were left out: row 1 of test repeats row 1 of train, row 2"
    ) as said:
        from_dataset(datasets.DatasetDict(train=part, test=part))
    assert {warning.filename for warning in said} == {__file__}


# --- what is refused ---------------------------------------------------------------------------------------------


def frame(**columns: Any) -> Callable[[], Corpus]:
    return lambda: from_frame(pd.DataFrame(columns))


def splits(**parts: dict[str, list[Any]]) -> Callable[[], Corpus]:
    made = {key: datasets.Dataset.from_dict(columns) for key, columns in parts.items()}
    return lambda: from_dataset(datasets.DatasetDict(made))


def odd(*values: Any) -> Corpus:
    return Labelled(["a", "b"], ["x", "y"], splits="train", extra={"odd": values})


AB, NAN, NA = ["a", "b"], float("nan"), pd.NA
# fmt: off
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "None": (frame(text=["a", None], label=AB), "DataFrame row 2: text is (nan|None), expected a text that is"),
    "NA": (frame(text=pd.array(["a", NA], "string"), label=AB), "row 2: text is <NA>"),
    "NaN": (frame(text=AB, label=[1, NAN]), "row 2: label is nan, expected a text"),
    "NaT": (frame(text=AB, label=[pd.NaT, pd.NaT]), "row 1: label is NaT"),
    "null": (lambda: from_frame(polars.DataFrame({"text": ["a", None], "label": AB})), "row 2: text is None"),
    "score": (frame(text_a=["a"], text_b=["b"], score=pd.array([NA], "Float64")), "score is <NA>, expected a finite"),
    "numbers": (frame(text=[1, 2], label=AB), "row 1: text is 1, expected a text"),
    "bytes": (frame(text=[b"a", b"b"], label=AB), "row 1: text is b'a', expected"),
    "one class": (frame(text=AB, label=[1, 1]), "rows 1 to 2: every label is '1'"),
    "no rows": (frame(text=[], label=[]), "DataFrame has no rows; give it"),
    "no columns": (frame(), "DataFrame has no rows"),
    "twice": (lambda: from_frame(pd.DataFrame([AB], columns=["text", "text"])), "DataFrame: column 'text' stands"),
    "capitals": (lambda: from_frame(polars.DataFrame({"text": AB, "Text": AB})), "column 'text' stands twice"),
    "no names": (lambda: from_frame(pd.DataFrame([AB])), "columns '0', '1' are not those of a corpus, expected one"),
    "no label": (frame(text_a=AB, text_b=AB), "'score' is missing beside text_a"),
    "a series": (lambda: from_frame(pd.Series(AB)), "frame is Series, expected a DataFrame"),
    "lazy": (lambda: from_frame(polars.LazyFrame({"text": AB})), "frame is LazyFrame, expected a DataFrame"),
    "no data set": (lambda: from_dataset(pd.DataFrame({"text": AB})), "dataset is DataFrame, expected a Dataset"),
    "dict of lists": (lambda: from_dataset({"text": AB, "label": AB}), "dataset is list, expected a Dataset"),
    "other split": (splits(train={"text": AB, "label": AB}, more={"text": AB, "label": AB}),
                    "row 1 of more: split is 'more', expected one of train, dev, test"),
    "other columns": (splits(train={"text": AB, "label": AB}, test={"text": AB}),
                      "row 1 of test: column 'label' is not in every row"),
    "empty dict": (splits(), "DatasetDict has no rows"),
    "no mapping": (lambda: from_rows(["a"]), "from_rows row 1 is 'a', expected a mapping"),
    "no rows at all": (lambda: from_rows([]), "from_rows has no rows"),
    "shorter": (lambda: from_classes(AB, [1]), "from_classes: label has 1 values and text 2, expected as many"),
    "one text": (lambda: from_classes("ab", [1, 2]), "from_classes: text is 'ab', expected a list"),
    "not a pair": (lambda: from_pairs([AB, ("c",)], [1, 0]), r"from_pairs row 2 is \('c',\), expected 2 texts"),
    "a text": (lambda: from_pairs(["ab", "cd"], [1, 0]), "from_pairs row 1 is 'ab', expected 2 texts"),
    "lists": (lambda: from_triplets([["a"] * 5, ["b"] * 5, ["c"] * 5]), "expected 3 texts .* zip makes such rows"),
    "neither": (lambda: from_pairs([AB]), "neither labels nor scores, .* are from_groups"),
    "both": (lambda: from_pairs([AB], [1], scores=[2]), "both labels and scores"),
    "label 2": (lambda: from_pairs([AB], [2]), "from_pairs row 1: label is 2, expected 0 or 1; for degrees"),
    "all alike": (lambda: from_pairs([("a", "b"), ("c", "d")], [1, 1]), "rows 1 to 2: every label is 1"),
    "a text for a group": (lambda: from_groups({"x": "ab"}), "group 'x' is 'ab', expected a list of texts"),
    "splits fewer": (lambda: from_classes(AB, AB, splits=["dev"]), "splits has 1 values, expected one for each row"),
    "splits more": (lambda: from_classes(AB, AB, splits=["dev"] * 3), "splits has 3 values, expected one for each row"),
    "splits beside": (lambda: from_rows([{"text": "a", "split": "dev"}], splits="dev"), "'split' beside splits"),
    "splits unknown": (lambda: from_classes(AB, AB, splits="tset"), "row 1: split is 'tset', expected one of"),
    "several types": (lambda: to_polars(odd("one", [1])), "column .odd. with values of several types, .* polars"),
    "several types there": (lambda: to_dataset(odd(1, "one")), "of several types, expected one, as datasets wants it"),
}
# fmt: on


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_one_sentence(name: str) -> None:
    make, words = BAD[name]
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "there"), [("polars", to_polars), ("datasets", to_dataset)])
def test_without_the_package_it_says_what_to_install(
    name: str, there: Callable[[Corpus], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(wanted: str, *others: Any) -> Any:
        if wanted.partition(".")[0] == name:
            raise ImportError(wanted)
        return real(wanted, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=f"{name} is not installed, and to_.* needs it; run pip install {name}"):
        there(Labelled(["a", "b"], ["x", "y"]))
