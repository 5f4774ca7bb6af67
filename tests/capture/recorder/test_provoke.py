"""Provoking a card: writes are read back and repeated; what a card cannot do is refused before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from freezeframe.capture.errors import InputError, RecorderStateError, TargetError
from freezeframe.capture.recorder.provoke import (
    Traffic,
    inject,
    set_loopback,
    set_rx_dma,
    set_traffic,
)
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.capture.targets.base import Target, Words
from freezeframe.emulator.target import EmulatorTarget
from tests.capture.recorder.fake_recorder import BadWay

US = 1_000_000
WORDS = [0x0123456789ABCDEF, 0, 0xFFFFFFFFFFFFFFFF]


class LosesEveryOtherWrite(BadWay):
    """Every second write never arrives; the others arrive twice."""

    def __init__(self, inner: Target) -> None:
        super().__init__(inner)
        self.written: list[int] = []

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        self.written.append(address)
        if len(self.written) % 2 == 0:
            super().write(address, words)
            super().write(address, words)


class LosesAllWrites(BadWay):
    def write(self, address: int, words: Sequence[int] | Words) -> None:
        return


def card(target: Target) -> Device:
    return open_devices(target)[0]


def test_each_setting_stands_although_every_other_write_is_lost_and_the_rest_come_twice() -> None:
    device = card(LosesEveryOtherWrite(EmulatorTarget(seed=17)))
    set_rx_dma(device, stopped=True)
    set_loopback(device, on=True)
    set_traffic(device, Traffic(flow=2, length_words=9, gap_cycles=77, seed=0xABC))
    assert device.read("provoke.rx_dma") == 1
    assert device.read("provoke.link") == 1
    assert device.read("provoke.traffic") == 9 << 16 | 2 << 8 | 1
    assert (device.read("provoke.traffic_gap"), device.read("provoke.traffic_seed")) == (77, 0xABC)
    set_traffic(device, None)
    assert device.field("provoke.traffic", "enable") == 0


def test_a_packet_is_injected_once_although_writes_come_twice() -> None:
    device = card(LosesEveryOtherWrite(EmulatorTarget(seed=17)))
    assert inject(device, WORDS) == 1
    assert inject(device, WORDS) == 2
    assert device.read("provoke.inject_count") == 2


def test_a_card_that_takes_no_writes_is_an_error_that_names_the_register() -> None:
    device = card(LosesAllWrites(EmulatorTarget(seed=17)))
    with pytest.raises(TargetError, match=r"device A did not take provoke\.rx_dma in 8 writes"):
        set_rx_dma(device, stopped=True)
    with pytest.raises(TargetError, match="did not take inject_buffer"):
        inject(device, WORDS)


def test_a_held_card_injects_nothing_and_says_why() -> None:
    target = EmulatorTarget(seed=17)
    devices = open_devices(target)
    target.advance(50 * US)
    devices[0].write("ctl.freeze", 0x465A << 16 | 1)
    assert target.run_until_frozen(5000 * US)
    with pytest.raises(RecorderStateError, match="is held since it froze and sends nothing"):
        inject(devices[0], WORDS)


@pytest.mark.parametrize(
    ("send", "what", "message"),
    [
        (set_traffic, Traffic(flow=8), r"flow 8: device A has flows 0\.\.7"),
        (set_traffic, Traffic(length_words=513), r"length 513: a packet carries 0\.\.512 words"),
        (set_traffic, Traffic(gap_cycles=1 << 32), "gap 4294967296: does not fit 32 bits"),
        (set_traffic, Traffic(seed=-1), "seed -1: does not fit 32 bits"),
        (inject, [], r"0 words to inject: a packet has 1\.\.1023"),
        (inject, [0] * 1024, r"1024 words to inject: a packet has 1\.\.1023"),
        (inject, [1, 1 << 64], "word 1: 0x10000000000000000 does not fit 64 bits"),
    ],
    ids=["flow", "length", "gap", "seed", "none", "too many", "too wide"],
)
def test_traffic_and_packets_that_a_card_cannot_send_are_refused_and_nothing_is_written(
    send: Callable[..., object], what: Traffic | list[int], message: str
) -> None:
    target = LosesEveryOtherWrite(EmulatorTarget(seed=17))
    with pytest.raises(InputError, match=message):
        send(card(target), what)
    assert target.written == []
