"""The dashboard in a browser of this machine: each page has a dashboard process of its own behind a web socket.

It listens on the loopback only, and only a page that came from it is let in: any site that is open in the same browser
could connect to the loopback, too. What a browser shows can therefore never write to a card.

Source: RFC 6455, section 10.2 (the Origin of a web socket).
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freezeframe.capture.errors import InputError

if TYPE_CHECKING:
    from textual_serve.server import Server

__all__ = ["browser_server", "serve_in_browser"]

_HOST = "127.0.0.1"
_PAGE = Path(__file__).with_name("page")


def serve_in_browser(
    port: int, arguments: Sequence[str], *, allow_write: bool, recording: bool
) -> None:
    """Serve until Ctrl-C.

    Args:
        arguments: of the command line that each page runs, without the program.
    Raises:
        InputError: together with what a browser may not do, or the extra ``browser`` is not installed.
    """
    if allow_write:
        raise InputError(
            "--serve and --allow-write: a dashboard in a browser only reads; leave one of them out"
        )
    if recording:
        raise InputError(
            "--serve and --record: every page would record to the same file; leave one of them out"
        )
    try:
        server = browser_server(port, arguments)
    except ImportError:
        raise InputError(
            "--serve needs the extra 'browser', which is not installed; run: pip install 'freezeframe[browser]'"
        ) from None
    print(f"ready http://{_HOST}:{port}/", flush=True)
    try:
        server.serve()
    except OSError as error:
        raise InputError(f"{_HOST}:{port}: cannot listen there: {error}") from None


def browser_server(port: int, arguments: Sequence[str]) -> Server:
    """Return the server, not yet running.

    Raises:
        ImportError: textual-serve is not installed.
    """
    from aiohttp import web
    from textual_serve.server import Server

    ours = f"{_HOST}:{port}", f"localhost:{port}"

    class LoopbackServer(Server):
        async def handle_index(self, request: web.Request) -> Any:
            if request.host not in ours:
                raise web.HTTPForbidden(text="ask for it by its address\n")
            return await super().handle_index(request)

        async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
            origins = [f"http://{host}" for host in ours]
            if request.host not in ours or request.headers.get("Origin") not in origins:
                raise web.HTTPForbidden(text="only the page of this server may connect\n")
            return await super().handle_websocket(request)

        def initialize_logging(self) -> None:
            """Leave logging as it is: a line for every request helps nobody."""

        async def on_startup(self, app: web.Application) -> None:
            """Print no banner: the line with the address is printed already."""

    command = shlex.join([sys.executable, "-m", "freezeframe", *arguments])
    return LoopbackServer(
        command, host=_HOST, port=port, title="freezeframe watch", templates_path=str(_PAGE)
    )
