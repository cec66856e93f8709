"""The Space page: what a method does to a space of sentences, in one picture or in two side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
from space_look import Look, found_in, look_of, sentences_of
from space_moved import in_colour, show_side_code, show_who
from space_reading import follow_class, landing, marks_on, search_field, show_reading, text_field
from space_sides import (
    WIDTHS,
    Side,
    choose_space,
    figures_table,
    journey_of,
    opened_side,
    save_files,
    show_figures,
    show_plain,
    show_side,
    show_title,
    side_of,
)

from labkit import figures
from labkit.corpora import Labelled, Pairs, Sentences
from labkit.corpora.relations import probe_split
from labkit.evaluation.classes import Separation
from labkit.evaluation.geometry import cosines_over_epochs
from labkit.figure_names import spoken
from labkit.figures.epochs import kept_epoch
from labkit.projection import NAMES
from labkit.projection.epochs import Journey

NOW, WHO, EPOCHS = VIEWS = ["Before and after", "Who moved", "While it trained"]
EARLIER = {  # the tabs of the page Clusters, as old links name them -> what they open now
    "Over the epochs": {"view": EPOCHS},
    "Cosines": {"view": EPOCHS, "cosines": "true"},
}
ABOUT = """\
Each point is a sentence, and its colour and shape show its class. A method turns every sentence into a vector with many
dimensions in the **embedding space**. The **picture** shows these vectors in two or three dimensions. It cannot
preserve all distances, so each metric is given twice: once for the embedding space and once for the picture. Trust the
first one.

* **inter / intra**: the distance between class centres, divided by the width of the classes. A larger value means
  more clearly separated classes.
* **silhouette**: whether a sentence is, on average, closer to its own class (a) than to the nearest other class (b). It
  ranges from −1 to 1.
* **Hit@1**: the share of sentences whose nearest neighbour, among those shown, is from the same class. The list of
  classes shows it for each class.
* **kNN accuracy**: the share of test sentences whose class is predicted correctly from their nearest neighbours in the
  training split.

Two of the colours are measured for each sentence. **Trust** is the share of its 5 nearest neighbours in the embedding
space that are also among its 5 nearest neighbours in the picture. **Neighbours changed** is the share of its 10 nearest
neighbours that differ in the right space from those in the left one, or from those at the first epoch.

All vectors have unit length, so nearby vectors have a large cosine.
"""
FORMULAS = (
    r"\frac{\text{inter}}{\text{intra}} = \frac{\frac1C \sum_c \min_{c' \neq c} \|\mu_c - \mu_{c'}\|}"
    r"{\frac1n \sum_i \|x_i - \mu_{c(i)}\|}",
    r"\text{silhouette} = \frac1n \sum_i \frac{b_i - a_i}{\max(a_i, b_i)}",
    r"\text{Hit@1} = \frac1n \left|\{i : c(\arg\min_{j \neq i} \|x_i - x_j\|) = c(i)\}\right|",
)
FEW, FEWEST = 100, 30  # sentences of which a share is said as a count; and below which it decides nothing
TOO_FEW_TO_DECIDE = " These are too few to decide anything."
SCORED = 5_000  # sentences of a corpus: with more, the main score would take seconds
WORTH = (
    "Scores use each model's own similarity. Hit@1 only compares the sentences shown with each other. If many of them "
    "share whole phrases, as in the `topics` corpus, methods that count words reach a high Hit@1."
)
MEANT = {  # what a score is that is a share of the sentences
    "knn_accuracy": " (kNN asks the nearest training sentences; Hit@1, below, only those shown.)",
    "hit@1": " (Hit@1: the nearest neighbour, among them, is of the same class.)",
}
SAW_TEST = " (it saw the test sentences, so this does not count)"
FAR = "PCA: points that are far apart here are far apart in the space, but points that are close may not be."
NEAR = "{name}: points that are close together are similar, but distances between clusters mean little."
MADE = "This corpus has pairs but no classes. Sentences linked by positive pairs form a class named after one of them."
SEPARATE = " These classes are already well separated {where}, so there is little left to train."
PROBE = "sentences whose nearest neighbour is of the same class (Hit@1)"
PROBE_HELP = (
    "These sentences are compared with each other. **Before and after** scores the test split, so its numbers differ. "
    "Epochs are chosen on dev, so only test scores are fair."
)
NO_EPOCHS = (
    "These vectors were not trained in epochs. Choose a run above, or train one here: at every epoch, it saves the "
    "vectors of a fixed sample of sentences, which then move in this picture."
)
OTHERS = "These numbers are for {split} sentences. Before and after shows other sentences, so its numbers differ."
EPOCHS_SHOWN = (
    "At every epoch, a run saves the vectors of these {split} sentences only. Each epoch is drawn to its own "
    "scale and stretched to fill the picture; PCA has one basis for all epochs, and other projections are rotated to "
    "match the previous epoch. **inter/intra** is the distance between class centres divided by the "
    "width of the classes: above 1, they are apart. **Play** steps through all epochs. A single run then goes back to "
    "the epoch that was kept: its weights are those of the saved model."
)


# --- classes that are found --------------------------------------------------------------------------------------


def use_found(shown: Labelled) -> None:
    """Make the sentences with the classes found the corpus of all pages."""
    rows = [{"text": text, "label": label} for text, label in zip(shown.texts, shown.labels, strict=True)]
    st.session_state["file"] = frame.File("found.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    choosing.choose_corpus(choosing.OWN)


def code_of(found: tuple[str, int] | None, side: Side, first: Side) -> dict[str, str]:
    """The code that finds the classes again, if there are any.

    Classes are found in the vectors of the first picture, so the code of another picture computes these first.
    """
    if found is None:
        return {"found": ""}
    rows = "vectors" if side is first else "first.encode(shown.texts, normalize_embeddings=True)"
    before = {} if side is first else {"before": f"{first.space.code}\nfirst = method"}
    way, count = found
    return {"found": FOUND_CODE.format(rows=rows, way=way, count=count)} | before


# --- the view of now ---------------------------------------------------------------------------------------------


def show_now(opened: cached.Opened, chosen: dict[str, Space], box: Any, verdict: Any, *, offer: bool = False) -> None:
    """The sentences of the corpus in the current spaces; `box` holds the picture's settings.

    With `offer`, a button that trains a method replaces the second picture.
    """
    shown, key, line = sentences_of(opened, box)
    shown, found = found_in(next(iter(chosen.values())), shown, key, box)
    look = look_of(opened, shown, box, moved=len(chosen) == 2)
    left, right = st.columns(WIDTHS)
    with right:
        query, matches = search_field(shown.texts)
        typed = text_field(marking.TYPED, "Type a new sentence and see where it lands", "Type a new sentence", 2_000)
    with left:
        if isinstance(opened.corpus, Pairs):
            st.caption(MADE)
        columns = st.columns(len(chosen) + offer)
        below, saves = st.container(), st.container(horizontal=True)
    if offer:
        offer_training(columns[-1], opened)
    pictures = {}
    for name, column in zip(chosen, columns, strict=False):
        with column, st.container(gap="xxsmall", key=f"side-{name}"):
            show_title(name, chosen[name], opened, len(shown), key[1], look.how)
            pictures[name] = st.container(gap=None, key=f"frame-{name}")
    drawn = (look, found, query, typed, *(space.key for space in chosen.values()))
    marking.update_marks(key, drawn, len(shown))
    follow_class(shown, look)
    sides = []
    for name, space in chosen.items():
        with pictures[name]:
            side = opened_side(name, space, shown, key, look)
            sides.append(replace(side, key=(key, found)))  # because its scores are those of the classes found
    landed = [landing(typed, side) for side in sides] if typed else []
    for side in sides:
        star = next((each.where for each in landed if each.side is side), None)
        with saves:
            save = frame.save_button(f"Save {side.name}" if len(sides) > 1 else "Save", side.name)
        with pictures[side.name]:
            show_plain(
                in_colour(side, look, sides[0], sides[-1]),
                look,
                sides[0],
                save,
                landed=None if star is None else star.points,
                **marks_on(side, sides, matches, whole=look.as_map),
            )
        with save:
            save_files(side)
    marking.equip_pictures(len(shown))
    with below:
        measured = show_figures(sides)  # after the pictures, so that they do not wait for the scores
    with right:
        show_reading(sides, matches, look, measured, landed, opened, line)
    show_verdict(verdict, opened, sides, measured)
    if found:
        with saves:
            use: Any = {"icon": ":material/category:", "type": "tertiary", "on_click": use_found, "args": (shown,)}
            st.button("Use the classes found as the corpus", key="found-corpus", **use)
    with left:
        st.caption(FAR if look.how == "pca" else NEAR.format(name=NAMES[look.how]))
    for side in sides:
        landmarks = cached.landmarks_for(look.how, len(shown))
        among = "" if landmarks is None else f", landmarks={landmarks}"
        values = {"shown": line, "dimensions": look.dimensions, "landmarks": among}
        show_side_code(CODE, side, sides, opened, look, **values | code_of(found, side, sides[0]))


def offer_training(place: Any, opened: cached.Opened) -> None:
    """A button in the place where the space after training will be."""
    with place, st.container(horizontal_alignment="center", vertical_alignment="center", height=300, border=False):
        st.markdown("What would training change? This opens **Train and compare**; **See it move** leads back.")
        choosing.say_who_reads(opened)
        name = f"Train on {frame.plain(opened.in_code)}"
        if st.button(name, type="primary", icon=":material/model_training:", key="train-on-it"):
            st.switch_page("train_page.py", query_params={"view": "Train"})


def show_verdict(place: Any, opened: cached.Opened, sides: Sequence[Side], measured: Sequence[Separation]) -> None:
    """What training changed, in a sentence: for the test split, or else for the sentences shown."""
    if isinstance(opened.corpus, Sentences) or not measured:
        return
    counted, meant = True, MEANT["hit@1"]
    if "test" in opened.corpus.sizes and len(opened.corpus) <= SCORED:
        from labkit.evaluation.scores import score

        scores = [
            once("", ("score", side.space.key, opened.key), partial(score, side.space.method, opened.corpus))
            for side in sides
        ]
        values, rows = [each.headline for each in scores], opened.corpus.sizes["test"]
        counted, meant = scores[0].measure in MEANT, MEANT.get(scores[0].measure, "")
        what = f"On the {rows:,} test {'sentences' if counted else 'rows'}, {spoken(scores[0].measure)}"
    else:
        values, rows = [each.hit for each in measured], measured[0].sample
        what = f"Among {rows:,} sentences shown, Hit@1"
    few = counted and rows <= FEW
    shares = [f"{value * rows:.0f} of {rows}" if few else f"{100 * value:.1f} %" for value in values]
    said = " and ".join(
        f"**{share}** with {frame.plain(side.space.name)}{SAW_TEST * side.space.saw_test}"
        for side, share in zip(sides, shares, strict=True)
    )
    said += "." + TOO_FEW_TO_DECIDE * (rows < FEWEST) + meant
    if len(sides) > 1 and counted and min(values) == 1:
        said += SEPARATE.format(where=f"with {frame.plain(sides[0].space.name)}")
    place.markdown(f"{what} is {said}", help=WORTH)


# --- the view of the epochs ---------------------------------------------------------------------------------------


def show_epochs(opened: cached.Opened, chosen: dict[str, Space], box: Any, verdict: Any) -> None:
    """All sides that were trained in epochs, at the epoch set by one slider."""
    look = look_of(opened, None, box)
    trained = {name: space for name, space in chosen.items() if len(space.method.snapshots.epochs)}
    if not trained:
        st.info(NO_EPOCHS)
        if not isinstance(opened.corpus, Sentences):
            offer_training(st.container(), opened)
        return
    journeys = {name: journey_of(space, look.how, opened) for name, space in trained.items()}
    epochs = sorted({int(epoch) for journey in journeys.values() for epoch in journey.epochs})
    left, right = st.columns(WIDTHS if len(trained) > 1 else 2)
    unit = next(iter(journeys.values())).unit
    kept = {name: kept_epoch(space.method.history) for name, space in trained.items()}
    with left:
        hidden: Any = {"key": "epoch", "label_visibility": "collapsed", **frame.KEEP}  # the picture says it
        epoch = int(st.select_slider(unit.capitalize(), epochs, epochs[0], **hidden)) if len(epochs) > 1 else epochs[0]
    places = {name: max(0, int(np.searchsorted(each.epochs, epoch, "right")) - 1) for name, each in journeys.items()}
    sides = [side_of(name, space, journeys[name], places[name]) for name, space in trained.items()]
    first, said, ends = sides[0], [], []
    for side in sides:
        way, best = journeys[side.name], kept[side.name]
        ends.append(way.epochs.index(best) if best in way.epochs else len(way) - 1)  # the kept epoch, else the last
        before, after = (f"**{each.hit * each.sample:.0f}**" for each in (way.space[0], way.space[ends[-1]]))
        of = f" of {frame.plain(side.space.name)}" * (len(sides) > 1)
        when = f"after {way.unit} {way.epochs[ends[-1]]}{of}"
        said.append(f"{before} of {way.space[0].sample:,} before training, {after} {when}")
    split = "dev" if probe_split(opened.corpus) == "dev" else "training"
    weak = TOO_FEW_TO_DECIDE * (len(first.shown) < FEWEST)
    if min(way.space[0].hit for way in journeys.values()) == 1:
        weak += SEPARATE.format(where="before training")
    verdict.markdown(f"{split.capitalize()} {PROBE}: {'; '.join(said)}.{weak}", help=PROBE_HELP)
    drawn = (look, epoch, *(side.key for side in sides))
    marking.update_marks(("epochs", first.space.key), drawn, len(first.shown))
    follow_class(first.shown, look)
    with right:
        _, matches = search_field(first.shown.texts)
    for column, side in zip(left.columns(len(sides)), sides, strict=True):
        journey, at = journeys[side.name], places[side.name]
        start = side_of(side.name, side.space, journey, 0)
        marks = {"kept": kept[side.name], "back": len(sides) == 1, **marks_on(side, sides, matches)}
        with column.container(gap="xxsmall"):
            show_title(side.name, side.space, opened, len(side.shown), split, look.how)
            shown = in_colour(side, look, start, side).shown
            show_journey(replace(journey, shown=shown), at, side, first, look, marks)
    marking.equip_pictures(len(first.shown))
    st.html(frame.BUTTONS, unsafe_allow_javascript=True)
    read = [replace(each, space=replace(each.space, name=f"{each.space.name}, {unit} {epoch}")) for each in sides]
    compared, measured = read, [journeys[side.name].space[places[side.name]] for side in sides]
    if len(sides) == 1:  # its classes at two epochs
        way, times = journeys[first.name], sorted({0, places[first.name] or ends[0]})
        compared = [replace(first, name=f"{unit} {way.epochs[at]}") for at in times]
        measured = [way.space[at] for at in times]
    with right:
        st.caption(OTHERS.format(split=split))
        show_reading(read, matches, look, measured, compared=compared)
    with left:
        st.caption(EPOCHS_SHOWN.format(split=split))
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
        f"Cosines of {side.title} over {len(cosines.epochs)} epochs: the means of positive and negative pairs "
        f"change from {first[0]:.2f} and {first[1]:.2f} to {last[0]:.2f} and {last[1]:.2f}."
    )
    frame.picture(figures.cosine_ridges(cosines), key=f"cosines-{side.name}", alt=alt, rows=cosines.rows)
    choosing.show_code(COSINES_CODE, side.space, of=side.title)


def show_journey(journey: Journey, at: int, side: Side, first: Side, look: Look, marks: Mapping[str, Any]) -> None:
    """The animated picture with its marks, and below it the metrics of the epoch on the slider."""
    where = f"{journey.unit} {journey.epochs[at]}"
    drawing = {"height": 400, "legend": look.colouring(journey.shown).values is not None}
    figure = figures.clusters_over_epochs(journey, at=at, **drawing, **look.colours(journey.shown), **marks)
    with st.container(key=f"tall-{side.name}"):
        show_side(figure, side, first, look, journey.rows)
    start = [(f"space, {journey.unit} {journey.epochs[0]}", journey.space[0])] * (at > 0)
    with st.container(key=f"resting-{side.name}"):
        figures_table([*start, (f"space, {where}", journey.space[at]), (f"picture, {where}", journey.drawn[at])])


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("What did training change, and for which sentences?", ABOUT, *FORMULAS)
    opened = choosing.corpus()
    if opened is None:
        return
    runs, others = choosing.runs_on(opened)
    left = choose_space("left", opened, runs, others, optional=False)
    right = choose_space("right", opened, runs, others, optional=True)
    chosen = {name: space for name, space in (("left", left), ("right", right)) if space is not None}
    if not chosen:
        return
    box = frame.choices().popover("Picture", icon=":material/tune:")
    if (view := st.query_params.get("view", "")) in EARLIER:
        st.query_params.update(EARLIER[view])
        st.rerun()  # widgets read the address once, before the page runs
    with st.container(key="narrow"):  # on a phone, no row of choices
        st.toggle("Settings", key="settings")
    with st.container(horizontal=True, vertical_alignment="center", key="views"):
        view = frame.view(VIEWS)
        verdict = st.empty()
    offer = len(chosen) == 1 and not runs and not isinstance(opened.corpus, Sentences)
    show = {NOW: partial(show_now, offer=offer), WHO: show_who, EPOCHS: show_epochs}[view]
    show(opened, chosen, box, verdict)
    linked = {side: choosing.NAMES.get(name := st.session_state[side], name) for side in ("left", "right")}
    if view == EPOCHS and "epoch" in st.session_state:
        linked["epoch"] = st.session_state["epoch"]
    frame.show_link(own_file=opened.own, **linked)


CODE = """\
from labkit.corpora.relations import class_order
from labkit.figures import clusters
from labkit.projection import project
{shown}
vectors = method.encode(shown.texts, normalize_embeddings=True)
picture = project(vectors, {how!r}, {dimensions}{landmarks})
{found}
{measured}
clusters(picture, shown, by={by!r}, most={most}, order=class_order(corpus){labels}).show()
"""
FOUND_CODE = """\
from dataclasses import replace
from labkit.evaluation.classes import found_clusters
from labkit.evaluation.regions import found_classes
found = found_classes(shown.texts, found_clusters({rows}, {way!r}, {count}))
shown = replace(shown, labels=found)"""
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
frame.run(page)
