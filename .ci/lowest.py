"""Test the lower bounds of pyproject.toml: `make test-lowest` installs exactly these versions and runs the tests.

python .ci/lowest.py bounds    print NAME==VERSION for each bound, as constraints for pip
python .ci/lowest.py           run the tests; if all pass, write the installed versions to constraints-lowest.txt
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "constraints-lowest.txt"
TESTS = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "-m", "weekly or not whole"]


def bounds() -> dict[str, str]:
    """The lower bound of each package required by the project or one of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, str] = {}
    for asked in chain(project["dependencies"], *project["optional-dependencies"].values()):
        if asked.startswith(project["name"]):  # an extra that includes others
            continue
        parts = re.fullmatch(r"([\w.-]+)>=([\w.]+)(?:,<[\w.]+)?", asked)
        if parts is None or found.get(parts[1], parts[2]) != parts[2]:
            raise ValueError(f"pyproject.toml asks for {asked!r}, expected NAME>=VERSION, the same in each extra")
        found[parts[1]] = parts[2]
    return found


def main() -> int:
    if sys.argv[1:] == ["bounds"]:
        print(*(f"{name}=={version}" for name, version in bounds().items()), sep="\n")
        return 0
    last = ""
    with subprocess.Popen([sys.executable, "-m", "pytest", *TESTS], cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        for last in run.stdout or ():
            print(last, end="", flush=True)
    if run.returncode:
        return run.returncode
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    installed = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout
    passed = ", ".join(re.findall(r"\d+ (?:passed|skipped)", last))
    RECORD.write_text(
        "# The lowest versions that pyproject.toml allows, every extra, and what pip put beside them; "
        "made by `make test-lowest`.\n"
        f"# {passed} on {datetime.now(UTC):%Y-%m-%d}, Python {sys.version.split()[0]}.\n{installed}",
        "utf-8",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
