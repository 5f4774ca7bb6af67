"""``rdma:mlx5_0/1``: the counters of an RDMA port in sysfs, those of the standard and the driver's own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.counters.device import DeviceCounters
from freezeframe.capture.counters.laws import Law
from freezeframe.capture.counters.tables import RDMA_PORT
from freezeframe.capture.counters.tree import Tree
from freezeframe.capture.errors import InputError, TargetError

_CLASS = "sys/class/infiniband"
_NO_COUNTERS = ("lifespan",)  # how long the driver keeps its counters in a cache, milliseconds


class RdmaSource:
    """The counters of one port of an RDMA device."""

    def __init__(self, place: str, tree: Tree) -> None:
        """Open ``device/port``; port 1 where none is named.

        Raises:
            InputError: there is no such device or port; the message lists those there are.
        """
        device, _, port = place.partition("/")
        port = port or "1"
        self.url = f"rdma:{device}/{port}"
        self.laws: Sequence[Law] = ()
        self._tree = tree
        self._port = f"{_CLASS}/{device}/ports/{port}"
        if not device or device in (".", "..") or device not in tree.names(_CLASS):
            known = ", ".join(tree.names(_CLASS)) or "none"
            raise InputError(f"{self.url}: there is no such RDMA device here; there are {known}")
        ports = tree.names(f"{_CLASS}/{device}/ports")
        if port not in ports:
            raise InputError(
                f"{self.url}: there is no such port; there are {', '.join(ports) or 'none'}"
            )
        self._identity = tree.identity(self._port)
        self._device = DeviceCounters(tree, f"{_CLASS}/{device}/device", device)
        self.counters: Mapping[str, Counter] = self._device.counters
        self._files: dict[str, str] = {}  # key -> path
        for name in tree.names(f"{self._port}/counters"):
            unit, text = RDMA_PORT.get(name, ("", "A counter of the port"))
            self._add(name, f"{self._port}/counters/{name}", unit, text, f"rdma_{name}", ())
        for name in tree.names(f"{self._port}/hw_counters"):
            if name not in _NO_COUNTERS:
                self._add(
                    f"hw.{name}", f"{self._port}/hw_counters/{name}", "", "A statistic of the driver's own",
                    "rdma_driver", (("statistic", name),),
                )  # fmt: skip

    def read(self) -> Sample:
        """Read everything; raises as ``CounterSource.read``."""
        t_ns = time.monotonic_ns()
        if self._tree.identity(self._port) != self._identity:
            raise TargetError(f"{self.url}: the port is gone from sysfs")
        values = {}
        for key, path in self._files.items():
            value = self._tree.number(path)
            if value is not None:  # some files are there and refuse to be read
                values[key] = value
        values |= self._device.read()
        # "4: ACTIVE", and "100 Gb/sec (2X HDR)"
        texts = [
            self._tree.text(f"{self._port}/{name}")
            for name in ("state", "phys_state", "rate", "link_layer")
        ]
        link = ", ".join(text.partition(": ")[2] or text for text in texts if text)
        return Sample(t_ns, values, {"link": link or "unknown"})

    def close(self) -> None:
        """Close the files."""
        self._tree.close()

    def _add(
        self,
        key: str,
        path: str,
        unit: str,
        text: str,
        metric: str,
        labels: tuple[tuple[str, str], ...],
    ) -> None:
        self._files[key] = path
        self._device.counters[key] = Counter(key, "counter", unit, text, metric, labels)
