"""JTAG: levels drawn by hand in, literal scans out, and two readers of one capture agree."""

from __future__ import annotations

import random
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.jtag import JTAG
from freezeframe.decoders.serial.jtag_code import jtag_texts
from freezeframe.decoders.serial.jtag_encode import JtagScan, encode_scans
from tests.campaign.seeds import seeds
from tests.capture.files.captures import metadata, real_capture, write_session
from tests.decoders.pieces import assert_same_in_pieces, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

RATE_HZ = 1_000_000
REGISTRY = Registry({"jtag": JTAG})
NAMES = ("TCK", "TMS", "TDI", "TDO", "nTRST")

Rows = list[dict[str, Any]]


def clocked(tms: str, tdi: str = "", tdo: str = "", *, half: int = 2) -> bytes:
    """Draw one clock a character, TCK low and then high."""
    samples = bytearray()
    for at, mode in enumerate(tms):
        level = int(mode) << 1
        level |= int(tdi[at : at + 1] or "0") << 2 | int(tdo[at : at + 1] or "0") << 3
        samples += bytes([level]) * half + bytes([level | 1]) * half
    return bytes(samples + bytes([0]) * half)


def edges_of(samples: bytes, channels: int = 4) -> Edges:
    sample, value = EdgeReducer(1, range(channels)).feed(samples)
    edges = Edges(sample, value, NAMES[:channels], RATE_HZ, 0, len(samples))
    return edges.select([*NAMES[:channels], *[None] * (5 - channels)])


def decode(edges: Edges, **options: Any) -> list[Rows]:
    """Return the stays in states, and the scans."""
    return rows_of(JTAG, edges, **options)


# From Run-Test/Idle: Select-DR, Select-IR, Capture-IR, Shift-IR, 4 bits, Update-IR, Run-Test/Idle.
IR = ("1100" + "0001" + "10", "0000" + "1101" + "00", "0000" + "1000" + "00")


def test_a_scan_gives_its_bits_and_places() -> None:
    _, scans = decode(edges_of(clocked(*IR)))
    # The bit that is shifted first is the lowest; a clock is 4 samples, and rises at 2.
    assert scans == [
        {
            "t_ps": 18_000_000,
            "source": "TCK",
            "kind": "ir",
            "t_end_ps": 34_000_000,
            "error": "",
            "register": "IR",
            "bits": 4,
            "tdi": b"\x0b",
            "tdo": b"\x01",
            "instruction": 0xB,
            "sample": 18,
            "end_sample": 34,
        }
    ]


def test_the_states_are_those_of_the_standard() -> None:
    states, _ = decode(edges_of(clocked(*IR)))
    assert [(row["kind"], row["clocks"], row["sample"]) for row in states] == [
        ("select-dr-scan", 1, 2),
        ("select-ir-scan", 1, 6),
        ("capture-ir", 1, 10),
        ("shift-ir", 4, 14),
        ("exit1-ir", 1, 30),
        ("update-ir", 1, 34),
        ("run-test/idle", 1, 38),
    ]
    assert (states[-1]["last_sample"], states[-1]["end_sample"]) == (38, 42)


@pytest.mark.parametrize("start", ["run-test/idle", "test-logic-reset"])
def test_five_ones_reset_from_any_state(start: str) -> None:
    rng = random.Random(1)
    for _ in range(20):
        way = "".join(rng.choice("01") for _ in range(rng.randint(0, 12)))
        states, _ = decode(edges_of(clocked(way + "11111")), start=start)
        assert states[-1]["kind"] == "test-logic-reset"


def test_a_capture_that_begins_in_reset_needs_a_zero_to_be_idle() -> None:
    states, _ = decode(edges_of(clocked("0" + "1")), start="test-logic-reset")
    assert [row["kind"] for row in states] == ["run-test/idle", "select-dr-scan"]
    states, _ = decode(edges_of(clocked("1" + "0")), start="test-logic-reset")
    assert [row["kind"] for row in states] == ["test-logic-reset", "run-test/idle"]


def test_only_the_shift_state_shifts() -> None:
    # Shift 2 bits, Exit1, Pause twice, Exit2, Shift 2 bits, Exit1, Update.
    tms = "100" + "01" + "001" + "0" + "01" + "10"
    tdi = "000" + "10" + "111" + "1" + "01" + "00"
    _, scans = decode(edges_of(clocked(tms, tdi)))
    assert [(row["kind"], row["bits"], row["tdi"]) for row in scans] == [("dr", 4, b"\x09")]


def test_a_scan_without_a_bit_is_a_scan_of_0_bits() -> None:
    _, scans = decode(edges_of(clocked("10110")))
    assert [(row["kind"], row["bits"], row["tdi"]) for row in scans] == [("dr", 0, b"")]
    assert scans[0]["sample"] == scans[0]["end_sample"] == 14


def test_a_data_scan_knows_its_instruction_until_a_reset() -> None:
    ir, data = "11000001" + "10", "100" + "01" + "10"
    tdi = "0000" + "1101" + "00" + "000" + "11" + "00"
    tail = "1" * 5 + "0" + data
    _, scans = decode(edges_of(clocked(data + ir + data + tail, "0" * len(data) + tdi)))
    assert [(row["kind"], row["instruction"]) for row in scans] == [
        ("dr", -1),
        ("ir", 0xB),
        ("dr", 0xB),
        ("dr", -1),
    ]


def test_a_reset_line_resets_and_cuts_the_scan() -> None:
    samples = clocked("100" + "00", "000" + "11")[:-2]
    low = bytes([0b10000 | value for value in samples]) + bytes([0, 0, 1, 1]) + bytes([16]) * 2
    states, scans = decode(edges_of(low, 5))
    assert [(row["error"], row["bits"], row["tdi"]) for row in scans] == [
        ("reset-scan", 2, b"\x03")
    ]
    assert [(row["kind"], row["clocks"]) for row in states[-2:]] == [
        ("shift-dr", 3),
        ("test-logic-reset", 1),
    ]


def test_a_scan_that_the_end_of_the_capture_cuts_is_an_error() -> None:
    _, scans = decode(edges_of(clocked(IR[0][:6], IR[1][:6])))
    assert [(row["kind"], row["error"], row["bits"], row["tdi"]) for row in scans] == [
        ("error", "cut-scan", 2, b"\x03")
    ]


def test_lines_that_are_not_there_have_no_bits() -> None:
    edges = edges_of(clocked(*IR)).select(["TCK", "TMS", "TDI", None, None])
    _, scans = decode(edges)
    assert (scans[0]["tdi"], scans[0]["tdo"], scans[0]["bits"]) == (b"\x0b", b"", 4)


def test_a_state_that_is_not_stable_is_no_start() -> None:
    with pytest.raises(InputError, match=r"option start=shift-dr: not a choice; allowed: run-test"):
        JTAG.option_values({"start": "shift-dr"})


def test_a_row_is_put_into_words() -> None:
    states, scans = decode(edges_of(clocked(*IR)))
    assert jtag_texts(states[3]).long == "TCK: shift-ir, 4 clocks"
    assert jtag_texts(scans[0]) == (
        "IR 4",
        "IR 4 bits TDI 0xb TDO 0x1",
        "TCK: IR 4 bits TDI 0xb TDO 0x1",
    )
    edges = encode_scans([JtagScan(False, 200, 1 << 199 | 5, 0)], samplerate_hz=RATE_HZ)
    _, scans = decode(edges.select([*NAMES[:4], None]))
    assert "TDI 0x..00000000000000000000000000000005" in jtag_texts(scans[0]).normal
    _, scans = decode(edges_of(clocked(IR[0][:6])))
    assert jtag_texts(scans[0]).long == (
        "TCK: IR scan of 2 bits: cut-scan: the capture ends before the update"
    )


@pytest.mark.parametrize("reset", [False, True])
def test_noise_gives_the_same_rows_in_pieces_of_any_size(reset: bool) -> None:
    rng = random.Random(5)
    value = 0b10000
    samples = bytearray([value])
    for _ in range(4_000):
        for line, share in ((1, 0.7), (2, 0.3), (4, 0.3), (8, 0.3), (16, 0.01 * reset)):
            value ^= line * (rng.random() < share)
        samples.append(value)
    edges = edges_of(bytes(samples), 5)
    for size in (1, 7, 1_000):
        cuts = range(0, len(samples), size)
        whole = assert_same_in_pieces(JTAG, edges, cuts)
    assert len(whole["jtag.scans"]) > 20
    assert ("reset-scan" in whole["jtag.scans"]["error"].to_pylist()) == reset


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.sampled_from([1, 4, 7, 8, 9, 32, 63, 64, 65, 500]), max_size=6),
    half=st.integers(1, 3),
    seed=st.integers(0, 1 << 30),
    cuts=st.lists(st.integers(0, 4_000), max_size=8),
)
def test_what_is_encoded_is_decoded_in_pieces_of_any_size(
    sizes: list[int], half: int, seed: int, cuts: list[int]
) -> None:
    rng = random.Random(seed)
    sent = [
        JtagScan(rng.random() < 0.5, bits, rng.getrandbits(bits), rng.getrandbits(bits))
        for bits in sizes
    ]
    edges = encode_scans(sent, samplerate_hz=RATE_HZ, half_period_samples=half)
    edges = edges.select([*NAMES[:4], None])
    whole = assert_same_in_pieces(JTAG, edges, cuts)
    got = whole["jtag.scans"].to_pylist()
    assert [(row["kind"], row["bits"]) for row in got] == [
        ("ir" if scan.ir else "dr", scan.bits) for scan in sent
    ]
    for row, scan in zip(got, sent, strict=True):
        assert int.from_bytes(row["tdi"], "little") == scan.tdi
        assert int.from_bytes(row["tdo"], "little") == scan.tdo


# The other reader: sigrok-cli on the same file.

Said = Counter[Annotation]


def ours(path: Path) -> Said:
    made = {d.name: d.table for d in decode_file(path, ["jtag"], registry=REGISTRY)}
    result: Said = Counter()
    for row in made["jtag.scans"].to_pylist():
        if row["kind"] == "error":
            continue
        for line in ("TDI", "TDO"):
            number = int.from_bytes(row[line.lower()], "little")
            digits = f"{number:0{row['bits']}b}" if row["bits"] else ""
            text = f"{row['register']} {line}: {digits} ({number:#x}), {row['bits']} bits"
            result[Annotation(row["sample"], row["end_sample"], text)] += 1
    stays = made["jtag.states"].to_pylist()
    # Sigrok gives a state when the next clock comes: of the last stay it does not know the end.
    stays[-1]["end_sample"] = stays[-1]["last_sample"]
    for row in stays:
        if row["end_sample"] > row["sample"]:
            result[Annotation(row["sample"], row["end_sample"], row["kind"].upper())] += 1
    return result


def theirs(path: Path) -> Said:
    rows = "jtag=bitstrings-tdi:bitstrings-tdo:states"
    said = sigrok_annotations(path, "jtag:tck=TCK:tms=TMS:tdi=TDI:tdo=TDO", rows)
    scans = [a for a in said if " bits" in a.text]
    # It gives one row a clock; a stay is all that follow each other in one state.
    states = sorted(a for a in said if " bits" not in a.text)
    stays = [
        Annotation(group[0].begin, group[-1].end, text)
        for text, run in groupby(states, key=lambda a: a.text)
        for group in [list(run)]
    ]
    return Counter(scans + stays)


def test_the_real_capture_gives_what_sigrok_gives() -> None:
    path = real_capture("olimex_stm32-h103_irscan_drscan.sr")
    said = ours(path)
    assert said == theirs(path)
    # An STM32 has a boundary-scan TAP (5 bits) and that of the core (4 bits).
    assert any(a.text == "IR TDI: 111111110 (0x1fe), 9 bits" for a in said)


def random_chain(seed: int) -> bytes:
    """Draw scans and walks through the states, with pauses; never one that shifts after them."""
    rng = random.Random(seed)
    tms = "0" * rng.randint(1, 9)
    for _ in range(rng.randint(3, 12)):
        if rng.random() < 0.2:
            tms += "1" * rng.randint(5, 9) + "0"
            continue
        tms += "1" * rng.choice((1, 2)) + "0"
        tms += rng.choice(("1", "0" + "0" * rng.choice((0, 3, 8, 40)) + "1"))
        # Sigrok counts the clock of Exit1 as a bit when the scan goes on after a pause.
        tms += rng.choice(("", "", "0" * rng.randint(1, 5) + "1")) + "1" + "0" * rng.randint(0, 3)
        tms += "" if tms.endswith("0") else "0"
    tms += "0" * 2
    bits = ["".join(rng.choice("01") for _ in tms) for _ in range(2)]
    samples = bytearray(clocked(tms, *bits, half=rng.randint(2, 7)))
    for at in range(1, len(samples)):
        # Lines other than the clock may do what they like after its rising edge.
        if samples[at] & 1 and samples[at - 1] & 1 and rng.random() < 0.3:
            samples[at] ^= rng.choice((2, 4, 8))
    return bytes(samples[: len(samples) - rng.choice((0, 0, len(samples) // 3))])


@pytest.mark.parametrize("seed", seeds(30))
def test_a_generated_chain_gives_what_sigrok_gives(seed: int, tmp_path: Path) -> None:
    path = write_session(tmp_path / "tap.sr", [random_chain(seed)], metadata(NAMES[:4]))
    said = ours(path)
    assert said == theirs(path)
    assert said.total() >= 6


def test_the_clock_of_exit1_is_no_bit_where_sigrok_counts_it_after_a_pause(tmp_path: Path) -> None:
    tms = "100" + "01" + "001" + "0" + "01" + "10" + "0"
    tdi = "000" + "10" + "111" + "1" + "01" + "00"
    path = write_session(tmp_path / "tap.sr", [clocked(tms, tdi)], metadata(NAMES[:4]))
    assert any(a.text == "DR TDI: 1001 (0x9), 4 bits" for a in ours(path))
    assert any("5 bits" in a.text for a in theirs(path))
