"""Sample files for `tests.campaign.harden`: seeds whose data are really read, and inputs that keep their structure.

A structured input is right in what a reader checks first (lengths of chunks, numbers of points, layouts of versions,
JSON) and wrong within: values that are no numbers, times that go back, rates, widths and counts at their limits.
"""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from tests.campaign import harden_oracles as oracles

Mutate = Callable[[bytes], bytes]
Value = TypeVar("Value")

_SIZES = (0, 1, 2, 3, 7, 64, 1000, 4096)
_FLOATS = (0.0, -0.0, 1.0, 1e-300, 1e300, float("nan"), float("inf"), float("-inf"), -1.0, 0.5)
_ODD = 0.05  # of the values of a structured input
_COUNTS = (0, 1, 2, 255, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1)

LITESCOPE = (
    b'{"a": [0, 1, 1, 0], "b": [3, 3, 255, 0]}',
    b"scope_clk,a,b,\n1,1,4,\n0,1,0011,\n1,0,01x1,\n",
)


def _odd(rng: random.Random, usual: Value, odd: Sequence[Value]) -> Value:
    """Return a usual value, or now and then an odd one."""
    return rng.choice(odd) if rng.random() < _ODD else usual


def litescope(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a dump of JSON or CSV: names, widths and values of any kind in a file that is one."""
    names = rng.sample(["a", "b", "scope_clk", "c", "é"], rng.randrange(1, 5))
    names[0] = _odd(rng, names[0], ("", "b[0]", "x" * 300, "\x1b[31m", "a"))
    rows = rng.choice((0, 1, 2, 50, 400))
    if rng.random() < 0.5:
        widths = [rng.choice((1, 2, 63, 64, 65, 200)) for _ in names]
        values: list[list[object]] = [
            [rng.getrandbits(width) for _ in range(rows)] for width in widths
        ]
        if rng.random() < 0.3:
            values[0] = values[0][:-1]
        if rng.random() < 0.1:
            values[-1] = [rng.choice((-1, 1.5, None, True, "1"))]
        return json.dumps(dict(zip(names, values, strict=True))).encode()
    widths = [rng.choice((1, 4, 64, 65, 1000)) for _ in names]
    cells = [
        ["".join(rng.choices("01x", k=width)) for width in widths] for _ in range(min(rows, 40))
    ]
    if cells and rng.random() < 0.3:
        rng.choice(cells)[0] = mutate(b"0101").decode("latin-1")
    lines = [names, [str(width) for width in widths], *cells]
    return "".join(",".join(line) + ",\n" for line in lines).encode()


def saleae_digital(times_s: list[float], *, version: int = 0, end_s: float = 1.0) -> bytes:
    """Return a digital file of one chunk."""
    if version == 0:
        head = struct.pack("<IddQ", 0, 0.0, end_s, len(times_s))
    else:
        head = struct.pack("<QIdddQ", 1, 0, 1000.0, 0.0, end_s, len(times_s))
    return (
        struct.pack("<8sii", b"<SALEAE>", version, 0)
        + head
        + struct.pack(f"<{len(times_s)}d", *times_s)
    )


SALEAE = (
    saleae_digital([0.1, 0.2, 0.7]),
    saleae_digital([0.1, 0.2, 0.7], version=1),
    struct.pack("<8siidQQQ4f", b"<SALEAE>", 0, 1, 0.0, 1000, 1, 4, 0.0, 3.0, 3.0, 0.0),
)


def saleae(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a file of any version and kind whose chunks have their numbers, with values of any kind."""
    version, analog = rng.randrange(2), rng.random() < 0.4
    chunks = rng.choice((1, 1, 2, 5)) if version else 1
    made = struct.pack("<8sii", b"<SALEAE>", version, int(analog))
    if version:
        made += struct.pack("<Q", chunks)
    begin_s = 0.0
    for _ in range(chunks):
        count = rng.choice(_SIZES)
        end_s = begin_s + _odd(rng, rng.choice((1.0, 0.001, 1e6)), _FLOATS)
        said = _odd(rng, count, _COUNTS)
        rate = _odd(rng, rng.choice((1000.0, 1.0, 5e8)), (1e12, *_FLOATS))
        if analog:
            # As 32 bits: beyond them is infinite.
            values = [_odd(rng, 3.3, _FLOATS) for _ in range(count)]
            numbers = struct.pack(
                f"<{count}f", *(v if abs(v) < 3e38 else float("inf") for v in values)
            )
            down = _odd(rng, 1, _COUNTS)
            whole = int(rate) if 0 <= rate < 2**63 else 0
            made += (
                struct.pack("<dddQQ", begin_s, begin_s, rate, down, said)
                if version
                else struct.pack("<dQQQ", begin_s, whole, down, said)
            )
        else:
            span_s = end_s - begin_s if abs(end_s) < 1e9 else 1.0
            times = sorted(begin_s + rng.random() * span_s for _ in range(count))
            if times and rng.random() < 0.1:
                times[rng.randrange(count)] = rng.choice(_FLOATS)
            numbers = struct.pack(f"<{count}d", *times)
            level = _odd(rng, rng.randrange(2), (2, (1 << 32) - 1))
            made += (
                struct.pack("<IdddQ", level, rate, begin_s, end_s, said)
                if version
                else struct.pack("<IddQ", level, begin_s, end_s, said)
            )
        made += numbers
        begin_s = end_s + _odd(rng, 0.5, (0.0, -0.5))
    return made


def wav_file(
    tag: int,
    channels: int,
    rate_hz: int,
    bits: int,
    sound: bytes,
    *,
    more: bytes = b"",
    said: int | None = None,
) -> bytes:
    """Return a file of chunks that fit."""
    form = struct.pack("<HHIIHH", tag, channels, rate_hz, rate_hz, 1, bits)
    parts = [(b"fmt ", form, len(form)), (b"data", sound, len(sound) if said is None else said)]
    if more:
        parts.insert(1, (b"LIST", more, len(more)))
    body = b"".join(
        struct.pack("<4sI", kind, size_B) + part + bytes(len(part) & 1)
        for kind, part, size_B in parts
    )
    return struct.pack("<4sI4s", b"RIFF", len(body) + 4 & 0xFFFFFFFF, b"WAVE") + body


WAV = (
    wav_file(1, 1, 8000, 8, b"\x80\xff\x00\x80\xff\x00\x80\xff"),
    wav_file(1, 2, 48000, 16, struct.pack("<8h", 0, 32767, -32768, 0, 1, 2, 3, 4)),
    wav_file(3, 1, 96000, 32, struct.pack("<4f", 0.0, 1.0, -1.0, float("nan"))),
)


def wav(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a file whose chunks fit, of any form, with samples of any kind."""
    tag, bits = rng.choice(
        ((1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64), (0xFFFE, 16), (2, 4))
    )
    channels = _odd(rng, rng.choice((1, 2, 7, 64)), (0, 65, 65535))
    sound = rng.randbytes(rng.choice(_SIZES) * max(1, min(channels, 8)) * max(1, bits // 8))
    return wav_file(
        tag,
        channels,
        _odd(rng, rng.choice((1, 8000, 192_000)), (0, (1 << 32) - 1)),
        bits,
        sound[:40_000],
        more=rng.randbytes(rng.choice((0, 1, 30))),
        said=_odd(rng, None, (0, len(sound) + 1, (1 << 32) - 1)),
    )


def isf_file(settings: dict[str, str], curve: bytes) -> bytes:
    """Return a waveform whose curve says its right length."""
    digits = str(len(curve))
    head = ";".join(f"{name} {value}" for name, value in settings.items())
    return f":WFMPRE:{head};:CURVE #{len(digits)}{digits}".encode() + curve


_ISF = {
    "BYT_NR": "1", "BIT_NR": "8", "ENCDG": "BIN", "BN_FMT": "RI", "BYT_OR": "MSB", "NR_PT": "4",
    "WFID": '"Ch1"', "PT_FMT": "Y", "XINCR": "1E-6", "PT_OFF": "0", "XZERO": "0", "XUNIT": '"s"',
    "YMULT": "0.04", "YZERO": "0", "YOFF": "0", "YUNIT": '"V"',
}  # fmt: skip
ISF = (
    isf_file(_ISF, b"abcd"),
    isf_file({**_ISF, "BYT_NR": "2", "BYT_OR": "LSB"}, b"\0\x10\0\x60\0\x10\0\x90"),
)
_FORMS = (("1", "RI"), ("1", "RP"), ("2", "RI"), ("4", "FP"), ("8", "FP"), ("8", "RP"), ("4", "RI"))
_SAID = (
    "0",
    "1",
    "-1",
    "1e-12",
    "1e309",
    "nan",
    "inf",
    "",
    '"',
    "9" * 400,
    "1E-6",
    "0.04",
    '"a;b"',
)


def isf(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a waveform whose number of points is right, with settings and points of any kind."""
    width, form = rng.choice(_FORMS)
    count = rng.choice(_SIZES)
    settings = {**_ISF, "BYT_NR": width, "BN_FMT": form, "NR_PT": str(count)}
    settings["BYT_OR"] = rng.choice(("MSB", "LSB"))
    for _ in range(rng.choice((0, 1, 1, 3))):
        settings[rng.choice(list(settings))] = rng.choice(_SAID)
    return isf_file(settings, rng.randbytes(count * int(width)))


METADATA = (
    b"[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\nsamplerate=1 MHz\n"
    b"total analog=0\nprobe1=a\nprobe2=b\nunitsize=1\n"
)


@cache
def scratch() -> tempfile.TemporaryDirectory[str]:
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="harden-", dir=memory if memory.is_dir() else None)


def file_of(name: str, data: bytes) -> Path:
    path = Path(scratch().name) / name
    path.write_bytes(data)
    return path


_ANALOG = {"": Threshold(0.5, 0.25)}  # or nothing of an analog channel is read


def samples(
    name: str,
    format: str | None = None,
    *,
    most: int = 1 << 22,
    values: oracles.Values | None = None,
) -> Callable[[bytes], object]:
    """Return what reads a file's first channels.

    Args:
        most: samples, which files of times have many of.
        values: an independent reader, which must have read the same where it says something.
    """

    def run(data: bytes) -> object:
        path = file_of(name, data)
        choice = SourceChoice(format=format)
        opened = choice.open(path, ReadSettings(max_samples=most, thresholds=_ANALOG))
        names = opened.header.channels[:8]
        pieces = list(opened.read(names)) if names else []
        if pieces and values is not None:
            oracles.hold(pieces, values(data, names))
        return len(pieces)

    return run


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


SR = (zipped({"version": b"2", "metadata": METADATA, "logic-1-1": bytes(range(64))}),)


def in_archive(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Change one member, and pack it again with the right checksum and sizes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # the base was itself broken: any archive will do
        members = {"version": b"2", "metadata": METADATA, "logic-1-1": bytes(range(64))}
    name = rng.choice(list(members) or ["metadata"])
    members[name] = mutate(members.get(name, b""))
    if rng.random() < 0.1:
        members.pop(rng.choice(list(members)))
    return zipped(members)
