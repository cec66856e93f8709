"""Pairs with a label: Quora's question pairs in three official forms, the Microsoft paraphrases, pairs of places."""

from __future__ import annotations

import re
from pathlib import Path

from labkit.corpora.published.official import Published, Row, Rows, Source, cells, found, table, table_of, within

_COLUMNS = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")  # of Quora's own and of GLUE's files


def quora(folder: Path) -> Rows:
    """`quora_duplicate_questions.tsv`: a header, cells in quotes, some questions empty."""
    path = found(folder, "quora_duplicate_questions.tsv")
    for row in table(path, _COLUMNS, quoted=True):
        yield within(folder, path), _question_pair(row)


def quora_glue(folder: Path) -> Rows:
    """GLUE's `train.tsv` and `dev.tsv`: the same columns, no quoting. Its test.tsv has no labels and is not read."""
    for split in ("train", "dev"):
        path = found(folder, f"{split}.tsv")
        for row in table(path, _COLUMNS):
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
    """DATASET/CITY/{train,valid,test}.txt: place, place, label; a place is `COL name VAL ... COL address VAL ...`."""
    paths = [path for split in _SPLITS for path in folder.rglob(f"osm_*/*/{split}.txt")]
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
        "lat": values.get("latitude", ""), "lon": values.get("longitude", ""),
    }  # fmt: skip


def _written(place: Row) -> str:
    return " ".join(place[name] for name in ("name", "address", "postal") if place[name])


# --- records ---------------------------------------------------------------------------------------------------

_QUORA = "Quora's terms of service: non-commercial use, no redistribution"
_QUORA_CITATION = "Iyer, Dandekar and Csernai (2017): First Quora Dataset Release: Question Pairs"
_GEO = "https://raw.githubusercontent.com/PasqualeTurin/Geo-ER/HEAD/data/train_valid_test"
_MSRP = "the download on this page is a Windows installer with a licence to accept; open it there or with `cabextract`"

# train, valid, test of each set and city
_PLACES = {
    "osm_fsq/sin": (9_621, 3_848, 5_774), "osm_yelp/sin": (10_793, 4_317, 6_478),
    "osm_fsq/edi": (8_693, 3_477, 5_216), "osm_yelp/edi": (9_366, 3_746, 5_621),
    "osm_fsq/pit": (2_500, 999, 1_502), "osm_yelp/pit": (2_558, 1_022, 1_536),
}  # fmt: skip
_TORONTO = {"osm_fsq/tor": 17_858, "osm_yelp/tor": 27_969}  # the three files together

PAIRS = table_of(
    Published(
        name="qqp", shape="Pairs", title="Quora question pairs, as Quora released them",
        licence=_QUORA, citation=_QUORA_CITATION, parse=quora,
        sources=(
            Source(
                "http://qim.fs.quoracdn.net/quora_duplicate_questions.tsv", size=58_176_133,
                sha256="b3350dbb1d98db1f5abca85d736ba514bf4da253fae53939303d79fe921ec7c8",
            ),
        ),
        rows={"quora_duplicate_questions.tsv": 404_290},
        note="No splits of its own. A few questions are empty; their pairs are left out.",
    ),
    Published(
        name="qqp-glue", shape="Pairs", title="Quora question pairs, as GLUE divides them",
        licence=_QUORA, citation=f"{_QUORA_CITATION}; Wang et al. (2019): GLUE, ICLR", parse=quora_glue,
        sources=(
            Source(
                "https://dl.fbaipublicfiles.com/glue/data/QQP-clean.zip", size=41_696_084,
                sha256="40e7c862c04eb26ee04b67fd900e76c45c6ba8e6d8fab4f8f1f8072a1a3fbae0",
            ),
        ),
        rows={"train.tsv": 363_846, "dev.tsv": 40_430},
        note="GLUE keeps the labels of its test part to itself, so there are train and dev only.",
    ),
    Published(
        name="qqp-bimpm", shape="Pairs", title="Quora question pairs, as Wang et al. (2017) divide them",
        licence=_QUORA, parse=quora_bimpm,
        citation=f"{_QUORA_CITATION}; Wang, Hamza and Florian (2017): Bilateral Multi-Perspective Matching, IJCAI",
        sources=tuple(
            Source(
                "https://drive.google.com/file/d/0B0PlTAo--BnaQWlsZl9FZ3l1c28/view", file=f"{split}.tsv",
                by_hand="the authors keep it on a page made for browsers; unpack it",
            )
            for split in ("train", "dev", "test")
        ),
        rows={"train.tsv": 384_348, "dev.tsv": 10_000, "test.tsv": 10_000},
        note="Tokenised; dev and test are half duplicates. The plain form has the dev part only.",
    ),
    Published(
        name="qqp-positives", shape="Pairs", title="Duplicate questions only, in several styles of writing",
        licence=_QUORA, citation=_QUORA_CITATION,
        note="Gathered from the files of several papers: raw, tokenised and lower-cased. There is no official release; "
        "its like are the rows of qqp with label 1.",
    ),
    Published(
        name="mrpc", shape="Pairs", title="Microsoft Research Paraphrase Corpus",
        licence="Microsoft Research licence, to be accepted by hand; no redistribution", parse=paraphrases,
        citation="Dolan and Brockett (2005): Automatically Constructing a Corpus of Sentential Paraphrases, IWP",
        sources=tuple(
            Source(
                "https://www.microsoft.com/en-us/download/details.aspx?id=52398",
                file=f"msr_paraphrase_{split}.txt", by_hand=_MSRP,
            )
            for split in ("train", "test")
        ),
        rows={"msr_paraphrase_train.txt": 4_076, "msr_paraphrase_test.txt": 1_725},
        note="Train and test; there is no dev part.",
    ),
    Published(
        name="geoer", shape="Pairs", title="Pairs of places from three maps in four cities",
        licence="none stated; OpenStreetMap's half is under ODbL 1.0, Foursquare's and Yelp's under their terms",
        citation="Balsebre, Yao, Cong and Hai (2022): Geospatial Entity Resolution, WWW", parse=places,
        sources=tuple(
            Source(f"{_GEO}/{part}/{split}.txt", file=f"{part}/{split}.txt")
            for part in (*_PLACES, *_TORONTO)
            for split in ("train", "valid", "test")
        ),
        rows={
            f"{part}/{split}.txt": count
            for part, counts in _PLACES.items()
            for split, count in zip(("train", "valid", "test"), counts, strict=True)
        } | {f"{part}/*.txt": count for part, count in _TORONTO.items()},
        note="Name, address, postal code and coordinates of both places are in `extra`. The plain form is without "
        "Toronto.",
    ),
)  # fmt: skip
