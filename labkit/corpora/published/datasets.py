"""`PUBLISHED`, the table of all published datasets: address, licence and expected number of rows.

Wikipedia's dump and the GloVe vectors contain no rows of sentences, so labkit only lists their addresses.
"""

from __future__ import annotations

from labkit.corpora.published.registry import Published, Source
from labkit.corpora.published.releases import (
    CAPTION_PARTS,
    PARTS,
    PLACE_PARTS,
    SENTIMENT,
    SUBJECTIVITY,
    benchmark,
    coco,
    multi30k,
    newsgroups,
    one_file_a_class,
    paraphrases,
    places,
    questions,
    quora,
    quora_bimpm,
    quora_glue,
    sick,
    sst,
    sst_phrases,
    sts,
)

_QUORA = "Quora's terms of service: non-commercial use, no redistribution"
_QUORA_CITATION = "Iyer, Dandekar and Csernai (2017): First Quora Dataset Release: Question Pairs"
_WANG = "https://drive.google.com/file/d/0B0PlTAo--BnaQWlsZl9FZ3l1c28/view"
_MSRP = "https://www.microsoft.com/en-us/download/details.aspx?id=52398"
_MSRP_REASON = (
    "the page has a Windows installer that asks you to accept a licence; open it on Windows or with `cabextract`"
)
_GEO = "https://raw.githubusercontent.com/PasqualeTurin/Geo-ER/HEAD/data/train_valid_test"
_WIKI = "http://ixa2.si.ehu.eus/stswiki/images"
_MSR_TERMS = "for its MSRpar and MSRvid parts, you must first read and accept Microsoft Research's licences"
_CORNELL = "https://www.cs.cornell.edu/people/pabo/movie-review-data"
_PANG = "none stated on its page; the copy that NLTK distributes is under CC BY 4.0"
_MPQA_REASON = "the corpus requires an agreement; labkit reads SentEval's form, one phrase per line"
_SST = "https://raw.githubusercontent.com/PrincetonML/SIF/master/data/sentiment"
_SST_CITATION = "Socher et al. (2013): Recursive Deep Models for Semantic Compositionality, EMNLP"
_RESEARCH = "none stated; research use"
_TREC = "https://cogcomp.seas.upenn.edu/Data/QA/QC"
_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task2/raw"
# number of rows of each set and city, in its three files
_PLACES = {
    "osm_fsq/sin": 19_243, "osm_yelp/sin": 21_588, "osm_fsq/edi": 17_386, "osm_yelp/edi": 18_733,
    "osm_fsq/pit": 5_001, "osm_yelp/pit": 5_116, "osm_fsq/tor": 17_858, "osm_yelp/tor": 27_969,
}  # fmt: skip

_RECORDS = (
    Published(
        name="qqp", shape="Pairs", summary="Quora question pairs, as Quora released them",
        licence=_QUORA, citation=_QUORA_CITATION, parse=quora,
        sources=(Source("http://qim.fs.quoracdn.net/quora_duplicate_questions.tsv",
                        sha256="b3350dbb1d98db1f5abca85d736ba514bf4da253fae53939303d79fe921ec7c8"),),
        files={"quora_duplicate_questions.tsv": 404_290}, plain={"qqp/labelled_train20k.tsv.gz": ""},
        note="No splits of its own. A few questions are empty; their pairs are left out.",
    ),
    Published(
        name="qqp-glue", shape="Pairs", summary="Quora question pairs, as split by GLUE",
        licence=_QUORA, citation=f"{_QUORA_CITATION}; Wang et al. (2019): GLUE, ICLR", parse=quora_glue,
        sources=(Source("https://dl.fbaipublicfiles.com/glue/data/QQP-clean.zip",
                        sha256="40e7c862c04eb26ee04b67fd900e76c45c6ba8e6d8fab4f8f1f8072a1a3fbae0"),),
        files={"train.tsv": 363_846, "dev.tsv": 40_430},
        note="GLUE does not publish the labels of its test part, so there are only train and dev.",
    ),
    Published(
        name="qqp-bimpm", shape="Pairs", summary="Quora question pairs, as split by Wang et al. (2017)",
        licence=_QUORA, parse=quora_bimpm,
        citation=f"{_QUORA_CITATION}; Wang, Hamza and Florian (2017): Bilateral Multi-Perspective Matching, IJCAI",
        sources=tuple(
            Source(_WANG, file=f"{part}.tsv", by_hand="it is on a page that needs a browser; unpack it afterwards")
            for part in PARTS
        ),
        files={"train.tsv": 384_348, "dev.tsv": 10_000, "test.tsv": 10_000},
        plain={"qqp/bimpm_dev.tsv.gz": "dev"},
        note="Tokenised; half of the pairs in dev and test are duplicates. The plain form has only the dev split.",
    ),
    Published(
        name="qqp-positives", shape="Pairs", summary="Duplicate questions only, in several styles of writing",
        licence=_QUORA, citation=_QUORA_CITATION, plain={"qqp/positive_only.tsv.gz": "train"},
        note="Collected from the files of several papers: raw, tokenised and lower-cased. There is no official "
             "release; the rows of qqp with label 1 are similar.",
    ),
    Published(
        name="mrpc", shape="Pairs", summary="Microsoft Research Paraphrase Corpus",
        licence="Microsoft Research licence, which you must accept by hand; no redistribution", parse=paraphrases,
        citation="Dolan and Brockett (2005): Automatically Constructing a Corpus of Sentential Paraphrases, IWP",
        sources=tuple(
            Source(_MSRP, file=f"msr_paraphrase_{part}.txt", by_hand=_MSRP_REASON) for part in ("train", "test")
        ),
        files={"msr_paraphrase_train.txt": 4_076, "msr_paraphrase_test.txt": 1_725},
        plain={"mrpc/train.tsv.gz": "train", "mrpc/test.tsv.gz": "test"},
        note="There is no official dev split.",
    ),
    Published(
        name="geoer", shape="Pairs", summary="Pairs of places from three maps in four cities",
        licence="none stated; OpenStreetMap's half is under ODbL 1.0, Foursquare's and Yelp's under their own terms",
        citation="Balsebre, Yao, Cong and Hai (2022): Geospatial Entity Resolution, WWW", parse=places,
        sources=tuple(
            Source(f"{_GEO}/{city}/{part}.txt", file=f"{city}/{part}.txt")
            for city in _PLACES
            for part in PLACE_PARTS
        ),
        files={f"{city}/*.txt": count for city, count in _PLACES.items()}, plain={"poi/geoer_pairs.tsv.gz": ""},
        note=(
            "Name, address, postal code and coordinates of both places are in `extra`. The plain form leaves out "
            "Toronto."
        ),
    ),
    Published(
        name="sts12-16", shape="Pairs", summary="SemEval semantic textual similarity, the tests of 2012 to 2016",
        licence="research use; each source of sentences has terms of its own, some Microsoft's, some CC BY-SA",
        citation="Agirre et al. (2012 to 2016): SemEval tasks on Semantic Textual Similarity", parse=sts,
        sources=(
            Source(f"{_WIKI}/4/40/STS2012-en-test.zip", by_hand=_MSR_TERMS),
            Source(f"{_WIKI}/2/2f/STS2013-en-test.zip"),
            Source(f"{_WIKI}/8/8c/STS2014-en-test.zip"),
            Source(f"{_WIKI}/d/da/STS2015-en-test.zip"),
            Source(f"{_WIKI}/9/98/STS2016-en-test.zip"),
        ),
        files={  # scored pairs
            f"STS{year}/STS*.input.*.txt": count
            for year, count in {2012: 3_108, 2013: 1_500, 2014: 3_750, 2015: 3_000, 2016: 1_186}.items()
        },
        plain={"sts12-16/test.tsv.gz": "test"},
        note="Test only: there is no train or dev split. Year and subset are in `extra`. 2013 lacks its SMT subset, "
             "which the Linguistic Data Consortium sells. The plain form ends with 2015.",
    ),
    Published(
        name="stsb", shape="Pairs", summary="STS benchmark",
        licence="scores CC BY-SA 4.0; the sentences under the terms of their sources, listed in its LICENSE.txt",
        citation="Cer, Diab, Agirre, Lopez-Gazpio and Specia (2017): SemEval-2017 Task 1", parse=benchmark,
        sources=(Source(f"{_WIKI}/4/48/Stsbenchmark.tar.gz"),),
        files={"sts-train.csv": 5_749, "sts-dev.csv": 1_500, "sts-test.csv": 1_379},
        plain={f"stsb/{part}.tsv.gz": part for part in PARTS},
        note="Scores from 0 to 5. The source of each pair is in `extra`.",
    ),
    Published(
        name="sick", shape="Pairs", summary="SICK: sentences involving compositional knowledge",
        licence="CC BY-NC-SA 3.0", parse=sick,
        citation=(
            "Marelli et al. (2014): A SICK cure for the evaluation of compositional distributional semantic models, "
            "LREC"
        ),
        sources=(Source("https://zenodo.org/record/2787612/files/SICK.zip?download=1", file="SICK.zip",
                        sha256="da272af924399fc2de4889ed55383e38822c10d16c4a949a89d597d09a0b7912"),),
        files={"SICK.txt": 9_840},
        plain={"sick/train.tsv.gz": "train", "sick/dev.tsv.gz": "dev"},
        note=(
            "Scores from 1 to 5; `extra` says whether one sentence entails the other. The plain form contains "
            "SemEval's train and trial data."
        ),
    ),
    Published(
        name="mr", shape="Labelled", summary="Movie reviews: positive or negative sentences", licence=_PANG,
        citation="Pang and Lee (2005): Seeing Stars, ACL",
        parse=one_file_a_class(negative="rt-polarity.neg", positive="rt-polarity.pos"),
        sources=(Source(f"{_CORNELL}/rt-polaritydata.tar.gz"),),
        plain={"senteval/mr.tsv.gz": ""}, classes=SENTIMENT,
        files={"rt-polarity.neg": 5_331, "rt-polarity.pos": 5_331}, note="No splits of its own.",
    ),
    Published(
        name="cr", shape="Labelled", summary="Customer reviews of products: positive or negative sentences",
        licence=_RESEARCH, parse=one_file_a_class(negative="custrev.neg", positive="custrev.pos"),
        citation="Hu and Liu (2004): Mining and Summarizing Customer Reviews, KDD; Wang and Manning (2012), ACL",
        sources=(Source("https://dl.fbaipublicfiles.com/senteval/senteval_data/datasmall_NB_ACL12.zip",
                        only=("custrev.neg", "custrev.pos")),),
        files={"custrev.*": 3_775}, note="No splits of its own.",
    ),
    Published(
        name="subj", shape="Labelled", summary="Sentences that state an opinion or a fact", licence=_PANG,
        citation="Pang and Lee (2004): A Sentimental Education, ACL",
        parse=one_file_a_class(objective="plot.tok.gt9.5000", subjective="quote.tok.gt9.5000"),
        sources=(Source(f"{_CORNELL}/rotten_imdb.tar.gz"),),
        plain={"senteval/subj.tsv.gz": ""}, classes=SUBJECTIVITY,
        files={"plot.tok.gt9.5000": 5_000, "quote.tok.gt9.5000": 5_000}, note="No splits of its own.",
    ),
    Published(
        name="mpqa", shape="Labelled", summary="Opinion phrases from the news: positive or negative",
        licence="the MPQA agreement, which you must accept by hand; academic research only",
        citation="Wiebe, Wilson and Cardie (2005): Annotating Expressions of Opinions and Emotions, LRE",
        parse=one_file_a_class(negative="mpqa.neg", positive="mpqa.pos"),
        sources=tuple(
            Source("https://mpqa.cs.pitt.edu/corpora/mpqa_corpus/", file=f"mpqa.{ending}", by_hand=_MPQA_REASON)
            for ending in ("neg", "pos")
        ),
        files={"mpqa.*": 10_606}, note="No splits of its own.",
    ),
    Published(
        name="sst", shape="Labelled", summary="Stanford sentiment treebank: positive or negative sentences",
        licence=_RESEARCH, citation=_SST_CITATION, parse=sst,
        sources=tuple(Source(f"{_SST}-{part}") for part in PARTS),
        files={"sentiment-train": 6_920, "sentiment-dev": 872, "sentiment-test": 1_821},
        note="The sentences that SentEval uses, without the neutral ones.",
    ),
    Published(
        name="sst-phrases", shape="Labelled", summary="Stanford sentiment treebank: sentences and their phrases",
        licence=_RESEARCH, citation=f"{_SST_CITATION}; Wang et al. (2019): GLUE, ICLR", parse=sst_phrases,
        sources=(Source("https://dl.fbaipublicfiles.com/glue/data/SST-2.zip",
                        sha256="d67e16fb55739c1b32cdce9877596db1c127dc322d93c082281f64057c16deaa",
                        only=("train.tsv", "dev.tsv")),),
        files={"train.tsv": 67_349, "dev.tsv": 872},
        plain={"senteval/sst2_train_phrases.tsv.gz": "train", "senteval/sst2_dev.tsv.gz": "dev"}, classes=SENTIMENT,
        note="GLUE does not publish the labels of its test part, so there are only train and dev.",
    ),
    Published(
        name="trec", shape="Labelled", summary="Questions by what they ask for: a number, a place, a person ...",
        licence=_RESEARCH, parse=questions,
        citation="Li and Roth (2002): Learning Question Classifiers, COLING; Hovy et al. (2001), HLT",
        sources=(
            Source(f"{_TREC}/train_5500.label",
                   sha256="9e4c8bdcaffb96ed61041bd64b564183d52793a8e91d84fc3a8646885f466ec3"),
            Source(f"{_TREC}/TREC_10.label",
                   sha256="033f22c028c2bbba9ca682f68ffe204dc1aa6e1cf35dd6207f2d4ca67f0d0e8e"),
        ),
        plain={"senteval/trec_train.tsv.gz": "train", "senteval/trec_test.tsv.gz": "test"},
        files={"train_5500.label": 5_452, "TREC_10.label": 500}, note="The finer classes are in `extra`.",
    ),
    Published(
        name="20news", shape="Labelled", summary="20 Newsgroups, divided by date", licence=_RESEARCH, parse=newsgroups,
        citation="Lang (1995): NewsWeeder, ICML; the split by date: Rennie",
        sources=(Source("http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                        sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"),),
        files={"20news-bydate-train/*/*": 11_314, "20news-bydate-test/*/*": 7_532},
        plain={"20news/20news_bydate.jsonl.gz": ""},
        note="Whole posts with their headers, which reveal the group; remove the headers before training.",
    ),
    Published(
        name="coco", shape="Groups", summary="COCO: 5,000 pictures with five captions each (val2017)",
        licence="captions CC BY 4.0; the pictures are under Flickr's terms and not needed here",
        citation="Chen et al. (2015): Microsoft COCO Captions, arXiv:1504.00325", parse=coco,
        sources=(Source("http://images.cocodataset.org/annotations/annotations_trainval2017.zip",
                        sha256="113a836d90195ee1f884e704da6304dfaaecff1f023f49b6ca93c4aaae470268",
                        only=("captions_val2017.json",)),),
        plain={"captions/coco_val2017.tsv.gz": ""},
        files={"captions_val2017.json": 25_014}, note="No splits of its own; a picture has at least five captions.",
    ),
    Published(
        name="flickr30k", shape="Groups", summary="Flickr30k captions, five per picture, as split by Multi30k",
        licence="captions CC BY 3.0 by the authors of Flickr30k; Multi30k states none",
        citation="Young et al. (2014): From image descriptions to visual denotations, TACL; Elliott et al. (2016)",
        parse=multi30k,
        sources=tuple(
            Source(f"{_MULTI30K}/{name}.{number}.en.gz") for name in CAPTION_PARTS for number in range(1, 6)
        ),
        files={"train.*.en*": 145_000, "val.*.en*": 5_070, "test_2016.*.en*": 5_000},
        plain={f"captions/flickr30k_multi30k_{name}.tsv.gz": part for name, part in CAPTION_PARTS.items()},
    ),
    Published(
        name="wikipedia", shape="Articles", summary="Wikipedia articles with their sections",
        licence="CC BY-SA 4.0 and GFDL", citation="Wikipedia contributors; dumps by the Wikimedia Foundation",
        sources=(
            Source("https://dumps.wikimedia.org/simplewiki/latest/simplewiki-latest-pages-articles.xml.bz2"),
        ),
        plain={"articles/wiki_sections.jsonl.gz": ""},
        note=(
            "The address is that of the Simple English Wikipedia dump, which is updated twice a month. The full dump "
            "is https://dumps.wikimedia.org/enwiki/latest/enwiki-latest-pages-articles.xml.bz2, more than 20 GB. "
            "labkit reads articles in the plain form only."
        ),
    ),
    Published(
        name="glove", shape="vectors", summary="GloVe word vectors of 6 billion words (50, 100, 200, 300 dimensions)",
        licence="Public Domain Dedication and License 1.0",
        citation="Pennington, Socher and Manning (2014): GloVe, EMNLP",
        sources=(Source("https://nlp.stanford.edu/data/glove.6B.zip", limit=3 * 2**30,
                        sha256="617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb"),),
        note="Not a corpus; read the files with `labkit.vectors.load_vectors`.",
    ),
)  # fmt: skip

PUBLISHED: dict[str, Published] = {record.name: record for record in _RECORDS}
