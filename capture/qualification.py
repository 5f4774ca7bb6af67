"""What holds on one card, as ``freezeframe qualify`` measured it: the file, its place, and which captures it is of.

A card has no serial number. A qualification is of the devices of one target: of their card, their build and all they
state of themselves but the boot nonce, at the address at which they were reached.

Source: docs/qualify.md.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from freezeframe.capture.crystal import Crystal
from freezeframe.capture.custody.ledger import KEPT, Ledger, state_home
from freezeframe.capture.custody.recordings import recordings_in
from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.folder.history import Act
from freezeframe.capture.folder.manifest import canonical_json, manifest_digest, sha256
from freezeframe.capture.output_place import refuse_dash

FORMAT, VERSION = "freezeframe-qualification", (1, 0)
HOST = "host"
"""What a crystal was measured by: the host's clock; else a clock, ``A.bus``."""

CHECKS = {
    "taps": "two taps that are neighbours hold the same words",
    "bits": "each bit of a tap's memory was read as 0 and as 1",
    "pointer": "write pointer and count of a memory fit the records in it",
    "count": "a tap's counter counts no fewer words than its memory was offered",
    "level": "what a held FIFO holds is what went in less what came out",
    "late": "a level that words move through is late by no more words than is allowed for",
    "checker": "an error that was sent on purpose is counted",
    "cause": "such an error freezes the card in the time that is allowed for",
    "law": "a law of the card holds",
}
"""What is asked of a card; each has a value of its own where ``value`` says so."""

_MOST_B = 4 << 20
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was asked: ``what`` of CHECKS, at a ``part`` of a ``device`` (a tap, a register, a law).

    ``holds``: in all of ``times``. ``value``: what was measured, where it is a number: words (level, late), bus cycles
    (cause), a mask of bits that never changed (bits).
    """

    what: str
    device: str
    part: str
    holds: bool
    times: int
    text: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class ClockRate:
    """A clock of a device, ``by`` the host's clock or another one's."""

    device: str
    clock: str
    by: str
    ppb: int
    unc_ppb: int

    @property
    def crystal(self) -> Crystal:
        return Crystal(self.ppb, self.unc_ppb)


@dataclass(frozen=True, slots=True)
class QualifiedDevice:
    """Which device: its card, and what it states of itself without the boot nonce."""

    name: str
    card: str
    identity: dict[str, int]

    @classmethod
    def of(cls, name: str, card_hash: int, identity: Mapping[str, int]) -> QualifiedDevice:
        known = {key: value for key, value in identity.items() if key != "boot_nonce"}
        return cls(name, f"{card_hash:016x}", known)


@dataclass(frozen=True, slots=True)
class Qualification:
    """What was measured.

    Attributes:
        made: when, by whom, on which host, as an entry of a capture's history.
        source: address of the target or targets, without what follows a ``?``.
        not_measured: a sentence for each thing that this card or target does not allow.
    """

    made: Act
    source: str
    devices: tuple[QualifiedDevice, ...]
    clocks: tuple[ClockRate, ...]
    checks: tuple[Check, ...]
    not_measured: tuple[str, ...] = ()
    path: Path | None = field(default=None, compare=False)

    @property
    def failed(self) -> tuple[Check, ...]:
        """What does not hold on this card."""
        return tuple(check for check in self.checks if not check.holds)

    @property
    def said(self) -> str:
        """Which one it is, in words."""
        return f"the qualification of {self.made['when']} ({self.path or 'not written'})"

    def crystal(self, device: str, clock: str, by: str = "") -> Crystal | None:
        """Return a clock by the host's, or by the time master's (``by`` empty); None where it was not measured."""
        for rate in self.clocks:
            if (rate.device, rate.clock) == (device, clock) and (rate.by == HOST) == (by == HOST):
                return rate.crystal
        return None

    def value(self, what: str, device: str, part: str) -> int | None:
        """Return what was measured by a check; None where it was not made."""
        found = (c.value for c in self.checks if (c.what, c.device, c.part) == (what, device, part))
        return next(found, None)

    def to_json(self) -> dict[str, Any]:
        """Return the document, with its digest."""
        document = {
            "format": FORMAT,
            "version": list(VERSION),
            "made": dict(self.made),
            "source": self.source,
            "devices": [asdict(device) for device in self.devices],
            "clocks": [asdict(rate) for rate in self.clocks],
            "checks": [asdict(check) for check in self.checks],
            "not_measured": list(self.not_measured),
        }
        return {**document, "digest": manifest_digest(document)}

    def not_of(self, folder: CaptureFolder) -> str:
        """Return why a capture is not of this card and build, in words; empty where it is."""
        mine = {device.name: device for device in self.devices}
        for device in folder.devices:
            own = mine.get(device.name)
            if own is None:
                return f"it knows {', '.join(mine)}, and the capture holds {device.name}"
            for what, was, now in _differences(own, _device(device)):
                return f"{device.name} has {what} {now} in the capture and {was} in it: another card or another build"
        source = folder.manifest.get("source")
        if source != self.source:
            return f"the capture is from {source}, it is of the card at {self.source}"
        return ""


def _device(device: DeviceCapture) -> QualifiedDevice:
    return QualifiedDevice.of(device.name, device.found.card.hash, device.identity.to_json())


def _differences(own: QualifiedDevice, other: QualifiedDevice) -> list[tuple[str, str, str]]:
    found = [("card", own.card, other.card)] if own.card != other.card else []
    for name, value in own.identity.items():
        if other.identity.get(name) != value:
            found.append((name, f"{value:#x}", f"{other.identity.get(name, 0):#x}"))
    return found


def write_qualification(qualification: Qualification, path: Path, *, overwrite: bool) -> None:
    """Write the file, whole or not at all.

    Raises:
        InputError: something stands there and is not to be replaced, or it cannot be written.
    """
    refuse_dash(path)
    if path.exists() and not overwrite:
        raise InputError(
            f"{path}: exists already; choose another name, or ask for it to be replaced (--force)"
        )
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("x", encoding="utf-8") as file:
            json.dump(qualification.to_json(), file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def read_qualification(path: Path) -> Qualification:
    """Read a file.

    Raises:
        CaptureFormatError: it is not one, or was cut or altered.
        CaptureVersionError: it is of another version.
    """
    again = "qualify the card again: freezeframe qualify TARGET"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CaptureFormatError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        if len(data) > _MOST_B:
            raise ValueError(f"{len(data)} B are more than any qualification has ({_MOST_B} B)")
        document = json.loads(data)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f'it does not say "format": "{FORMAT}"')
        major = document["version"][0]
        if major != VERSION[0]:
            raise CaptureVersionError(
                f"{path}: is a qualification of version {major}; this program reads version {VERSION[0]}; {again}"
            )
        if document.get("digest") != manifest_digest(document):
            raise ValueError("its digest does not fit its content: it was cut or altered")
        return Qualification(
            document["made"],
            str(document["source"]),
            tuple(_read(QualifiedDevice, each) for each in document["devices"]),
            tuple(_read(ClockRate, each) for each in document["clocks"]),
            tuple(_known(_read(Check, each)) for each in document["checks"]),
            tuple(map(str, document["not_measured"])),
            path,
        )
    except CaptureVersionError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise CaptureFormatError(
            f"{path}: is no qualification that can be used: {why}; {again}"
        ) from error


def _read(kind: type[_Part], said: Any) -> _Part:
    for name, wanted in get_type_hints(kind).items():
        if not isinstance(said[name], get_args(wanted) or wanted) and wanted != dict[str, int]:
            raise ValueError(f"{name} is {said[name]!r}")
    return kind(**said)


def _known(check: Check) -> Check:
    if check.what not in CHECKS:
        raise ValueError(f"it asks for {check.what!r}, which this program does not know")
    return check


def place_of_qualification(source: str, devices: Sequence[QualifiedDevice]) -> Path:
    """Return where this host remembers the qualification of a target's devices: beside its ledger."""
    key = sha256(canonical_json([source, [asdict(device) for device in devices]]))[:16]
    return state_home() / "qualified" / f"{key}.json"


def remembered(folder: CaptureFolder, ledger: Ledger | None = None) -> Qualification | None:
    """Return what this host has of a capture's card; None without any, or where the capture was not pulled here.

    Raises:
        CaptureFormatError: there is one, and it is damaged or of another version.
    """
    book = ledger or Ledger()
    path = place_of_qualification(
        str(folder.manifest.get("source")), [_device(device) for device in folder.devices]
    )
    if not path.exists():
        return None
    first = [device for device in folder.devices if device.target == folder.devices[0].target]
    return read_qualification(path) if book.of(KEPT, recordings_in(first)) else None
