"""The card of a device: its text from the ROM, the shipped cards, the user's folder or a file, by hash alone.

Source: docs/card-map.md, section 4.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import ValidationError, json

from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.references import problems_of
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.card.tables import CardFile
from freezeframe.capture.card.toml_text import CardError
from freezeframe.capture.card.worked_out import worked_out
from freezeframe.capture.errors import InputError

MOST_TEXT_B = 1 << 20
SCHEMA = 1
_MOST_FILES = 256


class FoundCard(NamedTuple):
    """A card whose text has the hash that was asked for; ``where`` it was found, for people."""

    card: ElaboratedCard
    text: str
    where: str


def text_hash(text: str | bytes) -> int:
    """Return the first 64 bits of the SHA-256 of an elaborated text: ``id.card_hash``."""
    data = text.encode() if isinstance(text, str) else text
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


def rom_words(text: str) -> list[int]:
    """Return what the ROM of a device holds: length of the compressed text, then the zlib stream."""
    packed = zlib.compress(text.encode(), 9)
    padded = packed + bytes(-len(packed) % 4)
    return [len(packed), *struct.unpack(f"<{len(padded) // 4}I", padded)]


def text_of_rom(words: Sequence[int], where: str) -> str:
    """Return the text in a ROM.

    Raises:
        InputError: it is damaged, or inflates to more than 1 MiB.
    """
    remedy = "give the card's file with ?card=FILE, or load the bitstream again"
    room_B = 4 * (len(words) - 1)
    if not words or not 0 < words[0] <= room_B:
        said = words[0] if words else 0
        raise InputError(
            f"{where}: the card's ROM is damaged: it says {said} B and holds {max(room_B, 0)} B; {remedy}"
        )
    packed = struct.pack(f"<{len(words) - 1}I", *words[1:])[: words[0]]
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, MOST_TEXT_B + 1)
        if len(data) > MOST_TEXT_B:
            raise InputError(
                f"{where}: the card's ROM inflates to more than {MOST_TEXT_B} B, which no card "
                f"needs; {remedy}"
            )
        if not inflater.eof:
            raise ValueError("the stream does not end")
        return data.decode()
    except (zlib.error, ValueError) as error:
        raise InputError(f"{where}: the card's ROM is damaged ({error}); {remedy}") from None


def card_of_text(text: str, wanted: int, where: str) -> FoundCard:
    """Return the card of an elaborated text.

    Raises:
        InputError: the text has another hash, is of a newer schema, or says what no card can be.
    """
    found = text_hash(text)
    if found != wanted:
        raise InputError(
            f"{where}: this card has hash {found:016x}, the device says {wanted:016x}: it is "
            "another card, or its text was altered; give the file it was built from (?card=FILE)"
        )
    try:
        said = json.decode(text)
        schema = said.get("schema") if isinstance(said, dict) else None
        if schema != SCHEMA:
            of = "names no schema" if schema is None else f"is of schema {schema!r}"
            raise InputError(
                f"{where}: the card's text {of}, this program reads {SCHEMA}: update Freezeframe"
            )
        file = json.decode(text, type=worked_out(CardFile))
    except (ValidationError, ValueError, RecursionError) as error:
        raise InputError(
            f"{where}: the card's text has the right hash and cannot be read ({error}): it was "
            "written by another release; update Freezeframe"
        ) from None
    for path, problem in problems_of(file):
        raise InputError(
            f"{where}: the card's text has the right hash and contradicts itself: "
            f"{'.'.join(map(str, path))}: {problem}; it was written by another release; update Freezeframe"
        )
    return FoundCard(elaborate(file, text), text, where)


def user_cards() -> Path:
    """Return the folder of the user's cards: ``freezeframe/cards`` in the XDG configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "freezeframe" / "cards"


def card_of_file(path: Path, wanted: int, device: str) -> FoundCard:
    """Return the card of a file that was named for a device.

    Raises:
        InputError: it cannot be read, or is not the card of that device; both hashes are named.
    """
    card = elaborate(read_card(path))
    if card.hash != wanted:
        raise InputError(
            f"{path}: this card ({card.name}) has hash {card.hash:016x}, and {device} was built from "
            f"{wanted:016x}: give the file it was built from"
        )
    return FoundCard(card, card.text, str(path))


def look_up(wanted: int, lacking: str, other_way: str = "") -> FoundCard:
    """Return the card of that hash among those that ship and the user's; names decide nothing.

    Args:
        lacking: where it was to be found, and what is missing there.
        other_way: what can be done but putting the file among the user's.
    Raises:
        InputError: there is none; the message says where was looked.
    """
    unreadable = []
    looked = 0
    for path in known_files():
        looked += 1
        try:
            card = elaborate(read_card(path))
        except (CardError, InputError):
            unreadable.append(path.name)
            continue
        if card.hash == wanted:
            return FoundCard(card, card.text, str(path))
    bad = f", of which {', '.join(unreadable[:4])} cannot be read" if unreadable else ""
    raise InputError(
        f"{lacking}, and none of {looked} known cards{bad} has its hash "
        f"{wanted:016x}: put the file it was built from into {user_cards()}{other_way}"
    )


def known_files() -> Iterator[Path]:
    """Yield the files of the cards that ship, then those of the user's."""
    yield from shipped_cards().values()
    folder = user_cards()
    if folder.is_dir():
        yield from sorted(folder.glob("*.toml"))[:_MOST_FILES]
