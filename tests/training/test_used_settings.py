"""Every setting changes what is learned, or is refused where somebody gives it: `only` in the settings is the truth."""

from __future__ import annotations

import dataclasses
import random
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.methods import METHODS

WORDS = [f"{start}{end}" for start in "bdfglmnprst" for end in ("ala", "eno", "iru", "oka", "umi")]
SPLITS = ["train"] * 50 + ["test"] * 10  # without dev the last epoch is taken, and every epoch is felt


def sentences(seed: int) -> list[str]:
    """Sixty, of words that follow from their place, so that there is something to learn."""
    drawn = random.Random(seed)
    return [" ".join(WORDS[(place * 7 + drawn.randrange(20)) % len(WORDS)] for _ in range(6)) for place in range(60)]


a, b, c = sentences(1), sentences(2), sentences(3)
CORPORA: dict[str, Corpus] = {
    # the same are those of one four, so that an anchor has several positives, and negatives that were labelled
    "Pairs": Pairs(
        a,
        [a[(place // 8 * 8 + (place + 2) % 8) % 60] if place % 2 else a[(place + 11) % 60] for place in range(60)],
        [float(place % 2) for place in range(60)],
        splits=SPLITS,
    ),
    "Labelled": Labelled(a, [f"class {place % 5}" for place in range(60)], splits=SPLITS),
    "Groups": Groups(a, [f"group {place % 5}" for place in range(60)], splits=SPLITS),
    "Triplets": Triplets(a, b, c, splits=SPLITS),
}
SMALL: dict[str, Any] = {"dimension": 8, "size": 6, "batch": 8, "epochs": 1, "hidden": 6, "decoder_hidden": 6}
#: in the place of what a setting is, where a little more or less would not be felt on corpora as small as these
OTHER: dict[str, Any] = {"epsilon": -0.2, "iterations": 3, "near": 3, "apart": 0, "dropout": 0.5, "window": 1}
TEXTS = {"vectors": "random", "base": "sif", "share": "0.1"}
#: of the machine, of files, or of a dev split
ELSEWHERE = {"device", "half", "expansion", "model", "patience", "rule", "file", "shortest"}
#: method, its corpus, its settings
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("sentpwnet", "Pairs", {}),
    ("sentpwnet", "Pairs", {"tune": False}),
    ("siamese", "Labelled", {"miner": "random"}),
    ("triplet", "Triplets", {}),
    ("film", "Pairs", {}),
    ("film", "Labelled", {"solver": "paper"}),
    ("film", "Groups", {"batch": 5}),
    ("film", "Triplets", {"batch": 5, "solver": "closed-form"}),
    ("film", "Pairs", {"solver": "closed-form"}),
    ("film", "Pairs", {"iterations": 0}),
    ("film-deep", "Pairs", {}),
    ("film-deep", "Triplets", {}),
    ("pthought", "Pairs", {"decoders": "auto"}),
    ("pthought", "Groups", {}),
    ("thematic", "Triplets", {}),
    ("sif", "Labelled", {}),
    *((name, "Labelled", {"epochs": 0}) for name in ("sentpwnet", "film-deep", "pv-dbow")),
    ("pthought", "Groups", {"epochs": 0}),
    ("thematic", "Triplets", {"epochs": 0}),
]


def learned(name: str, shape: str, settings: tuple[tuple[str, Any], ...]) -> dict[str, np.ndarray]:
    """All that is kept of a training, and what it makes of sentences."""
    method = METHODS[name](**dict(settings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.fit(CORPORA[shape])
        rows = method.encode(a[:9])
    return {**method._state()[0], "rows": rows.toarray() if hasattr(rows, "toarray") else rows}


plain = cache(learned)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")


def own(name: str, given: dict[str, Any]) -> dict[str, Any]:
    fields = {found.name for found in dataclasses.fields(METHODS[name].method.Settings)}
    small = SMALL if name not in ("film", "tfidf") else {"dimension": 8}
    return {key: value for key, value in small.items() if key in fields} | given


def another(found: dataclasses.Field[Any], now: Any) -> Any:
    if isinstance(now, str) and found.name in TEXTS:
        return TEXTS[found.name]
    if found.metadata["choices"]:
        return next(choice for choice in found.metadata["choices"] if choice != now)
    if found.name in OTHER and OTHER[found.name] != now:
        return OTHER[found.name]
    return not now if isinstance(now, bool) else now / 2 if isinstance(now, float) else now + 1


@pytest.mark.whole
@pytest.mark.parametrize(("name", "shape", "given"), CASES)
def test_a_setting_counts_exactly_where_it_is_taken(name: str, shape: str, given: dict[str, Any]) -> None:
    settings, wrong = own(name, given), []
    rest = ("",) if "epochs" in given else ("", "epochs")  # what counts always is felt always
    about = {"corpus": shape, "dev": ""}
    whole = METHODS[name](**settings).settings
    for found in dataclasses.fields(whole):
        if found.name in ELSEWHERE or found.name in given or found.metadata["only"] in rest:
            continue
        changed = settings | {found.name: another(found, getattr(whole, found.name))}
        taken = True
        try:
            METHODS[name](**changed).settings.check_used([found.name], about)
        except ValueError:
            taken = False
        try:
            after = learned(name, shape, tuple(changed.items()))
        except ValueError as reason:  # felt so much that nothing can be learned
            felt = "setting" not in str(reason)
        else:
            before = plain(name, shape, tuple(settings.items()))
            felt = before.keys() != after.keys() or any(not same(before[key], after[key]) for key in before)
        if taken != felt:
            wrong.append(f"{found.name}={changed[found.name]} is {'taken' if taken else 'refused'} but {felt=}")
    assert not wrong
