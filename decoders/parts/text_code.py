"""Join the characters of a UART to lines; nothing of a character is lost, what is no text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.decoders.columns import codes_of, name_type, sampled_schema
from freezeframe.decoders.contract import OptionValues, Texts

_CR, _LF = 13, 10
_ENDS = {b"\r\n": "CR LF", b"\n": "LF", b"\r": "CR"}
_MS_PS = 10**9


@cache
def line_schema() -> pa.Schema:
    """Return the columns of lines, in the order of their end.

    ``text`` is the line without its end; what is no character of the encoding, and control characters, stand as
    ``\\xNN``. ``ending`` is ``CR LF``, ``LF``, ``CR``, or why the line ends without one: ``silence``, ``length``,
    ``capture``. ``characters`` counts those of the text and its end, ``wrong`` those with a wrong parity or stop
    bit; ``kind`` is ``line``, or ``error`` (``wrong-characters``) where there are any. ``t_ps`` and ``sample`` are
    those of the first character, ``t_end_ps`` and ``end_sample`` those where the last one ends.
    """
    return sampled_schema(
        {
            "text": pa.string(),
            "ending": name_type(),
            "characters": pa.int32(),
            "wrong": pa.int32(),
        }
    )


@dataclass(slots=True)
class _Characters:
    """Characters: values, whether each is wrong, begin and end in picoseconds and samples; ``(n,)`` int64 each."""

    value: npt.NDArray[np.int64]
    wrong: npt.NDArray[np.int64]
    t_ps: npt.NDArray[np.int64]
    t_end_ps: npt.NDArray[np.int64]
    sample: npt.NDArray[np.int64]
    end_sample: npt.NDArray[np.int64]

    def cut(self, begin: int, end: int) -> _Characters:
        return _Characters(*(getattr(self, name)[begin:end] for name in self.__slots__))

    def after(self, other: _Characters) -> _Characters:
        return _Characters(
            *(np.concatenate([getattr(other, n), getattr(self, n)]) for n in self.__slots__)
        )


def _none() -> _Characters:
    return _Characters(*(np.zeros(0, np.int64) for _ in range(6)))


@dataclass(slots=True)
class LineState:
    """The characters of the line that has not ended yet."""

    options: OptionValues
    held: _Characters = field(default_factory=_none)


def decode_lines(table: pa.Table, options: OptionValues, state: LineState, last: bool) -> pa.Table:
    """Join frames of `uart_schema`, whatever their errors, to lines."""
    characters = _characters(table).after(state.held)
    gap_ps = int(options.number("gap_ms") * _MS_PS)
    longest = options.integer("longest")
    ends = _ends(characters, gap_ps, last)
    rows: list[dict[str, Any]] = []
    begin = 0
    for end in ends:
        for part in range(begin, end, longest):
            to = min(part + longest, end)
            line = characters.cut(part, to)
            why = "length" if to < end else "silence" if end < len(characters.value) else "capture"
            rows.append(_row(line, options.text("encoding"), why))
        begin = end
    while len(characters.value) - begin > longest:  # bounded, whatever the line never ends with
        rows.append(
            _row(characters.cut(begin, begin + longest), options.text("encoding"), "length")
        )
        begin += longest
    state.held = characters.cut(begin, len(characters.value))
    return pa.Table.from_pylist(rows, schema=line_schema())


def line_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `line_schema` into words: the text itself."""
    wrong = f"  ({row['wrong']} of {row['characters']} characters wrong)" if row["wrong"] else ""
    normal = f"{row['text']}{wrong}"
    return Texts(row["text"][:16], normal, f"{normal}  [{row['ending']}]")


def _characters(table: pa.Table) -> _Characters:
    frames = codes_of(table.column("kind"), ("frame",)) == 0
    columns = {name: table.column(name).to_numpy()[frames].astype(np.int64) for name in
               ("data", "t_ps", "t_end_ps", "sample", "end_sample")}  # fmt: skip
    good = np.ones(int(frames.sum()), bool)
    for name in ("parity_ok", "stop_ok"):
        good &= (
            table.column(name).fill_null(True).to_numpy(zero_copy_only=False)[frames].astype(bool)
        )
    return _Characters(
        columns["data"], (~good).astype(np.int64), columns["t_ps"], columns["t_end_ps"],
        columns["sample"], columns["end_sample"],
    )  # fmt: skip


def _ends(characters: _Characters, gap_ps: int, last: bool) -> list[int]:
    """Return after which characters lines end; a CR that stands last waits for its LF."""
    value = characters.value
    if not len(value):
        return []
    after = np.zeros(len(value), bool)
    after[:-1] = (value[:-1] == _LF) | ((value[:-1] == _CR) & (value[1:] != _LF))
    if gap_ps:
        after[:-1] |= characters.t_ps[1:] - characters.t_end_ps[:-1] > gap_ps
    after[-1] = last or value[-1] == _LF
    return [int(n) + 1 for n in np.flatnonzero(after)]


def _row(line: _Characters, encoding: str, why: str) -> dict[str, Any]:
    if (line.value > 255).any():
        ending, text = (
            why,
            "".join(_plain(chr(v)) if v < 256 else f"\\x{v:03x}" for v in line.value),
        )
    else:
        raw = line.value.astype(np.uint8).tobytes()
        end = next((e for e in _ENDS if raw.endswith(e)), b"")
        ending = _ENDS.get(end, why)
        body = raw[: len(raw) - len(end)]
        text = "".join(map(_plain, body.decode(encoding, "backslashreplace")))
    wrong = int(line.wrong.sum())
    return {
        "t_ps": int(line.t_ps[0]),
        "t_end_ps": int(line.t_end_ps[-1]),
        "source": "TEXT",
        "kind": "error" if wrong else "line",
        "error": "wrong-characters" if wrong else "",
        "text": text,
        "ending": ending,
        "characters": len(line.value),
        "wrong": wrong,
        "sample": int(line.sample[0]),
        "end_sample": int(line.end_sample[-1]),
    }


def _plain(character: str) -> str:
    return character if character.isprintable() or character == "\t" else f"\\x{ord(character):02x}"
