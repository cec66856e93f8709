"""The parsers of the published releases, and below them `PUBLISHED`, the table of all published datasets.

A parser takes the folder of a release and yields (file, row), as `release.py` says. Most are made by `tabbed` or by
`one_file_a_class`. Of Wikipedia's dump and the GloVe vectors, which are no sentences, labkit only knows where they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from labkit.corpora.published.release import (
    Parser,
    Published,
    ReleaseRow,
    ReleaseRows,
    Source,
    file_lines,
    find_file,
    table_rows,
    within,
)

_PARTS = ("train", "dev", "test")
SENTIMENT = {"0": "negative", "1": "positive"}
SUBJECTIVITY = {"0": "objective", "1": "subjective"}


def tabbed(
    files: Mapping[str, str],
    columns: Mapping[str, str],
    *,
    header: Sequence[str] = (),
    quoted: bool = False,
    change: Callable[[ReleaseRow], ReleaseRow] = dict,
) -> Parser:
    """Make the parser of tab-separated files: file -> the split of its rows, and our column -> the file's.

    `header` names the columns of files whose first line does not; `change` mends a row; a split "" is none.
    """

    def parse(folder: Path) -> ReleaseRows:
        for name, split in files.items():
            path = find_file(folder, name)
            for row in table_rows(path, tuple(columns.values()), header=header, quoted=quoted):
                ours = {column: row[theirs] for column, theirs in columns.items()}
                yield within(folder, path), change(ours | ({"split": split} if split else {}))

    return parse


def one_file_a_class(**files: tuple[str, ...]) -> Parser:
    """Make the parser of files with a sentence a line, in Latin-1: class -> the names its file goes by."""

    def parse(folder: Path) -> ReleaseRows:
        for label, names in files.items():
            path = find_file(folder, *names)
            for line in file_lines(path, "latin-1"):
                yield within(folder, path), {"text": line.strip(), "label": label}

    return parse


# --- pairs with a label ----------------------------------------------------------------------------------------

# of Quora's own files, with cells in quotes, some of them empty, and of GLUE's, whose test.tsv has no labels
_QUESTIONS = {"text_a": "question1", "text_b": "question2", "label": "is_duplicate"}
_QUESTIONS |= {name: name for name in ("id", "qid1", "qid2")}
quora = tabbed({"quora_duplicate_questions.tsv": ""}, _QUESTIONS, quoted=True)
quora_glue = tabbed({"train.tsv": "train", "dev.tsv": "dev"}, _QUESTIONS)
# the split of Wang et al., tokenised
_BIMPM = ("label", "text_a", "text_b", "orig_id")
quora_bimpm = tabbed({f"{part}.tsv": part for part in _PARTS}, {name: name for name in _BIMPM}, header=_BIMPM)
# a byte order mark, a header, quotation marks that stand alone
paraphrases = tabbed(
    {f"msr_paraphrase_{part}.txt": part for part in ("train", "test")},
    {"text_a": "#1 String", "text_b": "#2 String", "label": "Quality", "id_a": "#1 ID", "id_b": "#2 ID"},
)

_COLUMN = re.compile(r"(?:^|\s)COL (\w+) VAL(?=\s|$)")
_PLACE_PARTS = {"train": "train", "valid": "dev", "test": "test"}


def places(folder: Path) -> ReleaseRows:
    """Read DATASET/CITY/{train,valid,test}.txt: place, place, label; a place is `COL name VAL ... COL address VAL`."""
    paths = [path for part in _PLACE_PARTS for path in folder.rglob(f"osm_*/*/{part}.txt")]
    if not paths:
        raise ValueError(f"{folder} has no files like osm_fsq/pit/train.txt; fetch the set again")
    for path in sorted(paths):
        dataset, city = path.parts[-3:-1]
        for row in table_rows(path, header=("a", "b", "label")):
            first, second = _place(row["a"]), _place(row["b"])
            yield within(folder, path), {
                "text_a": _written(first), "text_b": _written(second), "label": row["label"].strip(),
                "split": _PLACE_PARTS[path.stem], "dataset": dataset, "city": city,
                **{f"{name}_a": value for name, value in first.items()},
                **{f"{name}_b": value for name, value in second.items()},
            }  # fmt: skip


def _place(text: str) -> ReleaseRow:
    """`COL name VAL Lock House COL latitude VAL 1.5` -> its columns; what is missing or NULL is empty."""
    _, *parts = _COLUMN.split(text)
    values = {name: value.strip() for name, value in zip(parts[::2], parts[1::2], strict=True)}
    theirs = {"name": "name", "address": "address", "postal": "postalCode", "lat": "latitude", "lon": "longitude"}
    place = {ours: values.get(name, "") for ours, name in theirs.items()}
    return {name: "" if value == "NULL" else value for name, value in place.items()}


def _written(place: ReleaseRow) -> str:
    return " ".join(place[name] for name in ("name", "address", "postal") if place[name])


# --- pairs with a degree ---------------------------------------------------------------------------------------

_YEAR = re.compile(r"STS\D?(?:20)?(1[2-6])(?!\d)")


def sts(folder: Path) -> ReleaseRows:
    """Read `STS.input.SUBSET.txt` (sentence, sentence, sources) beside `STS.gs.SUBSET.txt` (a score a line).

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
        gold = find_file(path.parent, path.name.replace(".input.", ".gs."))
        # not `table_rows`, which passes over blank lines: line n of one file belongs to line n of the other
        for pair, score in zip_longest(file_lines(path, "utf-8", "latin-1"), file_lines(gold), fillvalue=""):
            a, b, *_ = [*pair.split("\t"), ""]
            if score.strip() and not pair:
                raise ValueError(f"{gold.name} has a score where {path.name} has no pair; fetch the set again")
            yield f"STS{year}/{path.name}", {
                "text_a": a.strip(), "text_b": b.strip(), "score": score.strip(),
                "split": "test", "year": year, "subset": subset,
            }  # fmt: skip


def _with_origin(row: ReleaseRow) -> ReleaseRow:
    origin = "/".join(row.pop(name) for name in ("genre", "file", "year"))
    return row | {"origin": origin}


_BENCHMARK = ("genre", "file", "year", "number", "score", "text_a", "text_b")  # sometimes more; tabs, no quoting
benchmark = tabbed(
    {f"sts-{part}.csv": part for part in _PARTS},
    {name: name for name in _BENCHMARK if name != "number"},
    header=_BENCHMARK,
    change=_with_origin,
)


def sick(folder: Path) -> ReleaseRows:
    """Read `SICK.txt`, which has all; or the three files of SemEval 2014, whose columns stand in another order."""
    parts = {"TRAIN": "train", "TRIAL": "dev", "TEST": "test"}
    files = {"SICK_train.txt": "train", "SICK_trial.txt": "dev", "SICK_test_annotated.txt": "test"}
    columns = {"text_a": "sentence_A", "text_b": "sentence_B", "score": "relatedness_score"}

    def change(row: ReleaseRow) -> ReleaseRow:
        split = parts.get(row["split"].strip(), row["split"])
        return row | {"split": split, "entailment": row["entailment"].upper()}

    if any(folder.rglob("SICK.txt")):
        files, columns = {"SICK.txt": ""}, columns | {"entailment": "entailment_label", "split": "SemEval_set"}
    else:
        columns |= {"entailment": "entailment_judgment"}
    return tabbed(files, columns, change=change)(folder)


# --- sentences with a class ------------------------------------------------------------------------------------


def _with_sentiment(row: ReleaseRow) -> ReleaseRow:
    return row | {"text": row["text"].strip(), "label": SENTIMENT.get(row["label"].strip(), "")}


# sentence, 0 or 1, without a header
sst = tabbed(
    {f"sentiment-{part}": part for part in _PARTS},
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
    """Read `20news-bydate-{train,test}/GROUP/NUMBER`: a posting a file, with its headers, in Latin-1."""
    for split in ("train", "test"):
        paths = [path for path in folder.rglob(f"20news-bydate-{split}/*/*") if path.is_file()]
        if not paths:
            raise ValueError(f"{folder} has no postings in 20news-bydate-{split}; fetch the set again")
        for path in sorted(paths):
            text = path.read_bytes().decode("latin-1").replace("\r\n", "\n")
            yield within(folder, path), {"text": text, "label": path.parent.name, "split": split, "id": path.name}


# --- groups: five people describe one picture, so their sentences mean the same --------------------------------

_CAPTION_PARTS = {"train": "train", "val": "dev", "test_2016": "test"}


def coco(folder: Path) -> ReleaseRows:
    """Read `captions_val2017.json`: {"annotations": [{"image_id", "id", "caption"}, ...]}, some with line ends."""
    path = find_file(folder, "captions_val2017.json")
    try:
        captions = json.loads(path.read_bytes())["annotations"]
        rows = [(str(caption["image_id"]), " ".join(caption["caption"].split())) for caption in captions]
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ValueError(f"{path.name} is not a COCO file of captions ({reason!r}); fetch the set again") from None
    for picture, text in rows:
        yield within(folder, path), {"group": picture, "text": text}


def multi30k(folder: Path) -> ReleaseRows:
    """Read `{train,val,test_2016}.{1..5}.en.gz`: five files of a caption a line; line n of each describes picture n."""
    for name, split in _CAPTION_PARTS.items():
        paths = [find_file(folder, f"{name}.{number}.en.gz", f"{name}.{number}.en") for number in range(1, 6)]
        for picture, captions in enumerate(zip(*map(file_lines, paths), strict=False)):
            for path, caption in zip(paths, captions, strict=True):
                yield within(folder, path), {"group": f"{name}-{picture}", "text": caption.strip(), "split": split}


# --- the table -------------------------------------------------------------------------------------------------

_QUORA = "Quora's terms of service: non-commercial use, no redistribution"
_QUORA_CITATION = "Iyer, Dandekar and Csernai (2017): First Quora Dataset Release: Question Pairs"
_WANG = "https://drive.google.com/file/d/0B0PlTAo--BnaQWlsZl9FZ3l1c28/view"
_MSRP = "https://www.microsoft.com/en-us/download/details.aspx?id=52398"
_MSRP_REASON = (
    "the download on this page is a Windows installer with a licence to accept; open it there or with `cabextract`"
)
_GEO = "https://raw.githubusercontent.com/PasqualeTurin/Geo-ER/HEAD/data/train_valid_test"
_WIKI = "http://ixa2.si.ehu.eus/stswiki/images"
_MSR_TERMS = "its MSRpar and MSRvid parts ask that Microsoft Research's licences be read and accepted first"
_CORNELL = "https://www.cs.cornell.edu/people/pabo/movie-review-data"
_PANG = "none stated on its page; the copy that NLTK distributes is under CC BY 4.0"
_MPQA_REASON = "the corpus is under an agreement; the form that is read here, a phrase a line, is SentEval's"
_SST = "https://raw.githubusercontent.com/PrincetonML/SIF/master/data/sentiment"
_SST_CITATION = "Socher et al. (2013): Recursive Deep Models for Semantic Compositionality, EMNLP"
_RESEARCH = "none stated; research use"
_TREC = "https://cogcomp.seas.upenn.edu/Data/QA/QC"
_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task2/raw"
# train, valid, test of each set and city
_PLACES = {
    "osm_fsq/sin": (9_621, 3_848, 5_774), "osm_yelp/sin": (10_793, 4_317, 6_478),
    "osm_fsq/edi": (8_693, 3_477, 5_216), "osm_yelp/edi": (9_366, 3_746, 5_621),
    "osm_fsq/pit": (2_500, 999, 1_502), "osm_yelp/pit": (2_558, 1_022, 1_536),
}  # fmt: skip
_TORONTO = {"osm_fsq/tor": 17_858, "osm_yelp/tor": 27_969}  # the three files together
_PLACE_ROWS = {
    f"{city}/{part}.txt": count
    for city, counts in _PLACES.items()
    for part, count in zip(_PLACE_PARTS, counts, strict=True)
} | {f"{city}/*.txt": count for city, count in _TORONTO.items()}

_RECORDS = (
    Published(
        name="qqp", shape="Pairs", title="Quora question pairs, as Quora released them",
        licence=_QUORA, citation=_QUORA_CITATION, parse=quora,
        sources=(Source("http://qim.fs.quoracdn.net/quora_duplicate_questions.tsv", size=58_176_133,
                        sha256="b3350dbb1d98db1f5abca85d736ba514bf4da253fae53939303d79fe921ec7c8"),),
        rows={"quora_duplicate_questions.tsv": 404_290}, plain={"qqp/labelled_train20k.tsv.gz": ""},
        note="No splits of its own. A few questions are empty; their pairs are left out.",
    ),
    Published(
        name="qqp-glue", shape="Pairs", title="Quora question pairs, as GLUE divides them",
        licence=_QUORA, citation=f"{_QUORA_CITATION}; Wang et al. (2019): GLUE, ICLR", parse=quora_glue,
        sources=(Source("https://dl.fbaipublicfiles.com/glue/data/QQP-clean.zip", size=41_696_084,
                        sha256="40e7c862c04eb26ee04b67fd900e76c45c6ba8e6d8fab4f8f1f8072a1a3fbae0"),),
        rows={"train.tsv": 363_846, "dev.tsv": 40_430},
        note="GLUE keeps the labels of its test part to itself, so there are train and dev only.",
    ),
    Published(
        name="qqp-bimpm", shape="Pairs", title="Quora question pairs, as Wang et al. (2017) divide them",
        licence=_QUORA, parse=quora_bimpm,
        citation=f"{_QUORA_CITATION}; Wang, Hamza and Florian (2017): Bilateral Multi-Perspective Matching, IJCAI",
        sources=tuple(
            Source(_WANG, file=f"{part}.tsv", by_hand="the authors keep it on a page made for browsers; unpack it")
            for part in _PARTS
        ),
        rows={"train.tsv": 384_348, "dev.tsv": 10_000, "test.tsv": 10_000},
        plain={"qqp/bimpm_dev.tsv.gz": "dev"},
        note="Tokenised; dev and test are half duplicates. The plain form has the dev part only.",
    ),
    Published(
        name="qqp-positives", shape="Pairs", title="Duplicate questions only, in several styles of writing",
        licence=_QUORA, citation=_QUORA_CITATION, plain={"qqp/positive_only.tsv.gz": "train"},
        note="Gathered from the files of several papers: raw, tokenised and lower-cased. There is no official release; "
        "its like are the rows of qqp with label 1.",
    ),
    Published(
        name="mrpc", shape="Pairs", title="Microsoft Research Paraphrase Corpus",
        licence="Microsoft Research licence, to be accepted by hand; no redistribution", parse=paraphrases,
        citation="Dolan and Brockett (2005): Automatically Constructing a Corpus of Sentential Paraphrases, IWP",
        sources=tuple(
            Source(_MSRP, file=f"msr_paraphrase_{part}.txt", by_hand=_MSRP_REASON) for part in ("train", "test")
        ),
        rows={"msr_paraphrase_train.txt": 4_076, "msr_paraphrase_test.txt": 1_725},
        plain={"mrpc/train.tsv.gz": "train", "mrpc/test.tsv.gz": "test"},
        note="Train and test; there is no dev part.",
    ),
    Published(
        name="geoer", shape="Pairs", title="Pairs of places from three maps in four cities",
        licence="none stated; OpenStreetMap's half is under ODbL 1.0, Foursquare's and Yelp's under their terms",
        citation="Balsebre, Yao, Cong and Hai (2022): Geospatial Entity Resolution, WWW", parse=places,
        sources=tuple(
            Source(f"{_GEO}/{city}/{part}.txt", file=f"{city}/{part}.txt")
            for city in (*_PLACES, *_TORONTO)
            for part in _PLACE_PARTS
        ),
        rows=_PLACE_ROWS, plain={"poi/geoer_pairs.tsv.gz": ""},
        note="Name, address, postal code and coordinates of both places are in `extra`. The plain form is without "
        "Toronto.",
    ),
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
        rows={  # scored pairs
            f"STS{year}/STS*.input.*.txt": count
            for year, count in {2012: 3_108, 2013: 1_500, 2014: 3_750, 2015: 3_000, 2016: 1_186}.items()
        },
        plain={"sts12-16/test.tsv.gz": "test"},
        note="A test only: there is no train or dev part. Year and subset are in `extra`. 2013 is without its SMT "
        "subset, which the Linguistic Data Consortium sells. The plain form ends with 2015.",
    ),
    Published(
        name="stsb", shape="Pairs", title="STS benchmark",
        licence="scores CC BY-SA 4.0; the sentences under the terms of their sources, listed in its LICENSE.txt",
        citation="Cer, Diab, Agirre, Lopez-Gazpio and Specia (2017): SemEval-2017 Task 1", parse=benchmark,
        sources=(Source(f"{_WIKI}/4/48/Stsbenchmark.tar.gz"),),
        rows={"sts-train.csv": 5_749, "sts-dev.csv": 1_500, "sts-test.csv": 1_379},
        plain={f"stsb/{part}.tsv.gz": part for part in _PARTS},
        note="Scores from 0 to 5. The source of each pair is in `extra`.",
    ),
    Published(
        name="sick", shape="Pairs", title="SICK: sentences involving compositional knowledge",
        licence="CC BY-NC-SA 3.0", parse=sick,
        citation="Marelli et al. (2014): A SICK cure for compositional distributional semantic models, LREC",
        sources=(Source("https://zenodo.org/record/2787612/files/SICK.zip?download=1", file="SICK.zip", size=217_584,
                        sha256="da272af924399fc2de4889ed55383e38822c10d16c4a949a89d597d09a0b7912"),),
        rows={"SICK.txt": 9_840},
        also={"SICK_train.txt": 4_500, "SICK_trial.txt": 500, "SICK_test_annotated.txt": 4_927},
        plain={"sick/train.tsv.gz": "train", "sick/dev.tsv.gz": "dev"},
        note="Scores from 1 to 5; `extra` says whether one sentence entails the other. The files of SemEval 2014 are "
        "read as well; they have 87 pairs more. The plain form is SemEval's train and trial.",
    ),
    Published(
        name="mr", shape="Labelled", title="Movie reviews: positive or negative sentences", licence=_PANG,
        citation="Pang and Lee (2005): Seeing Stars, ACL",
        parse=one_file_a_class(negative=("rt-polarity.neg",), positive=("rt-polarity.pos",)),
        sources=(Source(f"{_CORNELL}/rt-polaritydata.tar.gz"),),
        plain={"senteval/mr.tsv.gz": ""}, classes=SENTIMENT,
        rows={"rt-polarity.neg": 5_331, "rt-polarity.pos": 5_331}, note="No splits of its own.",
    ),
    Published(
        name="cr", shape="Labelled", title="Customer reviews of products: positive or negative sentences",
        licence=_RESEARCH, parse=one_file_a_class(negative=("custrev.neg",), positive=("custrev.pos",)),
        citation="Hu and Liu (2004): Mining and Summarizing Customer Reviews, KDD; Wang and Manning (2012), ACL",
        sources=(Source("https://dl.fbaipublicfiles.com/senteval/senteval_data/datasmall_NB_ACL12.zip",
                        only=("custrev.neg", "custrev.pos")),),
        rows={"custrev.*": 3_775}, note="No splits of its own.",
    ),
    Published(
        name="subj", shape="Labelled", title="Sentences that state an opinion or a fact", licence=_PANG,
        citation="Pang and Lee (2004): A Sentimental Education, ACL",
        parse=one_file_a_class(
            objective=("plot.tok.gt9.5000", "subj.objective"), subjective=("quote.tok.gt9.5000", "subj.subjective")
        ),
        sources=(Source(f"{_CORNELL}/rotten_imdb.tar.gz"),),
        plain={"senteval/subj.tsv.gz": ""}, classes=SUBJECTIVITY,
        rows={"plot.tok.gt9.5000": 5_000, "quote.tok.gt9.5000": 5_000},
        also={"subj.objective": 5_000, "subj.subjective": 5_000}, note="No splits of its own.",
    ),
    Published(
        name="mpqa", shape="Labelled", title="Opinion phrases from the news: positive or negative",
        licence="the MPQA agreement, to be accepted by hand; academic research only",
        citation="Wiebe, Wilson and Cardie (2005): Annotating Expressions of Opinions and Emotions, LRE",
        parse=one_file_a_class(negative=("mpqa.neg",), positive=("mpqa.pos",)),
        sources=tuple(
            Source("https://mpqa.cs.pitt.edu/corpora/mpqa_corpus/", file=f"mpqa.{ending}", by_hand=_MPQA_REASON)
            for ending in ("neg", "pos")
        ),
        rows={"mpqa.*": 10_606}, note="No splits of its own.",
    ),
    Published(
        name="sst", shape="Labelled", title="Stanford sentiment treebank: positive or negative sentences",
        licence=_RESEARCH, citation=_SST_CITATION, parse=sst,
        sources=tuple(Source(f"{_SST}-{part}") for part in _PARTS),
        rows={"sentiment-train": 6_920, "sentiment-dev": 872, "sentiment-test": 1_821},
        note="The sentences that SentEval uses, without the neutral ones.",
    ),
    Published(
        name="sst-phrases", shape="Labelled", title="Stanford sentiment treebank: sentences and their phrases",
        licence=_RESEARCH, citation=f"{_SST_CITATION}; Wang et al. (2019): GLUE, ICLR", parse=sst_phrases,
        sources=(Source("https://dl.fbaipublicfiles.com/glue/data/SST-2.zip", size=7_439_277,
                        sha256="d67e16fb55739c1b32cdce9877596db1c127dc322d93c082281f64057c16deaa",
                        only=("train.tsv", "dev.tsv")),),
        rows={"train.tsv": 67_349, "dev.tsv": 872},
        plain={"senteval/sst2_train_phrases.tsv.gz": "train", "senteval/sst2_dev.tsv.gz": "dev"}, classes=SENTIMENT,
        note="GLUE keeps the labels of its test part to itself, so there are train and dev only.",
    ),
    Published(
        name="trec", shape="Labelled", title="Questions by what they ask for: a number, a place, a person ...",
        licence=_RESEARCH, parse=questions,
        citation="Li and Roth (2002): Learning Question Classifiers, COLING; Hovy et al. (2001), HLT",
        sources=(
            Source(f"{_TREC}/train_5500.label", size=335_858,
                   sha256="9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3"),
            Source(f"{_TREC}/TREC_10.label", size=23_354,
                   sha256="033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e"),
        ),
        plain={"senteval/trec_train.tsv.gz": "train", "senteval/trec_test.tsv.gz": "test"},
        rows={"train_5500.label": 5_452, "TREC_10.label": 500}, note="The finer classes are in `extra`.",
    ),
    Published(
        name="20news", shape="Labelled", title="20 Newsgroups, divided by date", licence=_RESEARCH, parse=newsgroups,
        citation="Lang (1995): NewsWeeder, ICML; the division by date: Rennie",
        sources=(Source("http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                        sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"),),
        rows={"20news-bydate-train/*/*": 11_314, "20news-bydate-test/*/*": 7_532},
        plain={"20news/20news_bydate.jsonl.gz": ""},
        note="Whole postings with their headers, which give the group away: cut them off before learning.",
    ),
    Published(
        name="coco", shape="Groups", title="COCO: 5,000 pictures with five captions each (val2017)",
        licence="captions CC BY 4.0; the pictures are under Flickr's terms and not needed here",
        citation="Chen et al. (2015): Microsoft COCO Captions, arXiv:1504.00325", parse=coco,
        sources=(Source("http://images.cocodataset.org/annotations/annotations_trainval2017.zip", size=252_907_541,
                        sha256="113a836d90195ee1f884e704da6304dfaaecff1f023f49b6ca93c4aaae470268",
                        only=("captions_val2017.json",)),),
        plain={"captions/coco_val2017.tsv.gz": ""},
        rows={"captions_val2017.json": 25_014}, note="No splits of its own; a picture has at least five captions.",
    ),
    Published(
        name="flickr30k", shape="Groups", title="Flickr30k captions, five a picture, as Multi30k divides them",
        licence="captions CC BY 3.0 by the authors of Flickr30k; Multi30k states none",
        citation="Young et al. (2014): From image descriptions to visual denotations, TACL; Elliott et al. (2016)",
        parse=multi30k,
        sources=tuple(
            Source(f"{_MULTI30K}/{name}.{number}.en.gz") for name in _CAPTION_PARTS for number in range(1, 6)
        ),
        rows={
            f"{name}.{number}.en*": count
            for name, count in (("train", 29_000), ("val", 1_014), ("test_2016", 1_000))
            for number in range(1, 6)
        },
        plain={f"captions/flickr30k_multi30k_{name}.tsv.gz": part for name, part in _CAPTION_PARTS.items()},
    ),
    Published(
        name="wikipedia", shape="Articles", title="Wikipedia articles with their sections",
        licence="CC BY-SA 4.0 and GFDL", citation="Wikipedia contributors; dumps by the Wikimedia Foundation",
        sources=(
            Source("https://dumps.wikimedia.org/simplewiki/latest/simplewiki-latest-pages-articles.xml.bz2"),
        ),
        plain={"articles/wiki_sections.jsonl.gz": ""},
        note="The address is the dump of Simple English Wikipedia, made anew twice a month; that of the whole is "
        "https://dumps.wikimedia.org/enwiki/latest/enwiki-latest-pages-articles.xml.bz2, more than 20 GB. labkit reads "
        "articles in the plain form only.",
    ),
    Published(
        name="glove", shape="vectors", title="GloVe word vectors of 6 billion words (50, 100, 200, 300 dimensions)",
        licence="Public Domain Dedication and License 1.0",
        citation="Pennington, Socher and Manning (2014): GloVe, EMNLP",
        sources=(Source("https://nlp.stanford.edu/data/glove.6B.zip", size=862_182_613, limit=3 * 2**30,
                        sha256="617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb"),),
        note="No corpus: `labkit.vectors.load_vectors` reads its files.",
    ),
)  # fmt: skip

PUBLISHED: dict[str, Published] = {record.name: record for record in _RECORDS}
