"""IP addresses as text, from the numbers that the kernels have of them."""

from __future__ import annotations

import ipaddress

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]


def ip_text(version: int, high: int, low: int) -> str:
    """Return an address as text, from ``ip_src`` and ``ip_src_low`` of `header_kernels.COLUMNS`."""
    if version == 4:
        return str(ipaddress.IPv4Address(high))
    return str(ipaddress.IPv6Address((high & (1 << 64) - 1) << 64 | low & (1 << 64) - 1))


def end_text(address: str, port: int) -> str:
    """Return address and port as they are written; the address alone where the port is below 0."""
    if port < 0:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def address_codes(version: Int64, high: Int64, low: Int64) -> tuple[Int64, tuple[str, ...]]:
    """Return for each packet the place of its address in the texts behind; ``""`` where it has none."""
    codes, texts = np.zeros(len(version), np.int64), [""]
    four = version == 4
    if four.any():
        different, at = np.unique(high[four], return_inverse=True)
        codes[four] = at + len(texts)
        texts += [ip_text(4, value, -1) for value in different.tolist()]
    six = version == 6
    if six.any():
        both = np.stack([high[six], low[six]], axis=1)
        different, at = np.unique(both, axis=0, return_inverse=True)
        codes[six] = at.reshape(-1) + len(texts)
        texts += [ip_text(6, *pair) for pair in different.tolist()]
    return codes, tuple(texts)
