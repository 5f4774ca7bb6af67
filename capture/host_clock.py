"""What the kernel says of its own clock: whether something keeps it in step, and by how much it may be off.

It is asked, never set. Outside Linux, and where a sandbox forbids the question, nothing is known.

Source: adjtimex(2); Linux, include/uapi/linux/timex.h.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps

Clock = dict[str, Any]

_STA_UNSYNC = 0x0040
_STRUCT_B = 512  # of struct timex: 208 on 64 bits; the fields up to `status` lie alike everywhere


class _Timex(ctypes.Structure):
    _fields_ = [
        ("modes", ctypes.c_uint),  # 0: nothing is set
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),  # microseconds
        ("esterror", ctypes.c_long),  # microseconds
        ("status", ctypes.c_int),
        ("_others", ctypes.c_char * _STRUCT_B),
    ]


def host_clock() -> Clock | None:
    """Return ``{"in_step", "est_error_us", "max_error_us"}`` of this host's clock now; None where that is not known."""
    if not sys.platform.startswith("linux"):
        return None
    asked = _Timex()
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.byref(asked))
    except (OSError, AttributeError):
        return None  # a C library that cannot be loaded as one, or has no such call
    if state < 0:
        return None  # a sandbox forbids it
    return {
        "in_step": not asked.status & _STA_UNSYNC,
        "est_error_us": asked.esterror,
        "max_error_us": asked.maxerror,
    }


def clocks_text(clocks: Sequence[object], what: str) -> str:
    """Return what several moments say of the clock they are by, summed up; nothing where none says anything.

    Args:
        clocks: what each says, as `host_clock`; ``what`` they are of, as ``freeze``.
    """
    told = [clock for clock in clocks if clock_text(clock)]
    if not told:
        return ""
    off = [clock for clock in told if isinstance(clock, dict) and not clock["in_step"]]
    unknown = len(clocks) - len(told)
    rest = f"; {plural(unknown, what)} without a word of it" if unknown else ""
    if off:
        return f"clock of the host not in step at {len(off):,} of {plural(len(told), what)}: its dates may be off{rest}"
    most = [
        int(c["max_error_us"])
        for c in told
        if isinstance(c, dict) and type(c.get("max_error_us")) is int
    ]
    worst = clock_text({"in_step": True, "max_error_us": max(most, default=None)})
    return f"{worst.replace('in step', f'in step at {plural(len(told), what)}', 1)}{rest}"


def clock_text(clock: object) -> str:
    """Return ``clock of the host in step, to 1.2 ms``, as a history has it; nothing where nothing is known.

    The figure is the kernel's largest error, rounded up to two digits. Of a clock out of step it means nothing.
    """
    if not isinstance(clock, dict) or not isinstance(clock.get("in_step"), bool):
        return ""
    if not clock["in_step"]:
        return "clock of the host not in step"
    most_us = clock.get("max_error_us")
    if type(most_us) is not int or most_us <= 0:
        return "clock of the host in step"
    step = 10 ** max(0, len(str(most_us)) - 2)
    rounded_us = -(-most_us // step) * step
    return f"clock of the host in step, to {format_ps(rounded_us * 10**6)}"
