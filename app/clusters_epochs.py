"""The view "Over the epochs" of the page "Clusters": how the space of a run came to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import brushing
import cached
import frame
import numpy as np
import playing
import spaces
import streamlit as st
import waiting
from brush import carried
from clusters_reading import LISTED, clear, marked_rows, search, show_list, show_reading
from clusters_sides import WIDTHS, Look, Side, figures_table, show
from clusters_text import EPOCHS, EPOCHS_CODE, HOW_EPOCHS, NO_EPOCHS

from labkit import figures
from labkit.projection.epochs import Journey
from labkit.projection.placement import matching


def show_epochs(
    corpus: str, opened: cached.Opened, chosen: dict[str, spaces.Space], look: Look, bar: Sequence[Any]
) -> None:
    """Every side that was trained in epochs, all at the epoch of one slider, which goes into the bar above."""
    trained = {name: space for name, space in chosen.items() if len(space.open().snapshots.epochs)}
    if not trained:
        st.info(NO_EPOCHS)
        st.code(f"labkit train sentpwnet --corpus {corpus} --epochs 5", language="bash")
        return
    journeys = {name: journey_of(name, space, look, opened) for name, space in trained.items()}
    epoch = slider(bar[1], sorted({epoch for journey in journeys.values() for epoch in journey.epochs}))
    places = {name: max(0, int(np.searchsorted(each.epochs, epoch, "right")) - 1) for name, each in journeys.items()}
    sides = [side_of(name, space, journeys[name], places[name]) for name, space in trained.items()]
    first = sides[0]
    arranged = (look.how, epoch, *(side.key for side in sides))
    state = brushing.marked(("epochs", first.space.key), arranged, look, len(first.shown))
    query = search(bar[0])
    clear(bar[2])
    read = brushing.read(len(first.shown))
    found = matching(first.shown.texts, query, most=LISTED) if query.strip() else []
    left, right = st.columns(WIDTHS[len(sides)])
    for column, side in zip(left.columns(len(sides)), sides, strict=True):
        ring = state.ring(side.name, read)
        marks = {
            "chosen": marked_rows(state.of(side.name), state.source, sides, side),
            "found": carried(found, first.shown.texts, side.shown.texts),
            "ring": next(iter(carried([] if ring is None else [ring], first.shown.texts, side.shown.texts)), None),
        }
        with column:
            travel(journeys[side.name], places[side.name], side, first, look, marks)
    brushing.ringed()
    playing.playable()
    with right:
        show_reading(sides, query, found, {})
    with left:
        st.caption(EPOCHS.format(count=len(first.shown), how=HOW_EPOCHS[look.how]))
        show_list(first.shown, marked_rows(state.now, state.source, sides, first), query, found)
    for side in sides:
        settings: dict[str, Any] = {"how": look.how, "common": look.how == "pca", "at": places[side.name]}
        method = side.space.code
        lines = EPOCHS_CODE.format(corpus=corpus, method=method, by=look.by, most=look.most, **settings)
        frame.code(lines, side.told if len(sides) > 1 else "")


def journey_of(name: str, space: spaces.Space, look: Look, opened: cached.Opened) -> Journey:
    """A run's pictures; while they are made, its last one by PCA."""
    snapshots, of = space.open().snapshots, (opened.corpus, opened.key)
    if look.how != "pca" and ("journey", space.key, look.how) not in cached.ready():
        first = cached.journeyed(snapshots, space.key, "pca", *of)
        preview = st.empty()
        with preview.container():
            looks: dict[str, Any] = {"by": look.by, "most": look.most, "order": look.order}
            figure = figures.clusters(first.pictures[-1], first.shown, **looks, named=True, narrow=True, height=500)
            waiting.show(figure, look.how, f"preview-{name}")
        found = cached.journeyed(snapshots, space.key, look.how, *of)
        preview.empty()
        return found
    return cached.journeyed(snapshots, space.key, look.how, *of)


def slider(bar: Any, epochs: list[int]) -> int:
    """The epoch, at first the last one; its number stands in the address."""
    if len(epochs) < 2:
        return epochs[0]
    wished = frame.numbered("epoch", epochs[-1] + 1, epochs[-1])
    start = wished if wished in epochs else epochs[-1]
    if frame.turned("epoch"):
        st.session_state["epoch-choice"], start = start, epochs[0]
    epoch = bar.select_slider("Epoch", epochs, start, key="epoch-choice", label_visibility="collapsed")
    frame.keep("epoch", int(epoch))
    return int(epoch)


def side_of(name: str, space: spaces.Space, journey: Journey, at: int) -> Side:
    """The side as it was at the `at`-th kept epoch."""
    rows = space.open().snapshots.vectors[at]
    return Side(name, space, journey.shown, (space.key, at), journey.pictures[at], lambda: (rows, rows))


def travel(journey: Journey, at: int, side: Side, first: Side, look: Look, marks: Mapping[str, Any]) -> None:
    """The picture that plays, with what is marked on it, and the figures of the epoch it stands at."""
    where = f"epoch {journey.epochs[at]}"
    measured = {f"space, {where}": journey.space[at], f"picture, {where}": journey.drawn[at]}
    figures_table(st, side.space.name, measured)
    looks: dict[str, Any] = {"by": look.by, "most": look.most, "order": look.order, "named": True, "height": 560}
    figure = figures.clusters_over_epochs(journey, at=at, **looks, **marks)
    show(figure, side, first, look, journey.rows)
