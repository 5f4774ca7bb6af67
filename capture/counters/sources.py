"""Opening a source of counters by what the user calls it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from freezeframe.capture.errors import InputError

if TYPE_CHECKING:
    from freezeframe.capture.counters.contract import CounterSource

__all__ = ["SOURCES_HELP", "open_source"]

SOURCES_HELP = "a card (etherbone://192.0.2.7 and others), netdev:eth0, rdma:mlx5_0/1"


def open_source(name: str, root: Path | None = None) -> CounterSource:
    """Open ``netdev:NAME``, ``rdma:DEVICE/PORT``, or any target URL.

    Args:
        root: a folder that holds a recorded ``sys`` and ``proc``; None is this machine.
    Raises:
        InputError: nothing of that kind, or no such interface or device.
        TargetError: a card that cannot be reached.
    """
    scheme, colon, rest = name.partition(":")
    if root is not None and not root.is_dir():
        raise InputError(f"{root}: no folder with a recorded sys and proc")
    if scheme == "netdev" and colon:
        from freezeframe.capture.counters.netdev import NetdevSource
        from freezeframe.capture.counters.tree import Tree

        return NetdevSource(rest, Tree(root or "/"), live=root is None)
    if scheme == "rdma" and colon:
        from freezeframe.capture.counters.rdma import RdmaSource
        from freezeframe.capture.counters.tree import Tree

        return RdmaSource(rest, Tree(root or "/"))
    if scheme == "file" and colon:
        raise InputError(f"{name}: is a recording and holds no live counters")
    from freezeframe.capture.targets.base import target_schemes

    if not colon or scheme not in target_schemes():
        raise InputError(f"{name!r}: not a source of counters; write {SOURCES_HELP}")
    from freezeframe.capture.counters.card import CardSource

    return CardSource(name)
