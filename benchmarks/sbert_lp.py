"""Does locality preserving help? Grades, classes and clusters of published sentences, beside the vectors alone.

Needs the folder of published datasets that LABKIT_DATA names. Vectors are made once and kept in the folder of
LABKIT_VECTORS (else in the user's cache). Whatever is compared is embedded together, without labels; k, p and the sizes
of the comparators are chosen on dev. The difference of LP to the vectors as they are comes with its 95 % interval; one
that holds 0 is a tie. Every point of a sweep is kept beside the vectors, as JSON: the curves of figures 2 to 5.

    python -m benchmarks.sbert_lp grades stsb sbert      python -m benchmarks.sbert_lp grades stsb mean-vectors
    python -m benchmarks.sbert_lp classes mr             python -m benchmarks.sbert_lp clusters 20news
    python -m benchmarks.sbert_lp reversals sts12-16
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from benchmarks.machine import describe
from labkit.corpora import Corpus, Labelled, Pairs, load
from labkit.embedding_files import embedding_file, read_embeddings
from labkit.evaluation import (
    Parts,
    clustering_agreement,
    correlation,
    kmeans,
    knn_right,
    lead_of,
    leader,
    over_seeds,
    reversals,
)
from labkit.methods import METHODS
from labkit.sbert_lp.sweeps import (
    LP,
    RAW,
    TRANSFORMS,
    Grid,
    Judge,
    Point,
    best,
    by_clusters,
    by_grades,
    pair_cosines,
    sweep,
    transformed,
)

BASES = {"sbert": {}, "mean-vectors": {"vectors": "vectors/word2vec.GoogleNews.300d.8k.npz"}}
FINE = Grid((10, 20, 40, 80, 160), (16, 32, 64, 128, 256))
MIDDLE = Grid((15, 30, 60), (16, 32, 64, 128, 256))
COARSE = Grid((15, 60), (16, 32, 64, 128, 256))
MOST = {"train": 2_000, "dev": 700, "test": 1_000}  # sentences, or half as many pairs, of a set of classes
TEXTS = 2_000  # of newsgroups, in either half
ROUNDS = 300  # bootstrap samples of the pairs
SEEDS = range(10)


def main() -> str:
    """All tables; hours on one thread, so that single cells are better asked for by name."""
    if not os.environ.get("LABKIT_DATA"):
        return "Needs the published datasets: set LABKIT_DATA to their folder."
    lines = [f"SBERT-LP, one thread. {describe()}"]
    for base in BASES:
        for name in ("stsb", "sick", "sts12-16"):
            lines += grades(name, base)
    for name in ("mr", "subj", "sst-phrases", "trec", "mrpc"):
        lines += classes(name)
    return "\n".join([*lines, *clusters("20news")])


# --- table 1 ---------------------------------------------------------------------------------------------------


def grades(name: str, base: str = "sbert") -> list[str]:
    """Spearman on test with what dev chose; of STS 2012-2015 each year with what the other three chose."""
    lines = []
    for label, points, part in _graded(name, base):
        rows, a, b = _sides(part, base, name)
        scores = {kind: pair_cosines(transformed(rows, best(points, kind)), a, b) for kind in TRANSFORMS}
        low, high = _interval(scores[LP], scores[RAW], part.scores)
        cells = [
            f"{correlation(scores[kind], part.scores).spearman:.4f} ({_how(best(points, kind))})" for kind in scores
        ]
        lines.append(f"| {label}, {base} | {' | '.join(cells)} | [{low:+.4f}, {high:+.4f}] {_verdict(low, high)} |")
    return lines


def _graded(name: str, base: str) -> list[tuple[str, tuple[Point, ...], Pairs]]:
    """(what it is called, the sweep on what chooses, the pairs that are reported)."""
    corpus = load(name)
    assert isinstance(corpus, Pairs)
    if name != "sts12-16":
        chooses, reported = ("dev", "test") if name == "stsb" else ("train", "dev")
        grid = FINE if name == "stsb" else MIDDLE
        return [(name, _swept(f"{name}-{base}", corpus.part(chooses), base, name, grid), corpus.part(reported))]
    years = sorted(set(corpus.extra["year"]))
    parts = {year: corpus.take([row for row, at in enumerate(corpus.extra["year"]) if at == year]) for year in years}
    swept = {year: _swept(f"{name}-{year}-{base}", parts[year], base, name, COARSE) for year in years}
    return [
        (f"STS {year}", _mean_of([swept[other] for other in years if other != year]), parts[year]) for year in years
    ]


def _swept(label: str, part: Pairs, base: str, name: str, grid: Grid) -> tuple[Point, ...]:
    rows, a, b = _sides(part, base, name)
    return kept_sweep(label, rows, by_grades(a, b, part.scores), grid)


def _mean_of(sweeps: Sequence[tuple[Point, ...]]) -> tuple[Point, ...]:
    return tuple(
        dataclasses.replace(same[0], value=float(np.mean([point.value for point in same])))
        for same in zip(*sweeps, strict=True)
    )


def _sides(part: Pairs, base: str, name: str) -> tuple[np.ndarray, list[int], list[int]]:
    """The vectors of all sentences of these pairs, and which of them each pair compares."""
    texts = part.sentences()
    at = {text: row for row, text in enumerate(texts)}
    return vectors(load(name), base, texts), [at[text] for text in part.text_a], [at[text] for text in part.text_b]


def _interval(after: np.ndarray, before: np.ndarray, gold: np.ndarray) -> tuple[float, float]:
    """95 % of the differences of Spearman's correlation over pairs drawn with replacement."""
    random = np.random.default_rng(0)
    gaps = []
    for _ in range(ROUNDS):
        drawn = random.integers(0, len(gold), len(gold))
        gaps.append(correlation(after[drawn], gold[drawn]).spearman - correlation(before[drawn], gold[drawn]).spearman)
    low, high = np.quantile(gaps, [0.025, 0.975])
    return float(low), float(high)


# --- table 2 ---------------------------------------------------------------------------------------------------


def classes(name: str, base: str = "sbert") -> list[str]:
    """Accuracy of three neighbours' vote; of pairs by |u - v| beside u · v. All three splits are embedded together."""
    whole, parts = load(name), _thirds(load(name))
    texts = list(dict.fromkeys(text for part in parts for text in part.sentences()))
    at = {text: row for row, text in enumerate(texts)}
    rows = vectors(whole, base, texts)

    def right(embedded: np.ndarray, asked: int) -> np.ndarray:
        features = [_features(embedded, part, at) for part in parts]
        return knn_right(features[0], _classes(parts[0]), features[asked], _classes(parts[asked]), 3)

    judge: Judge = lambda embedded: float(right(embedded, 1).mean())  # noqa: E731
    points = kept_sweep(f"{name}-{base}", rows, judge, MIDDLE)
    found = {kind: right(transformed(rows, best(points, kind)), 2) for kind in TRANSFORMS}
    lead = lead_of(*([Parts.by(np.arange(len(found[LP])), found[kind])] for kind in (LP, RAW)))
    test = "{:+.4f} [{:+.4f}, {:+.4f}]".format(lead.lead, *lead.interval())
    cells = [f"{found[kind].mean():.4f} ({_how(best(points, kind))})" for kind in TRANSFORMS]
    counts = "/".join(str(len(part)) for part in parts)
    return [f"| {name} {counts}, {base} | {' | '.join(cells)} | {test} |"]


def _thirds(corpus: Corpus) -> list[Any]:
    """Train, dev and test, each cut at random to what is embedded in minutes; where a split is missing, from train."""
    drawn = {
        split: _drawn(corpus.part(split), corpus, split) for split in ("train", "dev", "test") if split in corpus.splits
    }
    if "test" not in drawn:  # SST-2: the labelled part beside train is its dev
        drawn["test"] = drawn.pop("dev")
    if "dev" not in drawn:
        train = corpus.part("train")
        order = np.random.default_rng(0).permutation(len(train))
        cut = min(MOST["dev"] // (1 + isinstance(corpus, Pairs)), len(train) // 5)
        drawn["dev"] = train.take(order[:cut].tolist())
        drawn["train"] = _drawn(train.take(order[cut:].tolist()), corpus, "train")
    return [drawn[split] for split in ("train", "dev", "test")]


def _drawn(part: Corpus, corpus: Corpus, split: str) -> Corpus:
    most = MOST[split] // (1 + isinstance(corpus, Pairs))
    return part.take(np.random.default_rng(1).permutation(len(part))[:most].tolist())


def _features(embedded: np.ndarray, part: Any, at: dict[str, int]) -> np.ndarray:
    if isinstance(part, Labelled):
        return embedded[[at[text] for text in part.texts]]
    u, v = (embedded[[at[text] for text in texts]] for texts in (part.text_a, part.text_b))
    return np.hstack([np.abs(u - v), u * v])


def _classes(part: Any) -> list[str]:
    return list(part.labels) if isinstance(part, Labelled) else [str(value) for value in part.values]


# --- table 3 ---------------------------------------------------------------------------------------------------


def clusters(name: str, base: str = "sbert") -> list[str]:
    """k-means, as many clusters as classes, ten seeds; k and p from one half of the texts, figures from the other."""
    test = load(name).part("test")
    assert isinstance(test, Labelled)
    order = np.random.default_rng(0).permutation(len(test))[: 2 * TEXTS].tolist()
    halves = [test.take(sorted(order[at::2])) for at in (0, 1)]
    rows = [vectors(load(name), base, half.texts) for half in halves]
    judges = [by_clusters(halves[0].labels, seed=seed, restarts=3) for seed in range(3)]
    judge: Judge = lambda embedded: float(np.mean([each(embedded) for each in judges]))  # noqa: E731
    points = kept_sweep(f"{name}-{base}", rows[0], judge, MIDDLE)
    lines, nmi = [], {}
    count = len(set(halves[1].labels))
    for kind in TRANSFORMS:
        embedded = transformed(rows[1], best(points, kind))
        found = [clustering_agreement(halves[1].labels, kmeans(embedded, count, seed=s, restarts=3)) for s in SEEDS]
        spreads = {key: over_seeds([getattr(each, key) for each in found]) for key in ("mi", "nmi", "ari", "purity")}
        nmi[kind] = spreads["nmi"]
        cells = [f"{each.mean:.4f} ± {each.spread:.4f}" for each in spreads.values()]
        lines.append(f"| {name}, {base}, {best(points, kind)} | {' | '.join(cells)} |")
    return [*lines, f"LP against {RAW} by NMI: {leader(nmi[LP], nmi[RAW])}"]


# --- table 4 ---------------------------------------------------------------------------------------------------


def shown_reversals(name: str, base: str = "sbert") -> list[str]:
    """Couples of pairs that LP puts in the right order or out of it, and five of each."""
    lines = []
    for label, points, part in _graded(name, base):
        rows, a, b = _sides(part, base, name)
        before, after = (pair_cosines(transformed(rows, best(points, kind)), a, b) for kind in (RAW, LP))
        found = reversals(part.scores, before, after)
        clear = reversals(part.scores, before, after, least=1.0)
        lines += [f"{label}, {base}: {found}", f"{label}, {base}, more than one grade apart: {clear}"]
        for kind, examples in (("mended", clear.mended_examples), ("spoilt", clear.spoilt_examples)):
            for each in examples:
                pairs = [(part.text_a[row], part.text_b[row]) for row in (each.higher, each.lower)]
                lines.append(json.dumps({"kind": kind, **dataclasses.asdict(each), "pairs": pairs}, ensure_ascii=False))
    return lines


# --- vectors ---------------------------------------------------------------------------------------------------


def vectors(corpus: Corpus, base: str, texts: Sequence[str]) -> np.ndarray:
    """The base's vectors of these sentences; SBERT's are made once and kept."""
    if base != "sbert":
        settings = {key: str(Path(os.environ["LABKIT_DATA"]) / value) for key, value in BASES[base].items()}
        method = METHODS[base](**settings)
        method.fit(corpus if "train" in corpus.splits else dataclasses.replace(corpus, splits=()))
        return method.encode(list(texts))
    file = _folder() / f"{base}-{corpus.name}.parquet"
    known, rows = read_embeddings(file) if file.is_file() else ([], np.zeros((0, 0), np.float32))
    place = {text: row for row, text in enumerate(known or [])}
    if missing := [text for text in dict.fromkeys(texts) if text not in place]:
        method = METHODS[base]()
        method.fit(corpus if "train" in corpus.splits else dataclasses.replace(corpus, splits=()))
        made = method.encode(missing, batch_size=64)
        rows = np.concatenate([rows, made]) if place else made
        place |= {text: len(place) + row for row, text in enumerate(missing)}
        with embedding_file(file) as add:
            add(list(place), rows)
    return rows[[place[text] for text in texts]]


def _folder() -> Path:
    folder = Path(os.environ.get("LABKIT_VECTORS") or user_cache_path("labkit") / "vectors")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept_sweep(label: str, rows: np.ndarray, judge: Judge, grid: Grid) -> tuple[Point, ...]:
    """The sweep, made once and kept as JSON."""
    file = _folder() / f"sweep-{label}.json"
    about = json.loads(json.dumps(dataclasses.asdict(grid) | {"rows": len(rows)}))
    if file.is_file() and (kept := json.loads(file.read_text(encoding="utf-8")))["about"] == about:
        return tuple(Point(**point) for point in kept["points"])
    points = sweep(rows, judge, grid)
    record = {"about": about, "points": [dataclasses.asdict(point) for point in points]}
    file.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return points


def _how(point: Point) -> str:
    return f"k={point.neighbours} p={point.size}" if point.neighbours else str(point.size or "-")


def _verdict(low: float, high: float) -> str:
    return "LP helps" if low > 0 else "LP hurts" if high < 0 else "tie"


if __name__ == "__main__":
    cells = {"grades": grades, "classes": classes, "clusters": clusters, "reversals": shown_reversals}
    print("\n".join(cells[sys.argv[1]](*sys.argv[2:])))
