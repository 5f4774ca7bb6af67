"""One reading of what a recorder is doing, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class MemoryState:
    """How far one trace memory is; it still moves unless the recorder is frozen."""

    write_ptr: int
    wrapped: bool
    closed: bool
    chunks_done: int
    stored: int
    offered: int
    lost: int


@dataclass(frozen=True, slots=True)
class RecorderState:
    """One reading of a recorder. ``cause_cycle`` is a bus cycle, void without causes."""

    device: str
    state: str
    causes: tuple[str, ...]
    generation: int
    nonce: int
    cause_cycle: int
    held: bool
    memories: dict[str, MemoryState]

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values, the nonce in hexadecimal."""
        return {
            "device": self.device,
            "state": self.state,
            "causes": list(self.causes),
            "generation": self.generation,
            "boot_nonce": f"{self.nonce:#010x}",
            "cause_cycle": self.cause_cycle if self.causes else None,
            "held": self.held,
            "memories": {
                name: {field: getattr(memory, field) for field in MemoryState.__slots__}
                for name, memory in self.memories.items()
            },
        }
