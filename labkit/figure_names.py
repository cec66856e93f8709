"""The names of scores in text: `knn_accuracy` is "kNN accuracy".

In: the key of a score, as in code, JSON, histories and run folders. Out: its name in words, for app, figures and
tables, and whether larger values are better. `written` writes numbers for people to read.
"""

from __future__ import annotations

DEV = "dev_"  # prefix of a score on the dev split
OF_PROBE = "probe_"  # prefix of a score of the probe sentences

VERDICTS = {
    "tie": "tie: within 0.01",
    "open": "open: not shown to be behind",
    "no order": "neither better nor worse when larger",
    "saw test": "not judged: saw the test sentences",
}  # verdict -> words
SAW = "saw the test sentences"  # label of a run that was fitted to them

SPOKEN = {
    # how good vectors are (labkit.evaluation.scores)
    "knn_accuracy": "kNN accuracy",
    "triplet_accuracy": "triplet accuracy",
    "opening_triplet_accuracy": "triplet accuracy, openings",
    "f1": "F1",
    "auc": "AUC",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "map@r": "MAP@R",
    "map@r, withheld": "MAP@R of withheld classes",  # in a notebook
    "r_precision": "R-precision",
    "alignment": "alignment, positives apart",
    "uniformity": "uniformity, 0 where all are alike",
    "mean_cosine": "mean cosine of all pairs",
    "inter": "inter, centres apart",
    "intra": "intra, width of classes",
    "inter_intra": "inter/intra",
    "alone": "sentences alone in their class",
    "asked": "sentences used as queries, a sample",
    "asked_centres": "classes used as queries, a sample",
    # how far clusters agree with classes (labkit.evaluation.classes)
    "ami": "AMI",
    "ari": "ARI",
    "mi": "MI (nats)",
    "nmi": "NMI",
    "ri": "RI",
    # explanations compared (notebook 12)
    "below_chance": "area below random orders",
    # what a run records each epoch
    "triplets": "triplet accuracy",
    "right": "triplets in order",
    "kept_positives": "positive pairs kept, share",
    "kept_negatives": "negative pairs kept, share",
    "weight_positives": "weight of positive pairs",
    "weight_negatives": "weight of negative pairs",
    "spread": "spread of the cosines",
    "temperature": "temperature of the loss",
    "gradient": "length of the gradient",
    "l_auto": "loss of writing the sentence again",
    "l_para": "loss of writing a paraphrase",
    "stationarity": "size of the gradient",
    "drift": "drift from orthonormal rows",
    "gap": "gap to the best, at most",
    "share": "share of plain TF-IDF",
}

MEANINGS = {  # of scores that a newcomer meets
    "accuracy": "the share of pairs on the right side of a threshold",
    "f1": "the harmonic mean of precision and recall, of the pairs above a threshold",
    "auc": "how often a pair with the same meaning is closer than one with different meanings; 0.5 is chance",
    "triplet_accuracy": "the share of triplets whose positive is closer to the anchor than the negative",
    "knn_accuracy": "the share of sentences that get their class from their three nearest training sentences",
    "hit@1": "the share of sentences whose nearest neighbour belongs to their class or group",
    "hit@10": "the share of sentences with one of their class or group among their ten nearest neighbours",
    "map@r": "how early the sentences of the same class come among the nearest neighbours; 1 is best",
    "r_precision": "of the R nearest neighbours, the share of the same class, which has R other sentences",
    "pearson": "the correlation of cosines and scores",
    "spearman": "the correlation of the ranks of cosines and scores",
    "inter_intra": "how far classes are apart, divided by how wide they are",
    "ami": "adjusted mutual information: agreement of clusters and sections, 0 by chance, 1 at best",
    "ari": "adjusted Rand index: agreement by pairs of sentences, 0 by chance, 1 at best",
    "mi": "mutual information: what a cluster tells about the section, not corrected for chance",
    "ri": "Rand index: agreement by pairs of sentences, not corrected for chance",
    "nmi": "normalised mutual information, from 0 to 1, not corrected for chance",
    "purity": "the share of sentences in the most frequent section of their cluster",
}

# Scores that describe a space without saying how good it is: a collapsed space has a coherence of 1 and the best
# alignment, noise has the best uniformity, and a wide space has wide classes.
_SPACE = ("alone", "asked", "asked_centres", "inter", "intra", "alignment", "uniformity", "mean_cosine")
_COHERENCE = ("coherence_within", "coherence_between", "coherence_distance")
DESCRIBING = frozenset(("threshold", "effective_rank", *_SPACE, *_COHERENCE))


def ordered(name: str) -> bool:
    """Return whether a test score is better when it is larger; the others only describe.

    >>> ordered("hit@1"), ordered("intra")
    (True, False)
    """
    return name not in DESCRIBING


def meaning(name: str) -> str:
    """Return what a score means, in a clause after its name; only the name where nothing is to be explained.

    >>> meaning("dev_ami").partition(": ")[0], meaning("loss")
    ('AMI on dev', 'loss')
    """
    return ": ".join(filter(None, (spoken(name), MEANINGS.get(name.removeprefix(DEV), ""))))


def written(value: float, form: str = "+.3f") -> str:
    """Return a number in this format with a real minus sign; one that rounds to 0 has no sign.

    >>> written(0.5), written(-0.25, ".2f"), written(-0.0001)
    ('+0.500', '−0.25', '0.000')
    """
    text = format(value, form)
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def spoken(name: str) -> str:
    """Return the name of a score in words; if it has none, its underscores become spaces.

    >>> spoken("knn_accuracy"), spoken("hit@10"), spoken("dev_auc"), spoken("probe_spread")
    ('kNN accuracy', 'Hit@10', 'AUC on dev', 'spread of the cosines, probe')
    """
    for start, said in ((DEV, "{} on dev"), (OF_PROBE, "{}, probe"), ("coherence_", "coherence, {}")):
        if name.startswith(start):
            return said.format(spoken(name.removeprefix(start)))
    return name.capitalize() if name.startswith("hit@") else SPOKEN.get(name, name.replace("_", " "))
