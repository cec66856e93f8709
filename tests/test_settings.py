"""Settings: names, types and bounds are checked, and each setting has an effect exactly where it is accepted."""

from __future__ import annotations

import dataclasses
import json
import random
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.methods import METHODS
from labkit.settings import EPOCHS, Conditions, Settings, setting
from labkit.trials.space import Dial, tuned_settings
from tests.tiny_sbert import tiny_sbert


@dataclass(frozen=True, kw_only=True)
class Some(Settings):
    size: int = setting(3, "how large", minimum=1, maximum=9)
    rate: float = setting(0.5, "how fast", above=0, maximum=1)
    loud: bool = setting(True, "whether it is heard")
    kind: str = setting("hot", "which of two", choices=("hot", "cold"))
    file: str = setting("none", "any text", added=True)


@dataclass(frozen=True, kw_only=True)
class More(Some):
    rate: float = setting(0.25, "how fast, at most twice", above=0, maximum=2)


def test_defaults_and_values() -> None:
    assert Some().values() == {"size": 3, "rate": 0.5, "loud": True, "kind": "hot", "file": "none"}
    assert json.loads(json.dumps(Some().values())) == Some().values()
    assert Some.of(Some(size=4).values()) == Some(size=4)
    assert More().values()["rate"] == 0.25
    assert More(rate=2).rate == 2.0
    assert Some().decisive() == {"size": 3, "rate": 0.5, "loud": True, "kind": "hot"}  # file: added later
    assert Some(file="mine").decisive() == Some(file="mine").values()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Some().size = 4


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ({"size": "7", "rate": " 0.25 "}, {"size": 7, "rate": 0.25}),
        ({"loud": "no"}, {"loud": False}),
        ({"loud": "ON"}, {"loud": True}),
        ({"kind": "cold", "file": " a b "}, {"kind": "cold", "file": " a b "}),
        ({"rate": 1, "size": 7.0}, {"rate": 1.0, "size": 7}),
        ({"rate": "1e-3"}, {"rate": 0.001}),
        ({"rate": np.float32(0.5), "size": np.int64(7)}, {"rate": 0.5, "size": 7}),
    ],
)
def test_a_value_takes_the_type_of_its_field(typed: dict[str, Any], values: dict[str, Any]) -> None:
    made = Some.of(typed)
    assert made == Some(**values)
    assert [type(value) for value in made.values().values()] == [int, float, bool, str, str]


def test_earlier_names_of_settings_are_understood() -> None:
    assert METHODS["tfidf"](longest="2", least="3").settings == METHODS["tfidf"](max_ngram=2, min_count=3).settings
    bag = METHODS["bag"](longest=9, most=50, half=False, clip=1, prefixes="8").settings
    assert (bag.max_length, bag.vocab_size, bag.amp, bag.max_grad_norm, bag.matryoshka_dims) == (9, 50, False, 1, "8")


@pytest.mark.parametrize(
    "values",
    [
        {"size": 0}, {"size": 10}, {"size": 2.5}, {"size": "many"}, {"size": True}, {"size": float("inf")},
        {"size": 10**400}, {"rate": 0}, {"rate": "nan"}, {"rate": None}, {"loud": "maybe"}, {"loud": 1},
        {"kind": "warm"}, {"file": 3},
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_the_name_of_its_setting(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"setting {next(iter(values))} "):
        Some.of(values)


@pytest.mark.parametrize(("name", "said"), [("sise", "'size'"), ("zzz", "size, rate, loud, kind, file")])
def test_an_unknown_setting_is_refused_with_the_known_ones(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}'.*{said}"):
        Some.of({name: 3})
    assert Settings().values() == {}
    with pytest.raises(ValueError, match=f"'{name}'"):
        Settings.of({name: 1})


@dataclass(frozen=True, kw_only=True)
class Bound(Settings):
    batch: int = setting(0, "how many", minimum=0)
    often: int = setting(3, "how often", tune=(1, 5))
    told: int = setting(3, "of pairs", tune=(1, 50))
    free: int = setting(3, "of anything", tune=(2, 4, 8))

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        return {"often": (self.batch > 0, "with a batch"), "told": (shape in (None, "Pairs"), "on pairs")}


def test_a_setting_that_changes_nothing_is_refused() -> None:
    Bound().check_used(["free", "told"])  # the corpus is not known yet
    Bound(batch=1).check_used(["free", "often", "told"], "Pairs", True)
    with pytest.raises(ValueError, match="setting often .* only with a batch"):
        Bound().check_used(["batch", "often"])
    with pytest.raises(ValueError, match="setting told .* only on pairs"):
        Bound(batch=1).check_used(["told"], "Labelled", False)


def test_only_settings_with_an_effect_are_tuned() -> None:
    assert tuned_settings(Bound()) == {"told": Dial(1, 50, log=True, whole=True), "free": Dial(choices=(2, 4, 8))}
    assert tuned_settings(Bound(batch=1), "Groups", True) == {
        "often": Dial(1, 5, whole=True), "free": Dial(choices=(2, 4, 8)),
    }  # fmt: skip


def test_tuned_ranges_are_within_the_bounds_of_their_settings() -> None:
    for name, entry in METHODS.items():
        for key, dial in tuned_settings(entry.Settings()).items():
            for end in dial.choices or (dial.low, dial.high):
                METHODS[name](**{key: end})


# --- every condition, checked with trainings ----------------------------------------------------------------------

WORDS = [f"{start}{end}" for start in "bdfglmnprst" for end in ("ala", "eno", "iru", "oka", "umi")]
SPLITS = ["train"] * 50 + ["test"] * 10  # without dev the last epoch is kept, so every epoch has an effect


def sentences(seed: int) -> list[str]:
    """Sixty sentences whose words depend on their position, so that there is something to learn."""
    drawn = random.Random(seed)
    return [" ".join(WORDS[(place * 7 + drawn.randrange(20)) % len(WORDS)] for _ in range(6)) for place in range(60)]


a, b, c = sentences(1), sentences(2), sentences(3)
CORPORA: dict[str, Corpus] = {
    # positives form groups of four, so that anchors have several positives and labelled negatives
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
#: values for settings in which a small change has no effect on corpora as small as these
OTHER: dict[str, Any] = {
    "epsilon": -0.2, "iterations": 3, "near": 3, "apart": 0, "dropout": 0.5, "window": 1, "vocab_size": 40,
    "min_count": 17,
}  # fmt: skip
TEXTS = {"vectors": "random", "base": "sif", "share": "0.1", "matryoshka_dims": "2,3"}
#: these depend on the machine, on files, or on a dev split
ELSEWHERE = {"device", "amp", "expansion", "model", "patience", "rule", "file", "min_ngram"}
#: method, its corpus, its settings
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("sentpwnet", "Pairs", {}),
    ("siamese", "Labelled", {"loss": "cosent"}),
    ("triplet", "Triplets", {"loss": "infonce", "miner": "none"}),
    ("bag", "Labelled", {"unit": "words"}),
    ("sentpwnet", "Pairs", {"encoder": "transformer", "layers": 0}),
    ("film", "Groups", {"batch": 5}),
    ("film-deep", "Pairs", {}),
    ("pthought", "Pairs", {"decoders": "auto"}),
    ("thematic", "Triplets", {}),
    ("pv-dbow", "Labelled", {"epochs": 0}),
]
UNTRAINED = ["mean-vectors", "sif", "lsa", "whitening", "sbert-lp", "all-but-the-top"]


def learned(name: str, shape: str, settings: tuple[tuple[str, Any], ...]) -> dict[str, np.ndarray]:
    """The saved arrays of a training, and its vectors of some sentences."""
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
    fields = {found.name for found in dataclasses.fields(METHODS[name].Settings)}
    small = SMALL if name not in ("film", "tfidf") else {"dimension": 8}
    model = {"model": tiny_sbert()} if given.get("encoder") == "transformer" else {}
    return {key: value for key, value in small.items() if key in fields} | given | model


def another(found: dataclasses.Field[Any], now: Any) -> Any:
    if found.name == "pieces":
        return tiny_sbert()
    if isinstance(now, str) and found.name in TEXTS:
        return TEXTS[found.name]
    if found.metadata["choices"]:
        return next(choice for choice in found.metadata["choices"] if choice != now)
    if found.name in OTHER and OTHER[found.name] != now:
        return OTHER[found.name]
    return not now if isinstance(now, bool) else now / 2 if isinstance(now, float) else now + 1


@pytest.mark.parametrize(
    ("name", "shape", "given"),
    [
        *[(name, "Labelled", {}) for name in UNTRAINED],
        *[pytest.param(*case, marks=pytest.mark.whole) for case in CASES],
    ],
)
def test_a_setting_has_an_effect_exactly_where_it_is_accepted(name: str, shape: str, given: dict[str, Any]) -> None:
    settings, wrong = own(name, given), []
    whole = METHODS[name](**settings).settings
    always = (EPOCHS, "with an encoder other than transformer")  # tested only where epochs is given
    for found in dataclasses.fields(whole):
        when = whole.conditions().get(found.name, (True, ""))[1]
        if found.name in ELSEWHERE or found.name in given or not when or ("epochs" not in given and when in always):
            continue
        changed = settings | {found.name: another(found, getattr(whole, found.name))}
        taken = True
        try:
            METHODS[name](**changed).settings.check_used([found.name], shape, False)
        except ValueError:
            taken = False
        try:
            after = learned(name, shape, tuple(changed.items()))
        except ValueError as reason:  # an effect so large that training fails
            felt = "setting" not in str(reason)
        else:
            before = plain(name, shape, tuple(settings.items()))
            felt = before.keys() != after.keys() or any(not same(before[key], after[key]) for key in before)
        if taken != felt:
            wrong.append(f"{found.name}={changed[found.name]} is {'taken' if taken else 'refused'} but {felt=}")
    assert not wrong
