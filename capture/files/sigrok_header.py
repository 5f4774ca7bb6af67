"""What a sigrok session file (``.sr``) says of itself: rate, channels, and which members hold samples.

Source: sigrok wiki, File format:Sigrok/v2, and captures written since 0.1.0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.files._zip_members import ZipMembers

_VERSIONS = ("1", "2")
_METADATA_LIMIT_B = 1 << 20
_MAX_UNITSIZE_B = 8
_MAX_SAMPLERATE_HZ = 10**12  # as `edges.MAX_SAMPLERATE_HZ`
_SHOWN = 40  # letters of a rate that is none
_MOST_DIGITS = 100
_PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class SrHeader(NamedTuple):
    """What a session file says of itself.

    ``channels[i]`` is bit ``bits[i]`` of a sample; probes without a name were not captured and are
    left out, and of several with one name each has its number too (``NC#7``). ``samplerate_hz`` is
    None where the file has none. ``members`` hold the samples, in order; ``declared_samples`` is
    what their sizes promise. ``analog`` are the channels that are voltages, with the members that
    hold them.
    """

    version: str
    samplerate_hz: int | None
    unitsize_B: int
    channels: tuple[str, ...]
    bits: tuple[int, ...]
    members: tuple[str, ...]
    declared_samples: int
    analog: Mapping[str, tuple[str, ...]]


def read_header(path: str | Path) -> SrHeader:
    """Return what the session file says of itself, without reading a sample.

    Raises:
        InputError: the file cannot be read.
        CaptureFormatError: it is not a session file, or contradicts itself; the message says where.
        CaptureVersionError: its version is not 1 or 2.
    """
    with ZipMembers(path) as members:
        return header_of(members)


def parse_samplerate(text: str) -> int:
    """Return a sample rate in Hz from text such as ``12 MHz``, ``500kHz``, ``2.5 GHz``, ``1000``.

    Raises:
        InputError: it is not a number with such a unit, not a whole number of Hz, or not 1 Hz..1
            THz.
    """
    # Blanks once taken are not given back: a rate of a thousand of them would take seconds to refuse.
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*+([kKmMgGtT]?)\s*+(?:[hH][zZ])?", text.strip())
    if not match:
        shown = repr(text[:_SHOWN]) + "..." * (len(text) > _SHOWN)
        raise InputError(
            f"sample rate {shown}: not a number with Hz, kHz, MHz or GHz; without one it is Hz"
        )
    whole, _, part = match[1].partition(".")
    if len(whole) + len(part) > _MOST_DIGITS:
        raise InputError(f"sample rate of {len(match[1])} digits: 1 Hz to 1 THz are possible")
    # Not fractions: to load that takes as long as to unpack ten million samples.
    rate_hz, left = divmod(int(whole + part) * _PREFIXES[match[2].lower()], int(10 ** len(part)))
    if left:
        raise InputError(f"sample rate {text!r}: not a whole number of Hz")
    if not 1 <= rate_hz <= _MAX_SAMPLERATE_HZ:
        raise InputError(f"sample rate {text!r}: 1 Hz to 1 THz are possible")
    return rate_hz


def header_of(members: ZipMembers) -> SrHeader:
    """Return what an open session file says of itself; raises what `read_header` does."""
    path = members.path
    for needed in ("version", "metadata"):
        if needed not in members.names:
            raise CaptureFormatError(
                f"{path}: a zip archive without {needed}; not a sigrok session file (.sr)"
            )
    version = members.read_small("version", 64).decode("utf-8", "replace").strip()
    if version not in _VERSIONS:
        raise CaptureVersionError(
            f"{path}: session file version {version!r}; {' and '.join(_VERSIONS)} are read"
        )
    metadata = members.read_small("metadata", _METADATA_LIMIT_B)
    values = _device(path, metadata.decode("utf-8-sig", "replace"))
    logic = "capturefile" in values
    unitsize_B = _number(path, values, "unitsize") if logic else 1
    if not 1 <= unitsize_B <= _MAX_UNITSIZE_B:
        raise CaptureFormatError(
            f"{path}: metadata: unitsize {unitsize_B}; 1 to {_MAX_UNITSIZE_B} B a sample are read"
        )
    probes = _probes(path, values, unitsize_B) if logic else {}
    rate = values.get("samplerate", "")
    chunks = _chunks(members, values["capturefile"]) if logic else ()
    declared_B = sum(members.declared_B(name) for name in chunks)
    try:
        # sigrok writes 0 for a device that does not know its rate.
        samplerate_hz = parse_samplerate(rate) if rate.strip(" 0Hz") else None
    except InputError as error:
        raise CaptureFormatError(f"{path}: metadata: {error}; give --samplerate") from None
    analog = _analog(members, values)
    names = _numbered(
        path, [*probes, *analog], [*probes.values(), *(n for n, _ in analog.values())]
    )
    channels, voltages = names[: len(probes)], names[len(probes) :]
    return SrHeader(
        version=version,
        samplerate_hz=samplerate_hz,
        unitsize_B=unitsize_B,
        channels=tuple(channels),
        bits=tuple(number - 1 for number in probes),
        members=chunks,
        declared_samples=declared_B // unitsize_B,
        analog={name: chunks for name, (_, chunks) in zip(voltages, analog.values(), strict=True)},
    )


def _device(path: Path, text: str) -> dict[str, str]:
    """Return the keys of the one device with a capture file.

    Not configparser: the indented lines that old files have would become part of the line before.
    """
    devices: list[dict[str, str]] = []
    current: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        plain = line.strip()
        if not plain or plain[0] in "#;":
            continue
        if plain[0] == "[":
            current = None
            if plain.lower().startswith("[device"):
                current = {}
                devices.append(current)
            continue
        key, equals, value = plain.partition("=")
        if not equals:
            raise CaptureFormatError(
                f"{path}: metadata line {number}: {plain[:60]!r} is neither key=value nor [section]"
            )
        if current is not None:
            name = key.strip().lower()
            if name in current:
                raise CaptureFormatError(f"{path}: metadata line {number}: {name} stands twice")
            current[name] = value.strip()
    logic = [device for device in devices if "capturefile" in device]
    if len(logic) > 1:
        raise CaptureFormatError(
            f"{path}: metadata: {len(logic)} devices with logic samples; files with one are read"
        )
    # A device with analog channels only has no capturefile.
    sampled = logic or [d for d in devices if any(re.fullmatch(r"analog\d+", key) for key in d)]
    if not sampled:
        raise CaptureFormatError(
            f"{path}: metadata: no device with a capturefile or an analog channel; there are no "
            "samples in it"
        )
    return sampled[0]


def _number(path: Path, values: dict[str, str], key: str) -> int:
    text = values.get(key, "")
    if not re.fullmatch(r"\d{1,9}", text):
        why = "missing" if not text else f"{text[:40]!r}, not a number up to 999999999"
        raise CaptureFormatError(f"{path}: metadata: {key} is {why}")
    return int(text)


def _probes(path: Path, values: dict[str, str], unitsize_B: int) -> dict[int, str]:
    """Return the names of the captured probes by their number from 1: probe n is bit n - 1.

    ``total probes`` is what the device has; what was not enabled has no name, and no bit.
    """
    room = 8 * unitsize_B
    keys = sorted((key for key in values if re.fullmatch(r"probe\d{1,9}", key)), key=_index)
    numbers = [_index(key) for key in keys]
    if 0 in numbers or len(set(numbers)) < len(numbers):
        raise CaptureFormatError(f"{path}: metadata: probes are numbered from 1, each once")
    if keys and numbers[-1] > room:
        raise CaptureFormatError(
            f"{path}: metadata: {keys[-1]}={values[keys[-1]][:40]} is not in the {room} bits of "
            f"unitsize {unitsize_B}"
        )
    if not keys:
        total = _number(path, values, "total probes") if "total probes" in values else 0
        if not total:
            raise CaptureFormatError(f"{path}: metadata: there is no probe")
        # Nothing is named: sigrok shows such probes under their numbers from 0.
        return {bit + 1: str(bit) for bit in range(min(total, room))}
    return {number: values[key] or key for number, key in zip(numbers, keys, strict=True)}


def _analog(members: ZipMembers, values: dict[str, str]) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Return the analog channels by number: name and chunks in order, none where it was not captured."""
    chunks_of: dict[int, tuple[str, tuple[str, ...]]] = {}
    for key in sorted((k for k in values if re.fullmatch(r"analog\d{1,9}", k)), key=_index):
        device = values.get("capturefile", "logic-1").rpartition("-")[2]
        stem = f"analog-{device}-{_index(key)}"
        there = any(each.startswith(f"{stem}-") for each in members.names)
        chunks_of[_index(key)] = (values[key] or key, _chunks(members, stem) if there else ())
    return chunks_of


def _numbered(path: Path, numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    """Give channels of one name their numbers too: ``NC#7``, ``NC#8``; none of them is ``NC``."""
    count = Counter(names)
    made = [
        f"{name}#{number}" if count[name] > 1 else name
        for number, name in zip(numbers, names, strict=True)
    ]
    for name, times in Counter(made).items():
        if times > 1:
            raise CaptureFormatError(
                f"{path}: metadata: {times} channels are named {name!r}; give each its own name"
            )
    return made


def _chunks(members: ZipMembers, capturefile: str) -> tuple[str, ...]:
    chunk = re.compile(re.escape(capturefile) + r"-(\d{1,9})")
    numbered = {int(match[1]): name for name in members.names if (match := chunk.fullmatch(name))}
    count = sum(1 for name in members.names if chunk.fullmatch(name))
    if capturefile in members.names:
        if numbered:
            raise CaptureFormatError(
                f"{members.path}: holds both {capturefile} and {capturefile}-{min(numbered)}; "
                "which of them has the samples cannot be known"
            )
        return (capturefile,)
    if not numbered:
        raise CaptureFormatError(
            f"{members.path}: neither {capturefile} nor {capturefile}-1 is in it; "
            "the samples are missing"
        )
    for number in range(1, len(numbered) + 1):
        if number not in numbered:
            raise CaptureFormatError(
                f"{members.path}: {capturefile}-{number} is missing, but "
                f"{capturefile}-{max(numbered)} is there; samples would be lost"
            )
    if count > len(numbered):
        raise CaptureFormatError(f"{members.path}: two chunks of {capturefile} have one number")
    return tuple(numbered[number] for number in sorted(numbered))


def _index(key: str) -> int:
    return int(re.sub(r"\D", "", key))
