"""Opening a source of counters by what the user calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from freezeframe.capture.code import code
from freezeframe.capture.counters.contract import CounterSource
from freezeframe.capture.counters.tree import Tree
from freezeframe.capture.errors import InputError
from freezeframe.capture.targets.aliases import resolved

SOURCES_HELP = "a card (etherbone://192.0.2.7 and others), netdev:eth0, rdma:mlx5_0/1"

_netdev: Callable[..., CounterSource] = code("freezeframe.capture.counters.netdev:NetdevSource")
_rdma: Callable[..., CounterSource] = code("freezeframe.capture.counters.rdma:RdmaSource")
_card: Callable[..., CounterSource] = code("freezeframe.capture.counters.card:CardSource")
_target_schemes: Callable[[], dict[str, str]] = code(
    "freezeframe.capture.targets.base:target_schemes"
)


def open_source(name: str, root: Path | None = None) -> CounterSource:
    """Open ``netdev:NAME``, ``rdma:DEVICE/PORT``, or any target URL.

    Args:
        root: a folder that holds a recorded ``sys`` and ``proc``; None is this machine.
    Raises:
        InputError: nothing of that kind, or no such interface or device.
        TargetError: a card that cannot be reached.
    """
    name = resolved(name)
    scheme, colon, rest = name.partition(":")
    if root is not None and not root.is_dir():
        raise InputError(f"{root}: no folder with a recorded sys and proc")
    if scheme == "netdev" and colon:
        return _netdev(rest, Tree(root or "/"), live=root is None)
    if scheme == "rdma" and colon:
        return _rdma(rest, Tree(root or "/"))
    if scheme == "file" and colon:
        raise InputError(f"{name}: is a recording and holds no live counters")
    if not colon or scheme not in _target_schemes():
        raise InputError(f"{name!r}: not a source of counters; write {SOURCES_HELP}")
    return _card(name)
