"""Independent readers for `tests.campaign.harden`: what a broken file still holds, read by the standard library alone.

Each returns the value of every sample, bit i that of the i-th channel, or None where it says nothing of such a file.
"""

from __future__ import annotations

import configparser
import io
import re
import wave
import zipfile
from collections.abc import Callable, Iterable, Sequence

from freezeframe.capture.files.edges import Edges

Values = Callable[[bytes, Sequence[str]], "list[int] | None"]
_HIGH, _LOW = 0.5, 0.25  # shares of full scale; what is between stays as it was

compared = 0
"""How many files were held against one of these so far."""


def hold(pieces: Iterable[Edges], values: Sequence[int] | None) -> None:
    """Compare edges with the value of every sample.

    Raises:
        AssertionError: they are others.
    """
    global compared  # noqa: PLW0603  # one process attacks one parser
    if values is None:
        return
    compared += 1
    there = list(pieces)
    found = [
        (at, value)
        for piece in there
        for at, value in zip(piece.sample.tolist(), piece.value.tolist(), strict=True)
    ]
    expected = [(at, value) for at, value in enumerate(values) if not at or value != values[at - 1]]
    if found != expected or there[-1].end_sample != len(values):
        raise AssertionError("other values than an independent reader has")


def held(right: bool) -> None:
    """Count what was held against another reader in another way.

    Raises:
        AssertionError: it is not the same.
    """
    global compared  # noqa: PLW0603  # as above
    compared += 1
    if not right:
        raise AssertionError("other values than an independent reader has")


def binary(data: bytes, names: Sequence[str]) -> list[int] | None:
    """Of nine channels in two bytes."""
    mask = (1 << len(names)) - 1
    return [int.from_bytes(data[at : at + 2], "little") & mask for at in range(0, len(data) - 1, 2)]


def wav(data: bytes, names: Sequence[str]) -> list[int] | None:
    """Of plain PCM, by the module ``wave``."""
    try:
        with wave.open(io.BytesIO(data)) as sound:
            channels, width, said = sound.getnchannels(), sound.getsampwidth(), sound.getnframes()
            frames = sound.readframes(said)
    except (wave.Error, EOFError, ValueError, ZeroDivisionError, RuntimeError):
        return None
    if not said or len(frames) != said * channels * width:
        return None
    values = []
    levels = [0] * len(names)
    columns = [int(name.removeprefix("CH")) - 1 for name in names]
    for at in range(0, len(frames), channels * width):
        for place, column in enumerate(columns):
            raw = frames[at + column * width : at + (column + 1) * width]
            number = int.from_bytes(raw, "little", signed=width > 1)
            share = (number - 128) / 128 if width == 1 else number / (1 << 8 * width - 1)
            if share >= _HIGH or share <= _LOW:
                levels[place] = int(share >= _HIGH)
        values.append(sum(level << place for place, level in enumerate(levels)))
    return values


def sr(data: bytes, names: Sequence[str]) -> list[int] | None:
    """Of sessions of one device with logic alone, by the modules ``zipfile`` and ``configparser``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            said = configparser.ConfigParser(interpolation=None)
            said.read_string(archive.read("metadata").decode())
            (device,) = [name for name in said.sections() if name != "global"]
            about = dict(said[device])
            stem, unit_B = about["capturefile"], int(about["unitsize"])
            pieces = sorted(
                (int(name.removeprefix(f"{stem}-")), name)
                for name in archive.namelist()
                if re.fullmatch(re.escape(stem) + r"-[1-9]\d*", name)
            )
            if stem in archive.namelist() or [n for n, _ in pieces] != [*range(1, len(pieces) + 1)]:
                return None
            samples = b"".join(archive.read(name) for _, name in pieces)
        probes = {
            about[key]: int(key.removeprefix("probe"))
            for key in about
            if re.fullmatch(r"probe\d+", key)
        }
        bits = [probes[name] - 1 for name in names]
        analog = int(about.get("total analog", "0") or 0)
    except Exception:  # whatever is wrong with it: this reader says nothing of the file
        return None
    if unit_B < 1 or len(samples) % unit_B or analog:
        return None
    words = [
        int.from_bytes(samples[at : at + unit_B], "little") for at in range(0, len(samples), unit_B)
    ]
    return [sum((word >> bit & 1) << place for place, bit in enumerate(bits)) for word in words]
