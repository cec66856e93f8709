"""Fetch one file over HTTP, whole or not at all, and unpack an archive that nobody vouches for.

`fetch`: an address and a target, to the target, complete and with the expected sha256. What has come so far is kept in
`NAME.part`; where the sha256 is known, a broken transfer resumes from there, today or next week.

`unpack`: a zip or tar (also .gz, .bz2, .xz), to a new folder with its files, or an error and no folder. Nothing it
contains is trusted: not its names, not that its members are plain files, not how large it becomes.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import shutil
import stat
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO
from urllib import error, request

from labkit.atomic import NoRoom, room_for, sentence_of
from labkit.progress import Progress, silent

ATTEMPTS = 5
TIMEOUT = 30.0  # seconds without a byte
PAUSE = 1.0  # seconds before the second attempt, twice as many before the third, and so on
PIECE = 2**16  # bytes that are copied together
PASSING = {408, 416, 425, 429, 500, 502, 503, 504}  # answers that may be different a moment later


class Broken(Exception):
    """The transfer stopped before its end; worth another try."""


def fetch(
    address: str,
    target: Path | str,
    *,
    sha256: str | None = None,
    size: int | None = None,
    progress: Progress = silent,
) -> Path:
    """Put the file at `address` at `target`. A target that is there already is checked and not fetched again.

    Where no `sha256` is known, the one of the first download is noted in `NAME.sha256` and holds from then on.
    """
    target = Path(target)
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"address is {address!r}, expected one that begins with https:// or http://")
    note = target.with_name(f"{target.name}.sha256")  # a line as `sha256sum --check` reads it
    expected = sha256 or (note.read_text(encoding="utf-8").split()[0] if note.is_file() else None)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.part")
        for attempt in range(1, ATTEMPTS + 1):
            try:
                _receive(address, part, size, resume=expected is not None, progress=progress)
                break
            except Broken as reason:
                if attempt == ATTEMPTS:
                    raise OSError(
                        f"{address} could not be fetched in {attempt} attempts ({reason}); check your connection, and "
                        "run the same command later"
                    ) from None
                time.sleep(PAUSE * 2 ** (attempt - 1))
        if expected is not None and _sha256(part) != expected.lower():
            found = _sha256(part)
            part.unlink()
            raise ValueError(
                f"{target.name} from {address} has sha256 {found}, expected {expected}; it was removed: fetch it "
                "again, and if that does not help, the file at the address has changed"
            )
        part.replace(target)
    elif expected is not None and (found := _sha256(target)) != expected.lower():
        raise ValueError(f"{target} has sha256 {found}, expected {expected}; remove it and fetch it again")
    if expected is None:
        note.write_text(f"{_sha256(target)}  {target.name}\n", encoding="utf-8")
    return target


def _receive(address: str, part: Path, size: int | None, *, resume: bool, progress: Progress) -> None:
    """Bring `part` to its full length."""
    have = part.stat().st_size if resume and part.exists() else 0
    headers = {"Accept-Encoding": "identity", "User-Agent": "labkit"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with request.urlopen(request.Request(address, headers=headers), timeout=TIMEOUT) as response:
            done = have if response.status == 206 else 0
            length = response.headers.get("Content-Length", "")
            total = done + int(length) if length.isdigit() else size
            if size is not None and total != size:
                raise ValueError(
                    f"{address} announces {total} bytes, expected {size}; the release has changed or the address is "
                    "wrong: look at its page"
                )
            with room_for(part), part.open("ab" if done else "wb") as file:
                while chunk := response.read(PIECE):
                    file.write(chunk)
                    done += len(chunk)
                    progress(done, total, part.stem)
        if total is not None and done != total:
            raise Broken(f"the connection broke off after {done} of {total} bytes")
    except error.HTTPError as answer:
        if answer.code == 416:  # nothing comes after what is there: it is of another file
            part.unlink(missing_ok=True)
        if answer.code in PASSING:
            raise Broken(f"the server answered {answer.code} {answer.reason}") from None
        raise ValueError(
            f"{address} answered {answer.code} {answer.reason}; the file may have moved: look at the set's page and "
            "put it in place by hand"
        ) from None
    except (error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as reason:
        raise Broken(getattr(reason, "reason", None) or reason) from None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- archives ----------------------------------------------------------------------------------------------------

MOST_MEMBERS = 200_000  # of an archive; no corpus of ours has a tenth of it


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
            if number > MOST_MEMBERS:
                raise ValueError(f"{archive.name} has more than {MOST_MEMBERS:,} members; unpack it by hand")
            path = beside / _inside(name, archive)
            if stream is None or (only and not any(PurePosixPath(name).match(pattern) for pattern in only)):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with room_for(path), path.open("xb") as file:
                while chunk := stream.read(PIECE):
                    left -= len(chunk)
                    if left < 0:
                        raise ValueError(f"{archive.name} unpacks to more than {limit_bytes:,} bytes, the limit")
                    file.write(chunk)
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


def _zipped(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
    """The name and the bytes of each member; None for a folder."""
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


def _tarred(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
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
