"""Pairs with a label: Quora's question pairs in three official forms, the Microsoft paraphrases, pairs of places."""

from __future__ import annotations

import re
from pathlib import Path

from labkit.corpora.official import Published, Row, Rows, Source, cells, found, lines, table, table_of, within

_QUORA = "Quora's terms of service; for non-commercial use. No redistribution."
_QUORA_CITATION = "Iyer, Dandekar and Csernai (2017): First Quora Dataset Release: Question Pairs."


def quora(folder: Path) -> Rows:
    """`quora_duplicate_questions.tsv`: a header, cells in quotes, some questions empty."""
    path = found(folder, "quora_duplicate_questions.tsv")
    for row in table(path, ("id", "qid1", "qid2", "question1", "question2", "is_duplicate"), quoted=True):
        yield within(folder, path), _question_pair(row)


def quora_glue(folder: Path) -> Rows:
    """GLUE's `train.tsv` and `dev.tsv`: the same columns, no quoting. Its test.tsv has no labels and is not read."""
    for split in ("train", "dev"):
        path = found(folder, f"{split}.tsv")
        for row in table(path, ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")):
            yield within(folder, path), _question_pair(row) | {"split": split}


def _question_pair(row: Row) -> Row:
    ids = {name: row[name] for name in ("id", "qid1", "qid2")}
    return {"text_a": row["question1"], "text_b": row["question2"], "label": row["is_duplicate"]} | ids


def quora_bimpm(folder: Path) -> Rows:
    """The split of Wang et al.: `train.tsv`, `dev.tsv`, `test.tsv` with label, question, question, id; tokenised."""
    for split in ("train", "dev", "test"):
        path = found(folder, f"{split}.tsv")
        for label, a, b, number, *_ in cells(path, 4):
            yield within(folder, path), {"text_a": a, "text_b": b, "label": label, "split": split, "orig_id": number}


def paraphrases(folder: Path) -> Rows:
    """`msr_paraphrase_{train,test}.txt`: a byte order mark, a header, quotation marks that stand alone."""
    for split in ("train", "test"):
        path = found(folder, f"msr_paraphrase_{split}.txt")
        for row in table(path, ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")):
            yield within(folder, path), {
                "text_a": row["#1 String"], "text_b": row["#2 String"], "label": row["Quality"],
                "split": split, "id_a": row["#1 ID"], "id_b": row["#2 ID"],
            }  # fmt: skip


# --- places ----------------------------------------------------------------------------------------------------

_COLUMN = re.compile(r"(?:^|\s)COL (\w+) VAL(?=\s|$)")
_SPLITS = {"train": "train", "valid": "dev", "test": "test"}


def places(folder: Path) -> Rows:
    """DATASET/CITY/{train,valid,test}.txt: record, record, label; a record is `COL name VAL ... COL address VAL ...`."""
    paths = [path for path in folder.rglob("*.txt") if path.stem in _SPLITS and len(path.relative_to(folder).parts) > 2]
    if not paths:
        raise ValueError(f"{folder} has no files like osm_fsq/pit/train.txt; fetch the set again")
    for path in sorted(paths):
        dataset, city = path.parts[-3:-1]
        for a, b, label, *_ in cells(path, 3):
            first, second = _place(a), _place(b)
            yield within(folder, path), {
                "text_a": _written(first), "text_b": _written(second), "label": label.strip(),
                "split": _SPLITS[path.stem], "dataset": dataset, "city": city,
                **{f"{name}_a": value for name, value in first.items()},
                **{f"{name}_b": value for name, value in second.items()},
            }  # fmt: skip


def _place(text: str) -> Row:
    """`COL name VAL Lock House COL latitude VAL 1.5` -> its columns; what is missing or NULL is empty."""
    _, *parts = _COLUMN.split(text)
    values = dict(zip(parts[::2], (value.strip() for value in parts[1::2]), strict=True))
    values = {name: "" if value == "NULL" else value for name, value in values.items()}
    return {
        "name": values.get("name", ""), "address": values.get("address", ""), "postal": values.get("postalCode", ""),
        "lat": float(values.get("latitude") or "nan"), "lon": float(values.get("longitude") or "nan"),
    }  # fmt: skip


def _written(place: Row) -> str:
    return " ".join(place[name] for name in ("name", "address", "postal") if place[name])
