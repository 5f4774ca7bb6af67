"""Single bits of captures flipped at random: each must be found, and everything but its chunk be read.

``make campaign-flips`` does 1,000 of them on captures of both kinds of card, as folders and as files to mail.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.one_file import files_below, pack
from freezeframe.capture.folder.opening import open_capture
from freezeframe.capture.folder.salvage import examine_any, salvage
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import CardImage
from tests.capture.card.recorded import recording
from tests.gui.made_capture import made_capture

_CHUNK_B = 2304


class Flip(NamedTuple):
    """What became of one flipped bit."""

    file: str
    at: int
    bit: int
    found: bool
    read: bool
    why: str


def flips(captures: Sequence[Path], count: int, *, seed: int) -> Iterator[Flip]:
    """Flip bits one after the other, each place as likely as any other, and put each back."""
    rng = random.Random(seed)
    whole = {capture: _memories(open_capture(capture)) for capture in captures}
    places = [
        (capture, file, file.stat().st_size)
        for capture in captures
        for file in ([capture] if capture.is_file() else sorted(capture.rglob("*")))
        if file.is_file() and "tables" not in file.parts
    ]
    sizes = [size_B for *_, size_B in places]
    for _ in range(count):
        capture, file, size_B = rng.choices(places, sizes)[0]
        at, bit = rng.randrange(size_B), rng.randrange(8)
        data = file.read_bytes()
        file.write_bytes(data[:at] + bytes((data[at] ^ 1 << bit,)) + data[at + 1 :])
        try:
            yield _judged(capture, file, at, bit, whole[capture])
        finally:
            file.write_bytes(data)


def _judged(capture: Path, file: Path, at: int, bit: int, whole: dict[str, bytes]) -> Flip:
    name = f"{capture.name}/{file.relative_to(capture)}" if capture.is_dir() else capture.name
    found = bool(examine_any(capture).damage)
    try:
        now = _memories(open_capture(salvage(capture).place))
    except FreezeframeError as error:
        return Flip(name, at, bit, found, read=False, why=str(error))
    wrong = [memory for memory, data in whole.items() if not _all_but_one_chunk(data, now[memory])]
    return Flip(name, at, bit, found, read=not wrong, why=", ".join(wrong))


def _memories(folder: object) -> dict[str, bytes]:
    assert isinstance(folder, CaptureFolder | CardFolder)
    return {
        f"{device.name}.{name}": memory.records.tobytes()
        for device in folder.devices
        for name, memory in device.memories.items()
    }


def _all_but_one_chunk(whole: bytes, now: bytes) -> bool:
    """Return whether what was read is what it was, but for one chunk of zeros at most."""
    others = [
        now[at : at + _CHUNK_B]
        for at in range(0, len(whole), _CHUNK_B)
        if now[at : at + _CHUNK_B] != whole[at : at + _CHUNK_B]
    ]
    return len(whole) == len(now) and (not others or (len(others) == 1 and not any(others[0])))


def main() -> int:
    """Flip bits in captures of both kinds and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        captures = list(_made(Path(made)))
        begun = time.monotonic()
        results = list(flips(captures, asked.count, seed=asked.seed))
    missed = [r for r in results if not r.found]
    unread = [r for r in results if not r.read]
    for result in (*missed, *unread):
        print(result)
    print(
        f"{len(results)} single bit flips in {len(captures)} captures: {len(results) - len(missed)} found, "
        f"{len(results) - len(unread)} with all the rest read; {time.monotonic() - begun:.0f} s"
    )
    return 1 if missed or unread else 0


def _made(place: Path) -> Iterator[Path]:
    made_capture(place / "pair.ff")
    pull(CardImage([recording()]), place / "card.ff", freeze=True)
    for name in ("pair", "card"):
        folder = place / f"{name}.ff"
        yield folder
        mailed = place / f"{name}.ff.zip"
        mailed.write_bytes(pack(files_below(folder, folder.name)))
        yield mailed


if __name__ == "__main__":
    sys.exit(main())
