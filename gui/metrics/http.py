"""A small HTTP server for ``/metrics`` and ``/json`` that stays up whatever is sent to it.

One thread holds all connections, each with a time limit for the whole of it (`Connections`), so that a slow client
costs a descriptor and nobody's turn; only GET, only two pages, nothing of the request is kept or printed. Away from the
loopback it answers only who brings the token (RFC 6750, section 2.1); encryption is the affair of a reverse proxy.
"""

from __future__ import annotations

import asyncio
import hmac
import io
import ipaddress
import json
import socket
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import CollectorRegistry

from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.errors import InputError
from freezeframe.gui.connections import Connections
from freezeframe.gui.metrics.collect import SourcesCollector, sources_document

LIMIT_S = 10.0  # for a request and its answer
_AT_ONCE = 256  # connections; for a further one the oldest goes
_LINE_B = 1 << 16  # http.server's own limit of a line, taken for the whole head
_LEAST_TOKEN = 16


def is_loopback(host: str) -> bool:
    """Return whether a host to listen on can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(path: Path) -> str:
    """Return the token in a file: its first line.

    Raises:
        InputError: there is none, it is shorter than 16 characters, or others may read the file.
    """
    try:
        text = path.read_text(encoding="ascii").strip()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the token cannot be read: {error}") from None
    token = text.partition("\n")[0].strip()
    if len(token) < _LEAST_TOKEN:
        raise InputError(
            f"{path}: the token has {len(token)} characters; at least {_LEAST_TOKEN} are needed"
        )
    if mode & 0o077:
        raise InputError(f"{path}: others may read the token; run: chmod 600 {path}")
    return token


class MetricsServer:
    """The server of some readers. ``serve_forever`` runs it, ``shutdown`` from another thread ends it."""

    def __init__(
        self,
        host: str,
        port: int,
        readers: Sequence[SourceReader],
        token: str | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        """Listen.

        Args:
            port: 0 takes a free one; ``server_port`` is the one it took.
            token: needed from every client, when given.
            limit_s: how long a client may take for its request and the answer.
        Raises:
            InputError: the host is not the loopback and there is no token, or one cannot listen there.
        """
        if token is None and not is_loopback(host):
            raise InputError(
                f"{host}: can be reached from other machines; give --token-file FILE, or listen on 127.0.0.1"
            )
        self.readers = readers
        self.token = token
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(SourcesCollector(readers))
        self._connections = Connections(_AT_ONCE, limit_s)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=_AT_ONCE)
        except (OSError, OverflowError) as error:
            raise InputError(f"{host}:{port}: cannot listen there: {error}") from None
        self.server_port = int(self._socket.getsockname()[1])
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._loop.close()

    def serve_forever(self) -> None:
        """Answer until `shutdown`."""
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    def shutdown(self) -> None:
        """End `serve_forever`, from any thread, also when it has not begun yet."""
        self._loop.call_soon_threadsafe(self._ended.set)

    async def _serve(self) -> None:
        clients: set[asyncio.Task[None]] = set()

        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(self._client(reader, writer))
            clients.add(task)
            task.add_done_callback(clients.discard)

        async with await asyncio.start_server(begin, sock=self._socket, limit=_LINE_B):
            await self._ended.wait()
            self._connections.end()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a client; it may send nonsense, or go away at any time."""
        self._connections.enter(writer.transport)
        try:
            writer.write(await asyncio.to_thread(_answer, self, await _head(reader)))
            writer.write_eof()
            while await reader.read(
                _LINE_B
            ):  # closing over unread bytes would take the answer back
                pass
            writer.close()
            await writer.wait_closed()
        except OSError:
            writer.transport.abort()
        finally:
            self._connections.leave(writer.transport)


async def _head(reader: asyncio.StreamReader) -> bytes:
    """Return a request up to its empty line or its end; one too long ends in a line that is refused for it."""
    head = b""
    while len(head) <= _LINE_B:
        try:
            line = await reader.readline()
        except ValueError:  # longer than any line may be
            break
        head += line
        if line in (b"\r\n", b"\n", b""):
            return head
    return head + b"x" * (_LINE_B + 1)


def _answer(server: MetricsServer, head: bytes) -> bytes:
    """Return the whole answer to a request."""
    return _Handler(server, head).answer


class _Handler(BaseHTTPRequestHandler):
    """A request that is there already, and its answer in memory."""

    server_version = "freezeframe"
    sys_version = ""
    protocol_version = "HTTP/1.0"  # one request a connection

    answer: bytes

    def __init__(self, server: MetricsServer, head: bytes) -> None:
        self._server = server
        self._head = head
        super().__init__(None, ("", 0), server)  # type: ignore[arg-type]  # neither is used: see `setup`

    def setup(self) -> None:
        """Read from memory and write to it, in place of a socket."""
        self.rfile = io.BufferedReader(io.BytesIO(self._head))
        self.wfile = self._written = io.BytesIO()

    def finish(self) -> None:
        """Keep the answer."""
        self.answer = self._written.getvalue()

    def do_HEAD(self) -> None:
        self.do_GET()  # and _end leaves the body out

    def do_GET(self) -> None:
        pages: dict[str, Callable[[], tuple[bytes, str]]] = {
            "/metrics": self._metrics,
            "/json": self._json,
        }
        page = pages.get(self.path.partition("?")[0])
        if not self._allowed():
            self.send_response(HTTPStatus.UNAUTHORIZED)
            self.send_header("WWW-Authenticate", 'Bearer realm="freezeframe"')
            self._end(b"give the token: Authorization: Bearer ...\n", "text/plain; charset=utf-8")
        elif page is None:
            self.send_response(HTTPStatus.NOT_FOUND)
            self._end(b"there are /metrics and /json\n", "text/plain; charset=utf-8")
        else:
            body, kind = page()
            self.send_response(HTTPStatus.OK)
            self._end(body, kind)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: what clients send is not trusted, and a scrape a second would fill a log."""

    def _allowed(self) -> bool:
        if self._server.token is not None:
            given = self.headers.get("Authorization", "")
            wanted = f"Bearer {self._server.token}"
            return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
        # A page in a browser of this machine could ask under another name that leads to the loopback.
        host = self.headers.get("Host", "localhost")
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        return is_loopback(name)

    def _metrics(self) -> tuple[bytes, str]:
        encode, kind = choose_encoder(self.headers.get("Accept", ""))
        return encode(self._server.registry), kind

    def _json(self) -> tuple[bytes, str]:
        text = json.dumps(sources_document(self._server.readers), allow_nan=False)
        return text.encode("ascii"), "application/json"

    def _end(self, body: bytes, kind: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
