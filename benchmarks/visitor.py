"""A visitor of the app without a browser, who exchanges Streamlit's messages over a WebSocket.

Each run of a page gives the seconds from the request to the message that says it is done, and the bytes received.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Self

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

BOUNDARY = "labkit-benchmark"


@dataclass
class Visitor:
    """One session: the widgets shown so far, by label, and the plotly figures of the last run."""

    address: str
    page: str
    query: str = ""
    widgets: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    pictures: list[tuple[float, int]] = field(default_factory=list)  # seconds since the request, bytes
    session: str = ""
    cookie: str = ""  # of a classroom, as `name=value`
    resume: str = ""  # a session to resume, as a browser does after a lost connection

    async def __aenter__(self) -> Self:
        url = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        cookie: Any = {"additional_headers": {"Cookie": self.cookie}} if self.cookie else {}
        protocols: Any = ["streamlit", *(["no-xsrf-token", self.resume] if self.resume else [])]
        self._socket = await websockets.connect(
            url, subprotocols=protocols, max_size=None, ping_interval=None, **cookie
        )
        self._states: dict[str, WidgetState] = {}
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self._socket.close()

    async def run(self) -> tuple[float, int]:
        """Run the page once: seconds and bytes."""
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.page_name = self.page
        asked.rerun_script.widget_states.widgets.extend(self._states.values())
        for name in [name for name, state in self._states.items() if state.HasField("trigger_value")]:
            del self._states[name]  # a button stays pressed for one run only
        start, received = time.perf_counter(), 0
        self.pictures.clear()
        await self._socket.send(asked.SerializeToString())
        while True:
            data = await self._socket.recv()
            received += len(data)
            message = ForwardMsg.FromString(data)
            self._hear(message)
            if message.delta.new_element.HasField("plotly_chart"):
                self.pictures.append((time.perf_counter() - start, len(data)))
            again = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN  # the page redirects to another view
            if message.WhichOneof("type") == "script_finished" and not again:
                return time.perf_counter() - start, received

    async def move(self, label: str, value: float) -> tuple[float, int]:
        """Move a slider and wait for the page."""
        self._state(label).double_array_value.data[:] = [value]
        return await self.run()

    async def press(self, label: str) -> tuple[float, int]:
        """Press a button and wait for the page."""
        self._state(label).trigger_value = True
        return await self.run()

    async def bring(self, label: str, name: str, content: bytes) -> tuple[float, int]:
        """Upload a file and wait for the page."""
        asked = BackMsg()
        asked.file_urls_request.request_id = "1"
        asked.file_urls_request.session_id = self.session
        asked.file_urls_request.file_names.append(name)
        await self._socket.send(asked.SerializeToString())
        while (message := ForwardMsg.FromString(await self._socket.recv())).WhichOneof("type") != "file_urls_response":
            self._hear(message)
        urls = message.file_urls_response.file_urls[0]
        await asyncio.to_thread(_put, self.address + urls.upload_url, name, content, self.cookie)
        found = self._state(label).file_uploader_state_value.uploaded_file_info.add()
        found.name, found.size, found.file_id = name, len(content), urls.file_id
        found.file_urls.CopyFrom(urls)
        return await self.run()

    def _state(self, label: str) -> WidgetState:
        """An empty state for the widget whose label begins with `label`."""
        match = next((widget for name, widget in self.widgets.items() if name.startswith(label)), None)
        if match is None:
            raise ValueError(f"label is {label!r}, expected the beginning of one of {', '.join(self.widgets)}")
        self._states[match.id] = WidgetState(id=match.id)
        return self._states[match.id]

    def _hear(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
        if kind != "delta":
            return
        element = message.delta.new_element
        name = element.WhichOneof("type")
        found: Any = getattr(element, name) if name else None
        if name == "exception" or (name == "alert" and found.format == found.ERROR):
            self.errors.append(found.message if name == "exception" else found.body)
        if hasattr(found, "label") and hasattr(found, "id"):
            self.widgets[found.label] = found


def _put(url: str, name: str, content: bytes, cookie: str) -> None:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    body = head + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Cookie": cookie}
    urllib.request.urlopen(urllib.request.Request(url, body, kind, method="PUT")).close()
