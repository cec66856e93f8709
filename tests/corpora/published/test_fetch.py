"""The downloader against a local server that misbehaves as scripted, and harmful archives."""

from __future__ import annotations

import hashlib
import io
import stat
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora.published import fetch as module
from labkit.corpora.published.fetch import fetch, is_archive, unpack
from tests.waiting import HANG

BODY = bytes(range(256)) * 1200  # 307,200 bytes: several chunks
SHA256 = hashlib.sha256(BODY).hexdigest()
Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answer the n-th request with the n-th answer of the script, and all further ones with the last."""

    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(dict(self.headers))
        number = min(len(self.server.asked), len(self.server.script)) - 1
        self.server.script[number](self)
        self.close_connection = True

    def begin(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Answer] = []
        self.asked: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/set/file.bin"

    def handle_error(self, *_: object) -> None:
        pass  # a client that hangs up is part of the tests


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def whole(handler: Handler, body: bytes = BODY) -> None:
    handler.begin(200, Content_Length=len(body))
    handler.wfile.write(body)


def broken(upto: int) -> Answer:
    """The full length announced, the connection dropped after `upto` bytes."""

    def answer(handler: Handler) -> None:
        handler.begin(200, Content_Length=len(BODY))
        handler.wfile.write(BODY[:upto])

    return answer


def ranged(handler: Handler) -> None:
    """As the standard wants it: the rest where the version is the same, all of it where not."""
    asked = handler.headers.get("Range")
    if not asked:
        return whole(handler)
    start = int(asked.removeprefix("bytes=").removesuffix("-"))
    rest = f"bytes {start}-{len(BODY) - 1}/{len(BODY)}"
    handler.begin(206, Content_Length=len(BODY) - start, Content_Range=rest)
    handler.wfile.write(BODY[start:])


def get(
    server: Server, folder: Path, *, attempts: int = 3, pause: float = 0.0, timeout: float = HANG, **options: Any
) -> Path:
    """`fetch` with no waiting."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ATTEMPTS": attempts, "PAUSE": pause, "TIMEOUT": timeout}.items():
            patch.setattr(module, name, value)
        return fetch(server.address + options.pop("query", ""), folder / "file.bin", **options)


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- what goes well --------------------------------------------------------------------------------------------


def test_a_file_arrives_with_progress_and_its_checksum(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    seen: list[tuple[int, int | None, str]] = []
    target = get(server, tmp_path / "new" / "folder", progress=lambda *step: seen.append(step))
    assert target.read_bytes() == BODY
    assert seen[-1] == (len(BODY), len(BODY), "file.bin")
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    # no checksum was known: the one that came is noted, in the form `sha256sum --check` reads
    assert left_in(target.parent) == {"file.bin", "file.bin.sha256"}
    assert (target.parent / "file.bin.sha256").read_text() == f"{SHA256}  file.bin\n"


def test_a_file_that_is_there_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    get(server, tmp_path, sha256=SHA256.upper())
    get(server, tmp_path, sha256=SHA256)
    assert len(server.asked) == 1
    assert left_in(tmp_path) == {"file.bin"}


def test_a_broken_transfer_resumes_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.script = [broken(100_000), ranged]
    assert get(server, tmp_path, sha256=SHA256).read_bytes() == BODY
    assert "Range" not in server.asked[0]
    assert server.asked[1]["Range"] == "bytes=100000-"
    assert left_in(tmp_path) == {"file.bin"}


def test_a_file_that_changes_between_attempts_is_not_patched_together(server: Server, tmp_path: Path) -> None:
    new = BODY[::-1]
    server.script = [broken(100_000), lambda handler: whole(handler, new)]
    assert get(server, tmp_path).read_bytes() == new  # without a checksum nothing is resumed


def test_a_file_that_has_become_shorter_is_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(bytes(400_000))
    server.script = [lambda handler: handler.send_error(416), ranged]
    assert get(server, tmp_path, sha256=SHA256).read_bytes() == BODY
    assert "Range" not in server.asked[1]


# --- what goes wrong -------------------------------------------------------------------------------------------


def test_another_length_than_the_release_has_is_refused_before_it_comes(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    with pytest.raises(ValueError, match="307200.*12"):
        get(server, tmp_path, size=12)
    assert left_in(tmp_path) == set()


def test_a_wrong_checksum_is_an_error_and_the_file_is_removed(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    with pytest.raises(ValueError, match=SHA256):
        get(server, tmp_path, sha256="0" * 64)
    assert left_in(tmp_path) == set()


def test_the_noted_checksum_holds_from_then_on(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    target = get(server, tmp_path)
    target.write_bytes(b"damaged")
    with pytest.raises(ValueError, match=SHA256):
        get(server, tmp_path)
    target.unlink()
    server.script = [lambda handler: whole(handler, BODY[::-1])]
    with pytest.raises(ValueError, match=SHA256):
        get(server, tmp_path)
    assert left_in(tmp_path) == {"file.bin.sha256"}


def test_a_missing_file_is_told_at_once(server: Server, tmp_path: Path) -> None:
    server.script = [lambda handler: handler.send_error(404)]
    with pytest.raises(ValueError, match="404"):
        get(server, tmp_path)
    assert len(server.asked) == 1
    assert left_in(tmp_path) == set()


def test_pauses_grow_between_attempts(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    server.script = [lambda handler: handler.send_error(503)] * 3 + [whole]
    assert get(server, tmp_path, attempts=4, pause=3.0).read_bytes() == BODY
    assert slept == [3.0, 6.0, 12.0]
    server.script = [lambda handler: handler.send_error(503)]
    with pytest.raises(OSError, match="503"):
        get(server, tmp_path / "again", attempts=2)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "data.zip"])
def test_only_http_is_spoken(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="address"):
        fetch(address, tmp_path / "a")


def test_a_redirection_to_a_file_is_refused(server: Server, tmp_path: Path) -> None:
    server.script = [lambda handler: handler.begin(302, Location="file:///etc/hostname", Content_Length=0)]
    with pytest.raises(ValueError, match="302"):
        get(server, tmp_path)


# --- archives --------------------------------------------------------------------------------------------------


def zipped(path: Path, members: dict[str, bytes], links: tuple[str, ...] = ()) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, data in members.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            if name in links:
                member.external_attr = (stat.S_IFLNK | 0o777) << 16
            pack.writestr(member, data)
    return path


def tarred(path: Path, members: dict[str, bytes], links: tuple[str, ...] = (), mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as pack:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            if name in links:
                member.type, member.linkname = tarfile.SYMTYPE, data.decode()
                pack.addfile(member)
            else:
                member.size = len(data)
                pack.addfile(member, io.BytesIO(data))
    return path


MEMBERS = {"set/a.txt": b"one\n", "set/deep/b.txt": b"two\n" * 1000}


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.bz2", "tgz"])
def test_an_archive_is_unpacked(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"set.{ending}"
    assert is_archive(path)
    assert not any(is_archive(Path(name)) for name in ("a.tsv", "train.1.en.gz", "a.zip.part", "dump.xml.bz2"))
    mode = {"tar": "w", "tar.bz2": "w:bz2"}.get(ending, "w:gz")
    _ = zipped(path, MEMBERS) if ending == "zip" else tarred(path, MEMBERS, mode=mode)
    folder = unpack(path, tmp_path / "new" / "folder", limit_bytes=10_000)
    assert {name: (folder / name).read_bytes() for name in MEMBERS} == MEMBERS
    assert left_in(folder.parent) == {"folder"}


def test_only_what_is_asked_for(tmp_path: Path) -> None:
    path = zipped(tmp_path / "set.zip", MEMBERS)
    folder = unpack(path, tmp_path / "one", limit_bytes=100, only=("a.txt",))  # the limit is for what is unpacked
    assert [found.name for found in folder.rglob("*.txt")] == ["a.txt"]
    with pytest.raises(ValueError, match="c.txt"):
        unpack(path, tmp_path / "none", limit_bytes=100, only=("c.txt",))
    assert left_in(tmp_path) == {"set.zip", "one"}


HARM = {
    "outside": ({"../up.txt": b"x"}, (), "outside"),
    "hidden": ({"set/../../up.txt": b"x"}, (), "outside"),
    "absolute": ({"/tmp/labkit-up.txt": b"x"}, (), "outside"),
    "windows": ({"C:\\up.txt": b"x"}, (), "outside"),
    "backslash": ({"..\\up.txt": b"x"}, (), "outside"),
    "link": ({"set/ok.txt": b"fine", "set/link": b"/etc/hostname"}, ("set/link",), "link"),
    "bomb": ({"set/ok.txt": b"fine", "set/zeros": bytes(5_000_000)}, (), "1,000,000"),
    "many": ({f"set/{number}": bytes(300_000) for number in range(5)}, (), "1,000,000"),
    "empty": ({}, (), "empty"),
}


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("harm", HARM)
def test_a_harmful_archive_is_refused_and_leaves_nothing(harm: str, make: Callable[..., Path], tmp_path: Path) -> None:
    members, links, reason = HARM[harm]
    path = make(tmp_path / ("set.zip" if make is zipped else "set.tar.gz"), members, links)
    with pytest.raises(ValueError, match=reason):
        unpack(path, tmp_path / "folder", limit_bytes=1_000_000)
    assert left_in(tmp_path) == {path.name}
    assert not (tmp_path.parent / "up.txt").exists()


def test_a_size_that_lies_does_not_help_the_bomb(tmp_path: Path) -> None:
    path = zipped(tmp_path / "set.zip", {"zeros": bytes(5_000_000)})
    data = path.read_bytes()
    path.write_bytes(data.replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(ValueError, match="set.zip"):
        unpack(path, tmp_path / "folder", limit_bytes=1_000_000)
    assert left_in(tmp_path) == {"set.zip"}


def test_hard_links_and_devices_are_refused(tmp_path: Path) -> None:
    for kind in (tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        with tarfile.open(tmp_path / "set.tar", "w") as pack:
            member = tarfile.TarInfo("odd")
            member.type, member.linkname = kind, "a"
            pack.addfile(member)
        with pytest.raises(ValueError, match="odd"):
            unpack(tmp_path / "set.tar", tmp_path / "folder", limit_bytes=100)
