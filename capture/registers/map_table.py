"""The register map of one device, read from ``map.json``, which is generated from the map's one source.

Source: firmware-hooks/registers/freezeframe.rdl.
"""

from __future__ import annotations

import json
from pathlib import Path

from freezeframe.capture.registers.layout import FieldInfo, RegisterInfo, WindowInfo

_MAP = json.loads(Path(__file__).with_name("map.json").read_text("utf-8"))

MAP_HASH: int = _MAP["map_hash"]  # docs/formats.md section 1
FORMAT_VERSION: tuple[int, int] = tuple(_MAP["format_version"])
MAP_SIZE: int = _MAP["map_size"]  # bytes from one device to the next

REGISTERS = tuple(
    RegisterInfo(
        **{
            **register,
            "dims": tuple(map(tuple, register["dims"])),
            "fields": tuple(FieldInfo(*field) for field in register["fields"]),
        }
    )
    for register in _MAP["registers"]
)
WINDOWS = tuple(WindowInfo(**window) for window in _MAP["windows"])
COUNTER_DOCS: dict[str, str] = dict(_MAP["counters"])
COUNTERS: tuple[str, ...] = tuple(COUNTER_DOCS)  # in the order of a bank
