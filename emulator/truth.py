"""The truth of a run: what was injected, where and when, in a file of its own that no capture ever contains."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError

__all__ = ["Injection", "Truth"]


@dataclass(frozen=True, slots=True)
class Injection:
    """One injection, in the words of a finding.

    Attributes:
        generation: of the device in which it happened.
        tap: the first tap that shows it, None where no tap does.
        packet: sequence number, None where there is none; ``word`` is an index into the payload.
        t_ps: simulation time, from power-up.
    """

    generation: int
    device: str
    tap: str | None
    direction: str
    flow: int | None
    packet: int | None
    word: int | None
    t_ps: int
    detail: dict[str, Any]


class Truth:
    """Collects injections and, when a path is given, writes them there, whole or not at all."""

    def __init__(self, fault: str, seed: int, profile: str, path: Path | None) -> None:
        """Begin with no injections and write that.

        Raises:
            InputError: the file cannot be written.
        """
        self.fault = fault
        self.seed = seed
        self.profile = profile
        self.path = path
        self.injections: list[Injection] = []
        self._write()

    def add(self, injection: Injection) -> None:
        """Note an injection the moment it happens."""
        self.injections.append(injection)
        self._write()

    def to_json(self) -> dict[str, Any]:
        return {
            "fault": self.fault,
            "seed": self.seed,
            "profile": self.profile,
            "injections": [asdict(injection) for injection in self.injections],
        }

    def _write(self) -> None:
        if self.path is None:
            return
        text = json.dumps(self.to_json(), indent=1) + "\n"
        try:
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(self.path)
        except OSError as error:
            raise InputError(
                f"truth file {self.path} cannot be written: {error.strerror}; choose another place"
            ) from error
