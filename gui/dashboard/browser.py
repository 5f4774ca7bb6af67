"""The dashboard in a browser of this machine: each page has a dashboard process, reached by a web socket.

It listens on the loopback only, and only a page that came from it is let in: any site that is open in the same browser
could connect to the loopback, too. What a browser shows can therefore never write to a card. A client that is slow or
silent is hung up on (`Connections`), and one that sends what no page sends loses its web socket.

Source: RFC 6455, section 10.2 (the Origin of a web socket).
"""

from __future__ import annotations

import asyncio
import json
import logging
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError
from textual_serve.app_service import AppService
from textual_serve.server import Server

from freezeframe.capture.errors import InputError
from freezeframe.gui.connections import Connections

_HOST = "127.0.0.1"
_PAGE = Path(__file__).with_name("page")
_AT_ONCE = 256  # connections beside those of open pages; for a further one the oldest goes
_LIMIT_S = 10.0  # for a request and its answer, and between two of them
_PAGES = 8  # each is a process
_MOST_CELLS = 1000  # lines or columns of a page
_LOG = logging.getLogger("freezeframe.browser")


def serve_in_browser(port: int, arguments: Sequence[str]) -> None:
    """Serve until Ctrl-C.

    Args:
        arguments: of the command line that each page runs, without the program.
    Raises:
        InputError: nothing can listen at the port.
    """
    server = browser_server(port, arguments)
    print(f"ready http://{_HOST}:{port}/", flush=True)
    try:
        server.serve()
    except OSError as error:
        raise InputError(f"{_HOST}:{port}: cannot listen there: {error}") from None


def browser_server(port: int, arguments: Sequence[str]) -> Server:
    """Return the server, not yet running."""
    command = shlex.join([sys.executable, "-m", "freezeframe", *arguments])
    return _LoopbackServer(
        command, host=_HOST, port=port, title="freezeframe watch", templates_path=str(_PAGE)
    )


class _LoopbackServer(Server):
    def __init__(self, command: str, **settings: Any) -> None:
        super().__init__(command, **settings)
        self._connections = Connections(_AT_ONCE, _LIMIT_S)
        self._pages = 0

    @property
    def _hosts(self) -> tuple[str, str]:
        return f"{_HOST}:{self.port}", f"localhost:{self.port}"

    def serve(self, debug: bool = False) -> None:
        """Serve until SIGINT or SIGTERM."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        _LOG.addFilter(_is_ours)
        app = await self._make_app()
        app.middlewares.append(self._timed)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        assert runner.server is not None
        made = _protocol(runner.server, self._connections)
        try:
            server = await loop.create_server(made, self.host, self.port, backlog=_AT_ONCE)
            await ended.wait()
            server.close()
        finally:
            await runner.cleanup()

    @web.middleware
    async def _timed(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Let a connection stay while its request is worked on; the answer has to be taken within the limit again."""
        transport = request.transport
        if transport is None:
            raise web.HTTPRequestTimeout
        self._connections.busy(transport)
        try:
            return await handler(request)
        finally:
            if not transport.is_closing():
                self._connections.enter(transport)

    async def handle_index(self, request: web.Request) -> Any:
        if request.host not in self._hosts:
            raise web.HTTPForbidden(text="ask for it by its address\n")
        return await super().handle_index(request)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        origins = [f"http://{host}" for host in self._hosts]
        if request.host not in self._hosts or request.headers.get("Origin") not in origins:
            raise web.HTTPForbidden(text="only the page of this server may connect\n")
        if not all(_is_size(request.query.get(side, "80")) for side in ("width", "height")):
            raise web.HTTPBadRequest(text=f"width and height are 1 to {_MOST_CELLS}\n")
        if self._pages >= _PAGES:
            raise web.HTTPServiceUnavailable(text=f"{_PAGES} pages are open; close one\n")
        self._pages += 1
        try:
            return await super().handle_websocket(request)
        finally:
            self._pages -= 1

    async def _process_messages(
        self, websocket: web.WebSocketResponse, app_service: AppService
    ) -> None:
        """Hand on what a page sends; one that sends anything else is closed."""
        async for message in websocket:
            if message.type != WSMsgType.TEXT:
                continue
            match _envelope(message.data):
                case ["stdin", str(keys)]:
                    await app_service.send_bytes(keys.encode("utf-8", "replace"))
                case ["resize", {"width": width, "height": height}] if _is_size(width) and _is_size(
                    height
                ):
                    await app_service.set_terminal_size(int(width), int(height))
                case ["ping", data]:
                    await websocket.send_json(["pong", data])
                case ["blur", *_]:
                    await app_service.blur()
                case ["focus", *_]:
                    await app_service.focus()
                case _:
                    await websocket.close(code=WSCloseCode.POLICY_VIOLATION)

    def initialize_logging(self) -> None:
        """Leave logging as it is: only warnings are shown, no line for every request."""

    async def on_startup(self, app: web.Application) -> None:
        """Print no banner: the line with the address is printed already."""


def _is_ours(record: logging.LogRecord) -> bool:
    """Return whether a record tells of something else than a client's broken request."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _envelope(text: str) -> Any:
    """Return a message of a page, or None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_size(cells: Any) -> bool:
    """Return whether a width or a height is one that a page can have."""
    text = str(cells)
    return len(text) < 5 and text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_CELLS


def _protocol(server: web.Server, connections: Connections) -> Callable[[], web.RequestHandler]:
    """Return what makes aiohttp's protocol for a connection, which is counted from its begin to its end."""

    class Counted(web.RequestHandler):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            assert isinstance(transport, asyncio.WriteTransport)
            connections.enter(transport)

        def connection_lost(self, exc: BaseException | None) -> None:
            if isinstance(self.transport, asyncio.WriteTransport):
                connections.leave(self.transport)
            super().connection_lost(exc)

    return lambda: Counted(server, loop=asyncio.get_running_loop(), logger=_LOG)
