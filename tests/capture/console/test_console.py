"""Console lines and dumps: what is whole is taken, what is damaged is told, what is missing is a stated gap."""

from __future__ import annotations

import random

import pytest

from freezeframe.capture.console.dump import Dump, DumpReader
from freezeframe.capture.console.lines import Damaged, Line, LineSplitter, parse
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder import DeviceCapture, Gap
from tests.capture.console.printed import dump, line, record

RECORDS = [record(0x1122334455667788 + i, 8, 1) for i in range(5)]


def read(stream: bytes) -> list[Dump]:
    splitter, reader = LineSplitter(), DumpReader()
    found = []
    for text in splitter.feed(stream):
        parsed = parse(text)
        done = None if parsed is None else reader.feed(parsed)
        if done is not None:
            found.append(done)
    return found


def test_a_line_is_its_words_as_hex_numbers_behind_a_crc() -> None:
    assert parse(b"ff:flow 500 3 40 *ca7e") == Line("flow", (0x500, 3, 0x40))
    assert parse(b"ff:begin 1 *4a7d") == Line("begin", (1,))


def test_what_is_not_ours_passes_by_and_may_stand_before_a_line() -> None:
    assert parse(b"boot: 512 MB of memory") is None
    assert parse(b"DEBUG ff:begin 1 *4a7d") == Line("begin", (1,))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"ff:begin 2 *4a7d", "its CRC does not fit"),
        (b"ff:begin 1", "its end is missing"),
        (b"ff:begin 1 *4a7", "its end is missing"),
        (line("begin").strip(), "it is of a kind that this program does not know"),
        (line("dance 1 2").strip(), "it is of a kind that this program does not know"),
        (line("flow 1 x 3").strip(), "a number in it is none"),
        (line("rec 0 12345").strip(), "a number in it is none"),
        (line("reg f0 -1").strip(), "a number in it is none"),
        (line("reg 0xf0 1_0").strip(), "a number in it is none"),
    ],
    ids=[
        "crc",
        "no end",
        "short crc",
        "too few",
        "unknown",
        "no number",
        "odd digits",
        "a sign",
        "a prefix",
    ],
)
def test_a_line_of_ours_that_is_wrong_is_damaged(text: bytes, why: str) -> None:
    assert parse(text) == Damaged(text, why)


def test_lines_are_the_same_in_whatever_pieces_they_come() -> None:
    stream = b"noise\r\n" + b"".join(dump(RECORDS)) + b"x" * 100_000 + b"\n" + line("begin 7")
    whole = LineSplitter().feed(stream)
    draw = random.Random(1)
    splitter, pieces, at = LineSplitter(), [], 0
    while at < len(stream):
        step = draw.choice((1, 2, 7, 300, 5000))
        pieces += splitter.feed(stream[at : at + step])
        at += step
    ours = [parse(text) for text in whole if parse(text)]
    assert [parse(text) for text in pieces if parse(text)] == ours
    assert ours[-1] == Line("begin", (7,))


def test_a_dump_is_a_device_with_its_registers_and_its_records_in_slot_order() -> None:
    (found,) = read(b"".join(dump(RECORDS)))
    assert isinstance(found.device, DeviceCapture)
    memory = found.device.memories["event_log"]
    assert memory.records[:5].tobytes() == b"".join(RECORDS)
    assert (memory.write_ptr, memory.wrapped, memory.gaps) == (5, False, [])
    assert found.device.identity.clk_bus == 50_000_000
    assert found.device.registers.value("ctl.causes") == 1
    assert found.lost == ()


def test_a_record_whose_line_is_damaged_is_a_gap_and_is_said() -> None:
    lines = dump(RECORDS)
    broken = lines[-4].replace(b"rec 2 8a", b"rec 2 8b")
    assert broken != lines[-4]
    (found,) = read(b"".join([*lines[:-4], broken, *lines[-3:]]))
    assert found.device.memories["event_log"].gaps == [Gap(2, 1, "its console line did not arrive")]
    assert found.lost == (
        "1 line of the console arrived damaged",
        "1 of 5 records did not arrive",
    )


def test_records_of_two_dumps_mixed_are_told_by_the_common_crc() -> None:
    lines = dump(RECORDS)
    other = line(f"rec 2 {record(5, 8, 1).hex()}")
    (found,) = read(b"".join([*lines[:-4], other, *lines[-3:]]))
    assert found.lost == (
        "every record arrived with a good line CRC, but their common CRC does not fit: lines of two dumps are mixed",
    )


def test_a_dump_that_begins_anew_is_read_from_there() -> None:
    lines = dump(RECORDS)
    reader = DumpReader()
    parsed = [parse(text.strip()) for text in [*lines[:9], *lines]]
    done = [found for text in parsed if text is not None and (found := reader.feed(text))]
    assert len(done) == 1
    assert reader.broken_off == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [*dump(RECORDS)[:3], *dump(RECORDS)[4:]],
            r"console: id\.map_hash of the dump's identity did not arrive",
        ),
        (dump(RECORDS, id__map_hash=5), "register map 00000005; this program knows"),
        (dump(RECORDS, id__event_depth=1 << 20), "a ring of 1048576 records with 5 in it"),
        (dump(RECORDS, id__event_depth=2), "a ring of 2 records with 5 in it"),
    ],
    ids=["no map hash", "other map", "too deep", "too many"],
)
def test_a_dump_that_cannot_be_used_is_one_clear_error(lines: list[bytes], message: str) -> None:
    with pytest.raises(CaptureFormatError, match=message):
        read(b"".join(lines))


def test_any_damage_to_the_stream_gives_the_records_that_were_sent_or_a_gap_never_another_value() -> (
    None
):
    draw = random.Random(3)
    whole = b"".join(dump(RECORDS))
    for _ in range(300):
        stream = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(stream))
            what = draw.randrange(3)
            if what == 0:
                stream[at] ^= 1 << draw.randrange(8)
            elif what == 1:
                del stream[at : at + draw.randrange(1, 40)]
            else:
                stream[at:at] = draw.randbytes(draw.randrange(1, 20))
        try:
            found = read(bytes(stream))
        except CaptureFormatError:
            continue
        for one in found:
            memory = one.device.memories["event_log"]
            mask = memory.read_mask()[: len(RECORDS)]
            for slot, data in enumerate(RECORDS):
                if mask[slot] and slot < memory.write_ptr:
                    assert memory.records[slot].tobytes() == data
