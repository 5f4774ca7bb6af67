"""``freezeframe iwarp ping`` and ``stream``: round trips and throughput, of iWARP or of bare TCP by the same means."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.capture.listen import listen_address
from freezeframe.emulator.iwarp import plain_tcp
from freezeframe.emulator.iwarp.service import Client
from freezeframe.gui.cli.iwarp_options import Offers
from freezeframe.gui.cli.output import emit_json, progress_bar
from freezeframe.gui.cli.work.iwarp_peer import (
    agreed_document,
    agreed_text,
    options_of,
    told_strikes,
)
from freezeframe.gui.text import printable

_WARM = 10
_STEP = 100


def ping(
    peer: str, offers: Offers, size_B: int, count: int, *, write: bool, faults: Sequence[str],
    seed: int, tcp: bool, json: bool,
) -> None:  # fmt: skip
    """Measure half round trips.

    Raises:
        InputError: an argument cannot be used.
        IwarpError: the peer cannot be reached, or does not do as it should.
    """
    host, port = _address(peer)
    document: dict[str, Any] = {"peer": peer, "size_B": size_B, "count": count}
    if tcp:
        with closing(plain_tcp.Client(host, port)) as plain:
            times = plain.pings(size_B, _WARM + count)[_WARM:]
        what = "bare TCP"
    else:
        options = options_of(offers, faults, seed, "initiator")
        client = Client(host, port, options, max(size_B, 1), writes_back=write)
        if write:
            _need_hello(client, size_B)
        with (
            told_strikes(client.pair, faults),
            client.pair,
            progress_bar("pings", "messages") as update,
        ):
            for _ in range(_WARM):
                client.ping(size_B, write=write)
            times = []
            for number in range(count):
                times.append(client.ping(size_B, write=write))
                if number % _STEP == 0:
                    update(number, count, "")
        what = agreed_text(client.pair.agreed)
        document["agreed"] = agreed_document(client.pair.agreed)
    halves = sorted(time_ns / 2000 for time_ns in times)
    figures = {
        "least": halves[0],
        "median": statistics.median(halves),
        "p99": halves[min(len(halves) - 1, len(halves) * 99 // 100)],
        "most": halves[-1],
    }
    document["half_round_trip_us"] = {name: round(value, 2) for name, value in figures.items()}
    if json:
        emit_json(document)
        return
    print(printable(f"{peer}: {what}"))
    told = ", ".join(f"{name} {value:.1f}" for name, value in figures.items())
    print(f"half round trip of {size_B:,} octets, {count:,} times: {told} us")


def stream(
    peer: str, offers: Offers, size_B: int, count: int, operation: str, *, faults: Sequence[str],
    seed: int, tcp: bool, json: bool,
) -> None:  # fmt: skip
    """Measure throughput.

    Raises:
        InputError: an argument cannot be used.
        IwarpError: the peer cannot be reached, or does not do as it should.
    """
    host, port = _address(peer)
    document: dict[str, Any] = {
        "peer": peer,
        "size_B": size_B,
        "count": count,
        "operation": operation,
    }
    if tcp:
        with closing(plain_tcp.Client(host, port)) as plain:
            plain.stream(size_B, _WARM)
            took_ns = plain.stream(size_B, count)
        what = "bare TCP"
    else:
        options = options_of(offers, faults, seed, "initiator")
        client = Client(host, port, options, max(1 << 20, size_B))
        _need_hello(client, size_B)
        read = operation == "read"
        with (
            told_strikes(client.pair, faults),
            client.pair,
            progress_bar("stream", "messages") as update,
        ):
            client.stream(size_B, _WARM, read=read)
            update(0, count, operation)
            took_ns = client.stream(size_B, count, read=read)
        what = agreed_text(client.pair.agreed)
        document["agreed"] = agreed_document(client.pair.agreed)
    rate = size_B * count / took_ns
    document |= {"took_ns": took_ns, "MB_s": round(1000 * rate, 1)}
    if json:
        emit_json(document)
        return
    print(printable(f"{peer}: {what}"))
    print(
        f"{count:,} times {size_B:,} octets in {took_ns / 1e9:.2f} s: {1000 * rate:,.0f} MB/s, "
        f"{8 * rate:.2f} Gbit/s"
    )


def _address(peer: str) -> tuple[str, int]:
    return listen_address(peer, name="peer", hint="for instance 127.0.0.1:4791")


def _need_hello(client: Client, size_B: int) -> None:
    """See that the peer has told where to write, and room enough.

    Raises:
        InputError: it has not.
    """
    if client.theirs is None or client.theirs.length < size_B:
        client.pair.mpa.socket.close()
        raise InputError(
            f"{client.pair.peer}: does not offer {size_B:,} octets of memory in its private data; "
            "is it 'freezeframe iwarp listen', with --memory enough?"
        )
