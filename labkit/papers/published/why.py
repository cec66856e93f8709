"""Our own question: does an explanation name the words that distinguish two sentences?

No paper prints these tables. Each row is a method with one of its ways to explain (`labkit.explanation`), each table
the minimal pairs of one corpus; the last compares two trainings that differ only in the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from labkit.explanation import LEFT_OUT
from labkit.papers.claims import Claim
from labkit.papers.recipes.why import FEW, MANY, STEADY, TAKEN, differing_words, no_method, steady
from labkit.papers.records import FEW_SEEDS, Column, Paper, Recipe, Row, Table

RAREST, APART = "the rarest word", "the rarest word where the two differ"
ANY = "a word at random"
SAID = {
    "exact": "exact", "attention": "attention", "integrated": "integrated Jacobians", LEFT_OUT: "a word left out",
    "rows": "its rows",
}  # fmt: skip


class Candidate(NamedTuple):
    """A method to test: its recipe's settings, and its ways to explain, by name."""

    method: str
    ways: tuple[str, ...]
    settings: Mapping[str, object] = {}
    seeds: int | None = None  # 1: deterministic


EXACT, INTEGRATED = ("exact", LEFT_OUT), ("integrated", LEFT_OUT)
ASKED = {
    "mean of word vectors": Candidate("mean-vectors", EXACT, seeds=1),
    "SIF": Candidate("sif", EXACT, seeds=1),
    "TF-IDF": Candidate("tfidf", EXACT, seeds=1),
    "LSA": Candidate("lsa", EXACT, seeds=1),
    "FILM": Candidate("film", EXACT),
    "bag of word pieces": Candidate("bag", EXACT),
    "distilled vectors": Candidate("static", EXACT, {"epochs": 0}, seeds=1),
    "CNN": Candidate("siamese", INTEGRATED, {"encoder": "cnn"}),
    "LSTM": Candidate("siamese", INTEGRATED, {"encoder": "lstm"}),
    "BiLSTM": Candidate("siamese", ("integrated", "attention", LEFT_OUT), {"encoder": "bilstm"}),
    "FILM's deep twin": Candidate("film-deep", INTEGRATED),
    "P-thought": Candidate("pthought", INTEGRATED),
    "SBERT-LP on word vectors": Candidate("sbert-lp", (LEFT_OUT,)),
    "MiniLM": Candidate("sbert", INTEGRATED, seeds=1),
}
NETWORKS = tuple(name for name, asked in ASKED.items() if "integrated" in asked.ways and asked.seeds is None)
LINEAR = tuple(name for name, asked in ASKED.items() if "exact" in asked.ways)
NOT_ON = {"relatedness": ("P-thought",)}  # graded pairs do not mark paraphrases


def of_way(name: str, way: str) -> str:
    """The name of a row."""
    return f"{name}, {SAID[way]}"


def _on(corpus: str) -> Table:
    """The minimal pairs of one corpus."""
    data = f"minimal-{corpus}"
    columns = (
        *(Column(kind, kind, data, printed=".2f") for kind in ("detail", "order", "synonym", "negation")),
        Column("rank", "rank", data, printed=".2f", larger=False),
        Column("won back", "back", data, printed=".2f"),
        Column("won back at random", "back at random", data, printed=".2f"),
        Column("knows", "knows", data, printed=".2f"),
    )
    asked = [name for name in ASKED if name not in NOT_ON.get(corpus, ())]
    zero = Recipe(no_method, seeds=1)
    rows = [Row(ANY, (), zero, figure="random "), Row(RAREST, (), zero, figure="rarest "),
            Row(APART, (), zero, figure="apart ")]  # fmt: skip
    for name in asked:
        method, ways, settings, seeds = ASKED[name]
        recipe = Recipe(differing_words, method, settings, seeds=seeds)
        rows += [Row(of_way(name, way), (), recipe, figure=f"{way} ") for way in ways]
    networks = [name for name in NETWORKS if name in asked]
    lower: dict[str, bool] = {"larger": False, "ours": True}
    claims = [
        Claim(f"{name}: integrated Jacobians find the changed word earlier than leaving words out",
              (of_way(name, "integrated"),), (of_way(name, LEFT_OUT),), ("rank",), **lower)
        for name in networks
    ]  # fmt: skip
    # the mean rank is also of changed orders, of which leaving out one word cannot see anything, and of a "not", which
    # taken out gives the other sentence back
    claims += [
        Claim(f"{name}: integrated Jacobians hit an exchanged word more often than leaving words out",
              (of_way(name, "integrated"),), (of_way(name, LEFT_OUT),), ("detail", "synonym"), ours=True)
        for name in networks
    ]  # fmt: skip
    claims += [
        Claim("BiLSTM: integrated Jacobians find it earlier than attention",
              (of_way("BiLSTM", "integrated"),), (of_way("BiLSTM", "attention"),), ("rank",), **lower),
        Claim("exact parts hit an exchanged word more often than the rarest word does",
              tuple(of_way(name, "exact") for name in LINEAR), (RAREST,), ("detail", "synonym"), ours=True),
    ]  # fmt: skip
    claims += [
        Claim(f"{name}: integrated Jacobians hit swapped words more often than the rarest word or a random word",
              (of_way(name, "integrated"),), (ANY, RAREST), ("order",), ours=True)
        for name in networks
    ]  # fmt: skip
    return Table(
        "why", corpus, f"Minimal pairs from {corpus}: is the loss of similarity attributed to the changed word?",
        columns, tuple(rows), claims=tuple(claims),
        note="The first four columns are the shares of pairs, by kind of change, whose largest part of 1 - cos falls "
        "on a word that differs (for a negation, also on `does` or the verb). The rank is the mean position of the "
        "first such word among all words of both sentences. \"Won back\" is the share of the lost similarity that "
        f"returns, on average, when the first 1 to {TAKEN} words, or as many random ones, are removed. \"Knows\" is "
        "how often the method itself is right: a synonym leaves two sentences closer than a change of meaning does. "
        f"There are {4 * MANY:,} pairs; slow methods (networks) explain the first {4 * FEW}. The rarest word where "
        "the two differ needs both sentences but no method. Leaving words out ranks the words by what removing them "
        "wins back, so it leads in that column by construction. Nothing is tuned: every method has its usual "
        "settings, and the ways to explain a method are compared on the same trained networks. Which method knows "
        "more is a question for the papers' tables.",
    )  # fmt: skip


def _steady() -> Table:
    columns = tuple(Column(name, name, "minimal-questions", printed=".2f") for name in ("parts", "similarities"))
    rows = []
    for name, asked in ASKED.items():
        if asked.seeds is None:
            recipe = Recipe(steady, asked.method, asked.settings, seeds=FEW_SEEDS)
            ways = (*asked.ways, "rows") if name == "FILM" else asked.ways
            rows += [Row(of_way(name, way), (), recipe, figure=f"{way} ") for way in ways]
    return Table(
        "why", "stability", "Two training runs that differ only in their seed: do they give the same explanations?",
        columns, tuple(rows),
        note=f"For {STEADY} test pairs of questions: Spearman's correlation between the parts of the words in two "
        "runs, averaged over pairs, and between the similarities of all pairs. Three times two runs. For FILM's "
        "rows: the cosine between a row and its nearest row in a run on other triplets.",
    )  # fmt: skip


PAPER = Paper(
    "why",
    "Our own question about explanations; no paper has these tables.",
    (*map(_on, ("questions", "relatedness", "captions")), _steady()),
)
