"""SWD: literal clocks in, literal transfers out; sigrok-cli reads the same captures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.sent_levels import edges_of_levels
from freezeframe.decoders.serial.swd import SWD
from freezeframe.decoders.serial.swd_code import swd_texts
from freezeframe.decoders.serial.swd_encode import SwdTransfer, encode_swd
from tests.capture.files.captures import real_capture
from tests.decoders.pieces import assert_same_in_pieces, between, rows_of
from tests.decoders.serial.sigrok_reference import sigrok_annotations

Row = dict[str, Any]
RATE_HZ = 8_000_000
READ_ID = SwdTransfer(ap=False, read=True, address=0, data=0x0BB11477)


def decode(edges: Edges, **options: bool) -> list[Row]:
    return rows_of(SWD, edges, **options)[0]


def sent(*items: SwdTransfer | str | int) -> list[Row]:
    return decode(encode_swd(items, samplerate_hz=RATE_HZ))


def told(rows: list[Row]) -> list[tuple[str, str, str, str, int]]:
    return [(row["kind"], row["error"], row["register"], row["ack"], row["data"]) for row in rows]


def test_a_read_of_the_id_is_one_row_with_its_places() -> None:
    # Both halves of each clock. Idle 0 0; start, DP, read, 00, parity 1, stop, park; the target drives from the next
    # rising edge on: acknowledge 100, 0x0BB11477 with the lowest bit first, parity 1 (15 ones); turnaround.
    host = "00 00" + "11 00 11 00 00 11 00 11"
    bits = "100" + f"{0x0BB11477:032b}"[::-1] + "1"
    target = (
        "1" + "".join(bit * 2 for bit in bits) + "1"
    )  # the clock of the turnaround is low with 1
    levels = [int(bit) for bit in (host + target).replace(" ", "") + "0000"]
    clock = [n % 2 for n in range(len(levels))]
    value = np.array([d << 1 | c for d, c in zip(levels, clock, strict=True)], dtype=np.uint64)
    rows = decode(edges_of_levels(value, 5, ("SWCLK", "SWDIO"), RATE_HZ))
    assert rows == [
        {
            "t_ps": 25 * 125_000,
            "source": "SWDIO",
            "kind": "transfer",
            "t_end_ps": 460 * 125_000,
            "error": "",
            "port": "DP",
            "read": True,
            "address": 0,
            "register": "DPIDR",
            "ack": "ok",
            "data": 0x0BB11477,
            "parity_ok": True,
            "apsel": -1,
            "bank": -1,
            "ones": -1,
            "sample": 25,  # the third clock rises
            "ack_sample": 110,  # the clock after the request falls
            "data_sample": 140,
            "end_sample": 460,
        }
    ]


def test_select_names_the_registers_that_follow() -> None:
    rows = sent(
        SwdTransfer(True, False, 0x4, 0xE000EDF0),
        SwdTransfer(False, False, 0x8, 0x010000F0),
        SwdTransfer(True, True, 0xC, 0x24770011),
        SwdTransfer(False, False, 0x8, 0x00000001),
        SwdTransfer(True, False, 0x4, 0x20000000),
        SwdTransfer(False, False, 0x4, 0x40),
        SwdTransfer(False, True, 0xC, 7),
    )
    assert [(row["port"], row["register"], row["apsel"], row["bank"]) for row in rows] == [
        ("AP", "", -1, -1), ("DP", "SELECT", -1, -1), ("AP", "IDR", 1, 15), ("DP", "SELECT", 1, 0),
        ("AP", "TAR", 0, 0), ("DP", "DLCR", 0, 1), ("DP", "RDBUFF", 0, 1),
    ]  # fmt: skip


def test_wait_and_fault_have_no_data_unless_overruns_are_detected() -> None:
    rows = sent(
        SwdTransfer(True, True, 0xC, ack=2),
        SwdTransfer(True, False, 0xC, ack=4),
        SwdTransfer(False, False, 0x8, 0),
        SwdTransfer(False, False, 0x4, 1),  # CTRL/STAT.ORUNDETECT
        SwdTransfer(True, True, 0xC, 5, ack=2, with_data=True),
        SwdTransfer(True, False, 0xC, 6, ack=4, with_data=True),
        READ_ID,
    )
    assert [(row["ack"], row["data"], row["kind"]) for row in rows] == [
        ("wait", -1, "transfer"), ("fault", -1, "transfer"), ("ok", 0, "transfer"), ("ok", 1, "transfer"),
        ("wait", 5, "transfer"), ("fault", 6, "transfer"), ("ok", 0x0BB11477, "transfer"),
    ]  # fmt: skip


def test_a_line_reset_and_a_switch_are_told_and_a_shorter_run_is_none() -> None:
    rows = sent("reset", 0xE79E, "reset", READ_ID)
    assert [(row["kind"], row["ones"], row["register"]) for row in rows] == [
        ("line-reset", 52, ""), ("switch", -1, "JTAG to SWD"), ("line-reset", 55, ""), ("transfer", -1, "DPIDR"),
    ]  # fmt: skip
    rows = sent("reset", 0xE73C)
    assert told(rows)[1] == ("switch", "", "SWD to JTAG", "", -1)


@pytest.mark.parametrize(
    ("wrong", "errors", "kinds"),
    [
        (SwdTransfer(False, True, 0, bad_request=True), ["bad-request"], ["error"]),
        (SwdTransfer(False, True, 0, ack=7), ["no-reply"], ["error"]),
        (SwdTransfer(False, True, 0, ack=3), ["bad-ack"], ["error"]),
        (SwdTransfer(False, True, 0, 9, bad_data=True), ["", "bad-parity"], ["transfer", "error"]),
        (SwdTransfer(True, False, 4, 9, bad_data=True), ["", "bad-parity"], ["transfer", "error"]),
    ],
)
def test_what_is_wrong_is_an_error_and_the_next_transfer_is_read(
    wrong: SwdTransfer, errors: list[str], kinds: list[str]
) -> None:
    rows = sent("reset", wrong, READ_ID)[1:]
    assert [row["error"] for row in rows] == [*errors, ""]
    assert [row["kind"] for row in rows] == [*kinds, "transfer"]
    assert rows[-1]["data"] == 0x0BB11477


def test_a_select_with_a_wrong_parity_selects_nothing() -> None:
    rows = sent(SwdTransfer(False, False, 8, 0xF0, bad_data=True), SwdTransfer(True, True, 12))
    assert rows[-1]["bank"] == -1


def test_a_transfer_that_is_cut_says_so() -> None:
    whole = encode_swd([READ_ID], samplerate_hz=RATE_HZ)
    cut = between(whole, 0, whole.end_sample - 100)
    assert told(decode(cut)) == [("error", "cut-transfer", "DPIDR", "ok", -1)]


def test_strict_start_waits_for_a_line_reset() -> None:
    edges = encode_swd([READ_ID, "reset", READ_ID], samplerate_hz=RATE_HZ)
    assert [row["kind"] for row in decode(edges)] == ["transfer", "line-reset", "transfer"]
    assert [row["kind"] for row in decode(edges, strict_start=True)] == ["line-reset", "transfer"]


TRANSFERS = st.builds(
    SwdTransfer, st.booleans(), st.booleans(), st.sampled_from([0, 4, 8, 12]),
    st.integers(0, (1 << 32) - 1).filter(lambda number: number & 1 == 0),  # no overrun detection
    st.sampled_from([1, 1, 1, 2, 4]),
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(
    items=st.lists(st.one_of(TRANSFERS, st.just("reset")), max_size=12),
    idle=st.integers(0, 9),
    half=st.integers(1, 4),
    cuts=st.lists(st.integers(0, 8000), max_size=8),
)
def test_what_is_encoded_is_decoded_in_pieces_of_any_size(
    items: list[SwdTransfer | str], idle: int, half: int, cuts: list[int]
) -> None:
    items = ["reset", *items]
    edges = encode_swd(
        items, samplerate_hz=RATE_HZ, half_period_samples=half, idle_clocks=max(idle, 1)
    )
    rows = decode(edges)
    assert {row["error"] for row in rows} <= {""}
    transfers = [item for item in items if isinstance(item, SwdTransfer)]
    assert [
        (row["port"] == "AP", row["read"], row["address"], row["ack"])
        for row in rows
        if row["kind"] == "transfer"
    ] == [(t.ap, t.read, t.address, {1: "ok", 2: "wait", 4: "fault"}[t.ack]) for t in transfers]
    assert [row["data"] for row in rows if row["ack"] == "ok"] == [
        t.data for t in transfers if t.ack == 1
    ]
    assert_same_in_pieces(SWD, edges, cuts)


@settings(max_examples=30, deadline=None)
@given(
    levels=st.lists(st.integers(0, 3), min_size=1, max_size=900),
    cuts=st.lists(st.integers(0, 900), max_size=6),
    many=st.integers(0, 120),
)
def test_noise_gives_the_same_rows_in_pieces_and_from_samples(
    levels: list[int], cuts: list[int], many: int
) -> None:
    # Noise has no long runs of ones: a reset is put into its middle.
    middle = len(levels) // 2
    levels = levels[:middle] + [2, 3] * many + levels[middle:]
    edges = edges_of_levels(np.array(levels, dtype=np.uint64), 1, ("SWCLK", "SWDIO"), RATE_HZ)
    rows = assert_same_in_pieces(SWD, edges, cuts)["swd"].to_pylist()
    times = [row["t_ps"] for row in rows]
    assert times == sorted(times)
    assert all(swd_texts(row).long for row in rows)
    samples = Samples(np.array(levels, dtype=np.uint8), edges.channels, (0, 1), RATE_HZ, 0)
    assert rows_of(SWD, samples) == [rows]


def test_a_row_is_put_into_words() -> None:
    rows = sent(
        "reset", READ_ID, SwdTransfer(False, False, 8, 0xF0), SwdTransfer(True, True, 12, ack=2)
    )
    assert [swd_texts(row).long for row in rows] == [
        "SWDIO: line reset, 52 clocks",
        "SWDIO: R DP DPIDR: 0bb11477, ok",
        "SWDIO: W DP SELECT: 000000f0, ok",
        "SWDIO: R AP IDR: wait",
    ]


# The other reader: sigrok-cli on the same file.

_REGISTERS = {
    "IDCODE": "R DP0", "R CTRL/STAT": "R DP4", "R DLCR": "R DP4", "RESEND": "R DP8", "RDBUFF": "R DPc",
    "W ABORT": "W DP0", "W CTRL/STAT": "W DP4", "W DLCR": "W DP4", "W SELECT": "W DP8", "W RESERVED": "W DPc",
}  # fmt: skip
_ACKS = {"ok": "OK", "wait": "WAIT", "fault": "FAULT", "none": "NOREPLY"}


def theirs(path: Path, clock: str, data: str) -> list[tuple[int, str]]:
    rows = sigrok_annotations(path, f"swd:swclk={clock}:swdio={data}", "swd")
    return [(row.begin, _REGISTERS.get(row.text, row.text)) for row in rows]


def ours(path: Path) -> list[tuple[int, str]]:
    ((_, table),) = decode_file(path, ["swd"], registry=Registry({"swd": SWD}))
    said = []
    for row in table.to_pylist():
        if row["kind"] == "line-reset":
            said.append((row["sample"], "LINERESET"))
        elif row["kind"] == "transfer":
            letter = "R" if row["read"] else "W"
            said += [
                (row["sample"], f"{letter} {row['port']}{row['address']:x}"),
                (row["ack_sample"], _ACKS[row["ack"]]),
            ]
            if row["data"] >= 0:
                said.append((row["data_sample"], f"0x{row['data']:08x}"))
    return said


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("core_read_core_regs", 484),
        ("core_read_core_regs2", 484),
        ("core_system_reset", 667),
        ("program_file_verify_while_programming_reset_afterwards", 24237),
    ],
)
def test_a_real_capture_gives_what_sigrok_gives(name: str, count: int) -> None:
    path = real_capture(f"dumps/swd/stlinkv2_win_utility/stm32f429zit6_{name}.sr")
    said = ours(path)
    assert said == theirs(path, "SWCLK", "SWDIO")
    assert len(said) == count


@pytest.mark.parametrize("name", ["init", "init_write_0xabbabeeb"])
def test_a_request_with_a_wrong_parity_is_no_transfer(name: str) -> None:
    path = real_capture(f"dumps/swd/ftdi_openocd/{name}.sr")
    # Before the first line reset sigrok reads 1 1111 1 01, whose parity has to be 0.
    false = [(177, "R APc"), (211, "ERROR")]
    assert false + ours(path) == theirs(path, "swclk", "swdio")


def test_the_ones_of_a_line_reset_are_counted_from_the_first() -> None:
    path = real_capture("dumps/swd/stlinkv2_win_utility/stm32f429zit6_disconnect.sr")
    mine, other = ours(path), theirs(path, "SWCLK", "SWDIO")
    differ = [(a, b) for a, b in zip(mine, other, strict=True) if a != b]
    # sigrok forgets those during the request that it takes the first ones for.
    assert differ == [((15745135, "LINERESET"), (15745177, "LINERESET"))]


def test_generated_transfers_give_what_sigrok_gives(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    items: list[SwdTransfer | str | int] = ["reset", 0xE79E, "reset"]
    for _ in range(60):
        ap, read = (rng.integers(0, 2, 2) == 1).tolist()
        data = int(rng.integers(0, 1 << 32)) & ~1
        address, ack = 4 * int(rng.integers(0, 4)), int(rng.choice([1, 1, 1, 2, 4]))
        items.append(SwdTransfer(ap, read, address, data, ack))
    path = tmp_path / "swd.sr"
    write_sr(encode_swd(items, samplerate_hz=RATE_HZ), path)
    said = [text for at, text in theirs(path, "SWCLK", "SWDIO") if text != "JTAG->SWD"]
    mine = [text for _, text in ours(path)]
    assert [t for t in mine if t != "LINERESET"] == [t for t in said if t != "LINERESET"]
    assert len(mine) > 150
