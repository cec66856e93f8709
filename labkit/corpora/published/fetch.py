"""Fetch one file over HTTP, whole or not at all, and unpack an archive that nobody vouches for.

`fetch`: an address and a target, to the target, complete and with the expected sha256. While it is on its way,
`NAME.part` (what has come so far) and `NAME.part.json` (which version of the file that is) stand beside the target, so
that a broken transfer goes on where it stopped, today or next week.

`unpack`: a zip or tar (also .gz, .bz2, .xz), to a new folder with its files, or an error and no folder. Nothing it
contains is trusted: not its names, not the sizes it claims, not that its members are plain files.
"""

from __future__ import annotations

import hashlib
import http.client
import json
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
from typing import IO, Any
from urllib import error, request
from urllib.parse import urlsplit

from labkit.atomic import NoRoom, room_for, sentence_of
from labkit.progress import Progress, silent

ATTEMPTS = 5
TIMEOUT = 30.0  # seconds without a byte
PAUSE = 1.0  # seconds before the second attempt, twice as many before the third, and so on
_CHUNK = 2**16
_PASSING = {408, 425, 429, 500, 502, 503, 504}  # answers that may be different a moment later


class _Broken(Exception):
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
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError(f"address is {address!r}, expected one that begins with https:// or http://")
    expected = sha256 or _noted(target)
    if target.exists():
        _check(target, expected, address, remove=False)
        _note(target, sha256)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part, notes = _beside(target, ".part"), _beside(target, ".part.json")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _receive(address, part, notes, size, progress)
            break
        except _Broken as reason:
            if attempt == ATTEMPTS:
                kept = f"what came is kept in {part.name}: try again later and it goes on from there"
                remedy = kept if part.exists() else "look at your connection and try again later"
                raise OSError(f"{address} could not be fetched in {attempt} attempts ({reason}); {remedy}") from None
            time.sleep(PAUSE * 2 ** (attempt - 1))
    notes.unlink(missing_ok=True)
    _check(part, expected, address, remove=True)
    part.replace(target)
    _note(target, sha256)
    return target


def _receive(address: str, part: Path, notes: Path, size: int | None, progress: Progress) -> None:
    """Bring `part` to its full length, from where it stands if the server still has the same file."""
    have, version = _resumable(address, part, notes)
    headers = {"Accept-Encoding": "identity", "User-Agent": "labkit"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    try:
        with _opener().open(request.Request(address, headers=headers), timeout=TIMEOUT) as response:
            start = _start(response, have, version, notes)
            total = _total(response, start, size, address)
            with room_for(part), part.open("r+b" if start else "wb") as file:
                notes.write_text(json.dumps({"address": address, "version": _version(response)}), encoding="utf-8")
                file.seek(start)
                file.truncate()
                _copy(response, file, start, total, progress, part.stem, address)
    except error.HTTPError as answer:
        with answer:
            _answered(answer, address, part, have)
    except (error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as reason:
        raise _Broken(getattr(reason, "reason", None) or reason) from None


def _opener() -> request.OpenerDirector:
    """What speaks HTTP and HTTPS and nothing else, redirections included."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(), request.HTTPHandler(), request.HTTPSHandler(), request.UnknownHandler(),
        request.HTTPRedirectHandler(), request.HTTPDefaultErrorHandler(), request.HTTPErrorProcessor(),
    ):  # fmt: skip
        opener.add_handler(handler)
    return opener


def _resumable(address: str, part: Path, notes: Path) -> tuple[int, str]:
    """How many bytes of which version are there; none where the version is not known."""
    try:
        known = json.loads(notes.read_text(encoding="utf-8"))
        if known["address"] == address and known["version"]:
            return part.stat().st_size, str(known["version"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return 0, ""


def _version(response: Any) -> str:
    """The ETag, or the date of the file where there is no strong one: what If-Range may be asked with."""
    tag = response.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", "")


def _start(response: Any, have: int, version: str, notes: Path) -> int:
    """The place in the file where the body begins: 0 unless the server goes on with the version we have."""
    if response.status != 206:
        return 0
    begins = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if begins and int(begins[1]) == have and _version(response) in ("", version):
        return have
    notes.unlink(missing_ok=True)  # the next try begins anew
    raise _Broken("the server went on with another part of the file, or with another file")


def _total(response: Any, start: int, size: int | None, address: str) -> int | None:
    """The full length as the server announces it, None where it does not."""
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdigit() else None
    if size is not None and total not in (None, size):
        raise ValueError(
            f"{address} announces {total} bytes, expected {size}; the release has changed or the address is "
            "wrong: look at its page"
        )
    return size if total is None else total


def _copy(
    response: Any, file: IO[bytes], done: int, total: int | None, progress: Progress, what: str, address: str
) -> None:
    """The body into the file, and its length against the announced one."""
    if response.will_close:
        response.length = None  # read to the true end: a longer body than announced shall be seen
    while True:
        try:
            chunk = response.read1(_CHUNK) if response.length is None else response.read(_CHUNK)
        except TimeoutError:
            if done == total:  # all is here, the server only does not hang up
                break
            raise _Broken(f"no byte came for a while after {done}") from None
        except (OSError, http.client.HTTPException) as reason:
            raise _Broken(f"the connection broke off after {done} bytes: {reason!r}") from None
        if not chunk:
            break
        done += len(chunk)
        if total is not None and done > total:
            break
        file.write(chunk)
        progress(done, total, what)
    if total is None:
        return
    if done < total:
        raise _Broken(f"the connection broke off after {done} of {total} bytes")
    if done > total:
        file.truncate(0)
        raise ValueError(
            f"{address} sent more bytes than the {total} it announced; nothing was kept, look at the set's page"
        )


def _answered(answer: error.HTTPError, address: str, part: Path, have: int) -> None:
    """An error status: worth another try, or final."""
    if answer.code == 416:  # nothing after what we have: it is complete, or it is another file now
        whole = re.fullmatch(r"bytes \*/(\d+)", answer.headers.get("Content-Range", ""))
        if have and whole and int(whole[1]) == have:
            return
        part.unlink(missing_ok=True)
        raise _Broken("the file at the address is shorter than what had come") from None
    if answer.code in _PASSING:
        raise _Broken(f"the server answered {answer.code} {answer.reason}") from None
    raise ValueError(
        f"{address} answered {answer.code} {answer.reason}; the file may have moved: look at the set's page and put "
        "it in place by hand"
    ) from None


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(target.name + ending)


def _noted(target: Path) -> str | None:
    """The sha256 of an earlier download, from the line `HEX  NAME` in NAME.sha256."""
    note = _beside(target, ".sha256")
    words = note.read_text(encoding="utf-8").split() if note.is_file() else []
    return next(iter(words), None)


def _note(target: Path, known: str | None) -> None:
    note = _beside(target, ".sha256")
    if known is None and _noted(target) is None:
        with room_for(note):
            note.write_text(f"{_sha256(target)}  {target.name}\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(path: Path, expected: str | None, address: str, *, remove: bool) -> None:
    """Refuse a file whose sha256 is not the expected one."""
    if expected is None or (actual := _sha256(path)) == expected.lower():
        return
    remedy = "remove it and fetch it again"
    if remove:
        path.unlink()
        remedy = "the file was removed; fetch it again, and if it stays so, the file at the address has changed"
    name = path.name.removesuffix(".part")
    raise ValueError(f"{name} from {address} has sha256 {actual}, expected {expected}; {remedy}")


# --- archives ----------------------------------------------------------------------------------------------------

Members = Iterator[tuple[str, IO[bytes] | None]]  # a name and its bytes; None for a folder

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
