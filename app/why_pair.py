"""Panel of the Why page: the weight that a loss gives every pair of a batch, and the reason for one pair's weight."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import cached
import choosing
import frame
import numpy as np
import streamlit as st

from labkit import figures
from labkit.corpora.records import SPLITS
from labkit.figures.pairs import VANISHED, percent
from labkit.pairs.losses import ALIASES, LOSSES
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import (
    OF_PAIRS,
    PAPER,
    Examined,
    SentenceBatch,
    anchor_curves,
    batch_rows,
    examine,
    main_setting,
    pair_rows,
    reason,
    weight_in_latex,
    weights_over,
)

TABLE = {  # field of a PairRow -> head of its column
    "number": "no.",
    "text": "sentence",
    "group": "class",
    "similarity": "similarity",
    "kind": "kind",
    "why": "kept or dropped",
    "weight": "weight",
    "own": "own part",
    "relative": "relative part",
    "sum": "weight =",
}
NAMES = {name: LOSSES[name].title for name in OF_PAIRS}
MINERS = {"informative": "informative (ε)", "hardest": "hardest of each kind", "none": "every pair"}
OPENING = PairSettings(alpha=2.0, beta=10.0, base=0.5, epsilon=0.1)  # with β 50, most negatives have no visible weight
RANGES = {  # of the sliders
    "alpha": (0.5, 20.0),
    "beta": (1.0, 100.0),
    "lambda": (-1.0, 1.0),
    "tau": (0.01, 1.0),
    "epsilon": (0.0, 2.0),
}
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 70.0, 100.0)  # of β
LINKED = st.components.v2.component("labkit_linked", js=(Path(__file__).parent / "why_linked.js").read_text("utf-8"))
PINNED = "pinned"  # in the address: the settings that the visitor pinned
SIGNS = {"alpha": "α", "beta": "β", "base": "λ", "temperature": "τ", "epsilon": "ε", "margin": "λ"}
RANGE_OF = {"base": "lambda", "margin": "lambda", "temperature": "tau"}  # setting -> its slider, if it has another name
STARTS = {"loss": "Use defaults", "run": "Use the run's values"}  # of the sliders
HELP = {  # of the sliders
    "alpha": "Positives are sentences of a's class. With a larger α, the least similar ones get more of the weight.",
    "beta": "Negatives are sentences of other classes. With a larger β, only the most similar ones have weight, "
    "and later only those more similar than λ: a pair's weight can rise and then fall.",
    "epsilon": "The miner keeps positives and negatives that are in the wrong order, or right by less than ε.",
    "lambda": "The similarity that separates positives from negatives.",
}
POINTS = 41  # of the curve of a pair's weight
USED = ("loss", "miner", "alpha", "beta", "base", "temperature", "epsilon")  # settings that the shown code uses
IN_ORDER = (
    "In this batch, all positives are closer than all negatives by more than ε, so the miner keeps no pairs. Choose "
    "another batch or split, a smaller ε, or every pair."
)


# --- settings ----------------------------------------------------------------------------------------------------


def sliders_at(values: Mapping[str, float]) -> dict[str, float]:
    """Where sliders show these settings; one outside the range of its slider is moved to the nearest end."""
    places = {RANGE_OF.get(name, name): float(value) for name, value in values.items()}
    return {key: min(max(places[key], least), most) for key, (least, most) in RANGES.items() if key in places}


def start_buttons(loss: str, trained: PairSettings | None) -> None:
    """Buttons that set the sliders: to the defaults of the loss, and to the values that the run was trained with."""
    defaults = inspect.signature(LOSSES[loss].function).parameters
    starts: dict[str, Any] = {"loss": sliders_at({name: defaults[name].default for name in {*SIGNS} & {*defaults}})}
    if trained:
        own = ALIASES.get(trained.loss, trained.loss)
        names = {*SIGNS} & {*LOSSES[own].hyperparameters, "epsilon"}
        starts["run"] = sliders_at({name: getattr(trained, name) for name in names})
        starts["run"] |= {"loss": own} if own in OF_PAIRS else {}
        starts["run"] |= {"miner": trained.miner} if trained.miner in MINERS else {}
    for key, values in starts.items():
        st.button(STARTS[key], f"start-{key}", on_click=st.session_state.update, args=(values,), type="tertiary")


def settings_of_loss() -> PairSettings:
    """Loss, miner and their numbers."""
    keep = frame.KEEP
    loss = st.selectbox("Loss", OF_PAIRS, format_func=NAMES.__getitem__, key="loss", **keep)
    miner = st.selectbox("Pairs used by the loss", list(MINERS), format_func=MINERS.__getitem__, key="miner", **keep)
    used, (left, right) = LOSSES[loss].hyperparameters, st.columns(2)

    def slider(place: Any, key: str, label: str, start: float, step: float, on: bool) -> float:
        shown: Any = {"key": key, "help": HELP.get(key), **keep}
        return float(place.slider(label, *RANGES[key], start, step, **shown)) if on else start

    alpha = slider(left, "alpha", "α, far positives", 2.0, 0.5, "alpha" in used)
    with right:
        beta = scale_of_negatives() if "alpha" in used else OPENING.beta
    name = "margin of a triplet" if loss == "margin-triplet" else "λ, threshold"
    base = slider(left, "lambda", name, 0.5, 0.05, bool({"base", "margin"} & {*used}))
    tau = slider(left, "tau", "τ, temperature", 1.0, 0.01, "temperature" in used)
    epsilon = slider(right, "epsilon", "ε, slack of the miner", 0.1, 0.05, miner == "informative")
    return PairSettings(
        loss=loss, miner=miner, alpha=alpha, beta=beta, base=base, margin=base, temperature=tau, epsilon=epsilon
    )


def scale_of_negatives() -> float:
    """β on a slider with steps that grow; a number between its steps, as in a link, becomes a step."""
    least, most = RANGES["beta"]
    held = str(st.session_state.get("beta", st.query_params.get("beta", "")))
    own = {float(held)} if re.fullmatch(r"\d{1,3}(\.\d{1,9})?", held) and least <= float(held) <= most else set()
    others: set[float] = st.session_state.setdefault("betas", set())  # which stay, or the slider would start again
    others |= own
    steps = sorted({*STEPS, *others})
    shown: Any = {"key": "beta", "help": HELP["beta"], **frame.KEEP}
    return float(st.select_slider("β, near negatives", steps, OPENING.beta, "{:g}".format, **shown))


def batch_of(opened: cached.Opened) -> tuple[SentenceBatch, dict[str, Any]]:
    """The batch, and the settings that reproduce it."""
    keep = frame.KEEP
    with frame.choices():
        st.markdown("**The batch**")
        size = st.slider("Approximate number of sentences", 8, 128, 32, 8, key="size", **keep)
        per_class = st.slider("Sentences per class", 2, 16, 4, key="per_class", **keep)
        seed = st.number_input("Seed", 0, 9999, 0, key="seed", help="Another seed draws another batch.", **keep)
        splits = [split for split in SPLITS if split in opened.corpus.splits]
        if not opened.own:  # first a split that no bundled run was trained on: there it still makes mistakes
            splits.reverse()
        split = splits[0] if len(splits) == 1 else st.selectbox("Split", splits, key="split", **keep)
    how = {"size": size, "per_class": per_class, "seed": seed, "split": split}
    return cached.batch_of_split(opened, **how), how


def hardest_negative(batch: SentenceBatch, similarity: np.ndarray) -> tuple[int, int]:
    """The initial pair: the negative with the largest weight or, without negatives, the heaviest pair."""
    weight = examine(batch, similarity, OPENING).weight
    negative = np.where(batch.negative, weight, 0)
    weight = negative if negative.any() else weight
    anchor, other = np.unravel_index(int(weight.argmax()), weight.shape)
    return (int(anchor), int(other)) if anchor != other else (0, 1)


def heaviest(examined: Examined, anchor: int, before: np.ndarray | None) -> float:
    """The end of the weight axis: above the anchor's weights with these settings, the initial and the pinned ones.

    It moves in steps of 1, 2 and 5, so most moves of a slider do not change it and their effect is visible.
    """
    first = examine(examined.batch, examined.similarity, replace(OPENING, loss=examined.settings.loss))
    rows = examined.weight[anchor], first.weight[anchor], *([] if before is None else [before])
    most = max(float(row.max()) for row in rows) or 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 5, 10, 20) if step * power >= 1.1 * most)


def pin(settings: PairSettings | None) -> None:
    """Put these settings into the address, so that a link compares with them, too; None: with nothing."""
    if settings is None:
        st.query_params.pop(PINNED)
    else:
        st.query_params[PINNED] = ",".join(str(getattr(settings, name)) for name in USED)


def pinned_settings() -> PairSettings | None:
    """The settings pinned in the address; None if there are none, or if the sliders could not be set to them."""
    with suppress(ValueError):
        loss, miner, *numbers = st.query_params.get(PINNED, "").split(",")
        values = dict(zip(USED[2:], map(float, numbers), strict=True))
        reached = sliders_at(values) == {RANGE_OF.get(name, name): value for name, value in values.items()}
        if loss in OF_PAIRS and miner in MINERS and reached:
            return PairSettings(loss=loss, miner=miner, margin=values["base"], **values)
    return None


def told(pinned: PairSettings, settings: PairSettings) -> str:
    """The pinned settings that differ from these, such as β 10."""
    names = ["loss", "miner", *SIGNS]
    changed = [name for name in names if getattr(pinned, name) != getattr(settings, name)]
    words = {"loss": NAMES[pinned.loss], "miner": MINERS[pinned.miner]}
    signs = {SIGNS[name]: getattr(pinned, name) for name in changed if name in SIGNS}
    return ", ".join([*(words[name] for name in changed if name in words), *(f"{s} {v:g}" for s, v in signs.items())])


# --- the views ---------------------------------------------------------------------------------------------------


def show_clickable(picture: Any, key: str, alt: str, rows: frame.Rows, **place: Any) -> None:
    """A picture that reports the rows of a clicked mark; the click does not change how the mark looks."""

    def clicked() -> None:
        points = st.session_state[key].selection.points
        rows = points[0].get("customdata") if points else None
        choose_pair([int(row) for row in (rows or [])[:2] if isinstance(row, int | float)])

    picture.update_traces(selectedpoints=None, unselected={"marker": {"opacity": 1}}, selector={"type": "bar"})
    picture.update_traces(unselected={"marker": {"opacity": 0}}, selector={"opacity": None, "mode": "markers"})
    frame.picture(picture, key=key, alt=alt, rows=rows, on_select=clicked, selection_mode="points", **place)


def choose_pair(rows: list[int]) -> None:
    """Handle a click: the sentence of a bar becomes the other one, and the row of a cell also becomes the anchor."""
    if len({*rows}) == len(rows):
        st.session_state.update(zip(("anchor-choice", "other-choice")[-len(rows) :], rows, strict=False))


def show_anchor(
    examined: Examined, anchor: int, other: int, top: float, before: np.ndarray | None, code: partial[None]
) -> None:
    """The anchor's row as bars; a click on a bar selects its pair."""
    rows = [asdict(row) for row in pair_rows(examined, anchor)]
    alt = f"Bars: similarity and weight of anchor {anchor} with each other sentence, the most similar first."
    picture = figures.anchor_bars(examined, anchor, other=other, heaviest=top, before=before)
    above = st.container(key="high-pair")
    with st.container(horizontal=True):
        save = frame.save_button("Save", "anchor_bars")
        with above:
            show_clickable(picture, "anchor_bars", alt, lambda: rows, height="stretch", save=save)
        code(figure="anchor_bars", arguments=f"examined, {anchor}, other={other}, heaviest={top:.4g}")


def verdict(examined: Examined, anchor: int, other: int) -> str:
    """How much of the anchor's weight the pair has, and what the loss does with it."""
    rows = [row for row in pair_rows(examined, anchor) if row.kept]
    whole = sum(row.weight for row in rows) or 1.0
    row = next((row for row in rows if row.number == other), None)
    if row is None:
        return "This pair has no weight. Reason: " + reason(examined, anchor, other).removeprefix("dropped: ") + "."
    moves = "pulls a and b together, because they share a class"
    if row.kind == "negative":
        moves = "pushes a and b apart, because their classes differ"
    share = percent(row.weight / whole).capitalize()
    said = f"{share} of the pull and push on a comes from this pair (weight {row.weight:.3g}). The loss {moves}."
    negatives = [each for each in rows if each.kind == "negative"]
    if sum(each.weight for each in negatives) >= VANISHED * whole or not negatives:
        return said
    ignored = ""
    if examined.settings.loss == "locality" and all(each.similarity < examined.settings.base for each in negatives):
        ignored = ": all are less similar than λ, and the larger β is, the less such pairs count"
    return f"{said} No negative has a visible weight{ignored}."


def nearest_positive(batch: SentenceBatch, similarity: np.ndarray, anchor: int) -> str | None:
    """The most similar sentence of the anchor's class, if there is one."""
    similar = np.where(batch.positive[anchor], similarity[anchor], -np.inf)
    return batch.texts[int(similar.argmax())] if batch.positive[anchor].any() else None


def show(
    opened: cached.Opened,
    chosen: choosing.Space,
    batch: SentenceBatch,
    how: dict[str, Any],
    pair: tuple[int, int],
    said: Any,
) -> None:
    """The panel: a picture next to the sliders; closed below it, the formula with its numbers, and the whole batch.
    `said` is the place of the verdict."""
    anchor, other = pair
    trained = chosen.method.settings
    left, right = st.columns([2, 1])
    right = right.container(gap="xsmall", key="of-loss")
    with right:
        settings = settings_of_loss()
    similarity = cached.batch_similarities(chosen, batch.texts)
    examined = examine(batch, similarity, settings)
    pinned = pinned_settings()
    lines = {name: getattr(settings, name) for name in USED}
    code = partial(choosing.show_code, CODE, chosen, opened, **how, **lines)
    with left:
        before, was = None, ""
        if pinned and pinned != settings:
            before = examine(batch, similarity, pinned).weight[anchor]
            was = f" Pinned ({told(pinned, settings)}): {percent(before[other] / (before.sum() or 1))}."
        said.markdown(f"**{verdict(examined, anchor, other)}**{was}")
        show_anchor(examined, anchor, other, heaviest(examined, anchor, before), before, code)
        if anchor == other:
            st.info("An anchor cannot be paired with itself. Choose another sentence.")
        else:
            show_formula(examined, anchor, other)
    with right:
        with st.container(horizontal=True):
            start_buttons(settings.loss, trained if isinstance(trained, PairSettings) else None)
            says, pins = ("Unpin", None) if pinned else ("Pin to compare", settings)
            st.button(says, key="pin", type="tertiary", icon=":material/keep:", on_click=pin, args=(pins,))
        if examined.batch.kind(anchor, other) in ("positive", "negative"):
            show_curve(examined, anchor, other, pinned)
    with st.expander("The whole batch"):
        show_matrix(examined, anchor, how["split"], code)
    with st.expander("The weight that each loss gives"):
        show_losses(examined, anchor, code)
    LINKED(key="linked", data={"anchor": anchor})


def show_formula(examined: Examined, anchor: int, other: int) -> None:
    """The formula of the weight with its numbers, and how it came about."""
    formulas = weight_in_latex(examined, anchor, other)
    rows = pair_rows(examined, anchor)
    row, kept = next(row for row in rows if row.number == other), [row.number for row in rows if row.kept]
    rank = f", rank {kept.index(other) + 1} of {len(kept)}" if other in kept else ""
    with st.expander(f"How this weight is computed: ${formulas[-1]}${rank}" if formulas else "Why it has no weight"):
        st.text(f"similarity {row.similarity:.3f}, {row.kind}\n{row.why}")
        for line in formulas:
            st.latex(line)


def show_curve(examined: Examined, anchor: int, other: int, pinned: PairSettings | None) -> None:
    """The pair's weight over the setting that shapes it most, with the value of now and the pinned one."""
    kind = examined.batch.kind(anchor, other)
    name = main_setting(examined.settings, kind)
    least, most = RANGES[RANGE_OF.get(name, name)]
    then = pinned if pinned and pinned.loss == examined.settings.loss else examined.settings
    now, pinned_at = getattr(examined.settings, name), getattr(then, name)
    space = np.geomspace if least > 0 else np.linspace
    values = sorted({*space(least, most, POINTS).tolist(), now, pinned_at})
    weights = weights_over(examined, anchor, other, name, values)
    picture = figures.weight_over(values, weights, now, sign=SIGNS[name], pinned=pinned_at, kind=kind, height=130)
    alt = f"Curve: the weight of this pair as a function of {SIGNS[name]}, with a mark at {now:g}."
    frame.small_picture(frame.enlarged(picture), "weight_over", alt)


def show_losses(examined: Examined, anchor: int, code: partial[None]) -> None:
    """A few losses in one plot, initially the three of the paper."""
    losses = st.multiselect(
        "Losses in the picture",
        OF_PAIRS,
        list(PAPER),
        format_func=NAMES.__getitem__,
        max_selections=6,
        key="curves",
        **frame.KEEP,
    )
    if not losses:
        st.info("Choose a loss to draw.")
        return
    curves = anchor_curves(examined, anchor, losses=losses)
    if not curves:
        st.caption("The miner keeps no pairs for this anchor. Choose another anchor, or change ε.")
        return
    shown = ", ".join(NAMES[loss] for loss in losses)
    alt = f"Weight against similarity for the kept pairs of anchor {anchor}: marks and a curve for each of {shown}."
    rows = [row for curve in curves for row in curve.rows()]
    frame.picture(figures.weight_curves(curves), key="weight_curves", alt=alt, rows=lambda: rows)
    st.caption(
        "Each mark is a pair of the anchor. The line shows the weight that its hardest positive or negative would have "
        "at other similarities, with all other pairs unchanged. Weights below one millionth are at the lower edge."
    )
    code(figure="weight_curves", arguments=f"anchor_curves(examined, {anchor}, losses={losses})")


def show_matrix(examined: Examined, anchor: int, split: str, code: partial[None]) -> None:
    """The whole batch, linked with the bars above by the anchor's frame and by clicks."""
    kept = [f"{percent(examined.share_kept(kind))} of the {kind}" for kind in ("positive", "negative")]
    st.markdown("Click a cell of the matrix to choose its pair.")
    st.caption(
        f"{len(examined.batch)} sentences of {split} · loss {examined.value:.4g} · kept {kept[0]} and {kept[1]} pairs"
    )
    if not examined.kept.any():
        st.info(IN_ORDER)
    square = f"a square of {len(examined.batch)} by {len(examined.batch)} sentences"
    framed, rows = f"Row {anchor}, the anchor, has a frame.", partial(batch_rows, examined)
    left, right = st.columns([1.3, 1])
    with left:
        st.markdown("**Similarity**")
        alt = f"Similarity: {square}, the cosine of each pair. {framed}"
        frame.picture(figures.similarity_heatmap(examined, anchor=anchor), key="similarity_heatmap", alt=alt, rows=rows)
    with right:  # which has no room for the names of the classes
        st.markdown("**Weight**")
        alt = f"Weight: {square}, the weight of every kept pair; blue pulls together, orange pushes apart. {framed}"
        picture = figures.weight_heatmap(examined, anchor=anchor, names=False, clickable=True)
        show_clickable(picture, "weight_heatmap", alt, rows)
    code(figure="weight_heatmap", arguments=f"examined, anchor={anchor}")
    st.markdown("**All pairs of this anchor**")
    frame.table(
        [{head: getattr(row, field) for field, head in TABLE.items()} for row in pair_rows(examined, anchor)],
        f"Anchor {anchor} paired with every other sentence: class, similarity, kind, kept or dropped, weight.",
        formats={"similarity": "%.3f", "weight": "%.4g", "own part": "%.2e", "relative part": "%.2e"},
        widths={"sentence": "medium", "kept or dropped": "medium"},
    )
    loss = LOSSES[examined.settings.loss]
    st.latex(f"L = {loss.latex}" if not loss.by_anchor else rf"L_i = {loss.latex}")
    st.caption(f"**{loss.title}**: {frame.plain(loss.origin)}. {loss.weight}")


SETTINGS = """\
from labkit.sentpwnet.method import PairSettings
settings = PairSettings(
    loss={loss!r}, miner={miner!r}, alpha={alpha}, beta={beta}, base={base}, margin={base},
    temperature={temperature}, epsilon={epsilon},
)
"""
CODE = f"""\
from labkit.figures import {{figure}}
from labkit.sentpwnet.view import anchor_curves, cosines, examine, sentence_batch
batch = sentence_batch(corpus, size={{size}}, per_class={{per_class}}, seed={{seed}}, split={{split!r}})
{SETTINGS}
examined = examine(batch, cosines(method.encode(list(batch.texts))), settings)
{{figure}}({{arguments}}).show()
"""
