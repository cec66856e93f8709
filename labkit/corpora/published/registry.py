"""Find, read and fetch a published dataset: `load_published` and `fetch_published`.

A set is looked for in two places and two forms: in the folder named by the environment variable LABKIT_DATA, in the
plain form, and in the user's cache folder, in the form of its release (`formats.py`). What is read is
counted: rows with an empty text or without a label are left out and named, and a file with another number of rows
than its release is refused.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from platformdirs import user_cache_path

from labkit.corpora.files import read_rows
from labkit.corpora.published.fetch import fetch, is_archive, unpack
from labkit.corpora.published.formats import PUBLISHED
from labkit.corpora.published.release import Published, ReleaseRow, ReleaseRows, Source, present
from labkit.corpora.records import Corpus, Section
from labkit.corpora.rows import SHAPES_BY_NAME, from_columns
from labkit.progress import Progress, note, silent

# --- the plain form: a folder with a file for each part of a set, as TSV without quoting or JSONL, packed by gzip ---
#
# A `MANIFEST.json` beside the files says how many rows each should have. Columns that a corpus does not need are kept.


def plain_files(corpus: str) -> list[str]:
    """The files of a corpus, in the order in which they are read."""
    return list(published_record(corpus).plain)


def has_plain(corpus: str, folder: Path) -> bool:
    """Whether the folder has a file of this corpus."""
    return any((folder / file).is_file() for file in plain_files(corpus))


def read_plain(corpus: str, folder: Path) -> ReleaseRows:
    """The rows of a corpus, as the parsers of the releases give them; all of its files have to be there."""
    wanted = published_record(corpus)
    for file, split in wanted.plain.items():
        if not (folder / file).is_file():
            raise ValueError(f"{file} is missing in {folder}, where other files of {corpus} are; put it there")
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


def count_rows(corpus: str, folder: Path) -> int | None:
    """How many rows lie in the files of a corpus, by their lines; None where one cannot be read."""
    count = 0
    for file in (folder / name for name in plain_files(corpus)):
        try:
            with gzip.open(file) as lines:
                count += sum(1 for line in lines if line.strip()) - (".tsv" in file.suffixes)  # without its header
        except (OSError, EOFError, zlib.error):
            return None
    return count


def expected_rows(folder: Path) -> dict[str, int | None]:
    """file -> the rows it should have, by the MANIFEST.json of the folder; empty where there is none."""
    manifest = folder / "MANIFEST.json"
    if not manifest.is_file():
        return {}
    try:
        return {str(entry["file"]): entry["rows"] for entry in json.loads(manifest.read_text(encoding="utf-8"))}
    except (ValueError, KeyError, TypeError) as reason:
        raise ValueError(f"{manifest} is damaged ({reason!r}); put it there again or remove it") from None


# --- finding ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """A corpus, and what its files had."""

    corpus: Corpus
    rows: Mapping[str, int]  # file -> rows with a label
    dropped: Mapping[tuple[str, str], int]  # (file, why) -> rows left out
    missing: tuple[str, ...] = ()  # files of the release that are not there

    @property
    def notes(self) -> list[str]:
        """What was left out and what is missing, a sentence each."""
        left = [f"{file}: rows left out for {why}: {count:,}" for (file, why), count in self.dropped.items()]
        return left + [f"{self.corpus.name} is not complete: {pattern} is not there" for pattern in self.missing]


@dataclass(frozen=True)
class Fetched:
    """What `fetch_published` brought, and what a person has to bring."""

    name: str
    folder: Path
    files: tuple[Path, ...]
    by_hand: tuple[Source, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.files)} files in {self.folder}"] if self.files else []
        lines += [
            f"{self.name}: fetch {source.name} by hand from {source.address} ({source.by_hand}) and put it into "
            f"{self.folder}"
            for source in self.by_hand
        ]
        return "\n".join(lines)


def published_record(name: str) -> Published:
    """The record of that name."""
    if name not in PUBLISHED:
        raise ValueError(f"name is {name!r}, expected a published dataset: {', '.join(PUBLISHED)}")
    return PUBLISHED[name]


def cache_folder(name: str) -> Path:
    """The folder in which the release of a set lies once it was fetched."""
    return user_cache_path("labkit") / "data" / name


def located(name: str, folder: Path | str | None = None) -> Path | None:
    """The folder or file the set would be read from, None where it has to be fetched first."""
    place = _place(published_record(name), folder)
    if place is None or not place[1]:
        return place and place[0]
    files = plain_files(name)
    return place[0] / files[0] if len(files) == 1 else (place[0] / files[0]).parent


def rows_here(name: str) -> int | None:
    """The rows that lie there: of the plain form as they are counted, of a release those of the files that are there.

    None where nothing lies there, or nobody knows.
    """
    wanted = published_record(name)
    place = _place(wanted)
    if place is None or wanted.shape == "vectors":
        return None
    where, plain = place
    if plain:
        return count_rows(name, where)
    for files in (wanted.rows, wanted.also):
        counts = [count for pattern, count in files.items() if present(where, pattern)]
        if counts:
            return None if None in counts else sum(count or 0 for count in counts)
    return None


def _place(wanted: Published, folder: Path | str | None = None) -> tuple[Path, bool] | None:
    """The folder of a set and whether it has the plain form."""
    named = folder or os.environ.get("LABKIT_DATA")
    if named and has_plain(wanted.name, Path(named)):
        return Path(named), True
    official = Path(folder) if folder else cache_folder(wanted.name)
    names = [*wanted.rows, *wanted.also] or [source.name for source in wanted.sources]
    if official.is_dir() and any(present(official, name) for name in names):
        return official, False
    return None


# --- reading ---------------------------------------------------------------------------------------------------


def load_published(name: str, folder: Path | str | None = None) -> Corpus:
    """The corpus; a `UserWarning` says what was left out. `folder` stands for LABKIT_DATA and the cache folder."""
    loaded = read_published(name, folder)
    for said in loaded.notes:
        note(said, stacklevel=2)
    return loaded.corpus


def read_published(name: str, folder: Path | str | None = None) -> Loaded:
    """The corpus with the counts of its files."""
    wanted = published_record(name)
    if wanted.shape == "vectors":
        raise ValueError(f"{name} is no corpus but word vectors; read its files with labkit.vectors.load_vectors")
    place = _place(wanted, folder)
    if place is None:
        ways = [f"`labkit data get {name}` fetches it"] if wanted.sources else []
        ways += ["LABKIT_DATA may name a folder that has it in the plain form"] if plain_files(name) else []
        raise ValueError(f"{name} is not here; {', or '.join(ways)}")
    where, plain = place
    if plain:
        expected = {file: count for file, count in expected_rows(where).items() if file in plain_files(name)}
        return _counted(_collected(name, read_plain(name, where)), expected, {}, "put the file there again")
    if wanted.parse is None:
        raise ValueError(f"{name}: labkit does not read the form of its release; set LABKIT_DATA to its plain form")
    remedy = f"remove the file and what it came in, and `labkit data get {name}` again"
    return _counted(_collected(name, wanted.parse(where)), wanted.rows, wanted.also, remedy)


def _collected(name: str, rows: ReleaseRows) -> Loaded:
    """The corpus out of a stream of rows, with splits of our own where the release has none."""
    columns: dict[str, list[Any]] = {}
    read: Counter[str] = Counter()
    dropped: Counter[tuple[str, str]] = Counter()
    for file, row in rows:
        label = next((row[column] for column in ("label", "score", "group") if column in row), "-")
        if not label:
            dropped[file, "no label"] += 1
            continue
        read[file] += 1
        if any(not str(row[column] or "").strip() for column in ("text", "text_a", "text_b") if column in row):
            dropped[file, "an empty text"] += 1
            continue
        _numbers(row, f"{file} row {read[file]}")
        if columns and row.keys() != columns.keys():
            odd = sorted(row.keys() ^ columns.keys())
            raise ValueError(f"{file}: column {odd[0]!r} is not in all files of {name}; are they of one release?")
        for column, value in row.items():
            columns.setdefault(column, []).append(value)
    if not columns:
        raise ValueError(f"{name}: no row with a text and a label was found; fetch the set again")
    return Loaded(from_columns(SHAPES_BY_NAME[published_record(name).shape], columns, name), dict(read), dict(dropped))


def _numbers(row: ReleaseRow, at: str) -> None:
    """What is a number, as one."""
    for column in ("label", "score", "lat_a", "lon_a", "lat_b", "lon_b"):
        if column not in row or (column == "label" and "text" in row):
            continue
        try:
            row[column] = float(row[column] or "nan")
        except ValueError:
            raise ValueError(f"{at}: {column} is {row[column]!r}, expected a number; fetch the set again") from None


def _counted(loaded: Loaded, rows: Mapping[str, int | None], also: Mapping[str, int | None], remedy: str) -> Loaded:
    """Refuse files that have more or fewer rows than they should, and name those that are missing."""
    matched = {
        pattern: [count for file, count in loaded.rows.items() if PurePosixPath(file).match(pattern)]
        for pattern in (*rows, *also)
    }
    for pattern, expected in (*rows.items(), *also.items()):
        if expected is not None and matched[pattern] and sum(matched[pattern]) != expected:
            raise ValueError(f"{pattern}: {sum(matched[pattern]):,} rows, expected {expected:,}; {remedy}")
    other_form = any(matched[pattern] for pattern in also)
    return loaded if other_form else replace(loaded, missing=tuple(name for name in rows if not matched[name]))


# --- fetching --------------------------------------------------------------------------------------------------


def fetch_published(name: str, *, progress: Progress = silent) -> Fetched:
    """Fetch and unpack the release into the user's cache folder.

    Files that are there are checked and not fetched again; those that a person has to fetch are named in the answer.
    """
    wanted = published_record(name)
    if not wanted.sources:
        raise ValueError(f"{name} has no official release to fetch. {wanted.note}")
    where = cache_folder(name)
    where.mkdir(parents=True, exist_ok=True)
    files, by_hand = [], []
    for source in wanted.sources:
        target = where / source.name
        if not source.by_hand:
            fetch(source.address, target, sha256=source.sha256, size=source.size, progress=progress)
        elif not target.exists() and not any(where.rglob(source.name)):
            by_hand.append(source)
            continue
        files.append(target)
        inside = where / re.sub(r"(\.tar)?\.\w+$", "", source.name)
        if target.exists() and is_archive(target) and not inside.exists():
            unpack(target, inside, limit_bytes=source.limit, only=source.only)
    return Fetched(name, where, tuple(files), tuple(by_hand))
