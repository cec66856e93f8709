"""The sidebar of the page "Pairs": the loss, the miner and their numbers."""

from __future__ import annotations

import frame
import streamlit as st

from labkit.sentpwnet.method import PairSettings

LOSSES = ["locality", "soft-triplet", "contrastive"]
MINERS = {
    "informative": "informative (ε)",
    "hardest": "hardest of each kind",
    "none": "every pair",
}
USUAL = PairSettings(alpha=2.0, beta=50.0, base=0.5, epsilon=0.1)  # of labkit.pairs: what every loss there starts from
RANGES = {"alpha": (0.5, 20.0), "beta": (1.0, 100.0), "lambda": (-1.0, 1.0), "epsilon": (0.0, 2.0)}  # of the sliders


def numbers_of(found: PairSettings) -> dict[str, float]:
    """Key of a slider -> its number; one beyond the slider's end is put at the end."""
    base = found.margin if found.loss == "contrastive" else found.base
    wished = {"alpha": found.alpha, "beta": found.beta, "lambda": base, "epsilon": found.epsilon}
    return {key: min(max(float(wished[key]), RANGES[key][0]), RANGES[key][1]) for key in RANGES}


def start_button(name: str, found: PairSettings, key: str) -> None:
    """A button that sets the sliders to these numbers; they can be moved from there."""
    numbers = numbers_of(found)
    said = ", ".join(f"{sign} {value:g}" for sign, value in zip("αβλε", numbers.values(), strict=True))
    st.button(name, on_click=st.session_state.update, args=(numbers,), key=key, help=said)


def settings_of_loss(trained: PairSettings | None) -> PairSettings:
    """Loss, miner and their numbers, from the sidebar. `trained`: those of the run, where there is one."""
    bar, keep = st.sidebar, frame.KEEP
    bar.header("Loss")
    with bar.container(horizontal=True):
        start_button("Usual", USUAL, "usual")
        start_button("As this run" if trained else "As labkit trains", trained or PairSettings(), "as-trained")
    loss = bar.selectbox("Loss", LOSSES, key="loss", **keep)
    off = loss != "locality"
    alpha = bar.slider("α, scale of positives", *RANGES["alpha"], 2.0, 0.5, key="alpha", disabled=off, **keep)
    beta = bar.slider("β, scale of negatives", *RANGES["beta"], 50.0, 1.0, key="beta", disabled=off, **keep)
    off = loss == "soft-triplet"
    base = bar.slider("λ, similarity both start from", *RANGES["lambda"], 0.5, 0.05, key="lambda", disabled=off, **keep)
    miner = bar.selectbox("Pairs the loss sees", list(MINERS), format_func=MINERS.__getitem__, key="miner", **keep)
    off = miner != "informative"
    epsilon = bar.slider("ε, slack of the miner", *RANGES["epsilon"], 0.1, 0.05, key="epsilon", disabled=off, **keep)
    return PairSettings(loss=loss, miner=miner, alpha=alpha, beta=beta, base=base, margin=base, epsilon=epsilon)
