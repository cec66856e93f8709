"""The optional packages, each with the extra of pyproject.toml that installs it."""

from __future__ import annotations

from importlib.util import find_spec


class MissingPackage(ImportError, ValueError):
    """An import that failed; the app and the command line report it in one sentence, like any user error."""


def require(extra: str, *packages: str) -> None:
    """Raise an error with the command that installs the extra, unless these packages are installed.

    >>> require("plots", "no_such_package")
    Traceback (most recent call last):
    labkit.extras.MissingPackage: no_such_package is not installed; run pip install "labkit-embeddings[plots]"
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingPackage(f'{package} is not installed; run pip install "labkit-embeddings[{extra}]"')
