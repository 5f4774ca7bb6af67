"""The pci: target on a real BAR: a card on the PCI bus of a guest, whose registers and memories the host plays."""

from __future__ import annotations

import json
import mmap
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import settled_states
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.map_table import MAP_SIZE
from freezeframe.capture.targets.base import Words, open_target
from freezeframe.emulator.target import EmulatorTarget
from tests.capture.serving import serving
from tests.capture.targets.guest import CARD, Guest, find_guest

_ARMED = 1
_DEVICES = 2
_LIMIT_PS = 20_000_000_000
_KEY = 0x4152


class Remembered:
    """A card that stands still, and every word that was read of it."""

    url = "remembered:"

    def __init__(self, card: EmulatorTarget) -> None:
        self._card = card
        self.words: dict[int, int] = {}

    def read(self, addresses: Words | Sequence[int]) -> Words:
        found = self._card.read(addresses)
        self.words |= zip(np.asarray(addresses).tolist(), found.tolist(), strict=True)
        return found

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        raise AssertionError(f"a pull of a frozen card writes to {address:#x}")

    def close(self) -> None:
        """The card stays open."""


class Played:
    """A file as BAR of a guest's card: words that stand still, and recorders that can be armed."""

    def __init__(self, path: Path, words: dict[int, int]) -> None:
        image = np.zeros(_DEVICES * MAP_SIZE // 4, "<u4")
        for address, word in words.items():
            image[address // 4] = word
        self.image = image
        path.write_bytes(image.tobytes())
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._words = memoryview(self._map).cast("I")
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        ended = False
        while not ended:
            ended = self._ending.is_set()  # once more after the last write
            for device in range(_DEVICES):
                self._obey(device * MAP_SIZE // 4)
            time.sleep(0.001)

    def _obey(self, base: int) -> None:
        arm, generation, state = (
            base + names.offset(f"ctl.{name}") // 4 for name in ("arm", "generation", "state")
        )
        written = self._words[arm]
        if written:  # a key is taken once, and one that comes again for the same generation is none
            self._words[arm] = 0
        if written == _KEY << 16 | self._words[generation] + 1 & 0xFFFF:
            self._words[state] = _ARMED
            self._words[generation] += 1

    def end(self) -> dict[int, int]:
        """Stop playing; return the words that are not as they were, by address."""
        self._ending.set()
        self._thread.join()
        now = np.frombuffer(self._map, "<u4").copy()
        self._words.release()
        self._map.close()
        changed = np.flatnonzero(now != self.image)
        return dict(zip((4 * changed).tolist(), now[changed].tolist(), strict=True))


@pytest.fixture(scope="module")
def guest() -> Guest:
    found = find_guest()
    if isinstance(found, str):
        pytest.skip(f"no guest with a PCI card: {found}")
    return found


def evidence(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "raw").rglob("*"))
        if path.is_file()
    }


def test_a_pull_over_a_real_bar_is_bit_identical_to_that_over_udp_and_arming_is_the_first_write(
    guest: Guest, tmp_path: Path
) -> None:
    card = EmulatorTarget(fault="payload-bit-flip", seed=3, access_ps=0)
    assert card.run_until_frozen(_LIMIT_PS)
    card.advance(2_000_000_000)  # its CRC table is made
    remembered = Remembered(card)
    settled_states(open_devices(remembered))
    pull(remembered, tmp_path / "emulator.ff")
    with serving(card) as url:
        over_udp = open_target(url)
        pull(over_udp, tmp_path / "udp.ff")
        over_udp.close()
    out = tmp_path / "out"
    out.mkdir()
    bar = tmp_path / "bar"
    played = Played(bar, remembered.words)
    try:
        console = guest.run(
            bar,
            out,
            [
                *(sys.executable, "-m", "tests.capture.targets.in_guest"),
                *(f"pci:{CARD}/bar2", str(guest.out)),
            ],
        )
    finally:
        changed = played.end()
    assert (out / "answers.json").exists(), console
    found = json.loads((out / "answers.json").read_text())
    assert found["mapped"] == ["r--s"]
    status, pulled, armed, again = found["said"]
    assert (status[1], pulled[1], armed[1]) == (0, 0, 0), found["said"]
    assert evidence(out / "bar.ff") == evidence(tmp_path / "udp.ff")
    assert evidence(out / "bar.ff") == evidence(tmp_path / "emulator.ff")
    assert len(evidence(out / "bar.ff")) > 10
    generation = remembered.words[names.offset("ctl.generation")]
    assert changed == {
        device * MAP_SIZE + names.offset(name): value
        for device in range(_DEVICES)
        for name, value in (("ctl.state", _ARMED), ("ctl.generation", generation + 2))
    }
    assert again[1] == 0
