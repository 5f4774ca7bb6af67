"""I2C: levels drawn by hand in, literal bytes out, and two readers of one capture agree."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.i2c import I2C
from freezeframe.decoders.serial.i2c_code import i2c_texts
from freezeframe.decoders.serial.i2c_encode import I2cTransfer, encode_transfers
from tests.campaign.seeds import seeds
from tests.capture.files.captures import metadata, real_capture, write_session
from tests.decoders.pieces import assert_same_in_pieces, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

RATE_HZ = 1_000_000
REGISTRY = Registry({"i2c": I2C})
SCL, SDA = 1, 2

Rows = list[dict[str, Any]]


def drawn(text: str, quarter: int = 2, stretch: int = 0) -> bytes:
    """Draw ``S`` START, ``P`` STOP, ``0`` and ``1`` bits, ``_`` idle, ``s`` a stretched 0.

    Drawn from the figures of UM10204 3.1, sample by sample; the lines begin idle.
    """
    samples = bytearray([SCL | SDA] * quarter)
    sda = SDA

    def put(*levels: int) -> None:
        for level in levels:
            samples.extend(bytes([level]) * quarter)

    for mark in text.replace(" ", ""):
        if mark == "_":
            put(SCL | SDA)
        elif mark == "S":
            # SDA goes up while SCL is low (a repeated START), then falls while SCL is high.
            if samples[-1] != SCL | SDA:
                put(sda, SDA)
            put(SCL | SDA, SCL)
            sda = 0
        elif mark == "P":
            put(sda, 0, SCL, SCL | SDA)
            sda = SDA
        else:
            new = SDA if mark == "1" else 0
            put(sda, new)
            if mark == "s":
                samples.extend(bytes([new]) * stretch)
            put(new | SCL, new | SCL)
            sda = new
    return bytes(samples)


def edges_of(samples: bytes) -> Edges:
    sample, value = EdgeReducer(1, [0, 1]).feed(samples)
    return Edges(sample, value, ("SCL", "SDA"), RATE_HZ, 0, len(samples))


def decode(edges: Edges, **options: Any) -> list[Rows]:
    """Return the bytes with conditions and errors, and the transfers."""
    return rows_of(I2C, edges, **options)


def said(rows: Rows) -> list[tuple[str, int]]:
    return [(row["error"] or row["kind"], row["data"]) for row in rows]


WRITE = "_S 10100000 0 00010010 0 P_"  # 0x50 write, 0x12


def test_a_byte_gives_its_values_and_places() -> None:
    rows, transfers = decode(edges_of(drawn(WRITE)))
    assert said(rows) == [("start", -1), ("address", 0xA0), ("data", 0x12), ("stop", -1)]
    # Two samples a quarter: idle 4, START at 6, the first bit rises at 8 + 4.
    assert rows[1] == {
        "t_ps": 12_000_000,
        "source": "SDA",
        "kind": "address",
        "t_end_ps": 84_000_000,
        "error": "",
        "address": 0x50,
        "read": False,
        "data": 0xA0,
        "ack": True,
        "bits": 8,
        "low_ps": 4_000_000,
        "sample": 12,
        "last_sample": 68,
        "byte_end_sample": 76,
        "ack_sample": 76,
        "end_sample": 84,
    }
    assert transfers == [
        {
            "t_ps": 6_000_000,
            "source": "SDA",
            "kind": "transfer",
            "t_end_ps": 158_000_000,
            "error": "",
            "transfer": 0,
            "address": 0x50,
            "ten_bit": False,
            "read": False,
            "address_ack": True,
            "data": b"\x12",
            "nak_at": -1,
            "repeated": False,
            "stopped": True,
            "byte_sample": [84],
            "byte_end_sample": [156],
            "samplerate_hz": RATE_HZ,
            "sample": 6,
            "end_sample": 158,
        }
    ]


def test_a_repeated_start_ends_a_transfer_and_begins_the_next() -> None:
    rows, transfers = decode(edges_of(drawn("S 10100000 0 00000111 0 S 10100001 0 11111110 1 P_")))
    assert [row["kind"] for row in rows] == [
        "start",
        "address",
        "data",
        "repeated-start",
        "address",
        "data",
        "stop",
    ]
    assert [
        (t["address"], t["read"], t["data"], t["nak_at"], t["repeated"], t["stopped"])
        for t in transfers
    ] == [(0x50, False, b"\x07", -1, False, False), (0x50, True, b"\xfe", 0, True, True)]
    assert transfers[0]["end_sample"] == transfers[1]["sample"]


def test_an_address_that_nothing_answers_is_not_acknowledged() -> None:
    rows, transfers = decode(edges_of(drawn("S 10100000 1 P_")))
    assert rows[1]["ack"] is False
    assert (transfers[0]["address_ack"], transfers[0]["data"]) == (False, b"")


def test_an_address_of_10_bits_is_put_together_and_a_read_repeats_its_upper_part() -> None:
    # UM10204 3.1.11: 1111 0 A9 A8 W, A7..A0; then Sr 1111 0 A9 A8 R.
    text = "S 11110100 0 10000001 0 00010010 0 S 11110101 0 00110100 1 P_"
    rows, transfers = decode(edges_of(drawn(text)))
    assert [(row["kind"], row["address"]) for row in rows if row["bits"] == 8] == [
        ("address", -1),
        ("address-low", 0x281),
        ("data", 0x281),
        ("address", 0x281),
        ("data", 0x281),
    ]
    assert [(t["address"], t["ten_bit"], t["read"], t["data"]) for t in transfers] == [
        (0x281, True, False, b"\x12"),
        (0x281, True, True, b"\x34"),
    ]
    # After a STOP nobody knows the lower part of a read.
    _, transfers = decode(edges_of(drawn("S 11110101 0 00110100 1 P_")))
    assert [(t["address"], t["ten_bit"]) for t in transfers] == [(-1, True)]


def test_addresses_of_10_bits_can_be_switched_off() -> None:
    text = "S 11110100 0 10000001 0 P_"
    rows, transfers = decode(edges_of(drawn(text)), address_bits="7")
    assert [row["kind"] for row in rows] == ["start", "address", "data", "stop"]
    assert [(t["address"], t["ten_bit"], t["data"]) for t in transfers] == [(0x7A, False, b"\x81")]


def test_a_stretched_clock_shows_in_the_byte() -> None:
    rows, _ = decode(edges_of(drawn("S 10100000 s 00010010 0 P_", stretch=100)))
    assert [row["low_ps"] for row in rows if row["bits"] == 8] == [104_000_000, 4_000_000]
    assert [row["data"] for row in rows if row["bits"] == 8] == [0xA0, 0x12]


def test_a_condition_inside_a_byte_is_an_error_and_is_obeyed() -> None:
    # UM10204 3.1.10: a device resets its bus logic on a START wherever it comes.
    rows, transfers = decode(edges_of(drawn("S 1010000 S 10100000 0 000 P S 10100001 0 P_")))
    assert said(rows) == [
        ("start", -1),
        ("cut-byte", 0b1010000),
        ("repeated-start", -1),
        ("address", 0xA0),
        ("cut-byte", 0),
        ("stop", -1),
        ("start", -1),
        ("address", 0xA1),
        ("stop", -1),
    ]
    # The clock rises once more for the condition; that is no bit.
    assert [row["bits"] for row in rows if row["error"]] == [7, 3]
    assert [t["address"] for t in transfers] == [-1, 0x50, 0x50]


def test_a_stop_right_after_a_start_is_an_error() -> None:
    samples = bytes([3, 3, 1, 1, 3, 3])
    rows, transfers = decode(edges_of(samples))
    assert said(rows) == [("start", -1), ("void", -1), ("stop", -1)]
    assert [(t["address"], t["read"], t["address_ack"]) for t in transfers] == [(-1, None, None)]


def test_what_the_end_of_the_capture_cuts_is_an_error() -> None:
    rows, transfers = decode(edges_of(drawn("S 10100000 0 00010010 0 0001")))
    assert said(rows)[2:] == [("data", 0x12), ("cut-byte", 1), ("cut-transfer", -1)]
    assert [(t["kind"], t["error"], t["data"], t["stopped"]) for t in transfers] == [
        ("error", "cut-transfer", b"\x12", False)
    ]
    # Eight bits are a byte, though nobody knows its acknowledge.
    rows, transfers = decode(edges_of(drawn("S 10100000 0 00010010")))
    assert [(row["kind"], row["ack"]) for row in rows[2:]] == [
        ("data", None),
        ("error", None),
        ("error", None),
    ]
    assert transfers[0]["data"] == b"\x12"


def test_a_capture_that_begins_inside_a_transfer_waits_for_a_start() -> None:
    samples = drawn("S 10100000 0 00010010 0 P" + WRITE)
    rows, _ = decode(edges_of(samples[60:]))
    assert said(rows) == [("start", -1), ("address", 0xA0), ("data", 0x12), ("stop", -1)]


def test_glitches_are_ignored_when_it_is_said_so() -> None:
    clean = drawn(WRITE, quarter=8)
    rng = random.Random(3)
    samples = bytearray(clean)
    # A pulse of 1 or 2 samples in the middle of each fourth stretch of 8.
    for at in range(11, len(samples) - 8, 32):
        for place in range(at, at + rng.randint(1, 2)):
            samples[place] ^= rng.choice((SCL, SDA, SCL | SDA)) if place == at else 0
    want = [row | {"low_ps": 0} for row in decode(edges_of(clean))[0]]
    dirty = edges_of(bytes(samples))
    assert said(decode(dirty)[0]) != said(want)
    got = decode(dirty, glitch_ns=3_000)[0]
    assert [row | {"low_ps": 0} for row in got] == want


def test_a_row_is_put_into_words() -> None:
    rows, transfers = decode(edges_of(drawn("S 10100000 0 00010010 0 S 10100001 1 P S P_")))
    assert [i2c_texts(row).normal for row in rows[:3]] == ["start", "0x50 write ACK", "12 ACK"]
    assert i2c_texts(rows[2]).long == ("SDA: data 12 write 0x50 ACK, SCL low for 4 µs at most")
    assert [i2c_texts(row).long for row in transfers[:2]] == [
        "SDA: 0x50 write: 12, no STOP",
        "SDA: repeated START, 0x50 read, nothing answered, STOP",
    ]
    rows, _ = decode(edges_of(bytes([3, 3, 1, 1, 3, 3])))
    assert i2c_texts(rows[1]).long.startswith("SDA: void: a STOP follows a START")


@pytest.mark.parametrize("glitch_ns", [0, 3_000])
@pytest.mark.parametrize("scl_share", [0.0, 0.1, 0.5])
def test_noise_gives_the_same_rows_in_pieces_of_any_size(scl_share: float, glitch_ns: int) -> None:
    rng = random.Random(5)
    value = SCL | SDA
    samples = bytearray([value])
    for _ in range(1_200):
        value ^= SCL * (rng.random() < scl_share) | SDA * (rng.random() < 0.5)
        samples.append(value)
    edges = edges_of(bytes(samples))
    for size in (1, 7, 1_000):
        cuts = range(0, len(samples), size)
        whole = assert_same_in_pieces(I2C, edges, cuts, glitch_ns=glitch_ns)
    assert len(whole["i2c.bytes"]) > 12


@st.composite
def sent_transfers(draw: st.DrawFn) -> list[I2cTransfer]:
    transfers = []
    for _ in range(draw(st.integers(1, 5))):
        ten_bit = draw(st.booleans())
        # 1111 0xx is the mark of a 10-bit address, so no device has it for its own.
        address = draw(st.integers(0, 0x3FF if ten_bit else 0x77))
        data = draw(st.binary(max_size=5))
        read = draw(st.booleans()) and not ten_bit
        naks = draw(st.sets(st.integers(0, len(data)), max_size=2))
        transfers.append(
            I2cTransfer(address, read, data, ten_bit, tuple(naks), draw(st.booleans()))
        )
    return transfers


@settings(max_examples=60, deadline=None)
@given(
    sent=sent_transfers(),
    quarter=st.integers(1, 4),
    glitch_ns=st.sampled_from([0, 1_000]),
    cuts=st.lists(st.integers(0, 4_000), max_size=8),
)
def test_what_is_encoded_is_decoded_in_pieces_of_any_size(
    sent: list[I2cTransfer], quarter: int, glitch_ns: int, cuts: list[int]
) -> None:
    edges = encode_transfers(sent, samplerate_hz=RATE_HZ, quarter_samples=quarter)
    whole = assert_same_in_pieces(I2C, edges, cuts, glitch_ns=glitch_ns)
    got = whole["i2c.transfers"].to_pylist()
    assert [(t["address"], t["ten_bit"], t["read"], t["data"], t["stopped"]) for t in got] == [
        (t.address, t.ten_bit, t.read, t.data, t.stop) for t in sent
    ]
    assert [t["address_ack"] for t in got] == [int(t.ten_bit) not in t.naks for t in sent]
    first_nak = [
        min((n - 1 - t.ten_bit for n in t.naks if n > t.ten_bit), default=-1) for t in sent
    ]
    assert [t["nak_at"] for t in got] == first_nak


# The other reader: sigrok-cli on the same file.


def as_sigrok_says_it(rows: Iterable[dict[str, Any]]) -> Counter[Annotation]:
    result: Counter[Annotation] = Counter()
    for row in rows:
        kind, at = row["kind"], row["sample"]
        if kind in ("start", "repeated-start", "stop"):
            text = {"start": "Start", "repeated-start": "Start repeat", "stop": "Stop"}[kind]
            result[Annotation(at, at, text)] += 1
            continue
        if kind == "error":
            continue
        way = "read" if row["read"] else "write"
        end = row["byte_end_sample"]
        if kind == "address":
            result[Annotation(row["last_sample"], end, way.capitalize())] += 1
            text = f"Address {way}: {row['data'] >> 1:02X}"
            result[Annotation(at, row["last_sample"], text)] += 1
        else:
            result[Annotation(at, end, f"Data {way}: {row['data']:02X}")] += 1
        if row["ack"] is not None:
            text = "ACK" if row["ack"] else "NACK"
            result[Annotation(row["ack_sample"], row["end_sample"], text)] += 1
    return result


def assert_equal(path: Path) -> Rows:
    made = {d.name: d.table for d in decode_file(path, ["i2c"], registry=REGISTRY)}
    rows: Rows = made["i2c.bytes"].to_pylist()
    other = sigrok_annotations(path, "i2c:scl=SCL:sda=SDA", "i2c=addr-data")
    assert as_sigrok_says_it(rows) == Counter(other)
    return rows


def test_the_real_capture_of_a_transceiver_gives_what_sigrok_gives() -> None:
    rows = assert_equal(real_capture("xfp.sr"))
    assert len(rows) > 100
    assert {row["address"] for row in rows if row["kind"] == "address"} == {0x50}


def test_the_real_capture_of_an_eeprom_gives_what_sigrok_gives() -> None:
    rows = assert_equal(real_capture("24aa025uid_bytewrite16_6ms_delay.sr"))
    assert sum(row["kind"] == "stop" for row in rows) >= 16


def random_bus(seed: int) -> bytes:
    """Draw transfers with stretches, conditions inside data, glitches where nobody looks."""
    rng = random.Random(seed)
    text = "_" * rng.randint(1, 9)
    for _ in range(rng.randint(3, 12)):
        text += "S"
        if rng.random() < 0.2:
            text += "11110" + "".join(rng.choice("01") for _ in range(4))
        else:
            text += "".join(rng.choice("01") for _ in range(9))
        for _ in range(rng.randint(0, 6)):
            text += "".join(rng.choice("01s") for _ in range(8)) + rng.choice("001s")
        if rng.random() < 0.2:
            # After 7 bits sigrok takes the edge before the condition for the eighth.
            text += "".join(rng.choice("01") for _ in range(rng.randint(1, 6)))
        if rng.random() < 0.6:
            text += "P" + "_" * rng.randint(0, 20)
    samples = bytearray(drawn(text, quarter=rng.randint(2, 6), stretch=rng.randint(1, 300)))
    if seed % 3 == 0:
        for at in range(1, len(samples) - 1):
            # SDA may do what it likes while SCL is low.
            if not samples[at - 1] & SCL and not samples[at] & SCL and not samples[at + 1] & SCL:
                samples[at] ^= SDA * (rng.random() < 0.1)
    start = rng.randint(0, len(samples) // 3) if seed % 4 == 1 else 0
    end = len(samples) - (rng.randint(0, len(samples) // 3) if seed % 4 == 2 else 0)
    return bytes(samples[start:end])


@pytest.mark.parametrize("seed", seeds(30))
def test_a_generated_bus_gives_what_sigrok_gives(seed: int, tmp_path: Path) -> None:
    path = write_session(tmp_path / "bus.sr", [random_bus(seed)], metadata(["SCL", "SDA"]))
    assert len(assert_equal(path)) >= 5


def test_a_start_inside_an_address_is_obeyed_where_sigrok_goes_on_counting(tmp_path: Path) -> None:
    samples = drawn("S 1010 S 10100000 0 00010010 0 P_")
    path = write_session(tmp_path / "bus.sr", [samples], metadata(["SCL", "SDA"]))
    made = {d.name: d.table for d in decode_file(path, ["i2c"], registry=REGISTRY)}
    rows = made["i2c.bytes"].to_pylist()
    assert [row["data"] for row in rows if row["kind"] == "address"] == [0xA0]
    other = sigrok_annotations(path, "i2c:scl=SCL:sda=SDA", "i2c=addr-data")
    assert "Address write: 50" not in [a.text for a in other]
