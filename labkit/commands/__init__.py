"""The command line, a module for each group of commands; `labkit/cli.py` puts them together."""


class Stopped(Exception):
    """Ctrl-C or SIGTERM, with what there is to say about it, in one line; `status` is that of the program."""

    def __init__(self, said: str, status: int = 130) -> None:
        super().__init__(said)
        self.status = status
