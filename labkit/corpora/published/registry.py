"""Find, read and download a published dataset: `load_published` and `fetch_published`.

A dataset is looked for in two places. The folder named by the environment variable LABKIT_DATA has the plain form:
gzipped TSV or JSONL files, and a `MANIFEST.json` with the number of rows of each. The user's cache folder has the
released form (`releases.py`). Rows are counted when read: rows without text or label are skipped with a note, and a
file with an unexpected number of rows is refused.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from platformdirs import user_cache_path

from labkit.corpora.files import read_rows
from labkit.corpora.published.datasets import PUBLISHED, Published, Source
from labkit.corpora.published.fetch import ARCHIVE, fetch, unpack
from labkit.corpora.published.releases import ReleaseRow, ReleaseRows
from labkit.corpora.records import Corpus, Section
from labkit.corpora.rows import SHAPES_BY_NAME, from_columns
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
    place = _place(published_record(name), folder)
    if place is None or not place[1]:
        return place and place[0]
    files = plain_files(name)
    return place[0] / files[0] if len(files) == 1 else (place[0] / files[0]).parent


def rows_here(name: str) -> int | None:
    """The rows of the files on this machine; None if there are none or their number is unknown."""
    wanted = published_record(name)
    place = _place(wanted)
    if place is None:
        return None
    where, plain = place
    if plain:
        manifest = _manifest(where)
        counts = [manifest.get(file) for file in wanted.plain if (where / file).is_file()]
    else:
        counts = [count for pattern, count in wanted.rows.items() if _present(where, pattern)]
        counts = counts or [count for pattern, count in wanted.also.items() if _present(where, pattern)]
    return None if None in counts or not counts else sum(count or 0 for count in counts)


def _place(wanted: Published, folder: Path | str | None = None) -> tuple[Path, bool] | None:
    """The folder of a dataset and whether it has the plain form."""
    named = folder or os.environ.get("LABKIT_DATA")
    if named and has_plain(wanted.name, Path(named)):
        return Path(named), True
    official = Path(folder) if folder else cache_folder(wanted.name)
    names = [*wanted.rows, *wanted.also] or [source.name for source in wanted.sources]
    return (official, False) if any(_present(official, name) for name in names) else None


def _present(folder: Path, pattern: str) -> bool:
    """Whether the folder has a file of this pattern, at its path or with the same name in any subfolder."""
    last = pattern.rsplit("/", 1)[-1]
    return any(folder.rglob(pattern)) or (last != "*" and any(folder.rglob(last)))


def _manifest(folder: Path) -> dict[str, int | None]:
    """The expected rows of each file, from the folder's MANIFEST.json; empty if there is none."""
    manifest = folder / "MANIFEST.json"
    if not manifest.is_file():
        return {}
    try:
        return {str(entry["file"]): entry["rows"] for entry in json.loads(manifest.read_text(encoding="utf-8"))}
    except (ValueError, KeyError, TypeError) as reason:
        raise ValueError(f"{manifest} is damaged ({reason!r}); replace or delete it") from None


# --- reading ---------------------------------------------------------------------------------------------------


def load_published(name: str, folder: Path | str | None = None) -> Corpus:
    """Load the corpus; a note names what is skipped or missing. `folder` replaces LABKIT_DATA and the cache folder."""
    wanted = published_record(name)
    if wanted.shape == "vectors":
        raise ValueError(f"{name} is a set of word vectors, not a corpus; read it with labkit.vectors.load_vectors")
    place = _place(wanted, folder)
    if place is None:
        ways = [f"run `labkit data get {name}`"] if wanted.sources else []
        ways += ["set LABKIT_DATA to a folder that has it in the plain form"] if wanted.plain else []
        raise ValueError(f"{name} is not on this machine; {', or '.join(ways)}")
    where, plain = place
    expected: Mapping[str, int | None] = wanted.rows
    also: Mapping[str, int | None] = wanted.also
    if plain:
        rows, also, remedy = read_plain(name, where), {}, "put the file there again"
        expected = {file: count for file, count in _manifest(where).items() if file in wanted.plain}
    elif wanted.parse is None:
        raise ValueError(
            f"labkit cannot read the released format of {name}; set LABKIT_DATA to a folder with the plain form"
        )
    else:
        rows = wanted.parse(where)
        remedy = f"remove the file and its archive, and run `labkit data get {name}` again"
    corpus, read, dropped = _collected(wanted, rows)
    missing = _missing(read, expected, also, remedy)
    for (file, why), count in dropped.items():
        note(f"{file}: rows skipped because of {why}: {count:,}", stacklevel=2)
    for pattern in missing:
        note(f"{name} is incomplete: {pattern} is missing", stacklevel=2)
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
            if "sections" in row:
                row["sections"] = tuple(Section(**section) for section in row["sections"])
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


def _missing(
    read: Mapping[str, int], rows: Mapping[str, int | None], also: Mapping[str, int | None], remedy: str
) -> list[str]:
    """Return the missing files; raise ValueError if a file has an unexpected number of rows."""
    found: dict[str, int] = {}
    for pattern, expected in (*rows.items(), *also.items()):
        found[pattern] = sum(count for file, count in read.items() if PurePosixPath(file).match(pattern))
        if found[pattern] and expected is not None and found[pattern] != expected:
            raise ValueError(f"{pattern}: {found[pattern]:,} rows, expected {expected:,}; {remedy}")
    other_form = any(found[pattern] for pattern in also)
    return [] if other_form else [pattern for pattern in rows if not found[pattern]]


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
