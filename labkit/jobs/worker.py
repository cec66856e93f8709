"""What runs in a training's own process: the ordinary command line, politely, and not longer than its app.

    python -m labkit.jobs.worker train sentpwnet --corpus topics --out runs/mine

It gives way to everybody else on the machine, and stops as at Ctrl-C, with its last checkpoint, when it is told to
(SIGINT, SIGTERM) or when whoever started it is gone, which closes its standard input.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress

NICE, PATIENCE = 10, 30.0  # seconds that it has to stop by itself


def watch_parent() -> None:
    """Stop when standard input ends. Bare reads: a buffered reader would be in the way when Python shuts down."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os.kill(os.getpid(), signal.SIGTERM if os.name == "nt" else signal.SIGKILL)


def main() -> None:
    """The command line with the words of this process."""
    # a program that was started in the background hands on that Ctrl-C means nothing
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, signal.default_int_handler)
    with suppress(AttributeError, OSError):
        os.nice(NICE)
    threading.Thread(target=watch_parent, daemon=True).start()
    try:
        from labkit.cli import main as command_line

        sys.argv[0] = "labkit"
        command_line()
    except KeyboardInterrupt:  # before the command line could say so itself
        sys.exit(130)


if __name__ == "__main__":
    main()
