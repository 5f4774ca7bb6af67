"""What belongs to the device of an interface or port: its interrupts, the softirqs, PCIe error counts.

Source: Linux ``Documentation/filesystems/proc.rst`` (interrupts, softirqs),
``Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats``.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from freezeframe.capture.counters.contract import Counter
from freezeframe.capture.counters.tables import SOFTIRQS
from freezeframe.capture.counters.tree import Tree, whole

INTERRUPTS = "irq.total"
"""Key of the sum over all interrupt lines of the device."""

_AER = {"correctable": "corrected", "nonfatal": "not corrected, not fatal", "fatal": "fatal"}


class DeviceCounters:
    """Counters of the device that ``sys/class/.../NAME/device`` leads to."""

    def __init__(self, tree: Tree, link: str, name: str) -> None:
        """``link``: path of the ``device`` link in the tree; ``name``: of the interface, as its interrupts carry it."""
        self.counters: dict[str, Counter] = {}
        self._tree = tree
        self._name = name
        self._folders = list(_folders_up(tree, link))
        self._own = {PurePath(folder).name for folder in self._folders[:1]} | {name}
        lines = {line for folder in self._folders for line in tree.names(f"{folder}/msi_irqs")}
        self._lines = lines or {
            text
            for folder in self._folders[:1]
            if (text := tree.text(f"{folder}/irq")) and text != "0"
        }

    def read(self) -> dict[str, int]:
        """Return every count there is; a machine without such files has none."""
        values = self._interrupts() | self._softirqs()
        for folder in self._folders:
            found = self._aer(folder)
            if found:
                return values | found
        return values

    def _interrupts(self) -> dict[str, int]:
        lines = self._tree.lines("proc/interrupts")
        if not lines:
            return {}
        cpus = len(lines[0].split())
        values: dict[str, int] = {}
        for line in lines[1:]:
            number, colon, rest = line.strip().partition(":")
            fields = rest.split(None, cpus)
            counts = [whole(field) for field in fields[:cpus]]
            label = fields[cpus] if len(fields) > cpus else ""
            if not colon or None in counts or not self._is_ours(number, label):
                continue
            # "PCI-MSIX-0000:00:02.0 1-edge virtio1-input.0": what the driver called it comes last
            called = label.split()[-1] if label.split() else ""
            key = f"irq.{number}"
            if key not in self.counters:
                self.counters[key] = Counter(
                    key, "counter", "interrupts", f"Interrupts of line {number} ({called})",
                    "interrupts", (("irq", number), ("name", called)),
                )  # fmt: skip
            values[key] = sum(count for count in counts if count is not None)
        if values:
            values[INTERRUPTS] = sum(values.values())
            self.counters.setdefault(
                INTERRUPTS,
                Counter(
                    INTERRUPTS, "counter", "interrupts", "Interrupts of all lines of the device",
                    "device_interrupts",
                ),
            )  # fmt: skip
        return values

    def _is_ours(self, number: str, label: str) -> bool:
        if self._lines:
            return number in self._lines
        words = re.split(r"[\s,]+", label)
        return any(
            re.match(rf"{re.escape(name)}(\W|$)", word) for word in words for name in self._own
        )

    def _softirqs(self) -> dict[str, int]:
        values = {}
        for line in self._tree.lines("proc/softirqs"):
            name, colon, counts = line.strip().partition(":")
            if colon and name in SOFTIRQS:
                key = f"softirq.{name}"
                values[key] = sum(whole(count) or 0 for count in counts.split())
                if key not in self.counters:
                    self.counters[key] = Counter(
                        key, "counter", "softirqs", SOFTIRQS[name], "softirqs", (("type", name),)
                    )
        return values

    def _aer(self, folder: str) -> dict[str, int]:
        values = {}
        for severity, said in _AER.items():
            text = self._tree.text(f"{folder}/aer_dev_{severity}") or ""
            for line in text.splitlines():
                name, _, count = line.rpartition(" ")
                number = whole(count)
                if number is None or name.startswith("TOTAL"):
                    continue
                key = f"aer.{severity}.{name}"
                values[key] = number
                if key not in self.counters:
                    self.counters[key] = Counter(
                        key, "counter", "errors", f"PCIe errors that were {said}: {name}",
                        "pcie_aer_errors", (("severity", severity), ("error", name)),
                    )  # fmt: skip
        return values


def _folders_up(tree: Tree, link: str) -> list[str]:
    """Return the device's folder and those above it that are devices too: a virtio device sits in a PCI one."""
    root = tree.root.resolve()
    at = tree.place(link).resolve()
    found = []
    while at.is_dir() and at.is_relative_to(root / "sys" / "devices"):
        if (at / "subsystem").exists() or (at / "uevent").exists():
            found.append(str(at.relative_to(root)))
        if _is_pci(at.name):
            break  # what stands above is a bridge, with interrupts and errors of its own
        at = at.parent
    return found


def _is_pci(name: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", name) is not None
