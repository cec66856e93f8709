"""What to train: a preset that fits the data, or any method with its settings.

Settings are offered within limits that make sense on a shared machine; their classes allow more. A setting that names a
file or a model is a choice of known words, so that no visitor can make this machine open a path.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import cached
import frame
import streamlit as st
from trainings import BENCH, MINUTES, Job

from labkit.settings import Settings

TAUGHT = ("Labelled", "Pairs", "Triplets", "Groups")  # shapes that say what belongs together
QUICK = {"encoder": "mean", "size": 24, "dimension": 24, "epochs": 6}
OTHER, ALL = "Another method", "Compare all methods"
USUAL = 20  # minutes of a comparison
ABOUT_ALL = (
    "The comparison checks the data, gives each method the same number of trials on dev, and scores the test split "
    f"once with several seeds. Allow {USUAL} minutes to reach a decision; with less time, slow methods are left out."
)


@dataclass(frozen=True)
class Preset:
    """A combination that is known to work: a method with settings, for data of some shapes."""

    name: str
    about: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    shapes: tuple[str, ...] = TAUGHT
    needs: str = ""  # a required package


PRESETS = (
    Preset(
        "Neighbours decide (SentPWNet)",
        "This is a small network. The weight of a pair depends on its own similarity and on the anchor's other pairs.",
        "sentpwnet",
        QUICK,
    ),
    Preset(
        "Pull and push (contrastive)",
        "The same network with the simplest loss, which pulls positives together and pushes negatives apart.",
        "siamese",
        QUICK | {"margin": 0.5},
    ),
    Preset("Word pieces", "The mean of word-piece vectors: the simplest model that learns.", "bag"),
    Preset(
        "A readable metric (FILM)",
        "This is not a network but a linear map of words, with rows that you can read.",
        "film",
        {"dimension": 30},
        ("Labelled", "Pairs", "Groups"),
    ),
    Preset(
        "From a large model",
        "The word pieces start from the vectors of a large model. This takes half a minute.",
        "static",
        needs="sentence_transformers",
    ),
    Preset(
        "Write a paraphrase (P-thought)",
        "Two small decoders reproduce the sentence and a paraphrase.",
        "pthought",
        {"hidden": 24, "decoder_hidden": 48, "dimension": 32, "batch": 32, "epochs": 6, "learning_rate": 0.02},
        ("Groups",),
    ),
    Preset(
        "Sections of articles (Thematic)",
        "This method brings sentences of the same section closer together than sentences of different sections.",
        "thematic",
        {"size": 24, "dimension": 32, "epochs": 5, "min_count": 4, "learning_rate": 0.004},
        ("Articles",),
    ),
    Preset(
        "The same sentence twice (SimCSE)",
        "This loss needs no labels. It keeps two encodings of a sentence, with different dropout, close together.",
        "sentpwnet",
        QUICK | {"loss": "simcse", "miner": "none"},
        ("Sentences",),
    ),
    Preset(
        "Keep the neighbours (SBERT-LP)",
        "This method needs no labels. It reduces the number of dimensions and keeps each sentence's neighbours.",
        "sbert-lp",
        {"base": "sif", "dimension": 24, "neighbours": 10},
        ("Labelled", "Sentences"),
    ),
)
NAMES = {  # setting -> its display name; all others use their own name, with spaces
    "a": "Weight of rare words (a)",
    "alpha": "Scale of positives (α)",
    "amp": "Mixed precision",
    "apart": "Labelled negatives per anchor",
    "beta": "Scale of negatives (β)",
    "feed": "Decoder reads the vector at every word",
    "near": "Negatives from neighbours",
    "pace": "Relative learning rate of word vectors",
    "pieces": "Word pieces from",
    "reg": "Regularisation",
    "tune": "Train the word vectors",
    "unit": "Sentences as",
}
MORE_SETTINGS = "`labkit train` has more options, such as word vectors from a file, other bases and more epochs."


def presets_for(shape: str) -> list[Preset]:
    """The presets for data of this shape that this installation can train."""
    return [each for each in PRESETS if shape in each.shapes and (not each.needs or find_spec(each.needs))]


def choose(method: str, opened: cached.Opened) -> None:
    """Choose the preset with this method, or the method itself."""
    fitting = [each.name for each in presets_for(type(opened.corpus).__name__) if each.method == method]
    st.session_state["preset"] = ALL if method == BENCH else next(iter(fitting), OTHER)
    if method != BENCH:
        st.session_state["method"] = method


def job_of(opened: cached.Opened, place: Any) -> Job:
    """The chosen method with its settings, drawn in a place, without those at their defaults; or a comparison."""
    from labkit.methods import METHODS, SUMMARIES

    offered = {each.name: each for each in presets_for(type(opened.corpus).__name__)}
    name = st.radio("What to train", [*offered, OTHER, ALL], key="preset", **frame.KEEP)
    if name == ALL:
        st.caption(ABOUT_ALL)
        minutes = st.number_input("Minutes", *MINUTES, USUAL, key="minutes", **frame.KEEP)
        return Job(BENCH, opened.in_code, settings={"minutes": minutes}, own=opened.own)
    preset = offered.get(name)
    method = preset.method if preset else st.selectbox("Method", list(METHODS), key="method", **frame.KEEP)
    st.caption(f"**{method}**: {preset.about if preset else SUMMARIES[method]}")
    own = preset.settings if preset else {}
    every = choices(METHODS[method].Settings)
    start = [replace(choice, default=own.get(choice.name, choice.default)) for choice in every]
    key = f"preset.{method}." if preset else f"{method}."
    with place.expander("All settings", expanded=preset is None, icon=":material/tune:"):
        values, columns = {}, st.columns(2)
        for number, choice in enumerate(read_settings(method, start, key, opened)):
            with columns[number % 2]:
                values[choice.name] = control(choice, f"{key}{choice.name}")
        about = "The same seed gives the same result."
        seed = st.number_input("Seed", 0, 9999, 0, key="seed", help=about, **frame.KEEP)
        st.caption(MORE_SETTINGS)
    changed = {each.name: values[each.name] for each in every if values.get(each.name, each.default) != each.default}
    return Job(method, opened.in_code, int(seed), changed, opened.own, opened.corpus.sizes.get("test", 0))


def read_settings(method: str, offered: Sequence[Choice], key: str, opened: cached.Opened) -> Sequence[Choice]:
    """The settings that have an effect on this corpus, given the current choices of all others."""
    from labkit.methods import METHODS

    values = {}
    for choice in offered:
        name = f"{key}{choice.name}"
        values[choice.name] = st.session_state.get(name, st.query_params.get(name, choice.default))
    try:
        settings = METHODS[method].Settings.of(values)
    except ValueError:  # these settings conflict: the Train button says why
        return offered
    unused = settings.unused(type(opened.corpus).__name__, "dev" in opened.corpus.sizes)
    return [choice for choice in offered if choice.name not in unused]


# --- one setting -------------------------------------------------------------------------------------------------

WORDS: Mapping[str, Sequence[str]] = {  # free-text setting -> the words offered for it
    "vectors": ("auto", "ppmi", "random"),
    "base": ("mean-vectors", "sif", "lsa"),
    "share": ("dev", "0", "0.25", "0.5", "0.75", "1"),
}
FACTOR = 10  # a number may be ten times its default ...
ROOM = {int: 100, float: 1.0}  # ... and at least this


@dataclass(frozen=True)
class Choice:
    """One setting: `options` of a choice of words; `minimum`, `maximum` and `step` of a number."""

    name: str
    kind: type
    default: Any
    help: str
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    step: float = 1


def choices(settings: type[Settings]) -> tuple[Choice, ...]:
    """A choice for each field, in their order."""
    return tuple(_choice(field) for field in dataclasses.fields(settings))


def _choice(field: dataclasses.Field[Any]) -> Choice:
    limits, default = field.metadata, field.default
    kind, what = type(default), limits.get("what", "")
    if kind in (bool, str):
        known = WORDS.get(field.name, ())
        words = known if field.name in ("base", "share") else [word for word in known if word in what]
        options = limits.get("choices") or dict.fromkeys((default, *words)) if kind is str else ()
        return Choice(field.name, kind, default, what, tuple(options))
    size = max(ROOM[kind], FACTOR * abs(default))
    minimum, above = limits.get("minimum"), limits.get("above")
    if minimum is None:
        minimum = -size if above is None else above + (1 if kind is int else abs(default) / 1000 or 1e-6)
    maximum = size if limits.get("maximum") is None else min(size, limits["maximum"])
    step = 1 if kind is int else 10.0 ** (math.floor(math.log10(abs(default))) - 1) if default else 0.1
    return Choice(field.name, kind, default, what, minimum=kind(minimum), maximum=kind(maximum), step=step)


def control(choice: Choice, key: str) -> Any:
    """The control that fits the kind of setting; its help has the technical name and the meaning."""
    name = NAMES.get(choice.name) or choice.name.replace("_", " ").capitalize()
    if choice.name == "base":
        name = "Reference similarity (λ)" if choice.kind is float else "Vectors to start from"
    shown: dict[str, Any] = {"key": key, "help": f"`{choice.name}`: {choice.help}", **frame.KEEP}
    if choice.kind is bool:
        return st.checkbox(name, choice.default, **shown)
    if choice.kind is str:
        return st.selectbox(name, choice.options, choice.options.index(choice.default), **shown)
    form = "%d" if choice.kind is int else "%g"
    numbers = [choice.kind(value) for value in (choice.minimum, choice.maximum, choice.default, choice.step)]
    return st.number_input(name, *numbers, format=form, **shown)
