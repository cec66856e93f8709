"""Sentences with a class: the sets of SentEval (MR, CR, SUBJ, MPQA, SST, TREC) and 20 Newsgroups."""

from __future__ import annotations

from pathlib import Path

from labkit.corpora.published.official import (
    Parser,
    Published,
    Rows,
    Source,
    cells,
    found,
    lines,
    table,
    table_of,
    within,
)

SENTIMENT = {"0": "negative", "1": "positive"}
SUBJECTIVITY = {"0": "objective", "1": "subjective"}


def one_file_a_class(**files: tuple[str, ...]) -> Parser:
    """A parser of files with a sentence a line, in Latin-1: class -> the names its file goes by."""

    def parse(folder: Path) -> Rows:
        for label, names in files.items():
            path = found(folder, *names)
            for line in lines(path, "latin-1"):
                yield within(folder, path), {"text": line.strip(), "label": label}

    return parse


def sst(folder: Path) -> Rows:
    """`sentiment-{train,dev,test}`: sentence, 0 or 1; no header."""
    for split in ("train", "dev", "test"):
        path = found(folder, f"sentiment-{split}")
        for text, label, *_ in cells(path, 2):
            yield within(folder, path), {"text": text.strip(), "label": _named(label), "split": split}


def sst_phrases(folder: Path) -> Rows:
    """GLUE's `train.tsv` (sentences and the phrases within them) and `dev.tsv` (sentences): a header, no quoting."""
    for split in ("train", "dev"):
        path = found(folder, f"{split}.tsv")
        for row in table(path, ("sentence", "label")):
            label = _named(row["label"])
            yield within(folder, path), {"text": row["sentence"].strip(), "label": label, "split": split}


def _named(label: str) -> str:
    return SENTIMENT.get(label.strip(), "")


def questions(folder: Path) -> Rows:
    """`train_5500.label` and `TREC_10.label`: `NUM:dist How far is it ?` in Latin-1."""
    for name, split in (("train_5500.label", "train"), ("TREC_10.label", "test")):
        path = found(folder, name)
        for line in lines(path, "latin-1"):
            fine, _, text = line.partition(" ")
            coarse = fine.partition(":")[0]
            yield within(folder, path), {"text": text.strip(), "label": coarse, "split": split, "fine_label": fine}


def newsgroups(folder: Path) -> Rows:
    """`20news-bydate-{train,test}/GROUP/NUMBER`: a posting a file, with its headers, in Latin-1."""
    for split in ("train", "test"):
        paths = [path for path in folder.rglob(f"20news-bydate-{split}/*/*") if path.is_file()]
        if not paths:
            raise ValueError(f"{folder} has no postings in 20news-bydate-{split}; fetch the set again")
        for path in sorted(paths):
            text = path.read_bytes().decode("latin-1").replace("\r\n", "\n")
            yield within(folder, path), {"text": text, "label": path.parent.name, "split": split, "id": path.name}


# --- records ---------------------------------------------------------------------------------------------------

_CORNELL = "https://www.cs.cornell.edu/people/pabo/movie-review-data"
_PANG = "none stated on its page; the copy that NLTK distributes is under CC BY 4.0"
_SST_CITATION = "Socher et al. (2013): Recursive Deep Models for Semantic Compositionality, EMNLP"
_SST_LICENCE = "none stated; research use"

TEXTS = table_of(
    Published(
        name="mr", shape="Labelled", title="Movie reviews: positive or negative sentences", licence=_PANG,
        citation="Pang and Lee (2005): Seeing Stars, ACL",
        parse=one_file_a_class(negative=("rt-polarity.neg",), positive=("rt-polarity.pos",)),
        sources=(Source(f"{_CORNELL}/rt-polaritydata.tar.gz"),),
        rows={"rt-polarity.neg": 5_331, "rt-polarity.pos": 5_331}, note="No splits of its own.",
    ),
    Published(
        name="cr", shape="Labelled", title="Customer reviews of products: positive or negative sentences",
        licence="none stated; research use",
        citation="Hu and Liu (2004): Mining and Summarizing Customer Reviews, KDD; Wang and Manning (2012), ACL",
        parse=one_file_a_class(negative=("custrev.neg",), positive=("custrev.pos",)),
        sources=(
            Source(
                "https://dl.fbaipublicfiles.com/senteval/senteval_data/datasmall_NB_ACL12.zip",
                only=("custrev.neg", "custrev.pos"),
            ),
        ),
        rows={"custrev.*": 3_775}, note="No splits of its own.",
    ),
    Published(
        name="subj", shape="Labelled", title="Sentences that state an opinion or a fact", licence=_PANG,
        citation="Pang and Lee (2004): A Sentimental Education, ACL",
        parse=one_file_a_class(
            objective=("plot.tok.gt9.5000", "subj.objective"), subjective=("quote.tok.gt9.5000", "subj.subjective")
        ),
        sources=(Source(f"{_CORNELL}/rotten_imdb.tar.gz"),),
        rows={"plot.tok.gt9.5000": 5_000, "quote.tok.gt9.5000": 5_000},
        also={"subj.objective": 5_000, "subj.subjective": 5_000},
        note="No splits of its own.",
    ),
    Published(
        name="mpqa", shape="Labelled", title="Opinion phrases from the news: positive or negative",
        licence="the MPQA agreement, to be accepted by hand; academic research only",
        citation="Wiebe, Wilson and Cardie (2005): Annotating Expressions of Opinions and Emotions, LRE",
        parse=one_file_a_class(negative=("mpqa.neg",), positive=("mpqa.pos",)),
        sources=tuple(
            Source(
                "https://mpqa.cs.pitt.edu/corpora/mpqa_corpus/", file=f"mpqa.{ending}",
                by_hand="the corpus is under an agreement; the form that is read here, a phrase a line, is SentEval's",
            )
            for ending in ("neg", "pos")
        ),
        rows={"mpqa.*": 10_606}, note="No splits of its own.",
    ),
    Published(
        name="sst", shape="Labelled", title="Stanford sentiment treebank: positive or negative sentences",
        licence=_SST_LICENCE, citation=_SST_CITATION, parse=sst,
        sources=tuple(
            Source(f"https://raw.githubusercontent.com/PrincetonML/SIF/master/data/sentiment-{split}")
            for split in ("train", "dev", "test")
        ),
        rows={"sentiment-train": 6_920, "sentiment-dev": 872, "sentiment-test": 1_821},
        note="The sentences that SentEval uses, without the neutral ones.",
    ),
    Published(
        name="sst-phrases", shape="Labelled", title="Stanford sentiment treebank: sentences and their phrases",
        licence=_SST_LICENCE, citation=f"{_SST_CITATION}; Wang et al. (2019): GLUE, ICLR", parse=sst_phrases,
        sources=(
            Source(
                "https://dl.fbaipublicfiles.com/glue/data/SST-2.zip", size=7_439_277,
                sha256="d67e16fb55739c1b32cdce9877596db1c127dc322d93c082281f64057c16deaa",
                only=("train.tsv", "dev.tsv"),
            ),
        ),
        rows={"train.tsv": 67_349, "dev.tsv": 872},
        note="GLUE keeps the labels of its test part to itself, so there are train and dev only.",
    ),
    Published(
        name="trec", shape="Labelled", title="Questions by what they ask for: a number, a place, a person ...",
        licence="none stated; research use", parse=questions,
        citation="Li and Roth (2002): Learning Question Classifiers, COLING; Hovy et al. (2001), HLT",
        sources=(
            Source(
                "https://cogcomp.seas.upenn.edu/Data/QA/QC/train_5500.label", size=335_858,
                sha256="9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3",
            ),
            Source(
                "https://cogcomp.seas.upenn.edu/Data/QA/QC/TREC_10.label", size=23_354,
                sha256="033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e",
            ),
        ),
        rows={"train_5500.label": 5_452, "TREC_10.label": 500}, note="The finer classes are in `extra`.",
    ),
    Published(
        name="20news", shape="Labelled", title="20 Newsgroups, divided by date",
        licence="none stated; research use", parse=newsgroups,
        citation="Lang (1995): NewsWeeder, ICML; the division by date: Rennie",
        sources=(
            Source(
                "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            ),
        ),
        rows={"20news-bydate-train/*/*": 11_314, "20news-bydate-test/*/*": 7_532},
        note="Whole postings with their headers, which give the group away: cut them off before learning.",
    ),
)  # fmt: skip
