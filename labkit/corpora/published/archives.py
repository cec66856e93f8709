"""Open an archive that nobody vouches for.

In: a zip or tar (also .gz, .bz2, .xz). Out: a new folder with its files, or an error and no folder. Nothing it contains
is trusted: not its names, not the sizes it claims, not that its members are plain files.
"""

from __future__ import annotations

import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from labkit.atomic import NoRoom, room_for, sentence_of

Members = Iterator[tuple[str, IO[bytes] | None]]  # a name and its bytes; None for a folder

_CHUNK = 2**16
_MOST_MEMBERS = 200_000  # of an archive; no corpus of ours has a tenth of it


def is_archive(path: Path) -> bool:
    """Whether `unpack` is for this file, by its name."""
    return re.search(r"\.(zip|tar|tgz|tar\.(gz|bz2|xz))$", path.name, re.IGNORECASE) is not None


def unpack(archive: Path | str, folder: Path | str, *, limit_bytes: int, only: Sequence[str] = ()) -> Path:
    """The files of a zip or tar in a new `folder`; with `only`, those whose name matches one of these patterns.

    Refused, with nothing left behind: absolute names, `..`, links and devices, passwords, and more than `limit_bytes`
    unpacked.
    """
    archive, folder = Path(archive), Path(folder)
    if folder.exists():
        raise ValueError(f"folder is {str(folder)!r}, which exists, expected a new one; remove it first")
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        left = limit_bytes
        members = _zipped(archive) if archive.suffix.lower() == ".zip" else _tarred(archive)
        for number, (name, stream) in enumerate(members, 1):
            if number > _MOST_MEMBERS:
                raise ValueError(f"{archive.name} has more than {_MOST_MEMBERS:,} members; unpack it by hand")
            path = beside / _inside(name, archive)
            if stream is None or (only and not any(PurePosixPath(name).match(pattern) for pattern in only)):
                continue
            with room_for(path):
                left -= _written(stream, path, left, archive, limit_bytes)
        if not any(beside.rglob("*")):
            raise ValueError(f"{archive.name} holds no file that was asked for ({', '.join(only) or 'it is empty'})")
        beside.chmod(0o755)
        beside.rename(folder)
    except NoRoom:
        raise
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, NotImplementedError, OSError) as reason:
        raise ValueError(
            f"{archive.name} could not be unpacked ({sentence_of(reason)}); if it is damaged, remove it and fetch it "
            "again"
        ) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _zipped(archive: Path) -> Members:
    with zipfile.ZipFile(archive) as pack:
        for member in pack.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise ValueError(f"{archive.name}: {member.filename!r} is a link or a device; it was not unpacked")
            if member.flag_bits & 1:
                raise ValueError(f"{archive.name}: {member.filename!r} has a password; unpack it by hand")
            if member.is_dir():
                yield member.filename, None
                continue
            with pack.open(member) as stream:
                yield member.filename, stream


def _tarred(archive: Path) -> Members:
    with tarfile.open(archive, "r:*") as pack:
        for member in pack:
            if not (member.isfile() or member.isdir()):
                raise ValueError(f"{archive.name}: {member.name!r} is a link or a device; it was not unpacked")
            yield member.name, pack.extractfile(member)


def _inside(name: str, archive: Path) -> Path:
    """The name as a path that stays inside the folder."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or re.search(r"[\\\0]|^[A-Za-z]:", name):
        raise ValueError(f"{archive.name}: a member is named {name!r}, which leads outside; it was not unpacked")
    return Path(*parts)


def _written(stream: IO[bytes], path: Path, left: int, archive: Path, limit: int) -> int:
    """Copy one member, counting what really comes out of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with path.open("xb") as file:
        while chunk := stream.read(_CHUNK):
            count += len(chunk)
            if count > left:
                raise ValueError(
                    f"{archive.name} unpacks to more than {limit:,} bytes, the limit; nothing of it was kept"
                )
            file.write(chunk)
    return count
