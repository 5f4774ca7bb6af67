"""UART: literal levels in, literal fields out, and two readers of one capture agree."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.uart import UART
from freezeframe.decoders.serial.uart_code import uart_texts
from freezeframe.decoders.serial.uart_encode import encode_characters
from tests.campaign.seeds import seeds
from tests.capture.files.captures import metadata, real_capture, write_session
from tests.decoders.pieces import assert_same_in_pieces, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

RATE_HZ = 1_000_000
REGISTRY = Registry({"uart": UART})


def line(levels: str, samples_a_bit: int = 10) -> Edges:
    samples = b"".join(bytes([int(level)]) * samples_a_bit for level in levels)
    sample, value = EdgeReducer(1, [0]).feed(samples)
    return Edges(sample, value, ("TX",), RATE_HZ, 0, len(samples))


def decode(edges: Edges, **options: Any) -> list[dict[str, Any]]:
    return rows_of(UART, edges, **({"baud": 100_000} | options))[0]


def fields(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(row["error"], row["data"]) for row in rows]


def test_a_character_gives_its_value_and_places() -> None:
    # Idle, start 0, 0x53 = 0101 0011 with the least significant bit first, stop 1.
    (row,) = decode(line("1101100101011"))
    assert row == {
        "t_ps": 20_000_000,
        "source": "TX",
        "kind": "frame",
        "t_end_ps": 120_000_000,
        "error": "",
        "data": 0x53,
        "parity": -1,
        "parity_ok": None,
        "stop_ok": True,
        "baud": 100_000,
        "sample": 20,
        "data_sample": 30,
        "data_end_sample": 110,
        "end_sample": 120,
    }


@pytest.mark.parametrize(
    ("levels", "options", "data"),
    [
        ("10100001", {"bits": 5}, 0x01),
        ("101000000011", {"bits": 9}, 0x101),
        ("10100000001", {"order": "msb-first"}, 0x80),
        ("01001101010", {"invert": True}, 0x53),
    ],
)
def test_characters_have_5_to_9_bits_in_either_order_and_polarity(
    levels: str, options: dict[str, Any], data: int
) -> None:
    assert fields(decode(line(levels), **options)) == [("", data)]


@pytest.mark.parametrize(
    ("parity", "bit", "ok"),
    [
        ("odd", "0", True),
        ("odd", "1", False),
        ("even", "1", True),
        ("even", "0", False),
        ("zero", "0", True),
        ("zero", "1", False),
        ("one", "1", True),
        ("one", "0", False),
        ("ignore", "0", True),
        ("ignore", "1", True),
    ],
)
def test_the_parity_bit_is_checked(parity: str, bit: str, ok: bool) -> None:
    # 0x07 has three ones.
    rows = decode(line("1011100000" + bit + "11"), parity=parity)
    assert (rows[0]["data"], rows[0]["parity"], rows[0]["parity_ok"]) == (7, int(bit), ok)
    assert [(row["error"], row["sample"]) for row in rows[1:]] == (
        [] if ok else [("bad-parity", 100)]
    )


def test_a_stop_bit_of_0_is_an_error_and_the_next_falling_edge_is_a_start() -> None:
    rows = decode(line("1010000000010010000001"))
    assert fields(rows) == [("", 1), ("bad-stop", 1), ("", 2)]
    assert [row["stop_ok"] for row in rows] == [False, False, True]


def test_a_line_that_falls_for_less_than_half_a_bit_is_no_start() -> None:
    edges = line("11110" + "1" * 30, samples_a_bit=4)
    rows = decode(edges)
    assert [(row["error"], row["sample"], row["end_sample"]) for row in rows] == [
        ("bad-start", 16, 26)
    ]


def test_a_line_that_is_low_for_a_frame_is_a_break() -> None:
    rows = decode(line("1" + "0" * 10 + "1"))
    assert [(row["error"], row["sample"], row["end_sample"]) for row in rows] == [
        ("", 10, 110),
        ("bad-stop", 100, 110),
        ("break", 10, 110),
    ]
    assert "break" not in {row["error"] for row in decode(line("1" + "0" * 9 + "1"))}
    assert decode(line("1" + "0" * 30))[-1]["error"] == "break"


def test_a_capture_that_begins_low_waits_for_the_line_to_rise() -> None:
    assert fields(decode(line("0000010100000001"))) == [("", 1)]


def test_a_character_that_the_capture_cuts_is_an_error() -> None:
    (row,) = decode(line("101010"))
    assert (row["error"], row["sample"], row["end_sample"]) == ("cut-frame", 10, 60)
    assert row["stop_ok"] is None


def test_a_baud_rate_that_is_too_high_for_the_samples_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"option baud=600000: 1000000 samples a second are 1\.67 a bit; at least 2",
    ):
        decode(line("1"), baud=600_000)


@pytest.mark.parametrize("phase", [0, 1, 2, 3])
@pytest.mark.parametrize("baud", [500_000, 498_000, 480_000, 400_000])
def test_two_samples_a_bit_are_enough_wherever_they_fall(baud: int, phase: int) -> None:
    """The line as a function of time, looked at each microsecond, from four places inside the first."""
    sent = [0x55, 0x00, 0xFF, 0x53, 0x80, 0x01]
    bits = "11" + "".join("0" + "".join(str(c >> i & 1) for i in range(8)) + "11" for c in sent)
    ends = len(bits) * RATE_HZ // baud
    levels = [bits[(4 * n + phase) * baud // (4 * RATE_HZ)] for n in range(ends)]
    assert fields(decode(line("".join(levels), 1), baud=baud)) == [("", data) for data in sent]


def test_a_real_line_of_two_samples_a_bit_gives_the_characters_that_sigrok_finds() -> None:
    folder = "dumps/dmx512/dmx4all_mini_usb_dmx"
    (decoded,) = decode_file(
        real_capture(f"{folder}/500khz_all_255.sr"), ["uart:rx=DMX,baud=250000,stop=2"]
    )
    rows = decoded.table.to_pylist()
    assert Counter(row["data"] for row in rows if row["kind"] == "frame") == {0: 645, 0xFF: 12}
    assert [row["error"] for row in rows if row["error"]] == ["bad-stop", "break", "cut-frame"]


@settings(max_examples=60, deadline=None)
@given(
    characters=st.lists(st.integers(0, 511), max_size=12),
    bits=st.integers(5, 9),
    parity=st.sampled_from(["none", "odd", "even", "zero", "one"]),
    baud=st.sampled_from([300, 19_200, 115_200, 250_000]),
    idle=st.integers(0, 3),
    invert=st.booleans(),
    cuts=st.lists(st.integers(0, 40_000), max_size=8),
)
def test_what_is_encoded_is_decoded_in_pieces_of_any_size(
    characters: list[int],
    bits: int,
    parity: str,
    baud: int,
    idle: int,
    invert: bool,
    cuts: list[int],
) -> None:
    characters = [character & (1 << bits) - 1 for character in characters]
    edges = encode_characters(
        characters,
        samplerate_hz=RATE_HZ,
        baud=baud,
        bits=bits,
        parity=parity,
        # The first character needs an idle line before it, the last its whole stop bit.
        idle_bits=idle + 1,
        invert=invert,
    )
    options: dict[str, Any] = {"baud": baud, "bits": bits, "parity": parity, "invert": invert}
    rows = decode(edges, **options)
    assert fields(rows) == [("", character) for character in characters]
    whole = assert_same_in_pieces(UART, edges, cuts, **options)
    assert whole["uart"].to_pylist() == rows


def test_a_row_is_put_into_words() -> None:
    (row,) = decode(line("10110010101"))
    assert uart_texts(row) == ("53", "53 'S'", "TX: 0x53 'S'")
    rows = decode(line("101100101001"))
    assert uart_texts(rows[0]).long == "TX: 0x53 'S', bad stop"
    assert uart_texts(rows[1]).normal == "bad-stop"
    assert uart_texts(rows[1]).long.endswith("or a break: expected 1, seen 0")
    wrong = rows[0] | {"kind": "error", "error": "bad-parity", "parity": 1}
    assert uart_texts(wrong).long == (
        "TX: bad-parity: the parity bit is not that of the data: expected 0 of 0x53, seen 1"
    )


# The other reader: sigrok-cli on the same file.

Said = Counter[Annotation]


def theirs(path: Path, probe: str, options: str) -> Said:
    rows = "uart=rx-data:rx-parity-err:rx-warnings:rx-break"
    return Counter(sigrok_annotations(path, f"uart:rx={probe}{options}", rows))


def ours(path: Path, spec: str) -> Said:
    ((_, table),) = decode_file(path, [spec], registry=REGISTRY)
    names = {"bad-start": "Frame error", "bad-stop": "Frame error", "bad-parity": "Parity error"}
    said: Said = Counter()
    for row in table.to_pylist():
        if row["kind"] == "frame":
            digits = 3 if "bits=9" in spec else 2
            text = f"{row['data']:0{digits}X}"
            said[Annotation(row["data_sample"], row["data_end_sample"], text)] += 1
        elif row["error"] == "break":
            said[Annotation(row["sample"], row["end_sample"], "Break condition")] += 1
        elif row["error"] != "cut-frame":
            said[Annotation(row["sample"], row["end_sample"], names[row["error"]])] += 1
    return said


def test_the_real_capture_of_a_counter_gives_what_sigrok_gives() -> None:
    path = real_capture("uart_count_19200_8n1.sr")
    said = ours(path, "uart:rx=tx,baud=19200")
    assert said == theirs(path, "tx", ":baudrate=19200")
    assert len(said) > 200
    assert not any("error" in annotation.text for annotation in said)


def test_the_real_capture_with_frame_errors_gives_what_sigrok_gives() -> None:
    path = real_capture("ampel64_4800_8n1_frame_errors.sr")
    said = ours(path, "uart:rx=TX,baud=4800")
    assert said == theirs(path, "TX", ":baudrate=4800")
    assert sum("error" in annotation.text for annotation in said) >= 4


def random_line(seed: int) -> tuple[bytes, str, str]:
    """Draw a line with glitches, breaks, wrong parity and stop bits; the options for both readers."""
    rng = random.Random(seed)
    bits = rng.randint(5, 9)
    parity = rng.choice(["none", "odd", "even", "zero", "one"])
    msb_first = rng.random() < 0.3
    invert = rng.random() < 0.3
    width = rng.choice([8.0, 13.02, 26.04, 104.17])
    baud = round(RATE_HZ / width)
    samples = bytearray()
    at = 0.0

    def put(level: int, bit_count: float) -> None:
        nonlocal at
        at += bit_count * RATE_HZ / baud
        samples.extend(bytes([level ^ invert]) * (round(at) - len(samples)))

    put(1, rng.randint(2, 30))
    for _ in range(rng.randint(10, 60)):
        data = [rng.randint(0, 1) for _ in range(bits)]
        put(0, 1)
        for level in data:
            put(level, 1)
        if parity != "none":
            right = {"odd": 1 - sum(data) % 2, "even": sum(data) % 2, "zero": 0, "one": 1}[parity]
            put(right ^ (rng.random() < 0.15), 1)
        put(int(rng.random() < 0.9), 1)
        put(1, rng.choice([0, 1, 2.5, 20]) + 1)
        if rng.random() < 0.1:
            put(0, 0.3)
            put(1, 15)
        if rng.random() < 0.05:
            put(0, rng.uniform(13, 40))
            put(1, 15)
    order = "msb-first" if msb_first else "lsb-first"
    yes = "yes" if invert else "no"
    mine = f"baud={baud},bits={bits},parity={parity},order={order},invert={yes}"
    other = f":baudrate={baud}:data_bits={bits}:parity={parity}:bit_order={order}:invert_rx={yes}"
    return bytes(samples), mine, other


@pytest.mark.parametrize("seed", seeds(20))
def test_a_generated_line_gives_what_sigrok_gives(seed: int, tmp_path: Path) -> None:
    samples, mine, other = random_line(seed)
    path = write_session(tmp_path / "line.sr", [samples], metadata(["RX"]))
    said = ours(path, f"uart:{mine}")
    assert said == theirs(path, "RX", other)
    assert len(said) >= 10
