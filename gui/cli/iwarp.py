"""``freezeframe iwarp``: iWARP in user space, over TCP: a peer to speak with, to measure, and to break things with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import typer

from freezeframe.capture.code import code
from freezeframe.gui.cli.iwarp_conform import conform
from freezeframe.gui.cli.iwarp_options import (
    CountOption,
    CrcOption,
    FaultOption,
    IrdOption,
    LimitOption,
    MarkersOption,
    MemoryOption,
    Offers,
    OrdOption,
    PeerArgument,
    PeerToPeerOption,
    PrivateDataOption,
    RevisionOption,
    SeedOption,
    SizeOption,
    TcpOption,
    UlpduOption,
)
from freezeframe.gui.cli.options import JsonOption, argument, option

_listen = code("freezeframe.gui.cli.work.iwarp_peer:listen")
_connect = code("freezeframe.gui.cli.work.iwarp_peer:connect_and_do")
_ping = code("freezeframe.gui.cli.work.iwarp_measure:ping")
_stream = code("freezeframe.gui.cli.work.iwarp_measure:stream")

HELP = """Speak iWARP (RDMA over TCP: MPA, DDP, RDMAP) with a peer, in user space and without hardware.

\b
Examples:
  freezeframe iwarp listen 127.0.0.1:4791
  freezeframe iwarp ping 127.0.0.1:4791
  freezeframe iwarp stream 127.0.0.1:4791 --markers
  freezeframe iwarp conform 127.0.0.1:4791
"""


def listen(
    address: Annotated[str, argument("HOST:PORT", "Where to listen; port 0 takes a free one.")] = (
        "127.0.0.1:0"
    ),
    *,
    markers: MarkersOption = False,
    crc: CrcOption = True,
    revision: RevisionOption = 2,
    ird: IrdOption = 16,
    ord: OrdOption = 16,
    private_data: PrivateDataOption = "",
    ulpdu: UlpduOption = 0,
    memory: MemoryOption = 1 << 20,
    reject: Annotated[
        bool, typer.Option("--reject", help="Answer every Request with a rejecting Reply.")
    ] = False,
    fault: FaultOption = None,
    seed: SeedOption = 1,
    limit: LimitOption = 10.0,
    tcp: TcpOption = False,
    json: JsonOption = False,
) -> None:
    """Listen: send Sends back, and let the peer write and read a region of memory. Until interrupted.

    The Reply's private data tells the peer where it may write: "FFiS", STag, length. A peer that breaks a rule is
    sent its Terminate, and one line says so; others are served meanwhile and after it.

    \b
    Examples:
      freezeframe iwarp listen 127.0.0.1:4791
      freezeframe iwarp listen 192.0.2.9:4791 --markers --memory 16777216
      freezeframe iwarp listen 127.0.0.1:4791 --fault mpa-crc@3
    """
    offers = Offers(markers, crc, revision, ird, ord, False, private_data, ulpdu, limit)
    _listen(
        address, offers, memory, reject=reject, faults=fault or [], seed=seed, tcp=tcp, json=json
    )


def connect(
    peer: PeerArgument,
    *,
    send: Annotated[
        list[str] | None, option("--send", "TEXT", "Send a message; may be given again.")
    ] = None,
    write: Annotated[str, option("--write", "TEXT", "Write into the peer's memory.")] = "",
    read: Annotated[
        int, option("--read", "OCTETS", "Read the peer's memory.", min=0, max=(1 << 32) - 1)
    ] = 0,
    stag: Annotated[
        str, option("--stag", "STAG", "The peer's memory, where its private data does not tell.")
    ] = "",
    offset: Annotated[
        int,
        option("--offset", "N", "Tagged offset to write and read at.", min=0, max=(1 << 64) - 1),
    ] = 0,
    markers: MarkersOption = False,
    crc: CrcOption = True,
    revision: RevisionOption = 2,
    ird: IrdOption = 16,
    ord: OrdOption = 16,
    peer_to_peer: PeerToPeerOption = False,
    private_data: PrivateDataOption = "",
    ulpdu: UlpduOption = 0,
    fault: FaultOption = None,
    seed: SeedOption = 1,
    limit: LimitOption = 10.0,
    json: JsonOption = False,
) -> None:
    """Connect, say what was negotiated, and send, write and read once: does the peer speak iWARP?

    What a Send leads to is shown where the peer answers it by a Send within the limit. Order: sends, write, read.

    \b
    Examples:
      freezeframe iwarp connect 127.0.0.1:4791
      freezeframe iwarp connect 127.0.0.1:4791 --send hello --write there --read 5
      freezeframe iwarp connect 192.0.2.9:4791 --stag 0x101 --read 4096 --json
    """
    offers = Offers(markers, crc, revision, ird, ord, peer_to_peer, private_data, ulpdu, limit)
    _connect(
        peer,
        offers,
        send or [],
        write,
        read,
        stag,
        offset,
        faults=fault or [],
        seed=seed,
        json=json,
    )


def ping(
    peer: PeerArgument,
    *,
    size: SizeOption = 4,
    count: CountOption = 1000,
    write: Annotated[
        bool, typer.Option("--write", help="By RDMA Writes, and not by Sends.")
    ] = False,
    markers: MarkersOption = False,
    crc: CrcOption = True,
    revision: RevisionOption = 2,
    ulpdu: UlpduOption = 0,
    fault: FaultOption = None,
    seed: SeedOption = 1,
    limit: LimitOption = 10.0,
    tcp: TcpOption = False,
    json: JsonOption = False,
) -> None:
    """Measure half round trips: a message goes to a 'freezeframe iwarp listen', and comes back.

    \b
    Examples:
      freezeframe iwarp ping 127.0.0.1:4791
      freezeframe iwarp ping 127.0.0.1:4791 --size 65536 --write --no-crc
      freezeframe iwarp ping 127.0.0.1:4792 --tcp --json
    """
    offers = Offers(markers, crc, revision, 16, 16, False, "", ulpdu, limit)
    _ping(peer, offers, size, count, write=write, faults=fault or [], seed=seed, tcp=tcp, json=json)


def stream(
    peer: PeerArgument,
    *,
    size: SizeOption = 65536,
    count: CountOption = 10_000,
    operation: Annotated[
        Literal["write", "read"],
        typer.Option("--operation", metavar="write|read", help="What is done over and over."),
    ] = "write",
    markers: MarkersOption = False,
    crc: CrcOption = True,
    revision: RevisionOption = 2,
    ird: IrdOption = 16,
    ord: OrdOption = 16,
    ulpdu: UlpduOption = 0,
    fault: FaultOption = None,
    seed: SeedOption = 1,
    limit: LimitOption = 10.0,
    tcp: TcpOption = False,
    json: JsonOption = False,
) -> None:
    """Measure throughput: RDMA Writes or Reads to a 'freezeframe iwarp listen', until all has arrived there.

    \b
    Examples:
      freezeframe iwarp stream 127.0.0.1:4791
      freezeframe iwarp stream 127.0.0.1:4791 --size 4096 --operation read
      freezeframe iwarp stream 127.0.0.1:4791 --fault mpa-crc@100
    """
    offers = Offers(markers, crc, revision, ird, ord, False, "", ulpdu, limit)
    _stream(peer, offers, size, count, operation, faults=fault or [], seed=seed, tcp=tcp, json=json)


def proxy(
    listen: Annotated[str, argument("LISTEN", "HOST:PORT where the initiator connects.")] = "",
    target: Annotated[str, argument("TARGET", "HOST:PORT of the responder.")] = "",
    *,
    fault: FaultOption = None,
    sender: Annotated[
        Literal["initiator", "responder"],
        typer.Option(
            "--from", metavar="initiator|responder", help="In whose octets, where either can."
        ),
    ] = "initiator",
    seed: SeedOption = 1,
    limit: LimitOption = 10.0,
    once: Annotated[bool, typer.Option("--once", help="End with the first connection.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Name the faults, and end.")] = False,
    json: JsonOption = False,
) -> None:
    """Stand between two peers and break rules in what passes: FPDUs are damaged, put in, left out, doubled, reordered.

    Everything but the breach stays right: markers are placed and CRCs made anew. A fault strikes once in a
    connection, at the first place that fits from MESSAGE (counted from 1) and OFFSET of its payload on. What is not
    iWARP passes as it is.

    \b
    Examples:
      freezeframe iwarp proxy 127.0.0.1:4790 192.0.2.9:4791 --fault mpa-crc@10
      freezeframe iwarp proxy 127.0.0.1:4790 127.0.0.1:4791 --fault rdmap-response-to --from responder
      freezeframe iwarp proxy --list
    """
    from freezeframe.gui.cli.work import iwarp_proxy

    if list_all:
        iwarp_proxy.list_faults(json=json)
        return
    iwarp_proxy.need_target(listen, target)
    iwarp_proxy.proxy(listen, target, fault or [], sender, seed, limit, once=once, json=json)


COMMANDS: dict[str, Callable[..., None]] = {
    "listen": listen,
    "connect": connect,
    "ping": ping,
    "stream": stream,
    "proxy": proxy,
    "conform": conform,
}
