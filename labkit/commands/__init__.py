"""The command line, a module for each group of commands; `labkit/cli.py` puts them together."""
