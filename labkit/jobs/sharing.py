"""The one queue of a process for a folder of runs: all visitors of an app share it."""

from __future__ import annotations

import atexit
import threading
from pathlib import Path

from labkit.jobs.queue import Queue

_QUEUES: dict[Path, Queue] = {}
_MAKING = threading.Lock()


def shared(runs: Path | str) -> Queue:
    """The queue, made when it is first asked for and closed when the process ends."""
    place = Path(runs).expanduser().resolve()
    with _MAKING:
        if place not in _QUEUES:
            _QUEUES[place] = Queue(place)
            atexit.register(_QUEUES[place].close)
        return _QUEUES[place]
