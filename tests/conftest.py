"""Fixtures that many tests share."""

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

# No example fails by the clock: the machine may be busy. `ci` tries the same examples in every run; `make test-weekly`
# chooses `weekly` with --hypothesis-profile.
settings.register_profile(
    "ci", max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "weekly", max_examples=200, deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # begun by a script in the background: nobody would hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def published_data() -> Path:
    """The folder of published datasets in their plain form; the test is skipped where there is none."""
    folder = Path(os.environ.get("LABKIT_DATA") or REPOSITORY.parent / "shared" / "data")
    if not (folder / "MANIFEST.json").is_file():
        pytest.skip("needs the published datasets: set LABKIT_DATA to their folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def corpora_are_read_once() -> Iterator[None]:
    """An embedded corpus never changes, and a hundred tests take theirs from one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedded, "load", cache(Embedded.load))
        yield


@pytest.fixture(autouse=True)
def same_main() -> Iterator[None]:
    """Streamlit's tests put the page in the place of `__main__`, which spawned processes would then try to import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What each notebook took, wherever it ran."""
    passed = terminalreporter.stats.get("passed", [])
    took = [value for report in passed for name, value in report.user_properties if name == "took"]
    if took:
        terminalreporter.write_line(
            f"Notebooks on {os.cpu_count()} cores, beside the other tests: {', '.join(sorted(took))}"
        )
