"""Fixtures shared by many tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from labkit.corpora.catalogue import Embedded

REPOSITORY = Path(__file__).resolve().parents[1]

# Examples have no deadline, because the machine may be busy. `ci` repeats the same examples in every run; the profile
# `weekly` is chosen by `make test-weekly`, with --hypothesis-profile.
settings.register_profile(
    "ci", max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "weekly", max_examples=200, deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # background jobs of a script start with Ctrl-C ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def published_data() -> Path:
    """The folder of published datasets in the plain format; without it, the test is skipped."""
    folder = Path(os.environ.get("LABKIT_DATA") or REPOSITORY.parent / "shared" / "data")
    if not (folder / "MANIFEST.json").is_file():
        pytest.skip("needs the published datasets: set LABKIT_DATA to their folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def corpora_are_read_once() -> Iterator[None]:
    """Cache embedded corpora, which never change and are used by a hundred tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedded, "load", cache(Embedded.load))
        yield


@pytest.fixture(autouse=True)
def same_main() -> Iterator[None]:
    """Restore `__main__`: Streamlit's tests replace it with a page, which spawned processes would try to import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long each notebook took, in whichever process it ran."""
    passed = terminalreporter.stats.get("passed", [])
    took = [value for report in passed for name, value in report.user_properties if name == "took"]
    if took:
        terminalreporter.write_line(
            f"Notebooks on {os.cpu_count()} cores, beside the other tests: {', '.join(sorted(took))}"
        )
