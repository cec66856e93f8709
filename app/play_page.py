"""Page "Play": a pair loss trains in the browser, with real sentences. The embedded page needs no server."""

from __future__ import annotations

import frame
import streamlit as st

from labkit.play import playground

HEIGHT = 720  # pixels, if the height of the window is unknown
ABOUT = """\
Each point is a sentence, placed at the mean of its word vectors, scaled to unit length. At every step, a batch is
drawn, the loss assigns a **weight** to each pair of the batch, and the word vectors are updated. Everything runs in
your browser, with the losses and miners of `labkit.pairs`.

In the formulas, a sentence has n words with the vectors e, r is their mean, and v is r scaled to unit length. The
vectors v of the m sentences of a batch are the rows of V, and S contains their similarities. L is the loss, and w is
the weight of a pair.

Use the menu or the arrow keys to go through ten scenes. You can move the slider during training, and point at an
underlined word to read what it means. Click a point to see its pairs, or a line to see the formula of its weight. Drag
a point to see the forces on it. Open **More** for all hyperparameters, a second side to compare with, and your own
sentences.
"""
FORMULAS = (
    r"w_{ij} = m\,\left|\frac{\partial L}{\partial S_{ij}}\right|, \qquad S = V V^\top, \qquad "
    r"v = \frac{r}{\lVert r\rVert}, \quad r = \frac{1}{n}\sum_{t=1}^{n} e_t",
)
CODE = """\
import labkit
labkit.playground()  # in a notebook, or
labkit.playground("mine.csv", loss="contrastive").save("play.html")"""


@st.cache_resource(show_spinner=False)
def html() -> str:
    """The page, which is the same for everybody."""
    return playground().html


def page() -> None:
    st.session_state[frame.KEPT] = {}  # the question of this page is in the embedded one, next to its scenes
    with st.container(key="playground"):
        st.iframe(html(), height=HEIGHT)  # the same at each run, so that the browser does not reload it
    with st.container(horizontal=True):
        frame.what_is_shown(ABOUT, *FORMULAS)
        frame.code(CODE)


frame.run(page)
