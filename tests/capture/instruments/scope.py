"""An oscilloscope on a TCP socket, written from the programmer's guide; it can misbehave on request."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.threads import beside

IDN = "MAKER,MSO-X 3054A,MY00000001,02.00.2013"


@dataclass
class Scope:
    """Two analog channels and a pod, a point each 100 ns; ``answers`` replace what it would say.

    A byte is (volts - y_origin) / y_increment + y_reference = volts / 0.02 + 128.
    """

    analog: dict[str, list[float]] = field(default_factory=dict)
    pod: list[int] = field(default_factory=list)
    idn: str = IDN
    answers: dict[str, bytes] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    stop_after_B: int | None = None
    hang_up: bool = False
    indefinite: bool = False
    points: int | None = None
    source: str = ""

    def raw(self) -> bytes:
        if self.source.startswith("POD"):
            return bytes(self.pod)
        return bytes(round(volts / 0.02) + 128 for volts in self.analog[self.source])

    def answer(self, command: str) -> bytes | None:
        self.log.append(command)
        if command in self.answers:
            return self.answers[command]
        if command.startswith(":WAVeform:SOURce "):
            self.source = command.split()[1]
        match command:
            case "*IDN?":
                return self.idn.encode() + b"\n"
            case "*OPC?":
                return b"1\n"
            case ":SYSTem:ERRor?":
                return b'+0,"No error"\n'
            case ":WAVeform:PREamble?":
                points = len(self.raw()) if self.points is None else self.points
                return f"+0,+0,{points},+1,+1.0E-07,-2.0E-06,0,+2.0E-02,0.0,128\n".encode()
            case ":WAVeform:DATA?":
                data = self.raw()
                head = b"#0" if self.indefinite else f"#8{len(data):08d}".encode()
                return head + data + b"\n"
        return b"?\n" if command.endswith("?") else None


def _serve(connection: socket.socket, scope: Scope, ended: Callable[[], bool]) -> None:
    with connection:
        buffer = b""
        while not ended():
            while b"\n" not in buffer:
                try:
                    got = connection.recv(4096)
                except TimeoutError:
                    if ended():
                        return
                    continue
                except OSError:
                    return
                if not got:
                    return
                buffer += got
            line, _, buffer = buffer.partition(b"\n")
            said = scope.answer(line.decode())
            if said is None:
                continue
            if line == b":WAVeform:DATA?" and scope.stop_after_B is not None:
                connection.sendall(said[: scope.stop_after_B])
                if scope.hang_up:
                    return
                continue
            connection.sendall(said)


@contextmanager
def served(scope: Scope, connected: Callable[[], None] | None = None) -> Iterator[str]:
    """Serve one connection after the other and yield the VISA name."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)

        def run(ended: Callable[[], bool]) -> None:
            while not ended():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                if connected is not None:
                    connected()
                connection.settimeout(0.1)
                _serve(connection, scope, ended)

        with beside(run):
            yield f"TCPIP::127.0.0.1::{server.getsockname()[1]}::SOCKET"
