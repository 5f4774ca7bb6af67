"""``pci:0000:03:00.0[/barN]``: registers in a BAR of a PCI device, mapped through sysfs.

Every access is one aligned load or store of 32 bits. CPython reads an item of a memoryview of
format ``I`` (``unpack_single``), and writes it (``pack_single``), by a copy of ``sizeof(unsigned
int)``, which compilers make into a single move (seen with a hardware watchpoint in CPython 3.11 on
x86-64). Slices and numpy may copy several words at once or byte by byte, which devices answer
wrongly or not at all. A load from a PCI device takes about a microsecond, so that the loop over
words in Python does not show.

The BAR is mapped for reading alone until the first write, so that nothing that reads can change a card.

Source: Linux, Documentation/PCI/sysfs-pci.rst; CPython 3.11, Objects/memoryobject.c.
"""

from __future__ import annotations

import mmap
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from freezeframe.capture.errors import BusError, InputError, TargetError
from freezeframe.capture.registers.identity import IDENTITY_REGISTERS
from freezeframe.capture.targets._checks import checked_addresses, checked_write, closed_error
from freezeframe.capture.targets._url import Option, parse_url
from freezeframe.capture.targets.base import Words

SYSFS_VARIABLE = "FREEZEFRAME_SYSFS"
"""Environment variable that names another place than /sys."""

OPTIONS = {"base": Option(0, 0, 0xFFFFFFFC, "byte offset of device 0 in the BAR")}

_FORM = re.compile(
    r"(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<slot>[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?:/bar(?P<bar>[0-5]))?",
    re.IGNORECASE,
)
_IDENTITY_B = max(register.address for register in IDENTITY_REGISTERS) + 4
_MEMORY_SPACE = 0x02  # bit 1 of the command register, PCI 3.0 section 6.2.2
_SWAPPED = sys.byteorder == "big"  # PCI is little-endian


def open_pci(url: str) -> PciTarget:
    """Open ``pci:0000:03:00.0[/barN]``, BAR 0 where none is named.

    Options: ``base=`` as in OPTIONS; ``sysfs=`` another place than /sys (or FREEZEFRAME_SYSFS).

    Raises:
        InputError: the URL is wrong.
        TargetError: no such device or BAR, switched off, too small, or not ours to open.
    """
    parsed = parse_url(url, OPTIONS, {"sysfs": "another place than /sys"})
    form = _FORM.fullmatch(parsed.rest)
    if form is None:
        raise InputError(
            f"{url}: write pci:DOMAIN:BUS:DEVICE.FUNCTION[/barN], as lspci -D lists them"
        )
    sysfs = parsed.texts.get("sysfs") or os.environ.get(SYSFS_VARIABLE) or "/sys"
    address = f"{form['domain'] or '0000'}:{form['slot']}".lower()
    return PciTarget(
        address, int(form["bar"] or 0), base=parsed.count("base"), sysfs=Path(sysfs), url=url
    )


class PciTarget:
    """A BAR mapped into this process, for writing from the first write on; for one thread at a time."""

    def __init__(
        self,
        address: str,
        bar: int = 0,
        *,
        base: int = 0,
        sysfs: Path = Path("/sys"),
        url: str | None = None,
    ) -> None:
        """Map the BAR. ``address`` is ``0000:03:00.0``; raises as ``open_pci``."""
        self.url = url or f"pci:{address}/bar{bar}"
        self._base = base
        device = sysfs / "bus" / "pci" / "devices" / address
        _check_device(self.url, device, sysfs)
        self._place = (device, bar, base)
        self.is_writable = False
        self._map = _mapped(self.url, *self._place, write=False)
        self._words: memoryview | None = memoryview(self._map).cast("I")

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Read any addresses, one load each; see ``Target.read``.

        Raises:
            BusError: an address lies beyond the BAR; nothing was read.
        """
        asked = checked_addresses(addresses, self._base)
        words = self._opened()
        self._inside(asked, len(words))
        found = np.array([words[place] for place in (asked >> 2).tolist()], np.uint32)
        return found.byteswap() if _SWAPPED else found

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write to consecutive addresses, one store each; see ``Target.write``.

        Raises:
            BusError: an address lies beyond the BAR; nothing was written.
            TargetError: the BAR is ours to read and not to write.
        """
        first, data = checked_write(address, words, self._base)
        self._inside(first + 4 * np.arange(len(data), dtype=np.int64), len(self._opened()))
        mapped = self._for_writing()
        for place, word in enumerate((data.byteswap() if _SWAPPED else data).tolist(), first >> 2):
            mapped[place] = word

    def close(self) -> None:
        """Unmap the BAR; see ``Target.close``."""
        if self._words is not None:
            self._words.release()
            self._words = None
            self._map.close()

    def _for_writing(self) -> memoryview:
        """Return the BAR mapped for writing, from the first write on."""
        if not self.is_writable:
            mapped = _mapped(self.url, *self._place, write=True)
            self.close()
            self._map, self._words, self.is_writable = mapped, memoryview(mapped).cast("I"), True
        return self._opened()

    def _opened(self) -> memoryview:
        if self._words is None:
            raise closed_error(self.url)
        return self._words

    def _inside(self, asked: np.ndarray[tuple[int], np.dtype[np.integer]], length: int) -> None:
        beyond = np.flatnonzero(asked >= 4 * length)
        if len(beyond):
            raise BusError(
                f"{self.url}: address {int(asked[beyond[0]]) - self._base:#010x} lies beyond the "
                f"BAR, which ends at {4 * length - self._base:#010x}"
            )


def _check_device(url: str, device: Path, sysfs: Path) -> None:
    if not device.is_dir():
        raise TargetError(
            f"{url}: no such PCI device ({device} does not exist); lspci -D lists those there are"
            + ("" if sysfs == Path("/sys") else f"; the tree is {sysfs}, not /sys")
        )
    command = _bytes(device / "config")[4:5]
    if (device / "physfn").exists():
        off = False  # a virtual function's bit always reads 0; SR-IOV 1.1 section 3.4.1.3
    elif command:
        off = not command[0] & _MEMORY_SPACE
    else:
        off = _bytes(device / "enable").strip() == b"0"
    if off:
        raise TargetError(
            f"{url}: the device's memory space is switched off, no BAR answers; load its driver, "
            f"or switch it on: echo 1 | sudo tee {device / 'enable'}"
        )


def _mapped(url: str, device: Path, bar: int, base: int, *, write: bool) -> mmap.mmap:
    resource = device / f"resource{bar}"
    if not resource.exists():
        there = sorted(p.name[8:] for p in device.glob("resource[0-5]"))
        raise TargetError(
            f"{url}: the device has no memory BAR {bar}; "
            + (f"it has bar{', bar'.join(there)}" if there else "it has none at all")
        )
    try:
        fd = os.open(resource, (os.O_RDWR if write else os.O_RDONLY) | os.O_SYNC | os.O_CLOEXEC)
    except PermissionError as error:
        raise TargetError(
            f"{url}: {resource} is not yours to open; run with sudo, or let your group in by "
            'a udev rule: SUBSYSTEM=="pci", KERNEL=="' + device.name + '", '
            f'RUN+="/bin/chmod g+rw {resource}", RUN+="/bin/chgrp plugdev {resource}"'
        ) from error
    except OSError as error:
        raise TargetError(f"{url}: {resource} cannot be opened: {error.strerror}") from error
    try:
        size_B = os.fstat(fd).st_size
        if size_B < base + _IDENTITY_B:
            raise TargetError(
                f"{url}: BAR {bar} has {size_B} B; the identity registers alone end at "
                f"{base + _IDENTITY_B} B (device 0 at {base:#x}); is it another BAR?"
            )
        return mmap.mmap(fd, size_B & ~3, access=mmap.ACCESS_WRITE if write else mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise TargetError(
            f"{url}: {resource} cannot be mapped: {error}; a kernel that is locked down (Secure "
            "Boot) forbids it, and so does a BAR of I/O ports"
        ) from error
    finally:
        os.close(fd)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # not in every tree; then the BAR itself is the judge
