"""Lines of text on a UART: literal characters with times in, lines out."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.decoders.contract import OptionValue
from freezeframe.decoders.parts.text import TEXT
from freezeframe.decoders.parts.text_code import line_texts
from freezeframe.decoders.serial.uart_code import uart_schema
from tests.decoders.pieces import cut, rows_of

US, MS = 10**6, 10**9


def uart(
    data: bytes | list[int], *, begin_ps: int = 0, bad: frozenset[int] = frozenset()
) -> pa.Table:
    """Return frames of 8 us, one each 10 us; ``bad`` ones have a wrong parity, with the error row after them."""
    rows: list[dict[str, Any]] = []
    for number, value in enumerate(data):
        at = begin_ps + number * 10 * US
        row = {
            "t_ps": at, "t_end_ps": at + 8 * US, "source": "UART", "kind": "frame", "error": "", "data": value,
            "parity": 0, "parity_ok": number not in bad, "stop_ok": None, "baud": 9600,
            "sample": at // US, "data_sample": 0, "data_end_sample": 0, "end_sample": at // US + 8,
        }  # fmt: skip
        rows.append(row)
        if number in bad:
            rows.append(row | {"kind": "error", "error": "parity"})
    return pa.Table.from_pylist(rows, schema=uart_schema())


def lines(*pieces: pa.Table, **options: OptionValue) -> list[dict[str, Any]]:
    return rows_of(TEXT, *pieces, **options)[0]


def shown(*pieces: pa.Table, **options: OptionValue) -> list[tuple[str, str]]:
    return [(row["text"], row["ending"]) for row in lines(*pieces, **options)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"one\r\ntwo\nthree\rfour", [("one", "CR LF"), ("two", "LF"), ("three", "CR"), ("four", "capture")]),
        (b"\r\n\n\r", [("", "CR LF"), ("", "LF"), ("", "CR")]),
        (b"a\r\r\nb\n", [("a", "CR"), ("", "CR LF"), ("b", "LF")]),
        ("10 µs\n".encode(), [("10 µs", "LF")]),
        (b"\x1b[2K\tx\x00\n", [("\\x1b[2K\tx\\x00", "LF")]),  # no terminal is told anything
        (b"\xff\xfe\n", [("\\xff\\xfe", "LF")]),
        ([0x41, 0x1FF, 0x0A], [("A\\x1ff\\x0a", "capture")]),  # nine bits are no characters
        (b"", []),
    ],
)  # fmt: skip
def test_characters_are_joined_to_lines(
    data: bytes | list[int], expected: list[tuple[str, str]]
) -> None:
    assert shown(uart(data)) == expected


def test_a_line_has_the_times_of_its_first_and_last_character() -> None:
    (_, second) = lines(uart(b"ab\ncd\n"))
    assert (second["t_ps"], second["t_end_ps"]) == (30 * US, 58 * US)
    assert (second["sample"], second["end_sample"], second["characters"]) == (30, 58, 3)


def test_silence_ends_a_line_and_a_prompt_is_shown() -> None:
    pieces = [uart(b"login: "), uart(b"root\n", begin_ps=5 * MS)]
    assert shown(*pieces, gap_ms=1.0) == [("login: ", "silence"), ("root", "LF")]
    assert shown(*pieces, gap_ms=0.0) == [("login: root", "LF")]


def test_a_line_that_never_ends_is_parted() -> None:
    assert shown(uart(b"abcdefg"), longest=3) == [
        ("abc", "length"), ("def", "length"), ("g", "capture"),
    ]  # fmt: skip


def test_wrong_characters_are_shown_and_counted() -> None:
    (row,) = lines(uart(b"hello\n", bad=frozenset({1, 2})))
    assert (row["kind"], row["error"], row["text"]) == ("error", "wrong-characters", "hello")
    assert line_texts(row).normal == "hello  (2 of 6 characters wrong)"


def test_latin_1_has_a_character_for_each_value() -> None:
    assert shown(uart(b"\xb5\n"), encoding="latin-1") == [("µ", "LF")]


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_lines_are_the_same_whatever_pieces_the_characters_come_in(
    data: bytes, cuts: list[int]
) -> None:
    whole = uart(data)
    assert lines(*cut(whole, cuts), whole.slice(0, 0)) == lines(whole)
    assert sum(row["characters"] for row in lines(whole)) == len(data)
