"""SentPWNet (Zhang, Li, Wang 2020): tables 2, 3 and 6, figure 2, and what section 4.1 announces but never prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from labkit.papers.claims import Claim
from labkit.papers.fair import FAIR, tuned_and_printed
from labkit.papers.recipes.cross_encoders import read_together
from labkit.papers.recipes.scoring import Compute, all_the_same, classified, picture, pretrained, scored
from labkit.papers.recipes.speed import bi_encoder, cross_encoder
from labkit.papers.records import FEW_SEEDS, Column, Observation, Paper, Recipe, Row, Table, printed

ENCODERS = {"BiLSTM": "bilstm", "CNN": "cnn", "LSTM": "lstm"}
_AN = {"BiLSTM": "a BiLSTM", "CNN": "a CNN", "LSTM": "an LSTM"}
METHODS = {"Siamese network": "siamese", "Triplet network": "triplet", "SentPWNet": "sentpwnet"}
GENERAL = ("Avg.BERT embeddings", "BERT cls-vector", "Skip-Thoughts", "InferSent", "Sentence-BERT")
SHORT = {"epochs": 6, "size": 100}  # a training takes minutes instead of hours
FEWER = {**SHORT, "epochs": 3}  # for triplets, which are longer and far more
#: section 4.2.2: the titles of all other sections are negatives
ON: Mapping[str, Mapping[str, object]] = {"triplets-titles": {"in_batch": True}}
UNTRAINED = "BiLSTM, untrained"
#: the printed networks read places by character; the tuned ones choose by the trials that choose the rest
BY_CHARACTER: Mapping[str, Mapping[str, object]] = {**ON, "places": {"unit": "characters"}}
TRIES = {"places": {"unit": ("characters", "pieces"), "dimension": (100, 256), "batch": (32, 128)}}
READ_PLACES = (
    "The same trials choose whether a network reads characters or word pieces, the length of its word vectors and the "
    "batch size; as printed, networks read characters. "
)
_READ: Mapping[str, object] = {"unit": "characters", "dimension": 100, "batch": 64}  # where these trials start
#: data on which each seed chooses its own settings: on Quora, a quarter of the rows misled the CNN's trials
PER_SEED = ("quora", "triplets-titles", "places")
#: the same for the two rows that lead on sentences of sections, whose difference is the narrowest that is claimed
DECISIVE = (*PER_SEED, "triplets-sen")
CHOSEN_ANEW = (
    "On Quora's pairs, the settings of a row are chosen again for each seed: models with the settings of the three "
    "best trials and with the printed ones are trained on all rows, and the best on dev is kept. The intervals of "
    "these rows include the uncertainty of this choice. MiniLM's last layer is tuned once. "
)
#: the printed values or, where the papers give none, the usual ones: the settings of the rows "as printed"
PRINTED: Mapping[str, dict[str, object]] = {
    "siamese": {"margin": 0.5, "learning_rate": 0.003, "dropout": 0.2},
    "triplet": {"temperature": 1.0, "learning_rate": 0.003, "dropout": 0.2},
    "sentpwnet": {"alpha": 2.0, "beta": 50.0, "base": 0.5, "epsilon": 0.1, "learning_rate": 0.003, "dropout": 0.2},
}
BAG = "bag of word pieces (ours)"
STATIC = "vectors distilled from MiniLM"
MANY = 10  # seeds of quick rows
#: to be filled in with the number of epochs
DEVIATIONS = (
    "Each network is trained for {} epochs and gives 100-dimensional vectors, a third of its default. " + FAIR + " "
    "SentPWNet's loss (eq. 8) with its choice of pairs (eq. 11, 12) is the multi-similarity loss with its miner (Wang "
    "et al. 2019). The bag is the mean of word-piece vectors (256 dimensions) that are learned from the same rows."
)
MINI = "all-MiniLM-L6-v2 (ours)"
NO_WEIGHTS = "the trained weights are not published in a format that labkit reads"


def trained(
    row: str,
    figures: tuple[float | None, ...],
    method: str,
    encoder: str,
    run: Compute = scored,
    *,
    length: Mapping[str, object] = SHORT,
) -> tuple[Row, Row]:
    """A row of one of the three, tuned and as printed (reading places by character); quick rows get ten seeds."""
    seeds = MANY if encoder == "cnn" else None
    anew = DECISIVE if method == "triplet" else PER_SEED
    recipe = Recipe(run, method, {"encoder": encoder, **length}, on=ON, seeds=seeds, tries=TRIES, per_seed=anew)
    tuned, as_printed = tuned_and_printed(Row(row, figures, recipe), PRINTED[method], _READ)
    assert as_printed.recipe is not None
    return tuned, replace(as_printed, recipe=replace(as_printed.recipe, on=BY_CHARACTER))


def bag(run: Compute = scored, *, per_seed: tuple[str, ...] = PER_SEED, **more: object) -> Row:
    """The embedding bag as a row, which every network should beat."""
    recipe = Recipe(run, "bag", on=ON, seeds=MANY, first={}, per_seed=per_seed, **more)  # type: ignore[arg-type]
    return Row(BAG, (), recipe)


def static(run: Compute = scored, *, seen: tuple[str, ...] = (), **more: object) -> tuple[Row, Row]:
    """Word-piece vectors distilled from MiniLM, untrained and trained: the knowledge that the bag starts without.

    They have seen the same texts as MiniLM.
    """
    untrained = Recipe(run, "static", {"epochs": 0}, seeds=1, **more)  # type: ignore[arg-type]
    trained = Recipe(run, "static", on=ON, seeds=MANY, first={}, per_seed=DECISIVE, **more)  # type: ignore[arg-type]
    first = Row(f"{STATIC}, untrained (ours)", (), untrained, seen=seen)
    return first, Row(f"{STATIC} (ours)", (), trained, seen=seen)


def mini(run: Compute = scored, *, seen: tuple[str, ...] = ()) -> Row:
    """MiniLM without training."""
    return Row(MINI, (), Recipe(run, "sbert", seeds=1), seen=seen)


def further(run: Compute = scored, *, seen: tuple[str, ...] = ()) -> tuple[Row, ...]:
    """MiniLM with its last layer trained with each of the three losses; the layers below are frozen."""
    settings = {"encoder": "transformer", "epochs": 1, "layers": 1}
    recipes = {name: Recipe(run, method, settings, seeds=FEW_SEEDS, first={}) for name, method in METHODS.items()}
    return tuple(Row(f"MiniLM, last layer, {name} (ours)", (), recipe, seen=seen) for name, recipe in recipes.items())


def knowledge(columns: tuple[str, ...], networks: tuple[str, ...] = ()) -> tuple[Claim, ...]:
    """Pretrained knowledge beats what a network or the bag learns here from scratch."""
    lead, mine = "fine-tuned vectors distilled from MiniLM lead", (f"{STATIC} (ours)",)
    over_networks = Claim(f"{lead} every network trained from scratch", mine, networks, columns, ours=True)
    over_bag = Claim(f"{lead} the bag, trained from scratch", mine, (BAG,), columns, ours=True)
    return (over_networks, over_bag) if networks else (over_bag,)


def tuned_baseline(row: str, method: str, run: Compute = scored, **more: object) -> Row:
    """A row for a method without epochs, with its settings chosen like the others'."""
    return Row(row, (), Recipe(run, method, first={}, per_seed=PER_SEED, **more))  # type: ignore[arg-type]


def _rows(
    figures: dict[str, tuple[float | None, ...]],
    seen: tuple[str, ...] = (),
    length: Mapping[str, object] = SHORT,
) -> tuple[Row, ...]:
    """Each row with its recipe."""
    rows: list[Row] = []
    for name, numbers in figures.items():
        encoder, _, method = name.partition(" + ")
        if method:
            rows += trained(name, numbers, METHODS[method], ENCODERS[encoder], length=length)
        elif name in ("Skip-Thoughts", "InferSent"):
            rows.append(Row(name, numbers, why_not=NO_WEIGHTS))
        else:
            rows.append(Row(name, numbers, pretrained(name)))
    return (*rows, bag(), mini(seen=seen))


def _leads(columns: tuple[str, ...], encoders: tuple[str, ...] = tuple(ENCODERS)) -> tuple[Claim, ...]:
    """Locality weighting leads both baselines, for each encoder."""
    return tuple(
        Claim(
            f"with {_AN[encoder]}, weighted pairs lead the Siamese and the triplet network",
            (f"{encoder} + SentPWNet",),
            (f"{encoder} + Siamese network", f"{encoder} + Triplet network"),
            columns,
        )
        for encoder in encoders
    )


PAIRS = printed("""
    Avg.BERT embeddings        .698 .723 .698 .783
    BERT cls-vector            .676 .693 .634 .726
    Skip-Thoughts              .678 .705 .640 .775
    InferSent                  .692 .732 .695 .790
    Sentence-BERT              .730 .739 .731 .812
    BiLSTM + Siamese network   .839 .837 .725 .814
    BiLSTM + Triplet network   .826 .828 .734 .805
    BiLSTM + SentPWNet         .850 .854 .743 .819
    CNN + Siamese network      .837 .838 .722 .810
    CNN + Triplet network      .811 .818 .725 .808
    CNN + SentPWNet            .858 .863 .736 .825
    LSTM + Siamese network     .834 .836 .721 .812
    LSTM + Triplet network     .806 .809 .735 .815
    LSTM + SentPWNet           .843 .851 .740 .821
""")
_TRAINED = tuple(name for name in PAIRS if name not in GENERAL)
_PAIR_COLUMNS = ("QQP accuracy", "QQP F1", "MRPC accuracy", "MRPC F1")
TABLE_2 = Table(
    "sentpwnet", "2", "Telling paraphrases from other pairs by a threshold on the cosine: accuracy and F1",
    (Column("QQP accuracy", "accuracy", "quora"), Column("QQP F1", "f1", "quora"),
     Column("MRPC accuracy", "accuracy", "mrpc"), Column("MRPC F1", "f1", "mrpc")),
    (
        *_rows(PAIRS, seen=("quora",)),
        *static(seen=("quora",)),
        *further(seen=("quora",)),
        # the settings usual for fine-tuning; 16 trials would take half a day
        Row("MiniLM as a cross-encoder (ours)", (),
            Recipe(read_together, "", {"epochs": 3, "learning_rate": 5e-5, "batch": 32}, seeds=FEW_SEEDS),
            seen=("quora",)),
        # the labels choose the settings and the threshold on dev, and train nothing
        Row("BiLSTM + SimCSE, which needs no labels (ours)", (),
            Recipe(scored, "sentpwnet", {"encoder": "bilstm", **SHORT, "loss": "simcse"}, on=ON,
                   first={"learning_rate": 0.003, "dropout": 0.2}, per_seed=PER_SEED)),
        Row("every pair predicted as a paraphrase", (), Recipe(all_the_same, seeds=1)),
        tuned_baseline("TF-IDF (ours)", "tfidf", seeds=1),
        Row("TF-IDF and a logistic regression (ours)", (), Recipe(classified, "tfidf", seeds=1)),
        Row("all-MiniLM-L6-v2 and a logistic regression (ours)", (), Recipe(classified, "sbert", seeds=1),
            seen=("quora",)),
    ),
    note="Algorithm 1, as printed, searches for the threshold on the test set; the text takes it from dev (QQP) and "
    "from the training pairs (MRPC). Here it comes from pairs that are used neither for training nor for scoring. Word "
    "vectors are made from the corpus (PPMI); the paper uses GloVe. A logistic regression learns from |u - v| and "
    "u · v of the training pairs, and its penalty is chosen on dev. The row in which MiniLM reads both sentences at "
    "once does not get the same number of trials: it uses the usual settings for fine-tuning. On Quora, it was trained "
    "on a GPU, so its seconds cannot be compared with those of other rows. "
    + CHOSEN_ANEW + DEVIATIONS.format(SHORT["epochs"]),
    claims=(
        *_leads(_PAIR_COLUMNS),
        Claim("every network trained for the task leads all general-purpose embeddings", _TRAINED, GENERAL,
              _PAIR_COLUMNS),
        Claim("every network trained for the task leads all-MiniLM-L6-v2, which never saw it", _TRAINED, (MINI,),
              _PAIR_COLUMNS, ours=True),
        *knowledge(_PAIR_COLUMNS, _TRAINED),
    ),
)  # fmt: skip

TRIPLETS = printed("""
    Avg.BERT embeddings        .687 .569
    BERT cls-vector            .677 .572
    Skip-Thoughts              .577 .538
    InferSent                  .627 .539
    Sentence-BERT              .645 .636
    BiLSTM + Siamese network   .729 .769
    BiLSTM + Triplet network   .731 .770
    BiLSTM + SentPWNet         .733 .785
""")
ALMOST = 0.01  # the paper gives no bound; with five seeds an interval is .008 to each side
_BILSTMS = ("BiLSTM + Siamese network", "BiLSTM + Triplet network", "BiLSTM + SentPWNet")
TABLE_3 = Table(
    "sentpwnet", "3", "Triplets from the sections of articles: how often the positive is nearer than the negative",
    (Column("sentences", "triplet_accuracy", "triplets-sen"), Column("titles", "triplet_accuracy", "triplets-titles")),
    (
        *_rows(TRIPLETS, length=FEWER),
        *static(),
        # its word vectors come from the corpus, its LSTM is random
        Row(UNTRAINED, (), Recipe(scored, "sentpwnet", {"encoder": "bilstm", **FEWER, "epochs": 0})),
        tuned_baseline("mean of word vectors (ours)", "mean-vectors"),
        tuned_baseline("SIF (ours)", "sif"),
    ),
    note="The paper's table 4, which is captioned as a distribution of categories, repeats this table. On titles, the "
    "titles of all other sections in a batch are negatives, as in section 4.2.2. Each seed chooses the settings for "
    "titles again, as on Quora (table 2). For sentences, only the two rows that lead do so, the triplet network "
    "and vectors distilled from MiniLM; the others choose their settings once. \"Almost the same\" means a "
    f"difference of less than {ALMOST:g}. "
    + DEVIATIONS.format(FEWER["epochs"]),
    claims=(
        Claim("all trained networks lead general-purpose embeddings by at least 10 %", _BILSTMS, GENERAL,
              ("sentences", "titles"), by=0.10, relative=True),
        Claim("all trained networks lead all-MiniLM-L6-v2, which never saw the task", _BILSTMS, (MINI,),
              ("sentences", "titles"), ours=True),
        *knowledge(("sentences", "titles"), _BILSTMS),
        Claim("all trained networks lead methods without training: mean word vectors, SIF, an untrained network",
              _BILSTMS, (UNTRAINED, "mean of word vectors (ours)", "SIF (ours)"), ("sentences", "titles"),
              ours=True),
        Claim("on titles, weighted pairs lead the two other networks by at least 2 %", _BILSTMS[2:], _BILSTMS[:2],
              ("titles",), by=0.02, relative=True),
        Claim("on sentences, weighted pairs score almost the same as the two other networks", _BILSTMS[2:],
              _BILSTMS[:2], ("sentences",), by=ALMOST, tie=True),
    ),
)  # fmt: skip

PLACES = printed("""
    Avg.BERT embeddings        .430 .560 .640
    BERT cls-vector            .252 .350 .435
    BiLSTM + Siamese network   .808 .959 .984
    BiLSTM + Triplet network   .799 .954 .981
    BiLSTM + SentPWNet         .819 .971 .988
    CNN + Siamese network      .805 .959 .982
    CNN + Triplet network      .800 .955 .982
    CNN + SentPWNet            .810 .965 .985
    LSTM + Siamese network     .811 .963 .984
    LSTM + Triplet network     .802 .965 .980
    LSTM + SentPWNet           .815 .967 .985
""")
_HITS = ("Hit@1", "Hit@3", "Hit@10")
TABLE_6 = Table(
    "sentpwnet", "6",
    "Finding another record of the same place: share of queries with a hit among the first 1, 3 and 10",
    tuple(Column(name, name.lower(), "places") for name in _HITS),
    (*_rows(PLACES), *static(), tuned_baseline("TF-IDF (ours)", "tfidf", seeds=1)),
    note="The paper's places are Chinese and were never published. Queries without another record are left out. "
    "Each seed chooses its settings again, as on Quora (table 2). " + READ_PLACES + DEVIATIONS.format(SHORT["epochs"]),
    claims=(
        *_leads(_HITS),
        *knowledge(_HITS, tuple(name for name in PLACES if "network" in name or "PWN" in name)),
        Claim("the best network with weighted pairs leads the best of the others by at least 0.4 points",
              tuple(name for name in PLACES if "PWN" in name), tuple(name for name in PLACES if "PWN" not in name),
              _HITS, by=0.004, best=True),
    ),
)  # fmt: skip

FIGURE_2 = Table(
    "sentpwnet", "figure-2",
    "Records of five places as points in the plane: the distance between classes divided by their width",
    (
        Column("inter/intra of the vectors", "ratio", "places", printed=".2f"),
        Column("inter/intra of the picture", "ratio of the picture", "places", printed=".2f"),
    ),
    tuple(
        row
        for name, method in METHODS.items()
        # the paper prints one number without saying which ratio it is
        for row in trained(f"BiLSTM + {name}", (2.99, None) if "PWN" in name else (), method, "bilstm", picture)
    ),
    note=(
        "The text says PCA, the caption t-SNE; we use PCA. The paper prints no number for the two baselines, which "
        "appear only in its figure, and does not say whether 2.99 refers to the vectors or to the figure. Each seed "
        "draws its own five places, and chooses its settings again, as in table 6."
    ),
    claims=(
        Claim("SentPWNet's classes are furthest apart relative to their width", ("BiLSTM + SentPWNet",),
              ("BiLSTM + Siamese network", "BiLSTM + Triplet network"), ("inter/intra of the vectors",)),
    ),
)  # fmt: skip

_CNN: Mapping[str, object] = {"encoder": "cnn", **SHORT}
_BY_CNN = "Here, “questions” are Quora's and “places” GeoER's. The CNN reads places by character. " + FAIR
_ABLATED = (
    Column("questions: accuracy", "accuracy", "quora"),
    Column("places: Hit@1", "hit@1", "places"),
    Column("share of negatives kept", "kept_negatives", "quora", larger=False),
)


def _ablated(row: str, method: str, change: Mapping[str, object], first: Mapping[str, object]) -> Row:
    """The CNN with one change, its settings chosen on dev by trials that start from these."""
    return Row(row, (), Recipe(scored, method, {**_CNN, **change}, on=BY_CHARACTER, first=first))


ABLATION_PAIRS = Table(
    "sentpwnet", "ablation-pairs",
    "What informative pairs contribute: the locality loss with each way of choosing pairs (not in the paper)",
    _ABLATED,
    tuple(
        _ablated(name, "sentpwnet", {"miner": miner}, PRINTED["sentpwnet"])
        for name, miner in (
            ("informative pairs (eq. 11, 12)", "informative"),
            ("the hardest pair of each kind", "hardest"),
            ("half of the pairs at random", "random"),
            ("all pairs", "none"),
        )
    ),
    note="Section 3.3 says that leaving out uninformative pairs saves up to half of the computation. The last column "
    "is the share of negative pairs that are kept, averaged over the last epoch. It is not a measure of time, because "
    "the similarities of all pairs are computed first. " + _BY_CNN,
    claims=(
        Claim("informative pairs lead all other choices", ("informative pairs (eq. 11, 12)",),
              ("the hardest pair of each kind", "half of the pairs at random", "all pairs"),
              ("questions: accuracy", "places: Hit@1"), ours=True),
        Claim("at most half of the negative pairs are kept", ("informative pairs (eq. 11, 12)",), ("all pairs",),
              ("share of negatives kept",), by=0.5, larger=False, ours=True),
    ),
)  # fmt: skip
ABLATION_WEIGHTS = Table(
    "sentpwnet", "ablation-weights",
    "What weighting contributes: each loss on the informative pairs (not in the paper, though announced)",
    _ABLATED[:2],
    tuple(
        _ablated(name, "sentpwnet", {"loss": loss}, PRINTED["sentpwnet"] | PRINTED[like])
        for name, loss, like in (
            ("weights by locality (eq. 8)", "locality", "sentpwnet"),
            ("equal weights (eq. 6)", "contrastive", "siamese"),
            ("triplets (eq. 4)", "soft-triplet", "triplet"),
        )
    ),
    note=_BY_CNN,
    claims=(
        Claim("weights by locality lead equal weights and triplets", ("weights by locality (eq. 8)",),
              ("equal weights (eq. 6)", "triplets (eq. 4)"), ("questions: accuracy", "places: Hit@1"), ours=True),
    ),
)  # fmt: skip
_EACH_LOSS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "contrastive": ("contrastive (eq. 6)", PRINTED["siamese"]),  # the same training as table 2's CNN
    "soft-triplet": ("soft triplet (eq. 4)", {"temperature": 1.0}),
    "margin-triplet": ("margin triplet", {"margin": 0.2}),
    "locality": ("locality (eq. 8), multi-similarity", {"alpha": 2.0, "beta": 50.0, "base": 0.5}),
    "infonce": ("InfoNCE, multiple negatives", {"temperature": 0.05}),
    "supcon": ("supervised contrastive", {"temperature": 0.1}),
    "logistic": ("logistic", {"temperature": 0.1, "base": 0.5}),
    "cosent": ("CoSENT", {"temperature": 0.05}),
}
ABLATION_LOSSES = Table(
    "sentpwnet", "ablation-losses", "Every pair loss at its best settings: one CNN, all pairs (ours)",
    _ABLATED[:2],
    tuple(
        _ablated(name, "siamese", {"loss": loss}, usual)
        for loss, (name, usual) in _EACH_LOSS.items()
    ),
    note=_BY_CNN,
    claims=(
        Claim("weights by locality lead every other loss", (_EACH_LOSS["locality"][0],),
              tuple(name for loss, (name, _) in _EACH_LOSS.items() if loss != "locality"),
              ("questions: accuracy", "places: Hit@1"), ours=True),
    ),
)  # fmt: skip
# : what is suspected to cost points -> the only change to the bag of word pieces
SUSPECTS: Mapping[str, Mapping[str, object]] = {
    BAG: {},
    "words that occur at least twice": {"unit": "words"},
    "all words": {"unit": "words", "min_count": 1},
    "MiniLM's word pieces": {"pieces": "all-MiniLM-L6-v2"},
    "20,000 word pieces": {"vocab_size": 20_000},
    "100 dimensions": {"dimension": 100},
    "512 dimensions": {"dimension": 512},
    "words, initialised with PPMI vectors": {"unit": "words", "vectors": "ppmi"},
    "dropout .2": {"dropout": 0.2},
    "all other sentences of a batch as negatives": {"labelled": False},
    "a third of the learning rate": {"learning_rate": 0.001},
    "three times the learning rate": {"learning_rate": 0.01},
    "batches of 32": {"batch": 32},
    "twice the epochs": {"epochs": 12},
    "no early stopping": {"patience": 0},
    "a linear layer after the mean": {"encoder": "mean", "size": 256},
    "a linear layer, a third of the learning rate": {"encoder": "mean", "size": 256, "learning_rate": 0.001},
    "a CNN": {"encoder": "cnn", "size": 256},
    "a CNN, a third of the learning rate": {"encoder": "cnn", "size": 256, "learning_rate": 0.001},
    "an LSTM": {"encoder": "lstm", "size": 100, "learning_rate": 0.001},
    "a BiLSTM": {"encoder": "bilstm", "size": 100, "learning_rate": 0.001},
}
ABLATION_SUSPECTS = Table(
    "sentpwnet", "ablation-suspects",
    "What lowers the score on questions: the bag of word pieces with one change at a time (ours)",
    (
        Column("accuracy", "accuracy", "quora"),
        Column("AUC", "auc", "quora"),
        Column("AUC on dev", "dev_auc", "quora"),
    ),
    tuple(Row(name, (), Recipe(scored, "bag", change, seeds=MANY)) for name, change in SUSPECTS.items()),
    note="Contrastive loss, margin .5, labelled pairs only, 6 epochs of which the best on dev is kept. Nothing is "
    "tuned: each row has the bag's settings except for the change in its name.",
    claims=(
        Claim("the unchanged bag leads every changed one", (BAG,), tuple(name for name in SUSPECTS if name != BAG),
              ("accuracy", "AUC"), ours=True),
    ),
)  # fmt: skip
SPEED = Table(
    "sentpwnet", "speed",
    "One query against n sentences, in CPU milliseconds, with everything else computed in advance (not in the paper)",
    (
        Column("n = 100", "100", "quora", printed=".2f", larger=False),
        Column("n = 1,000", "1000", "quora", printed=".2f", larger=False),
        Column("n = 1,000,000, from the slope", "1000000", "quora", printed=".0f", larger=False),
        Column("accuracy", "accuracy", "quora"),
    ),
    (
        Row("sentence embeddings (BiLSTM)", (), Recipe(bi_encoder, "sentpwnet", {"encoder": "bilstm", **SHORT})),
        Row("cross-encoder (BiLSTM)", (), Recipe(cross_encoder, "", {"epochs": 6})),
    ),
    seeds=FEW_SEEDS,
    note="The paper quotes 20 hours on a Titan X for one query against a million sentences, with a BERT cross-encoder.",
    claims=(
        Claim("sentence embeddings answer a query faster than a cross-encoder", ("sentence embeddings (BiLSTM)",),
              ("cross-encoder (BiLSTM)",), ("n = 100", "n = 1,000"), larger=False, ours=True),
    ),
)  # fmt: skip

PAPER = Paper(
    "sentpwnet",
    "Li Zhang, Lingxiao Li, Han Wang. SentPWNet: A Unified Sentence Pair Weighting Network for Task-specific Sentence "
    "Embedding. 2020.",
    (TABLE_2, TABLE_3, TABLE_6, FIGURE_2, ABLATION_PAIRS, ABLATION_WEIGHTS, ABLATION_LOSSES, ABLATION_SUSPECTS, SPEED),
    (
        Observation("table 4 shows how the categories of the places are distributed", "not confirmed",
                    "it repeats table 3 row by row and shows no categories"),
        Observation("two ablation studies and a comparison of speed follow later in section 4", "not confirmed",
                    "section 4.1 announces them, but the paper never shows them; ablation-pairs, ablation-weights and "
                    "speed are ours"),
    ),
)  # fmt: skip
