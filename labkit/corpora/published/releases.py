"""Parsers for the official releases of published datasets.

A parser takes the folder of a release and yields (file, row): the file's name within the folder and the columns of one
row, including `split` if the release has splits. Rows without text or label are also yielded; `registry.py` drops and
counts them. Most parsers are made with `tabbed` or `one_file_a_class`.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

ReleaseRow = dict[str, Any]
ReleaseRows = Iterator[tuple[str, ReleaseRow]]
Parser = Callable[[Path], ReleaseRows]

PARTS = ("train", "dev", "test")
SENTIMENT = {"0": "negative", "1": "positive"}
SUBJECTIVITY = {"0": "objective", "1": "subjective"}

# --- files -----------------------------------------------------------------------------------------------------


def find_file(folder: Path, name: str) -> Path:
    """The file of this name, anywhere in the folder; if there are several, the one nearest to the top."""
    matches = [path for path in folder.rglob(name) if path.is_file() and "__MACOSX" not in path.parts]
    if not matches:
        raise ValueError(f"{name} is not in {folder}; download the set again or put the file there by hand")
    return min(matches, key=lambda path: (len(path.parts), path))


def within(folder: Path, path: Path) -> str:
    """The file's name within the folder."""
    return path.relative_to(folder).as_posix()


def file_lines(path: Path, *encodings: str) -> Iterator[str]:
    """The lines of a text file (.gz too), each in the first encoding that fits; UTF-8 if none is given.

    Only LF and CRLF end a line: Python's other line separators occur within sentences.
    """
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        for number, raw in enumerate(stream, 1):
            for encoding in encodings or ("utf-8-sig",):
                try:
                    yield raw.removesuffix(b"\n").removesuffix(b"\r").decode(encoding)
                    break
                except UnicodeDecodeError:
                    continue
            else:
                raise ValueError(
                    f"{path.name} line {number} is not {' or '.join(encodings) or 'UTF-8'}; download it again"
                )


def table_rows(
    path: Path, columns: Sequence[str], *, header: Sequence[str] = (), quoted: bool = False
) -> Iterator[ReleaseRow]:
    """These columns of a tab-separated file, named by its first line or, without a header line, by `header`.

    Missing cells are empty. Without `quoted`, quotation marks are ordinary characters: most of these files have
    unpaired ones.
    """
    import pandas

    file = io.BytesIO(path.read_bytes().replace(b"\r\n", b"\n"))
    plain: dict[str, Any] = {} if quoted else {"quoting": csv.QUOTE_NONE, "lineterminator": "\n"}
    plain |= {"names": list(header)} if header else {}
    try:
        frame = pandas.read_csv(
            file, sep="\t", usecols=list(columns), dtype=str, na_filter=False, encoding="utf-8-sig", **plain
        )
    except ValueError as reason:
        raise ValueError(f"{path.name} is not the released table ({reason}); download the set again") from None
    yield from frame.to_dict("records")


def tabbed(
    files: Mapping[str, str],
    columns: Mapping[str, str],
    *,
    header: Sequence[str] = (),
    quoted: bool = False,
    change: Callable[[ReleaseRow], ReleaseRow] = dict,
) -> Parser:
    """Make a parser of tab-separated files: file -> the split of its rows, and our column -> the file's column.

    `header` names the columns if the first line does not; `change` corrects a row; "" means no split.
    """

    def parse(folder: Path) -> ReleaseRows:
        for name, split in files.items():
            path = find_file(folder, name)
            for row in table_rows(path, tuple(columns.values()), header=header, quoted=quoted):
                ours = {column: row[theirs] for column, theirs in columns.items()}
                yield within(folder, path), change(ours | ({"split": split} if split else {}))

    return parse


def one_file_a_class(**files: str) -> Parser:
    """Make a parser of Latin-1 files with one sentence per line: class -> the name of its file."""

    def parse(folder: Path) -> ReleaseRows:
        for label, name in files.items():
            path = find_file(folder, name)
            for line in file_lines(path, "latin-1"):
                yield within(folder, path), {"text": line.strip(), "label": label}

    return parse


# --- pairs with a label ----------------------------------------------------------------------------------------

# Quora's own files have quoted cells, some of them empty; the test.tsv of GLUE's files has no labels
_QUESTIONS = {"text_a": "question1", "text_b": "question2", "label": "is_duplicate"}
_QUESTIONS |= {name: name for name in ("id", "qid1", "qid2")}
quora = tabbed({"quora_duplicate_questions.tsv": ""}, _QUESTIONS, quoted=True)
quora_glue = tabbed({"train.tsv": "train", "dev.tsv": "dev"}, _QUESTIONS)
# the split of Wang et al., tokenised
_BIMPM = ("label", "text_a", "text_b", "orig_id")
quora_bimpm = tabbed({f"{part}.tsv": part for part in PARTS}, {name: name for name in _BIMPM}, header=_BIMPM)
# a byte order mark, a header, unpaired quotation marks
paraphrases = tabbed(
    {f"msr_paraphrase_{part}.txt": part for part in ("train", "test")},
    {"text_a": "#1 String", "text_b": "#2 String", "label": "Quality", "id_a": "#1 ID", "id_b": "#2 ID"},
)

_COLUMN = re.compile(r"(?:^|\s)COL (\w+) VAL(?=\s|$)")
PLACE_PARTS = {"train": "train", "valid": "dev", "test": "test"}
PAIR = ("a", "b", "label")


def places(folder: Path) -> ReleaseRows:
    """Read DATASET/CITY/{train,valid,test}.txt: place, place, label; a place is `COL name VAL ... COL address VAL`."""
    paths = [path for part in PLACE_PARTS for path in folder.rglob(f"osm_*/*/{part}.txt")]
    if not paths:
        raise ValueError(f"{folder} has no files like osm_fsq/pit/train.txt; download the set again")
    for path in sorted(paths):
        dataset, city = path.parts[-3:-1]
        for row in table_rows(path, PAIR, header=PAIR):
            first, second = _place(row["a"]), _place(row["b"])
            yield within(folder, path), {
                "text_a": _written(first), "text_b": _written(second), "label": row["label"].strip(),
                "split": PLACE_PARTS[path.stem], "dataset": dataset, "city": city,
                **{f"{name}_a": value for name, value in first.items()},
                **{f"{name}_b": value for name, value in second.items()},
            }  # fmt: skip


def _place(text: str) -> ReleaseRow:
    """`COL name VAL Lock House COL latitude VAL 1.5` -> its columns; missing values and NULL are empty."""
    _, *parts = _COLUMN.split(text)
    values = {name: value.strip() for name, value in zip(parts[::2], parts[1::2], strict=True)}
    theirs = {"name": "name", "address": "address", "postal": "postalCode", "lat": "latitude", "lon": "longitude"}
    place = {ours: values.get(name, "") for ours, name in theirs.items()}
    return {name: "" if value == "NULL" else value for name, value in place.items()}


def _written(place: ReleaseRow) -> str:
    return " ".join(place[name] for name in ("name", "address", "postal") if place[name])


# --- pairs with a score ----------------------------------------------------------------------------------------

_YEAR = re.compile(r"STS\D?(?:20)?(1[2-6])(?!\d)")


def sts(folder: Path) -> ReleaseRows:
    """Read `STS.input.SUBSET.txt` (sentence, sentence, sources) and `STS.gs.SUBSET.txt` (one score per line).

    The year is in the name of the file or of a folder above it. A blank score means that the pair was not scored; such
    pairs have no label.
    """
    inputs = [path for path in sorted(folder.rglob("STS*.input.*.txt")) if not path.name.endswith(".input.ALL.txt")]
    if not inputs:
        raise ValueError(f"{folder} has no STS.input.*.txt; download the set again")
    for path in inputs:
        years = _YEAR.findall(within(folder, path))
        if not years:
            raise ValueError(f"{path.name}: its year is unknown; put it in a folder with a name like STS2012")
        year = f"20{years[-1]}"
        subset = path.name.split(".input.")[1].removesuffix(".txt")
        gold = find_file(path.parent, path.name.replace(".input.", ".gs."))
        # not `table_rows`, which skips blank lines: line n of one file belongs to line n of the other
        for pair, score in zip_longest(file_lines(path, "utf-8", "latin-1"), file_lines(gold), fillvalue=""):
            a, b, *_ = [*pair.split("\t"), ""]
            if score.strip() and not pair:
                raise ValueError(f"{gold.name} has a score where {path.name} has no pair; download the set again")
            yield f"STS{year}/{path.name}", {
                "text_a": a.strip(), "text_b": b.strip(), "score": score.strip(),
                "split": "test", "year": year, "subset": subset,
            }  # fmt: skip


def _with_origin(row: ReleaseRow) -> ReleaseRow:
    origin = "/".join(row.pop(name) for name in ("genre", "file", "year"))
    return row | {"origin": origin}


_BENCHMARK = ("genre", "file", "year", "number", "score", "text_a", "text_b")  # sometimes more; tabs, no quoting
benchmark = tabbed(
    {f"sts-{part}.csv": part for part in PARTS},
    {name: name for name in _BENCHMARK if name != "number"},
    header=_BENCHMARK,
    change=_with_origin,
)


def _of_semeval(row: ReleaseRow) -> ReleaseRow:
    return row | {"split": {"TRAIN": "train", "TRIAL": "dev", "TEST": "test"}.get(row["split"].strip(), row["split"])}


_SICK = {"text_a": "sentence_A", "text_b": "sentence_B", "score": "relatedness_score"}
_SICK |= {"entailment": "entailment_label", "split": "SemEval_set"}
sick = tabbed({"SICK.txt": ""}, _SICK, change=_of_semeval)


# --- sentences with a class ------------------------------------------------------------------------------------


def _with_sentiment(row: ReleaseRow) -> ReleaseRow:
    return row | {"text": row["text"].strip(), "label": SENTIMENT.get(row["label"].strip(), "")}


# sentence, 0 or 1, without a header
sst = tabbed(
    {f"sentiment-{part}": part for part in PARTS},
    {"text": "text", "label": "label"},
    header=("text", "label"),
    change=_with_sentiment,
)
# GLUE's files, sentences and the phrases within them: a header, no quoting
sst_phrases = tabbed(
    {"train.tsv": "train", "dev.tsv": "dev"}, {"text": "sentence", "label": "label"}, change=_with_sentiment
)


def questions(folder: Path) -> ReleaseRows:
    """Read `train_5500.label` and `TREC_10.label`: `NUM:dist How far is it ?` in Latin-1."""
    for name, split in (("train_5500.label", "train"), ("TREC_10.label", "test")):
        path = find_file(folder, name)
        for line in file_lines(path, "latin-1"):
            fine, _, text = line.partition(" ")
            coarse = fine.partition(":")[0]
            yield within(folder, path), {"text": text.strip(), "label": coarse, "split": split, "fine_label": fine}


def newsgroups(folder: Path) -> ReleaseRows:
    """Read `20news-bydate-{train,test}/GROUP/NUMBER`: one posting per file, with its headers, in Latin-1."""
    for split in ("train", "test"):
        paths = [path for path in folder.rglob(f"20news-bydate-{split}/*/*") if path.is_file()]
        if not paths:
            raise ValueError(f"{folder} has no posts in 20news-bydate-{split}; download the set again")
        for path in sorted(paths):
            text = path.read_bytes().decode("latin-1").replace("\r\n", "\n")
            yield within(folder, path), {"text": text, "label": path.parent.name, "split": split, "id": path.name}


# --- groups: five people describe one picture, so their sentences mean the same --------------------------------

CAPTION_PARTS = {"train": "train", "val": "dev", "test_2016": "test"}


def coco(folder: Path) -> ReleaseRows:
    """Read `captions_val2017.json`: {"annotations": [{"image_id", "id", "caption"}, ...]}, some with line ends."""
    path = find_file(folder, "captions_val2017.json")
    try:
        captions = json.loads(path.read_bytes())["annotations"]
        rows = [(str(caption["image_id"]), " ".join(caption["caption"].split())) for caption in captions]
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ValueError(f"{path.name} is not a COCO captions file ({reason!r}); download the set again") from None
    for picture, text in rows:
        yield within(folder, path), {"group": picture, "text": text}


def multi30k(folder: Path) -> ReleaseRows:
    """Read `{train,val,test_2016}.{1..5}.en.gz`: five files with one caption per line; line n describes picture n."""
    for name, split in CAPTION_PARTS.items():
        paths = [find_file(folder, f"{name}.{number}.en.gz") for number in range(1, 6)]
        for picture, captions in enumerate(zip(*map(file_lines, paths), strict=False)):
            for path, caption in zip(paths, captions, strict=True):
                yield within(folder, path), {"group": f"{name}-{picture}", "text": caption.strip(), "split": split}
