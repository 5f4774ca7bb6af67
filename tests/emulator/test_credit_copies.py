"""Credits copied into payloads: every credit of the event log stands once in a payload, as the format says."""

from __future__ import annotations

import binascii
from pathlib import Path

from tests.emulator.reading import Card, freeze, packets_of, pair, profile_like_forth

US = 1_000_000


def copies(card: Card) -> list[tuple[int, int, int]]:
    """Return (flag, flow, freed) of the copies in whole packets at tx_enq, in order."""
    found = []
    for packet in packets_of(card.words(0)):
        for word in packet.payload:
            good = (
                binascii.crc_hqx((word & (1 << 48) - 1).to_bytes(6, "little"), 0xFFFF) == word >> 48
            )
            if not good or word >> 40 & 0xFF != 0x43 or word & 15 != 4:
                break
            assert (word & (1 << 48) - 1).bit_count() % 2 == 1
            found.append((word >> 4 & 15, word >> 8 & 0x7F, word >> 16 & 0xFFFFFF))
    return found


def logged(card: Card) -> list[tuple[int, int, int]]:
    return [
        (r.code, r.flow, r.value >> 16 & 0xFFFFFF)
        for r in card.records(4)
        if r.kind == 4 and r.code in (1, 2)
    ]


def test_each_credit_is_copied_once_in_order(tmp_path: Path) -> None:
    profile = profile_like_forth(
        tmp_path / "copies.toml", on=("copy_credits = 0", "copy_credits = 1")
    )
    for seed in (1, 2):
        target, a, b = pair(seed=seed, profile=profile, load="medium")
        target.advance(60 * US)
        freeze(a, target, 3000 * US)
        for card in (a, b):
            seen, log = copies(card), logged(card)
            assert len(seen) > 2
            for flag in (1, 2):  # the log orders what the two directions did in one cycle by source
                mine = [entry for entry in seen if entry[0] == flag]
                theirs = [entry for entry in log if entry[0] == flag]
                start = theirs.index(mine[0])
                assert theirs[start : start + len(mine)] == mine


def test_without_the_switch_no_payload_holds_a_copy() -> None:
    target, a, _ = pair(seed=1, load="medium")
    target.advance(60 * US)
    freeze(a, target, 3000 * US)
    assert copies(a) == []


def test_a_message_never_grows_beyond_the_longest(tmp_path: Path) -> None:
    profile = profile_like_forth(
        tmp_path / "copies.toml", on=("copy_credits = 0", "copy_credits = 1")
    )
    target, a, _ = pair(seed=3, profile=profile, load="saturating")
    target.advance(150 * US)
    freeze(a, target, 3000 * US)
    lengths = [packet.length for packet in packets_of(a.words(0))]
    assert lengths and max(lengths) <= 512
