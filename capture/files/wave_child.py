"""Run as a program: read an FST or GHW file with pywellen and write what is in it to standard output.

In a process of its own, because pywellen ends the process where a damaged file makes it ask for
more memory than there is, or never comes back. It writes marshalled objects: timescale and
variables, then changes as columns, None at the end. What pywellen itself prints goes to standard
error: it must not be taken for objects, and says what was left out.
"""

from __future__ import annotations

import heapq
import importlib.util
import marshal
import os
import resource
import sys
from array import array
from pathlib import Path
from typing import IO, Any

_CHANGES_AT_ONCE = 1 << 16


class Columns:
    """Changes on their way out: times, places of signals, values; texts, with their row, for values
    that are no numbers."""

    def __init__(self, ids: list[str], quiet_s: int, out: IO[bytes]) -> None:
        self._quiet_s, self._out = quiet_s, out
        self._place = {key: place for place, key in enumerate(ids)}
        self._clear()

    def add(self, time: int, key: Any, value: Any) -> None:
        if type(value) is str:
            self._texts[len(self._time)] = value
            value = 0
        self._time.append(time)
        self._signal.append(self._place[str(key)])
        self._value.append(value)
        if len(self._time) == _CHANGES_AT_ONCE:
            self.write()

    def write(self) -> None:
        columns = (self._time.tobytes(), self._signal.tobytes(), self._value.tobytes())
        marshal.dump((*columns, self._texts), self._out)
        self._clear()
        allow(self._quiet_s)

    def _clear(self) -> None:
        self._time, self._signal, self._value = array("Q"), array("B"), array("Q")
        self._texts: dict[int, str] = {}


def _jail() -> Any:
    """Return `capture.jail`, by its place: this program imports nothing of the project."""
    spec = importlib.util.spec_from_file_location("jail", Path(__file__).parents[1] / "jail.py")
    if spec is None or spec.loader is None:
        raise ImportError("jail.py cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def allow(quiet_s: int) -> None:
    """Let the processor go on for so long; the process is ended where it does not come back here."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until_s = int(used.ru_utime + used.ru_stime) + quiet_s
    resource.setrlimit(resource.RLIMIT_CPU, (until_s, resource.RLIM_INFINITY))


def main(memory_B: int, quiet_s: int, path: str, kind: str, wanted: list[str]) -> None:
    """Write the timescale and variables; then, where ids are wanted, their changes in order.

    Args:
        memory_B: that may be asked for.
        quiet_s: of the processor, that may go by without a change.
    """
    # What the process has for itself; a file that is mapped takes none of it.
    _jail().enter(memory_B)
    allow(quiet_s)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import pywellen  # type: ignore[import-untyped] # it has no types

    wave = pywellen.Waveform(path, stream_only=kind == "fst")
    scale = wave.timescale
    variables = list(wave.all_vars())
    described = [
        (v.full_name, v.bitwidth, str(v.var_type), str(v.signal_id), v.is_real, v.is_string)
        for v in variables
    ]
    marshal.dump((scale and (scale.factor, scale.unit.to_exponent()), described), out)
    of_key = {str(v.signal_id): v for v in variables}
    columns = Columns(wanted, quiet_s, out)
    if wanted and kind == "fst":
        wave.stream_changes(columns.add, [of_key[key] for key in wanted])
    elif wanted:

        def changes(key: str) -> Any:
            return ((time, key, value) for time, value in of_key[key].signal)

        for time, key, value in heapq.merge(*map(changes, wanted), key=lambda each: each[0]):
            columns.add(time, key, value)
    columns.write()
    marshal.dump(None, out)
    out.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
