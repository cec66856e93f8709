"""`labkit train --log TRACKER`: send the metrics of each epoch to a tracker.

tensorboard   event files in the run's folder, under tensorboard/
trackio       a run of the project "labkit", on this machine
wandb         a run of the project "labkit", where you are logged in
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Log = Callable[[Mapping[str, float]], None]
TRACKERS = ("tensorboard", "trackio", "wandb")
PROJECT = "labkit"


def check_tracker(name: str | None) -> None:
    """Refuse a tracker that is unknown or not installed."""
    if name is None:
        return
    if name not in TRACKERS:
        raise ValueError(f"--log {name!r} is not one of {', '.join(TRACKERS)}; omit it to log nothing")
    if find_spec(name) is None:
        raise ValueError(f"--log {name} needs {name}, which is not installed; run pip install {name}")


@contextmanager
def tracked(name: str | None, folder: Path | None, config: Mapping[str, Any]) -> Iterator[Log]:
    """Yield a function that logs a row of the history; the run is named after the folder and described by `config`."""
    if name is None or folder is None:
        yield lambda row: None
    elif name == "tensorboard":
        with ExitStack() as opened:
            yield partial(_to_tensorboard, cache(lambda: opened.enter_context(_writer(folder))))
    else:
        service = import_module(name)
        service.init(project=PROJECT, name=folder.name, config=dict(config))
        try:
            yield lambda row: service.log(dict(row), step=int(row["epoch"]))
        finally:
            service.finish()


def _writer(folder: Path) -> Any:
    """A writer of event files, opened at the first row: a training needs an empty folder to start."""
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder / "tensorboard"))


def _to_tensorboard(writer: Callable[[], Any], row: Mapping[str, float]) -> None:
    for figure, value in row.items():
        writer().add_scalar(figure, value, int(row["epoch"]))
