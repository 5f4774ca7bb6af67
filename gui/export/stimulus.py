"""Export as a cocotb stimulus: samples that drive a design again, or decoded rows at the times they were seen.

One Python module, in plain text and without any import of ours, to be read, cut and kept beside a testbench.
Source: cocotb 1.6 to 2.x, ``Timer`` and ``get_sim_time``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.gui.export.material import Material, Wrote, rows_by_time, times_ps
from freezeframe.gui.export.signals import Signals

MOST_LINES = 5_000_000
"""Lines of a module; Python reads some millions in a few seconds."""

_HEAD = '''"""{title}

{use}
Made by freezeframe export --to stimulus. Times are picoseconds from the start of the capture; a simulator with coarser
steps takes each at the step at or before it.
"""

from collections.abc import AsyncIterator
from typing import Any

from cocotb.triggers import Timer
from cocotb.utils import get_sim_time, get_time_from_sim_steps


async def until(start_ps: float, t_ps: int) -> None:
    """Wait until ``t_ps`` after ``start_ps``, where that is not over; times never add up rounding."""
    step_ps = max(1, round(get_time_from_sim_steps(1, "ps")))
    left = int(start_ps + t_ps - get_sim_time("ps")) // step_ps * step_ps
    if left > 0:
        await Timer(left, "ps")


'''
_SIGNALS = '''async def replay(dut: Any, names: dict[str, str] | None = None, slower: int = 1) -> None:
    """Drive the signals of ``dut`` as they were captured.

    ``names``: the design's name of a signal where it is another one; "" leaves the signal out.
    ``slower``: all times are multiplied by it.
    """
    chosen = {} if names is None else names
    handles = [getattr(dut, chosen.get(name, name)) if chosen.get(name, name) else None for name in SIGNALS]
    start_ps = get_sim_time("ps")
    for line in CHANGES.splitlines():
        t_ps, number, value = line.split()
        handle = handles[int(number)]
        if handle is not None:
            await until(start_ps, int(t_ps) * slower)
            handle.value = int(value, 16)
    await until(start_ps, END_PS * slower)


'''
_ROWS = '''async def rows(slower: int = 1) -> AsyncIterator[dict[str, Any]]:
    """Yield each row at its time: ``async for row in rows(): await source.write([row["data"]])``.

    What the loop does may take time; the next row comes at its own time, or at once where that is over.
    """
    start_ps = get_sim_time("ps")
    for t_ps, row in ROWS:
        await until(start_ps, t_ps * slower)
        yield row


ROWS: tuple[tuple[int, dict[str, Any]], ...] = (
'''


def write_stimulus(material: Material, path: Path) -> Wrote:
    """Write a module with ``replay(dut)`` of samples, or ``rows()`` of the one table that decoders made.

    Raises:
        InputError: there are more changes or rows than a module can hold, or several tables.
    """
    name = material.source.name.replace("\\", "/").replace('"', "'")
    with path.open("x", encoding="utf-8", newline="\n") as file:
        if material.edges is not None:
            use = "    await replay(dut, names={'...': '...'})\n"
            file.write(_HEAD.format(title=f"Signals of {name} as a stimulus.", use=use) + _SIGNALS)
            return _samples(file, material, material.edges())
        if len(material.tables) != 1:
            names = ", ".join(decoded.name for decoded in material.tables)
            raise InputError(
                f"{material.source}: a stimulus is of one table, and there is {names}; choose by --where or by -d"
            )
        use = "    async for row in rows(): ...\n"
        title = f"Rows of {material.tables[0].name} of {name} as a stimulus."
        file.write(_HEAD.format(title=title, use=use) + _ROWS)
        return _rows(file, material)


def _samples(file: TextIO, material: Material, pieces: Iterator[Edges]) -> Wrote:
    wrote = Wrote()
    signals: Signals | None = None
    lines = end_ps = 0
    for piece in pieces:
        if signals is None:
            signals = Signals(piece)
            file.write(f"SIGNALS = {tuple(signals.names)!r}\n")
            file.write("# time in ps, number of the signal, value in hex\n")
            file.write('CHANGES = """\\\n')
        for t_ps, number, value in signals.changes(piece):
            lines += 1
            _check(lines, material)
            file.write(f"{t_ps} {number} {value:x}\n")
        end_ps = int(times_ps(np.array([piece.end_sample], np.int64), piece.samplerate_hz)[0])
    file.write(f'"""\nEND_PS = {end_ps}\n')
    wrote.add("changes", lines)
    return wrote


def _rows(file: TextIO, material: Material) -> Wrote:
    wrote = Wrote()
    (decoded,) = material.tables
    for row in rows_by_time(decoded.table):
        wrote.add("rows", 1)
        _check(wrote.counts["rows"], material)
        t_ps = row.pop("t_ps")
        file.write(f"    ({t_ps}, {_literal(row)}),\n")
    file.write(")\n")
    return wrote


def _literal(row: dict[str, Any]) -> str:
    """Return a row as Python text; everything in a table is a number, a text, bytes, None, or a list of those."""
    return repr({name: value for name, value in row.items() if value is not None})


def _check(lines: int, material: Material) -> None:
    if lines > MOST_LINES:
        raise InputError(
            f"{material.source}: more than {MOST_LINES:,} changes or rows for one stimulus; take less with --cut, "
            "--only or --where"
        )
