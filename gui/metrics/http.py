"""A small HTTP server for ``/metrics`` and ``/json`` that stays up whatever is sent to it.

One thread a connection, few at a time, each with a time limit; only GET, only two pages, nothing of the request is
kept or printed. Away from the loopback it answers only who brings the token (RFC 6750, section 2.1); encryption is the
affair of a reverse proxy.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import socket
import threading
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import CollectorRegistry

from freezeframe.capture.counters.reader import SourceReader
from freezeframe.capture.errors import InputError
from freezeframe.gui.metrics.collect import SourcesCollector, sources_document

_AT_ONCE = 16  # connections; further ones are closed at once
_SILENCE_S = 5.0
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


class MetricsServer(ThreadingHTTPServer):
    """The server of some readers. ``serve_forever`` runs it, ``shutdown`` from another thread ends it."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, host: str, port: int, readers: Sequence[SourceReader], token: str | None = None
    ) -> None:
        """Listen.

        Args:
            port: 0 takes a free one; ``server_port`` is the one it took.
            token: needed from every client, when given.
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
        self._places = threading.BoundedSemaphore(_AT_ONCE)
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(f"{host}:{port}: cannot listen there: {error}") from None

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, unless too many are busy already."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and give the place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away or sent nonsense is its own affair."""


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    server_version = "freezeframe"
    sys_version = ""
    protocol_version = "HTTP/1.0"  # one request a connection
    timeout = _SILENCE_S

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
        if self.server.token is not None:
            given = self.headers.get("Authorization", "")
            wanted = f"Bearer {self.server.token}"
            return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
        # A page in a browser of this machine could ask under another name that leads to the loopback.
        host = self.headers.get("Host", "localhost")
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        return is_loopback(name)

    def _metrics(self) -> tuple[bytes, str]:
        encode, kind = choose_encoder(self.headers.get("Accept", ""))
        return encode(self.server.registry), kind

    def _json(self) -> tuple[bytes, str]:
        text = json.dumps(sources_document(self.server.readers), allow_nan=False)
        return text.encode("ascii"), "application/json"

    def _end(self, body: bytes, kind: str) -> None:
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
