"""``netdev:eth0``: the kernel's and the driver's statistics of a network interface, and its device's counts.

On this machine the kernel is asked by netlink (one answer, so the values belong together) and the driver by ioctl;
in a recorded tree both come from its files, where there is no place for the driver's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.counters.device import DeviceCounters
from freezeframe.capture.counters.ethtool import DriverStatistics
from freezeframe.capture.counters.laws import Law
from freezeframe.capture.counters.netlink import LinkSocket
from freezeframe.capture.counters.tables import NETDEV
from freezeframe.capture.counters.tree import Tree
from freezeframe.capture.errors import InputError, TargetError

_CLASS = "sys/class/net"
_CHANGES = "carrier_changes"


class NetdevSource:
    """The counters of one interface."""

    def __init__(self, name: str, tree: Tree, *, live: bool) -> None:
        """Open it.

        Args:
            name: of the interface, as ``ip link`` shows it.
            tree: sysfs and procfs.
            live: ask the kernel itself; else everything comes from the tree.
        Raises:
            InputError: there is no such interface; the message lists those there are.
        """
        self.url = f"netdev:{name}"
        self._name = name
        self.laws: Sequence[Law] = ()
        self._tree = tree
        self._folder = f"{_CLASS}/{name}"
        self._link: LinkSocket | None = None
        self._driver: DriverStatistics | None = None
        self._identity: object = None
        if not name or "/" in name or "\0" in name or name in (".", ".."):
            raise InputError(f"{self.url}: not a name of a network interface")
        if live:
            self._link = LinkSocket(name)
            try:
                self._identity = self._link.read().index
            except OSError:
                self.close()
                raise self._unknown() from None
            self._driver = DriverStatistics(name)
        else:
            self._identity = tree.identity(self._folder)
            if self._identity is None:
                raise self._unknown()
        self._device = DeviceCounters(tree, f"{self._folder}/device", name)
        self.counters: Mapping[str, Counter] = self._device.counters
        self._device.counters.update(_kernel_counters())
        for stat in self._driver.names if self._driver else ():
            key = f"driver.{stat}"
            self._device.counters[key] = Counter(
                key, "counter", "", "A statistic of the driver's own", "netdev_driver", (("statistic", stat),)
            )  # fmt: skip

    def read(self) -> Sample:
        """Read everything; raises as ``CounterSource.read``."""
        t_ns = time.monotonic_ns()
        if self._link is None:
            if self._tree.identity(self._folder) != self._identity:
                raise self._gone()
            values, state = self._files()
        else:
            try:
                link = self._link.read()
                driver = self._driver.read() if self._driver else {}
            except OSError as error:
                raise self._gone(str(error)) from None
            if link.index != self._identity:
                raise self._gone("another interface has its name now")
            values, state = dict(link.statistics), link.operstate
            if link.carrier_changes is not None:
                values[_CHANGES] = link.carrier_changes
            for stat, value in driver.items():
                values[f"driver.{stat}"] = value
        values |= self._device.read()
        return Sample(t_ns, values, {"link": self._link_text(state)})

    def close(self) -> None:
        """Free sockets and files."""
        self._tree.close()
        if self._link is not None:
            self._link.close()
        if self._driver is not None:
            self._driver.close()

    def _files(self) -> tuple[dict[str, int], str]:
        values = {}
        for stat in NETDEV:
            value = self._tree.number(f"{self._folder}/statistics/{stat}")
            if value is not None:
                values[stat] = value
        changes = self._tree.number(f"{self._folder}/{_CHANGES}")
        if changes is not None:
            values[_CHANGES] = changes
        return values, self._tree.text(f"{self._folder}/operstate") or "unknown"

    def _link_text(self, state: str) -> str:
        words = [state]
        speed = self._tree.number(f"{self._folder}/speed")  # -1 where there is no speed to tell
        if speed is not None and speed > 0:
            words.append(f"{speed} Mbit/s")
        duplex = self._tree.text(f"{self._folder}/duplex")
        if duplex and duplex != "unknown":
            words.append(f"{duplex} duplex")
        return ", ".join(words)

    def _unknown(self) -> InputError:
        known = ", ".join(self._tree.names(_CLASS)) or "none"
        return InputError(f"{self.url}: there is no such network interface here; there are {known}")

    def _gone(self, why: str = "its folder in sysfs is another or none") -> TargetError:
        return TargetError(f"{self.url}: the interface is gone: {why}")


def _kernel_counters() -> dict[str, Counter]:
    made = {
        name: Counter(name, "counter", unit, text, f"netdev_{name}")
        for name, (unit, text) in NETDEV.items()
    }
    made[_CHANGES] = Counter(
        _CHANGES, "counter", "events", "Times the link came up or went down", f"netdev_{_CHANGES}"
    )
    return made
