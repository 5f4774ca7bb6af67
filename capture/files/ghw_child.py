"""Run as a program: read a GHW file with pywellen and write what is in it to standard output.

In a process of its own, because pywellen ends the process where a damaged file makes it ask for
more memory than there is. It writes marshalled objects: the variables, then lists of changes.
"""

from __future__ import annotations

import heapq
import marshal
import resource
import sys
from itertools import islice
from typing import Any

_MEMORY_B = 1 << 30
_CPU_S = 120
_CHANGES_AT_ONCE = 1 << 15


def main(path: str, wanted: list[str]) -> None:
    """Write the timescale and variables; then, where ids are wanted, their changes in order."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_B, _MEMORY_B))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import pywellen  # type: ignore[import-untyped] # it has no types

    out = sys.stdout.buffer
    wave = pywellen.Waveform(path)
    scale = wave.timescale
    variables = list(wave.all_vars())
    described = [
        (v.full_name, v.bitwidth, str(v.var_type), str(v.signal_id), v.is_real, v.is_string)
        for v in variables
    ]
    marshal.dump((scale and (scale.factor, scale.unit.to_exponent()), described), out)

    def changes(key: str, variable: Any) -> Any:
        return ((time, key, value) for time, value in variable.signal)

    of_key = {str(v.signal_id): v for v in variables}
    merged = heapq.merge(*(changes(key, of_key[key]) for key in wanted), key=lambda each: each[0])
    while some := list(islice(merged, _CHANGES_AT_ONCE)):
        marshal.dump(some, out)
    marshal.dump(None, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
