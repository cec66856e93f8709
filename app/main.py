"""The app: navigation only. Each page is a module of this folder; what it shows comes from `labkit`.

When the first page stands, UMAP, which it offers, prepares itself in a process of its own.
"""

import sys
from pathlib import Path

import lasting
import streamlit as st
from frame import READABLE

PAGES = {  # file -> title; the first is the page that opens
    "clusters_page.py": "Clusters",
    "pairs_page.py": "Pairs",
    "film_page.py": "FILM rows",
    "neighbourhoods_page.py": "Neighbourhoods",
    "paraphrases_page.py": "Paraphrases",
    "themes_page.py": "Themes",
    "train_page.py": "Train",
    "compare_page.py": "Compare",
    "corpora_page.py": "Corpora",
}

AFTER = 5.0  # seconds, in which a browser draws the page

st.set_page_config(page_title="labkit", layout="wide")
st.html(  # the picture above the fold at 720 px; a long formula on a narrow screen can be pushed aside
    "<style>.stMainBlockContainer {padding: 3.9rem 2rem 2rem 2rem} .katex-display {overflow: auto hidden}"
    f"{READABLE}</style>"
)
there = {file: title for file, title in PAGES.items() if (Path(__file__).parent / file).is_file()}
# no icons here: that of the open page would be fetched from a font server, as the picture in the tab
pages = [st.Page(file, title=title, default=file == next(iter(there))) for file, title in there.items()]
shown = st.navigation(pages)
shown.run()
lasting.settle(len(sys.modules))
if shown == pages[0]:
    from cached import elsewhere

    elsewhere().warm(after=AFTER)
