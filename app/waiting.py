"""What stands there while a picture is being made: PCA's, which takes no time, and a sentence that says so."""

from __future__ import annotations

import cached
import plotly.graph_objects as go
import streamlit as st

from labkit.projection import NAMES

FIRST_LOOK = "A first look, by PCA, while {how} is being made …"
UNPREPARED = "UMAP prepares itself once after the app has started, for up to a minute; no other picture waits for it."


def show(figure: go.Figure, how: str, key: str) -> None:
    """The picture by PCA, in the place of the one that is `how`."""
    side = key.removeprefix("preview-")
    st.plotly_chart(figure, key=key, alt=f"A first look at the sentences, by PCA: the picture on the {side}.")
    st.caption(sentence(how))


def sentence(how: str) -> str:
    """What is being made, and why it may take a while."""
    told = FIRST_LOOK.format(how=NAMES[how])
    return told if how != "umap" or cached.elsewhere().warmed.is_set() else f"{told} {UNPREPARED}"
