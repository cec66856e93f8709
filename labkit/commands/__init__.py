"""The command line, a module for each group of commands; `labkit/cli.py` puts them together."""


class Stopped(Exception):
    """Ctrl-C, with what there is to say about it: one line, exit status 130."""
