"""What the desktop is started with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from freezeframe.capture.files.choice import SourceChoice
from freezeframe.decoders.registry import Registry


@dataclass(frozen=True, slots=True)
class DesktopOptions:
    """The options of the verb ``open``."""

    sources: Sequence[str] = ()
    specs: Sequence[str] = ()
    allow_write: bool = False
    light: bool = False
    period_s: float = 0.5
    into: Path = field(default_factory=Path)
    choice: SourceChoice | None = None
    registry: Registry | None = None
    at_ps: int | None = None
