"""RGMII: signals drawn from RGMII v2.0 in, frames, status and events out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.contract import OptionValue
from freezeframe.decoders.net.phy_code import phy_texts
from freezeframe.decoders.net.rgmii import CHANNELS, RGMII
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.gui.export.run import export_file
from tests.decoders.net.phy_bus import IDLE, Symbol, edges_of, nibbles, octets, rgmii
from tests.decoders.net.test_mii import ARP, PING
from tests.decoders.pieces import assert_same_in_pieces, errors, rows_of
from tests.gui.export.material import tool

Row = dict[str, Any]
REGISTRY = Registry({"rgmii": RGMII})
NAMES = [channel.id for channel in CHANNELS]
RATE_HZ = 1_000_000_000  # 4 samples a half of the clock of 125 MHz
GAP = [IDLE] * 12  # 96 bits


def side(samples: list[int], first: int = 0) -> Edges:
    edges = edges_of([level << first for level in samples], NAMES, RATE_HZ)
    wanted = NAMES[first : first + 6]
    return edges.select([name if name in wanted else None for name in NAMES])


def decode(edges: Edges, **options: OptionValue) -> list[list[Row]]:
    return rows_of(RGMII, edges, **({"in_band": False} | options))


def with_idle(*symbols: Symbol) -> list[Symbol]:
    return [*[IDLE] * 3, *symbols, *[IDLE] * 3]


@pytest.mark.parametrize("half", [2, 4, 6])
def test_a_frame_at_1000_mbps_has_an_octet_in_each_clock(half: int) -> None:
    samples = rgmii(with_idle(*octets(ARP)), half)
    edges = edges_of(samples, NAMES, 250_000_000 * half)
    edges = edges.select([name if name in NAMES[:6] else None for name in NAMES])
    rows, frames = decode(edges)
    assert [
        (r["kind"], r["speed_mbps"], r["preamble_bits"], r["length_B"], r["fcs_ok"]) for r in rows
    ] == [("frame", 1000, 56, 64, True)]
    assert [(f["direction"], f["data"], f["fcs_ok"]) for f in frames] == [("received", ARP, True)]
    # 8 ns a clock, the rising edge a quarter of it after the data; 3 idle, then 8 octets.
    assert rows[0]["t_ps"] == 3 * 8_000 + 2_000
    assert frames[0]["t_ps"] == rows[0]["t_ps"] + 8 * 8_000
    assert rows[0]["t_end_ps"] == rows[0]["t_ps"] + 72 * 8_000


@pytest.mark.parametrize(("half", "speed"), [(20, 100), (200, 10)])
def test_a_frame_at_100_and_10_mbps_has_a_nibble_in_each_clock(half: int, speed: int) -> None:
    samples = rgmii(with_idle(*nibbles(ARP)), half, ddr=False)
    rows, frames = decode(side(samples))
    assert [(r["speed_mbps"], r["preamble_bits"], r["length_B"]) for r in rows] == [(speed, 56, 64)]
    assert [f["data"] for f in frames] == [ARP]


def test_the_falling_edge_need_not_repeat_the_nibble_at_100_mbps() -> None:
    # RGMII v2.0, 5: in these modes the data may be repeated on the falling edge.
    symbols = [symbol._replace(data=symbol.data | 0x90) for symbol in with_idle(*nibbles(ARP))]
    _, frames = decode(side(rgmii(symbols, 20)))
    assert [f["data"] for f in frames] == [ARP]


def test_data_that_change_with_the_clock_are_taken_half_way_to_the_next_edge() -> None:
    samples = rgmii(with_idle(*octets(ARP)), aligned=True)
    rows, frames = decode(side(samples), clock="aligned")
    assert [(f["data"], f["error"]) for f in frames] == [(ARP, "")]
    # The clock edges are where they are.
    assert rows[0]["t_ps"] == 3 * 8_000
    # A sample of skew to either side is nothing.
    rng = random.Random(1)
    skewed = samples[:]
    for at in range(1, len(samples) - 1):
        if samples[at] & ~1 != samples[at - 1] & ~1:
            early = rng.random() < 0.5
            skewed[at - early] = samples[at - early] & 1 | samples[at - (not early)] & ~1
    assert skewed != samples
    assert [f["data"] for f in decode(side(skewed), clock="aligned")[1]] == [ARP]


def test_the_sent_side_has_channels_of_its_own() -> None:
    rows, frames = decode(side(rgmii(with_idle(*octets(PING))), 6))
    assert [(r["direction"], r["fcs_ok"]) for r in rows] == [("sent", True)]
    assert [f["data"] for f in frames] == [PING]


def test_the_control_of_the_falling_edge_is_enable_xor_error() -> None:
    # RGMII v2.0, 3.4: normal data TX_CTL 1, 1; data with error 1, 0.
    symbols = octets(ARP)
    symbols[8 + 30] = symbols[8 + 30]._replace(error=1)
    rows, _ = decode(side(rgmii(with_idle(*symbols))))
    assert (rows[0]["symbol_errors"], rows[0]["first_error_B"]) == (1, 30)
    assert errors(rows) == ["symbol-error"]


def test_a_delimiter_must_be_a_whole_octet_at_1000_mbps() -> None:
    # 5D is not the delimiter D5, though its nibbles would be one, shifted.
    sent = bytes([0x55, 0x55, 0x5D, 0x55, 0xD5]) + b"\x01\x02"
    rows, frames = decode(side(rgmii(with_idle(*[Symbol(octet) for octet in sent]))))
    assert (rows[0]["length_B"], frames[0]["data"]) == (2, b"\x01\x02")
    assert "bad-preamble" in errors(rows)


@pytest.mark.parametrize(
    ("code", "kind", "error"),
    [
        (0x0E, "error", "false-carrier"),
        (0x0F, "extension", ""),
        (0x1F, "extension", ""),
        (0xFF, "carrier-sense", ""),
        (0x01, "low-power", ""),
        (0x42, "error", "reserved-code"),
    ],
)
def test_error_without_enable_says_what_is_between_frames(code: int, kind: str, error: str) -> None:
    # 802.3 table 35-2, of which RGMII v2.0 takes the codes.
    rows, frames = decode(side(rgmii(with_idle(*[Symbol(code, 0, 1)] * 4))))
    assert [(r["kind"], r["error"], r["code"]) for r in rows] == [(kind, error, code)]
    assert rows[0]["t_end_ps"] - rows[0]["t_ps"] == 4 * 8_000
    assert frames == []


def test_the_gap_begins_after_a_carrier_extension() -> None:
    extension = [Symbol(0x0F, 0, 1)] * 30
    symbols = with_idle(*octets(ARP), *extension, *[IDLE] * 8, *octets(ARP))
    rows, _ = decode(side(rgmii(symbols)))
    assert [r["gap_bits"] for r in rows if r["kind"] == "frame"] == [-1, 64]
    # 802.3 table 4-2: 64 bits is what may be left at 1000 Mb/s of what is received.
    assert errors(rows) == []
    assert errors(decode(side(rgmii(symbols), 6))[0]) == ["short-gap"]


def status(value: int) -> Symbol:
    return Symbol(value << 4 | value, 0)


def test_idle_symbols_of_the_phy_carry_its_link_speed_and_duplex() -> None:
    # RGMII v2.0, 3.4.1: RXD0 link, RXD2:1 speed (00 10, 01 100, 10 1000 Mb/s), RXD3 full duplex.
    symbols = [*[status(0)] * 5, *[status(0b1101)] * 9, *octets(ARP), *[status(0b1101)] * 12]
    rows, _ = decode(side(rgmii([*symbols, *[status(0b0011)] * 5])), in_band=True)
    assert [
        (r["link"], r["speed_mbps"], r["duplex"], r["code"]) for r in rows if r["kind"] == "status"
    ] == [(False, 10, "half", 0), (True, 1000, "full", 13), (True, 100, "half", 3)]
    assert phy_texts(rows[1]).normal == "link up, 1000 Mb/s, full duplex"
    assert [r["kind"] for r in rows] == ["status", "status", "frame", "status"]
    # What lasts for less than three symbols, or differs between the edges, is no status.
    symbols = [*[status(1)] * 5, *[status(7)] * 2, *[status(1)] * 5, *[Symbol(0x12, 0)] * 9]
    rows, _ = decode(side(rgmii(symbols)), in_band=True)
    assert [r["code"] for r in rows] == [1]
    # The MAC says nothing there.
    assert decode(side(rgmii(symbols), 6), in_band=True)[0] == []


def test_a_frame_that_the_capture_cuts_is_an_error() -> None:
    samples = rgmii(with_idle(*octets(ARP), *GAP, *octets(ARP)))
    rows, frames = decode(side(samples[8 * 20 :]))
    assert [(r["kind"], r["error"]) for r in rows] == [
        ("frame", ""),
        ("error", "cut-frame"),
        ("frame", ""),
    ]
    assert [f["data"] for f in frames] == [ARP]
    rows, frames = decode(side(samples[: 8 * (3 + 8 + 10)]))
    assert errors(rows) == ["cut-frame"]
    assert frames[0]["data"] == ARP[:10]


def test_the_clock_may_stop_between_frames() -> None:
    samples = rgmii(with_idle(*octets(ARP), *GAP))
    samples += [samples[-1]] * 1_000 + rgmii(with_idle(*octets(PING)))
    for clock in ("delayed", "aligned"):
        aligned = rgmii(with_idle(*octets(ARP), *GAP), aligned=True)
        aligned += [aligned[-1]] * 1_000 + rgmii(with_idle(*octets(PING)), aligned=True)
        chosen = samples if clock == "delayed" else aligned
        assert [f["data"] for f in decode(side(chosen), clock=clock)[1]] == [ARP, PING]


def test_a_direction_needs_all_of_its_channels() -> None:
    edges = edges_of(rgmii(with_idle(*octets(ARP))), NAMES, RATE_HZ)
    with pytest.raises(InputError, match="rgmii: channels rd3, rx_ctl have no probe; a direction"):
        decode(edges.select([name if name in NAMES[:4] else None for name in NAMES]))
    with pytest.raises(InputError, match="rgmii: neither direction has probes; say rxc=PROBE"):
        decode(edges.select([None] * 11 + ["tx_ctl"]).select([None] * 12))


def test_channels_go_by_the_names_of_mii_too(tmp_path: Path) -> None:
    names = ["RX_CLK", "RXD0", "RXD1", "RXD2", "RXD3", "RX_CTL"]
    path = tmp_path / "rgmii.sr"
    write_sr(edges_of(rgmii(with_idle(*octets(ARP))), names, RATE_HZ), path)
    made = {d.name: d.table for d in decode_file(path, ["rgmii"], registry=REGISTRY)}
    assert made["rgmii.ethernet"].to_pylist()[0]["data"] == ARP


def noise(seed: int) -> list[int]:
    """Draw both directions with frames, cut frames, errors, codes, status, and pauses of the clock."""
    rng = random.Random(seed)

    def symbols() -> list[Symbol]:
        made: list[Symbol] = []
        for _ in range(rng.randint(2, 5)):
            frame = octets(rng.randbytes(rng.randint(0, 80)), preamble=rng.randint(0, 8))
            frame = frame[: rng.choice([len(frame), rng.randint(1, len(frame))])]
            for _ in range(rng.choice([0, 0, 2])):
                frame[rng.randrange(len(frame))] = Symbol(rng.randrange(256), 1, rng.randrange(2))
            idle = [status(rng.randrange(16))] * rng.randint(1, 6)
            codes = [Symbol(rng.choice([1, 14, 15, 31, 255, 7]), 0, 1)] * rng.randint(0, 4)
            made += [*frame, *idle, *codes, *idle]
        return made

    aligned = seed % 2 == 1
    one = rgmii(symbols(), rng.choice([2, 4, 9]), aligned=aligned)
    other = rgmii(symbols(), rng.choice([2, 4, 12]), aligned=aligned)
    length = min(len(one), len(other))
    both = [one[n] | other[n] << 6 for n in range(length)]
    at = rng.randrange(length)
    return both[:at] + [both[at]] * 50 + both[at:]


@pytest.mark.parametrize("seed", range(16))
def test_noise_gives_the_same_rows_in_pieces_of_any_size(seed: int) -> None:
    edges = edges_of(noise(seed), NAMES, RATE_HZ)
    rng = random.Random(seed)
    cuts = rng.choices(range(edges.end_sample), k=20)
    whole = assert_same_in_pieces(RGMII, edges, cuts, clock=("delayed", "aligned")[seed % 2])
    assert len(whole["rgmii.frames"]) > 8
    assert all(phy_texts(row).long for table in whole.values() for row in table.to_pylist())


def test_exported_frames_are_icmp_in_tshark(tmp_path: Path) -> None:
    path = tmp_path / "rgmii.sr"
    write_sr(edges_of(rgmii(with_idle(*octets(PING))), NAMES[:6], RATE_HZ), path)
    out = tmp_path / "rgmii.pcapng"
    export_file(path, "pcapng", out, specs=["rgmii"], registry=REGISTRY)
    fields = ["-e", "_ws.col.Protocol", "-e", "ip.src", "-e", "eth.fcs.status"]
    checked = ["-o", "eth.check_fcs:TRUE", "-T", "fields", "-E", "separator=|"]
    assert tool("tshark", "-r", out, *checked, *fields).splitlines() == ["ICMP|10.0.0.1|1"]
