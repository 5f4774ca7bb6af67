"""The recorders of a card: armed, frozen, or provoked by packets and switches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from freezeframe.capture.recorder import control, provoke
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.capture.registers.access import Device, device_of
from freezeframe.capture.registers.layouts import PacketFlag, PacketType
from freezeframe.decoders.trace.encode import packet_words
from freezeframe.gui.cli.work.session import open_recorders, open_session


def arm(target: str, log: Path | None) -> list[RecorderState]:
    """Start a new recording on every device; return their states."""
    with open_recorders(target, log) as devices:
        control.arm_all(devices)
        return [read_state(device) for device in devices]


def freeze(target: str, wait_s: float, log: Path | None) -> list[RecorderState]:
    """Freeze every device that is not frozen yet; return their states."""
    with open_recorders(target, log) as devices:
        for device in devices:
            if read_state(device).state != "frozen":
                control.freeze(device)
        for device in devices:
            control.wait_for(device, "frozen", wait_s)
        return [read_state(device) for device in devices]


def switch_rx_dma(target: str, name: str, log: Path | None, *, stopped: bool) -> None:
    """Stop or start the receive DMA of a device."""
    with _opened(target, name, log) as device:
        provoke.set_rx_dma(device, stopped=stopped)


def switch_traffic(
    target: str, name: str, log: Path | None, traffic: tuple[int, int, int, int] | None
) -> None:
    """Switch pattern traffic on, ``(flow, words, gap, seed)``, or off."""
    with _opened(target, name, log) as device:
        provoke.set_traffic(device, None if traffic is None else provoke.Traffic(*traffic))


def switch_loopback(target: str, name: str, log: Path | None, *, on: bool) -> bool:
    """Switch the loop-back of a device; return whether all devices were armed again after it.

    A recording across the restart of a link counts credits of two lives of it; a frozen one is evidence.
    """
    with open_session(target, log) as devices:
        device = device_of(devices, name)
        armed = all(read_state(each).state == "armed" for each in devices)
        provoke.set_loopback(device, on=on)
        if armed:
            control.arm_all(devices)
    return armed


def inject(target: str, name: str, log: Path | None, packet: Sequence[int]) -> int:
    """Send a packet from the inject buffer of a device; return how many it has injected so far."""
    with _opened(target, name, log) as device:
        return provoke.inject(device, packet)


def rdma_write(flow: int, seq: int, address: int, length: int) -> list[int]:
    """Return the words of an RDMA write with right CRCs and the flag INJECTED; its payload counts from 0."""
    rows = packet_words(
        PacketType.RDMA_WRITE, flow, seq, address, range(length), flags=int(PacketFlag.INJECTED)
    )
    return [word for _, word in rows]


@contextmanager
def _opened(target: str, name: str, log: Path | None) -> Iterator[Device]:
    with open_session(target, log) as devices:
        yield device_of(devices, name)
