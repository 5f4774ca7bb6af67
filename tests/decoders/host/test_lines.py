"""Lines of a kernel's trace: `freezeframe.decoders.host.lines`. Forms as of ftrace.rst, mmiotrace.rst, dmesg(1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.decoders.host.lines import HostLine, read_lines
from freezeframe.decoders.host.table import events_alone


def one(text: str) -> HostLine:
    (line,) = read_lines(text.encode())
    return line


def test_a_line_of_the_ftrace_file_gives_task_cpu_time_and_event() -> None:
    line = one(
        "          <idle>-0     [002] d.h1.  5281.568961: irq_handler_entry: irq=45 name=ff0"
    )
    assert (line.kind, line.irq, line.cpu, line.task, line.pid) == (
        "irq_handler_entry", 45, 2, "<idle>", 0,
    )  # fmt: skip
    # Six digits leave a microsecond open.
    assert (line.own_ps, line.unc_ps) == (5_281_568_961_000_000, 999_999)


def test_a_line_of_trace_cmd_report_without_flags_and_with_a_tgid_is_read_as_well() -> None:
    line = one(
        " my-app-12-1742  (   1700) [001]   12.000000001: irq_handler_exit: irq=45 ret=handled"
    )
    assert (line.task, line.pid, line.kind, line.irq) == ("my-app-12", 1742, "irq_handler_exit", 45)
    assert (line.own_ps, line.unc_ps) == (12_000_000_001_000, 999)


def test_a_register_write_of_the_rwmmio_events_gives_width_address_and_value() -> None:
    line = one(
        "app-7 [000] ..... 1.000001: rwmmio_write: f+0x40/0x90 width=32 val=0x2200 addr=0xffffc9000040000c"
    )
    assert (line.kind, line.width, line.value) == ("write", 32, 0x2200)
    assert line.address == 0xFFFF_C900_0040_000C - (1 << 64)  # an int64 bit pattern


def test_a_read_counts_when_its_value_is_there() -> None:
    line = one("app-7 [000] ..... 1.000001: rwmmio_post_read: f width=32 val=0x1 addr=0x10")
    assert (line.kind, line.value, line.address) == ("read", 1, 16)
    begun = one("app-7 [000] ..... 1.000001: rwmmio_read: f width=32 addr=0x10")
    assert (begun.kind, begun.address) == ("rwmmio_read", -1)


def test_mmiotrace_gives_bytes_as_bits() -> None:
    line = one("W 4 63.258141 1 0xfe800010 0x12 0xffffffff 742")
    assert (line.kind, line.width, line.address, line.value, line.pid) == (
        "write", 32, 0xFE800010, 0x12, 742,
    )  # fmt: skip
    assert one("MARK 63.2 hello").kind == "message"


def test_dmesg_is_a_message_with_a_time() -> None:
    line = one("<6>[ 9472.695262] ff 0000:03:00.0: link is down")
    assert (line.kind, line.text) == ("message", "ff 0000:03:00.0: link is down")
    assert line.own_ps == 9_472_695_262_000_000


@pytest.mark.parametrize(
    "text",
    [
        "kern  :info  : [ 9472.695262] link is down",  # dmesg -x
        "[ 9472.695262 <    0.000017>] link is down",  # dmesg -d
        "kern  :warn  : [ 9472.695262 <   11.000017>] link is down",  # dmesg -x -d
    ],
)
def test_dmesg_with_a_level_or_with_the_time_since_the_line_before_is_the_same_message(
    text: str,
) -> None:
    line = one(text)
    assert (line.kind, line.own_ps, line.text) == (
        "message", 9_472_695_262_000_000, "link is down",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "[Mon Jan  1 12:00:00 2024] link is down",  # dmesg -T
        "[Jan 1 12:00] link is down",  # dmesg -e, the first of a minute
        "[  +0.000017] link is down",  # dmesg -e, the others
        "2024-01-01T12:00:00,123456+01:00 link is down",  # dmesg --time-format iso
        "Jan 01 12:00:00 lab kernel: link is down",  # journalctl -k
    ],
)
def test_a_calendars_time_is_no_instant_of_the_kernels_clock_and_the_line_is_kept_whole(
    text: str,
) -> None:
    line = one(text)
    assert (line.kind, line.own_ps, line.text) == ("message", -1, text)


def test_lost_events_are_a_row_with_their_number() -> None:
    assert one("CPU:1 [LOST 123 EVENTS]")[1:] == (
        "lost",
        -1,
        0,
        "CPU:1 [LOST 123 EVENTS]",
        1,
        "",
        -1,
        -1,
        -1,
        -1,
        123,
    )
    assert one("CPU 0 [LOST EVENTS]").value == -1


@pytest.mark.parametrize("head", ["# tracer: nop", "cpus=8", "CPU 3 is empty", "", "version = 7"])
def test_heads_say_nothing(head: str) -> None:
    assert list(read_lines(head.encode())) == []


@pytest.mark.parametrize(
    "text", ["[Mon Nov 16] x", "irq=45", "a-1 [0] 1.0: x", "\x00\xff", "R 4 1 2 3"]
)
def test_any_other_line_is_kept_as_an_error(text: str) -> None:
    line = one(text)
    assert line.kind == "error" and line.text == text.encode().decode("utf-8", "backslashreplace")


def test_a_line_of_a_megabyte_is_cut_in_its_text_and_harms_nothing() -> None:
    (line,) = read_lines(b"[    1.000000] " + b"x" * (1 << 20))
    assert line.kind == "message" and len(line.text) < 4096


@given(st.binary(max_size=300))
def test_no_bytes_raise_and_no_line_is_dropped(data: bytes) -> None:
    lines = list(read_lines(data))
    assert len(lines) <= data.count(b"\n") + 1
    assert all(-(1 << 63) <= line.value < 1 << 63 for line in lines)


def test_a_line_months_from_the_others_is_told_and_no_overflow() -> None:
    text = b"[  100.000123] a\n[111111111100.000200] b\n[  101.000000] c\n"
    events = events_alone(text, "A")
    assert events.table["t_ps"].tolist() == [0, 0, 999_877_000_000]
    assert events.table["text"].tolist() == ["a", "b", "c"]
    assert events.notes == [
        "host of A: 1 lines are more than 53 days from the first one (line 2 is); their times are not believed, and "
        "they stand where the line before them does"
    ]


def test_a_time_that_no_clock_reaches_is_told_also_where_it_is_the_first() -> None:
    events = events_alone(b"[999999999999.000000] a\n[  100.000000] b\n[  101.000000] c\n", "A")
    assert events.table["text"].tolist() == ["a", "b", "c"]
    assert events.table["t_ps"].tolist() == [0, 0, 10**12]
    assert events.notes[0].startswith("host of A: 1 lines are more than 53 days")
