"""Settings: names, kinds and bounds are checked, and each setting counts where it says."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.methods import METHODS
from labkit.sentpwnet.method import OWN_WORDS
from labkit.settings import NEVER, Dial, Settings, setting
from tests.tiny_sbert import tiny_sbert


@dataclass(frozen=True, kw_only=True)
class Some(Settings):
    size: int = setting(3, "how large", minimum=1, maximum=9)
    rate: float = setting(0.5, "how fast", above=0, maximum=1)
    loud: bool = setting(True, "whether it is heard")
    kind: str = setting("hot", "which of two", choices=("hot", "cold"))
    file: str = setting("none", "any text")


@dataclass(frozen=True, kw_only=True)
class More(Some):
    rate: float = setting(0.25, "how fast, at most twice", above=0, maximum=2)


def test_defaults_and_values() -> None:
    assert Some().values() == {"size": 3, "rate": 0.5, "loud": True, "kind": "hot", "file": "none"}
    assert json.loads(json.dumps(Some().values())) == Some().values()
    assert Some.of(Some(size=4).values()) == Some(size=4)
    assert More().values()["rate"] == 0.25
    assert More(rate=2).rate == 2.0
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
def test_a_value_takes_the_kind_of_its_field(typed: dict[str, Any], values: dict[str, Any]) -> None:
    made = Some.of(typed)
    assert made == Some(**values)
    assert [type(value) for value in made.values().values()] == [int, float, bool, str, str]


def test_earlier_names_of_settings_are_understood() -> None:
    assert METHODS["tfidf"].method.Settings.of({"longest": "2", "least": "3"}).values() == {
        "unit": "words", "min_ngram": 1, "max_ngram": 2, "min_count": 3,
    }  # fmt: skip
    bag = METHODS["bag"](longest=9, most=50, half=False, clip=1, prefixes="8").settings
    assert (bag.max_length, bag.vocab_size, bag.amp, bag.max_grad_norm, bag.matryoshka_dims) == (9, 50, False, 1, "8")


@pytest.mark.parametrize(
    "values",
    [
        {"size": 0}, {"size": 10}, {"size": 2.5}, {"size": "many"}, {"size": "2.5"}, {"size": True},
        {"size": float("inf")}, {"size": 10**400}, {"rate": 0}, {"rate": 1.1}, {"rate": "nan"}, {"rate": None},
        {"rate": False}, {"loud": "maybe"}, {"loud": 1}, {"kind": "warm"}, {"file": 3},
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_by_the_name_of_its_setting(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"setting {next(iter(values))} "):
        Some.of(values)


@pytest.mark.parametrize(("name", "said"), [("sise", "'size'"), ("zzz", "size, rate, loud, kind, file")])
def test_an_unknown_setting_is_refused_with_what_there_is(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}'.*{said}"):
        Some.of({name: 3})
    assert Settings().values() == {}
    with pytest.raises(ValueError, match=f"'{name}'"):
        Settings.of({name: 1})


def test_annotations_may_be_types() -> None:
    # as in a module without `from __future__ import annotations`
    plain = dataclasses.make_dataclass(
        "Plain", [("size", int, setting(3, "how large", minimum=1))], bases=(Settings,), frozen=True, kw_only=True
    )
    assert plain(size=np.int32(4)).size == 4
    with pytest.raises(ValueError, match="setting size"):
        plain(size=0)


@dataclass(frozen=True, kw_only=True)
class Bound(Settings):
    batch: int = setting(0, "how many", minimum=0)
    kind: str = setting("hot", "which", choices=("hot", "cold", "wet"))
    loud: bool = setting(False, "whether it is heard")
    often: int = setting(3, "how often", only="batch")
    far: int = setting(3, "how far", only="kind=hot|wet, loud")
    near: int = setting(3, "how near", only="batch or kind!=hot")
    gone: int = setting(3, "of old", only=NEVER)
    told: int = setting(3, "of pairs", only="corpus=Pairs|Groups")


@pytest.mark.parametrize(
    ("values", "given", "refused"),
    [
        ({}, ["often"], True),
        ({"batch": 2}, ["often"], False),
        ({"kind": "cold"}, ["far"], True),
        ({"loud": True, "kind": "cold"}, ["far"], True),
        ({"loud": True}, ["far"], False),
        ({}, ["near"], True),
        ({"kind": "wet"}, ["near"], False),
        ({"batch": 1}, ["near"], False),
        ({}, ["gone"], True),
        ({}, ["kind", "told"], True),
        ({}, [], False),
    ],
)
def test_a_setting_that_changes_nothing_is_refused(values: dict[str, Any], given: list[str], refused: bool) -> None:
    made = Bound(**values)
    if not refused:
        made.check_used(given, {"corpus": "Labelled"})
        return
    with pytest.raises(ValueError, match=f"setting {given[-1]} "):
        made.check_used(given, {"corpus": "Labelled"})


def test_a_corpus_that_is_not_known_yet_refuses_no_setting() -> None:
    Bound().check_used(["told"])


# --- each setting of each method counts where it says, and nowhere else -------------------------------------------

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
OTHER: dict[str, Any] = {
    "epsilon": -0.2,
    "iterations": 3,
    "near": 3,
    "apart": 0,
    "dropout": 0.5,
    "window": 1,
    "vocab_size": 40,
    "min_count": 17,
}
TEXTS = {"vectors": "random", "base": "sif", "share": "0.1", "matryoshka_dims": "2,3"}
#: of the machine, of files, or of a dev split
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
def test_a_setting_counts_exactly_where_it_is_taken(name: str, shape: str, given: dict[str, Any]) -> None:
    settings, wrong = own(name, given), []
    rest = ("", OWN_WORDS) if "epochs" in given else ("", OWN_WORDS, "epochs", f"epochs, {OWN_WORDS}")  # felt always
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


@dataclass(frozen=True, kw_only=True)
class Grown(Settings):
    """Settings of which two came later; the default of one has moved since."""

    steps: int = setting(3, "how many")
    heat: float = setting(0.5, "how warm", before=0.5)
    light: float = setting(0.1, "how bright", before=1.0)
    loud: bool = setting(True, "whether it sings", before=False)


def test_a_setting_added_later_with_its_old_value_leaves_the_key_of_a_result() -> None:
    assert Grown(light=1, loud=False).deciding() == {"steps": 3}
    assert Grown(heat=0.6, light=1, loud=False).deciding() == {"steps": 3, "heat": 0.6}
    assert Grown().deciding() == {"steps": 3, "light": 0.1, "loud": True}  # figures of another default are not these
    assert Grown().values() == {"steps": 3, "heat": 0.5, "light": 0.1, "loud": True}
    assert Grown.of_run({"steps": 4}) == Grown(steps=4, light=1, loud=False)  # a run that knew nothing of them
    assert Grown.of_run({"light": 0.2, "loud": True}) == Grown(light=0.2)


def dial(name: str, text: str, kind: type[Settings] = Some) -> Dial:
    return Dial.of(text, kind.named(name))


@pytest.mark.parametrize(
    ("name", "text", "made"),
    [
        ("rate", "0.1..0.9", Dial(0.1, 0.9)),  # nine times
        ("rate", "0.05..0.5", Dial(0.05, 0.5, log=True)),  # ten times
        ("rate", " 1e-3 .. 1 ", Dial(0.001, 1.0, log=True)),
        ("size", "1..9", Dial(1, 9, whole=True)),
        ("size", "2|4|8", Dial(choices=(2, 4, 8))),
        ("loud", "yes|no", Dial(choices=(True, False))),
        ("kind", "hot|cold", Dial(choices=("hot", "cold"))),
        ("file", "a|b.txt", Dial(choices=("a", "b.txt"))),
    ],
)
def test_a_dial_is_read_as_its_setting_is(name: str, text: str, made: Dial) -> None:
    assert dial(name, text) == made
    assert Dial.of(str(made), Some.named(name)) == made
    assert all(type(value) is type(getattr(Some(), name)) for value in made.choices or (made.low, made.high))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rate", "0.9..0.1"), ("rate", "0.5..0.5"), ("rate", "0.5"), ("rate", "0.5|0.50"), ("rate", "0..0.5"),
        ("rate", "0.5..2"), ("rate", "low..high"), ("rate", "..1"), ("rate", "0.1..inf"), ("size", "1..2.5"),
        ("kind", "hot|warm"), ("file", "a..b"), ("loud", "no..yes"), ("loud", ""),
    ],
)  # fmt: skip
def test_a_dial_that_makes_no_sense_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{name}={text!r}")):
        dial(name, text)


def test_membership_and_rounding_of_a_dial() -> None:
    linear, log, several = Dial(0.1, 0.9), Dial(0.0003, 0.3, log=True), Dial(choices=(True, False))
    assert [value in linear for value in (0.1, 0.5, 0.9, 0.09, 1)] == [True, True, True, False, False]
    assert (True in several, "yes" in several) == (True, False)
    assert [linear.nearest(value) for value in (0.43712, 0.10001, 0.89999)] == [0.437, 0.1, 0.9]
    assert [log.nearest(value) for value in (0.00043712, 0.0300049, 0.29999)] == [0.000437, 0.03, 0.3]
    assert Dial(100.0, 100.5).nearest(100.23456) == 100.235
    assert Dial(0.12345, 0.9).nearest(0.1234501) == 0.12345  # never beyond the end
    assert (Dial(1, 9, whole=True).nearest(4), several.nearest(False)) == (4, False)


@dataclass(frozen=True, kw_only=True)
class Turned(Settings):
    one: int = setting(1, "the first", minimum=0, dial="1..5")
    other: float = setting(1.0, "beside the first", only="one", dial="0.1..10")
    third: float = setting(1.0, "on pairs", only="corpus=Pairs", dial="0.1..10")
    last: float = setting(1.0, "never tried")


def test_the_space_holds_the_settings_that_count() -> None:
    assert list(Turned().space()) == ["one", "other", "third"]
    assert list(Turned(one=0).space({"corpus": "Pairs", "dev": "yes"})) == ["one", "third"]
    assert list(Turned().space({"corpus": "Groups", "dev": "yes"})) == ["one", "other"]
    assert Turned().space()["other"] == Dial(0.1, 10.0, log=True)


def test_the_ends_of_every_methods_dials_are_allowed() -> None:
    for name, entry in METHODS.items():
        for key, turned in entry.method.Settings().space().items():
            for end in turned.choices or (turned.low, turned.high):
                METHODS[name](**{key: end})
