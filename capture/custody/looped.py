"""The loop-back of a link under the policy of arming: the link comes up again, so what was recording begins anew."""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.custody.giving_up import Armed, arm_over
from freezeframe.capture.recorder.provoke import set_loopback
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device, Recorder


def loop_back(
    devices: Sequence[Recorder], device: Device, *, on: bool, discard: bool
) -> Armed | None:
    """Switch the loop-back of one of the devices; return what arming all again has given up, None where they were not.

    A recording across the restart of a link counts credits of two lives of it. A frozen one is evidence, and stays.

    Raises:
        RecorderStateError: a card froze while the link restarted, and that would be lost.
        TargetError: the device does not take the write.
    """
    armed = all(read_state(each).state == "armed" for each in devices)
    set_loopback(device, on=on)
    return arm_over(devices, by="loopback", discard=discard) if armed else None
