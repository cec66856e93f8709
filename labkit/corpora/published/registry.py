"""Find, read and download a published dataset: `load_published` and `fetch_published`.

A dataset is looked for in two places. The folder named by the environment variable LABKIT_DATA has the plain form:
gzipped TSV or JSONL files. The user's cache folder has the released form (`releases.py`). Rows without text or label
are skipped with a note, and a release with an unexpected number of rows is refused.
"""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from platformdirs import user_cache_path

from labkit.atomic import NoRoom, folder_in_place, room_for, sentence_of
from labkit.corpora.files import read_rows
from labkit.corpora.published.datasets import PUBLISHED, Published, Source
from labkit.corpora.published.releases import ReleaseRow, ReleaseRows
from labkit.corpora.records import Corpus
from labkit.corpora.rows import SHAPES_BY_NAME, from_columns
from labkit.extras import require
from labkit.progress import Progress, note, silent

# --- finding ---------------------------------------------------------------------------------------------------


def published_record(name: str) -> Published:
    """The record of that name."""
    if name not in PUBLISHED:
        raise ValueError(f"name is {name!r}, expected a published dataset: {', '.join(PUBLISHED)}")
    return PUBLISHED[name]


def cache_folder(name: str) -> Path:
    """The folder for a dataset's downloaded release."""
    return user_cache_path("labkit") / "data" / name


def plain_files(name: str) -> list[str]:
    """The files of a dataset's plain form, in reading order."""
    return list(published_record(name).plain)


def has_plain(name: str, folder: Path) -> bool:
    """Whether the folder has a file of this dataset."""
    return any((folder / file).is_file() for file in plain_files(name))


def located(name: str, folder: Path | str | None = None) -> Path | None:
    """The folder or file to read the dataset from, None if it must be downloaded first."""
    where, plain = _place(published_record(name), folder)
    if where is None or not plain:
        return where
    files = plain_files(name)
    return where / files[0] if len(files) == 1 else (where / files[0]).parent


def _place(wanted: Published, folder: Path | str | None = None) -> tuple[Path | None, bool]:
    """The folder of a dataset, None if it is not here, and whether it has the plain form."""
    named = folder or os.environ.get("LABKIT_DATA")
    if named and has_plain(wanted.name, Path(named)):
        return Path(named), True
    official = Path(folder) if folder else cache_folder(wanted.name)
    names = wanted.rows or [source.name for source in wanted.sources]
    return (official if any(_present(official, name) for name in names) else None), False


def _present(folder: Path, pattern: str) -> bool:
    """Whether the folder has a file of this pattern, at its path or with the same name in any subfolder."""
    last = pattern.rsplit("/", 1)[-1]
    return any(folder.rglob(pattern)) or (last != "*" and any(folder.rglob(last)))


# --- reading ---------------------------------------------------------------------------------------------------


def load_published(name: str, folder: Path | str | None = None) -> Corpus:
    """Load the corpus; a note names what is skipped or missing. `folder` replaces LABKIT_DATA and the cache folder."""
    wanted = published_record(name)
    if wanted.shape == "vectors":
        raise ValueError(f"{name} is a set of word vectors, not a corpus; read it with labkit.vectors.load_vectors")
    where, plain = _place(wanted, folder)
    if where is None:
        ways = [f"run `labkit data get {name}`"] if wanted.sources else []
        ways += ["set LABKIT_DATA to a folder that has it in the plain form"] if wanted.plain else []
        raise ValueError(f"{name} is not on this machine; {', or '.join(ways)}")
    if not plain and wanted.parse is None:
        raise ValueError(
            f"labkit cannot read the released format of {name}; set LABKIT_DATA to a folder with the plain form"
        )
    rows = read_plain(name, where) if plain or wanted.parse is None else wanted.parse(where)
    corpus, read, dropped = _collected(wanted, rows)
    for (file, why), count in dropped.items():
        note(f"{file}: rows skipped because of {why}: {count:,}", stacklevel=2)
    if plain:
        return corpus
    for pattern, expected in wanted.rows.items():
        found = sum(count for file, count in read.items() if PurePosixPath(file).match(pattern))
        if not found:
            note(f"{name} is incomplete: {pattern} is missing", stacklevel=2)
        elif expected not in (found, None):
            raise ValueError(
                f"{pattern}: {found:,} rows, expected {expected:,}; remove the file and its archive, and run "
                f"`labkit data get {name}` again"
            )
    return corpus


def read_plain(name: str, folder: Path) -> ReleaseRows:
    """The rows of the plain form, in the format of the release parsers; all files must be there."""
    wanted = published_record(name)
    for file, split in wanted.plain.items():
        if not (folder / file).is_file():
            raise ValueError(f"{file} is missing from {folder}, although other files of {name} are there; add it")
        for _, row in read_rows(folder / file):
            if split:
                row["split"] = split
            elif row.get("split") == "valid":
                row["split"] = "dev"
            if wanted.classes:
                row["label"] = wanted.classes.get(row["label"], row["label"])
            yield file, row


def _collected(wanted: Published, rows: ReleaseRows) -> tuple[Corpus, Counter[str], Counter[tuple[str, str]]]:
    """The corpus, the labelled rows by file, and the skipped rows by file and reason."""
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
                f"{file}: column {odd[0]!r} is not in all files of {wanted.name}; check that they are from the same "
                "release"
            )
        for column, value in _with_numbers(row, f"{file} row {read[file]}").items():
            columns.setdefault(column, []).append(value)
    if not columns:
        raise ValueError(f"{wanted.name}: no row has both a text and a label; download it again")
    return from_columns(SHAPES_BY_NAME[wanted.shape], columns, wanted.name), read, dropped


def _with_numbers(row: ReleaseRow, at: str) -> ReleaseRow:
    """The row with its numeric columns as floats."""
    for column in ("score", "lat_a", "lon_a", "lat_b", "lon_b", *(() if "text" in row else ("label",))):
        if column in row:
            try:
                row[column] = float(row[column] or "nan")
            except ValueError:
                raise ValueError(f"{at}: {column} is {row[column]!r}, expected a number; download it again") from None
    return row


# --- fetching --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fetched:
    """The files that `fetch_published` downloaded, and those you must download by hand."""

    name: str
    folder: Path
    files: tuple[Path, ...]
    by_hand: tuple[Source, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.files)} files in {self.folder}"] if self.files else []
        return "\n".join(
            lines
            + [
                f"{self.name}: download {source.name} by hand from {source.address} ({source.by_hand}) and put it "
                f"into {self.folder}"
                for source in self.by_hand
            ]
        )


def fetch_published(name: str, *, progress: Progress = silent) -> Fetched:
    """Download and unpack the release into the user's cache folder.

    Existing files are checked and not downloaded again; the result lists those you must download by hand.
    """
    wanted = published_record(name)
    if not wanted.sources:
        raise ValueError(f"{name} has no official release to download. {wanted.note}")
    where = cache_folder(name)
    where.mkdir(parents=True, exist_ok=True)
    files, by_hand = [], []
    for source in wanted.sources:
        target = where / source.name
        if not source.by_hand:
            fetch(source.address, target, sha256=source.sha256, progress=progress)
        elif not target.exists() and not any(where.rglob(source.name)):
            by_hand.append(source)
            continue
        files.append(target)
        inside = target.with_name(ARCHIVE.sub("", target.name))
        if inside != target and target.exists() and not inside.exists():
            unpack(target, inside, limit_bytes=source.limit, only=source.only)
    return Fetched(name, where, tuple(files), tuple(by_hand))


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
    except OSError as reason:  # as are all network errors
        raise ValueError(
            f"{target.name} could not be downloaded ({reason}). Check your connection and try again, or download it "
            f"from the dataset's page into {target.parent}"
        ) from None
    except ValueError as reason:
        raise ValueError(f"{address} is not the file of the release ({reason}); look at the dataset's page") from None
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
