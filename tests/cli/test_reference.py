"""The pages of the book that are made of the code."""

from __future__ import annotations

import re

import labkit
from labkit.cli.reference import api, commands, settings


def test_entries_have_types_text_and_examples() -> None:
    page = api()
    entry = page.partition("\n### load\n")[2].partition("\n###")[0]
    assert "load(name: str | Path, columns: Mapping[str, str] | None = None) -> Corpus\n" in entry
    assert "```python\n>>> load(\"topics\").name\n'topics'\n```" in entry
    assert "Method.encode(\n    self,\n    sentences: str | Sequence[str],\n    batch_size: int = 32,\n" in page
    assert " at 0x" not in page  # the same at every build
    assert page.count("```") % 2 == 0


def test_every_command_and_setting_has_an_entry() -> None:
    helps = commands()
    for name, option in (("train", "--set"), ("data mine", "--ranks"), ("class collect", "--figure")):
        assert option in helps.partition(f"## labkit {name}\n")[2].partition("\n## ")[0]
    table = settings().partition("## bag\n")[2].partition("\n## ")[0]
    assert re.search(r"^\| `epochs` \| `6` \| whole number from 0 to 10000 \| ", table, re.MULTILINE)
    for name in labkit.Bag().settings.values():
        assert f"| `{name}` | " in table
