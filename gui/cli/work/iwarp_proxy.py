"""``freezeframe iwarp proxy``: a relay between two other peers that breaks rules on its way."""

from __future__ import annotations

import json as json_lines
import socket
import threading
from collections.abc import Sequence
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.capture.listen import listen_address
from freezeframe.emulator.iwarp.errors import PeerSilentError
from freezeframe.emulator.iwarp.faults import FAULTS, Order
from freezeframe.emulator.iwarp.relay import Relay
from freezeframe.emulator.iwarp.verbs import Listener
from freezeframe.gui.cli.work.iwarp_peer import orders_of, struck_text
from freezeframe.gui.text import printable

_LOOK_S = 0.5


def proxy(
    listen: str, target: str, faults: Sequence[str], sender: str, seed: int, limit_s: float, *,
    once: bool, json: bool,
) -> None:  # fmt: skip
    """Relay whoever connects to the target, each connection with all the faults anew, until interrupted.

    Raises:
        InputError: an argument cannot be used, or the address is taken.
    """
    host, port = listen_address(listen)
    address = listen_address(target, name="target", hint="for instance 127.0.0.1:4791")
    orders = orders_of(faults, ("initiator", "responder"))
    with Listener(host, port) as listener:
        shown = f"[{listener.host}]" if ":" in listener.host else listener.host
        print(f"ready {shown}:{listener.port}", flush=True)
        number = 0
        while not once or not number:
            try:
                client = listener.take(_LOOK_S)
            except PeerSilentError:
                continue  # nobody in that time
            number += 1
            thread = threading.Thread(
                target=_relay,
                args=(client, address, orders, faults, sender, seed, limit_s, number, json),
                daemon=True,
            )
            thread.start()
            if once:
                thread.join()


def _relay(
    client: socket.socket, target: tuple[str, int], orders: Sequence[Order], faults: Sequence[str],
    sender: str, seed: int, limit_s: float, number: int, json: bool,
) -> None:  # fmt: skip
    where = "{}:{}".format(*client.getpeername()[:2])
    document: dict[str, Any] = {"connection": number, "peer": where}
    try:
        server = socket.create_connection(target, limit_s)
    except OSError as error:
        client.close()
        document["error"] = f"{target[0]}:{target[1]}: {error.strerror or error}"
        print(
            json_lines.dumps(document) if json else printable(f"{where}: {document['error']}"),
            flush=True,
        )
        return
    relay = Relay(client, server, orders, seed, default=sender)
    relay.ended.wait()
    document["strikes"] = [
        {"fault": s.name, "message": s.message, "position": s.position} for s in relay.strikes
    ]
    if json:
        print(json_lines.dumps(document), flush=True)
        return
    lines = struck_text(relay, faults) or [f"closed, {plural(len(orders), 'fault')} ordered"]
    for line in lines:
        print(printable(f"{where}: {line}"), flush=True)


def list_faults(*, json: bool) -> None:
    """Print the faults that there are, and which end can commit each."""
    rows = [(name, fault.sender or "either end") for name, fault in FAULTS.items()]
    if json:
        print(
            json_lines.dumps([{"fault": name, "sender": sender} for name, sender in rows], indent=2)
        )
        return
    for name, sender in rows:
        print(f"{name:<28}{sender}")


def need_target(listen: str, target: str) -> None:
    """See that both addresses were given.

    Raises:
        InputError: one is missing.
    """
    if not listen or not target:
        raise InputError("give LISTEN and TARGET, or --list: see freezeframe iwarp proxy --help")
