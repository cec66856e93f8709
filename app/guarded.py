"""The app for a classroom, as `labkit app --classroom` starts it: the same pages, behind a guard."""

import os

from classroom import TEACHER, VISITOR, Guard
from starlette.middleware import Middleware
from streamlit.starlette import App

# removed from the environment that training jobs inherit
TOKENS = {role: os.environ.pop(f"LABKIT_{role.upper()}_TOKEN", "") for role in (VISITOR, TEACHER)}
if not all(TOKENS.values()):
    raise SystemExit("labkit: the classroom has no token; start it with labkit app --classroom")

app = App("main.py", middleware=[Middleware(Guard, tokens=TOKENS)])
