"""Two readers of one capture agree: our MDIO decoder and ``sigrok-cli -P mdio``, field by field."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from freezeframe.decoders.run import decode_file
from tests.campaign.seeds import seeds
from tests.capture.files.captures import metadata, real_capture, write_session
from tests.decoders.serial.mdio_bus import Bus, frame_bits, random_capture
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

Row = dict[str, Any]


def ours(path: Path, spec: str = "mdio") -> list[Row]:
    ((_, table),) = decode_file(path, [spec])
    return list(table.to_pylist())


def theirs(path: Path) -> list[Annotation]:
    rows = "mdio=frame:frame-idle:frame-error:decode"
    return sigrok_annotations(path, "mdio:mdc=MDC:mdio=MDIO", rows)


def as_sigrok_says_it(row: Row) -> list[Annotation]:
    """Put one of our rows into sigrok's words, without its tracking of clause 45 addresses."""
    if row["error"] == "bad-op" and row["op"] == "reserved-11":
        return []
    if row["kind"] == "error":
        text = {
            "short-preamble": "SHORT PREAMBLE",
            "bad-op": "OP invalid for Clause 22",
            "illegal-bus": "ILLEGAL BUS STATE",
            "bad-turnaround": turnaround(row),
        }[row["error"]]
        return [Annotation(row["sample"], row["end_sample"], text)]
    c45 = row["clause"] == 45
    op = {"address": "ADDR", "write": "WRITE", "reserved-00": "WRITE", "reserved-11": "READ"}.get(
        row["op"], "READINC" if row["op"] == "post-read-increment" else "READ"
    )
    phy, reg = ("PRTAD", "DEVAD") if c45 else ("PHYAD", "REGAD")
    at = [
        row[f"{name}sample"] for name in ("", "st_", "op_", "phy_", "reg_", "ta_", "data_", "end_")
    ]
    texts = [
        f"PRE #{min(32, row['preamble'])}",
        f"ST (Clause {row['clause']})",
        f"OP: {op}",
        f"{phy}: {row['phy']:02d}",
        f"{reg}: {row['reg']:02d}",
        "TA",
        f"DATA: {row['data']:04X}",
    ]
    said = [
        Annotation(begin, end, text) for begin, end, text in zip(at, at[1:], texts, strict=False)
    ]
    if op != "ADDR":
        does = "READ: " if op.startswith("READ") else "WRITE:"
        error = "" if row["ta_ok"] and row["op"] != "reserved-00" else " ERROR"
        said.append(
            Annotation(
                at[0],
                at[-1],
                f"{does} {row['data']:04X} {phy}: {row['phy']:02d} {reg}: {row['reg']:02d}{error}",
            )
        )
    return said


def turnaround(row: Row) -> str:
    wrong = [
        name
        for name, bit, want in (("bit1", row["ta"] >> 1, 1), ("bit2", row["ta"] & 1, 0))
        if bit != want and not (name == "bit1" and reads(row))
    ]
    return f"TA invalid ({' and '.join(wrong)})"


def reads(row: Row) -> bool:
    return row["op"] in ("read", "post-read-increment", "reserved-11")


def without_address(said: Annotation) -> Annotation:
    if said.text.startswith("ADDR: "):
        return said._replace(text=said.text.split(" ", 2)[2])
    return said


def assert_equal(path: Path, *, cut: bool = False) -> list[Row]:
    rows = ours(path)
    said = [without_address(a) for a in theirs(path)]
    mine = Counter(a for row in rows if row["error"] != "cut-frame" for a in as_sigrok_says_it(row))
    other = Counter(a for a in said if not a.text.startswith("IDLE"))
    if cut:
        # Of a frame that the capture cuts, sigrok has shown the fields that were complete.
        assert rows[-1]["error"] == "cut-frame"
        begun = [a for a in other if a.begin >= rows[-1]["sample"]]
        for a in begun:
            del other[a]
        check_cut(rows[-1], begun)
    assert mine == other
    return rows


def check_cut(row: Row, begun: list[Annotation]) -> None:
    fields = {name: value for name, _, value in (a.text.partition(": ") for a in begun)}
    assert row["preamble"] >= 32
    assert {"READ": "read", "WRITE": "write"}.get(fields.get("OP", ""), row["op"]) == row["op"]
    for theirs_, mine in (("PHYAD", "phy"), ("REGAD", "reg")):
        assert int(fields.get(theirs_) or row[mine]) == row[mine]


def session(path: Path, samples: bytes) -> Path:
    return write_session(path / "bus.sr", [samples], metadata(["MDC", "MDIO"]))


def test_the_real_clause_22_capture_gives_the_frames_that_sigrok_gives() -> None:
    rows = assert_equal(real_capture("lan8720a_read_all_plugged.sr"))
    assert len(rows) == 32
    assert [row["reg"] for row in rows] == list(range(32))
    # The first registers of a LAN8720A: control, status, and its identifier 0007 c0f1.
    assert [row["data"] for row in rows[:4]] == [0x3100, 0x782D, 0x0007, 0xC0F1]


def test_the_real_clause_45_capture_gives_the_frames_that_sigrok_gives() -> None:
    rows = assert_equal(real_capture("clause45_read_no_address.sr"))
    assert [(row["kind"], row["error"]) for row in rows] == [
        ("frame", ""),
        ("error", "bad-turnaround"),
    ] * 3
    assert {(row["op"], row["address"]) for row in rows} == {("post-read-increment", -1)}


@pytest.mark.parametrize("seed", seeds(40))
def test_a_generated_capture_gives_the_frames_that_sigrok_gives(seed: int, tmp_path: Path) -> None:
    path = session(tmp_path, random_capture(seed))
    rows = assert_equal(path, cut=seed % 5 == 3)
    assert sum(row["kind"] == "frame" for row in rows) >= 4


@pytest.mark.parametrize("seed", [0, 5, 10, 15])
def test_idle_ones_before_a_preamble_are_counted_as_sigrok_counts_them(
    seed: int, tmp_path: Path
) -> None:
    path = session(tmp_path, random_capture(seed))
    idle = {a.end: int(a.text.removeprefix("IDLE #")) for a in theirs(path) if "IDLE" in a.text}
    assert idle == {
        row["sample"]: row["preamble"] - 32 for row in ours(path) if row["preamble"] > 32
    }
    assert idle


def test_the_address_of_a_clause_45_device_is_followed_as_sigrok_follows_it(tmp_path: Path) -> None:
    path = session(
        tmp_path,
        drawn(
            frame_bits(45, "11", 3, 1, 0x1111),
            frame_bits(45, "00", 3, 1, 0x0ABC),
            frame_bits(45, "10", 3, 1, 0x2222),
            frame_bits(45, "10", 3, 1, 0x3333),
            frame_bits(45, "11", 3, 1, 0x4444),
            frame_bits(45, "01", 3, 1, 0x5555),
        ),
    )
    rows = [row for row in ours(path) if row["op"] != "address"]
    assert [row["address"] for row in rows] == [-1, 0x0ABC, 0x0ABD, 0x0ABE, 0x0ABE]
    assert [a.text.split()[1] for a in theirs(path) if a.text.startswith("ADDR")] == [
        "UKWN",
        "0ABC",
        "0ABD",
        "0ABE",
        "0ABE",
    ]


# Where we differ, and why (docs/decoders-serial.md, "Beside sigrok: MDIO and UART").


def drawn(*frames: str) -> bytes:
    bus = Bus(random.Random(1))
    bus.idle(5)
    for bits in frames:
        bus.clock("1" * 32 + bits)
    bus.clock("1")
    bus.idle(20)
    return bytes(bus.samples)


def test_operation_11_is_an_error_in_clause_22_where_sigrok_takes_it_for_a_read(
    tmp_path: Path,
) -> None:
    path = session(tmp_path, drawn(frame_bits(22, "11", 3, 1, 0x0ABC)))
    assert [(row["op"], row["error"]) for row in ours(path)] == [
        ("reserved-11", ""),
        ("reserved-11", "bad-op"),
    ]
    assert theirs(path)[-1].text == "READ:  0ABC PHYAD: 03 REGAD: 01"


@pytest.mark.parametrize(
    ("frames", "address", "sigrok"),
    [
        pytest.param(
            [("00", 3, 0x0ABC, "10"), ("00", 4, 0x0DEF, "10"), ("11", 3, 0x1111, "10")], 0x0ABC, "0DEF",
            id="an address belongs to one device, where sigrok has one for the whole bus",
        ),
        pytest.param(
            [("00", 3, 0xFFFF, "10"), ("10", 3, 0x1111, "10"), ("11", 3, 0x2222, "10")], 0xFFFF, "10000",
            id="an address of 65535 stays, where sigrok counts on",
        ),
        pytest.param(
            [("00", 3, 0x0010, "10"), ("10", 3, 0xFFFF, "11"), ("11", 3, 0x2222, "10")], 0x0010, "0011",
            id="an increment that nothing answered is not counted, where sigrok counts it",
        ),
    ],
)  # fmt: skip
def test_an_address_is_another_than_sigroks(
    frames: list[tuple[str, int, int, str]], address: int, sigrok: str, tmp_path: Path
) -> None:
    bits = [frame_bits(45, op, phy, 1, data, ta=ta) for op, phy, data, ta in frames]
    path = session(tmp_path, drawn(*bits))
    assert ours(path)[-1]["address"] == address
    assert theirs(path)[-1].text.startswith(f"ADDR: {sigrok}")


def test_ones_on_both_sides_of_a_zero_make_no_preamble_where_sigrok_adds_them_up(
    tmp_path: Path,
) -> None:
    # The end of a frame whose start was not captured: 12 ones, 0, 12 ones, 0.
    bus = Bus(random.Random(1))
    bus.idle(5)
    bus.clock("1" * 12 + "0" + "1" * 12 + "0" + "1" * 6 + "0")
    bus.clock("1" * 40 + frame_bits(22, "10", 1, 2, 0x1234))
    bus.clock("1")
    path = session(tmp_path, bytes(bus.samples))
    rows = ours(path)
    assert [row["error"] for row in rows] == ["illegal-bus"] * 3 + [""]
    assert (rows[-1]["phy"], rows[-1]["reg"], rows[-1]["data"]) == (1, 2, 0x1234)
    assert not any("REGAD: 02" in a.text for a in theirs(path))
