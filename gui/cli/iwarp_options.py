"""Options that the iWARP verbs share, declared once."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer

from freezeframe.gui.cli.options import argument, option
from freezeframe.gui.cli.usage import seconds


class Offers(NamedTuple):
    """What this end offers at the start of a connection, as given on the command line."""

    markers: bool
    crc: bool
    revision: int
    ird: int
    ord: int
    peer_to_peer: bool
    private_data: str
    ulpdu_B: int
    limit_s: float


PeerArgument = Annotated[str, argument("HOST:PORT", "The peer.")]
MarkersOption = Annotated[
    bool, typer.Option("--markers", help="Want markers in what the peer sends.")
]
CrcOption = Annotated[
    bool,
    typer.Option(
        "--crc/--no-crc", help="Without it there is none where the peer wants none either."
    ),
]
RevisionOption = Annotated[
    int,
    option("--revision", "0|1|2", "Of MPA: 2 has enhanced data, 0 is RDMAC's.", min=0, max=2),
]
IrdOption = Annotated[
    int, option("--ird", "N", "Reads of the peer served at once.", min=0, max=0x3FFF)
]
OrdOption = Annotated[int, option("--ord", "N", "Reads sent at once.", min=0, max=0x3FFF)]
PeerToPeerOption = Annotated[
    bool, typer.Option("--peer-to-peer", help="Either end may send first (revision 2).")
]
PrivateDataOption = Annotated[
    str, option("--private-data", "TEXT", "For the peer's user; 0x... for octets in hex.")
]
UlpduOption = Annotated[
    int,
    option(
        "--ulpdu", "OCTETS", "Longest ULPDU sent; 0: what fits a TCP segment.", min=0, max=64_768
    ),
]
MemoryOption = Annotated[
    int, option("--memory", "OCTETS", "Length of the region that peers reach.", min=1, max=1 << 32)
]
SizeOption = Annotated[int, option("--size", "OCTETS", "Octets in a message.", min=0, max=1 << 26)]
CountOption = Annotated[int, option("--count", "N", "How many messages.", min=1)]
FaultOption = Annotated[
    list[str] | None,
    option(
        "--fault",
        "NAME[@MESSAGE[:OFFSET]]",
        "Break a rule in what this end sends, at that message; may be given again.",
    ),
]
SeedOption = Annotated[int, option("--seed", "N", "Of what a fault leaves to chance.")]
LimitOption = Annotated[
    float,
    typer.Option(
        "--limit", metavar="SECONDS", parser=seconds, help="The longest to wait for the peer."
    ),
]
TcpOption = Annotated[
    bool, typer.Option("--tcp", help="No iWARP: bare TCP by the same means, to compare with.")
]
