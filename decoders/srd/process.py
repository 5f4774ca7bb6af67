"""The process that runs libsigrokdecode, as the host sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freezeframe.decoders.srd.location import SrdLocation
from freezeframe.decoders.worker_process import WorkerProcess, number_of

TIMEOUT_VARIABLE = "FREEZEFRAME_SIGROK_TIMEOUT_S"
_TIMEOUT_S = 60.0  # for 1 MiB of samples: the slowest installed decoder takes 4 s for a dense one
_MEMORY_LIMIT_B = 1 << 31  # of the worker; 1 MiB of dense samples makes 600 MB of annotations


def default_timeout_s() -> float:
    """Return how long a worker may take for one answer.

    Raises:
        FreezeframeError: the variable that says so is not a number of seconds.
    """
    return number_of(TIMEOUT_VARIABLE, _TIMEOUT_S, "seconds")


class SrdWorker(WorkerProcess):
    """A process that runs libsigrokdecode; ``what`` names its task in messages."""

    timeout_variable = TIMEOUT_VARIABLE

    def __init__(
        self, location: SrdLocation, what: str, *, memory_B: int = 0, timeout_s: float | None = None
    ) -> None:
        """Start it and load the library.

        Args:
            memory_B: this much memory is shared with it, as ``memory_fd``.
            timeout_s: how long one answer may take; by default `default_timeout_s`.
        Raises:
            FreezeframeError: it does not start, or the library does not load.
        """
        super().__init__(
            [location.python, "-I", "-S", Path(__file__).with_name("worker_main.py")],
            what,
            timeout_s=default_timeout_s() if timeout_s is None else timeout_s,
            memory_B=memory_B,
        )
        self.ask(
            {
                "do": "load",
                "library": str(location.library),
                "folders": [str(folder) for folder in location.folders],
                "memory_limit_B": _MEMORY_LIMIT_B,
            },
            "loading the library",
        )
        self.version = str(self.answer()[0]["version"])

    def describe(self, name: str) -> dict[str, Any]:
        """Return what a decoder says of itself; ``{"error": why}`` when it does not load.

        Raises:
            FreezeframeError: the process died of it, or it took too long.
        """
        self.ask({"do": "describe", "name": name}, f"loading decoder {name}")
        return self.reply()[0]
