"""``freezeframe inject``: send one hand-built packet, right or wrong on purpose."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import DeviceOption, LogOption, TargetArgument, option

_Damage = Literal["none", "header", "payload", "length"]

WordsOption = Annotated[
    Path | None,
    option(
        "--words",
        "FILE",
        "Send these 64-bit words as they stand: hex, one a line, # begins a comment.",
    ),
]
FlowOption = Annotated[int, typer.Option("--flow", metavar="N", min=0, max=127, help="Flow.")]
SeqOption = Annotated[
    int, typer.Option("--seq", metavar="N", min=0, max=65535, help="Sequence number.")
]
DestOption = Annotated[
    str, typer.Option("--dest", metavar="ADDRESS", help="Address at the receiver.")
]
LengthOption = Annotated[
    int, typer.Option("--length", metavar="WORDS", min=0, max=512, help="Payload: words 0, 1, 2...")
]
DamageOption = Annotated[
    _Damage,
    typer.Option(
        "--damage",
        help="Spoil the header's CRC, the payload's, or send a payload word too few.",
    ),
]


def run(
    target: TargetArgument,
    device: DeviceOption = "A",
    words: WordsOption = None,
    flow: FlowOption = 0,
    seq: SeqOption = 0,
    dest: DestOption = "0x0",
    length: LengthOption = 4,
    damage: DamageOption = "none",
    log_accesses: LogOption = None,
) -> None:
    """Send one packet from the inject buffer, once, as it stands.

    Without --words an RDMA write is built with right CRCs and the flag INJECTED. Its sequence
    number is not the card's next one unless --seq says so, which a receiver may take as a cause.

    \b
    Examples:
      freezeframe inject etherbone://192.0.2.7 --flow 3 --length 8 --damage payload
      freezeframe inject etherbone://192.0.2.7 --words packet.txt
    """
    from freezeframe.gui.cli.work.recorder import inject, rdma_write

    if words is not None:
        packet = _read(words)
    else:
        address = _address(dest)
        if damage == "length" and not length:
            raise InputError("--damage length: a payload of 0 words cannot be a word short")
        packet = _damaged(rdma_write(flow, seq, address, length), damage)
    count = inject(target, device, log_accesses, packet)
    sent = f"{plural(len(packet), 'word')} sent, {plural(count, 'packet')} injected so far"
    print(f"{device}: {sent}")


def _read(path: Path) -> list[int]:
    words = []
    for number, line in enumerate(
        path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
    ):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,16}", text):
            raise InputError(f"{path}, line {number}: {text!r} is not a 64-bit word in hex")
        words.append(int(text, 16))
    if not words:
        raise InputError(f"{path}: holds no word")
    return words


def _address(text: str) -> int:
    try:
        address = int(text, 0)
    except ValueError:
        address = -1
    if not 0 <= address < 1 << 64:
        raise InputError(f"--dest {text!r}: not a 64-bit address, for instance 0x1000")
    return address


def _damaged(packet: list[int], damage: _Damage) -> list[int]:
    if damage == "header":
        packet[0] ^= 1 << 63  # a bit of the CRC itself, so that every field keeps its value
    elif damage == "payload":
        packet[-1] ^= 1
    elif damage == "length":
        del packet[-2]
    return packet
