"""`python -m labkit` runs the command line, `labkit`."""

import sys

import labkit

if "METHODS" not in getattr(labkit, "__all__", ()):
    found = getattr(labkit, "__file__", None) or "a folder without __init__.py"
    print(
        f"labkit: the package imported as labkit is not this one but {found}. Another package of that name was "
        "installed or uninstalled; uninstall both, and install labkit-embeddings again",
        file=sys.stderr,
    )
    sys.exit(2)

from labkit.cli.main import main

main()
