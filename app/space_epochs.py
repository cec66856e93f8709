"""The place "Space" over the epochs of a run: its pictures at each of them, their figures, and its cosines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import cached
import choosing
import frame
import marking
import numpy as np
import streamlit as st
from choosing import Space
from keeping import once
from space_look import Look, look_of
from space_moved import in_colour, show_side_code
from space_reading import marked_class, marks_on, search_field, show_list, show_reading
from space_sides import WIDTHS, Side, figures_table, journey_of, show_side, side_of

from labkit import figures
from labkit.evaluation.geometry import cosines_over_epochs
from labkit.projection.epochs import Journey

EPOCHS_SHOWN = (
    "These {count} sentences are the run's probe, the same at every epoch, with fixed axes. {how} The arrow keys move "
    "the slider. Play (Tab, then Enter) runs from before training to the epoch on the slider."
)
HOW_EPOCHS = {
    "pca": "One PCA is computed over all epochs, so a straight path of the vectors is straight in the picture.",
    "tsne": "t-SNE starts each epoch from the previous picture, at the scale of the first.",
    "umap": "UMAP starts each epoch from the previous picture, at the scale of the first.",
    "lle": "The LLE of each epoch is rotated to match the previous one, at the scale of the first.",
}


def show_epochs(opened: cached.Opened, chosen: dict[str, Space], box: Any, verdict: Any) -> None:
    """Every side that was trained in epochs, all at the epoch of one slider."""
    look = look_of(opened, None, box)
    trained = {name: space for name, space in chosen.items() if len(space.method.snapshots.epochs)}
    if not trained:
        choosing.show_command(choosing.NO_EPOCHS, "sentpwnet", opened, " --epochs 5")
        return
    journeys = {name: journey_of(space, look.how, opened) for name, space in trained.items()}
    epochs = sorted({int(epoch) for journey in journeys.values() for epoch in journey.epochs})
    left, right = st.columns(WIDTHS)
    with left:
        epoch = choosing.number_on_slider(next(iter(journeys.values())).unit.capitalize(), epochs, "epoch", epochs[-1])
    places = {name: max(0, int(np.searchsorted(each.epochs, epoch, "right")) - 1) for name, each in journeys.items()}
    sides = [side_of(name, space, journeys[name], places[name]) for name, space in trained.items()]
    first, said = sides[0], []
    for side in sides:
        way, name = journeys[side.name], frame.plain(side.space.name)
        before, after = way.space[0].hit, way.space[-1].hit
        said.append(f"**{before:.1%}** before training, **{after:.1%}** after {way.epochs[-1]} {way.unit}s of {name}")
    verdict.markdown(f"Hit@1 of the probe: {'; '.join(said)}.")
    arranged = (look.how, epoch, *(side.key for side in sides))
    marking.update_marks(("epochs", first.space.key), arranged, look, len(first.shown))
    marked_class(first.shown, look)
    with right:
        _, matches = search_field(first.shown.texts)
    columns, coloured = left.columns(len(sides)), []
    for column, side in zip(columns, sides, strict=True):
        with column:
            st.markdown(f"**{frame.plain(side.space.name)}**")
            start = side_of(side.name, side.space, journeys[side.name], 0)
            coloured.append(in_colour(side, look, start, side).shown)
    for column, side, shown in zip(columns, sides, coloured, strict=True):
        with column:
            journey = replace(journeys[side.name], shown=shown)
            show_journey(journey, places[side.name], side, first, look, marks_on(side, sides, matches))
    marking.equip_pictures(len(first.shown))
    st.html(frame.BUTTONS, unsafe_allow_javascript=True)
    with right:
        show_reading(sides, matches, look, [journeys[side.name].space[places[side.name]] for side in sides])
    with left:
        st.caption(EPOCHS_SHOWN.format(count=len(first.shown), how=HOW_EPOCHS[look.how]))
        show_list(sides, matches)
    for side in sides:
        show_side_code(EPOCHS_CODE, side, sides, opened, look, common=look.how == "pca", at=places[side.name])
    if st.toggle("Cosines over the epochs", key="cosines", **frame.KEEP):
        for place, side in zip(st.columns(len(sides)), sides, strict=True):
            with place:
                show_cosines(side)


def show_cosines(side: Side) -> None:
    """The cosines of positive and negative pairs of the probe, epoch by epoch."""
    measure = partial(cosines_over_epochs, side.space.method.snapshots)
    cosines = once("Measuring every epoch …", ("cosines", side.space.key), measure)
    first, last = cosines.means[0], cosines.means[-1]
    st.markdown(f"**{frame.plain(side.space.name)}**")
    alt = (
        f"Cosines of {side.title} over {len(cosines.epochs)} epochs: the means of positive and negative pairs go from "
        f"{first[0]:.2f} and {first[1]:.2f} to {last[0]:.2f} and {last[1]:.2f}."
    )
    frame.picture(figures.cosine_ridges(cosines), key=f"cosines-{side.name}", alt=alt, rows=cosines.rows)
    choosing.show_code(COSINES_CODE, side.space, of=side.title)


def show_journey(journey: Journey, at: int, side: Side, first: Side, look: Look, marks: Mapping[str, Any]) -> None:
    """The picture that plays, with what is marked on it, and below it the metrics of the epoch on the slider."""
    where = f"{journey.unit} {journey.epochs[at]}"
    drawing = {"height": 400, "legend": look.in_numbers(journey.shown)}
    figure = figures.clusters_over_epochs(journey, at=at, **drawing, **look.colours(journey.shown), **marks)
    with st.container(key=f"tall-{side.name}"):
        show_side(figure, side, first, look, journey.rows)
    names = [f"space, {journey.unit} {journey.epochs[0]}"] * (at > 0) + [f"space, {where}", f"picture, {where}"]
    figures_table(st, names, [journey.space[0]] * (at > 0) + [journey.space[at], journey.drawn[at]])


EPOCHS_CODE = """\
from labkit.corpora.relations import class_order
from labkit.figures import clusters_over_epochs
from labkit.projection.epochs import in_classes_of, journey
epochs = in_classes_of(journey(method.snapshots, {how!r}, common={common}), corpus)
{measured}
clusters_over_epochs(epochs, at={at}, by={by!r}, most={most}, order=class_order(corpus), named=True).show()
"""
COSINES_CODE = """\
from labkit.evaluation.geometry import cosines_over_epochs
from labkit.figures import cosine_ridges
cosine_ridges(cosines_over_epochs(method.snapshots)).show()
"""
