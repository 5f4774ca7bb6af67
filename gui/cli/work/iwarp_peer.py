"""``freezeframe iwarp listen`` and ``connect``: our end of a connection, from the command line."""

from __future__ import annotations

import json as json_lines
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from freezeframe.capture.errors import InputError
from freezeframe.capture.listen import listen_address
from freezeframe.decoders.iwarp.words import terminate_words
from freezeframe.emulator.iwarp import plain_tcp
from freezeframe.emulator.iwarp.errors import IwarpError, PeerSilentError, TerminatedError
from freezeframe.emulator.iwarp.faults import FAULTS, Order, parse_order
from freezeframe.emulator.iwarp.mpa import Negotiated, Options
from freezeframe.emulator.iwarp.relay import Relay
from freezeframe.emulator.iwarp.service import Client, Hello, Service
from freezeframe.emulator.iwarp.startup import MOST_PRIVATE_B
from freezeframe.emulator.iwarp.verbs import Listener, QueuePair, accept
from freezeframe.gui.cli.iwarp_options import Offers
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.text import printable

_LOOK_S = 0.5
_MOST_RECEIVE_B = 1 << 16


def options_of(offers: Offers, faults: Sequence[str], seed: int, role: str) -> Options:
    """Return the stack's options; ``role`` is ours.

    Raises:
        InputError: private data that is too long or no hex, options that exclude each other, or a fault that there
            is not.
    """
    data = private_octets(offers.private_data)
    if offers.peer_to_peer and offers.revision < 2:
        raise InputError("--peer-to-peer needs --revision 2: enhanced data says it")
    if 0 < offers.ulpdu_B < 128:
        raise InputError(f"--ulpdu {offers.ulpdu_B}: at least 128, or 0 for what fits a segment")
    if not offers.limit_s > 0:
        raise InputError("--limit: give a time above 0")
    return Options(
        markers=offers.markers, crc=offers.crc, revision=offers.revision, ird=offers.ird,
        ord=offers.ord, peer_to_peer=offers.peer_to_peer, private_data=data,
        startup_s=offers.limit_s, stall_s=offers.limit_s, mulpdu_B=offers.ulpdu_B,
        faults=orders_of(faults, (role,)), seed=seed,
    )  # fmt: skip


def orders_of(faults: Sequence[str], roles: Sequence[str]) -> tuple[Order, ...]:
    """Return the faults that were ordered.

    Raises:
        InputError: there is no such fault, or none of these ends can commit it.
    """
    orders = tuple(parse_order(text) for text in faults)
    for order in orders:
        sender = FAULTS[order.name].sender
        if sender and sender not in roles:
            raise InputError(f"--fault {order.name}: only the {sender} can break that rule")
    return orders


def struck_text(relay: Relay | None, faults: Sequence[str]) -> list[str]:
    """Return a line for each fault that has struck, and one for those that have not."""
    if relay is None:
        return []
    strikes = relay.strikes
    lines = [
        f"fault {s.name}: "
        + (
            "in the MPA frame"
            if s.position < 0
            else f"message {s.message}, octet {s.position} of the stream"
        )
        for s in strikes
    ]
    left = [text for text in faults if text.partition("@")[0] not in {s.name for s in strikes}]
    return [*lines, *([f"did not strike: {', '.join(left)}"] if left else [])]


@contextmanager
def told_strikes(pair: QueuePair, faults: Sequence[str]) -> Iterator[None]:
    """Say on standard error, at the end of the block, which faults have struck; also where that ended it, and say of
    the peer's Terminate what it means.
    """
    try:
        yield
    except TerminatedError as error:
        words = f"{error}, {terminate_words(*error.cause)}"
        raise TerminatedError(words, error.cause, error.message) from None
    finally:
        for line in struck_text(pair.relay, faults):
            print(printable(line), file=sys.stderr)


def private_octets(text: str) -> bytes:
    """Return private data as given.

    Raises:
        InputError: it is too long, or begins with 0x and is no hex.
    """
    try:
        data = bytes.fromhex(text[2:]) if text.startswith("0x") else text.encode()
    except ValueError:
        raise InputError(f"--private-data {text!r}: after 0x, two hex digits an octet") from None
    if len(data) > MOST_PRIVATE_B - 4:
        raise InputError(f"--private-data: {len(data)} octets; {MOST_PRIVATE_B - 4} at most")
    return data


def agreed_document(agreed: Negotiated) -> dict[str, Any]:
    """Return what a startup came to, for programs."""
    return {
        "revision": agreed.revision, "crc": agreed.crc, "markers_sent": agreed.markers_out,
        "markers_received": agreed.markers_in, "ird": agreed.ird, "ord": agreed.ord,
        "private_data": agreed.private_data.hex(),
    }  # fmt: skip


def agreed_text(agreed: Negotiated) -> str:
    """Return what a startup came to, for people."""
    markers = {
        (False, False): "no markers", (True, True): "markers both ways",
        (True, False): "markers sent", (False, True): "markers received",
    }[agreed.markers_out, agreed.markers_in]  # fmt: skip
    reads = f"reads {agreed.ird} in, {agreed.ord} out"
    data = f", private data {agreed.private_data!r}" if agreed.private_data else ""
    if hello := Hello.of(agreed.private_data):
        data = f", the peer's memory: {hello.length:,} octets under STag {hello.stag:#010x}"
    return (
        f"revision {agreed.revision}, CRC {'on' if agreed.crc else 'off'}, {markers}, {reads}{data}"
    )


def listen(
    address: str, offers: Offers, memory_B: int, *, reject: bool, faults: Sequence[str], seed: int,
    tcp: bool, json: bool,
) -> None:  # fmt: skip
    """Serve whoever connects, each in a thread of its own, until interrupted.

    Raises:
        InputError: an argument cannot be used, or the address is taken.
    """
    host, port = listen_address(address)
    options = options_of(offers, faults, seed, "responder")
    with Listener(host, port) as listener:
        shown = f"[{listener.host}]" if ":" in listener.host else listener.host
        print(f"ready {shown}:{listener.port}", flush=True)
        while True:
            try:
                connected = listener.take(_LOOK_S)
            except PeerSilentError:
                continue  # nobody in that time
            where = "{}:{}".format(*connected.getpeername()[:2])
            if tcp:
                target, arguments = plain_tcp.serve, (connected,)
            else:
                target, arguments = _serve, (connected, where, memory_B, options, reject, json)  # type: ignore[assignment]
            try:
                threading.Thread(target=target, args=arguments, name=where, daemon=True).start()
            except RuntimeError as error:  # of threads there are not enough
                connected.close()
                print(f"{where}: not served: {error}", flush=True)


def _serve(
    connected: Any, where: str, memory_B: int, options: Options, reject: bool, json: bool
) -> None:
    document: dict[str, Any] = {"peer": where}
    relay = None
    service = Service(memory_B, min(memory_B, _MOST_RECEIVE_B))
    data = options.private_data or service.hello
    try:
        pair = accept(
            connected, service.domain, service.completions, replace(options, private_data=data),
            reject=reject,
        )  # fmt: skip
        document["agreed"] = agreed_document(pair.agreed)
        if not json:
            print(printable(f"{where}: {agreed_text(pair.agreed)}"), flush=True)
        relay = pair.relay
        service.run(pair)
    except IwarpError as error:
        document["error"] = str(error)
    finally:
        service.domain.close()
    document |= service.counts
    counts = ", ".join(f"{count:,} {name}" for name, count in service.counts.items())
    text = f"{where}: {document.get('error', 'closed')} ({counts})"
    struck = struck_text(relay, [order.name for order in options.faults])
    if struck:
        document["faults"] = struck
    if json:
        print(json_lines.dumps(document), flush=True)
        return
    for line in (text, *(f"{where}: {line}" for line in struck)):
        print(printable(line), flush=True)


def connect_and_do(
    peer: str, offers: Offers, sends: Sequence[str], write: str, read_B: int, stag: str,
    offset: int, *, faults: Sequence[str], seed: int, json: bool,
) -> None:  # fmt: skip
    """Connect, and send, write and read once.

    Raises:
        InputError: an argument cannot be used.
        IwarpError: the peer cannot be reached, or does not do as it should.
    """
    host, port = listen_address(peer, name="peer", hint="for instance 127.0.0.1:4791")
    length = max(read_B, len(write.encode()), *(len(text.encode()) for text in sends), 1)
    options = options_of(offers, faults, seed, "initiator")
    client = Client(host, port, options, length)
    remote = _remote(stag, client.theirs)
    document: dict[str, Any] = {"peer": peer, "agreed": agreed_document(client.pair.agreed)}
    said = [agreed_text(client.pair.agreed)]
    with told_strikes(client.pair, faults), client.pair:
        answers = _send_each(client, [text.encode() for text in sends], offers.limit_s)
        if sends:
            document["answers"] = [None if a is None else a.hex() for a in answers]
            said += [
                f"sent {t!r}: {'no answer' if a is None else repr(a)}"
                for t, a in zip(sends, answers, strict=True)
            ]
        if write:
            client.region.data[: len(write.encode())] = write.encode()
            client.pair.post_write(client.region, 0, len(write.encode()), stag=remote, to=offset)
            client.wait("write", offers.limit_s)
            if (
                client.pair.agreed.ord
            ):  # no octets read after it: its answer says that the Write was taken
                client.pair.post_read(client.region, 0, 0, stag=remote, to=offset)
                client.wait("read", offers.limit_s)
            said.append(f"wrote {len(write.encode())} octets to {offset} of STag {remote:#010x}")
        if read_B:
            client.pair.post_read(client.region, 0, read_B, stag=remote, to=offset)
            client.wait("read", offers.limit_s)
            data = bytes(client.region.data[:read_B])
            document["read"] = data.hex()
            said.append(f"read {read_B} octets from {offset} of STag {remote:#010x}: {data!r}")
    if json:
        emit_json(document)
    else:
        print(printable("\n".join(said)) if len(said) == 1 else "\n".join(map(printable, said)))


def _send_each(client: Client, messages: Sequence[bytes], limit_s: float) -> list[bytes | None]:
    """Send messages and return the Sends that answer them, None where none came in time; one that comes late, while
    the next is waited for, still answers its own.
    """
    answers: list[bytes | None] = [None] * len(messages)
    places = []
    for number, data in enumerate(messages):
        client.region.data[: len(data)] = data
        places.append(client.domain.register(max(len(data), _MOST_RECEIVE_B)))
        client.pair.post_receive(places[number], id=number)
        # Its own completion may come after that of the answer: the answer tells as much.
        client.pair.post_send(client.region, 0, len(data), signaled=False)
        with suppress(PeerSilentError):
            while answers[number] is None:
                done = client.wait("receive", limit_s)
                answers[done.id] = bytes(places[done.id].data[: done.length])
    return answers


def _remote(stag: str, hello: Hello | None) -> int:
    try:
        return int(stag, 0) if stag else hello.stag if hello else 0
    except ValueError:
        raise InputError(f"--stag {stag!r}: a number of 32 bits, for instance 0x00000101") from None
