from __future__ import annotations

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A case for each answer in the tables of a module: the tests themselves stand in `judging.py`."""
    if "word" in metafunc.fixturenames:
        rows = [(key, *row) for key, rows in metafunc.module.WRONG.items() for row in rows]
        metafunc.parametrize(("key", "given", "word"), rows)
    elif "given" in metafunc.fixturenames:
        forms = [(key, form) for key, forms in metafunc.module.RIGHT.items() for form in forms]
        metafunc.parametrize(("key", "given"), forms)
