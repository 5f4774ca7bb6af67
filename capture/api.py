"""The Python interface: a card or a capture in a few lines. docs/python-api.md shows it at work."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from freezeframe.capture.errors import TargetError
from freezeframe.capture.upward import find

if TYPE_CHECKING:
    from freezeframe.capture.folder import CaptureFolder
    from freezeframe.capture.folder.samples import SampleFolder
    from freezeframe.capture.recorder.state import RecorderState
    from freezeframe.capture.registers.access import Device
    from freezeframe.capture.targets.base import Target

__all__ = ["Card", "analyze", "connect", "decode", "explain", "open_capture"]


class Card:
    """A target and the devices behind it; close it, or use it in a ``with`` block.

    Attributes:
        target: the registers behind their transport.
        devices: in the order of their index; registers by name, for instance ``read("ctl.state")``.
    """

    def __init__(self, target: Target) -> None:
        """Find the devices.

        Raises:
            TargetError: it does not answer, or is not a device of ours; the target is closed then.
        """
        from freezeframe.capture.registers.access import open_devices

        self.target = target
        try:
            self.devices: list[Device] = open_devices(target)
        except BaseException:
            target.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(device.name for device in self.devices)
        return f"<Card {self.target.url}: {names}>"

    def states(self) -> dict[str, RecorderState]:
        """Return what each recorder is doing, by the name of its device."""
        from freezeframe.capture.recorder.state import read_state

        return {device.name: read_state(device) for device in self.devices}

    def counters(self) -> dict[str, dict[str, int]]:
        """Return the counters of each device, each from one snapshot."""
        return {device.name: dict(device.counters().values) for device in self.devices}

    def arm(self) -> None:
        """Start a new recording on every device; what the card holds is lost."""
        from freezeframe.capture.recorder.control import arm_all

        arm_all(self.devices)

    def freeze(self) -> None:
        """Stop recording now, on every device, and keep what was recorded."""
        from freezeframe.capture.recorder.control import freeze

        for device in self.devices:
            freeze(device)

    def wait(self, timeout_s: float, state: str = "frozen") -> None:
        """Wait until every recorder is in a state.

        Raises:
            RecorderStateError: one is not after ``timeout_s``.
        """
        from freezeframe.capture.recorder.control import wait_for

        end_s = time.monotonic() + timeout_s
        for device in self.devices:
            wait_for(device, state, max(0.0, end_s - time.monotonic()))

    def pull(
        self,
        path: Path | str,
        *,
        freeze: bool = False,
        outage_s: float = 30.0,
        overwrite: bool = False,
        partial: bool = False,
    ) -> CaptureFolder:
        """Copy the frozen recording into a capture folder, every word verified, and open it.

        Args:
            freeze: freeze recorders that still run; without it they are refused.
            outage_s: how long a card that vanishes is waited for.
            overwrite: replace a capture folder that stands there.
            partial: return also a capture in which something is missing (`CaptureFolder.lost` says what).
        Raises:
            InputError: the folder cannot be written.
            RecorderStateError: a recorder still runs.
            TargetError: no answer; or only a part came home: the folder is there and states the gaps.
        """
        from freezeframe.capture.folder import CaptureFolder
        from freezeframe.capture.recorder.pull import pull

        report = pull(self.target, path, freeze=freeze, wait_s=outage_s, overwrite=overwrite)
        if not (report.complete or partial):
            raise TargetError(
                f"{report.path}: holds {report.words:,} of {report.words_total:,} words: "
                f"{'; '.join(report.lost)}; the card keeps the recording until it is armed, so pull "
                "again, or give partial=True"
            )
        return CaptureFolder.open(report.path)

    def close(self) -> None:
        """Free the transport; closing twice is harmless."""
        self.target.close()


def connect(url: str) -> Card:
    """Open a card by URL, for instance ``etherbone://192.0.2.7`` or ``emu:?fault=word-omitted``.

    Raises:
        InputError: not a target URL.
        TargetError: it cannot be reached, or is not a device of ours.
    """
    from freezeframe.capture.targets.base import open_target

    return Card(open_target(url))


def open_capture(path: Path | str) -> CaptureFolder | SampleFolder:
    """Open a capture folder: the recording of a card, or imported samples; every byte is checked.

    Raises:
        CaptureFormatError: not a capture folder, or a file in it is missing, cut, altered or extra.
        CaptureVersionError: written by another version of the format.
    """
    from freezeframe.capture.folder import CaptureFolder
    from freezeframe.capture.folder.samples import SampleFolder, is_sample_folder

    place = Path(path)
    if is_sample_folder(place):
        folder = SampleFolder.open(place)
        folder.verify()
        return folder
    return CaptureFolder.open(place)


def decode(capture: CaptureFolder | SampleFolder | Path | str, *specs: str, **options: Any) -> Any:
    """Decode a card's recording, or a logic-analyzer capture with decoders.

    Args:
        capture: an opened capture folder, or the path of any file that ``freezeframe decode`` reads.
        specs: decoders as on the command line, ``"spi+enc28j60"``. None for a card's recording.
        options: as `freezeframe.decoders.run.decode_file` takes them.
    Returns:
        For a card's recording its `Trace`: ``words``, ``packets``, ``events``, ``intervals`` as pandas
        frames. With specs a dictionary: the name of each table, and the table as a pandas frame.
    Raises:
        InputError: the capture or a spec cannot be used.
    """
    return find("decode")(capture, specs, **options)


def explain(capture: CaptureFolder, devices: Sequence[str] | None = None) -> Any:
    """Return what went wrong in a card's recording: an `Explanation` with ``findings`` and ``notes``.

    Raises:
        InputError: the capture has no such device.
    """
    return find("explain")(capture, devices)


def analyze(capture: CaptureFolder, *names: str, devices: Sequence[str] | None = None) -> Any:
    """Run analyses by name, as ``freezeframe analyze`` lists them.

    Returns:
        One `AnalysisResult` for one name; for several, or for none (then all are run), a dictionary
        of them by name.
    Raises:
        InputError: there is no analysis of that name, or no such device.
    """
    return find("analyze")(capture, names, devices)
