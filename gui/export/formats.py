"""The formats of other tools that a capture can be exported in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freezeframe.capture.code import code


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name on the command line, what it is good for, and the function that writes.

    ``several``: it writes a file for each table, so it takes a list of paths. ``decoded``: which
    decoder's tables it takes: "any", "one" where it takes one table, "none" where it takes samples alone, or
    that decoder.
    """

    name: str
    doc: str
    write: Callable[..., Any]
    several: bool = False
    decoded: str = "any"


_VCD = code("freezeframe.gui.export.vcd:write_vcd")
_SR = code("freezeframe.gui.export.sr:write_session")
_PCAPNG = code("freezeframe.gui.export.pcapng:write_pcapng")
_CSV = code("freezeframe.gui.export.tables:write_csv")
_PARQUET = code("freezeframe.gui.export.tables:write_parquet")
_STIMULUS = code("freezeframe.gui.export.stimulus:write_stimulus")
_PERFETTO = code("freezeframe.gui.export.perfetto:write_perfetto")

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("vcd", "samples or a recording, for GTKWave", _VCD, decoded="trace"),
        Format("sr", "samples, for PulseView and sigrok-cli", _SR, decoded="none"),
        Format("pcapng", "packets, for Wireshark", _PCAPNG),
        Format("csv", "tables or edges, for spreadsheets", _CSV, several=True),
        Format("parquet", "tables or edges, with types", _PARQUET, several=True),
        Format(
            "stimulus",
            "samples or one table, to drive a design in cocotb",
            _STIMULUS,
            decoded="one",
        ),
        Format("perfetto", "slices and counters, for ui.perfetto.dev", _PERFETTO),
    )
}
