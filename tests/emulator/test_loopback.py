"""``provoke.link.loopback``: a card hears its own link, and a change brings the link up anew."""

from __future__ import annotations

from pathlib import Path

from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import arm_all
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.target import EmulatorTarget
from tests.emulator.reading import arm, freeze, packets_of, pair

US = 1_000_000


def test_in_loopback_a_card_hears_the_words_it_sent_and_its_peer_none_of_them() -> None:
    target, a, b = pair(seed=17)
    a.write("provoke.link", 1)
    arm(a)
    arm(b)
    target.advance(200 * US)
    freeze(a, target, 5000 * US)
    sent = {packet.header: packet.payload for packet in packets_of(a.words(1))}
    heard = {packet.header: packet.payload for packet in packets_of(a.words(2))}
    by_the_peer = {packet.header for packet in packets_of(b.words(2))}
    assert len(heard) >= 3
    assert all(sent[header] == payload for header, payload in heard.items() if header in sent)
    assert len(heard.keys() & sent.keys()) >= 3
    assert not by_the_peer & sent.keys()


def test_sequence_numbers_begin_at_0_again_when_the_wiring_changes() -> None:
    target, a, _ = pair(seed=17)
    target.advance(300 * US)
    a.write("provoke.link", 1)
    arm(a)
    target.advance(60 * US)
    freeze(a, target, 5000 * US)
    assert min(packet.header >> 32 & 0xFFFF for packet in packets_of(a.words(0))) == 0


def test_a_held_pair_is_rewired_only_when_it_is_released() -> None:
    target, a, b = pair(seed=17)
    target.advance(100 * US)
    freeze(a, target, 5000 * US)
    a.write("provoke.link", 1)
    assert not target.pair.loopback
    arm(a)
    arm(b)
    assert target.pair.loopback


def test_a_fault_in_loopback_is_explained_with_the_card_as_its_own_peer(tmp_path: Path) -> None:
    target = EmulatorTarget(fault="payload-bit-flip", seed=1)
    devices = open_devices(target)
    devices[0].write("provoke.link", 1)
    arm_all(devices)
    assert target.run_until_frozen(5000 * US)
    pull(target, tmp_path / "loop.ff")
    found = explain(CaptureFolder.open(tmp_path / "loop.ff")).findings
    assert [(f.diagnosis, f.direction) for f in found] == [("payload-bit-flip", "B->B")]
