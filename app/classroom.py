"""A classroom: who may enter, who is present, and what a visitor may see.

The token is in the address only once: the browser gets a cookie and is redirected to the address without the token. The
cookie contains a random word, which identifies the visitor after a reload or a restart of the app, and that word signed
with the token. No script on a page can read the cookie, and no other site can use it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from streamlit import config
from streamlit.runtime import get_instance
from trainings import owned

from labkit.atomic import amount

LOCAL = ("127.0.0.1", "localhost", "::1")
VISITOR, TEACHER = "visitor", "teacher"
NAME, ROLE = "x-labkit-visitor", "x-labkit-role"  # headers in which the guard tells the pages who it is
DAYS = 30  # that a browser is remembered
UPLOADS, ALL_UPLOADS = 60 * 2**20, 2**30  # bytes in the app's memory: per visitor, in total
UPLOAD = "/_stcore/upload_file/"
HOST = "The app cannot be opened at this address. Use one of the addresses that it printed when it was started."
MISSING = "This app is a classroom, and its address must contain a token. Ask the teacher for the full address."
WRONG = "The token in this address is wrong. Ask the teacher for the correct address."
NOT_YOURS = "This file belongs to another visitor, or the page that it was uploaded on is no longer open."
FULL = "Your files would exceed the per-visitor memory limit of {}. Remove a file, or close your other tabs."
ALL_FULL = "All visitors' files together would exceed the memory limit of {}. Try again when some visitors have left."
PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>labkit</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>body {{font: 1.125rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 22vh auto 0; padding: 0 1.5rem}}
</style></head><body><main><p>{}</p></main></body></html>
"""
SEALED = {"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


# --- at the door -------------------------------------------------------------------------------------------------


class Guard:
    """The app behind its tokens, role -> token: an ASGI middleware for HTTP and WebSocket."""

    def __init__(self, app: Any, tokens: Mapping[str, str]) -> None:
        self.app, self.tokens = app, tokens
        self._uploader: dict[str, str] = {}  # session -> visitor, kept when the connection is lost
        self._coming: Counter[str] = Counter()  # visitor -> bytes being uploaded
        PRESENT.guarded = True

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Reject requests without access; pass on all others with the visitor's name and role."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        word, role = self.known(request.cookies.get(cookie(), ""))
        shown = request.query_params.get("token") if scope.get("method") == "GET" else None
        if not is_named(request.headers.get("host", "")):
            await refuse(scope, receive, send, HOST)
        elif shown is not None:
            await self.enter(request, shown, word, role)(scope, receive, send)
        elif not role:
            await refuse(scope, receive, send, MISSING)
        else:
            await self.pass_on(with_name(scope, name_of(word), role), receive, send)

    def known(self, value: str) -> tuple[str, str]:
        """The word and the role in a cookie: a new word if it has none, no role if no token was given."""
        word, _, signature = value.partition(".")
        if not re.fullmatch("[0-9a-f]{32}", word):
            return secrets.token_hex(16), ""
        roles = [role for role, token in self.tokens.items() if equal(signature_of(word, token), signature)]
        return word, next(iter(roles), "")

    def enter(self, request: HTTPConnection, shown: str, word: str, before: str) -> Response:
        """Redirect a visitor with a token to the same address without it, and set a cookie."""
        role = next((role for role, token in self.tokens.items() if equal(token, shown)), "")
        if not role:
            return HTMLResponse(PAGE.format(WRONG), HTTPStatus.FORBIDDEN, SEALED)
        role = TEACHER if before == TEACHER else role
        rest = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "token"])
        # a path that begins with two slashes would lead to another host
        where = "/" + quote(request.scope["path"].lstrip("/\\")) + (f"?{rest}" if rest else "")
        answer = RedirectResponse(where, HTTPStatus.SEE_OTHER, SEALED | {"Referrer-Policy": "no-referrer"})
        value = f"{word}.{signature_of(word, self.tokens[role])}"
        answer.set_cookie(cookie(), value, max_age=DAYS * 86_400, httponly=True, samesite="lax")
        return answer

    async def pass_on(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a visitor's request on to Streamlit; visitors count as present while their WebSocket is open."""
        name = HTTPConnection(scope).headers[NAME]
        if scope["type"] == "websocket":
            PRESENT.came(name, HTTPConnection(scope).headers[ROLE] == TEACHER)
            try:
                await self.app(scope, receive, send)
            finally:
                PRESENT.left(name)
            return
        session = scope["path"].partition(UPLOAD)[2].split("/")[0]
        changes = UPLOAD in scope["path"] and scope["method"] in ("PUT", "DELETE")
        if changes and visitor_of(session) != name:
            await refuse(scope, receive, send, NOT_YOURS)
        elif changes and scope["method"] == "PUT":
            self._uploader[session] = name
            await self.take(name, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def take(self, name: str, scope: Any, receive: Any, send: Any) -> None:
        """Accept an upload if the visitor's share of the app's memory has room for it."""
        most = int(config.get_option("server.maxUploadSize")) * 2**20
        length = HTTPConnection(scope).headers.get("content-length", "")
        size = min(int(length), most) if length.isascii() and length.isdecimal() else most
        held = self.held()
        full = FULL.format(amount(UPLOADS)) if held[name] + size > UPLOADS else ""
        full = ALL_FULL.format(amount(ALL_UPLOADS)) if held.total() + size > ALL_UPLOADS else full
        if full:
            await refuse(scope, receive, send, full, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            self._coming[name] += size
            try:
                await self.app(scope, receive, send)
            finally:
                self._coming[name] -= size

    def held(self) -> Counter[str]:
        """The bytes of files in memory or being uploaded, by visitor."""
        held = Counter(self._coming)
        for session, files in [*get_instance().uploaded_file_mgr.file_storage.items()]:  # type: ignore[attr-defined]
            held[self._uploader[session]] += sum(len(file.data) for file in [*files.values()])
        return held


def visitor_of(session: str) -> str:
    """The name of the visitor whose session this is, or an empty string."""
    client = get_instance().get_client(session)
    context = client.client_context if client else None
    return dict(context.headers).get(NAME, "") if context else ""


async def refuse(scope: Any, receive: Any, send: Any, sentence: str, status: int = HTTPStatus.FORBIDDEN) -> None:
    """Reply with a single sentence instead of opening a WebSocket."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
    else:
        await HTMLResponse(PAGE.format(sentence), status, SEALED)(scope, receive, send)


def with_name(scope: Any, name: str, role: str) -> Any:
    """The request with the visitor's name and role in its headers, replacing any that it claimed itself."""
    scope = scope | {"headers": [*scope["headers"]]}
    headers = MutableHeaders(scope=scope)
    headers[NAME], headers[ROLE] = name, role
    return scope


def is_named(host: str) -> bool:
    """Whether a request uses a printed host name; any other may come from a foreign page (DNS rebinding)."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name in [each.lower() for each in config.get_option("server.allowedHosts")]


def cookie() -> str:
    """The cookie's name, with the port, because browsers share cookies between the ports of a machine."""
    return f"labkit-{config.get_option('server.port')}"


def signature_of(word: str, token: str) -> str:
    """The word signed with the token; nobody can forge it without the token."""
    return hmac.new(token.encode(), word.encode(), hashlib.sha256).hexdigest()


def equal(one: str, other: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def name_of(word: str) -> str:
    """The name of a visitor on this machine and its disk; their cookie cannot be derived from it."""
    return hashlib.sha256(word.encode()).hexdigest()[:16]


# --- who is here -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Present:
    """A visitor since the app started; `tabs` counts the open tabs, and `page` is the page opened last."""

    number: int
    since: float
    teacher: bool = False
    tabs: int = 0
    page: str = ""


class Register:
    """All visitors so far, by name. The guard and the pages write to it from different threads."""

    def __init__(self) -> None:
        self.guarded = False
        self._all: dict[str, Present] = {}
        self._lock = threading.Lock()

    def everyone(self) -> dict[str, Present]:
        """Name -> visitor, in order of arrival."""
        with self._lock:
            return dict(self._all)

    def came(self, name: str, teacher: bool) -> None:
        """Record that a visitor has opened another tab."""
        with self._lock:
            here = self._all.get(name, Present(len(self._all) + 1, time.time()))
            self._all[name] = replace(here, teacher=teacher, tabs=here.tabs + 1)

    def left(self, name: str) -> None:
        """Record that a visitor has closed a tab."""
        with self._lock:
            self._all[name] = replace(self._all[name], tabs=self._all[name].tabs - 1)

    def turned(self, name: str, page: str) -> None:
        """Record that a visitor has opened a page."""
        with self._lock:
            if name in self._all:
                self._all[name] = replace(self._all[name], page=page)


PRESENT = Register()


# --- what a page asks --------------------------------------------------------------------------------------------


def is_on() -> bool:
    """Whether the app is open to others, through `labkit app --classroom` or a Streamlit setting."""
    return bool(os.environ.get("LABKIT_CLASSROOM")) or st.get_option("server.address") not in LOCAL


def me() -> str:
    """The name of this visitor; empty outside a classroom."""
    return str(st.context.headers.get(NAME, "")) if is_on() else ""


def is_teacher() -> bool:
    """Whether this visitor has used the teacher's token."""
    return is_on() and PRESENT.guarded and st.context.headers.get(ROLE) == TEACHER


def sight() -> Callable[[Path], bool]:
    """Whether this visitor may see a run: their own, a shared one, or one that no visitor trained.

    The function can be called later, where Streamlit knows no visitor.
    """
    all_of_them, name = not is_on() or is_teacher(), me()

    def sees(run: Path) -> bool:
        whose = None if all_of_them else owned(run)
        return whose is None or whose.shared or (whose.owner != "" and whose.owner == name)

    return sees
