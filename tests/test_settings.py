"""Settings: names, kinds and bounds are checked, and said in one sentence."""

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
    size: int = setting(3, "how large", least=1, most=9)
    rate: float = setting(0.5, "how fast", above=0, most=1)
    loud: bool = setting(True, "whether it is heard")
    kind: str = setting("hot", "which of two", choices=("hot", "cold"))
    file: str = setting("none", "any text")


@dataclass(frozen=True, kw_only=True)
class More(Some):
    rate: float = setting(0.25, "how fast, at most twice", above=0, most=2)


def test_defaults_and_values() -> None:
    assert Some().values() == {"size": 3, "rate": 0.5, "loud": True, "kind": "hot", "file": "none"}
    assert json.loads(json.dumps(Some().values())) == Some().values()
    assert Some.of(Some(size=4).values()) == Some(size=4)
    assert More().values()["rate"] == 0.25
    assert More(rate=2).rate == 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        Some().size = 4  # type: ignore[misc]


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


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"size": 0}, "setting size is 0, expected at least 1 (how large)"),
        ({"size": 10}, "setting size is 10, expected at most 9 (how large)"),
        ({"size": 2.5}, "setting size is 2.5, expected a whole number (how large)"),
        ({"size": "many"}, "setting size is 'many', expected a whole number (how large)"),
        ({"size": "2.5"}, "setting size is '2.5', expected a whole number (how large)"),
        ({"size": True}, "setting size is True, expected a whole number (how large)"),
        ({"size": float("inf")}, "setting size is inf, expected a whole number (how large)"),
        ({"size": 10**400}, "expected at most 9"),
        ({"rate": 0}, "setting rate is 0.0, expected above 0 (how fast)"),
        ({"rate": 1.1}, "setting rate is 1.1, expected at most 1 (how fast)"),
        ({"rate": "nan"}, "setting rate is nan, expected a finite number (how fast)"),
        ({"rate": None}, "setting rate is None, expected a number (how fast)"),
        ({"rate": False}, "setting rate is False, expected a number (how fast)"),
        ({"loud": "maybe"}, "setting loud is 'maybe', expected yes or no (whether it is heard)"),
        ({"loud": 1}, "setting loud is 1, expected yes or no (whether it is heard)"),
        ({"kind": "warm"}, "setting kind is 'warm', expected one of hot, cold (which of two)"),
        ({"file": 3}, "setting file is 3, expected a text (any text)"),
        ({"sise": 3}, "setting 'sise' is not one of this method; did you mean 'size'?"),
        ({"zzz": 3}, "setting 'zzz' is not one of this method; choose from size, rate, loud, kind, file"),
    ],
)
def test_a_mistake_is_one_sentence(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError) as mistake:
        Some.of(values)
    assert said in str(mistake.value)
    assert "\n" not in str(mistake.value)


def test_without_settings_there_is_nothing_to_set() -> None:
    assert Settings().values() == {}
    with pytest.raises(ValueError, match="setting 'size' is not one of this method; choose from none at all"):
        Settings.of({"size": 1})


def test_annotations_may_be_types() -> None:
    # as in a module without `from __future__ import annotations`
    plain = dataclasses.make_dataclass(
        "Plain", [("size", int, setting(3, "how large", least=1))], bases=(Settings,), frozen=True, kw_only=True
    )
    assert plain(size=np.int32(4)).size == 4  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="setting size is 0, expected at least 1"):
        plain(size=0)  # type: ignore[call-arg]


@dataclass(frozen=True, kw_only=True)
class Bound(Settings):
    batch: int = setting(0, "how many", least=0)
    kind: str = setting("hot", "which", choices=("hot", "cold", "wet"))
    loud: bool = setting(False, "whether it is heard")
    often: int = setting(3, "how often", only="batch")
    far: int = setting(3, "how far", only="kind=hot|wet, loud")
    near: int = setting(3, "how near", only="batch or kind!=hot")
    gone: int = setting(3, "of old", only=NEVER)
    told: int = setting(3, "of pairs", only="corpus=Pairs|Groups")


@pytest.mark.parametrize(
    ("values", "given", "said"),
    [
        ({}, ("often",), "setting often is 3, but changes nothing here: it counts only with batch above 0; leave it"),
        ({"batch": 2}, ("often",), ""),
        ({"kind": "cold"}, ("far",), "only with kind=hot or wet and loud=yes;"),
        ({"loud": True, "kind": "cold"}, ("far",), "only with kind=hot or wet;"),
        ({"loud": True}, ("far",), ""),
        ({}, ("near",), "only with batch above 0, or with kind other than hot;"),
        ({"kind": "wet"}, ("near",), ""),
        ({"batch": 1}, ("near",), ""),
        ({}, ("gone",), "it counts in other methods only;"),
        ({}, ("kind", "told"), "only with pairs or groups;"),
        ({}, (), ""),
    ],
)
def test_a_setting_that_changes_nothing_is_refused(values: dict[str, Any], given: tuple[str, ...], said: str) -> None:
    made = Bound(**values)
    if not said:
        made.check_used(given, {"corpus": "Labelled"})
        return
    with pytest.raises(ValueError, match="changes nothing here") as caught:
        made.check_used(given, {"corpus": "Labelled"})
    assert said in str(caught.value)


def test_of_a_corpus_that_is_not_known_yet_nothing_is_said() -> None:
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
    "most": 40,
    "least": 17,
}
TEXTS = {"vectors": "random", "base": "sif", "share": "0.1", "prefixes": "2,3"}
#: of the machine, of files, or of a dev split
ELSEWHERE = {"device", "half", "expansion", "model", "patience", "rule", "file", "shortest"}
#: method, its corpus, its settings
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("sentpwnet", "Pairs", {}),
    ("sentpwnet", "Pairs", {"tune": False}),
    ("siamese", "Labelled", {"miner": "random"}),
    ("triplet", "Triplets", {}),
    ("triplet", "Triplets", {"loss": "infonce", "miner": "none"}),
    ("sentpwnet", "Labelled", {"loss": "infonce", "temperature": 0.1}),
    ("sentpwnet", "Pairs", {"loss": "simcse", "learn_temperature": True}),
    ("siamese", "Labelled", {"loss": "cosent"}),
    ("siamese", "Groups", {"loss": "logistic"}),
    ("siamese", "Pairs", {"loss": "margin-triplet"}),
    ("siamese", "Triplets", {"loss": "supcon"}),
    ("bag", "Pairs", {}),
    ("bag", "Labelled", {"unit": "words"}),
    ("sentpwnet", "Pairs", {"encoder": "transformer", "layers": 0}),
    ("triplet", "Labelled", {"encoder": "transformer", "layers": 1}),
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


@pytest.mark.whole
@pytest.mark.parametrize(("name", "shape", "given"), CASES)
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


def test_what_was_added_later_is_no_part_of_a_key_where_it_is_what_earlier_figures_stand_for() -> None:
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
        ("rate", "0.09..0.9", Dial(0.09, 0.9, log=True)),  # ten times
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
    ("name", "text", "why"),
    [
        ("rate", "0.9..0.1", "expected two numbers, the smaller one first"),
        ("rate", "0.5..0.5", "expected two numbers, the smaller one first"),
        ("rate", "0.5", "or different values"),
        ("rate", "0.5|0.50", "or different values"),
        ("rate", "0..0.5", "setting rate is 0.0, expected above 0"),
        ("rate", "0.5..2", "setting rate is 2.0, expected at most 1"),
        ("rate", "low..high", "setting rate is 'low', expected a number"),
        ("rate", "..1", "setting rate is '', expected a number"),
        ("rate", "0.1..inf", "setting rate is inf, expected a finite number"),
        ("size", "1..2.5", "setting size is '2.5', expected a whole number"),
        ("kind", "hot|warm", "setting kind is 'warm', expected one of hot, cold"),
        ("file", "a..b", "expected two numbers"),
        ("loud", "no..yes", "expected two numbers"),
        ("loud", "", "setting loud is '', expected yes or no"),
    ],
)
def test_nonsense_on_a_dial_is_said(name: str, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"what to try is {name}={text!r}") + ".*" + re.escape(why)):
        dial(name, text)


def test_what_lies_on_a_dial_and_how_it_is_written() -> None:
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
    one: int = setting(1, "the first", least=0, dial="1..5")
    other: float = setting(1.0, "beside the first", only="one", dial="0.1..10")
    third: float = setting(1.0, "on pairs", only="corpus=Pairs", dial="0.1..10")
    last: float = setting(1.0, "never tried")


def test_the_space_is_what_counts_beside_the_others() -> None:
    assert list(Turned().space()) == ["one", "other", "third"]
    assert list(Turned(one=0).space({"corpus": "Pairs", "dev": "yes"})) == ["one", "third"]
    assert list(Turned().space({"corpus": "Groups", "dev": "yes"})) == ["one", "other"]
    assert Turned().space()["other"] == Dial(0.1, 10.0, log=True)


@pytest.mark.parametrize("name", METHODS)
def test_the_dials_of_a_method_are_few_and_of_sense(name: str) -> None:
    space = METHODS[name].method.Settings().space()
    assert len(space) <= 6
    for key, turned in space.items():
        for end in turned.choices or (turned.low, turned.high):
            METHODS[name](**{key: end})
