"""The app: navigation only. Each page is a module in this folder; its content comes from `labkit`.

The browser's Back and Forward go through pages and settings one step at a time: a change of the address is a step if a
key or the mouse was pressed before it. Any other change replaces the current step, as do arrow keys pressed within two
seconds of each other, for example on a slider. The settings of the previous page stay in its address, for Back.

Addresses of version 0.1.0 lead to the pages that replaced the old ones. A classroom without its guard shows no page.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import classroom
import streamlit as st
from frame import freeze_modules, plotly_early

PLACES = {  # file -> title; the app opens on the first
    "play_page.py": "Play",
    "space_page.py": "Space",
    "why_page.py": "Why",
    "train_page.py": "Train and compare",
    "papers_page.py": "Papers",
}
TEACHERS = {"teacher_page.py": "Teacher"}
MOVED = {  # another address, such as one of version 0.1.0 -> the page that it leads to, with its parameters
    "play": ("play_page.py", {}),  # the first page, whose address is empty
    "clusters_page": ("space_page.py", {}),
    "pairs_page": ("why_page.py", {}),
    "film_page": ("why_page.py", {"view": "FILM's rows"}),
    "compare_page": ("train_page.py", {"view": "Runs"}),
    "corpora_page": ("train_page.py", {"view": "Data"}),
    "train_page": ("train_page.py", {"view": "Train"}),
    "neighbourhoods_page": ("papers_page.py", {"try": "sbert-lp"}),
    "paraphrases_page": ("papers_page.py", {"try": "pthought"}),
    "themes_page": ("papers_page.py", {"try": "thematic"}),
}
UNGUARDED = (
    "Other machines can reach this app without a token. Start it with `labkit app --classroom`, which prints an "
    "address that contains a token."
)

STEPS = f"<script>{(Path(__file__).parent / 'steps.js').read_text('utf-8')}</script>"


def lead_to(file: str, opens: dict[str, str]) -> None:
    """Open a page with the settings of the address that led here."""
    settings: dict[str, Any] = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(places[file], query_params=opens | settings)


st.set_page_config(page_title="labkit", layout="wide")
st.html(Path(__file__).parent / "style.css")
with st.container(key="steps"):
    st.html(STEPS.replace("PLOTLY", plotly_early()), unsafe_allow_javascript=True)
if classroom.is_on() and not classroom.PRESENT.guarded:
    st.error(UNGUARDED)
    st.stop()
# no icons here: the open page's icon would be fetched from a font server, for the browser's tab
titles = PLACES | (TEACHERS if classroom.is_teacher() else {})
places = {
    file: st.Page(file, title=title, url_path=file.removesuffix("_page.py") if place else None, default=not place)
    for place, (file, title) in enumerate(titles.items())
}
earlier = [
    st.Page(partial(lead_to, *where), title=address, url_path=address, visibility="hidden")
    for address, where in MOVED.items()
]
shown = st.navigation([*places.values(), *earlier], position="top")
classroom.PRESENT.turned(classroom.me(), shown.title)
shown.run()
freeze_modules(len(sys.modules))
