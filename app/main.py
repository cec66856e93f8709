"""The app: navigation only. Each page is a module of this folder; what it shows comes from `labkit`."""

import streamlit as st

st.set_page_config(page_title="labkit", layout="wide")
st.html("<style>.stMainBlockContainer {padding: 3.9rem 2rem 2rem 2rem}</style>")  # the picture above the fold at 720 px
# no icons here: that of the open page would be fetched from a font server, as the picture in the tab
st.navigation(
    [
        st.Page("corpora_page.py", title="Corpora", default=True),
        st.Page("pairs_page.py", title="Pairs"),
        st.Page("film_page.py", title="FILM rows"),
    ]
).run()
