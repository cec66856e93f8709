"""`python -m labkit` is the same program as `labkit`."""

from labkit.cli import main

main()
