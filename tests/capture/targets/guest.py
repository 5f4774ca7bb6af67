"""A computer in software: QEMU with a Linux kernel of the host, its files read-only, and a PCI card of our making.

The card is QEMU's ``ivshmem-plain``: its BAR 2 is a file of the host, whose words the test plays. To the guest it is
a device of the PCI bus like any other: found by its kernel, mapped through its sysfs. The processor is emulated
(TCG), so that the test needs no KVM and runs in a virtual machine, too.

Source: QEMU, docs/specs/ivshmem-spec.txt; Linux, Documentation/driver-api/early-userspace/buffer-format.rst (newc).
"""

from __future__ import annotations

import gzip
import lzma
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
CARD = "0000:00:05.0"
INSTALL = "apt-get install --no-install-recommends qemu-system-x86 busybox-static linux-image-amd64"

_QEMU = "qemu-system-x86_64"
_MODULES = ("virtio_pci", "9pnet_virtio", "9p")
_MEMORY_MB = 1024
_LONGEST_S = 900.0  # an emulated processor on a busy machine
_INIT = """#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc none /proc; $b mount -t sysfs none /sys; $b mount -t devtmpfs none /dev
for module in /modules/*; do $b insmod $module; done
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=loose,ro host /new &&
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288 out /new{out} &&
for place in proc sys dev; do $b mount --move /$place /new/$place; done &&
$b chroot /new /bin/sh -c {command}
$b poweroff -f
"""


@dataclass(frozen=True, slots=True)
class Guest:
    """What a guest is made of: a kernel, the modules it needs in their order, and a static busybox."""

    kernel: Path
    modules: tuple[Path, ...]
    busybox: Path
    out: Path  # a folder of the host over which the guest mounts what it may write

    def run(self, bar: Path, out: Path, command: Sequence[str]) -> str:
        """Boot, run a command in the host's files with ``out`` as its only place to write, and power off.

        Args:
            bar: a file of a power of two bytes: BAR 2 of the card at `CARD`.
        Returns:
            what the console said.
        Raises:
            TimeoutExpired: it did not power off.
        """
        initrd = out / "initrd.gz"
        initrd.write_bytes(gzip.compress(self._initrd(command), 1))
        size_B = bar.stat().st_size
        done = subprocess.run(
            [
                *(
                    _QEMU,
                    "-accel",
                    "tcg",
                    "-cpu",
                    "max",
                    "-m",
                    f"{_MEMORY_MB}M",
                    "-display",
                    "none",
                ),
                *("-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot"),
                *("-kernel", str(self.kernel), "-initrd", str(initrd)),
                *("-append", "console=ttyS0 quiet panic=-1"),
                "-object",
                f"memory-backend-file,id=bar,share=on,mem-path={bar},size={size_B}",
                *("-device", f"ivshmem-plain,memdev=bar,addr={CARD[8:10]}"),
                "-virtfs",
                "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
                *("-virtfs", f"local,path={out},mount_tag=out,security_model=none"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_LONGEST_S,
            check=False,
        )
        return done.stdout.decode(errors="replace")

    def _initrd(self, command: Sequence[str]) -> bytes:
        kept = {"HOME": str(self.out), "TMPDIR": str(self.out), "XDG_STATE_HOME": str(self.out)}
        words = ["cd", str(REPOSITORY), "&&", "exec", "env", "-i", "PATH=/usr/bin:/bin"]
        words += [f"{name}={value}" for name, value in kept.items()]
        line = " ".join([*words[:2], "&&", *map(shlex.quote, [*words[3:], *command])])
        init = _INIT.format(out=self.out, command=shlex.quote(line))
        folders = ["bin", "dev", "proc", "sys", "new", "modules"]
        files = {"init": init.encode(), "bin/busybox": self.busybox.read_bytes()}
        for number, path in enumerate(self.modules):
            data = path.read_bytes()
            files[f"modules/{number:02d}.ko"] = (
                lzma.decompress(data) if path.suffix == ".xz" else data
            )
        return cpio(folders, files)


def find_guest() -> Guest | str:
    """Return what a guest is made of on this machine, or why there is none and what to install."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return "a guest runs the programs of its host: Linux on x86-64"
    if shutil.which(_QEMU) is None:
        return f"no {_QEMU}: {INSTALL}"
    busybox = shutil.which("busybox")
    if busybox is None or not _is_static(Path(busybox)):
        return f"no static busybox: {INSTALL}"
    out = next((p for p in map(Path, ("/mnt", "/media", "/srv")) if p.is_dir()), None)
    if out is None or REPOSITORY.is_relative_to(out) or Path(sys.prefix).is_relative_to(out):
        return "no folder /mnt, /media or /srv that the guest could hide"
    for kernel in sorted(Path("/boot").glob("vmlinuz-*"), reverse=True):
        modules = modules_of(Path("/lib/modules") / kernel.name.removeprefix("vmlinuz-"))
        if modules is not None and os.access(kernel, os.R_OK):
            return Guest(kernel, modules, Path(busybox), out)
    return f"no kernel in /boot that is ours to read and has 9p and virtio: {INSTALL}"


def modules_of(folder: Path) -> tuple[Path, ...] | None:
    """Return the modules that a kernel needs for its files, in the order of loading; None where it has not all."""
    try:
        rows = (folder / "modules.dep").read_text().splitlines()
        built_in = (folder / "modules.builtin").read_text().splitlines()
    except OSError:
        return None
    needs = {path: rest.split() for path, _, rest in (row.partition(":") for row in rows)}
    named = {_name(path): path for path in needs}
    found: dict[str, None] = {}
    for module in _MODULES:
        if module in map(_name, built_in):
            continue
        if module not in named:
            return None
        # The file lists first what it needs itself, last what needs nothing.
        for path in (*reversed(needs[named[module]]), named[module]):
            found[path] = None
    paths = tuple(folder / path for path in found)
    return paths if all(path.suffix in (".ko", ".xz") for path in paths) else None


def cpio(folders: Sequence[str], files: dict[str, bytes]) -> bytes:
    """Return an archive of the form ``newc`` that a kernel unpacks: folders, and files that may be run."""
    made = bytearray()
    rows = [(name, stat.S_IFDIR | 0o755, b"") for name in folders]
    rows += [(name, stat.S_IFREG | 0o755, data) for name, data in files.items()]
    rows.append(("TRAILER!!!", 0, b""))
    for number, (name, mode, data) in enumerate(rows, 1):
        text = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(text), 0)
        made += b"070701" + b"".join(b"%08X" % field for field in fields) + text
        made += bytes(-len(made) % 4) + data
        made += bytes(-len(made) % 4)
    return bytes(made)


def _name(path: str) -> str:
    return Path(path).name.partition(".ko")[0].replace("-", "_")


def _is_static(program: Path) -> bool:
    """Return whether an ELF program names no interpreter (program header type 3)."""
    data = program.read_bytes()
    first, size, count = (
        int.from_bytes(data[at : at + n], "little") for at, n in ((32, 8), (54, 2), (56, 2))
    )
    kinds = [data[first + size * n : first + size * n + 4] for n in range(count)]
    return data[:4] == b"\x7fELF" and b"\x03\0\0\0" not in kinds
