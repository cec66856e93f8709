"""What was imported is left out of the collector's rounds, once for each time that something was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from importlib import import_module

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import APP
from tests.waiting import HANG


@pytest.fixture
def thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_it_is_done_once_for_each_number_of_modules(monkeypatch: pytest.MonkeyPatch, thawed: None) -> None:
    monkeypatch.syspath_prepend(str(APP))
    lasting = import_module("lasting")
    lasting.settle(-1)
    assert gc.get_freeze_count() > 10_000
    gc.unfreeze()
    lasting.settle(-1)
    assert gc.get_freeze_count() == 0
    lasting.settle(-2)
    assert gc.get_freeze_count() > 10_000


def test_the_app_does_it_after_a_page(thawed: None) -> None:
    AppTest.from_file(str(APP / "main.py"), default_timeout=HANG).run()
    assert gc.get_freeze_count() > 10_000
