"""A classroom over the real protocol, one start for all tests; and the guard by itself, without a server."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import classroom
import pytest
from streamlit import config
from trainings import Owned, write_owned

from benchmarks.visitor import Visitor
from labkit.shipped import DEMONSTRATIONS
from tests.waiting import HANG

from .conftest import started

TOKEN = "blue-house-77"
ROWS = "text,label\n" + "".join(
    f"{['red', 'blue', 'green'][i % 3]} {'car' if i % 2 else 'cat'} {i},{'ab'[i % 2]}\n" for i in range(60)
)
PLACES = (
    "/", "/train_page", "/teacher_page", "/_stcore/health", "/_stcore/host-config", "/_stcore/metrics",
    "/media/0123456789abcdef.csv", "/static/js/index.js", "/index.html", "/favicon.ico", "/component/x/index.html",
    "/_stcore/agent/openapi.json", "//", "/%2e%2e/", "/_stcore/upload_file/a/b",
)  # fmt: skip


# --- the guard by itself -----------------------------------------------------------------------------------------


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> classroom.Guard:
    """A guard before an app that answers by the names of its visitor."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = f"{headers[classroom.NAME]} {headers[classroom.ROLE]}".encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    monkeypatch.setattr(classroom, "PRESENT", classroom.Register())
    monkeypatch.setattr(config, "get_option", {"server.port": 8501, "server.allowedHosts": ["Lab", "::1"]}.__getitem__)
    return classroom.Guard(app, {classroom.VISITOR: TOKEN, classroom.TEACHER: "t" * 32})


@dataclass
class Answer:
    """What came back: status, headers, text."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""


def ask(guard: classroom.Guard, path: str = "/", query: str = "", host: str = "lab:8501", **more: str) -> Answer:
    """One request to the guard."""
    answer = Answer()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        answer.text += message.get("body", b"").decode()

    headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in ({"host": host} | more).items()]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": headers}
    asyncio.run(guard(scope | {"scheme": "http", "server": ("lab", 8501)}, None, send))
    return answer


def shown(guard: classroom.Guard, token: str, **more: str) -> str:
    """The cookie of a browser that has shown this token."""
    return ask(guard, query=f"token={token}", **more).headers["set-cookie"].split(";")[0]


def test_a_token_becomes_a_cookie_and_leaves_the_address(guard: classroom.Guard) -> None:
    answer = ask(guard, "/train_page", f"corpus=a+b&token={TOKEN}&seed=1")
    assert (answer.status, answer.headers["location"]) == (303, "/train_page?corpus=a+b&seed=1")
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
    name, role = ask(guard, cookie=cookie.split(";")[0]).text.split()
    assert role == "visitor"
    assert name not in cookie  # what stands on the disk and on the teacher's page opens nothing
    assert ask(guard, "//evil.example/x", f"token={TOKEN}").headers["location"] == "/evil.example/x"
    assert ask(guard, "/\\evil.example", f"token={TOKEN}").headers["location"] == "/evil.example"


def test_a_browser_keeps_its_name_over_another_start_and_the_teacher_his_rights(guard: classroom.Guard) -> None:
    first = shown(guard, TOKEN)
    name = ask(guard, cookie=first).text.split()[0]
    later = classroom.Guard(guard.app, {classroom.VISITOR: "another-token", classroom.TEACHER: "u" * 32})
    assert ask(later, cookie=first).status == 403  # this token was not shown
    assert ask(later, cookie=shown(later, "another-token", cookie=first)).text.split() == [name, "visitor"]
    teacher = shown(guard, "t" * 32, cookie=first)
    assert ask(guard, cookie=teacher).text.split() == [name, "teacher"]
    assert ask(guard, cookie=shown(guard, TOKEN, cookie=teacher)).text.split() == [name, "teacher"]


def test_a_cookie_that_was_not_given_opens_nothing(guard: classroom.Guard) -> None:
    name, _, value = shown(guard, TOKEN).partition("=")
    word, _, signature = value.partition(".")
    assert ask(guard, cookie=f"{name}={value}").status == 200
    last = "0" if value[-1] != "0" else "1"
    others = (value[:-1] + last, word, f"{word}.", f"{'0' * 32}.{signature}", TOKEN, "é" * 97, "")
    for forged in (*others, f"{'0' * 32}.{classroom.signature_of('0' * 32, '')}"):
        assert ask(guard, cookie=f"{name}={forged}").status == 403, forged
    assert ask(guard, cookie=f"labkit-8502={value}").status == 403


def test_a_wrong_token_opens_nothing(guard: classroom.Guard) -> None:
    cookie = shown(guard, TOKEN)
    for token in ("", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%00", "%ff", "é"):
        for answer in (ask(guard, query=f"token={token}"), ask(guard, query=f"token={token}", cookie=cookie)):
            assert answer.status == 403, token
            assert "set-cookie" not in answer.headers
    assert ask(guard, query=f"token={TOKEN}&token=wrong").status == 403


def test_only_the_names_that_were_printed_are_answered(guard: classroom.Guard) -> None:
    cookie = shown(guard, TOKEN)
    for host in ("lab", "LAB:8501", "[::1]:8501"):
        assert ask(guard, host=host, cookie=cookie).status == 200
    for host in ("evil.example", "lab.evil.example", "evil-lab", "", "127.0.0.1", "lab@evil.example", "[::1", "[lab"):
        assert ask(guard, host=host, cookie=cookie).status == 403
        assert ask(guard, host=host, query=f"token={TOKEN}").status == 403


def test_who_it_is_is_the_guards_to_say(guard: classroom.Guard) -> None:
    mine = {"x_labkit_visitor": "0" * 16, "x_labkit_role": "teacher"}
    assert ask(guard, **mine).status == 403
    cookie = shown(guard, TOKEN)
    assert ask(guard, cookie=cookie, **mine).text == ask(guard, cookie=cookie).text


def test_uploads_are_taken_from_their_visitor_only_up_to_a_limit_each_and_one_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored: dict[str, dict[str, Any]] = {}
    options = {"server.port": 8501, "server.allowedHosts": ["lab"], "server.maxUploadSize": 10}
    monkeypatch.setattr(config, "get_option", options.__getitem__)
    manager = type("Runtime", (), {"uploaded_file_mgr": type("Manager", (), {"file_storage": stored})})
    monkeypatch.setattr(classroom, "get_instance", lambda: manager)
    opened = {"one": "a", "two": "a", "three": "a", "four": "b", "five": "c"}
    monkeypatch.setattr(classroom, "visitor_of", lambda session: opened.get(session, ""))
    monkeypatch.setattr(classroom, "UPLOADS", 25 * 2**20)
    monkeypatch.setattr(classroom, "ALL_UPLOADS", 45 * 2**20)
    seen: list[int] = []

    def put(guard: classroom.Guard, name: str, session: str, *length: bytes, method: str = "PUT") -> int:
        """One upload: the status, or 0 where Streamlit took it."""
        seen.clear()
        path = f"/_stcore/upload_file/{session}/{len(stored.get(session, {}))}"
        headers = [(b"content-length", each) for each in length]
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers}

        async def send(message: Any) -> None:
            seen.append(message.get("status", 0))

        asyncio.run(guard.pass_on(classroom.with_name(scope, name, "visitor"), None, send))
        return next(iter(seen), 0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        _, session, file = scope["path"].rsplit("/", 2)
        stored.setdefault(session, {})[file] = type("File", (), {"data": bytes(10 * 2**20)})

    guard = classroom.Guard(app, {})
    size = str(10 * 2**20).encode()
    assert [put(guard, "a", session, size) for session in ("one", "two", "three")] == [0, 0, 413]
    assert put(guard, "a", "three") == 413  # one that does not say how large it is counts as the largest
    assert [put(guard, "b", "four", size), put(guard, "b", "four", b"nonsense")] == [0, 0]
    assert put(guard, "c", "five", size) == 413  # of all
    del stored["one"]
    assert put(guard, "a", "three", size) == 0
    for session in ("four", "gone"):
        assert [put(guard, "a", session, size, method=method) for method in ("PUT", "DELETE")] == [403, 403]


@pytest.mark.parametrize(
    ("address", "variable", "on"),
    [("127.0.0.1", "", False), ("localhost", "", False), ("0.0.0.0", "", True), (None, "", True), ("::1", "1", True)],
)
def test_whoever_listens_to_others_has_a_classroom(
    monkeypatch: pytest.MonkeyPatch, address: str | None, variable: str, on: bool
) -> None:
    config.set_option("server.address", address)
    monkeypatch.setenv("LABKIT_CLASSROOM", variable)
    assert classroom.is_on() == on


# --- over the real protocol --------------------------------------------------------------------------------------


@dataclass
class Room:
    """A started classroom."""

    address: str
    teachers: str
    runs: Path

    def ask(self, path: str, *, method: str = "GET", host: str = "127.0.0.1", cookie: str = "") -> HTTPResponse:
        """One request over HTTP, or to open a WebSocket; nobody follows where it leads."""
        place = urlsplit(self.address)
        connection = HTTPConnection(str(place.hostname), place.port, timeout=HANG)
        key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version": "13"}
        talk = {"Upgrade": "websocket", "Connection": "Upgrade", **key} if "stream" in path else {}
        connection.request(method, path, headers={"Host": f"{host}:{place.port}", "Cookie": cookie, **talk})
        response = connection.getresponse()
        if response.status != 101:
            response.read()
        connection.close()
        return response

    def cookie(self, token: str = TOKEN) -> str:
        """The cookie of a browser that has shown a token."""
        return str(self.ask(f"/?token={token}").headers["Set-Cookie"]).split(";")[0]

    def person(self, page: str, query: str = "", cookie: str = "", resume: str = "") -> Person:
        """Somebody who opens a page, or resumes a session; with a cookie, the same one as before."""
        return Person(self.address, page, query, cookie=cookie or self.cookie(), resume=resume)

    def name(self, cookie: str) -> str:
        """The name of the visitor with this cookie."""
        return classroom.name_of(cookie.partition("=")[2].partition(".")[0])


class Person(Visitor):
    """A visitor who remembers all that came, in `said`."""

    said: str = ""

    def _hear(self, message: Any) -> None:
        super()._hear(message)
        self.said += str(message)

    async def look(self) -> str:
        """Run the page once, and give what it said."""
        self.said = ""
        self.errors.clear()
        await self.run()
        return self.said

    @property
    def uploads(self) -> list[str]:
        """The addresses of what was uploaded."""
        states = self._states.values()
        return [
            file.file_urls.delete_url for each in states for file in each.file_uploader_state_value.uploaded_file_info
        ]

    async def turn(self, view: str) -> None:
        """Choose a view of the place, as a browser says again with each run."""
        self._state("View").string_array_value.data[:] = [view]
        await self.run()

    async def tick(self, label: str, value: bool) -> None:
        """Tick a box, and wait for the page."""
        self._state(label).bool_value = value
        await self.run()


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION", "false")  # visitors without a browser bring files
        with started(home, "--classroom", "--token", TOKEN) as (address, said):
            first, second = said.splitlines()
            assert f":{urlsplit(address).port}/?token={TOKEN}" in first
            assert TOKEN not in second
            yield Room(address, second.rpartition("=")[2], home / "runs")


def whole(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that talks to the server, as one that pytest waits for."""

    def waits(room: Room) -> None:
        asyncio.run(test(room))

    return pytest.mark.whole(waits)


@pytest.mark.whole
def test_without_a_token_there_is_no_session_script_upload_or_picture(room: Room) -> None:
    cookie = room.cookie()
    stream = "/_stcore/stream"
    for path in (*PLACES, stream):
        assert room.ask(path).status == 403, path
        assert room.ask(path, host="evil.example", cookie=cookie).status == 403, path
        assert room.ask(path, cookie=cookie + "0").status == 403, path
    assert room.ask(f"{stream}?token={TOKEN}").status == 403  # a token opens no session: what it gives, a cookie, does
    assert room.ask(stream, cookie=cookie).status == 101
    assert room.ask("/media/0123456789abcdef.csv", cookie=cookie).status == 404
    for method in ("PUT", "POST", "DELETE", "HEAD", "OPTIONS"):
        assert room.ask(f"/_stcore/upload_file/a/b?token={TOKEN}", method=method).status == 403, method
    for token in ("", "wrong", TOKEN[:-1]):
        assert room.ask(f"/?token={token}").status == 403
    assert room.ask(f"/?token={TOKEN}", host="evil.example").status == 403
    assert room.ask("/", cookie=cookie).status == 200


@whole
async def test_two_visitors_cannot_see_each_others_upload_or_unshared_run(room: Room) -> None:
    cookies = room.cookie(), room.cookie()
    shipped = next(each for each in DEMONSTRATIONS.values() if each.here and each.corpus == "captions")
    for cookie, run in zip(cookies, ("alpha-run", "beta-run"), strict=True):
        shutil.copytree(shipped.folder, room.runs / run)
        write_owned(Owned(room.runs / run, room.name(cookie)))
    query = "corpus=captions"
    async with room.person("why", query, cookies[0]) as one, room.person("why", query, cookies[1]) as two:
        assert ("alpha-run" in await one.look(), "beta-run" in one.said) == (True, False)
        assert ("alpha-run" in await two.look(), "beta-run" in two.said) == (False, True)
    async with room.person("why", f"{query}&vectors=run+alpha-run", cookies[1]) as two:  # by its link
        await two.look()
        offered = two.widgets["Vectors"].options
        assert "run beta-run" in offered
        assert "run alpha-run" not in offered
    async with room.person(
        "train", "view=Train&preset=Another+method&method=tfidf&corpus=your+own+file", cookies[0]
    ) as one:
        await one.look()
        await one.turn("Train")
        await one.bring("Your own file", "secret-name.csv", ROWS.encode())
        await one.press("Train")
        assert "tfidf-secret-name-seed0" in await one.look()
        async with room.person("train", "view=Train&corpus=your+own+file", cookies[1]) as two:
            assert "secret-name" not in await two.look()
            assert "Stop" not in two.widgets
        await one.press("Stop")
        await one.look()
        await one.tick("Share alpha-run", True)
    async with room.person("why", query, cookies[1]) as two:
        assert "alpha-run" in await two.look()


@whole
async def test_a_session_and_its_uploads_belong_to_one_visitor(room: Room) -> None:
    owner, other = room.cookie(), room.cookie()
    page = "train", "view=Train&preset=Another+method&method=tfidf&corpus=your+own+file"
    async with room.person(*page, owner) as one:
        await one.look()
        await one.bring("Your own file", "secret-name.csv", ROWS.encode())
        (upload,) = one.uploads
        for method in ("PUT", "DELETE"):
            assert room.ask(upload, method=method, cookie=other).status == 403
        async with room.person(*page, other, resume=one.session) as two:
            assert "secret-name" not in await two.look()
            assert two.session != one.session
        await one.look()
        assert one.errors == []
    async with room.person(*page, other, resume=one.session) as two:  # the owner's connection is lost
        assert "secret-name" not in await two.look()
        assert room.ask(upload, method="DELETE", cookie=other).status == 403
    async with room.person(*page, owner, resume=one.session) as again:
        assert "secret-name" in await again.look()
        assert again.session == one.session
        assert room.ask(upload, method="DELETE", cookie=owner).status == 204


@whole
async def test_a_vanished_upload_is_a_sentence(room: Room) -> None:
    async with room.person("train", "view=Train&preset=Another+method&method=tfidf&corpus=your+own+file") as one:
        await one.look()
        await one.bring("Your own file", "secret-name.csv", ROWS.encode())
        assert room.ask(one.uploads[0], method="DELETE", cookie=one.cookie).status == 204
        await one.look()
        assert len(one.errors) == 1
        assert "redacted" not in one.errors[0]
        await one.bring("Your own file", "secret-name.csv", ROWS.encode())
        await one.look()
        assert one.errors == []
