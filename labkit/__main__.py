"""`python -m labkit` is the same program as `labkit`."""

import sys

import labkit

if "METHODS" not in getattr(labkit, "__all__", ()):
    found = getattr(labkit, "__file__", None) or "a folder without __init__.py"
    print(
        f"labkit: what is imported as labkit is not this lab but {found}: another package of that name was installed "
        "beside labkit-embeddings, or uninstalled; uninstall both, and install labkit-embeddings anew",
        file=sys.stderr,
    )
    sys.exit(2)

from labkit.cli.main import main

main()
