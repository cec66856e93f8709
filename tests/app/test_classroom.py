"""The guard of a classroom without a server, and a running classroom over HTTP and WebSocket."""

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


# --- the guard without a server ----------------------------------------------------------------------------------


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> classroom.Guard:
    """A guard in front of an app that answers with the name and role of the visitor."""

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
    """A response: status, headers, text."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""


def ask(guard: classroom.Guard, path: str = "/", query: str = "", host: str = "lab:8501", **more: str) -> Answer:
    """The guard's response to a request."""
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
    """The cookie that a browser receives for this token."""
    return ask(guard, query=f"token={token}", **more).headers["set-cookie"].split(";")[0]


def test_a_token_becomes_a_cookie_and_leaves_the_address(guard: classroom.Guard) -> None:
    answer = ask(guard, "/train_page", f"corpus=a+b&token={TOKEN}&seed=1")
    assert (answer.status, answer.headers["location"]) == (303, "/train_page?corpus=a+b&seed=1")
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
    name, role = ask(guard, cookie=cookie.split(";")[0]).text.split()
    assert role == "visitor"
    assert name not in cookie  # the name on disk and on the teacher's page grants no access
    assert ask(guard, "//evil.example/x", f"token={TOKEN}").headers["location"] == "/evil.example/x"
    assert ask(guard, "/\\evil.example", f"token={TOKEN}").headers["location"] == "/evil.example"


def test_a_browser_keeps_its_name_after_a_restart_and_a_teacher_keeps_the_role(guard: classroom.Guard) -> None:
    first = shown(guard, TOKEN)
    name = ask(guard, cookie=first).text.split()[0]
    later = classroom.Guard(guard.app, {classroom.VISITOR: "another-token", classroom.TEACHER: "u" * 32})
    assert ask(later, cookie=first).status == 403  # the new token was not presented
    assert ask(later, cookie=shown(later, "another-token", cookie=first)).text.split() == [name, "visitor"]
    teacher = shown(guard, "t" * 32, cookie=first)
    assert ask(guard, cookie=teacher).text.split() == [name, "teacher"]
    assert ask(guard, cookie=shown(guard, TOKEN, cookie=teacher)).text.split() == [name, "teacher"]


def test_a_forged_cookie_grants_no_access(guard: classroom.Guard) -> None:
    name, _, value = shown(guard, TOKEN).partition("=")
    word, _, signature = value.partition(".")
    assert ask(guard, cookie=f"{name}={value}").status == 200
    last = "0" if value[-1] != "0" else "1"
    others = (value[:-1] + last, word, f"{word}.", f"{'0' * 32}.{signature}", TOKEN, "é" * 97, "")
    for forged in (*others, f"{'0' * 32}.{classroom.signature_of('0' * 32, '')}"):
        assert ask(guard, cookie=f"{name}={forged}").status == 403, forged
    assert ask(guard, cookie=f"labkit-8502={value}").status == 403


def test_a_wrong_token_grants_no_access(guard: classroom.Guard) -> None:
    cookie = shown(guard, TOKEN)
    for token in ("", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%00", "%ff", "é"):
        for answer in (ask(guard, query=f"token={token}"), ask(guard, query=f"token={token}", cookie=cookie)):
            assert answer.status == 403, token
            assert "set-cookie" not in answer.headers
    assert ask(guard, query=f"token={TOKEN}&token=wrong").status == 403


def test_only_printed_host_names_are_answered(guard: classroom.Guard) -> None:
    cookie = shown(guard, TOKEN)
    for host in ("lab", "LAB:8501", "[::1]:8501"):
        assert ask(guard, host=host, cookie=cookie).status == 200
    for host in ("evil.example", "lab.evil.example", "evil-lab", "", "127.0.0.1", "lab@evil.example", "[::1", "[lab"):
        assert ask(guard, host=host, cookie=cookie).status == 403
        assert ask(guard, host=host, query=f"token={TOKEN}").status == 403


def test_only_the_guard_identifies_a_visitor(guard: classroom.Guard) -> None:
    mine = {"x_labkit_visitor": "0" * 16, "x_labkit_role": "teacher"}
    assert ask(guard, **mine).status == 403
    cookie = shown(guard, TOKEN)
    assert ask(guard, cookie=cookie, **mine).text == ask(guard, cookie=cookie).text


def test_uploads_belong_to_their_visitor_with_limits_per_visitor_and_in_total(
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
        """The status of an upload, or 0 if it reached Streamlit."""
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
    assert put(guard, "a", "three") == 413  # without a length, an upload counts as the largest
    assert [put(guard, "b", "four", size), put(guard, "b", "four", b"nonsense")] == [0, 0]
    assert put(guard, "c", "five", size) == 413  # the limit in total
    del stored["one"]
    assert put(guard, "a", "three", size) == 0
    for session in ("four", "gone"):
        assert [put(guard, "a", session, size, method=method) for method in ("PUT", "DELETE")] == [403, 403]


@pytest.mark.parametrize(
    ("address", "variable", "on"),
    [("127.0.0.1", "", False), ("localhost", "", False), ("0.0.0.0", "", True), (None, "", True), ("::1", "1", True)],
)
def test_an_app_that_listens_to_others_is_a_classroom(
    monkeypatch: pytest.MonkeyPatch, address: str | None, variable: str, on: bool
) -> None:
    config.set_option("server.address", address)
    monkeypatch.setenv("LABKIT_CLASSROOM", variable)
    assert classroom.is_on() == on


# --- over HTTP and WebSocket -------------------------------------------------------------------------------------


@dataclass
class Room:
    """A running classroom."""

    address: str
    teachers: str
    runs: Path

    def ask(self, path: str, *, method: str = "GET", host: str = "127.0.0.1", cookie: str = "") -> HTTPResponse:
        """The response to an HTTP or WebSocket request; redirects are not followed."""
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
        """The cookie that a browser receives for a token."""
        return str(self.ask(f"/?token={token}").headers["Set-Cookie"]).split(";")[0]

    def person(self, page: str, query: str = "", cookie: str = "", resume: str = "") -> Person:
        """A visitor who opens a page or resumes a session; the same cookie is the same visitor."""
        return Person(self.address, page, query, cookie=cookie or self.cookie(), resume=resume)

    def name(self, cookie: str) -> str:
        """The name of the visitor with this cookie."""
        return classroom.name_of(cookie.partition("=")[2].partition(".")[0])


class Person(Visitor):
    """A visitor whose `said` collects all messages from the server."""

    said: str = ""

    def _hear(self, message: Any) -> None:
        super()._hear(message)
        self.said += str(message)

    async def look(self) -> str:
        """Run the page once and return its messages."""
        self.said = ""
        self.errors.clear()
        await self.run()
        return self.said

    @property
    def uploads(self) -> list[str]:
        """The addresses of the uploaded files."""
        states = self._states.values()
        return [
            file.file_urls.delete_url for each in states for file in each.file_uploader_state_value.uploaded_file_info
        ]

    async def turn(self, view: str) -> None:
        """Choose a view of the page; as in a browser, later runs send it again."""
        self._state("View").string_array_value.data[:] = [view]
        await self.run()

    async def tick(self, label: str, value: bool) -> None:
        """Set a checkbox and run the page."""
        self._state(label).bool_value = value
        await self.run()


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION", "false")  # visitors without a browser upload files
        with started(home, "--classroom", "--token", TOKEN) as (address, said):
            first, second = said.splitlines()
            assert f":{urlsplit(address).port}/?token={TOKEN}" in first
            assert TOKEN not in second
            yield Room(address, second.rpartition("=")[2], home / "runs")


def whole(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """An asynchronous test as a synchronous one, marked `whole`."""

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
    assert room.ask(f"{stream}?token={TOKEN}").status == 403  # a session needs the cookie, not the token
    assert room.ask(stream, cookie=cookie).status == 101
    assert room.ask("/media/0123456789abcdef.csv", cookie=cookie).status == 404
    for method in ("PUT", "POST", "DELETE", "HEAD", "OPTIONS"):
        assert room.ask(f"/_stcore/upload_file/a/b?token={TOKEN}", method=method).status == 403, method
    assert room.ask("/?token=wrong").status == 403
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
