"""The truth of a run: what was injected, where and when, in a file of its own that no capture ever contains."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError


@dataclass(frozen=True, slots=True)
class Injection:
    """One injection, in the words of a finding.

    Attributes:
        fault: its name.
        generation: of the device in which it happened.
        tap: the first tap that shows it, None where no tap does.
        packet: sequence number, None where there is none; ``word`` is an index into the payload.
        t_ps: simulation time, from power-up.
    """

    fault: str
    generation: int
    device: str
    tap: str | None
    direction: str
    flow: int | None
    packet: int | None
    word: int | None
    t_ps: int
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stop:
    """A recorder's freeze: when its first cause came and when everything was still, from power-up."""

    device: str
    generation: int
    cause_ps: int
    frozen_ps: int


class Truth:
    """Collects injections and, when a path is given, writes them there, whole or not at all."""

    def __init__(self, fault: str, seed: int, profile: str, path: Path | None) -> None:
        """Begin with no injections and write that.

        Raises:
            InputError: the file cannot be written, or is there and is none, as a device.
        """
        if path is not None and path.exists() and not path.is_file():
            raise InputError(
                f"truth file {path}: is there and is not a file, so it is not replaced"
            )
        self.fault = fault
        self.seed = seed
        self.profile = profile
        self.path = path
        self.injections: list[Injection] = []
        self.freezes: list[Stop] = []
        self._write()

    def add(self, injection: Injection) -> None:
        """Note an injection the moment it happens."""
        self.injections.append(injection)
        self._write()

    def froze(self, stop: Stop) -> None:
        """Note that a recorder has frozen."""
        self.freezes.append(stop)
        if self.path is not None and self.injections:
            self._write()

    def before_freeze(self, injection: Injection) -> bool:
        """Return whether an injection came before the first freeze cause of its recording."""
        return all(
            injection.t_ps <= stop.cause_ps
            for stop in self.freezes
            if stop.generation == injection.generation
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "fault": self.fault,
            "seed": self.seed,
            "profile": self.profile,
            "injections": [
                asdict(injection) | {"before_freeze": self.before_freeze(injection)}
                for injection in self.injections
            ],
            "freezes": [asdict(stop) for stop in self.freezes],
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
