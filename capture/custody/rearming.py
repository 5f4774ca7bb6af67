"""Arms for a test that records again and again: first over what the cards hold, if that may go; then over its own.

Every arm names what it gives up and is written down, so that a guard of this host accounts for each generation.

Source: docs/reliability.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.custody.giving_up import arm_over, refuse_loss
from freezeframe.capture.custody.ledger import Ledger
from freezeframe.capture.registers.access import Recorder

Own = tuple[tuple[int, int], ...]  # boot nonce and generation of each device


class Rearming:
    """Arms the recorders of some targets for one verb."""

    def __init__(
        self,
        of_targets: Sequence[Sequence[Recorder]],
        *,
        by: str,
        discard: bool = False,
        ledger: Ledger | None = None,
    ) -> None:
        """Look at what the targets hold; nothing is written.

        Args:
            by: the verb, for the ledger.
            discard: a frozen recording that this host has not kept may go with the first arm.
        Raises:
            RecorderStateError: a target holds a frozen recording that may not go.
        """
        self._targets = [list(devices) for devices in of_targets]
        self._by, self._discard = by, discard
        self._ledger = ledger or Ledger()
        self._own: list[Own | None] = [None] * len(self._targets)
        for devices in self._targets:
            refuse_loss(devices, discard=discard, ledger=self._ledger)

    def arm(self) -> None:
        """Arm all recorders.

        Raises:
            ForeignRecordingError: one holds what another program armed since the last arm, or it was restarted.
            RecorderStateError: at the first arm, a frozen recording would be lost that may not go.
            TargetError: a device does not take the write.
        """
        for place, devices in enumerate(self._targets):
            armed = arm_over(
                devices,
                by=self._by,
                discard=self._discard,
                ledger=self._ledger,
                own=self._own[place],
            )
            nonces = [recording.nonce for recording in armed.given_up.recordings]
            self._own[place] = tuple(zip(nonces, armed.generations, strict=True))
