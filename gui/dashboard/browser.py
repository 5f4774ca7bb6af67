"""The dashboard in a browser of this machine: each page has a dashboard process, reached by a web socket.

It listens on the loopback only, and only a page that came from it is let in: any site that is open in the same browser
could connect to the loopback, too. What a browser shows can therefore never write to a card.

Source: RFC 6455, section 10.2 (the Origin of a web socket).
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web
from textual_serve.server import Server

from freezeframe.capture.errors import InputError

_HOST = "127.0.0.1"
_PAGE = Path(__file__).with_name("page")


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
    @property
    def _hosts(self) -> tuple[str, str]:
        return f"{_HOST}:{self.port}", f"localhost:{self.port}"

    async def handle_index(self, request: web.Request) -> Any:
        if request.host not in self._hosts:
            raise web.HTTPForbidden(text="ask for it by its address\n")
        return await super().handle_index(request)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        origins = [f"http://{host}" for host in self._hosts]
        if request.host not in self._hosts or request.headers.get("Origin") not in origins:
            raise web.HTTPForbidden(text="only the page of this server may connect\n")
        return await super().handle_websocket(request)

    def initialize_logging(self) -> None:
        """Leave logging as it is: a line for every request helps nobody."""

    async def on_startup(self, app: web.Application) -> None:
        """Print no banner: the line with the address is printed already."""
