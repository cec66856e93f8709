"""The plain form: a folder with one file for each part of a set, as TSV without quoting or JSONL, packed with gzip.

In: the folder. Out: the same (file, row) stream that the parsers of the official forms give. `PLAIN` says of each file
which corpus it is a part of, and which split; a `MANIFEST.json` beside the files says how many rows each should have.
Columns that a corpus does not need are kept as they are.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from labkit.corpora.published.official import Row, Rows
from labkit.corpora.published.official_text import SENTIMENT, SUBJECTIVITY
from labkit.corpora.records import Section
from labkit.corpora.tables import read_rows


@dataclass(frozen=True)
class Part:
    """One file of the plain form."""

    corpus: str
    split: str = ""  # of all its rows; without one, the file's own column, or none
    names: dict[str, str] = field(default_factory=dict)  # what the file calls a class -> what labkit calls it


PLAIN: dict[str, Part] = {
    "qqp/labelled_train20k.tsv.gz": Part("qqp"),
    "qqp/bimpm_dev.tsv.gz": Part("qqp-bimpm", "dev"),
    "qqp/positive_only.tsv.gz": Part("qqp-positives", "train"),
    "mrpc/train.tsv.gz": Part("mrpc", "train"),
    "mrpc/test.tsv.gz": Part("mrpc", "test"),
    "poi/geoer_pairs.tsv.gz": Part("geoer"),
    "sts12-16/test.tsv.gz": Part("sts12-16", "test"),
    "stsb/train.tsv.gz": Part("stsb", "train"),
    "stsb/dev.tsv.gz": Part("stsb", "dev"),
    "stsb/test.tsv.gz": Part("stsb", "test"),
    "sick/train.tsv.gz": Part("sick", "train"),
    "sick/dev.tsv.gz": Part("sick", "dev"),
    "senteval/mr.tsv.gz": Part("mr", names=SENTIMENT),
    "senteval/subj.tsv.gz": Part("subj", names=SUBJECTIVITY),
    "senteval/sst2_train_phrases.tsv.gz": Part("sst-phrases", "train", SENTIMENT),
    "senteval/sst2_dev.tsv.gz": Part("sst-phrases", "dev", SENTIMENT),
    "senteval/trec_train.tsv.gz": Part("trec", "train"),
    "senteval/trec_test.tsv.gz": Part("trec", "test"),
    "20news/20news_bydate.jsonl.gz": Part("20news"),
    "captions/coco_val2017.tsv.gz": Part("coco"),
    "captions/flickr30k_multi30k_train.tsv.gz": Part("flickr30k", "train"),
    "captions/flickr30k_multi30k_val.tsv.gz": Part("flickr30k", "dev"),
    "captions/flickr30k_multi30k_test_2016.tsv.gz": Part("flickr30k", "test"),
    "articles/wiki_sections.jsonl.gz": Part("wikipedia"),
}


def plain_files(corpus: str) -> list[str]:
    """The files of a corpus, in the order in which they are read."""
    return [file for file, part in PLAIN.items() if part.corpus == corpus]


def has_plain(corpus: str, folder: Path) -> bool:
    """Whether the folder has a file of this corpus."""
    return any((folder / file).is_file() for file in plain_files(corpus))


def read_plain(corpus: str, folder: Path) -> Rows:
    """The rows of a corpus; all of its files have to be there."""
    for file in plain_files(corpus):
        if not (folder / file).is_file():
            raise ValueError(f"{file} is missing in {folder}, where other files of {corpus} are; put it there")
        for _, row in read_rows(folder / file):
            yield file, _row(row, PLAIN[file])


def count_rows(corpus: str, folder: Path) -> int | None:
    """How many rows lie in the files of a corpus, by their lines; None where one cannot be read."""
    count = 0
    for file in (folder / name for name in plain_files(corpus)):
        try:
            with gzip.open(file) as lines:
                count += sum(1 for line in lines if line.strip()) - (".tsv" in file.suffixes)  # without its header
        except (OSError, EOFError, zlib.error):
            return None
    return count


def _row(row: Row, part: Part) -> Row:
    if part.split:
        row["split"] = part.split
    elif row.get("split") == "valid":
        row["split"] = "dev"
    if part.names:
        row["label"] = part.names.get(row["label"], row["label"])
    if "sections" in row:
        row["sections"] = tuple(
            Section(s["title"], tuple(s["paragraphs"]), s["level"], s["top"]) for s in row["sections"]
        )
    return row


def expected_rows(folder: Path) -> dict[str, int | None]:
    """file -> the rows it should have, by the MANIFEST.json of the folder; empty where there is none."""
    manifest = folder / "MANIFEST.json"
    if not manifest.is_file():
        return {}
    try:
        return {str(entry["file"]): entry["rows"] for entry in json.loads(manifest.read_text(encoding="utf-8"))}
    except (ValueError, KeyError, TypeError) as reason:
        raise ValueError(f"{manifest} is damaged ({reason!r}); put it there again or remove it") from None
