"""What a driver counts beyond the kernel's statistics, asked as ``ethtool -S`` does.

Source: Linux ``include/uapi/linux/ethtool.h`` and ``sockios.h``.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct

_SIOCETHTOOL = 0x8946
_GET_STRINGS, _GET_STATS, _GET_SET_INFO = 0x1B, 0x1D, 0x37
_SET_STATS = 1
_NAME_B = 32
_MOST = 65536  # counters; a driver that says more is not believed


class DriverStatistics:
    """The driver's own counters of one interface; their names are asked for once."""

    def __init__(self, interface: str) -> None:
        self._request = interface.encode("utf-8", "surrogateescape")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.names = self._names()
        except OSError:  # the driver has none, or the interface is not one of ethtool's
            self.names = []

    def read(self) -> dict[str, int]:
        """Return name to value; empty where the driver has no counters.

        Raises:
            OSError: the interface is gone.
        """
        if not self.names:
            return {}
        count = len(self.names)
        buffer = array.array("Q", bytes(8 + 8 * count))
        struct.pack_into("=II", buffer, 0, _GET_STATS, count)
        self._call(buffer)
        if struct.unpack_from("=I", buffer, 4)[0] != count:
            self.names = self._names()  # the driver has other queues now
            return {}
        return dict(zip(self.names, buffer[1:], strict=True))

    def close(self) -> None:
        """Free the socket."""
        self._socket.close()

    def _names(self) -> list[str]:
        info = array.array("B", bytes(20))
        struct.pack_into("=IIQI", info, 0, _GET_SET_INFO, 0, 1 << _SET_STATS, 0)
        self._call(info)
        _, _, mask, count = struct.unpack_from("=IIQI", info)
        if not mask or not 0 < count <= _MOST:
            return []
        strings = array.array("B", bytes(12 + _NAME_B * count))
        struct.pack_into("=III", strings, 0, _GET_STRINGS, _SET_STATS, count)
        self._call(strings)
        raw = strings.tobytes()[12:]
        names = [raw[i : i + _NAME_B].partition(b"\0")[0] for i in range(0, len(raw), _NAME_B)]
        return _unique([name.decode("utf-8", "replace").strip() for name in names])

    def _call(self, buffer: array.array[int]) -> None:
        fcntl.ioctl(
            self._socket,
            _SIOCETHTOOL,
            struct.pack("16sP16x", self._request, buffer.buffer_info()[0]),
        )


def _unique(names: list[str]) -> list[str]:
    """Return names of which none comes twice: some drivers give the same one to several queues."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return made
