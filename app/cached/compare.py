"""What the page "Compare" keeps: what runs and baselines are worth on test, and the papers' tables beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from cached.inputs import fitted, opened_run, record
from cached.keeping import kept
from labkit.corpora import Corpus

if TYPE_CHECKING:
    from labkit.evaluation.leaderboard import Result
    from labkit.lab.papers.stored import TableResult


@kept(show_spinner="Scoring the runs …", show_time=True)
def run_result(folder: str, written: int, _corpus: Corpus, key: str) -> Result:
    """What a run is worth on the test split."""
    from labkit.evaluation.leaderboard import Result
    from labkit.evaluation.scores import score

    return Result.of(folder, record(folder, written), score(opened_run(folder, written), _corpus, apart=True))


@kept(show_spinner="Scoring the baselines …", show_time=True)
def baseline_result(name: str, _corpus: Corpus, key: str) -> Result:
    """What a method with its own settings, fitted here, is worth on the test split."""
    from labkit.evaluation.leaderboard import Result
    from labkit.evaluation.scores import score

    method = fitted(_corpus, key, name)
    return Result(name, name, method.settings.values(), _corpus.name, key, 0, score(method, _corpus, apart=True))


@st.cache_resource(max_entries=1, ttl=60, show_spinner=False)
def paper_tables() -> dict[str, TableResult]:
    """Every table of the papers, with our figures where results are stored."""
    from labkit.lab.papers.stored import beside

    return beside()
