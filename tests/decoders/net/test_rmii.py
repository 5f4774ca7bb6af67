"""RMII: signals drawn from the RMII specification in, frames and events out."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.contract import OptionValue
from freezeframe.decoders.net.phy_code import phy_texts
from freezeframe.decoders.net.rmii import CHANNELS, RMII
from tests.decoders.net.phy_bus import edges_of, fcs
from tests.decoders.net.test_mii import ARP, PING
from tests.decoders.pieces import assert_same_in_pieces, errors, rows_of

Row = dict[str, Any]
NAMES = [channel.id for channel in CHANNELS]
RATE_HZ = 200_000_000  # 4 samples a clock of 50 MHz


class Dibit(NamedTuple):
    """What is on the lines of a direction for one clock."""

    data: int
    enable: int = 1
    error: int = 0


IDLE = Dibit(0, 0)
GAP = [IDLE] * 48  # 96 bits
CARRIER = [Dibit(0)] * 7  # until the PHY has the preamble


def frame(octets: bytes, preamble: int = 31, end: bytes | None = None) -> list[Dibit]:
    """Return a frame as RMII sends it, the lowest bits first: 01 ... 01 11, octets, FCS."""
    whole = octets + (fcs(octets) if end is None else end)
    data = [octet >> place & 3 for octet in whole for place in (0, 2, 4, 6)]
    return [Dibit(bits) for bits in [*[1] * preamble, 3, *data]]


def slow(dibits: list[Dibit]) -> list[Dibit]:
    return [dibit for dibit in dibits for _ in range(10)]


def draw(dibits: list[Dibit], *, tx: bool = False, period: int = 4) -> list[int]:
    """Draw a direction: the data change in the sample in which the clock rises, and count at the next."""
    samples: list[int] = []
    dibits = [*[IDLE] * 3, *dibits, *[IDLE] * 45]
    for now, after in zip(dibits, [*dibits[1:], IDLE], strict=True):
        levels = [
            (each.data | each.enable << 2) << 5 if tx
            else (each.data | each.enable << 2 | each.error << 3) << 1
            for each in (now, after)
        ]  # fmt: skip
        samples += [levels[0]] * (period // 2) + [levels[1] | 1] * (period - period // 2)
    return samples


def capture(samples: list[int], *, rx: bool = True, tx: bool = False) -> Edges:
    wanted = {"ref_clk", *(NAMES[1:5] if rx else []), *(NAMES[5:] if tx else [])}
    edges = edges_of(samples, NAMES, RATE_HZ)
    return edges.select([name if name in wanted else None for name in NAMES])


def decode(edges: Edges, **options: OptionValue) -> list[list[Row]]:
    return rows_of(RMII, edges, **options)


def received(dibits: list[Dibit]) -> list[list[Row]]:
    return decode(capture(draw(dibits)))


def test_a_received_frame_is_given_with_its_verdict_and_what_was_on_the_wire() -> None:
    rows, frames = received([*CARRIER, *frame(ARP)])
    # 20 ns a clock; 3 idle ones and 7 of carrier, then 32 and 256, taken as the clock rises.
    begin = 4 * 10 + 2
    assert [
        (row["kind"], row["direction"], row["speed_mbps"], row["preamble_bits"], row["length_B"])
        for row in rows
    ] == [("frame", "received", 100, 56, 64)]
    assert (rows[0]["sample"], rows[0]["end_sample"]) == (begin, begin + 4 * 288)
    assert rows[0]["data_sample"] == begin + 4 * 32
    assert rows[0]["fcs_ok"] is True
    assert [(f["protocol"], f["data"], f["fcs_ok"]) for f in frames] == [("ARP request", ARP, True)]


def test_at_10_mbps_two_bits_stay_for_ten_clocks() -> None:
    rows, frames = received(slow([*CARRIER, *frame(PING), *GAP, *frame(ARP)]))
    assert [(row["kind"], row["speed_mbps"], row["gap_bits"]) for row in rows] == [
        ("frame", 10, -1), ("frame", 10, 96)
    ]  # fmt: skip
    assert [(f["data"], f["fcs_ok"]) for f in frames] == [(PING, True), (ARP, True)]
    assert rows[0]["preamble_bits"] == 56


def test_a_carrier_that_ends_before_the_data_shows_in_every_first_clock_of_four_bits() -> None:
    dibits = frame(PING)
    for at in range(len(dibits) - 24, len(dibits), 2):
        dibits[at] = dibits[at]._replace(enable=0)
    for drawn, speed in ((dibits, 100), (slow(dibits), 10)):
        rows, frames = received(drawn)
        assert [(row["kind"], row["error"], row["speed_mbps"]) for row in rows] == [
            ("frame", "", speed)
        ]
        assert [f["data"] for f in frames] == [PING]


def test_both_directions_are_told_apart() -> None:
    one, other = draw([*CARRIER, *frame(ARP)]), draw(frame(PING), tx=True)
    length = max(len(one), len(other))
    levels = [0] * length
    for drawn in (one, other):
        padded = drawn + drawn[-4:] * ((length - len(drawn)) // 4)
        levels = [a | b for a, b in zip(levels, padded, strict=True)]
    rows, frames = decode(capture(levels, tx=True))
    assert errors(rows) == []
    assert {f["direction"]: f["data"] for f in frames} == {"received": ARP, "sent": PING}


def test_a_wrong_check_sequence_is_an_error_of_the_frame() -> None:
    rows, frames = received(frame(ARP, end=bytes(4)))
    assert errors(rows) == ["bad-fcs"]
    assert frames[0]["fcs_ok"] is False


def test_an_error_signal_in_the_frame_is_counted_and_its_first_octet_is_said() -> None:
    dibits = frame(ARP)
    for at in (32 + 4 * 9 + 3, 32 + 4 * 12):
        dibits[at] = dibits[at]._replace(error=1)
    rows, _ = received(dibits)
    assert (rows[0]["symbol_errors"], rows[0]["first_error_B"]) == (2, 9)
    assert errors(rows) == ["symbol-error"]


def test_a_carrier_with_10_is_a_false_one() -> None:
    rows, frames = received([*CARRIER, *[Dibit(2)] * 20, *[IDLE] * 60, *frame(ARP)])
    assert [(row["kind"], row["error"]) for row in rows] == [
        ("error", "false-carrier"),
        ("frame", ""),
    ]
    assert len(frames) == 1


def test_a_mac_may_not_shorten_the_preamble_and_a_phy_may() -> None:
    for odd in (26, 27):
        rows, frames = received(frame(ARP, preamble=odd))
        assert errors(rows) == []
        assert [f["data"] for f in frames] == [ARP]
    rows, _ = decode(capture(draw(frame(ARP, preamble=27), tx=True), rx=False, tx=True))
    assert errors(rows) == ["short-preamble"]


def test_a_preamble_without_its_end_is_no_frame() -> None:
    rows, frames = received([Dibit(1)] * 20)
    assert errors(rows) == ["no-delimiter"]
    assert frames == []
    rows, _ = received([Dibit(1)] * 12 + [Dibit(2), Dibit(0)] * 10)
    assert errors(rows) == ["no-delimiter"]


@pytest.mark.parametrize(("gap", "found"), [(20, ["short-gap"]), (24, [])])
def test_the_gap_between_sent_frames_is_96_bits(gap: int, found: list[str]) -> None:
    dibits = [*frame(ARP), *[IDLE] * (2 * gap), *frame(ARP)]
    rows, _ = decode(capture(draw(dibits, tx=True), rx=False, tx=True))
    assert errors(rows) == found


def test_a_frame_that_the_capture_cuts_is_an_error() -> None:
    whole = draw(frame(ARP))
    for cut in (whole[200:], whole[:200], whole[:60]):
        rows, _ = decode(capture(cut))
        assert errors(rows) == ["cut-frame"]


def test_a_direction_needs_all_of_its_channels() -> None:
    edges = edges_of(draw(frame(ARP)), NAMES, RATE_HZ)
    probes = [name if name in ("ref_clk", "rxd0", "rxd1") else None for name in NAMES]
    with pytest.raises(InputError, match="decoder rmii: channels crs_dv have no probe"):
        decode(edges.select(probes))
    with pytest.raises(InputError, match="neither direction has probes"):
        decode(edges.select(["ref_clk", *[None] * 7]))


def noise(seed: int) -> list[int]:
    """Draw both directions with frames that are cut, disturbed and joined at any place."""
    rng = random.Random(seed)

    def dibits() -> list[Dibit]:
        made: list[Dibit] = []
        for _ in range(4):
            sent = frame(rng.randbytes(rng.randint(0, 40)), preamble=rng.choice([31, 30, 3, 0, 40]))
            sent = slow(sent[:60]) if rng.random() < 0.3 else sent
            sent = sent[: rng.choice([len(sent), rng.randint(1, len(sent))])]
            for _ in range(rng.choice([0, 0, 3])):
                sent[rng.randrange(len(sent))] = Dibit(
                    rng.randrange(4), rng.randrange(2), rng.randrange(2)
                )
            made += [*sent, *[Dibit(rng.randrange(4), 0)] * rng.randint(0, 90)]
        return made

    period = rng.choice([2, 4, 5])
    one, other = draw(dibits(), period=period), draw(dibits(), tx=True, period=period)
    length = min(len(one), len(other))
    return [one[n] | other[n] for n in range(length)]


@pytest.mark.parametrize("seed", range(8))
def test_noise_gives_the_same_rows_in_pieces_of_any_size(seed: int) -> None:
    edges = edges_of(noise(seed), NAMES, RATE_HZ)
    cuts = random.Random(seed).choices(range(edges.end_sample), k=20)
    whole = assert_same_in_pieces(RMII, edges, cuts)
    assert len(whole["rmii.frames"]) > 1
    assert all(phy_texts(row).long for table in whole.values() for row in table.to_pylist())


@settings(max_examples=30, deadline=None)
@given(
    frames=st.lists(st.binary(min_size=60, max_size=90), min_size=1, max_size=3),
    at_10=st.booleans(),
    carrier=st.integers(0, 9),
    tx=st.booleans(),
)
def test_what_is_sent_is_decoded(frames: list[bytes], at_10: bool, carrier: int, tx: bool) -> None:
    dibits: list[Dibit] = []
    for octets in frames:
        dibits += [*([] if tx else [Dibit(0)] * carrier), *frame(octets), *GAP]
    levels = draw(slow(dibits) if at_10 else dibits, tx=tx, period=2)
    rows, found = decode(capture(levels, rx=not tx, tx=tx))
    assert errors(rows) == []
    assert [f["data"] for f in found] == frames
