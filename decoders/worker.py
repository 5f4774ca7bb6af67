"""The state of a decoder that works in a process of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod


class WorkerState(ABC):
    """A state whose decoder leaves the work to another process, so that others can go on meanwhile."""

    takes_samples = False
    """Whether the process goes through all samples, also those where nothing changes."""

    @abstractmethod
    def stop(self) -> None:
        """Let decoding that is under way in another thread fail soon."""

    @abstractmethod
    def close(self) -> None:
        """End the process; nothing happens when there is none."""
