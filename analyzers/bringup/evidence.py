"""What a stage of the bring-up looks at: its recording, which lies in the cards, and in a folder where one is named.

A stage arms again and again over what it has looked at. The recording that shows why it failed is another matter: it is
kept, or it stands in the cards until somebody arms them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.capture.custody.ledger import Ledger
from freezeframe.capture.custody.rearming import Rearming
from freezeframe.capture.errors import ForeignRecordingError, TargetError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.case import pull_case
from freezeframe.capture.recorder.control import freeze, wait_for
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device, Recorder

_CLOSING_S = 30.0  # a simulated card on a busy computer is slow


class Evidence(Rearming):
    """Arms the recorders of some targets for one verb, and keeps the recording of the stage that fails.

    Attributes:
        capture: of the stage that failed, the folder with the recording that it failed by; None where it is not kept.
        standing: where it is kept nowhere, what stands in the cards: ``A generation 5 (bad-payload)``.
    """

    def __init__(
        self,
        of_targets: Sequence[Sequence[Recorder]],
        *,
        by: str,
        discard: bool = False,
        ledger: Ledger | None = None,
        keep: Path | None = None,
    ) -> None:
        """Look at what the targets hold, as `Rearming`.

        Args:
            keep: a folder, which is there; None: recordings are looked at, and not kept.
        """
        super().__init__(of_targets, by=by, discard=discard, ledger=ledger)
        self._keep = keep
        self._place: Path | None = None  # of the stage under way
        self._in_cards = False  # what lies there is what the cards hold
        self.capture: Path | None = None
        self.standing: list[str] = []

    def begin(self, stage: str) -> None:
        """A stage begins; what is recorded in it is of its name."""
        self.end()
        self._place = None if self._keep is None else _free(self._keep, stage)

    def end(self) -> None:
        """The stages are over: what none of them failed by is not kept."""
        if self._place is not None and self.capture is None and self._place.exists():
            shutil.rmtree(self._place)

    def arm(self) -> None:
        self._in_cards = False
        super().arm()

    def pulled(self, devices: Sequence[Device]) -> CaptureFolder:
        """Freeze what has not frozen by itself, and return what was recorded.

        Raises:
            InputError: it cannot be kept.
            TargetError: a card does not answer, or does not freeze.
        """
        for device in devices:
            freeze(device)
        for device in devices:
            wait_for(device, "frozen", _CLOSING_S)
        targets = list({id(device.target): device.target for device in devices}.values())
        if self._place is not None:
            pull_case(targets, self._place, overwrite=True)
            self._in_cards = True
            return CaptureFolder.open(self._place)
        with tempfile.TemporaryDirectory(prefix="freezeframe-bringup-") as place:
            path = Path(place) / "bringup.ff"
            # Nothing is kept of it, so that this host's ledger must not know of it.
            pull_case(targets, path, ledger=Ledger(Path(place)))
            return CaptureFolder.open(path)

    @contextmanager
    def undone(self, devices: Sequence[Device], undo: Callable[[], None]) -> Iterator[None]:
        """Undo after a block what it does to the cards; but not where it fails and its recording stands in them.

        What a recording was made under (its loop-back, the tap of its memory) is read from the registers with it. What
        another program has recorded meanwhile is no evidence of the stage, which puts its own settings back then.
        """
        try:
            yield
        except ForeignRecordingError:
            raise
        except (Failure, TargetError) as error:
            self._failed(devices)
            if isinstance(error, Failure):
                error.standing = self.standing
            raise
        finally:
            if not self.standing:
                undo()

    def _failed(self, devices: Sequence[Device]) -> None:
        """Find where the recording is that a stage failed by: in a folder, in the cards, or there is none."""
        if self._in_cards:
            self.capture = self._place
        elif self.capture is None:
            states = [read_state(device) for device in devices]
            self.standing = [
                f"{state.device} generation {state.generation} ({', '.join(state.causes) or 'no cause yet'})"
                + (", in loop-back" if device.read("provoke.link") else "")
                for device, state in zip(devices, states, strict=True)
                if state.state in ("triggered", "frozen")
            ]


def _free(folder: Path, stage: str) -> Path:
    """Return the name of a capture that is not there yet: ``pair.ff``, ``pair-2.ff``."""
    number, path = 1, folder / f"{stage}.ff"
    while path.exists():
        number += 1
        path = folder / f"{stage}-{number}.ff"
    return path
