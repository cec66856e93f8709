"""What to train: a preset that fits the data, or any method with its settings.

Settings are offered within limits that make sense on a shared machine; their classes allow more. A setting that names a
file or a model is a choice of known words, so that no visitor can make this machine open a path.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import cached
import frame
import streamlit as st
from trainings import BENCH, MINUTES, Job

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
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    shapes: tuple[str, ...] = TAUGHT
    needs: str = ""  # a required package
    about: str = ""  # if the summary of the method does not describe it


PRESETS = (
    Preset("Neighbours decide (SentPWNet)", "sentpwnet", QUICK),
    Preset("Pull and push (contrastive)", "siamese", QUICK | {"margin": 0.5}),
    Preset("Word pieces", "bag"),
    Preset("A readable metric (FILM)", "film", {"dimension": 30}, ("Labelled", "Pairs", "Groups")),
    Preset("From a large model", "static", needs="sentence_transformers"),
    Preset(
        "Write a paraphrase (P-thought)",
        "pthought",
        {"hidden": 24, "decoder_hidden": 48, "dimension": 32, "batch": 32, "epochs": 6, "learning_rate": 0.02},
        ("Groups",),
    ),
    Preset(
        "Sections of articles (Thematic)",
        "thematic",
        {"size": 24, "dimension": 32, "epochs": 5, "min_count": 4, "learning_rate": 0.004},
        ("Articles",),
    ),
    Preset(
        "The same sentence twice (SimCSE)",
        "sentpwnet",
        QUICK | {"loss": "simcse", "miner": "none"},
        ("Sentences",),
        about="keeps two encodings of a sentence, with different dropout, close together; needs no labels",
    ),
    Preset(
        "Keep the neighbours (SBERT-LP)",
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
    "batch": "Batch size",
    "beta": "Scale of negatives (β)",
    "components": "Directions to remove",
    "decoder_hidden": "Decoder size",
    "dimension": "Dimensions",
    "embedded": "Sentences embedded together",
    "emphasis": "Emphasis on the paraphrase (λ)",
    "epsilon": "Slack of the miner (ε)",
    "expansion": "Extra words from the vector file",
    "feed": "Decoder reads the vector at every word",
    "hidden": "Encoder size",
    "in_batch": "Negatives from the whole batch",
    "labelled": "Labelled pairs only",
    "layer_rate": "Learning rate of the model's layers",
    "layers": "Layers to fine-tune",
    "matryoshka_dims": "Matryoshka dimensions",
    "max_grad_norm": "Gradient clipping",
    "max_length": "Maximum sentence length",
    "max_ngram": "Maximum n-gram length",
    "min_count": "Rarest word kept",
    "min_ngram": "Minimum n-gram length",
    "near": "Negatives from neighbours",
    "neighbours": "Neighbours (k)",
    "noise": "Noise words (k)",
    "pace": "Relative learning rate of word vectors",
    "partners": "Paraphrases per epoch",
    "patience": "Early stopping after",
    "per_class": "Sentences per class in a batch",
    "pieces": "Word pieces from",
    "positives": "Positives per anchor",
    "random": "Random negatives",
    "reg": "Regularisation",
    "size": "Embedding size",
    "sparse": "Sparse updates of word vectors",
    "symmetric": "Both directions",
    "tune": "Train the word vectors",
    "unit": "Sentences as",
    "vocab_size": "Vocabulary size",
    "word_pairs": "Pairs of words",
}
MORE_SETTINGS = "`labkit train` has more options, such as word vectors from a file, other bases and more epochs."


def presets_for(shape: str) -> list[Preset]:
    """The presets for data of this shape that this installation can train."""
    return [each for each in PRESETS if shape in each.shapes and (not each.needs or find_spec(each.needs))]


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
    st.caption(f"**{method}**: {(preset and preset.about) or SUMMARIES[method]}")
    fields = {entry.name: entry for entry in dataclasses.fields(METHODS[method].Settings)}
    start = {name: entry.default for name, entry in fields.items()} | (dict(preset.settings) if preset else {})
    key = f"preset.{method}." if preset else f"{method}."
    with place.expander("All settings", expanded=preset is None, icon=":material/tune:"):
        values, columns = {}, st.columns(2)
        for number, name in enumerate(read_settings(method, start, key, opened)):
            with columns[number % 2]:
                values[name] = control(fields[name], start[name], f"{key}{name}")
        about = "The same seed gives the same result."
        seed = st.number_input("Seed", 0, 9999, 0, key="seed", help=about, **frame.KEEP)
        st.caption(MORE_SETTINGS)
    changed = {name: value for name, value in values.items() if value != fields[name].default}
    return Job(method, opened.in_code, int(seed), changed, opened.own)


def read_settings(method: str, start: Mapping[str, Any], key: str, opened: cached.Opened) -> list[str]:
    """The settings that have an effect on this corpus, given the current choices of all others."""
    from labkit.methods import METHODS

    now = {name: st.session_state.get(key + name, st.query_params.get(key + name, start[name])) for name in start}
    try:
        settings = METHODS[method].Settings.of(now)
    except ValueError:  # these settings conflict: the Train button says why
        return list(start)
    unused = settings.unused(type(opened.corpus).__name__, "dev" in opened.corpus.sizes)
    return [name for name in start if name not in unused]


# --- one setting -------------------------------------------------------------------------------------------------

WORDS: Mapping[str, Sequence[str]] = {  # free-text setting -> the words offered for it
    "vectors": ("auto", "ppmi", "random"),
    "base": ("mean-vectors", "sif", "lsa"),
    "share": ("dev", "0", "0.25", "0.5", "0.75", "1"),
}
FACTOR = 10  # a number may be ten times its default ...
ROOM = {int: 100, float: 1.0}  # ... and at least this


def options_of(entry: dataclasses.Field[Any]) -> tuple[str, ...]:
    """The words offered for a setting of text."""
    known, what = WORDS.get(entry.name, ()), entry.metadata.get("what", "")
    words = known if entry.name in ("base", "share") else [word for word in known if word in what]
    return tuple(entry.metadata.get("choices") or dict.fromkeys((entry.default, *words)))


def limits_of(entry: dataclasses.Field[Any]) -> tuple[float, float, float]:
    """The minimum, maximum and step of a setting that is a number."""
    default, kind = entry.default, type(entry.default)
    minimum, above, maximum = (entry.metadata.get(name) for name in ("minimum", "above", "maximum"))
    size = max(ROOM[kind], FACTOR * abs(default))
    if minimum is None:
        minimum = -size if above is None else above + (1 if kind is int else abs(default) / 1000 or 1e-6)
    step = 1 if kind is int else 10.0 ** (math.floor(math.log10(abs(default))) - 1) if default else 0.1
    return kind(minimum), kind(size if maximum is None else min(size, maximum)), kind(step)


def control(entry: dataclasses.Field[Any], default: Any, key: str) -> Any:
    """The control that fits the kind of setting; its help has the technical name and the meaning."""
    name, kind = NAMES.get(entry.name) or entry.name.replace("_", " ").capitalize(), type(entry.default)
    if entry.name == "base":
        name = "Reference similarity (λ)" if kind is float else "Vectors to start from"
    shown: dict[str, Any] = {"key": key, "help": f"`{entry.name}`: {entry.metadata.get('what', '')}", **frame.KEEP}
    if kind is bool:
        return st.checkbox(name, default, **shown)
    if kind is str:
        options = options_of(entry)
        return st.selectbox(name, options, options.index(default), **shown)
    minimum, maximum, step = limits_of(entry)
    form = "%d" if kind is int else "%g"
    return st.number_input(name, minimum, maximum, kind(default), step, format=form, **shown)
