"""Downloads from a local server that fails as scripted; harmful archives."""

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

from labkit.corpora.published.registry import ARCHIVE, fetch, unpack

BODY = bytes(range(256)) * 1200  # 307,200 bytes: several chunks
SHA256 = hashlib.sha256(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers the n-th request with the n-th answer of the script, and later requests with the last one."""

    server: Server

    def do_GET(self) -> None:
        script, self.server.asked = self.server.script, self.server.asked + 1
        script[min(self.server.asked, len(script)) - 1](self)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    script: list[Answer]
    asked = 0


Answer = Callable[[Handler], None]


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def whole(handler: Handler, body: bytes = BODY, upto: int | None = None) -> None:
    """Announce the full length, but send only `upto` bytes."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:upto])


def broken(handler: Handler) -> None:
    whole(handler, upto=100_000)


def redirected(handler: Handler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "file:///etc/hostname")
    handler.end_headers()


def get(server: Server, folder: Path, **options: Any) -> Path:
    """Call `fetch` without delays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", lambda seconds: None)
        return fetch(f"http://127.0.0.1:{server.server_address[1]}/set/file.bin", folder / "file.bin", **options)


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- one file ----------------------------------------------------------------------------------------------------


def test_a_file_arrives_with_progress(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    seen: list[tuple[int, int | None, str]] = []
    target = get(server, tmp_path / "new" / "folder", progress=lambda *step: seen.append(step))
    assert target.read_bytes() == BODY
    assert seen[-1] == (len(BODY), len(BODY), "file.bin")
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert left_in(target.parent) == {"file.bin"}


def test_an_existing_file_is_fetched_again_only_if_it_differs(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    for _ in range(2):
        get(server, tmp_path, sha256=SHA256)
    assert server.asked == 1
    (tmp_path / "file.bin").write_bytes(b"damaged")
    assert get(server, tmp_path, sha256=SHA256).read_bytes() == BODY
    assert server.asked == 2


def test_a_broken_transfer_is_retried(server: Server, tmp_path: Path) -> None:
    server.script = [broken, lambda handler: handler.send_error(503), whole]
    assert get(server, tmp_path).read_bytes() == BODY
    assert left_in(tmp_path) == {"file.bin"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda handler: whole(handler, BODY[::-1]), SHA256),
        (lambda handler: handler.send_error(404), "404"),
        (redirected, "file:///etc/hostname"),
        (broken, "file.bin"),
    ],
)
def test_a_failed_download_is_an_error_and_leaves_nothing(
    answer: Answer, said: str, server: Server, tmp_path: Path
) -> None:
    server.script = [answer]
    with pytest.raises(ValueError, match=said):
        get(server, tmp_path, sha256=SHA256)
    assert left_in(tmp_path) == set()


# --- archives ----------------------------------------------------------------------------------------------------


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
    assert ARCHIVE.sub("", path.name) == "set"
    assert not any(ARCHIVE.search(name) for name in ("a.tsv", "train.1.en.gz", "a.zip.part", "dump.xml.bz2"))
    mode = {"tar": "w", "tar.bz2": "w:bz2"}.get(ending, "w:gz")
    _ = zipped(path, MEMBERS) if ending == "zip" else tarred(path, MEMBERS, mode=mode)
    folder = unpack(path, tmp_path / "new" / "folder", limit_bytes=10_000)
    assert {name: (folder / name).read_bytes() for name in MEMBERS} == MEMBERS
    assert left_in(folder.parent) == {"folder"}


def test_only_requested_files_are_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path / "set.zip", MEMBERS)
    folder = unpack(path, tmp_path / "one", limit_bytes=100, only=("a.txt",))  # the limit counts only unpacked files
    assert [found.name for found in folder.rglob("*.txt")] == ["a.txt"]
    with pytest.raises(ValueError, match="c.txt"):
        unpack(path, tmp_path / "none", limit_bytes=100, only=("c.txt",))
    assert left_in(tmp_path) == {"set.zip", "one"}


HARM = {
    "outside": ({"set/../../up.txt": b"x"}, "outside"),
    "absolute": ({"/tmp/labkit-up.txt": b"x"}, "outside"),
    "backslash": ({"..\\up.txt": b"x"}, "outside"),
    "many": ({f"set/{number}": bytes(300_000) for number in range(5)}, "1,000,000"),
    "empty": ({}, "empty"),
}


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("harm", HARM)
def test_a_harmful_archive_is_refused_and_leaves_nothing(harm: str, make: Callable[..., Path], tmp_path: Path) -> None:
    members, reason = HARM[harm]
    path = make(tmp_path / ("set.zip" if make is zipped else "set.tar.gz"), members)
    with pytest.raises(ValueError, match=reason):
        unpack(path, tmp_path / "folder", limit_bytes=1_000_000)
    assert left_in(tmp_path) == {path.name}
    assert not (tmp_path.parent / "up.txt").exists()


def test_a_false_size_does_not_hide_a_bomb(tmp_path: Path) -> None:
    path = zipped(tmp_path / "set.zip", {"zeros": bytes(5_000_000)})
    data = path.read_bytes()
    path.write_bytes(data.replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(ValueError, match="set.zip"):
        unpack(path, tmp_path / "folder", limit_bytes=1_000_000)
    assert left_in(tmp_path) == {"set.zip"}


def test_links_and_devices_are_skipped(tmp_path: Path) -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        path = tarred(tmp_path / "set.tar", {"set/ok.txt": b"fine"}, mode="w")
        with tarfile.open(path, "a") as pack:
            member = tarfile.TarInfo("set/odd")
            member.type, member.linkname = kind, "/etc/hostname"
            pack.addfile(member)
        folder = unpack(path, tmp_path / f"folder {kind!r}", limit_bytes=100)
        assert left_in(folder / "set") == {"ok.txt"}
    zipped(tmp_path / "set.zip", {"ok.txt": b"fine", "link": b"/etc/hostname"}, links=("link",))
    assert not (unpack(tmp_path / "set.zip", tmp_path / "zip", limit_bytes=100) / "link").is_symlink()
