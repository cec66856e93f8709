"""Pairs with a degree of similarity: the SemEval tasks of 2012 to 2016, the STS benchmark, SICK."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path

from labkit.corpora.published.official import Published, Rows, Source, cells, found, lines, table, table_of, within

_YEAR = re.compile(r"STS\D?(?:20)?(1[2-6])(?!\d)")


def sts(folder: Path) -> Rows:
    """Folders of `STS.input.SUBSET.txt` (sentence, sentence, sources) beside `STS.gs.SUBSET.txt` (a score a line).

    The year is in the name of the file or of a folder above it. A blank score says that the pair was given to the
    contestants but not scored: such pairs come without a label.
    """
    inputs = [path for path in sorted(folder.rglob("STS*.input.*.txt")) if not path.name.endswith(".input.ALL.txt")]
    if not inputs:
        raise ValueError(f"{folder} has no STS.input.*.txt; fetch the set again")
    for path in inputs:
        years = _YEAR.findall(within(folder, path))
        if not years:
            raise ValueError(f"{path.name}: its year cannot be told; put it into a folder named like STS2012")
        year = f"20{years[-1]}"
        subset = path.name.split(".input.")[1].removesuffix(".txt")
        gold = found(path.parent, path.name.replace(".input.", ".gs."))
        # not `cells`, which passes over blank lines: line n of one file belongs to line n of the other
        for pair, score in zip_longest(lines(path, "utf-8", "latin-1"), lines(gold), fillvalue=""):
            a, b, *_ = [*pair.split("\t"), ""]
            if score.strip() and not pair:
                raise ValueError(f"{gold.name} has a score where {path.name} has no pair; fetch the set again")
            yield f"STS{year}/{path.name}", {
                "text_a": a.strip(), "text_b": b.strip(), "score": score.strip(),
                "split": "test", "year": year, "subset": subset,
            }  # fmt: skip


def benchmark(folder: Path) -> Rows:
    """`sts-{train,dev,test}.csv`: genre, file, year, number, score, two sentences, sometimes more; tabs, no quoting."""
    for split in ("train", "dev", "test"):
        path = found(folder, f"sts-{split}.csv")
        for genre, file, year, _, score, a, b, *_ in cells(path, 7):
            origin = f"{genre}/{file}/{year}"
            yield within(folder, path), {"text_a": a, "text_b": b, "score": score, "split": split, "origin": origin}


_SICK_SPLITS = {"TRAIN": "train", "TRIAL": "dev", "TEST": "test"}
_SICK_FILES = {"SICK_train.txt": "train", "SICK_trial.txt": "dev", "SICK_test_annotated.txt": "test"}


def sick(folder: Path) -> Rows:
    """`SICK.txt`, which has all; or the three files of SemEval 2014, whose columns stand in another order."""
    if any(folder.rglob("SICK.txt")):
        path = found(folder, "SICK.txt")
        needed = ("sentence_A", "sentence_B", "relatedness_score", "entailment_label", "SemEval_set")
        for row in table(path, needed):
            yield within(folder, path), {
                "text_a": row["sentence_A"], "text_b": row["sentence_B"], "score": row["relatedness_score"],
                "split": _SICK_SPLITS.get(row["SemEval_set"].strip(), row["SemEval_set"]),
                "entailment": row["entailment_label"].upper(),
            }  # fmt: skip
        return
    for name, split in _SICK_FILES.items():
        path = found(folder, name)
        for row in table(path, ("sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")):
            yield within(folder, path), {
                "text_a": row["sentence_A"], "text_b": row["sentence_B"], "score": row["relatedness_score"],
                "split": split, "entailment": row["entailment_judgment"].upper(),
            }  # fmt: skip


# --- records ---------------------------------------------------------------------------------------------------

_WIKI = "http://ixa2.si.ehu.eus/stswiki/images"
_STS = {2012: 3_108, 2013: 1_500, 2014: 3_750, 2015: 3_000, 2016: 1_186}  # scored pairs
_MSR_TERMS = "its MSRpar and MSRvid parts ask that Microsoft Research's licences be read and accepted first"

SCORES = table_of(
    Published(
        name="sts12-16", shape="Pairs", title="SemEval semantic textual similarity, the tests of 2012 to 2016",
        licence="research use; each source of sentences has terms of its own, some Microsoft's, some CC BY-SA",
        citation="Agirre et al. (2012 to 2016): SemEval tasks on Semantic Textual Similarity", parse=sts,
        sources=(
            Source(f"{_WIKI}/4/40/STS2012-en-test.zip", by_hand=_MSR_TERMS),
            Source(f"{_WIKI}/2/2f/STS2013-en-test.zip"),
            Source(f"{_WIKI}/8/8c/STS2014-en-test.zip"),
            Source(f"{_WIKI}/d/da/STS2015-en-test.zip"),
            Source(f"{_WIKI}/9/98/STS2016-en-test.zip"),
        ),
        rows={f"STS{year}/STS*.input.*.txt": count for year, count in _STS.items()},
        note="A test only: there is no train or dev part. Year and subset are in `extra`. 2013 is without its SMT "
        "subset, which the Linguistic Data Consortium sells. The plain form ends with 2015.",
    ),
    Published(
        name="stsb", shape="Pairs", title="STS benchmark",
        licence="scores CC BY-SA 4.0; the sentences under the terms of their sources, listed in its LICENSE.txt",
        citation="Cer, Diab, Agirre, Lopez-Gazpio and Specia (2017): SemEval-2017 Task 1", parse=benchmark,
        sources=(Source(f"{_WIKI}/4/48/Stsbenchmark.tar.gz"),),
        rows={"sts-train.csv": 5_749, "sts-dev.csv": 1_500, "sts-test.csv": 1_379},
        note="Scores from 0 to 5. The source of each pair is in `extra`.",
    ),
    Published(
        name="sick", shape="Pairs", title="SICK: sentences involving compositional knowledge",
        licence="CC BY-NC-SA 3.0",
        citation="Marelli et al. (2014): A SICK cure for compositional distributional semantic models, LREC",
        parse=sick,
        sources=(
            Source(
                "https://zenodo.org/record/2787612/files/SICK.zip?download=1", file="SICK.zip", size=217_584,
                sha256="da272af924399fc2de4889ed55383e38822c10d16c4a949a89d597d09a0b7912",
            ),
        ),
        rows={"SICK.txt": 9_840},
        also={"SICK_train.txt": 4_500, "SICK_trial.txt": 500, "SICK_test_annotated.txt": 4_927},
        note="Scores from 1 to 5; `extra` says whether one sentence entails the other. The files of SemEval 2014 are "
        "read as well; they have 87 pairs more. The plain form is SemEval's train and trial.",
    ),
)  # fmt: skip
