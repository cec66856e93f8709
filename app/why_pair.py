"""Panel of the Why page: the weight that a loss gives every pair of a batch, and the reason for one pair's weight."""

from __future__ import annotations

import math
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
from labkit.pairs.losses import LOSSES
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

LINKED = st.components.v2.component("labkit_linked", js=(Path(__file__).parent / "why_linked.js").read_text("utf-8"))
NAMES = {name: LOSSES[name].title for name in OF_PAIRS}
MINERS = {"informative": "informative (ε)", "hardest": "hardest of each kind", "none": "every pair"}
OPENING = PairSettings(alpha=2.0, beta=10.0, base=0.5, epsilon=0.1)  # with β 50, most negatives have no visible weight
PINNED = "pinned"  # in the address: the settings that the visitor pinned
SLIDERS = {  # of a setting: its key in the address, its label, which begins with its sign, its ends and its step
    "alpha": ("alpha", "α, far positives", 0.5, 20.0, 0.5),
    "beta": ("beta", "β, near negatives", 1.0, 100.0, 1.0),
    "base": ("lambda", "λ, threshold", -1.0, 1.0, 0.05),  # also of `margin`
    "temperature": ("tau", "τ, temperature", 0.01, 1.0, 0.01),
    "epsilon": ("epsilon", "ε, slack of the miner", 0.0, 2.0, 0.05),
}
HELP = {
    "alpha": "Positives are sentences of a's class. With a larger α, the least similar ones get more of the weight.",
    "beta": "Negatives are sentences of other classes. With a larger β, only the most similar ones have weight.",
    "base": "The similarity that separates positives from negatives.",
    "epsilon": "The miner keeps positives and negatives that are in the wrong order, or right by less than ε.",
    "loss": "The slope of the loss is a pair's weight. *Locality* compares a pair with the anchor's other pairs.",
    "miner": "A *miner* selects the pairs that the loss uses. *Informative* drops those that are safely in order.",
}
RISES = (
    "A larger β gives more of the weight to the nearest negatives, but less to all that are less similar than λ. So "
    "the weight of such a pair can rise and then fall."
)
POINTS = 41  # of the curve of a pair's weight
USED = ("loss", "miner", "alpha", "beta", "base", "temperature", "epsilon")  # settings that the shown code uses


# --- settings ----------------------------------------------------------------------------------------------------


def values_of(run: PairSettings) -> dict[str, Any]:
    """The settings of a run for the sliders, each moved into the range of its slider."""
    values: dict[str, Any] = {"loss": run.loss, "miner": run.miner if run.miner in MINERS else "none"}
    for name, (key, _, least, most, _) in SLIDERS.items():
        value = getattr(run, "margin" if key == "lambda" and "margin" in LOSSES[run.loss].hyperparameters else name)
        values[key] = min(max(float(value), least), most)
    return values


def settings_of_loss() -> PairSettings:
    """Loss, miner and their numbers."""
    loss = st.selectbox("Loss", OF_PAIRS, format_func=NAMES.get, key="loss", help=HELP["loss"], **frame.KEEP)
    shown: Any = {"key": "miner", "help": HELP["miner"], **frame.KEEP}
    miner = st.selectbox("Pairs used by the loss", list(MINERS), format_func=MINERS.get, **shown)
    used = {*LOSSES[loss].hyperparameters, *(["epsilon"] if miner == "informative" else [])}
    used |= {"base"} if "margin" in used else set()
    places, values = iter((*st.columns(2), *st.columns(2))), {}
    for name, (key, label, least, most, step) in SLIDERS.items():
        if name in used:
            shown = {"key": key, "help": HELP.get(name), **frame.KEEP}
            values[name] = float(next(places).slider(label, least, most, getattr(OPENING, name), step, "%g", **shown))
    return replace(OPENING, loss=loss, miner=miner, margin=values.get("base", OPENING.base), **values)


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


def pinned_settings() -> PairSettings | None:
    """The settings pinned in the address, if there are any."""
    with suppress(ValueError):
        loss, miner, *numbers = st.query_params.get(PINNED, "").split(",")
        values = dict(zip(USED[2:], map(float, numbers), strict=True))
        within = all(SLIDERS[name][2] <= value <= SLIDERS[name][3] for name, value in values.items())
        if loss in OF_PAIRS and miner in MINERS and within:
            return PairSettings(loss=loss, miner=miner, margin=values["base"], **values)
    return None


def told(pinned: PairSettings, settings: PairSettings) -> str:
    """The pinned settings that differ from these, such as β 10."""
    signs = {name: label[0] for name, (_, label, *_) in SLIDERS.items()}
    changed = [name for name in USED if getattr(pinned, name) != getattr(settings, name)]
    return ", ".join(f"{signs.get(name, name)} {getattr(pinned, name)}".removesuffix(".0") for name in changed)


# --- the views ---------------------------------------------------------------------------------------------------


def show_clickable(picture: Any, key: str, alt: str, rows: frame.Rows, **place: Any) -> None:
    """A picture that reports the rows of a clicked mark; the click does not change how the mark looks."""

    def clicked() -> None:
        points = st.session_state[key].selection.points
        clicked_rows = points[0].get("customdata", []) if points else []
        choose_pair([row for row in clicked_rows[:2] if isinstance(row, int)])

    picture.update_traces(selectedpoints=None, unselected={"marker": {"opacity": 1}}, selector={"type": "bar"})
    picture.update_traces(unselected={"marker": {"opacity": 0}}, selector={"opacity": None, "mode": "markers"})
    frame.picture(picture, key=key, alt=alt, rows=rows, on_select=clicked, selection_mode="points", **place)


def choose_pair(rows: list[int]) -> None:
    """Handle a click: the sentence of a bar becomes the other one, and the row of a cell also becomes the anchor."""
    if len({*rows}) == len(rows):
        st.session_state.update(zip(("anchor-choice", "other-choice")[-len(rows) :], rows, strict=False))


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
    negatives = [each.weight for each in rows if each.kind == "negative"]
    return said + " No negative has a visible weight." * bool(negatives and sum(negatives) < VANISHED * whole)


def nearest_positive(batch: SentenceBatch, space: choosing.Space, anchor: int) -> str | None:
    """The most similar sentence of the anchor's class, if there is one."""
    similar = np.where(batch.positive[anchor], cached.batch_similarities(space, batch.texts)[anchor], -np.inf)
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
    trained, pinned = chosen.method.settings, pinned_settings()
    left, right = st.columns([2, 1])
    with right.container(gap="xsmall", key="of-loss"):
        settings = settings_of_loss()
        examined = examine(batch, cached.batch_similarities(chosen, batch.texts), settings)
        with st.container(horizontal=True):
            if isinstance(trained, PairSettings) and trained.loss in OF_PAIRS:
                setting: Any = {"on_click": st.session_state.update, "args": (values_of(trained),)}
                st.button("Use the run's values", "start-run", type="tertiary", **setting)
            says, does, what = "Unpin", st.query_params.pop, PINNED
            if not pinned:  # in the address, so that a link compares with them, too
                now = ",".join(str(getattr(settings, name)) for name in USED)
                says, does, what = "Pin to compare", st.query_params.update, {PINNED: now}
            st.button(says, key="pin", type="tertiary", icon=":material/keep:", on_click=does, args=(what,))
        if examined.batch.kind(anchor, other) in ("positive", "negative"):
            show_curve(examined, anchor, other, pinned)
    lines = {name: getattr(settings, name) for name in USED}
    code = partial(choosing.show_code, CODE, chosen, opened, **how, **lines)
    before, was = None, ""
    if pinned and pinned != settings:
        before = examine(batch, examined.similarity, pinned).weight[anchor]
        was = f" Pinned ({told(pinned, settings)}): {percent(before[other] / (before.sum() or 1))}."
    said.markdown(f"**{verdict(examined, anchor, other)}**{was}")
    with left:
        top = heaviest(examined, anchor, before)
        picture = figures.anchor_bars(examined, anchor, other=other, heaviest=top, before=before)
        alt = f"Similarity and weight of anchor {anchor} with each other sentence: bars, the most similar first."
        with st.container(key="high-pair"):
            rows = partial(map, asdict, pair_rows(examined, anchor))
            show_clickable(picture, "anchor_bars", alt, rows, height="stretch")
        code(figure="anchor_bars", arguments=f"examined, {anchor}, other={other}, heaviest={top:.4g}")
        if anchor == other:
            st.info("An anchor cannot be paired with itself. Choose another sentence.")
        else:
            show_formula(examined, anchor, other)
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
    _, label, least, most, _ = SLIDERS["base" if name == "margin" else name]
    then = pinned if pinned and pinned.loss == examined.settings.loss else examined.settings
    now, pinned_at = getattr(examined.settings, name), getattr(then, name)
    space = np.geomspace if least > 0 else np.linspace
    values = sorted({*space(least, most, POINTS).tolist(), now, pinned_at})
    weights = weights_over(examined, anchor, other, name, values)
    picture = figures.weight_over(values, weights, now, sign=label[0], pinned=pinned_at, kind=kind, height=130)
    alt = f"Curve: the weight of this pair as a function of {label[0]}, with a mark at {now:g}."
    frame.small_picture(frame.enlarged(picture), "weight_over", alt)
    if name == "beta":
        st.caption(RISES)


def show_losses(examined: Examined, anchor: int, code: partial[None]) -> None:
    """A few losses in one plot, initially the three of the paper."""
    shown: Any = {"format_func": NAMES.get, "max_selections": 6, "key": "curves", **frame.KEEP}
    losses = st.multiselect("Losses in the picture", OF_PAIRS, list(PAPER), **shown)
    curves = losses and anchor_curves(examined, anchor, losses=losses)
    if not curves:
        st.caption("There is nothing to draw. Choose a loss; if the miner keeps no pairs, change the anchor or ε.")
        return
    names = ", ".join(NAMES[loss] for loss in losses)
    alt = f"Weight against similarity for the kept pairs of anchor {anchor}: marks and a curve for each of {names}."
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
        map(asdict, pair_rows(examined, anchor)),
        f"Anchor {anchor} paired with every other sentence: class, similarity, kind, kept or dropped, weight.",
        formats={"similarity": "%.3f", "weight": "%.4g", "own": "%.2e", "relative": "%.2e"},
        widths={"text": "medium", "why": "medium"},
    )
    loss = LOSSES[examined.settings.loss]
    st.latex(f"L = {loss.latex}" if not loss.by_anchor else rf"L_i = {loss.latex}")
    st.caption(f"**{loss.title}**: {frame.plain(loss.origin)}. {loss.weight}")


CODE = """\
from labkit.figures import {figure}
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import anchor_curves, cosines, examine, sentence_batch
batch = sentence_batch(corpus, size={size}, per_class={per_class}, seed={seed}, split={split!r})
settings = PairSettings(
    loss={loss!r}, miner={miner!r}, alpha={alpha}, beta={beta}, base={base}, margin={base},
    temperature={temperature}, epsilon={epsilon},
)
examined = examine(batch, cosines(method.encode(list(batch.texts))), settings)
{figure}({arguments}).show()
"""
