"""Page "Play": a pair loss trains in the browser, with real sentences. The page within the page needs no server."""

from __future__ import annotations

import frame
import streamlit as st

from labkit.play import playground

HEIGHT = 720  # pixels, where the window does not say how much there is
LAYOUT = "<style>.st-key-playground iframe {height: max(32rem, 100vh - 8rem)}</style>"
ABOUT = """\
Each point is a sentence: the mean of its words' vectors, at unit length. At every step, a batch is drawn, the loss
gives each pair of it a **weight**, and the word vectors move. Everything runs in your browser, with the losses and
miners of `labkit.pairs`.

In the formulas, e are the word vectors of a sentence of n words, r is their mean, and v is r at unit length. The
vectors v of the m sentences of a batch are the rows of V, and S holds their similarities. L is the loss, and w is the
weight of a pair.

The menu and the arrow keys lead through ten scenes. Move the slider while it trains, and point at an underlined word
for its meaning. Click a point for its pairs, and a line for the formula of its weight; drag a point to see the forces
on it. **More** has every hyperparameter, a second side to compare with, and a place for your own sentences.
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
    frame.head("What does learning do to a space?", ABOUT, *FORMULAS, present=False)
    st.html(LAYOUT)
    with st.container(key="playground"):
        st.iframe(html(), height=HEIGHT)  # the same at each run, so that the browser keeps it as it is
    frame.code(CODE)


frame.run(page)
