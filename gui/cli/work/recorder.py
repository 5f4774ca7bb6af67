"""The recorders of a card: armed, frozen, or provoked by packets and switches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from freezeframe.capture.custody.giving_up import arm_over
from freezeframe.capture.custody.looped import loop_back
from freezeframe.capture.recorder import provoke
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device, device_of
from freezeframe.capture.registers.layouts import PacketFlag, PacketType
from freezeframe.decoders.trace.encode import packet_words
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.work.given_up import given_up_document, given_up_lines
from freezeframe.gui.cli.work.session import open_recorders, open_session
from freezeframe.gui.cli.work.status import still_clocks


def arm(target: str, log: Path | None, *, discard: bool, json: bool) -> None:
    """Start a new recording on every device; print their states, and what went.

    Raises:
        RecorderStateError: a frozen recording would be lost that this host has not kept.
    """
    with open_recorders(target, log) as devices:
        armed = arm_over(devices, by="arm", discard=discard)
        states = [read_state(device) for device in devices]
    if json:
        rows = [
            {"name": s.device, "state": s.state, "generation": s.generation}
            | ({"clocks": {name: c.alive for name, c in s.clocks.items()}} if s.clocks else {})
            for s in states
        ]
        emit_json({"target": target, "devices": rows, **given_up_document(armed)})
        return
    for state in states:
        print(f"{state.device}: {state.state}, generation {state.generation}")
    for line in given_up_lines(armed):
        print(line)
    for line in still_clocks(states):
        print(f"{line}. Once it runs, arm again")


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


def switch_loopback(target: str, name: str, log: Path | None, *, on: bool, discard: bool) -> None:
    """Switch the loop-back of a device, as `loop_back`, and print what became of its recording."""
    with open_session(target, log) as devices:
        armed = loop_back(devices, device_of(devices, name), on=on, discard=discard)
    print(f"{name}: loop-back {'on' if on else 'off'}{', armed anew' if armed else ''}")
    for line in given_up_lines(armed) if armed else ():
        print(line)


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
