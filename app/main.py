"""The app: navigation only. Each page is a module of this folder; what it shows comes from `labkit`."""

import streamlit as st

st.set_page_config(page_title="labkit", layout="wide")
st.navigation([st.Page("corpora_page.py", title="Corpora", default=True)]).run()
