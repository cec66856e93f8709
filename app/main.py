"""The app: navigation only. Each page is a module of this folder; what it shows comes from `labkit`."""

import streamlit as st

st.set_page_config(page_title="labkit", layout="wide")
st.html("<style>.stMainBlockContainer {padding: 3.9rem 2rem 2rem 2rem}</style>")  # the picture above the fold at 720 px
st.navigation([st.Page("corpora_page.py", title="Corpora", default=True)]).run()
