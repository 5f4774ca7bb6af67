"""MII: signals drawn from clause 22 in, frames and events out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.contract import OptionValue
from freezeframe.decoders.net.mii import CHANNELS, MII
from freezeframe.decoders.net.mii_code import decode_mii
from freezeframe.decoders.net.phy_code import phy_texts
from freezeframe.decoders.registry import Registry
from freezeframe.gui.export.run import export_file
from tests.decoders.net.phy_bus import IDLE, Symbol, edges_of, fcs, mii_rx, mii_tx, nibbles
from tests.decoders.pieces import assert_same_in_pieces, between, errors, rows_of
from tests.gui.export.material import tool

Row = dict[str, Any]
REGISTRY = Registry({"mii": MII})
NAMES = [channel.id for channel in CHANNELS]
RATE_HZ = 100_000_000  # 4 samples a clock of 25 MHz
GAP = [IDLE] * 24  # 96 bits

# An ARP request of 60 bytes: who has 10.0.0.2? Tell 10.0.0.1.
ARP = bytes.fromhex(
    "ffffffffffff 020000000001 0806 0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"
) + bytes(18)
PING = (
    bytes.fromhex("020000000002 020000000001 0800")
    + bytes.fromhex("4500 0054 0000 4000 4001 26a7 0a000001 0a000002 0800 f7fd 0001 0001")
    + bytes(56)
)


def received(*symbols: Symbol, period: int = 4) -> list[int]:
    return mii_rx([*[IDLE] * 3, *symbols, *[IDLE] * 3], period)


def sent(*symbols: Symbol, period: int = 4) -> list[int]:
    """Draw the transmit side in its place: tx_clk is channel 7, col is 14."""
    return [level << 7 for level in mii_tx([*[IDLE] * 3, *symbols, *[IDLE] * 3], period)]


def side(samples: list[int], first: int, rate_hz: int = RATE_HZ) -> Edges:
    edges = edges_of(samples, NAMES, rate_hz)
    wanted = NAMES[first : first + 7] + (["col"] if first else [])
    return edges.select([name if name in wanted else None for name in NAMES])


def decode(edges: Edges, **options: OptionValue) -> list[list[Row]]:
    return rows_of(MII, edges, **options)


def test_a_received_frame_is_given_with_its_verdict_and_what_was_on_the_wire() -> None:
    assert fcs(b"123456789") == bytes.fromhex("2639f4cb")  # the check value of this CRC
    rows, frames = decode(side(received(*nibbles(ARP)), 0))
    assert rows == [
        {
            # 40 ns a clock, which rises in its middle; 3 idle symbols, then 16 + 128 nibbles.
            "t_ps": 140_000,
            "source": "MII",
            "kind": "frame",
            "t_end_ps": 140_000 + 144 * 40_000,
            "error": "",
            "direction": "received",
            "speed_mbps": 100,
            "preamble_bits": 56,
            "length_B": 64,
            "extra_bits": 0,
            "symbol_errors": 0,
            "first_error_B": -1,
            "gap_bits": -1,
            "fcs_ok": True,
            "collision": None,
            "code": -1,
            "link": None,
            "duplex": "",
            "expected": -1,
            "seen": -1,
            "sample": 14,
            "data_sample": 14 + 16 * 4,
            "end_sample": 14 + 144 * 4,
        }
    ]
    assert len(frames) == 1
    frame = frames[0]
    assert (frame["t_ps"], frame["direction"]) == (140_000 + 16 * 40_000, "received")
    assert (frame["protocol"], frame["data"], frame["fcs_ok"]) == ("ARP request", ARP, True)


def test_a_sent_frame_is_taken_right_before_the_clock_edge() -> None:
    rows, frames = decode(side(sent(*nibbles(ARP)), 7))
    assert [(r["direction"], r["preamble_bits"], r["length_B"]) for r in rows] == [("sent", 56, 64)]
    assert [(f["direction"], f["data"], f["fcs_ok"]) for f in frames] == [("sent", ARP, True)]


def test_both_directions_have_clocks_of_their_own() -> None:
    one = received(*nibbles(ARP), period=40)
    other = sent(*nibbles(PING), period=4)
    length = max(len(one), len(other))
    lines = [
        (one[n] if n < len(one) else one[-1]) | (other[n] if n < len(other) else other[-1])
        for n in range(length)
    ]
    rows, frames = decode(edges_of(lines, NAMES, RATE_HZ))
    assert [(r["direction"], r["speed_mbps"]) for r in rows] == [("sent", 100), ("received", 10)]
    assert [f["data"] for f in frames] == [PING, ARP]
    assert errors(rows) == []


def test_the_octets_begin_with_their_lower_nibble() -> None:
    # 22.2.3: the delimiter D5 is 5 then D; A7 is 7 then A.
    symbols = [Symbol(n) for n in (5, 5, 0xD, 7, 0xA, 1, 0)]
    rows, frames = decode(side(received(*symbols), 0))
    assert rows[0]["preamble_bits"] == 4
    assert (frames[0]["data"], frames[0]["error"]) == (b"\xa7\x01", "")


def test_a_wrong_check_sequence_is_an_error_of_the_frame() -> None:
    rows, frames = decode(side(received(*nibbles(ARP, end=b"\0\0\0\0")), 0))
    assert (rows[0]["fcs_ok"], errors(rows)) == (False, ["bad-fcs"])
    right = int.from_bytes(fcs(ARP), "little")
    assert [(row["expected"], row["seen"]) for row in rows] == [(-1, -1), (right, 0)]
    assert phy_texts(rows[1]).long.endswith(f": expected {right:#010x}, seen 0x00000000")
    assert [f["error"] for f in frames] == ["", "bad-fcs"]


def test_a_nibble_that_is_left_over_is_dropped_unless_the_check_sequence_is_wrong_too() -> None:
    # 802.3 4.2.4.1: an extra nibble with a good FCS is a dribble; with a wrong one an alignment error.
    rows, frames = decode(side(received(*nibbles(ARP), Symbol(3)), 0))
    assert (rows[0]["extra_bits"], rows[0]["length_B"], errors(rows)) == (4, 64, [])
    assert frames[0]["fcs_ok"] is True
    rows, frames = decode(side(received(*nibbles(ARP, end=b"\1\2\3\4"), Symbol(3)), 0))
    assert errors(rows) == ["alignment"]
    assert [f["error"] for f in frames] == ["", "alignment", "bad-fcs"]


def test_an_error_signal_in_the_frame_is_counted_and_its_first_octet_is_said() -> None:
    symbols = nibbles(ARP)
    for at in (16 + 2 * 20 + 1, 16 + 2 * 40):
        symbols[at] = symbols[at]._replace(error=1)
    rows, frames = decode(side(received(*symbols), 0))
    assert (rows[0]["symbol_errors"], rows[0]["first_error_B"]) == (2, 20)
    assert errors(rows) == ["symbol-error"]
    assert [f["error"] for f in frames] == ["", "symbol-error"]
    symbols = [Symbol(5, 1, 1), *nibbles(ARP)[1:]]
    rows, _ = decode(side(received(*symbols), 0))
    assert (rows[0]["symbol_errors"], rows[0]["first_error_B"]) == (1, -1)


def test_a_frame_without_a_delimiter_is_an_error_and_has_no_octets() -> None:
    rows, frames = decode(side(received(*[Symbol(5)] * 20), 0))
    assert (errors(rows), rows[0]["length_B"], frames) == (["no-delimiter"], -1, [])
    rows, _ = decode(side(received(Symbol(0xD), Symbol(0)), 0))
    assert errors(rows) == ["no-delimiter"]


def test_a_preamble_that_is_not_1010_is_an_error() -> None:
    symbols = nibbles(ARP)
    symbols[4] = Symbol(7)
    rows, frames = decode(side(received(*symbols), 0))
    assert errors(rows) == ["bad-preamble"]
    assert frames[0]["data"] == ARP


def test_a_phy_may_shorten_the_preamble_and_a_mac_may_not() -> None:
    assert errors(decode(side(received(*nibbles(ARP, fives=1)), 0))[0]) == []
    assert errors(decode(side(sent(*nibbles(ARP, fives=13)), 7))[0]) == ["short-preamble"]


@pytest.mark.parametrize(
    ("period", "idle", "want_received", "want_sent"),
    [
        (4, 24, [], []),
        (4, 23, ["short-gap"], ["short-gap"]),
        # At 10 Mb/s the gap of what is received may have shrunk to 47 bits (802.3 table 4-2).
        (40, 12, [], ["short-gap"]),
        (40, 11, ["short-gap"], ["short-gap"]),
    ],
)
def test_the_gap_between_frames_is_that_of_the_speed_and_the_direction(
    period: int, idle: int, want_received: list[str], want_sent: list[str]
) -> None:
    symbols = [*nibbles(ARP), *[IDLE] * idle, *nibbles(ARP)]
    rows, _ = decode(side(received(*symbols, period=period), 0))
    assert ([r["gap_bits"] for r in rows[:2]], errors(rows)) == ([-1, 4 * idle], want_received)
    rows, _ = decode(side(sent(*symbols, period=period), 7))
    assert errors(rows) == want_sent
    said = [(r["expected"], r["seen"]) for r in rows if r["kind"] == "error"]
    assert said == [(96, 4 * idle)] * len(want_sent)
    assert errors(decode(side(sent(*symbols, period=period), 7), min_gap_bits=4)[0]) == []


def test_short_and_long_frames_are_errors_of_the_ethernet_frame() -> None:
    _, frames = decode(side(received(*nibbles(ARP[:59])), 0))
    assert [f["error"] for f in frames] == ["", "runt"]
    _, frames = decode(side(received(*nibbles(ARP + bytes(1455))), 0))
    assert [f["error"] for f in frames] == ["", "oversize"]
    _, frames = decode(side(received(*nibbles(ARP + bytes(1454))), 0))
    assert [f["error"] for f in frames] == [""]


def test_an_enable_that_is_stuck_does_not_fill_the_memory() -> None:
    edges = side(received(*[Symbol(5)] * 3, Symbol(0xD), *[Symbol(6), Symbol(9)] * 70_000), 0)
    values = MII.option_values()
    state = MII.new_state(values)
    for begin in range(0, edges.end_sample, 50_000):
        end = min(begin + 50_000, edges.end_sample)
        made = decode_mii(between(edges, begin, end), values, state, end == edges.end_sample)
    assert [len(one.data) for one in state.sides or ()] == [0]
    rows, frames = made["mii.frames"].to_pylist(), made["ethernet"].to_pylist()
    assert (rows[0]["length_B"], errors(rows), rows[0]["fcs_ok"]) == (70_000, ["jabber"], None)
    assert [(f["error"], f["data"]) for f in frames] == [
        ("", b"\x96" * 65_536),
        ("jabber", b"\x96" * 65_536),
    ]


def test_error_without_enable_is_a_false_carrier_low_power_or_reserved() -> None:
    # 802.3 table 22-2: RX_DV 0, RX_ER 1: 1110 false carrier, 0001 low power idle.
    symbols = [
        *[Symbol(0xE, 0, 1)] * 3,
        *GAP,
        *[Symbol(1, 0, 1)] * 5,
        IDLE,
        Symbol(6, 0, 1),
    ]
    rows, frames = decode(side(received(*symbols), 0))
    assert [(r["kind"], r["error"], r["code"], r["t_end_ps"] - r["t_ps"]) for r in rows] == [
        ("error", "false-carrier", 0xE, 120_000),
        ("low-power", "", 1, 200_000),
        ("error", "reserved-code", 6, 40_000),
    ]
    assert frames == []


def test_a_collision_while_a_frame_is_sent_is_an_error() -> None:
    symbols = nibbles(ARP)
    symbols[30] = symbols[30]._replace(collision=1)
    rows, _ = decode(side(sent(*symbols), 7))
    assert (rows[0]["collision"], errors(rows)) == (True, ["collision"])
    assert decode(side(sent(*nibbles(ARP)), 7))[0][0]["collision"] is False


def test_carrier_sense_is_told_with_its_time_whatever_the_clocks_do() -> None:
    symbols = [*GAP, *nibbles(ARP), *GAP]
    samples = received(*symbols)
    for first, end in ((0, 9), (95, 700), (len(samples) - 5, len(samples))):
        for at in range(first, end):
            samples[at] |= 1 << 15
    edges = edges_of(samples, NAMES, RATE_HZ)
    wanted = [*NAMES[:7], "crs"]
    rows, _ = decode(edges.select([name if name in wanted else None for name in NAMES]))
    assert [(r["kind"], r["error"], r["sample"], r["end_sample"]) for r in rows] == [
        ("carrier", "", 0, 9),
        ("error", "cut-carrier", 0, 9),
        ("frame", "", 110, 110 + 144 * 4),
        ("carrier", "", 95, 700),
        ("carrier", "", len(samples) - 5, len(samples)),
        ("error", "cut-carrier", len(samples) - 5, len(samples)),
    ]
    assert phy_texts(rows[3]).long == "the medium: CRS was active"


def test_a_frame_that_the_capture_cuts_is_an_error() -> None:
    samples = received(*nibbles(ARP), *GAP, *nibbles(ARP))
    rows, frames = decode(side(samples[4 * 40 :], 0))
    assert [(r["kind"], r["error"], r["length_B"]) for r in rows] == [
        ("frame", "", -1),
        ("error", "cut-frame", -1),
        ("frame", "", 64),
    ]
    assert [f["data"] for f in frames] == [ARP]
    rows, frames = decode(side(samples[: 4 * (3 + 16 + 20)], 0))
    assert errors(rows) == ["cut-frame"]
    assert [(f["error"], f["data"]) for f in frames] == [("", ARP[:10]), ("cut-frame", ARP[:10])]


def test_a_direction_needs_all_of_its_channels() -> None:
    edges = edges_of(received(*nibbles(ARP)), NAMES, RATE_HZ)
    with pytest.raises(
        InputError, match=r"mii: channels rxd3 have no probe; a direction needs its"
    ):
        decode(edges.select([None if name == "rxd3" else name for name in NAMES]))
    with pytest.raises(InputError, match="mii: neither direction has probes; say rx_clk=PROBE"):
        decode(edges.select([None] * 14 + ["col", None]))
    # The error signal may be missing.
    chosen = [name if name in NAMES[:6] else None for name in NAMES]
    assert [f["data"] for f in decode(edges.select(chosen))[1]] == [ARP]


def test_rows_are_put_into_words() -> None:
    rows, frames = decode(side(received(*nibbles(ARP), IDLE, Symbol(0xE, 0, 1)), 0))
    assert [phy_texts(row).normal for row in rows] == ["received 64 B, FCS good", "false-carrier"]
    assert phy_texts(rows[0]).long == (
        "received at 100 Mb/s: 64 B, FCS good, preamble 56 bits, 0 symbols with errors"
    )
    assert phy_texts(frames[0]).normal == "ARP request who has 10.0.0.2, tell 10.0.0.1"


def noise(seed: int) -> list[int]:
    """Draw both directions with frames, cut frames, errors, idle codes and pauses of the clock."""
    rng = random.Random(seed)

    def symbols() -> list[Symbol]:
        made: list[Symbol] = []
        for _ in range(rng.randint(2, 5)):
            frame = nibbles(rng.randbytes(rng.randint(0, 80)), fives=rng.randint(0, 16))
            frame = frame[: rng.choice([len(frame), rng.randint(1, len(frame))])]
            for _ in range(rng.choice([0, 0, 2])):
                frame[rng.randrange(len(frame))] = Symbol(rng.randrange(16), 1, rng.randrange(2))
            idle = [Symbol(rng.randrange(16), 0, rng.random() < 0.2) for _ in range(5)]
            made += [*frame, *[IDLE] * rng.randint(0, 30), *idle]
        return made

    one = mii_rx(symbols(), rng.choice([2, 4, 7]))
    other = mii_tx(symbols(), rng.choice([2, 5, 8]))
    length = min(len(one), len(other))
    both = [one[n] | other[n] << 7 for n in range(length)]
    both = [level | (n // 97 % 2) << 15 for n, level in enumerate(both)]
    at = rng.randrange(length)
    return both[:at] + [both[at]] * 50 + both[at:]


@pytest.mark.parametrize("seed", range(12))
def test_noise_gives_the_same_rows_in_pieces_of_any_size(seed: int) -> None:
    edges = edges_of(noise(seed), NAMES, RATE_HZ)
    rng = random.Random(seed)
    cuts = rng.choices(range(edges.end_sample), k=20)
    whole = assert_same_in_pieces(MII, edges, cuts)
    assert len(whole["mii.frames"]) > 4
    assert all(phy_texts(row).long for table in whole.values() for row in table.to_pylist())


def test_exported_frames_are_icmp_in_tshark_with_good_and_wrong_check_sequences(
    tmp_path: Path,
) -> None:
    symbols = [*nibbles(PING), *GAP, *nibbles(PING, end=b"\0\0\0\0"), *GAP]
    path = tmp_path / "mii.sr"
    write_sr(edges_of(received(*symbols), NAMES[:7], RATE_HZ), path)
    out = tmp_path / "mii.pcapng"
    export_file(path, "pcapng", out, specs=["mii"], registry=REGISTRY)
    fields = ["-e", "_ws.col.Protocol", "-e", "eth.fcs.status", "-e", "frame.p2p_dir"]
    checked = ["-o", "eth.check_fcs:TRUE", "-T", "fields", "-E", "separator=|"]
    lines = tool("tshark", "-r", out, *checked, *fields).splitlines()
    assert [line.split("|")[:2] for line in lines] == [["ICMP", "1"], ["ICMP", "0"]]
