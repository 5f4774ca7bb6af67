"""Alarms on the rate or value of counters: ``rx_errors>0``, ``netdev:eth0/rx_dropped>10``, ``A.memory.*.lost>=1``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from freezeframe.capture.errors import InputError

_FORM = re.compile(r"\s*(?P<name>[^<>=]*[^<>=\s])\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>\S+)\s*")


@dataclass(frozen=True, slots=True)
class Alarm:
    """A threshold on a counter's rate a second, or on a gauge's value. ``name`` may hold ``*`` and ``?``."""

    text: str
    name: str
    sign: str
    limit: float

    def matches(self, source: str, key: str) -> bool:
        """Return whether it watches this counter: by its key, or by ``source/key``."""
        return fnmatchcase(key, self.name) or fnmatchcase(f"{source}/{key}", self.name)

    def rings(self, amount: float | None) -> bool:
        """Return whether a rate or value is beyond the threshold; an unknown one is not."""
        if amount is None:
            return False
        return {
            ">": amount > self.limit,
            "<": amount < self.limit,
            ">=": amount >= self.limit,
            "<=": amount <= self.limit,
        }[self.sign]


def parse_alarm(text: str) -> Alarm:
    """Take ``NAME>RATE`` apart.

    Raises:
        InputError: not of that form, or the limit is no number.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise InputError(
            f"alarm {text!r}: write NAME>RATE, for instance 'rx_errors>0' (also <, >=, <=)"
        )
    try:
        limit = float(found["limit"])
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise InputError(f"alarm {text!r}: {found['limit']!r} is not a number")
    return Alarm(text.strip(), found["name"], found["sign"], limit)
