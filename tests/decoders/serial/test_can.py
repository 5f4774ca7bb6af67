"""CAN and CAN FD: literal bits in, literal fields out; sigrok-cli reads the same captures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.can import CAN
from freezeframe.decoders.serial.can_code import can_texts
from freezeframe.decoders.serial.can_encode import CanFrame, encode_bits, encode_frames, frame_bits
from tests.capture.files.captures import real_capture
from tests.decoders.pieces import assert_same_in_pieces, rows_of
from tests.decoders.serial.sigrok_reference import Annotation, sigrok_annotations

RATE_HZ = 10_000_000
BITRATE = 1_000_000
KNOWN = {"nominal_bitrate": BITRATE, "fast_bitrate": BITRATE}
IDLE = "1" * 11

# Two frames as they stood on real buses: 0x110 with the octets 00 11, and CAN FD 0x42 with 00 to 07.
CLASSIC = "0001000100000100001000001000001001000110011000001100101011111111"
FD = (
    "00000100000100110000010000010100001001000100000100000100000100010000010100000100110000011000001001"
    "010000011100000101110111100001001101110010101011011111111"
)
# Inside CLASSIC: the CRC delimiter, the acknowledge, its delimiter, seven recessive bits.
END = "1" + "0" + "1" + "1111111"


def line(levels: str, samples_a_bit: int = 10) -> Edges:
    samples = b"".join(bytes([int(level)]) * samples_a_bit for level in levels)
    sample, value = EdgeReducer(1, [0]).feed(samples)
    return Edges(sample, value, ("CAN_RX",), RATE_HZ, 0, len(samples))


def decode(edges: Edges, **options: Any) -> list[dict[str, Any]]:
    return rows_of(CAN, edges, **(KNOWN | options))[0]


def told(rows: list[dict[str, Any]]) -> list[tuple[str, str, int, str]]:
    return [(row["kind"], row["error"], row["id"], row["data"].hex()) for row in rows]


def test_a_frame_gives_its_fields_and_places() -> None:
    (row,) = decode(line(IDLE + CLASSIC + IDLE))
    assert row == {
        "t_ps": 11_000_000,
        "source": "CAN_RX",
        "kind": "frame",
        "t_end_ps": 75_000_000,
        "error": "",
        "id": 0x110,
        "extended": False,
        "fd": False,
        "brs": None,
        "esi": None,
        "dlc": 2,
        "data": bytes([0x00, 0x11]),
        "stuff_count": -1,
        "crc": 0b100110000010010,
        "crc_ok": True,
        "ack": True,
        "bitrate": BITRATE,
        "fast_bitrate": BITRATE,
        "expected": -1,
        "seen": -1,
        "sample": 110,
        "id_sample": 120,
        "dlc_sample": 270,
        "data_sample": 310,
        "crc_sample": 490,
        "ack_sample": 660,
        "end_sample": 750,
    }


def test_can_fd_has_a_stuff_count_and_fixed_stuff_bits_before_its_crc() -> None:
    (row,) = decode(line(IDLE + FD + IDLE))
    assert (row["id"], row["extended"], row["fd"]) == (0x42, True, True)
    assert (row["brs"], row["esi"]) == (False, False)
    assert (row["dlc"], row["data"].hex()) == (8, "0001020304050607")
    assert (row["stuff_count"], row["crc_ok"], row["ack"]) == (0b1111, True, True)


def test_a_remote_frame_has_a_length_and_no_data() -> None:
    (row,) = decode(encode([CanFrame(0x7FF, remote=True, dlc=5)]))
    assert (row["kind"], row["id"], row["data"]) == ("remote", 0x7FF, b"")
    assert (row["dlc"], row["crc_ok"]) == (5, True)


def encode(frames: list[CanFrame], fast_bitrate: int = 0, rate_hz: int = RATE_HZ) -> Edges:
    return encode_frames(
        frames, samplerate_hz=rate_hz, nominal_bitrate=BITRATE, fast_bitrate=fast_bitrate
    )


def test_a_classic_frame_with_a_length_over_8_has_8_octets() -> None:
    bits = frame_bits(CanFrame(0x155, b"\x5a" * 8))
    # The DLC 1000 becomes 1001: the CRC then is wrong, the length is not.
    at = 1 + 11 + 3
    assert [bit for bit, _ in bits[at : at + 4]] == [1, 0, 0, 0]
    bits[at + 3] = (1, "nominal")
    edges = encode_bits(
        [(1, "nominal")] * 12 + bits, samplerate_hz=RATE_HZ, nominal_bitrate=BITRATE
    )
    row = decode(edges)[0]
    assert (row["dlc"], row["data"]) == (9, b"\x5a" * 8)


def test_a_wrong_crc_says_what_was_expected_and_what_came() -> None:
    # The bit before the last of the CRC, whose end is ...0010.
    wrong = CLASSIC.removesuffix("0" + END) + "1" + END
    rows = decode(line(IDLE + wrong[:-9] + "1" * 9 + IDLE))
    assert told(rows) == [("frame", "", 0x110, "0011"), ("error", "bad-crc", 0x110, "0011")]
    assert rows[0]["crc_ok"] is False
    assert rows[1]["seen"] ^ rows[1]["expected"] == 1


@pytest.mark.parametrize(
    ("after", "errors"),
    [
        # Nobody answers and the sender goes on: a line on which only the sender is heard.
        ("1" + "1" + "1" * 8 + IDLE, []),
        ("1" + "1" + "000000" + "1" * 11, ["no-ack", "error-flag"]),
        ("1" + "0" + "1" + "000000" + "1" * 11, ["bad-form", "error-flag"]),
        ("0" * 6 + "1" * 11, ["bad-form", "error-flag"]),
    ],
)
def test_how_a_frame_ends_tells_why_it_broke_off(after: str, errors: list[str]) -> None:
    rows = decode(line(IDLE + CLASSIC.removesuffix(END) + after))
    assert (rows[0]["kind"], rows[0]["crc_ok"]) == ("frame", True)
    assert [row["error"] for row in rows[1:]] == errors


def test_six_equal_bits_are_an_error_flag_and_the_next_frame_is_read() -> None:
    broken = CLASSIC[:34] + "0" * 9 + "1" * 8 + "111"
    rows = decode(line(IDLE + broken + CLASSIC + IDLE))
    assert told(rows) == [
        ("error", "bad-stuff", 0x110, "0010"),  # the flag made 1 of 0001 a 0
        ("error", "error-flag", -1, ""),
        ("frame", "", 0x110, "0011"),
    ]
    flag = rows[1]
    assert (flag["sample"], flag["end_sample"]) == (10 * (11 + 34), 10 * (11 + 34 + 9))
    assert rows[2]["ack"] is True


def test_a_sender_that_goes_silent_is_a_stuff_error_without_a_flag() -> None:
    rows = decode(line(IDLE + CLASSIC[:20] + "1" * 20 + CLASSIC + IDLE))
    assert [(row["kind"], row["error"]) for row in rows] == [("error", "bad-stuff"), ("frame", "")]


@pytest.mark.parametrize("bits_after_the_frame", [0, 1])
def test_a_dominant_bit_right_after_a_frame_is_an_overload_flag(bits_after_the_frame: int) -> None:
    flag = "1" * bits_after_the_frame + "0" * 7 + "1" * 11
    rows = decode(line(IDLE + CLASSIC + flag + CLASSIC + IDLE))
    assert [row["kind"] for row in rows] == ["frame", "overload", "frame"]
    assert rows[1]["t_end_ps"] - rows[1]["t_ps"] == 7_000_000


def test_the_third_bit_after_a_frame_may_be_a_start_already() -> None:
    rows = decode(line(IDLE + CLASSIC + "11" + CLASSIC + IDLE))
    assert told(rows) == [("frame", "", 0x110, "0011")] * 2
    assert rows[1]["sample"] == 10 * (11 + 64 + 2)


def test_what_the_capture_cuts_is_told_once() -> None:
    for begin in range(1, 54):
        rows = decode(line(CLASSIC[begin:] + "111" + CLASSIC + IDLE))
        assert told(rows)[-1] == ("frame", "", 0x110, "0011"), begin
        assert {row["error"] for row in rows} <= {"", "cut-frame", "error-flag"}, begin
    rows = decode(line(IDLE + CLASSIC[:40]))
    assert told(rows) == [("error", "cut-frame", 0x110, "0011")]
    assert (rows[0]["sample"], rows[0]["end_sample"]) == (110, 510)
    rows = decode(line(IDLE + CLASSIC[:-3]))
    assert told(rows) == [("frame", "", 0x110, "0011"), ("error", "cut-frame", 0x110, "0011")]


def test_a_line_that_is_dominant_for_less_than_half_a_bit_is_no_start() -> None:
    edges = line("1" * 110 + "0" * 4 + "1" * 110, samples_a_bit=1)
    rows = decode(edges)
    assert [(row["error"], row["sample"]) for row in rows] == [("bad-start", 110)]


def test_a_recessive_reserved_bit_of_can_fd_is_another_protocol() -> None:
    # Identifier, RRS, IDE, FDF, and the bit after it, which CAN XL sends recessive.
    rows = decode(line(IDLE + "0" + "10101010101" + "0" + "0" + "1" + "1" + "0101010101" + IDLE))
    assert told(rows)[0] == ("error", "reserved", 0x555, "")


@pytest.mark.parametrize(
    ("at", "error"),
    [(0, "bad-fixed-stuff"), (1, "bad-stuff-count"), (10, "bad-fixed-stuff"), (6, "bad-crc")],
)
def test_the_check_bits_of_can_fd_are_checked_each(at: int, error: str) -> None:
    bits = frame_bits(CanFrame(0x2A5, b"\x35\xca", fd=True))
    first = len(bits) - 10 - 27  # of the field with count and CRC
    bits[first + at] = (1 - bits[first + at][0], "nominal")
    edges = encode_bits(
        [(1, "nominal")] * 12 + bits + [(1, "nominal")] * 12,
        samplerate_hz=RATE_HZ, nominal_bitrate=BITRATE,
    )  # fmt: skip
    assert error in [row["error"] for row in decode(edges)]


def test_can_h_is_read_with_invert() -> None:
    edges = line((IDLE + CLASSIC + IDLE).translate(str.maketrans("01", "10")))
    assert told(decode(edges, invert=True)) == [("frame", "", 0x110, "0011")]


def test_both_bit_rates_are_measured_by_the_frames_that_are_right_at_them() -> None:
    frames = [CanFrame(0x100 + n, bytes([n] * 16), fd=True, brs=True) for n in range(4)]
    edges = encode(frames, fast_bitrate=4_000_000, rate_hz=40_000_000)
    rows = decode(edges, nominal_bitrate=0, fast_bitrate=0)
    assert [(row["kind"], row["crc_ok"]) for row in rows] == [("bitrate", None)] + [
        ("frame", True)
    ] * 4
    assert {(row["bitrate"], row["fast_bitrate"]) for row in rows} == {(1_000_000, 4_000_000)}
    assert [row["data"] for row in rows[1:]] == [frame.data for frame in frames]


def test_an_odd_bit_rate_is_measured_too() -> None:
    edges = encode_frames(
        [CanFrame(n * 37, bytes(range(n % 9))) for n in range(40)],
        samplerate_hz=2_000_000, nominal_bitrate=151_000,
    )  # fmt: skip
    rows = decode(edges, nominal_bitrate=0, fast_bitrate=0)
    assert abs(rows[0]["bitrate"] - 151_000) < 1_500
    assert [row["crc_ok"] for row in rows[1:]] == [True] * 40


def test_a_line_without_a_right_frame_has_no_bit_rate() -> None:
    rng = np.random.default_rng(1)
    noise = line("".join(map(str, rng.integers(0, 2, 3000).tolist())), 7)
    (row,) = decode(noise, nominal_bitrate=0)
    assert (row["kind"], row["error"], row["bitrate"]) == ("error", "no-bitrate", -1)
    (row,) = decode(line("1101111"), nominal_bitrate=0)
    assert row["error"] == "few-edges"
    assert decode(line("1111"), nominal_bitrate=0) == []


def test_a_bit_rate_that_is_too_high_for_the_samples_is_refused() -> None:
    with pytest.raises(InputError, match=r"fast_bitrate=8000000: .* 1\.25 a bit; at least 2"):
        decode(line("1"), fast_bitrate=8_000_000)


def any_frame(draw: st.DrawFn) -> CanFrame:
    extended, fd = draw(st.booleans()), draw(st.booleans())
    remote = not fd and draw(st.booleans())
    sizes = [*range(9), 12, 16, 20, 24, 32, 48, 64] if fd else list(range(9))
    size = 0 if remote else draw(st.sampled_from(sizes))
    return CanFrame(
        draw(st.integers(0, (1 << (29 if extended else 11)) - 1)),
        # Runs of equal bits are where stuff bits are.
        bytes(draw(st.lists(st.sampled_from([0, 0xFF, 0x1F, 0xF8, 0x5A]), min_size=size, max_size=size))),
        extended, remote, fd, fd and draw(st.booleans()), fd and draw(st.booleans()),
        draw(st.booleans()), draw(st.integers(0, 15)) if remote else 0,
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(
    frames=st.lists(st.composite(any_frame)(), min_size=1, max_size=4),
    idle=st.integers(3, 12),
    cuts=st.lists(st.integers(0, 60_000), max_size=8),
)
def test_what_is_encoded_is_decoded_in_pieces_of_any_size(
    frames: list[CanFrame], idle: int, cuts: list[int]
) -> None:
    edges = encode_frames(
        frames, samplerate_hz=16_000_000, nominal_bitrate=BITRATE, fast_bitrate=4_000_000, idle_bits=idle
    )  # fmt: skip
    options = {"nominal_bitrate": BITRATE, "fast_bitrate": 4_000_000}
    rows = decode(edges, **options)
    assert [
        CanFrame(
            row["id"], row["data"], row["extended"], row["kind"] == "remote", row["fd"],
            bool(row["brs"]), bool(row["esi"]), row["ack"],
            row["dlc"] if row["kind"] == "remote" else 0,
        )
        for row in rows
    ] == frames  # fmt: skip
    assert all(row["crc_ok"] and not row["error"] for row in rows)
    assert_same_in_pieces(CAN, edges, cuts, **options)


@settings(max_examples=30, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 200), max_size=300),
    cuts=st.lists(st.integers(0, 9000), max_size=6),
    rate=st.sampled_from([0, 125_000, 1_000_000, 5_000_000]),
)
def test_noise_gives_rows_in_order_and_the_same_in_pieces(
    lengths: list[int], cuts: list[int], rate: int
) -> None:
    places = np.concatenate(([0], np.cumsum(np.array(lengths, dtype=np.int64))))
    value = (np.arange(len(places)) % 2).astype(np.uint64)
    edges = Edges(places, value, ("CAN_RX",), RATE_HZ, 0, int(places[-1]) + 1)
    whole = assert_same_in_pieces(CAN, edges, cuts, nominal_bitrate=rate, fast_bitrate=rate)
    times = whole["can"]["t_ps"].to_pylist()
    assert times == sorted(times)


def test_a_row_is_put_into_words() -> None:
    (row,) = decode(line(IDLE + CLASSIC + IDLE))
    assert can_texts(row) == (
        "110", "110 data 00 11", "CAN_RX: 110 data 00 11, DLC 2, acknowledged"
    )  # fmt: skip
    bad = row | {"kind": "error", "error": "bad-crc", "expected": 0x1234, "seen": 0x1235}
    assert can_texts(bad).long == (
        "CAN_RX: bad-crc (110): the CRC is not that of the frame: expected 0x1234, seen 0x1235"
    )


# The other reader: sigrok-cli on the same file.

_FIELDS = "can=id:ext-id:full-id:dlc:data:crc-sequence:ack-slot:eof"


def theirs(path: Path, probe: str, bitrate: int, *, more: str = "") -> list[Annotation]:
    options = f"can:can_rx={probe}:nominal_bitrate={bitrate}:fast_bitrate={bitrate}{more}"
    return sigrok_annotations(path, options, _FIELDS)


def ours(path: Path, spec: str) -> list[dict[str, Any]]:
    ((_, table),) = decode_file(path, [spec], registry=Registry({"can": CAN}))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def said_by_sigrok(annotations: list[Annotation]) -> list[tuple[int, int, int, bytes, str, int]]:
    """Return of each frame begin of its identifier and its end, identifier, data, acknowledge, and CRC."""
    frames, data, full = [], bytearray(), -1
    for begin, end, text in annotations:
        number = [int(n, 0) for n in re.findall(r"0x[0-9a-f]+|\d+", text)]
        if text.startswith("Identifier:"):
            start, full, data = begin, number[0], bytearray()
        elif text.startswith("Full"):
            full = number[0]
        elif text.startswith("Data byte"):
            data.append(number[1])
        elif text.startswith("CRC-"):
            crc = number[-1]
        elif text.startswith("ACK"):
            ack = text
        elif text == "End of frame":
            frames.append((start, end, full, bytes(data), ack.split()[-1], crc))
    return frames


@pytest.mark.parametrize(
    ("name", "probe", "bitrate", "least"),
    [
        ("microchip_mcp2515dm-bm/mcp2515dm-bm-125kbits_bus_load_75percent.sr", "CAN_RX", 125_000, 107),
        ("can_fd/arbitrary_traffic/can_fd_ext_without_brs_8.sr", "CAN_L", 1_000_000, 1),
        ("can_fd/arbitrary_traffic/can_fd_ext_without_brs_64.sr", "CAN_L", 1_000_000, 1),
    ],
)  # fmt: skip
def test_a_real_capture_gives_the_frames_of_sigrok(
    name: str, probe: str, bitrate: int, least: int
) -> None:
    path = real_capture(f"dumps/can/{name}")
    rows = ours(path, f"can:can_rx={probe}")
    assert rows[0]["bitrate"] == bitrate
    frames = [
        (
            row["id_sample"],
            row["end_sample"],
            row["id"],
            row["data"],
            "ACK" if row["ack"] else "NACK",
        )
        for row in rows
        if row["kind"] == "frame"
    ]
    assert frames == [frame[:5] for frame in said_by_sigrok(theirs(path, probe, bitrate))]
    assert len(frames) == least
    assert all(row["crc_ok"] for row in rows if row["kind"] == "frame")


def test_at_two_samples_a_bit_more_frames_are_right_than_at_the_sample_point_of_sigrok() -> None:
    folder = "dumps/can/nmea2000/lowrance_ep_60r_garmin_gps_17x"
    path = real_capture(f"{folder}/nmea2000_fuel_flow_gps_snippet.sr")
    at_70 = ours(path, "can:can_rx=0,nominal_bitrate=250000,fast_bitrate=250000,sample_point=70")
    frames = {row["id_sample"]: (row["id"], row["data"]) for row in at_70 if row["kind"] == "frame"}
    said = {
        begin: (identifier, data)
        for begin, _, identifier, data, *_ in said_by_sigrok(theirs(path, "0", 250_000))
    }
    both = frames.keys() & said.keys()
    assert len(both) > 70
    assert {at: frames[at] for at in both} == {at: said[at] for at in both}
    assert sum(row["crc_ok"] is True for row in at_70) < 80
    best = ours(path, "can:can_rx=0")
    assert [row["crc_ok"] for row in best if row["kind"] == "frame"] == [True] * 109


def test_generated_buses_give_what_sigrok_gives(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    frames = [
        CanFrame(
            int(rng.integers(0, 1 << (29 if extended else 11))),
            rng.integers(0, 256, int(rng.integers(0, 9)), dtype=np.uint8).tobytes(),
            extended, ack=bool(rng.integers(0, 2)),
        )
        for extended in (rng.integers(0, 2, 60) == 1).tolist()
    ]  # fmt: skip
    path = tmp_path / "can.sr"
    write_sr(encode(frames), path)
    mine = ours(path, "can")
    said = said_by_sigrok(theirs(path, "CAN_RX", BITRATE))
    assert [(frame[2], frame[3]) for frame in said] == [(f.identifier, f.data) for f in frames]
    assert [
        (row["id_sample"], row["end_sample"], row["id"], row["data"], "ACK" if row["ack"] else "NACK")
        for row in mine[1:]
    ] == [frame[:5] for frame in said]  # fmt: skip
