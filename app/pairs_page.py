"""Page "Pairs": what a loss makes of every pair of a batch, and why this one weighs what it weighs."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from textwrap import shorten
from typing import Any

import cached
import choosing
import frame
import numpy as np
import streamlit as st
import why

from labkit import figures
from labkit.corpora.records import SPLITS
from labkit.pairs import LOSSES
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import MOST_LOSSES, OF_PAIRS, PAPER, Examined, anchor_curves, epoch_weights, examine
from labkit.sentpwnet.wording import batch_rows, pair_rows, weight_in_latex

BATCH, ANCHOR, CURVES, EPOCHS, MINED = VIEWS = [
    "The batch", "One anchor", "Weight against similarity", "Over the epochs", "Hard negatives",
]  # fmt: skip
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
USUAL = PairSettings(alpha=2.0, beta=50.0, base=0.5, epsilon=0.1)  # of labkit.pairs: what every loss there starts from
RANGES = {  # of the sliders
    "alpha": (0.5, 20.0),
    "beta": (1.0, 100.0),
    "lambda": (-1.0, 1.0),
    "tau": (0.01, 1.0),
    "epsilon": (0.0, 2.0),
}
ABOUT = """\
Every row is a sentence of one batch as *anchor*, every column another sentence. Those of the anchor's class are its
positives, the others its negatives. A **miner** keeps some pairs; a **loss** is a function of their cosines, and its
slope is how hard it pulls (positives) or pushes (negatives): the **weight** of a pair. For the locality loss a weight
has two parts: how similar the pair is *by itself*, and how it stands *among the anchor's other pairs*.

The locality loss with informative pairs is the multi-similarity loss with its miner (Wang et al. 2019). Where λ 0.9,
β 20 and ε 0.3 are set, they were chosen on dev; usual for this loss are λ 0.5, β 50, ε 0.1. Tuned by as many trials,
the three networks tie on `questions` (notebook 2).
"""
FORMULAS = (
    r"w_{ij} = m \left|\frac{\partial L}{\partial S_{ij}}\right|",
    r"\text{positive: } w = \frac{1}{e^{\alpha(S_{ij}-\lambda)} + \sum_{k\in P_i} e^{\alpha(S_{ij}-S_{ik})}}",
    r"\text{negative: } w = \frac{1}{e^{\beta(\lambda-S_{ij})} + \sum_{k\in N_i} e^{\beta(S_{ik}-S_{ij})}}",
    r"\text{kept positive: } S_{ij} < \max_{k\in N_i} S_{ik} + \varepsilon",
    r"\text{kept negative: } S_{ij} > \min_{k\in P_i} S_{ik} - \varepsilon",
)
USED = ("loss", "miner", "alpha", "beta", "base", "temperature", "epsilon")  # of the settings, by the shown code
IN_ORDER = (
    "Every pair of this batch is in order by more than ε: the miner keeps none, and none has a weight. Choose another "
    "batch or split, let the miner keep more (ε), or let the loss see every pair."
)
MINED_SAID = (
    "Of each training sentence the 50 nearest of other classes. Some mean the same, and only the labels do not say so: "
    "of `questions` the generator knows it; of a corpus with classes two sentences of each are taken to be known. The "
    "guide drops what it finds as near as the anchor's positive (GISTEmbed)."
)
LARGE_CLASSES = (
    "Here nearly all of the nearest are false: the classes are so large that what is near to a sentence is of its "
    "class, and only one other of it is known. Hard negatives are for corpora of small classes, such as `places`."
)
NEARLY_ALL = 0.95


# --- in the sidebar ----------------------------------------------------------------------------------------------


def start_button(name: str, settings: PairSettings, key: str) -> None:
    """A button that sets the sliders to these numbers; they can be moved from there.

    A number beyond the end of its slider is put at the end.
    """
    base = settings.margin if "margin" in LOSSES[settings.loss].hyperparameters else settings.base
    wished = {"alpha": settings.alpha, "beta": settings.beta, "lambda": base}
    wished |= {"tau": settings.temperature, "epsilon": settings.epsilon}
    numbers = {slider: min(max(float(wished[slider]), least), most) for slider, (least, most) in RANGES.items()}
    help_ = ", ".join(f"{sign} {value:g}" for sign, value in zip("αβλτε", numbers.values(), strict=True))
    st.button(name, on_click=st.session_state.update, args=(numbers,), key=key, help=help_)


def settings_of_loss(trained: PairSettings | None) -> PairSettings:
    """Loss, miner and their numbers, from the sidebar. `trained`: those of the run, where there is one."""
    bar, keep = st.sidebar, frame.KEEP
    bar.header("Loss")
    with bar.container(horizontal=True):
        start_button("Usual", USUAL, "usual")
        start_button("As this run" if trained else "As labkit trains", trained or PairSettings(), "as-trained")
    loss = bar.selectbox("Loss", OF_PAIRS, format_func=NAMES.__getitem__, key="loss", **keep)
    view = st.session_state.get("view", st.query_params.get("view"))  # its widget comes after this, below
    drawn = st.session_state.get("curves", PAPER) if view == CURVES else ()
    dials = {dial for name in (loss, *drawn) for dial in LOSSES[name].hyperparameters}
    off = "alpha" not in dials
    alpha = bar.slider("α, scale of positives", *RANGES["alpha"], 2.0, 0.5, key="alpha", disabled=off, **keep)
    beta = bar.slider("β, scale of negatives", *RANGES["beta"], 50.0, 1.0, key="beta", disabled=off, **keep)
    off = not {"base", "margin"} & dials
    name = "margin of a triplet" if loss == "margin-triplet" else "λ, similarity both start from"
    base = bar.slider(name, *RANGES["lambda"], 0.5, 0.05, key="lambda", disabled=off, **keep)
    off = "temperature" not in dials
    tau = bar.slider("τ, temperature", *RANGES["tau"], 1.0, 0.01, key="tau", disabled=off, **keep)
    miner = bar.selectbox("Pairs the loss sees", list(MINERS), format_func=MINERS.__getitem__, key="miner", **keep)
    off = miner != "informative"
    epsilon = bar.slider("ε, slack of the miner", *RANGES["epsilon"], 0.1, 0.05, key="epsilon", disabled=off, **keep)
    return PairSettings(
        loss=loss, miner=miner, alpha=alpha, beta=beta, base=base, margin=base, temperature=tau, epsilon=epsilon
    )


def batch_of(opened: cached.Opened) -> tuple[Any, dict[str, Any]]:
    """The batch, and the settings that make it again."""
    bar, keep = st.sidebar, frame.KEEP
    bar.header("Batch")
    size = bar.slider("Sentences, about", 8, 128, 32, 8, key="size", **keep)
    per_class = bar.slider("Of one class", 2, 16, 4, key="per_class", **keep)
    seed = bar.number_input(
        "Number of the batch", 0, 9999, 0, key="seed", help="Another number draws another batch.", **keep
    )
    splits = [split for split in SPLITS if split in opened.corpus.splits]
    if not opened.own:  # what no run that comes with the lab has learned from, first: there it still errs
        splits.reverse()
    split = splits[0] if len(splits) == 1 else bar.selectbox("Of the split", splits, key="split", **keep)
    how = {"size": size, "per_class": per_class, "seed": seed, "split": split}
    return cached.batch_of_split(opened, **how), how


# --- the views ---------------------------------------------------------------------------------------------------


def show_batch(examined: Examined, anchor: int, code: partial[None]) -> None:
    """Three squares side by side; on a narrow screen one below the other."""
    m = len(examined.batch)
    pictures = (
        ("Similarity", figures.similarity_heatmap, "the cosine of every two of them"),
        ("Weight", figures.weight_heatmap, "the weight of every kept pair; blue pulls together, orange pushes apart"),
        ("Kept or dropped", figures.kept_heatmap, "which positive and negative pairs the miner kept"),
    )
    for column, (title, draw, what) in zip(st.columns([1.3, 1, 1]), pictures, strict=True):
        with column:
            st.markdown(f"**{title}**")
            first = draw is figures.similarity_heatmap  # only there is room for the names of the classes
            alt = f"{title}: a square of {m} by {m} sentences, {what}. Row {anchor}, the anchor, has a frame."
            picture = draw(examined, anchor=anchor, names=first)
            frame.picture(picture, key=draw.__name__, alt=alt, rows=partial(batch_rows, examined))
    code(figure="weight_heatmap", arguments=f"examined, anchor={anchor}")


def show_anchor(
    examined: Examined, anchor: int, other: int, chosen: choosing.Space, opened: cached.Opened, code: partial[None]
) -> None:
    """The anchor's row, one of its pairs explained, and all of them as a table."""
    rows = pair_rows(examined, anchor)
    alt = f"Bars: similarity and weight of anchor {anchor} with each other sentence, the most similar first."
    left, right = st.columns(2)
    with left:
        picture = figures.anchor_bars(examined, anchor, other=other)
        frame.picture(picture, key="anchor_bars", alt=alt, rows=lambda: [asdict(row) for row in rows])
    with right, st.container(border=True):
        show_explanation(examined, anchor, other)
        texts, wrong = examined.batch.texts, examined.batch.negative[anchor, other]
        right = partial(nearest_positive, examined, anchor) if wrong else None
        why.button("pair", [chosen], opened, texts[anchor], texts[other], right=right)
    frame.table(
        [{head: getattr(row, field) for field, head in TABLE.items()} for row in rows],
        f"Anchor {anchor} with each other sentence: class, similarity, kind, kept or why dropped, weight.",
        formats={"similarity": "%.3f", "weight": "%.4g", "own part": "%.2e", "relative part": "%.2e"},
        widths={"sentence": "medium", "kept or dropped": "medium"},
    )
    code(figure="anchor_bars", arguments=f"examined, {anchor}, other={other}")


def nearest_positive(examined: Examined, anchor: int) -> str | None:
    """The most similar sentence of the anchor's class, where it has one."""
    batch = examined.batch
    similar = np.where(batch.positive[anchor], examined.similarity[anchor], -np.inf)
    return batch.texts[int(similar.argmax())] if batch.positive[anchor].any() else None


def show_explanation(examined: Examined, anchor: int, other: int) -> None:
    """Why this pair weighs what it weighs."""
    if anchor == other:
        st.info("The anchor makes no pair with itself: choose another sentence.")
        return
    pair = next(row for row in pair_rows(examined, anchor) if row.number == other)
    st.markdown("**Why this pair weighs what it weighs**")
    for row, text in ((anchor, examined.batch.texts[anchor]), (other, pair.text)):
        st.text(f"{row} · {shorten(text, 90, placeholder=' …')}")
    st.text(f"similarity {pair.similarity:.3f}, {pair.kind}, weight {pair.weight:.4g}\n{pair.why}")
    for line in weight_in_latex(examined, anchor, other):
        st.latex(line)


def show_losses(examined: Examined, anchor: int, code: partial[None]) -> None:
    """A few losses in one plot, at first the three of the paper."""
    losses = st.multiselect(
        "Losses in the picture",
        OF_PAIRS,
        list(PAPER),
        format_func=NAMES.__getitem__,
        max_selections=MOST_LOSSES,
        key="curves",
        **frame.KEEP,
    )
    if not losses:
        st.info("Choose a loss whose curves are to be drawn.")
        return
    curves = anchor_curves(examined, anchor, losses=losses)
    if not curves:
        st.info("The miner keeps no pair of this anchor: choose another anchor, or let the loss see more pairs (ε).")
        return
    shown = ", ".join(NAMES[loss] for loss in losses)
    alt = f"Weight against similarity for the kept pairs of anchor {anchor}: marks and a curve for each of {shown}."
    frame.picture(
        figures.weight_curves(curves),
        key="weight_curves",
        alt=alt,
        rows=lambda: [row for curve in curves for row in curve.rows()],
    )
    st.caption(
        "Each mark is a pair of the anchor. The line shows what its hardest positive or negative would weigh at other "
        "similarities, with all other pairs unchanged. Weights below one millionth are drawn at the lower edge."
    )
    code(figure="weight_curves", arguments=f"anchor_curves(examined, {anchor}, losses={losses})")


def show_training(opened: cached.Opened, chosen: choosing.Space, settings: PairSettings, lines: dict[str, Any]) -> None:
    """The probe of a stored run, epoch by epoch."""
    if not len(chosen.method.snapshots.epochs):
        choosing.show_command(choosing.NO_EPOCHS, "sentpwnet", opened, " --epochs 5")
        return
    weights = epoch_weights(chosen.method.snapshots, settings)
    alt = f"Weights of positive and negative pairs over {len(weights.epochs)} epochs, and the shares the miner kept."
    frame.picture(figures.weights_over_epochs(weights), key="weights_over_epochs", alt=alt, rows=weights.rows)
    st.caption(
        f"{weights.sentences} sentences of the run's probe, the same at every epoch, under the loss of the sidebar. "
        "The line is the median of the kept pairs; the band holds four fifths of them."
    )
    choosing.show_code(EPOCHS_CODE, chosen, **lines)


def show_mined(opened: cached.Opened, chosen: choosing.Space) -> None:
    """How many of the nearest sentences of other classes mean the same, by rank and by margin."""
    try:
        shares = cached.mined_shares(chosen, opened)
    except ValueError as reason:
        st.info(frame.plain(str(reason)))
        return
    alt = "Lines: share of false negatives among mined ones, by rank and by margin, without and with a guide."
    picture = figures.false_negatives_mined(shares)
    frame.picture(
        picture, key="mined", alt=alt, rows=lambda: [row for name in shares for row in shares[name].rows(name)]
    )
    near = shares["no guide"].by_rank[0]
    st.caption(MINED_SAID + f" {LARGE_CLASSES}" * bool(near > NEARLY_ALL))
    choosing.show_code(MINED_CODE, chosen, opened)


def page() -> None:
    frame.head("Pairs: what a loss makes of each", ABOUT, *FORMULAS)
    # at first a run, where one comes with the lab: the same on every corpus, or Back would come to other vectors
    first = choosing.STORED if choosing.lab_runs("sentpwnet") else "sif"
    opened = choosing.corpus()
    chosen = choosing.space(opened, default=first) if opened else None
    if opened is None or chosen is None:
        return
    trained = chosen.method.settings
    settings = settings_of_loss(trained if isinstance(trained, PairSettings) else None)
    batch, how = batch_of(opened)
    examined = examine(batch, cached.batch_similarities(chosen, opened, **how), settings)
    view = frame.view(VIEWS)
    lines = {name: getattr(settings, name) for name in USED}
    if view == EPOCHS:
        show_training(opened, chosen, settings, lines)
    elif view == MINED:
        show_mined(opened, chosen)
    else:
        left, right = st.columns(2) if view == ANCHOR else (st.container(), None)
        with left:
            anchor = choosing.sentence_by_row("Anchor", batch.texts, "anchor", batch.busiest)
        kept = [f"{examined.share_kept(kind):.0%} of the {kind}" for kind in ("positive", "negative")]
        st.caption(
            f"{len(batch)} sentences of {how['split']} · loss {examined.value:.4g} · kept {kept[0]} and {kept[1]} pairs"
        )
        if view == BATCH and not any(examined.share_kept(kind) for kind in ("positive", "negative")):
            st.info(IN_ORDER)
        code = partial(choosing.show_code, CODE, chosen, opened, **how, **lines)
        if view == ANCHOR:
            with right:
                heaviest = pair_rows(examined, anchor)[0].number
                other = choosing.sentence_by_row("The pair to explain: with", batch.texts, "other", heaviest)
            show_anchor(examined, anchor, other, chosen, opened, code)
        else:
            show = show_losses if view == CURVES else show_batch
            show(examined, anchor, code)
        loss = LOSSES[settings.loss]  # below the pictures, which are what one comes for
        st.latex(f"L = {loss.latex}" if not loss.by_anchor else rf"L_i = {loss.latex}")
        st.caption(f"**{loss.title}**: {frame.plain(loss.origin)}. {loss.weight}")
    frame.show_link(own_file=opened.own)


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
EPOCHS_CODE = f"""\
from labkit.figures import weights_over_epochs
from labkit.sentpwnet.view import epoch_weights
{SETTINGS}
weights_over_epochs(epoch_weights(method.snapshots, settings)).show()
"""
MINED_CODE = """\
from labkit.pairs.hard_negatives import false_shares, mine_negatives, with_truth
from labkit.figures import false_negatives_mined
from labkit.methods import METHODS
guide = METHODS["tfidf"]()
guide.fit(corpus)
known, meanings = with_truth(corpus)
plain, guided = (mine_negatives(method, known, count=50, guide=each) for each in (None, guide))
shares = {{"no guide": false_shares(plain, meanings), "guided by TF-IDF": false_shares(guided, meanings)}}
false_negatives_mined(shares).show()
"""

frame.run(page)
