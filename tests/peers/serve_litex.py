"""LiteX's own RemoteServer in a process of its own, until standard input closes.

Run as ``python -m tests.peers.serve_litex HOST PORT``: CommUDP asks the Etherbone server there, and
litex_server's TCP side listens on a free port, which is printed.
"""

from __future__ import annotations

import contextlib
import socket
import sys

from litex.tools.litex_server import RemoteServer
from litex.tools.remote.comm_udp import CommUDP


def comm_udp(host: str, port: int) -> CommUDP:
    """Return LiteX's UDP client, probed, on a local port of its own.

    Its own ``open`` binds the server's port number locally, which the server on the same host
    already holds; a socket that is there beforehand is kept.
    """
    comm = CommUDP(server=host, port=port)
    comm.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    comm.socket.bind((host, 0))
    comm.socket.settimeout(comm.timeout)
    comm.probe(host, port)
    return comm


def main(host: str, port: str) -> None:
    server = RemoteServer(comm_udp(host, int(port)), "127.0.0.1", 0)
    with contextlib.redirect_stdout(sys.stderr):
        server.open()
        server.start(4)
    print(f"litex://127.0.0.1:{server.socket.getsockname()[1]}", flush=True)
    # Its threads print when someone connects; the line above must stay the only one.
    with contextlib.redirect_stdout(sys.stderr):
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
