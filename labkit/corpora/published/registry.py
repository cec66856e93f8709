"""Find a published dataset on this machine, read it, or download it. `datasets.py` has the table.

A dataset may be in two places. The folder named by the environment variable LABKIT_DATA has the plain form: gzipped TSV
or JSONL files. The user's cache folder has the released form (`releases.py`). Rows without text or label are skipped
with a note, and a release with an unexpected number of rows is rejected.
"""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from platformdirs import user_cache_path

from labkit.atomic import NoRoom, folder_in_place, room_for, sentence_of
from labkit.corpora.files import read_rows
from labkit.corpora.published.releases import Parser, ReleaseRow, ReleaseRows
from labkit.corpora.records import Corpus
from labkit.corpora.rows import SHAPES_BY_NAME, from_columns
from labkit.extras import require
from labkit.progress import Progress, note, silent


@dataclass(frozen=True)
class Source:
    """One file of a release."""

    address: str  # of the file, or of the page that leads to it if it must be downloaded by hand
    file: str = ""  # its name in the set's folder; by default, the last part of the address
    sha256: str | None = None  # None: the release states none
    by_hand: str = ""  # why it must be downloaded by hand, and how
    only: tuple[str, ...] = ()  # for an archive: unpack only the members with these names
    limit: int = 2**30  # for an archive: the maximum of unpacked bytes

    @property
    def name(self) -> str:
        """The name of the file in the folder of its dataset."""
        return self.file or self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Published:
    """One published dataset. The argument `folder` of its methods replaces LABKIT_DATA and the cache folder."""

    name: str
    shape: str  # the record it becomes: Pairs, Labelled, Groups, Articles; or "vectors"
    summary: str
    licence: str
    citation: str
    sources: tuple[Source, ...] = ()
    parse: Parser | None = None  # None: labkit can read at most the plain form, not the release
    # a pattern of file names -> labelled rows in all matching files
    files: Mapping[str, int] = field(default_factory=dict)
    # a file of the plain form -> the split of all its rows, or "" if it has a column of splits or no splits
    plain: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)  # class names of the plain form -> labkit's names
    note: str = ""
    kind: ClassVar[str] = "published"

    @property
    def rows(self) -> int | None:
        """The number of rows in the whole release, or None if it is unknown."""
        return sum(self.files.values()) or None

    @property
    def cache(self) -> Path:
        """The folder for the downloaded release."""
        return user_cache_path("labkit") / "data" / self.name

    def _plain_in(self, folder: Path | str | None) -> Path | None:
        """The folder with the plain form, if there is one."""
        named = folder or os.environ.get("LABKIT_DATA")
        return Path(named) if named and any((Path(named) / file).is_file() for file in self.plain) else None

    def here(self, folder: Path | str | None = None) -> Path | None:
        """The file or folder to read, or None if the dataset must be downloaded first."""
        if plain := self._plain_in(folder):
            first, *others = self.plain
            return (plain / first).parent if others else plain / first
        where = Path(folder or self.cache)
        names = self.files or [source.name for source in self.sources]
        return where if any(_present(where, name) for name in names) else None

    def missing(self, folder: Path | str | None = None) -> list[str]:
        """The files that are missing from the plain form, or the name of the dataset if this machine has neither
        form."""
        if plain := self._plain_in(folder):
            return [file for file in self.plain if not (plain / file).is_file()]
        return [] if self.here(folder) else [self.name]

    def paths(self, folder: Path | str | None = None) -> list[Path]:
        """All files of the dataset on this machine."""
        plain, here = self._plain_in(folder), self.here(folder)
        paths = [plain / file for file in self.plain] if plain else sorted(here.rglob("*")) if here else []
        return [path for path in paths if path.is_file()]

    def size(self) -> int:
        """The size of its files on disk."""
        return sum(path.stat().st_size for path in self.paths())

    def load(self, folder: Path | str | None = None) -> Corpus:
        """Load the corpus; notes report skipped rows and missing files."""
        if self.shape == "vectors":
            raise ValueError(
                f"{self.name} is a set of word vectors, not a corpus; read it with labkit.vectors.load_vectors"
            )
        plain, here = self._plain_in(folder), self.here(folder)
        if plain:
            return self._collected(self.plain_rows(plain))[0]
        if here is None:
            ways = [f"run `labkit data get {self.name}`"] if self.sources else []
            ways += ["set LABKIT_DATA to a folder that contains it in the plain form"] if self.plain else []
            raise ValueError(f"{self.name} is not on this machine; {', or '.join(ways)}")
        if self.parse is None:
            raise ValueError(
                f"labkit cannot read the released format of {self.name}; set LABKIT_DATA to a folder with the plain "
                "form"
            )
        corpus, read = self._collected(self.parse(here))
        for pattern, expected in self.files.items():
            found = sum(count for file, count in read.items() if PurePosixPath(file).match(pattern))
            if not found:
                note(f"{self.name} is incomplete: {pattern} is missing", stacklevel=2)
            elif found != expected:
                raise ValueError(
                    f"{pattern}: {found:,} rows, expected {expected:,}; remove the file and its archive, and run "
                    f"`labkit data get {self.name}` again"
                )
        return corpus

    def plain_rows(self, folder: Path) -> ReleaseRows:
        """The rows of the plain form, in the format of the release parsers; no file may be missing."""
        for file in self.missing(folder):
            raise ValueError(f"{file} is missing from {folder}, although other files of {self.name} are there; add it")
        for file, split in self.plain.items():
            for _, row in read_rows(folder / file):
                if split or row.get("split") == "valid":
                    row["split"] = split or "dev"
                if self.classes:
                    row["label"] = self.classes.get(row["label"], row["label"])
                yield file, row

    def _collected(self, rows: ReleaseRows) -> tuple[Corpus, Counter[str]]:
        """The corpus, and the number of labelled rows in each file; notes report how many rows were skipped."""
        columns: dict[str, list[Any]] = {}
        read: Counter[str] = Counter()
        dropped: Counter[tuple[str, str]] = Counter()
        for file, row in rows:
            if not next((row[column] for column in ("label", "score", "group") if column in row), "-"):
                dropped[file, "no label"] += 1
                continue
            read[file] += 1
            if any(not str(row[column] or "").strip() for column in ("text", "text_a", "text_b") if column in row):
                dropped[file, "an empty text"] += 1
                continue
            if odd := sorted(row.keys() ^ (columns or row).keys()):
                raise ValueError(
                    f"{file}: column {odd[0]!r} is missing from some files of {self.name}; check that they are from "
                    "the same release"
                )
            for column, value in _with_numbers(row, f"{file} row {read[file]}").items():
                columns.setdefault(column, []).append(value)
        if not columns:
            raise ValueError(f"{self.name}: no row has both a text and a label; download it again")
        for (file, why), count in dropped.items():
            note(f"{file}: rows skipped because of {why}: {count:,}", stacklevel=3)
        return from_columns(SHAPES_BY_NAME[self.shape], columns, self.name), read

    def fetch(self, *, progress: Progress = silent) -> list[Source]:
        """Download and unpack the release into the cache folder; return the files that you must download by hand.

        Existing files are checked and not downloaded again.
        """
        if not self.sources:
            raise ValueError(f"{self.name} has no official release to download. {self.note}")
        self.cache.mkdir(parents=True, exist_ok=True)
        by_hand = []
        for source in self.sources:
            target = self.cache / source.name
            if not source.by_hand:
                fetch(source.address, target, sha256=source.sha256, progress=progress)
            elif not target.exists() and not any(self.cache.rglob(source.name)):
                by_hand.append(source)
                continue
            inside = target.with_name(ARCHIVE.sub("", target.name))
            if inside != target and target.exists() and not inside.exists():
                unpack(target, inside, limit_bytes=source.limit, only=source.only)
        return by_hand


def _present(folder: Path, pattern: str) -> bool:
    """Whether the folder has a file of this pattern, at its path or with the same name in any subfolder."""
    last = pattern.rsplit("/", 1)[-1]
    return any(folder.rglob(pattern)) or (last != "*" and any(folder.rglob(last)))


def _with_numbers(row: ReleaseRow, at: str) -> ReleaseRow:
    """The row with its numeric columns as floats."""
    for column in ("score", "lat_a", "lon_a", "lat_b", "lon_b", *(() if "text" in row else ("label",))):
        if column in row:
            try:
                row[column] = float(row[column] or "nan")
            except ValueError:
                raise ValueError(f"{at}: {column} is {row[column]!r}, expected a number; download it again") from None
    return row


# --- files and archives ------------------------------------------------------------------------------------------

RETRIES = 3  # after the first attempt, with pauses of 1, 2 and 3 seconds
TIMEOUT = 30.0  # seconds without a byte
PIECE = 2**16  # bytes copied at once
ARCHIVE = re.compile(r"(\.zip|\.tgz|\.tar(\.(gz|bz2|xz))?)$", re.IGNORECASE)  # names of files that `unpack` can read


class _Bar:
    """A progress bar with the interface that pooch expects."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.progress, self.name, self.total, self.done = progress, name, 0, 0

    def update(self, count: int) -> None:
        self.done = min(self.done + count, self.total or self.done + count)  # the last piece is shorter
        self.progress(self.done, self.total or None, self.name)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass


def fetch(address: str, target: Path, *, sha256: str | None = None, progress: Progress = silent) -> Path:
    """Download `address` to `target`. An existing file with that sha256 is not downloaded again."""
    require("data", "pooch")
    import pooch

    registry = pooch.create(
        target.parent,
        "",
        registry={target.name: sha256},
        urls={target.name: address},
        retry_if_failed=RETRIES,
    )
    pooch.get_logger().setLevel("WARNING")
    bar: Any = _Bar(progress, target.name)
    receive = pooch.HTTPDownloader(progressbar=bar, chunk_size=PIECE, timeout=TIMEOUT)
    try:
        with room_for(target):
            registry.fetch(target.name, downloader=receive)
    except NoRoom:
        raise
    except OSError as reason:  # includes all network errors
        raise ValueError(
            f"{target.name} could not be downloaded ({reason}). Check your connection and try again, or download it "
            f"from the dataset's page into {target.parent}"
        ) from None
    except ValueError as reason:
        raise ValueError(f"{address} is not the released file ({reason}); check the dataset's page") from None
    return target


def unpack(archive: Path, folder: Path, *, limit_bytes: int, only: Sequence[str] = ()) -> Path:
    """Unpack a zip or tar into a new `folder`; with `only`, just the files whose names match one of these patterns.

    Raises an error and leaves nothing behind if a name points outside the folder or more than `limit_bytes` are
    unpacked. Links and devices are skipped.
    """
    try:
        with zipfile.ZipFile(archive) if archive.suffix.lower() == ".zip" else tarfile.open(archive) as pack:
            members = [
                (member, size)
                for member, name, size in _files(pack)
                if not only or any(PurePosixPath(name).match(pattern) for pattern in only)
            ]
            if not members:
                raise ValueError(
                    f"{archive.name} does not contain the requested files ({', '.join(only) or 'it is empty'})"
                )
            if sum(size for _, size in members) > limit_bytes:
                raise ValueError(f"{archive.name} is larger than the limit of {limit_bytes:,} bytes when unpacked")
            with folder_in_place(folder) as inside:
                pack.extractall(inside, [member for member, _ in members])
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, NotImplementedError, RuntimeError) as reason:
        raise ValueError(
            f"{archive.name} could not be unpacked ({sentence_of(reason)}); if it is damaged, delete it and download "
            "it again"
        ) from None
    return folder


def _files(pack: Any) -> list[tuple[Any, str, int]]:
    """The plain files of an archive, their names and their sizes."""
    if isinstance(pack, tarfile.TarFile):
        pack.extraction_filter = getattr(tarfile, "data_filter", None)  # available from Python 3.11.4
        files = [(each, each.name, each.size) for each in pack if each.isreg()]
    else:
        files = [(each, each.filename, each.file_size) for each in pack.infolist() if not each.is_dir()]
    for _, name, _ in files:
        if name.startswith("/") or ".." in re.split(r"[/\\]", name):
            raise ValueError(
                f"the archive has a member named {name!r}, which points outside the folder; nothing was unpacked"
            )
    return files
