"""What somebody wishes to have trained. In: method, corpus or a file's content, settings, seed. Out: an `Order`,
checked like the settings of the command line, and the words of the `labkit train` that carries it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".tsv.gz", ".jsonl.gz")
OWN = "upload"  # how a visitor's file is called, whatever its name was


@dataclass(frozen=True)
class Order:
    """One training. `upload` is the content of a file, of the kind that `ending` says; then `corpus` names it."""

    method: str
    corpus: str
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    upload: bytes | None = field(default=None, repr=False)

    @classmethod
    def of_file(cls, method: str, name: str, upload: bytes, **more: Any) -> Order:
        """Of a file that somebody brought; of its name only the ending is kept."""
        ending = next((ending for ending in ENDINGS[::-1] if name.lower().endswith(ending)), None)
        if ending is None:
            raise ValueError(f"name is {name!r}, expected a file that ends in one of {', '.join(ENDINGS)}")
        return cls(method, OWN + ending, upload=upload, **more)

    def check(self) -> None:
        """A ValueError of one sentence where method, corpus, seed or a setting cannot be."""
        from labkit.corpora import CORPORA
        from labkit.methods import METHODS

        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}, expected one of {', '.join(METHODS)}")
        if self.upload is None and self.corpus not in CORPORA:
            raise ValueError(f"corpus is {self.corpus!r}, expected one of {', '.join(CORPORA)}, or a file's content")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"seed is {self.seed}, expected a whole number from 0 to {2**32 - 1}")
        METHODS[self.method].method.Settings.of(self.settings).check_used(self.settings)

    @property
    def name(self) -> str:
        """Of the run, as `labkit train` would call it."""
        return f"{self.method}-{Path(self.corpus).name.split('.')[0]}-seed{self.seed}"

    def words(self, out: Path, *, resume: bool = False) -> list[str]:
        """What comes after `labkit`; to resume is to begin where there is nothing to go on from."""
        changes = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        words = ["train", self.method, "--corpus", self.corpus, "--seed", str(self.seed), *changes, "--out", str(out)]
        return [*words, "--resume", "auto"] if resume else words
