"""Download one file over HTTP, completely or not at all, and unpack an untrusted archive."""

from __future__ import annotations

import re
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from labkit.atomic import NoRoom, folder_in_place, room_for, sentence_of
from labkit.extras import require
from labkit.progress import Progress, silent

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
