"""What is known of a published release, and how the files of one are read.

`Published` is the record of a release: where it is, under which licence, how many rows it should have, and its parser.
A parser takes the folder that the release was put into and yields (file, row): the file's name within the folder and
the columns of one row, `split` among them where the release has splits. Rows with an empty text or without a label
are yielded as they are; `registry.py` drops and counts them. The parsers and the records stand in `formats.py`.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ReleaseRow = dict[str, Any]
ReleaseRows = Iterator[tuple[str, ReleaseRow]]
Parser = Callable[[Path], ReleaseRows]


@dataclass(frozen=True)
class Source:
    """One file of a release."""

    address: str  # of the file, or, where it is fetched by hand, of the page that leads to it
    file: str = ""  # its name in the set's folder; without one, the last part of the address
    sha256: str | None = None  # None: not known for certain, then that of the first download holds
    size: int | None = None
    by_hand: str = ""  # why a person has to fetch it, and how
    only: tuple[str, ...] = ()  # of an archive: unpack only the members with these names
    limit: int = 2**30  # of an archive: the most bytes it may unpack to

    @property
    def name(self) -> str:
        """Its name in the set's folder."""
        return self.file or self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Published:
    """One published dataset."""

    name: str
    shape: str  # the record it becomes: Pairs, Labelled, Groups, Articles; or "vectors"
    title: str
    licence: str
    citation: str
    sources: tuple[Source, ...] = ()
    parse: Parser | None = None  # None: labkit does not read the release, only (if at all) its plain form
    # a pattern of file names -> rows with a label in all files that match it, None where that is not known for certain
    rows: Mapping[str, int | None] = field(default_factory=dict)
    also: Mapping[str, int | None] = field(default_factory=dict)  # the same for other forms that its parser reads
    # the files of the plain form -> the split of all rows, "" where the file has its own column, or no splits
    plain: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)  # what the plain form calls a class -> what labkit does
    note: str = ""

    @property
    def count(self) -> int | None:
        """Rows of the whole release, None where a part is not known."""
        known = [count for count in self.rows.values() if count is not None]
        return sum(known) if known and len(known) == len(self.rows) else None


# --- files -----------------------------------------------------------------------------------------------------


def find_file(folder: Path, *names: str) -> Path:
    """The file with one of these names, wherever it lies in the folder; the first name that is there."""
    for name in names:
        matches = [path for path in folder.rglob(name) if path.is_file() and "__MACOSX" not in path.parts]
        if matches:
            return min(matches, key=lambda path: (len(path.parts), path))
    raise ValueError(f"{' or '.join(names)} is not in {folder}; fetch the set again or put the file there by hand")


def present(folder: Path, pattern: str) -> bool:
    """Whether the folder has a file of this pattern: as it stands, or by its last part wherever it lies."""
    last = pattern.rsplit("/", 1)[-1]
    return any(folder.rglob(pattern)) or (last != "*" and any(folder.rglob(last)))


def within(folder: Path, path: Path) -> str:
    """The file's name within the folder."""
    return path.relative_to(folder).as_posix()


def file_lines(path: Path, *encodings: str) -> Iterator[str]:
    """The lines of a text file (.gz too) in the first of the encodings that fits, UTF-8 if none is named.

    Only LF and CRLF end a line: other signs that Python takes for line ends occur within sentences.
    """
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        for number, raw in enumerate(stream, 1):
            raw = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            yield _decoded(raw.removesuffix(b"\n").removesuffix(b"\r"), encodings or ("utf-8",), path, number)


def _decoded(raw: bytes, encodings: Sequence[str], path: Path, number: int) -> str:
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValueError(f"{path.name} line {number} is not {' or '.join(encodings)}; fetch the set again")


def table_rows(
    path: Path, needed: Sequence[str] = (), *, header: Sequence[str] = (), quoted: bool = False
) -> Iterator[ReleaseRow]:
    """The rows of a tab-separated file by column, named by its first line or, where that is none, by `header`.

    Cells that are missing are empty. Without `quoted`, a quotation mark is a sign like any other: most of these files
    have unpaired ones.
    """
    rows = _quoted(path) if quoted else (line.split("\t") for line in file_lines(path) if line)
    names = header or next(rows, [])
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(
            f"{path.name}: column {missing[0]!r} is missing, expected {', '.join(needed)}; is this the file of the "
            "release?"
        )
    for row in rows:
        if row:
            yield dict(zip(names, row + [""] * (len(names) - len(row)), strict=False))


def _quoted(path: Path) -> Iterator[list[str]]:
    """Cells in quotes, which may hold tabs, line ends and doubled quotes."""
    with path.open(encoding="utf-8-sig", newline="") as text:
        try:
            yield from csv.reader(text, delimiter="\t")
        except (csv.Error, UnicodeDecodeError) as reason:
            raise ValueError(f"{path.name} is damaged ({reason}); fetch the set again") from None
