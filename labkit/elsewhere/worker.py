"""What runs in the process of `Elsewhere`: an order a line, an answer a line.

    python -m labkit.elsewhere.worker

It gives way to everybody else on the machine, and ends at once when its owner is gone, however that one ended: then its
standard input does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

from labkit.atomic import NoRoom
from labkit.elsewhere.parcels import read_rows, write_pictures
from labkit.projection import epochs, project

NICE = 10


def serve(orders: Iterable[str], replies: TextIO) -> None:
    """Each order in turn; one that is refused is answered with its sentence."""
    for line in orders:
        try:
            reply: dict[str, Any] = {"pictures": carry_out(**json.loads(line))}
        except (ValueError, NoRoom) as refused:
            reply = {"refused": str(refused)}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def carry_out(folder: str, call: str, **wanted: Any) -> list[dict[str, Any]]:
    """One order: its rows lie in the folder, and so do its pictures' points afterwards."""
    rows = read_rows(Path(folder))
    made = epochs(rows, **wanted) if call == "epochs" else (project(rows, **wanted),)
    return write_pictures(Path(folder), made)


def arriving() -> Iterator[str]:
    """The lines of standard input. Where it ends, so does the process, whatever it is at: nobody waits for it."""
    lines: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield lines.get()


def main() -> None:
    """Answer until there is nobody to answer."""
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever prints must not stand between the answers
    with suppress(AttributeError, OSError):
        os.nice(NICE)
    serve(arriving(), answers)


if __name__ == "__main__":
    main()
