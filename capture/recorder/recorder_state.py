"""One reading of what a recorder is doing, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freezeframe.capture.card.roles import Roles


@dataclass(frozen=True, slots=True)
class MemoryState:
    """How far one trace memory is; it still moves unless the recorder is frozen."""

    write_ptr: int
    wrapped: bool
    closed: bool
    chunks_done: int
    stored: int
    offered: int
    lost: int | None  # None: this kind of memory cannot lose anything and counts nothing


@dataclass(frozen=True, slots=True)
class ClockState:
    """Whether a clock of a card runs, and whether the memories in its domain are closed."""

    alive: bool
    closed: bool


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
    clocks: dict[str, ClockState] = field(default_factory=dict)
    peer_cause: str = "peer"
    """The cause that another card's freeze is, by the card's name for it."""
    roles: Roles | None = None
    """The parts of a card of map 1 by what they do."""

    @property
    def own_causes(self) -> tuple[str, ...]:
        """The causes that arose on this card."""
        return tuple(cause for cause in self.causes if cause != self.peer_cause)

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
            **(
                {"clocks": {name: asdict(clock) for name, clock in self.clocks.items()}}
                if self.clocks
                else {}
            ),
        }
