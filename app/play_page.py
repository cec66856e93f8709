"""Page "Play": a pair loss trains in the browser, with real sentences. The embedded page needs no server."""

from __future__ import annotations

from pathlib import Path

import frame
import streamlit as st

from labkit.play import playground

HEIGHT = 720  # pixels, if the height of the window is unknown
ABOUT = """\
A **sentence embedding** turns a sentence into a list of numbers, so that sentences with similar meanings are close
together. This app shows how a model learns such numbers, and what they are good for. It has five places:

1. **Play**: how does training move sentences? Ten short scenes, each with one slider.
2. **Space**: where does a trained model put the sentences of a corpus, and which ones moved?
3. **Why**: which words make two sentences alike, and why did the loss pull or push this pair?
4. **Train and compare**: which method is best on your sentences, and how sure is that?
5. **Papers**: what did five papers claim, and does it hold here?

On this page, each dot is a sentence, and the numbers are the mean of its word vectors, scaled to unit length. At every
step, the loss compares the sentences of a batch, assigns a **weight** to each pair, and pulls or pushes it. Everything
runs in your browser, with the losses and miners of `labkit.pairs`.

Use the menu or the arrow keys to go through the scenes. You can move the slider during training, and point at an
underlined word to read what it means. Click a dot to see its pairs, or a line to see the formula of its weight. Drag a
dot to see the forces on it. Open **More** for all hyperparameters, a second side to compare with, and your own
sentences.

In the formulas, a sentence has n words with the vectors e, r is their mean, and v is r scaled to unit length. The
vectors v of the m sentences of a batch are the rows of V, and S contains their similarities. L is the loss, and w is
the weight of a pair.
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
    """The page, which is the same for everybody, in the typeface of the app."""
    made = playground().html
    font = next((Path(st.__file__).parent / "static" / "static" / "media").glob("SourceSansVF-Upright*"), None)
    if font is None:
        return made
    face = f"@font-face {{font-family: App; font-weight: 200 900; src: url('static/media/{font.name}')}}"
    made = made.replace("default-src 'none';", "default-src 'none'; font-src 'self';", 1)
    return made.replace("</style>", f"{face} :root {{--font: App, sans-serif}}</style>", 1)


def page() -> None:
    frame.head("What does learning do to a space?", ABOUT, *FORMULAS, present=False)
    with st.session_state[frame.SHARE]:  # Share and Present are in the embedded page
        frame.code(CODE)
    with st.container(key="playground"):
        st.iframe(html(), height=HEIGHT)  # the same at each run, so that the browser does not reload it


frame.run(page)
